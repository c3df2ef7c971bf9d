//! What a process or a page prints, kept line by line without secrets.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::redact::Redactor;

/// How many of its last lines a log can quote.
const QUOTABLE: usize = 8;

/// The most of a line that is quoted, in bytes.
const MAX_QUOTED: usize = 1 << 10;

/// The most of a line that is kept, in bytes; the rest of it is counted.
const MAX_LINE: usize = 64 << 10;

/// The most that a log keeps, in bytes; what comes after is counted.
const MAX_LOG: u64 = 16 << 20;

/// How long the end of an output is waited for once its process ends. What it has printed is in the
/// pipe by then; only a helper that has escaped and holds the pipe open takes longer.
const DRAIN: Duration = Duration::from_secs(2);

/// A log that could not be created.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write the log {path}: {source}; free disk space, or use a folder that can be written"
)]
pub struct LogError {
    /// The log.
    pub path: Utf8PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// A file that takes lines as they come. Clones write to the same file.
#[derive(Clone)]
pub struct LogFile {
    inner: Arc<Mutex<Inner>>,
    redactor: Redactor,
    followed: TaskTracker,
}

struct Inner {
    file: File,
    /// How much the file may still take.
    room: u64,
    left_out: u64,
    last: VecDeque<String>,
}

impl Inner {
    fn create(path: &Utf8Path) -> Result<Inner, LogError> {
        let file =
            File::create(path).map_err(|source| LogError { path: path.to_owned(), source })?;
        Ok(Inner { file, room: MAX_LOG, left_out: 0, last: VecDeque::new() })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.left_out > 0 {
            let _ = writeln!(self.file, "[... {} bytes left out]", self.left_out);
        }
    }
}

impl LogFile {
    /// An empty file at `path`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Utf8Path, redactor: Redactor) -> Result<LogFile, LogError> {
        let inner = Arc::new(Mutex::new(Inner::create(path)?));
        Ok(LogFile { inner, redactor, followed: TaskTracker::new() })
    }

    /// From now on, what comes goes to an empty file at `path`.
    ///
    /// # Errors
    /// When that one cannot be made; nothing has changed then.
    pub fn turn_to(&self, path: &Utf8Path) -> Result<(), LogError> {
        *self.lock() = Inner::create(path)?;
        Ok(())
    }

    /// Adds a line.
    pub fn line(&self, line: &str) {
        let line = self.redactor.clean(line);
        let mut inner = self.lock();
        let bytes = line.len() as u64 + 1;
        match inner.room.checked_sub(bytes) {
            Some(room) => {
                inner.room = room;
                // A log is no evidence: a full disk is reported by the files that are.
                let _ = writeln!(inner.file, "{line}");
            }
            None => inner.left_out += bytes,
        }
        if inner.last.len() == QUOTABLE {
            inner.last.pop_front();
        }
        inner.last.push_back(line[..line.floor_char_boundary(MAX_QUOTED)].to_owned());
    }

    /// The last lines, joined by line breaks.
    pub fn last_lines(&self) -> String {
        self.lock().last.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Takes every line of `output` until its end, in the background. The answer is the first
    /// thing that `wanted` finds in a line; it fails when the output ends before.
    pub fn follow<T: Send + 'static>(
        &self,
        output: Option<impl AsyncRead + Unpin + Send + 'static>,
        wanted: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (found, answer) = oneshot::channel();
        let log = self.clone();
        self.followed.spawn(async move {
            let Some(output) = output else { return };
            let mut found = Some(found);
            let mut output = BufReader::new(output);
            while let Ok(Some(line)) = next_line(&mut output).await {
                log.line(&line);
                if found.is_some()
                    && let Some(value) = wanted(&line)
                {
                    // Whoever asked may have given up.
                    let _ = found.take().map(|found| found.send(value));
                }
            }
        });
        answer
    }

