//! JSON as Go's decoder reads it: the same texts are valid, and strings mean the same.

mod cursor;
mod scan;

pub(crate) use cursor::{Cursor, Kind};
pub(crate) use scan::check;
