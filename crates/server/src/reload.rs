//! What is looked at again and again while the server runs: the certificate, its key, the tokens, and
//! whether machines went silent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::{self, Fingerprint};
use crate::log::Log;
use crate::site::Site;
use crate::tls::Identity;
use crate::tokens::Tokens;

/// How often files are looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How long after its last change a file counts as whole.
const SETTLES: Duration = Duration::from_millis(100);

/// What is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The certificate and its key.
    pub(crate) identity: [PathBuf; 2],
    /// The tokens.
    pub(crate) tokens: Option<PathBuf>,
}

/// Reads files again when they change, for ever. What is wrong is told, and what was read before stays.
pub(crate) async fn watch(site: Arc<Site>, watched: Watched, log: Log) {
    let mut identity = Seen::new(watched.identity.to_vec());
    let mut tokens = Seen::new(watched.tokens.iter().cloned().collect());
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        site.progress.look_for_stalled(disk::now());
        if identity.has_changed() {
            let [certificate, key] = &watched.identity;
            let outcome = read_identity(&site, certificate, key);
            identity.keep(outcome.is_ok());
            told(&site, &log, "certificate", outcome);
        }
        if let Some(path) = &watched.tokens
            && tokens.has_changed()
        {
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

/// Files, and the state in which they were last read.
#[derive(Debug)]
struct Seen {
    paths: Vec<PathBuf>,
    states: Vec<Option<Fingerprint>>,
    /// Whether they could be read in that state.
    is_read: bool,
}

impl Seen {
    fn new(paths: Vec<PathBuf>) -> Self {
        let states = look(&paths);
        Self {
            paths,
            states,
            is_read: true,
        }
    }

    /// Notes whether the files could be read. If not, that is tried again although they do not change: a
    /// disk may recover, and the right to read be given.
    fn keep(&mut self, is_read: bool) {
        self.is_read = is_read;
    }

    /// Tells whether a file changed or was not read, and all of them are settled, so that they can be.
    fn has_changed(&mut self) -> bool {
        let states = look(&self.paths);
        let now = disk::now();
        let is_fresh =
            |state: &Option<Fingerprint>| state.is_some_and(|state| state.is_fresh(now, SETTLES));
        if self.is_read && states == self.states || states.iter().any(is_fresh) {
            return false;
        }
        self.states = states;
        true
    }
}

fn look(paths: &[PathBuf]) -> Vec<Option<Fingerprint>> {
    paths.iter().map(|path| Fingerprint::look(path)).collect()
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
        let mut seen = Seen::new(vec![path.clone()]);
        std::fs::write(&path, "three").unwrap();
        std::thread::sleep(SETTLES * 2);
        for is_read in [false, false, true] {
            assert!(seen.has_changed());
            seen.keep(is_read);
        }
        assert!(!seen.has_changed());
    }
}
