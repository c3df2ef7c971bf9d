//! What a person sees of a run under way.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::record::journal::Case;

/// How often the elapsed time of a line is painted anew.
const TICK: Duration = Duration::from_millis(500);

/// On a terminal, a line for each worker below what is printed; elsewhere only what is printed.
pub struct Live {
    workers: Option<(MultiProgress, Vec<ProgressBar>)>,
}

/// The line of a worker that has a case: without colours, and what moves is the time.
const BUSY: &str = "      {msg}   {elapsed}";

/// The line of a worker that has none.
const IDLE: &str = "";

impl Live {
    /// A line for each of `workers`, if the standard output is a terminal.
    pub fn new(workers: u32) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        Self { workers: is_terminal.then(|| lines(workers, ProgressDrawTarget::stdout())) }
    }

    /// A worker has begun a case.
    pub fn began(&self, worker: u32, case: &Case) {
        if let Some(bar) = self.bar(worker) {
            bar.reset_elapsed();
            bar.set_style(style(BUSY));
            bar.set_message(case.id.clone());
            bar.enable_steady_tick(TICK);
        }
    }

    /// A worker has ended its case.
    pub fn ended(&self, worker: u32) {
        if let Some(bar) = self.bar(worker) {
            bar.disable_steady_tick();
            bar.set_style(style(IDLE));
            bar.tick();
        }
    }

    /// Prints lines that stay.
    pub fn print(&self, lines: &str) {
        let printed = self.workers.as_ref().map(|(all, _)| all.println(lines));
        if !matches!(printed, Some(Ok(()))) {
            println!("{lines}");
        }
    }

    /// Takes the lines of the workers away.
    pub fn end(&self) {
        if let Some((all, _)) = &self.workers {
            // What cannot be cleared on a terminal stays on it, and is no more than untidy.
            let _ = all.clear();
        }
    }

    fn bar(&self, worker: u32) -> Option<&ProgressBar> {
        self.workers.as_ref()?.1.get(worker as usize)
    }
}

fn lines(workers: u32, target: ProgressDrawTarget) -> (MultiProgress, Vec<ProgressBar>) {
    let all = MultiProgress::with_draw_target(target);
    let bar = |_| all.add(ProgressBar::no_length().with_style(style(IDLE)));
    let bars = (0..workers).map(bar).collect();
    (all, bars)
}

fn style(template: &str) -> ProgressStyle {
    // Both are well-formed, which a test sees.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;
    use crate::record::journal::tests::case;

    /// A terminal that keeps what is written to it, wherever the cursor is.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(&format!("{text}\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_worker_has_a_line_with_its_case_until_the_case_has_ended() {
        let paper = Paper::default();
        let live = |paper: &Paper| {
            let target = ProgressDrawTarget::term_like(Box::new(paper.clone()));
            Live { workers: Some(lines(2, target)) }
        };
        let shown = live(&paper);
        shown.began(0, &case("rewind-window", None));
        shown.print("ok    restart");
        let text = paper.0.lock().unwrap().clone();
        let (stays, below) = text.split_once("ok    restart").unwrap();
        assert!(below.contains("      rewind-window   0s"), "{stays:?} and {below:?}");
        shown.ended(0);
        paper.0.lock().unwrap().clear();
        shown.print("ok    rewind-window   RECOVERY");
        let text = paper.0.lock().unwrap().clone();
        assert_eq!(text.matches("rewind-window").count(), 1, "{text:?}");
        shown.end();
    }
}
