//! The state folder: `lock`, and a folder a run with its journal, its head and its blobs.

use std::sync::Arc;
use std::time::Duration;

use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::ids::{Digest, RunId};
use bootlace_model::node::Attributes;
use bootlace_model::path::TargetPath;
use bootlace_model::record::{Line, Outcome, Record};
use bootlace_model::replay::{RunState, Unknown};
use serde::{Deserialize, Serialize};

use crate::blobs::{BLOBS_FOLDER, Blobs};
use crate::effects::remove_tree;
use crate::folders::Folders;
use crate::journal::{
    Damage, JOURNAL_FILE, Journal, ReadJournal, has_first_line, last_line, read_journal,
};
use crate::port::{Dir, Host, Lock, LogFile};

const LOCK_FILE: &str = "lock";
const RUNS_FOLDER: &str = "runs";
const HEAD_FILE: &str = "head.json";

/// The state folder.
#[derive(Clone, Copy)]
pub(crate) struct Store<'a> {
    host: &'a dyn Host,
    path: &'a TargetPath,
}

/// A run that this process may write to.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub(crate) id: RunId,
    pub(crate) journal: Journal,
    pub(crate) blobs: Blobs,
    dir: Arc<dyn Dir>,
    _lock: Box<dyn Lock>,
}

/// How far a journal had come when its run was closed; a shorter one has lost lines.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    lines: u64,
    hash: Digest,
}

impl<'a> Store<'a> {
    pub(crate) fn new(host: &'a dyn Host, path: &'a TargetPath) -> Self {
        Self { host, path }
    }

    /// Lists the ids of all runs, oldest first.
    pub(crate) fn runs(&self) -> Result<Vec<RunId>, Fault> {
        let Some(dir) = self
            .host
            .open_dir(&self.path.join(RUNS_FOLDER).map_err(|bad| bad_state(&bad))?)?
        else {
            return Ok(vec![]);
        };
        Ok(dir
            .list()?
            .iter()
            .filter_map(|name| RunId::parse(name))
            .collect())
    }

    /// Finds the run that a person means: the one named, else the newest of the sequence that still
    /// stands, else the newest.
    pub(crate) fn find(
        &self,
        sequence: &str,
        named: Option<&RunId>,
    ) -> Result<Option<RunId>, Fault> {
        let runs = self.runs()?;
        let infix = format!("-{sequence}-");
        if let Some(named) = named {
            return if runs.contains(named) && named.as_str().contains(&infix) {
                Ok(Some(named.clone()))
            } else {
                Err(Fault::new(
                    FaultKind::Usage,
                    format!("there is no run {named} of {sequence}"),
                )
                .hint("`bootlace runs` lists them"))
            };
        }
        let mut newest = None;
        for run in runs
            .into_iter()
            .rev()
            .filter(|run| run.as_str().contains(&infix))
        {
            if !self.is_begun(&run)? {
                continue;
            }
            if !self.is_taken_back(&run)? {
                return Ok(Some(run));
            }
            newest.get_or_insert(run);
        }
        Ok(newest)
    }

    /// Tells whether the last line of a run's journal says that all of it was taken back.
    fn is_taken_back(&self, run: &RunId) -> Result<bool, Fault> {
        let Some(dir) = self.host.open_dir(&self.run_path(run)?)? else {
            return Ok(false);
        };
        if dir.stat(JOURNAL_FILE)?.is_none() {
            return Ok(false);
        }
        let log = self.host.open_log(dir.as_ref(), JOURNAL_FILE)?;
        let last = last_line(log.as_ref())?;
        let outcome = Outcome::Undone;
        Ok(last.is_some_and(|line| line.rec == Record::RunClosed { outcome }))
    }

    /// Like [`Store::find`], but a run must be there.
    pub(crate) fn must_find(&self, sequence: &str, named: Option<&RunId>) -> Result<RunId, Fault> {
        self.find(sequence, named)?.ok_or_else(|| {
            Fault::new(
                FaultKind::Preflight,
                format!("there is no run of {sequence} yet"),
            )
            .in_file(self.path.as_str())
            .hint(format!(
                "`bootlace plan {sequence}` shows what a run would do"
            ))
            .hint(format!("`bootlace run {sequence}` begins one"))
        })
    }

