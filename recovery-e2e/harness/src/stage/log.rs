//! What a process or a page prints, kept line by line without secrets.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::redact::Redactor;

/// How many of its last lines a log can quote.
const QUOTABLE: usize = 8;

/// How long the end of an output is waited for once its process ends. What it has printed is in the
/// pipe by then; only a helper that has escaped and holds the pipe open takes longer.
const DRAIN: Duration = Duration::from_secs(5);

/// A log that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be written: {source}; is there room, and may this user write there?")]
pub struct LogError {
    path: Utf8PathBuf,
    source: std::io::Error,
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
    last: VecDeque<String>,
}

impl LogFile {
    /// An empty file at `path`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Utf8Path, redactor: Redactor) -> Result<LogFile, LogError> {
        let file =
            File::create(path).map_err(|source| LogError { path: path.to_owned(), source })?;
        let inner = Arc::new(Mutex::new(Inner { file, last: VecDeque::new() }));
        Ok(LogFile { inner, redactor, followed: TaskTracker::new() })
    }

    /// Adds a line.
    pub fn line(&self, line: &str) {
        let line = self.redactor.clean(line);
        let mut inner = self.lock();
        // A log is no evidence: that the disk is full is told by the files that are.
        let _ = writeln!(inner.file, "{line}");
        if inner.last.len() == QUOTABLE {
            inner.last.pop_front();
        }
        inner.last.push_back(line);
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
            let mut lines = BufReader::new(output).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                let line = String::from_utf8_lossy(&line);
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

    /// Waits until every output that was followed has ended, and all of it stands here; but not
    /// for ever, as somebody may hold one open. To be called when its process has ended, or does.
    pub async fn drained(&self) {
        self.followed.close();
        let _ = tokio::time::timeout(DRAIN, self.followed.wait()).await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
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

    #[test]
    fn only_the_last_lines_are_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let (log, ..) = log_in(&folder);
        (0..100).for_each(|n| log.line(&n.to_string()));
        assert_eq!(log.last_lines(), "92\n93\n94\n95\n96\n97\n98\n99");
    }
}
