//! Rendered configs, kept as long as all that they came from is as it was.
//!
//! What is served is always one state of everything: files and objects are looked at before and after
//! they are read, and read again if one changed meanwhile. A file that changed a moment ago may still
//! be in the middle of being written, so it is waited for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bootlace_ignition::Version;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::disk;
use crate::layered;
use crate::name::Name;
use crate::pools::Pools;
use crate::problem::{Kind, Problem};
use crate::rendered::{Unrenderable, render};
use crate::source::{Document, Mark, Reading, Source, Unservable};
use crate::tokens::hex;

/// How often files are read again that change all the time.
const ATTEMPTS: usize = 60;
/// How long is waited for a file to settle.
const PAUSE: Duration = Duration::from_millis(20);
/// How long after its last change a file counts as whole.
const SETTLES: Duration = Duration::from_millis(40);
/// The same for a file that makes no sense: most likely it is being written.
const SETTLES_BROKEN: Duration = Duration::from_millis(500);

/// What is made of a pool's config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum View {
    /// All of it.
    Whole,
    /// What a machine needs until it runs an image that holds the rest.
    Layered,
}

impl View {
    /// Returns the name under which requests for it are counted.
    pub(crate) fn endpoint(self) -> &'static str {
        match self {
            Self::Whole => "config",
            Self::Layered => "layered",
        }
    }
}

/// What a pool is served in a version.
#[derive(Debug)]
pub(crate) struct Served {
    /// The name of the pool's config.
    pub(crate) config: String,
    /// The bytes; shared by everybody who gets them.
    pub(crate) content: Bytes,
    /// A name for exactly these bytes, in quotes.
    pub(crate) tag: String,
    /// A number that changes whenever this is rendered, and tells nothing about the bytes.
    pub(crate) revision: u64,
}

impl Served {
    fn new(source: &Source, content: Vec<u8>, revision: u64) -> Self {
        let digest = hex(&Sha256::digest(&content)[..16]);
        Self {
            config: source.config.as_str().to_owned(),
            content: content.into(),
            tag: format!("\"{digest}\""),
            revision,
        }
    }
}

/// An answer to a request for a pool.
pub(crate) type Answer = Result<Arc<Served>, Problem>;

/// All that was rendered.
#[derive(Debug)]
pub(crate) struct Cache {
    pools: Pools,
    slots: Mutex<BTreeMap<(Name, View, Version), Arc<Slot>>>,
    renders: AtomicU64,
    /// How long a pool that was served may be missing before it is unknown.
    returns_within: Duration,
}

/// A pool in a version; whoever renders it holds the lock, and all others wait for what comes of it.
type Slot = tokio::sync::Mutex<Option<Kept>>;

/// What came of rendering.
enum Made {
    /// An answer, and what it came from.
    Settled(Answer, Vec<Mark>),
    /// An answer that may be another one in a moment.
    Passing(Problem),
    /// There is no such pool.
    Unknown,
    /// The files change all the time.
    Unsettled,
}

#[derive(Debug)]
struct Kept {
    marks: Vec<Mark>,
    answer: Answer,
}

impl Cache {
    /// Begins with nothing.
    pub(crate) fn new(pools: Pools, returns_within: Duration) -> Self {
        Self {
            pools,
            slots: Mutex::default(),
            renders: AtomicU64::new(0),
            returns_within,
        }
    }

    /// Returns where configs come from.
    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Counts how often something was rendered.
    pub(crate) fn renders(&self) -> u64 {
        self.renders.load(Ordering::Relaxed)
    }

    /// Returns what a pool is served in a version, as everything is now.
    pub(crate) async fn get(&self, pool: &Name, view: View, version: Version) -> Answer {
        let key = (pool.clone(), view, version);
        let slot = Arc::clone(self.slots().entry(key.clone()).or_default());
        let mut kept = slot.lock().await;
        if let Some(kept) = &*kept
            && self.pools.still_holds(&kept.marks)
        {
            return kept.answer.clone();
        }
        let was_served = kept.is_some();
        match self.make(pool, view, version, was_served).await {
            Made::Settled(answer, marks) => {
                *kept = Some(Kept {
                    marks,
                    answer: answer.clone(),
                });
                answer
            }
            Made::Passing(problem) => Err(problem),
            Made::Unsettled => match kept.as_ref().map(|kept| &kept.answer) {
                // A state that was whole is better than none, and than half of a new one.
                Some(Ok(served)) => Ok(Arc::clone(served)),
                _ => Err(unsettled(pool)),
            },
            Made::Unknown => {
                // Nothing is kept for names that anybody may make up.
                drop(self.slots().remove(&key));
                Err(unknown(pool, &self.pools.list().unwrap_or_default()))
            }
        }
    }