    /// Reads a run's journal without the right to write; a torn tail is left alone.
    pub(crate) fn read(
        &self,
        run: &RunId,
        sink: &mut dyn FnMut(&str, &Line),
    ) -> Result<RunState, Fault> {
        let place = self.run_path(run)?;
        let missing = || Fault::internal(format!("the run {run} has no folder {place}"));
        let dir = self.host.open_dir(&place)?.ok_or_else(missing)?;
        if dir.stat(JOURNAL_FILE)?.is_none() {
            return Err(self.empty_run(run, &place)?);
        }
        let log = self.host.open_log(dir.as_ref(), JOURNAL_FILE)?;
        let file = format!("{place}/{JOURNAL_FILE}");
        let read = read_checked(run, dir.as_ref(), log.as_ref(), sink);
        let read = read.map_err(|fault| fault.in_file(&file))?;
        if read.state.run.is_none() {
            return Err(self.empty_run(run, &place)?);
        }
        Ok(read.state)
    }

    /// Names the live process that works on this state folder, if there is one.
    pub(crate) fn holder(&self) -> Result<Option<String>, Fault> {
        match self.host.open_dir(self.path)? {
            None => Ok(None),
            Some(dir) => Ok(self.host.lock_holder(dir.as_ref(), LOCK_FILE)?),
        }
    }

    /// Asks the process that works on this state folder to stop, and waits a while for it.
    pub(crate) fn interrupt_holder(&self, within: Duration) -> Result<(), Fault> {
        match self.host.open_dir(self.path)? {
            None => Ok(()),
            Some(dir) => Ok(self
                .host
                .interrupt_holder(dir.as_ref(), LOCK_FILE, within)?),
        }
    }

    /// Takes the right to write, making the state folder if needed.
    pub(crate) fn lock(&self) -> Result<Box<dyn Lock>, Fault> {
        let dir = self.make(self.path, 0o755)?;
        Ok(self.host.lock(dir.as_ref(), LOCK_FILE)?)
    }

    /// Opens a new run; `opened` makes its first record from its id.
    pub(crate) fn create(
        &self,
        lock: Box<dyn Lock>,
        sequence: &str,
        opened: impl FnOnce(&RunId) -> Record,
    ) -> Result<OpenRun, Fault> {
        let id = self.new_id(sequence)?;
        let path = self.run_path(&id)?;
        let dir = self.make(&path, 0o755)?;
        let blobs = self.make(
            &path.join(BLOBS_FOLDER).map_err(|bad| bad_state(&bad))?,
            0o700,
        )?;
        let log = self.host.open_log(dir.as_ref(), JOURNAL_FILE)?;
        self.sync_names(&path)?;
        let journal = Journal::new(log, 0, Digest::of(b""), RunState::default())?;
        journal.write(self.host, vec![opened(&id)])?;
        Ok(OpenRun {
            id,
            journal,
            blobs: Blobs::new(blobs),
            dir,
            _lock: lock,
        })
    }

    /// Makes an id that sorts behind all others: the newest run is the one that people mean.
    fn new_id(&self, sequence: &str) -> Result<RunId, Fault> {
        let random = self.host.random().to_le_bytes();
        let random = u16::from_le_bytes([random[0], random[1]]);
        let runs = self.runs()?;
        let mut opened = self.host.now();
        loop {
            let id = RunId::new(opened, sequence, random);
            // Ids count seconds, and a clock may have been set back.
            if runs.iter().all(|run| *run < id) {
                return Ok(id);
            }
            opened += std::time::Duration::from_secs(1);
        }
    }

    /// Makes the names on the way to a run's journal durable, whoever made them.
    ///
    /// A process that was killed may have made the state folder a moment ago without syncing it;
    /// a power cut would then take everything that is kept in it.
    fn sync_names(&self, run: &TargetPath) -> Result<(), Fault> {
        let folders = Folders::new(self.host);
        let above = [self.path.parent(), Some(self.path.clone()), run.parent()];
        let mut dirs = Vec::new();
        for path in above.into_iter().flatten().chain([run.clone()]) {
            dirs.extend(folders.open(&path)?);
        }
        let dirs: Vec<&dyn Dir> = dirs.iter().map(AsRef::as_ref).collect();
        Ok(self.host.sync_dirs(&dirs)?)
    }

