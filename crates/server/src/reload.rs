//! What is looked at again and again while the server runs: the certificate, its key, the tokens, and
//! whether machines went silent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::disk::{self, Fingerprint};
use crate::log::Log;
use crate::site::Site;
use crate::tls::Identity;
use crate::tokens::Tokens;

/// How often files are looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How long after its last change a file counts as whole.
const SETTLES: Duration = Duration::from_millis(100);

/// Reads files again when they change, for ever. What is wrong is told, and what was read before stays.
pub(crate) async fn watch(
    site: Arc<Site>,
    mut identity: Watched<2>,
    mut tokens: Option<Watched<1>>,
    log: Log,
) {
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        site.progress.look_for_stalled(disk::now());
        if identity.has_changed() {
            let [certificate, key] = identity.paths();
            let outcome = read_identity(&site, certificate, key);
            identity.keep(outcome.is_ok());
            told(&site, &log, "certificate", outcome);
        }
        if let Some(tokens) = &mut tokens
            && tokens.has_changed()
        {
            let [path] = tokens.paths();
            let outcome = read_tokens(&site, path);
            tokens.keep(outcome.is_ok());
            told(&site, &log, "tokens", outcome);
        }
    }
}

fn read_identity(site: &Site, certificate: &Path, key: &Path) -> Result<(), String> {
    let identity = Identity::read(certificate, key);
    let identity = identity.map_err(|(file, why)| {
        format!(
            "{}: {why}; the certificate that was read before is used",
            file.display()
        )
    })?;
    site.identity.replace(identity);
    Ok(())
}

fn read_tokens(site: &Site, path: &Path) -> Result<(), String> {
    let content = disk::read(path).map_err(|error| format!("it cannot be read: {error}"));
    let tokens = content.and_then(|(content, _)| Tokens::parse(&content));
    let tokens = tokens.map_err(|why| {
        format!(
            "{}: {why}; the tokens that were read before are used",
            path.display()
        )
    })?;
    site.gate.replace(tokens);
    Ok(())
}

fn told(site: &Site, log: &Log, about: &'static str, outcome: Result<(), String>) {
    let trouble = outcome.err();
    let line = match &trouble {
        Some(trouble) => format!("{about} not read again: {trouble}"),
        None => format!("{about} read again"),
    };
    // One that stays wrong is told once; one that was read is news each time.
    if site.troubles.set(about, trouble.as_deref()) || trouble.is_none() {
        log.say(&line);
    }
}

/// Files that are read together, and the state in which they were last read.
#[derive(Debug)]
pub(crate) struct Watched<const N: usize> {
    paths: [PathBuf; N],
    states: [Option<Fingerprint>; N],
    /// Whether they could be read in that state.
    is_read: bool,
}

impl<const N: usize> Watched<N> {
    /// Looks at files that are about to be read for the first time, so that a change after that is
    /// noticed, whenever somebody begins to watch.
    pub(crate) fn new(paths: [PathBuf; N]) -> Self {
        Self::at(paths, disk::now())
    }

    fn at(paths: [PathBuf; N], now: Timestamp) -> Self {
        let states = look(&paths);
        // A file that changed a moment ago may change once more and look the same.
        let is_read = !any_fresh(&states, now);
        Self {
            paths,
            states,
            is_read,
        }
    }

    /// Returns where the files are.
    pub(crate) fn paths(&self) -> &[PathBuf; N] {
        &self.paths
    }

    /// Notes whether the files could be read. If not, that is tried again although they do not change: a
    /// disk may recover, and the right to read be given.
    fn keep(&mut self, is_read: bool) {
        self.is_read = is_read;
    }

    /// Tells whether a file changed or was not read, and all of them are settled, so that they can be.
    fn has_changed(&mut self) -> bool {
        let states = look(&self.paths);
        if self.is_read && states == self.states || any_fresh(&states, disk::now()) {
            return false;
        }
        self.states = states;
        true
    }
}

fn look<const N: usize>(paths: &[PathBuf; N]) -> [Option<Fingerprint>; N] {
    paths.each_ref().map(|path| Fingerprint::look(path))
}

fn any_fresh(states: &[Option<Fingerprint>], now: Timestamp) -> bool {
    let mut states = states.iter().flatten();
    states.any(|state| state.is_fresh(now, SETTLES))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test's own file")]

    use super::*;

    #[test]
    fn what_could_not_be_read_is_read_again_although_it_does_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.yaml");
        std::fs::write(&path, "one").unwrap();
        let mut watched = Watched::new([path.clone()]);
        std::fs::write(&path, "three").unwrap();
        std::thread::sleep(SETTLES * 2);
        for is_read in [false, false, true] {
            assert!(watched.has_changed());
            watched.keep(is_read);
        }
        assert!(!watched.has_changed());
    }

    #[test]
    fn a_file_that_was_fresh_when_it_was_read_first_is_read_once_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.yaml");
        let file = std::fs::File::create(&path).unwrap();
        let changed = std::time::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        file.set_modified(changed).unwrap();
        let at = |moment| {
            let now = Timestamp::try_from(changed + moment).unwrap();
            Watched::at([path.clone()], now)
        };
        let mut watched = at(Duration::from_millis(1));
        assert!(watched.has_changed());
        watched.keep(true);
        assert!(!watched.has_changed());
        assert!(!at(SETTLES).has_changed());
    }
}
