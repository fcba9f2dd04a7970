//! A line on the terminal for work that takes a while: what is being done, and for how long already.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Whatever is done in less time is not told.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often the seconds are counted on.
const TICK: Duration = Duration::from_secs(1);

/// The last line of the terminal behind stderr, while something lasts. Where stderr is no terminal, nothing is ever shown.
pub(super) struct StatusLine(Option<Drawing>);

struct Drawing {
    shared: Arc<(Mutex<Line>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Line {
    /// What is done, and since when.
    work: Option<(String, Instant)>,
    is_drawn: bool,
    is_over: bool,
}

impl StatusLine {
    pub(super) fn new() -> Self {
        Self(io::stderr().is_terminal().then(Drawing::start))
    }

    /// From now on, this is done; `text` is printable ASCII on one line.
    pub(super) fn begin(&self, text: &str) {
        if let Some(drawing) = &self.0 {
            let mut line = drawing.lock();
            line.erase();
            line.work = Some((text.to_owned(), Instant::now()));
            drawing.shared.1.notify_all();
        }
    }

    /// It is done; the line is gone when this returns.
    pub(super) fn end(&self) {
        if let Some(drawing) = &self.0 {
            let mut line = drawing.lock();
            line.erase();
            line.work = None;
        }
    }
}

impl Drawing {
    fn start() -> Self {
        let shared = Arc::new((Mutex::new(Line::default()), Condvar::new()));
        let drawn = Arc::clone(&shared);
        Self {
            shared,
            // Without it the work is done all the same, in silence.
            thread: std::thread::Builder::new()
                .spawn(move || draw(&drawn.0, &drawn.1))
                .ok(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        let (line, _) = &*self.shared;
        line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        let mut line = self.lock();
        line.erase();
        line.is_over = true;
        drop(line);
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Line {
    fn erase(&mut self) {
        if self.is_drawn {
            write("");
            self.is_drawn = false;
        }
    }
}

fn draw(line: &Mutex<Line>, changed: &Condvar) {
    let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
    while !line.is_over {
        let wait = match &line.work {
            None => Duration::MAX,
            Some((text, since)) => {
                let lasted = since.elapsed();
                if lasted >= PATIENCE {
                    write(&format!("{text} ({} s)", lasted.as_secs()));
                    line.is_drawn = true;
                    TICK
                } else {
                    PATIENCE.saturating_sub(lasted)
                }
            }
        };
        line = changed
            .wait_timeout(line, wait)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
}

/// Replaces the line that the cursor is in. Where even that fails there is nobody to tell.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[2K{text}").and_then(|()| stderr.flush());
}