    /// Opens a run to go on with it; cuts and notes what a crash tore.
    pub(crate) fn open(&self, lock: Box<dyn Lock>, run: &RunId) -> Result<OpenRun, Fault> {
        let path = self.run_path(run)?;
        let file = format!("{path}/{JOURNAL_FILE}");
        let dir = self.make(&path, 0o755)?;
        let blobs = self.make(
            &path.join(BLOBS_FOLDER).map_err(|bad| bad_state(&bad))?,
            0o700,
        )?;
        // A killed process may have kept a before-image without making its name durable.
        self.host.sync_dirs(&[dir.as_ref(), blobs.as_ref()])?;
        let log = self.host.open_log(dir.as_ref(), JOURNAL_FILE)?;
        let read = read_checked(run, dir.as_ref(), log.as_ref(), &mut |_, _| {});
        let read = read.map_err(|fault| fault.in_file(&file))?;
        if read.state.run.is_none() {
            return Err(self.empty_run(run, &path)?);
        }
        // The lowest place through which everything that is written to an old run goes.
        understood(&read.state).map_err(|fault| fault.in_file(&file))?;
        let log = self.rewrite(dir.as_ref(), log.as_ref(), read.good)?;
        let journal = Journal::new(log, read.lines, read.last, read.state)?;
        if read.torn > 0 {
            journal.write(self.host, vec![Record::TailCut { bytes: read.torn }])?;
        }
        Ok(OpenRun {
            id: run.clone(),
            journal,
            blobs: Blobs::new(blobs),
            dir,
            _lock: lock,
        })
    }

    /// Writes a journal again, up to its last whole line, and returns the new one.
    ///
    /// What is read of it may be in memory only: when a sync has failed, the kernel takes the pages
    /// that it could not write for written.
    fn rewrite(
        &self,
        dir: &dyn Dir,
        log: &dyn LogFile,
        good: u64,
    ) -> Result<Box<dyn LogFile>, Fault> {
        let length = usize::try_from(good).map_err(|error| Fault::internal(error.to_string()))?;
        let mut lines = vec![0; length];
        let read = log.read_at(0, &mut lines)?;
        lines.truncate(read);
        let staged = format!(".{JOURNAL_FILE}");
        if dir.stat(&staged)?.is_some() {
            dir.remove(&staged)?;
        }
        dir.create(&staged, &lines, &Attributes::mode(0o600))?;
        self.host.sync_files(&[(dir, &staged)])?;
        dir.rename(&staged, JOURNAL_FILE)?;
        self.host.sync_dirs(&[dir])?;
        Ok(self.host.open_log(dir, JOURNAL_FILE)?)
    }

    /// Removes the folders of runs that a crash cut off before their first record.
    pub(crate) fn remove_unbegun(&self) -> Result<(), Fault> {
        for run in self.runs()? {
            if !self.is_begun(&run)? {
                remove_tree(self.host, &self.run_path(&run)?)?;
            }
        }
        Ok(())
    }

    /// Tells whether a run ever had a first record; without one nothing happened in it.
    ///
    /// The head and the blobs come after that record, so they speak for a journal that is lost.
    fn is_begun(&self, run: &RunId) -> Result<bool, Fault> {
        let Some(dir) = self.host.open_dir(&self.run_path(run)?)? else {
            return Ok(false);
        };
        let blobs = self.run_path(run)?.join(BLOBS_FOLDER);
        let blobs = self.host.open_dir(&blobs.map_err(|bad| bad_state(&bad))?)?;
        let blobs = blobs.map_or(Ok(vec![]), |blobs| blobs.list())?;
        if dir.stat(HEAD_FILE)?.is_some() || !blobs.is_empty() {
            return Ok(true);
        }
        if dir.stat(JOURNAL_FILE)?.is_none() {
            return Ok(false);
        }
        let log = self.host.open_log(dir.as_ref(), JOURNAL_FILE)?;
        has_first_line(log.as_ref())
    }

    /// Says why there is nothing to read in a run.
    fn empty_run(&self, run: &RunId, place: &TargetPath) -> Result<Fault, Fault> {
        if self.is_begun(run)? {
            let reason = "it and all that followed it are lost".to_owned();
            let damage = Damage { line: 1, reason };
            return Ok(Fault::from(damage).in_file(format!("{place}/{JOURNAL_FILE}")));
        }
        let message = format!("the run {run} was cut off before its first record");
        Ok(Fault::refused(message)
            .in_file(place.as_str())
            .hint("nothing was done in it; `bootlace run` begins anew"))
    }

