//! By which keys the objects in etcd are encrypted.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_model::fault::Fault;
use serde_json::{Value, json};

/// What every encrypted value begins with.
const ENCRYPTED: &[u8] = b"k8s:enc:";
/// What a value that secretbox encrypted begins with; the name of the key and a colon follow.
const SECRETBOX: &[u8] = b"k8s:enc:secretbox:v1:";
/// The longest name of a key that is looked for.
const LONGEST_NAME: usize = 256;
/// The lowest key there can be, in base64; as the end of a range it means no end.
const FIRST: &str = "AA==";
/// How many values are asked for at once: as many of the largest ones as fit into an answer.
const PAGE: u32 = 30;
/// How much of a value in base64 is decoded: whole groups of four, and longer than any key's name.
const HEAD: usize = 400;

/// Counts the values of etcd by the key that encrypted them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredKeys {
    by_key: BTreeMap<String, u64>,
    foreign: u64,
}

impl StoredKeys {
    /// Notes a value of etcd, of which the beginning is enough.
    pub fn note(&mut self, value: &[u8]) {
        if !value.starts_with(ENCRYPTED) {
            return;
        }
        match key_of(value) {
            Some(name) => *self.by_key.entry(name.to_owned()).or_default() += 1,
            None => self.foreign += 1,
        }
    }

    /// Returns the names of all keys, and how many values each of them encrypted.
    pub fn by_key(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_key
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
    }

    /// Returns how many values a key encrypted.
    pub fn with(&self, key: &str) -> u64 {
        self.by_key.get(key).copied().unwrap_or(0)
    }

    /// Returns how many values another provider than secretbox encrypted.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// Returns how many values other keys than this one encrypted.
    pub fn without(&self, key: &str) -> u64 {
        let others = self.by_key().filter(|(name, _)| *name != key);
        others.map(|(_, count)| count).sum::<u64>() + self.foreign
    }
}

/// Returns the name of the key of secretbox that encrypted a value.
fn key_of(value: &[u8]) -> Option<&str> {
    let rest = value.strip_prefix(SECRETBOX)?;
    let rest = rest.get(..LONGEST_NAME.min(rest.len()))?;
    let end = rest.iter().position(|byte| *byte == b':')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Reads all values of etcd page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The first key of the next page, in base64; none behind the last page.
    from: Option<String>,
    found: StoredKeys,
}

impl Scan {
    /// Where etcd is asked for a range of keys.
    pub const PATH: &str = "/v3/kv/range";

    /// Begins at the first key.
    pub fn new() -> Self {
        Self {
            from: Some(FIRST.to_owned()),
            found: StoredKeys::default(),
        }
    }

    /// Returns the question for the next page; none if all were read.
    pub fn question(&self) -> Option<Value> {
        let from = self.from.as_ref()?;
        Some(json!({"key": from, "range_end": FIRST, "limit": PAGE.to_string()}))
    }

    /// Takes the answer in.
    pub fn take(&mut self, answer: &Value) -> Result<(), Fault> {
        let pairs = answer["kvs"].as_array().map(Vec::as_slice);
        let mut last = None;
        for pair in pairs.unwrap_or_default() {
            let key = pair["key"]
                .as_str()
                .and_then(|key| STANDARD.decode(key).ok());
            last = Some(key.ok_or_else(unreadable)?);
            // A value can be empty, and is left out then.
            let value = pair["value"].as_str().unwrap_or_default();
            let begins = value.get(..HEAD.min(value.len())).ok_or_else(unreadable)?;
            self.found
                .note(&STANDARD.decode(begins).map_err(|_| unreadable())?);
        }
        self.from = match (answer["more"] == true, last) {
            (false, _) => None,
            (true, None) => return Err(unreadable()),
            (true, Some(mut key)) => {
                key.push(0);
                Some(STANDARD.encode(key))
            }
        };
        Ok(())
    }

    /// Returns what all pages held.
    pub fn finish(self) -> StoredKeys {
        self.found
    }
}

impl Default for Scan {
    fn default() -> Self {
        Self::new()
    }
}

fn unreadable() -> Fault {
    Fault::internal("cannot read the answer of etcd about what it stores")
}