    /// Waits until every output that was followed has ended, and all of it is here; but not
    /// for ever, as another process may hold one open. To be called when its process has ended, or does.
    pub async fn drained(&self) {
        self.followed.close();
        let _ = tokio::time::timeout(DRAIN, self.followed.wait()).await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The next line without its end, and without what is over [`MAX_LINE`]; none when there is no
/// other.
async fn next_line(output: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let (mut line, mut left_out) = (Vec::new(), 0);
    loop {
        let chunk = output.fill_buf().await?;
        if chunk.is_empty() && line.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        let kept = part.len().min(MAX_LINE - line.len());
        line.extend_from_slice(&part[..kept]);
        left_out += part.len() - kept;
        let (is_last, used) = (chunk.is_empty(), part.len() + usize::from(end.is_some()));
        output.consume(used);
        if end.is_some() || is_last {
            let line = String::from_utf8_lossy(&line).into_owned();
            return Ok(Some(match left_out {
                0 => line,
                bytes => format!("{line} [... {bytes} bytes left out]"),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    fn log_in(folder: &tempfile::TempDir) -> (LogFile, Utf8PathBuf, Redactor) {
        let path = Utf8PathBuf::from_path_buf(folder.path().join("node.log")).unwrap();
        let redactor = Redactor::default();
        (LogFile::create(&path, redactor.clone()).unwrap(), path, redactor)
    }

    #[tokio::test]
    async fn the_wanted_line_is_answered_and_every_line_is_kept_without_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path, redactor) = log_in(&folder);
        redactor.learn("hunter2-hunter2");
        let output: &[u8] = b"one\nport=17\nhunter2-hunter2 \xff\nport=18\n";
        let answer = log.follow(Some(output), |line| line.strip_prefix("port=").map(str::to_owned));
        assert_eq!(answer.await.unwrap(), "17");
        log.drained().await;
        let lines = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lines, "one\nport=17\n[redacted] \u{fffd}\nport=18\n");
    }

    #[tokio::test(start_paused = true)]
    async fn an_output_that_somebody_holds_open_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let (log, ..) = log_in(&folder);
        let (mut holder, output) = tokio::io::duplex(64);
        holder.write_all(b"last words\n").await.unwrap();
        log.follow(Some(output), |_| None::<()>);
        log.drained().await;
        assert_eq!(log.last_lines(), "last words");
    }

    #[tokio::test]
    async fn an_output_that_ends_without_the_wanted_line_is_an_error_and_not_a_wait() {
        let folder = tempfile::tempdir().unwrap();
        let (log, ..) = log_in(&folder);
        let answer =
            log.follow(Some(&b"nothing\n"[..]), |line| line.strip_prefix("port=").map(drop));
        assert!(answer.await.is_err());
        assert_eq!(log.last_lines(), "nothing");
    }

    #[tokio::test]
    async fn of_a_line_without_end_a_part_is_kept_and_the_rest_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path, _) = log_in(&folder);
        let output = "x".repeat(MAX_LINE + 3) + "\nnext\n\nlast";
        log.follow(Some(io::Cursor::new(output)), |_| None::<()>);
        log.drained().await;
        let lines = "x".repeat(MAX_LINE) + " [... 3 bytes left out]\nnext\n\nlast\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
        assert!(log.last_lines().len() < 2 * MAX_QUOTED);
    }

    #[test]
    fn a_log_that_is_full_counts_what_comes_after_and_quotes_the_last_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path, _) = log_in(&folder);
        let line = "x".repeat(MAX_LINE - 1);
        let lines = MAX_LOG / MAX_LINE as u64;
        (0..lines).for_each(|_| log.line(&line));
        log.line("one more");
        assert_eq!(log.last_lines().lines().last(), Some("one more"));
        drop(log);
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(kept.ends_with("x\n[... 9 bytes left out]\n"));
        assert!(kept.len() as u64 <= MAX_LOG + 64);
    }

    #[test]
    fn after_a_turn_what_comes_stands_in_another_file_and_the_first_tells_what_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let (log, first, _) = log_in(&folder);
        let second = first.with_file_name("second.log");
        log.line("before");
        log.line(&"x".repeat(MAX_LOG as usize));
        log.turn_to(&second).unwrap();
        log.line("after");
        let expected = format!("before\n[... {} bytes left out]\n", MAX_LOG + 1);
        assert_eq!(std::fs::read_to_string(&first).unwrap(), expected);
        assert_eq!(std::fs::read_to_string(&second).unwrap(), "after\n");
        assert_eq!(log.last_lines(), "after");
        assert!(log.turn_to(&second.join("no folder")).is_err());
        log.line("still there");
        assert!(std::fs::read_to_string(&second).unwrap().ends_with("still there\n"));
    }

    #[test]
    fn only_the_last_lines_are_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let (log, ..) = log_in(&folder);
        (0..100).for_each(|n| log.line(&n.to_string()));
        assert_eq!(log.last_lines(), "92\n93\n94\n95\n96\n97\n98\n99");
    }
}
