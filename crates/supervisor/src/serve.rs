//! All processes of a folder of manifests, until somebody asks to stop.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::time::Duration;

use bootlace_model::supervised::{FOLDER, LOGS, ProcessEnd, Supervised, SupervisedProcess};

use crate::instance::Instance;
use crate::manifests::{Manifests, News};
use crate::notes::Notes;
use crate::process::Process;
use crate::{Place, Result, SupervisorError, leftovers, pod};

/// Where the manifests lie, below the root.
const MANIFESTS: &str = "etc/kubernetes/manifests";
/// How long is waited between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How long is waited between two looks while processes end.
const LOOK_FOR_ENDS: Duration = Duration::from_millis(20);

/// A manifest, and the processes that it became.
#[derive(Debug)]
struct Entry {
    file: String,
    processes: Vec<Process>,
    /// Why nothing of it runs.
    problem: Option<ProcessEnd>,
    /// What shall run once these have ended; nothing if the manifest is gone.
    next: Option<String>,
    is_ending: bool,
}

/// Becomes the supervisor of a root; returns when it was asked to stop and all processes ended.
///
/// The caller has detached it from its terminal. A process that a killed supervisor left behind is
/// ended first, so that nothing is started beside itself.
pub fn serve(place: &Place, stop_requested: &dyn Fn() -> bool) -> Result<()> {
    make_folders(place)?;
    let _instance = Instance::take(&place.root)?;
    leftovers::end_all(&place.root)?;
    let mut serving = Serving {
        place,
        manifests: Manifests::new(place.below(MANIFESTS)),
        notes: Notes::new(place),
        entries: Vec::new(),
    };
    let mut complaint = String::new();
    while !stop_requested() {
        let went_on = serving.look().and_then(|()| serving.tick());
        complain(went_on.err(), &mut complaint);
        std::thread::sleep(LOOK_AGAIN);
    }
    serving.stop()
}

/// Says what is wrong, once, and lets the processes run on: a full disk must not leave them alone.
fn complain(error: Option<SupervisorError>, last: &mut String) {
    let now = error.map(|error| error.to_string()).unwrap_or_default();
    if !now.is_empty() && now != *last {
        // If not even this can be written, there is nobody left to tell.
        drop(writeln!(io::stderr(), "{} {now}", jiff::Timestamp::now()));
    }
    *last = now;
}

/// Makes the folders of locks, notes and logs, for their owner alone.
pub(crate) fn make_folders(place: &Place) -> Result<()> {
    for folder in [FOLDER, LOGS] {
        let folder = place.below(folder);
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above).map_err(SupervisorError::file("make", above))?;
        }
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(SupervisorError::file("make", &folder)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

struct Serving<'a> {
    place: &'a Place,
    manifests: Manifests,
    notes: Notes,
    /// In the order in which they came.
    entries: Vec<Entry>,
}

impl Serving<'_> {
    /// Takes in what changed in the folder.
    fn look(&mut self) -> Result<()> {
        for (file, news) in self.manifests.look()? {
            let text = match news {
                News::Written(text) => Some(text),
                News::Gone => None,
            };
            match self.entries.iter_mut().find(|entry| entry.file == file) {
                Some(entry) => entry.replace(text)?,
                None => self.entries.push(Entry::new(file, text)),
            }
        }
        Ok(())
    }

    /// Lets every process go on.
    fn tick(&mut self) -> Result<()> {
        for entry in &mut self.entries {
            for process in &mut entry.processes {
                process.tick(self.place)?;
            }
            if entry.is_ending && entry.processes.iter().all(Process::is_gone) {
                entry.begin(self.place);
            }
        }
        let over = |entry: &Entry| entry.processes.is_empty() && entry.problem.is_none();
        self.entries.retain(|entry| entry.is_ending || !over(entry));
        self.note()
    }

    /// Ends all processes, the last that came first, each before the one that it may need.
    fn stop(&mut self) -> Result<()> {
        while let Some(entry) = self.entries.last_mut() {
            entry.replace(None)?;
            while !entry.processes.iter().all(Process::is_gone) {
                for process in &mut entry.processes {
                    process.tick(self.place)?;
                }
                std::thread::sleep(LOOK_FOR_ENDS);
            }
            self.entries.pop();
            self.note()?;
        }
        Ok(())
    }

    fn note(&mut self) -> Result<()> {
        self.notes.write(Supervised {
            pid: std::process::id(),
            processes: self.entries.iter().flat_map(Entry::notes).collect(),
        })
    }
}

impl Entry {
    fn new(file: String, text: Option<String>) -> Self {
        Self {
            file,
            processes: vec![],
            problem: None,
            next: text,
            is_ending: true,
        }
    }

    /// Ends what runs, so that something else, or nothing, runs instead.
    fn replace(&mut self, text: Option<String>) -> Result<()> {
        self.next = text;
        self.is_ending = true;
        for process in &mut self.processes {
            process.stop()?;
        }
        Ok(())
    }

    /// Begins what shall run now that nothing does.
    fn begin(&mut self, place: &Place) {
        self.is_ending = false;
        self.processes.clear();
        self.problem = None;
        let Some(text) = self.next.take() else { return };
        match pod::read(&text, &place.root) {
            Ok(specs) => {
                self.processes = specs.into_iter().map(Process::new).collect();
            }
            Err(why) => {
                self.problem = Some(ProcessEnd {
                    code: None,
                    signal: None,
                    at: jiff::Timestamp::now(),
                    last_words: vec![why],
                });
            }
        }
    }

    fn notes(&self) -> Vec<SupervisedProcess> {
        let refused = self.problem.iter().map(|problem| SupervisedProcess {
            name: self.file.clone(),
            pid: None,
            ends: 1,
            ended: Some(problem.clone()),
            log: format!("/{LOGS}/supervisor.log"),
        });
        let running = self.processes.iter().map(Process::note);
        running.chain(refused).collect()
    }
}

#[cfg(test)]
mod tests;