    fn run_path(&self, run: &RunId) -> Result<TargetPath, Fault> {
        self.path
            .join(&format!("{RUNS_FOLDER}/{run}"))
            .map_err(|bad| bad_state(&bad))
    }

    /// Opens a folder, making it and those above it, durably.
    fn make(&self, path: &TargetPath, mode: u32) -> Result<Arc<dyn Dir>, Fault> {
        let folders = Folders::new(self.host);
        if let Some(dir) = folders.open(path)? {
            return Ok(dir);
        }
        let (above, mut changed) = folders.make_holding(path)?;
        if let Some(above) = above {
            above.create_dir(path.name(), &Attributes::mode(mode))?;
            changed.push(above);
        }
        let changed: Vec<&dyn Dir> = changed.iter().map(AsRef::as_ref).collect();
        self.host.sync_dirs(&changed)?;
        folders.forget(path);
        folders
            .open(path)?
            .ok_or_else(|| Fault::internal(format!("cannot open {path} after making it")))
    }
}

impl OpenRun {
    /// Notes how far the journal has come, so that lines lost from its end show.
    ///
    /// It is written after the journal is durable and is not synced itself: it may be behind the
    /// journal, never ahead of it.
    pub(crate) fn note_head(&self) -> Result<(), Fault> {
        let (lines, hash) = self.journal.head();
        let head = serde_json::to_vec(&Head { lines, hash })
            .map_err(|error| Fault::internal(error.to_string()))?;
        let staged = format!(".{HEAD_FILE}");
        if self.dir.stat(&staged)?.is_some() {
            self.dir.remove(&staged)?;
        }
        self.dir.create(&staged, &head, &Attributes::mode(0o600))?;
        Ok(self.dir.rename(&staged, HEAD_FILE)?)
    }
}

/// Refuses a run in which another version wrote what this one does not understand.
pub(crate) fn understood(state: &RunState) -> Result<(), Fault> {
    let Some(Unknown { line, what, tool }) = &state.unknown else {
        return Ok(());
    };
    let message = format!("this version does not understand line {line} of the journal ({what})");
    Err(Fault::refused(message)
        .because(format!(
            "bootlace {tool} wrote it. Only a version that understands all of a run can continue or \
             undo it. Nothing was changed."
        ))
        .hint(format!("run the same command with bootlace {tool} or later"))
        .hint("`bootlace status` and `bootlace log` show the run with this version, too"))
}

/// Reads a journal, and compares it with its run's name and with the head that was noted for it.
fn read_checked(
    run: &RunId,
    dir: &dyn Dir,
    log: &dyn LogFile,
    sink: &mut dyn FnMut(&str, &Line),
) -> Result<ReadJournal, Fault> {
    let head = read_head(dir)?;
    let mut at_head = None;
    let read = read_journal(log, &mut |text, line| {
        if head.as_ref().is_some_and(|head| head.lines == line.seq) {
            at_head = Some(line.prev);
        }
        sink(text, line);
    })?;
    let damage = |line, reason| Err(Damage { line, reason }.into());
    if let Some(other) = read.state.run.as_ref().filter(|other| *other != run) {
        return damage(1, format!("it is the journal of another run, {other}"));
    }
    let Some(head) = head else { return Ok(read) };
    if head.lines > read.lines {
        let reason = format!(
            "the {} lines from here on are lost",
            head.lines - read.lines
        );
        return damage(read.lines + 1, reason);
    }
    // Each line holds the hash of all before it, so one hash speaks for every line up to it.
    if at_head.unwrap_or(read.last) != head.hash {
        let reason = format!("it is not what {HEAD_FILE} beside it says");
        return damage(head.lines, reason);
    }
    Ok(read)
}

/// Reads how far the journal had come; none if that was never noted.
fn read_head(dir: &dyn Dir) -> Result<Option<Head>, Fault> {
    if dir.stat(HEAD_FILE)?.is_none() {
        return Ok(None);
    }
    // A head that a power cut tore says nothing; it is only ever behind the journal.
    Ok(serde_json::from_slice(&dir.read(HEAD_FILE, 4096)?).ok())
}

fn bad_state(bad: &bootlace_model::path::BadPath) -> Fault {
    Fault::internal(format!("the state folder cannot be named: {bad}"))
}
