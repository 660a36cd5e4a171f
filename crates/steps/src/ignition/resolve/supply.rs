//! Contents that are read again from where they are, instead of being held in memory.

use std::fmt;
use std::sync::Arc;

use bootlace_ignition::Stretch;
use bootlace_ignition::content::{decode_data_url, finish};
use bootlace_model::content::{Content, See, Supply};
use bootlace_model::fault::Fault;

/// How many bytes of a whole text are in memory at once.
const PIECE: usize = 256 << 10;

/// A text that can be read again, part by part.
pub trait Reread: fmt::Debug + Send + Sync {
    /// Returns so many bytes from a place on.
    fn part(&self, from: u64, length: usize) -> Result<Vec<u8>, Fault>;
}

/// A whole text.
#[derive(Debug)]
pub(super) enum Whole {
    Shared(Arc<String>),
    Again {
        text: Arc<dyn Reread>,
        length: usize,
    },
}

impl Supply for Whole {
    fn supply(&self) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Shared(text) => Ok(text.as_bytes().to_vec()),
            Self::Again { text, length } => text.part(0, *length),
        }
    }

    fn pieces(&self, see: &mut See<'_>) -> Result<(), Fault> {
        let (text, length) = match self {
            Self::Shared(text) => return see(text.as_bytes()),
            Self::Again { text, length } => (text, *length),
        };
        let mut from = 0;
        while from < length {
            let piece = text.part(from as u64, PIECE.min(length - from))?;
            see(&piece)?;
            from += piece.len();
        }
        Ok(())
    }
}

/// A data URL that stands in a text.
#[derive(Debug)]
pub(super) struct Inline {
    pub(super) url: Url,
    pub(super) is_packed: bool,
    pub(super) limit: u64,
}

/// Where a data URL stands.
#[derive(Debug)]
pub(super) enum Url {
    Shared(Stretch),
    Again {
        text: Arc<dyn Reread>,
        from: u32,
        length: u32,
    },
}

impl Supply for Inline {
    fn supply(&self) -> Result<Vec<u8>, Fault> {
        let raw = match &self.url {
            Url::Shared(stretch) => decode_data_url(stretch.as_str()),
            Url::Again { text, from, length } => {
                let bytes = text.part(u64::from(*from), *length as usize)?;
                let url = std::str::from_utf8(&bytes);
                decode_data_url(url.map_err(|error| changed(&error))?)
            }
        };
        unpacked(
            raw.map_err(|error| changed(&error))?,
            self.is_packed,
            self.limit,
        )
    }
}

/// Something packed that came from a server.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) content: Content,
    pub(super) limit: u64,
}

impl Supply for Packed {
    fn supply(&self) -> Result<Vec<u8>, Fault> {
        unpacked(self.content.read()?.to_vec(), true, self.limit)
    }
}

fn unpacked(raw: Vec<u8>, is_packed: bool, limit: u64) -> Result<Vec<u8>, Fault> {
    let compression = is_packed.then_some("gzip");
    finish(raw, compression, None, limit).map_err(|error| changed(&error))
}

/// It could be read before, so what is there now is something else.
fn changed(error: &dyn fmt::Display) -> Fault {
    Fault::refused(format!("the config was changed while it was read: {error}"))
        .because("What was planned and what is written have to be the same.")
        .hint("leave the config alone while it is applied, then try again")
}
