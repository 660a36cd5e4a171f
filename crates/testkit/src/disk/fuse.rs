//! The few messages of the kernel's FUSE protocol that a single file needs.
//!
//! The root of the mount is that file, so there are no names to look up.

use std::io::{Error, ErrorKind, Result};

/// The longest write that the kernel may send at once.
const LARGEST_WRITE: u32 = 1 << 20;
const LARGEST_WRITE_PAGES: u16 = 256;
/// A request of that length with its headers fits into this many bytes.
pub(super) const LARGEST_REQUEST: usize = (1 << 20) + 4096;

const HEADER: usize = 40;
const ROOT: u64 = 1;
const REGULAR_FILE: u32 = 0o100_600;
/// Nothing of the file is cached: every write of the loop device arrives, in order.
const DIRECT_IO: u32 = 1;
const NOT_IMPLEMENTED: i32 = 38;
const IO_ERROR: i32 = 5;

/// What the kernel asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'a> {
    Init,
    Attributes,
    Open,
    Read {
        offset: u64,
        length: usize,
    },
    Write {
        offset: u64,
        data: &'a [u8],
    },
    Sync,
    /// Nothing that needs more than a word of thanks.
    Close,
    /// Something that is not answered at all.
    Notice,
    Other,
}

/// Takes a request apart; returns the number that its answer has to carry.
pub(super) fn parse(bytes: &[u8]) -> Result<(u64, Request<'_>)> {
    let body = bytes.get(HEADER..).ok_or_else(cut_short)?;
    let request = match number32(bytes, 4)? {
        26 => Request::Init,
        3 | 4 => Request::Attributes,
        14 => Request::Open,
        15 => Request::Read {
            offset: number64(body, 8)?,
            length: number32(body, 16)? as usize,
        },
        16 => {
            let length = number32(body, 16)? as usize;
            let data = body.get(40..40 + length).ok_or_else(cut_short)?;
            let offset = number64(body, 8)?;
            Request::Write { offset, data }
        }
        20 => Request::Sync,
        18 | 25 | 38 => Request::Close,
        2 | 36 | 42 => Request::Notice,
        _ => Request::Other,
    };
    Ok((number64(bytes, 8)?, request))
}

/// Builds an answer with a body.
pub(super) fn answer(unique: u64, body: &[u8]) -> Vec<u8> {
    frame(unique, 0, body)
}

/// Says that there is no such request.
pub(super) fn not_implemented(unique: u64) -> Vec<u8> {
    frame(unique, -NOT_IMPLEMENTED, &[])
}

/// Says that the disk failed.
pub(super) fn io_error(unique: u64) -> Vec<u8> {
    frame(unique, -IO_ERROR, &[])
}

/// The body that answers [`Request::Init`].
pub(super) fn init() -> Vec<u8> {
    const ASYNC_READ: u32 = 1;
    const BIG_WRITES: u32 = 1 << 5;
    const MAX_PAGES: u32 = 1 << 22;
    let mut body = Vec::with_capacity(64);
    for number in [7, 31, 0, ASYNC_READ | BIG_WRITES | MAX_PAGES] {
        body.extend(u32::to_ne_bytes(number));
    }
    body.extend(u16::to_ne_bytes(16));
    body.extend(u16::to_ne_bytes(12));
    body.extend(LARGEST_WRITE.to_ne_bytes());
    body.extend(u32::to_ne_bytes(1));
    body.extend(LARGEST_WRITE_PAGES.to_ne_bytes());
    body.resize(64, 0);
    body
}

/// The body that answers [`Request::Attributes`].
pub(super) fn attributes(size: u64) -> Vec<u8> {
    let mut body = vec![0; 16];
    for number in [ROOT, size, size / 512, 0, 0, 0] {
        body.extend(u64::to_ne_bytes(number));
    }
    // Three fractions of times, mode, links, user, group, device, block size, flags.
    for number in [0, 0, 0, REGULAR_FILE, 1, 0, 0, 0, 4096, 0] {
        body.extend(u32::to_ne_bytes(number));
    }
    body
}

/// The body that answers [`Request::Open`].
pub(super) fn open() -> Vec<u8> {
    let mut body = vec![0; 8];
    body.extend(DIRECT_IO.to_ne_bytes());
    body.resize(16, 0);
    body
}

/// The body that answers [`Request::Write`].
pub(super) fn written(length: usize) -> Vec<u8> {
    (length as u64).to_ne_bytes().to_vec()
}

fn frame(unique: u64, error: i32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + body.len());
    let length = u32::try_from(16 + body.len()).unwrap_or(u32::MAX);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(error.to_ne_bytes());
    bytes.extend(unique.to_ne_bytes());
    bytes.extend(body);
    bytes
}

fn number32(bytes: &[u8], at: usize) -> Result<u32> {
    let bytes = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    Ok(u32::from_ne_bytes(bytes.ok_or_else(cut_short)?))
}

fn number64(bytes: &[u8], at: usize) -> Result<u64> {
    let bytes = bytes
        .get(at..at + 8)
        .and_then(|eight| eight.try_into().ok());
    Ok(u64::from_ne_bytes(bytes.ok_or_else(cut_short)?))
}

fn cut_short() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "the kernel sent half a request")
}