    /// Renders, until it came from what did not change meanwhile.
    async fn make(&self, pool: &Name, view: View, version: Version, was_served: bool) -> Made {
        let unknown_from = Instant::now() + self.returns_within;
        let mut attempts = 1..ATTEMPTS;
        loop {
            let Some(reading) = self.read(pool).await else {
                return Made::Unsettled;
            };
            match &reading.source {
                // Somebody may be replacing the file of a pool that was served a moment ago, and a
                // machine that is told that there is no such pool gives up for good.
                Err(Unservable::Unknown) if was_served && Instant::now() < unknown_from => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                Err(Unservable::Unknown) => return Made::Unknown,
                Err(error @ Unservable::Unreadable { .. }) => {
                    return Made::Passing(unservable(pool, error.clone()));
                }
                _ => {}
            }
            let Reading { marks, source } = reading;
            if is_settled(&marks, SETTLES) && self.pools.still_holds(&marks) {
                let revision = self.renders.fetch_add(1, Ordering::Relaxed) + 1;
                let (pools, pool) = (self.pools.clone(), pool.clone());
                let answer = tokio::task::spawn_blocking(move || -> Answer {
                    let source = source.map_err(|error| unservable(&pool, error))?;
                    let content = rendered(&pools, &pool, &source, view, version)?;
                    Ok(Arc::new(Served::new(&source, content, revision)))
                });
                match answer.await {
                    Ok(answer) if answer.is_ok() || is_settled(&marks, SETTLES_BROKEN) => {
                        return Made::Settled(answer, marks);
                    }
                    _ => {}
                }
            }
            if attempts.next().is_none() {
                return Made::Unsettled;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn read(&self, pool: &Name) -> Option<Reading> {
        let (pools, pool) = (self.pools.clone(), pool.clone());
        let reading = tokio::task::spawn_blocking(move || pools.read(&pool));
        reading.await.ok()
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Name, View, Version), Arc<Slot>>> {
        // The map is whole whatever happened to whoever held it.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that there is no such pool, and which ones there are.
pub(crate) fn unknown(pool: &Name, known: &[Name]) -> Problem {
    let known: Vec<&str> = known.iter().map(Name::as_str).collect();
    let hint = if known.is_empty() {
        "there are no pools: make one first".into()
    } else {
        format!("ask for one of these: {}", known.join(", "))
    };
    let detail = format!("there is no pool {}", pool.as_str());
    Problem::new(Kind::UnknownPool, detail, hint)
}

/// Tells whether the last change of every file is so long ago that it has been written whole.
fn is_settled(marks: &[Mark], settles: Duration) -> bool {
    let now = disk::now();
    !marks.iter().any(|mark| match mark {
        Mark::File(_, found) => found.is_some_and(|found| found.is_fresh(now, settles)),
        Mark::Object(..) => false,
    })
}

fn rendered(
    pools: &Pools,
    pool: &Name,
    source: &Source,
    view: View,
    version: Version,
) -> Result<Vec<u8>, Problem> {
    let content = match view {
        View::Whole => render(source, version),
        View::Layered => layered::render(source, version),
    };
    match content {
        Ok(content) => Ok(content),
        Err(Unrenderable::Invalid(reasons)) => {
            let config = Document::Config(source.config.clone());
            let place = pools.origin.place(&config);
            let broken = Unservable::broken(place, reasons.join("; "));
            Err(unservable(pool, broken))
        }
        Err(Unrenderable::NoImage(reason)) => {
            let place = pools.origin.place(&Document::Pool(pool.clone()));
            Err(unservable(pool, Unservable::broken(place, reason)))
        }
        Err(Unrenderable::Inexpressible(reasons)) => Err(inexpressible(pool, version, &reasons)),
    }
}

fn inexpressible(pool: &Name, version: Version, reasons: &[String]) -> Problem {
    let detail = format!(
        "the config of the pool {} cannot be said in {version}: {}",
        pool.as_str(),
        reasons.join("; ")
    );
    let hint = "boot a newer image, whose Ignition asks for a newer version, or take out of the config what is named here";
    let problem = Problem::new(Kind::Inexpressible, detail, hint);
    if version == Version::V3_0 {
        // Nothing that asks for 3.0 will ever be served more by waiting.
        problem.with_status(hyper::StatusCode::BAD_REQUEST)
    } else {
        problem
    }
}

fn unservable(pool: &Name, error: Unservable) -> Problem {
    let (place, reason) = match error {
        Unservable::Broken { place, reason } | Unservable::Unreadable { place, reason } => {
            (place, reason)
        }
        Unservable::Unknown => ("pools".into(), "there is no such pool".into()),
    };
    let pool = pool.as_str();
    Problem::new(
        Kind::BrokenPool,
        format!("the pool {pool} cannot be served: {place}: {reason}"),
        format!("put {place} right; what changed is served at the next request"),
    )
    .retry_after(10)
}

fn unsettled(pool: &Name) -> Problem {
    let detail = format!(
        "the files of the pool {} change all the time",
        pool.as_str()
    );
    let hint = "write files under another name and rename them into place; ask again";
    Problem::new(Kind::BrokenPool, detail, hint).retry_after(1)
}

#[cfg(test)]
mod tests;
