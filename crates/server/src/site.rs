//! All that the server knows while it runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::Semaphore;

use crate::audit::Audit;
use crate::cache::Cache;
use crate::metrics::Metrics;
use crate::progress::Progress;
use crate::shares::Shares;
use crate::throttle::Throttle;
use crate::tls;
use crate::tokens::Tokens;

/// How many may read along at a time.
const MOST_READERS: usize = 64;
/// How many of them may come from one source.
const MOST_READERS_OF_ONE: usize = 16;

/// What everything that answers shares.
#[derive(Debug)]
pub(crate) struct Site {
    /// What is served.
    pub(crate) cache: Cache,
    /// Who may ask.
    pub(crate) gate: Gate,
    /// Who failed too often.
    pub(crate) throttle: Throttle,
    /// Who asked.
    pub(crate) audit: Audit,
    /// Who is where.
    pub(crate) progress: Progress,
    /// Places for those who read along.
    pub(crate) readers: Arc<Semaphore>,
    /// How many read along from where.
    pub(crate) readers_of_one: Shares,
    /// How often.
    pub(crate) metrics: Arc<Metrics>,
    /// By what the server proves who it is.
    pub(crate) identity: Arc<tls::Current>,
    /// What is wrong with files that are read again while the server runs.
    pub(crate) troubles: Troubles,
    drains: AtomicBool,
}

/// Who may ask.
#[derive(Debug)]
pub(crate) enum Gate {
    /// Whoever has a token.
    Tokens(RwLock<Arc<Tokens>>),
    /// Anybody.
    Open,
}

impl Gate {
    /// Returns the tokens as they are now; none if anybody may ask.
    pub(crate) fn tokens(&self) -> Option<Arc<Tokens>> {
        match self {
            Self::Tokens(tokens) => {
                let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner);
                Some(Arc::clone(&tokens))
            }
            Self::Open => None,
        }
    }

    /// Replaces the tokens; those that are gone are remembered as revoked.
    pub(crate) fn replace(&self, tokens: Tokens) {
        if let Self::Tokens(current) = self {
            let mut current = current.write().unwrap_or_else(PoisonError::into_inner);
            *current = Arc::new(tokens.after(&current));
        }
    }
}

/// What is wrong at the moment, by what it is about.
#[derive(Debug, Default)]
pub(crate) struct Troubles(Mutex<BTreeMap<&'static str, String>>);

impl Troubles {
    /// Notes what is wrong, or that nothing is; tells whether that is news.
    pub(crate) fn set(&self, about: &'static str, trouble: Option<&str>) -> bool {
        let mut troubles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match trouble {
            Some(trouble) => troubles.insert(about, trouble.to_owned()),
            None => troubles.remove(about),
        };
        before.as_deref() != trouble
    }

    /// Lists what is wrong.
    pub(crate) fn list(&self) -> Vec<String> {
        let troubles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        troubles.values().cloned().collect()
    }
}

impl Site {
    /// Puts everything together.
    pub(crate) fn new(
        cache: Cache,
        gate: Gate,
        audit: Audit,
        identity: tls::Identity,
        progress: Progress,
    ) -> Self {
        Self {
            cache,
            progress,
            readers: Arc::new(Semaphore::new(MOST_READERS)),
            readers_of_one: Shares::new(MOST_READERS_OF_ONE),
            gate,
            throttle: Throttle::default(),
            audit,
            metrics: Arc::default(),
            identity: Arc::new(tls::Current::new(identity)),
            troubles: Troubles::default(),
            drains: AtomicBool::new(false),
        }
    }

    /// Notes that the server is about to end.
    pub(crate) fn drain(&self) {
        self.drains.store(true, Ordering::Relaxed);
        // Streams go on for ever otherwise, and would have to be cut off.
        self.progress.end();
    }

    /// Tells whether the server is about to end.
    pub(crate) fn drains(&self) -> bool {
        self.drains.load(Ordering::Relaxed)
    }
}
