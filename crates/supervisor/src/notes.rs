//! What a supervisor writes down for others, replaced as a whole and only when it changed.

use std::fs;
use std::path::PathBuf;

use bootlace_model::supervised::{STATE, Supervised};

use crate::{Place, Result, SupervisorError};

/// The file, and what stands in it.
#[derive(Debug)]
pub(crate) struct Notes {
    path: PathBuf,
    written: Option<Supervised>,
}

impl Notes {
    /// Begins with whatever stands there.
    pub(crate) fn new(place: &Place) -> Self {
        Self {
            path: place.below(STATE),
            written: None,
        }
    }

    /// Writes what is so now, unless it stands there already.
    pub(crate) fn write(&mut self, now: Supervised) -> Result<()> {
        if self.written.as_ref() == Some(&now) {
            return Ok(());
        }
        let refused = SupervisorError::file("write", &self.path);
        let text = serde_json::to_vec_pretty(&now).map_err(|error| refused(error.into()))?;
        let fresh = self.path.with_extension("new");
        fs::write(&fresh, text).map_err(&refused)?;
        fs::rename(&fresh, &self.path).map_err(refused)?;
        self.written = Some(now);
        Ok(())
    }
}
