//! Progress on standard error: one line that changes on a terminal, plain lines elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Tasks that are over sooner are told once, when they are over.
const WORTH_TELLING: Duration = Duration::from_secs(2);

/// How often plain lines are printed.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// How often the line of a terminal is drawn again.
const DRAWN_EVERY: Duration = Duration::from_millis(200);

/// The most characters of a terminal's line.
const WIDTH: usize = 110;

/// Tells what goes on; clones tell it together.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    style: Style,
    tasks: Arc<Mutex<Vec<Shown>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Terminal,
    Plain,
}

/// A task as it is shown.
#[derive(Debug)]
struct Shown {
    name: String,
    detail: String,
    began: Instant,
    told: Instant,
}

/// A task that goes on until it is dropped.
#[derive(Debug)]
pub(crate) struct Task {
    progress: Progress,
    name: String,
}

impl Progress {
    /// Tells it in the way that fits standard error.
    pub(crate) fn start() -> Self {
        let style = if io::stderr().is_terminal() {
            Style::Terminal
        } else {
            Style::Plain
        };
        let progress = Self {
            style,
            tasks: Arc::default(),
        };
        let ticking = progress.clone();
        // It ends with the process; there is nothing to hand over.
        thread::spawn(move || {
            loop {
                thread::sleep(DRAWN_EVERY);
                ticking.tick();
            }
        });
        progress
    }

    /// Tells only what ended, and has no thread.
    #[cfg(test)]
    pub(crate) fn quiet() -> Self {
        Self {
            style: Style::Plain,
            tasks: Arc::default(),
        }
    }

    /// Prints a line that stays.
    pub(crate) fn line(&self, text: &str) {
        let tasks = self.tasks();
        self.clear();
        Self::print(&format!("lab: {text}\n"));
        self.draw(&tasks);
    }

    /// Begins a task.
    pub(crate) fn task(&self, name: &str) -> Task {
        let now = Instant::now();
        self.tasks().push(Shown {
            name: name.to_owned(),
            detail: String::new(),
            began: now,
            told: now,
        });
        Task {
            progress: self.clone(),
            name: name.to_owned(),
        }
    }

    fn tick(&self) {
        let mut tasks = self.tasks();
        match self.style {
            Style::Terminal => {
                self.clear();
                self.draw(&tasks);
            }
            Style::Plain => {
                for task in tasks.iter_mut() {
                    let first = task.told == task.began && task.began.elapsed() >= WORTH_TELLING;
                    if first || task.told.elapsed() >= PLAIN_EVERY {
                        task.told = Instant::now();
                        Self::print(&format!("lab: {}\n", task.text()));
                    }
                }
            }
        }
    }

    fn clear(&self) {
        if self.style == Style::Terminal {
            Self::print("\r\x1b[K");
        }
    }

    fn draw(&self, tasks: &[Shown]) {
        if self.style == Style::Terminal {
            let texts: Vec<String> = tasks.iter().map(Shown::text).collect();
            let line: String = texts.join(" | ").chars().take(WIDTH).collect();
            Self::print(&line);
        }
    }

    fn print(text: &str) {
        // Nobody may be listening any more; the work goes on.
        let mut stderr = io::stderr().lock();
        drop(
            stderr
                .write_all(text.as_bytes())
                .and_then(|()| stderr.flush()),
        );
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<Shown>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn text(&self) -> String {
        let seconds = self.began.elapsed().as_secs();
        let Self { name, detail, .. } = self;
        if detail.is_empty() {
            format!("{name}: {seconds} s")
        } else {
            format!("{name}: {seconds} s, {detail}")
        }
    }
}

impl Task {
    /// Says what the task is at.
    pub(crate) fn detail(&self, detail: &str) {
        let mut tasks = self.progress.tasks();
        if let Some(task) = tasks.iter_mut().find(|task| task.name == self.name) {
            detail.trim().clone_into(&mut task.detail);
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let mut tasks = self.progress.tasks();
        let Some(at) = tasks.iter().position(|task| task.name == self.name) else {
            return;
        };
        let task = tasks.remove(at);
        self.progress.clear();
        let seconds = task.began.elapsed().as_secs_f32();
        Progress::print(&format!("lab: {}: ended after {seconds:.1} s\n", task.name));
        self.progress.draw(&tasks);
    }
}
