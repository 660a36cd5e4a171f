//! The API server's encryption config, as far as a rotation understands it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bootlace_model::fault::Fault;
use bootlace_model::secret::Secret;
use serde_json::{Map, Value, json};

use crate::{documents, yaml};

/// How long a key of secretbox is.
const KEY_BYTES: usize = 32;
/// What names of keys that this command makes begin with; a number follows.
const STEM: &str = "key";

/// The name of the first key, which `prepare-assets` makes.
pub(crate) const FIRST_KEY: &str = "key1";
/// What is encrypted by default.
pub(crate) const SECRETS: &str = "secrets";

/// A key of secretbox.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    name: String,
    /// In base64, as the file has it.
    secret: Secret,
}

/// An encryption config with keys of secretbox, the one that encrypts first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptionConfig {
    resources: Vec<String>,
    keys: Vec<Key>,
    /// Whether what was written without encryption can still be read.
    reads_plain: bool,
}

/// Why a config is refused; never quotes what the file holds at a place where a key may be.
struct Unfit(String);

impl fmt::Debug for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl EncryptionConfig {
    /// Reads the config; refuses whatever a rotation could not write back as it was meant.
    pub fn read(path: &str, content: &[u8]) -> Result<Self, Fault> {
        Self::parse(path, content).map_err(|Unfit(why)| {
            Fault::refused(format!("cannot rotate the key in {path}: {why}"))
                .in_file(path)
                .because("A key that is lost takes every Secret with it, so the file was not changed.")
                .hint("restore the file from your backup, or rotate the key by hand as the guide on the security profile describes")
        })
    }

    fn parse(path: &str, content: &[u8]) -> Result<Self, Unfit> {
        let mut found = documents::documents(path, content).map_err(|problem| {
            let line = problem.at.map(|(line, _)| format!(" (line {line})"));
            Unfit(format!("it is not valid YAML{}", line.unwrap_or_default()))
        })?;
        let Some(document) = found.pop().filter(|_| found.is_empty()) else {
            return Err(unfit("it does not hold exactly one document"));
        };
        let top = fields(
            &document.value,
            "the file",
            &["apiVersion", "kind", "resources"],
        )?;
        if top["apiVersion"] != "apiserver.config.k8s.io/v1"
            || top["kind"] != "EncryptionConfiguration"
        {
            return Err(unfit(
                "it is not an EncryptionConfiguration of apiserver.config.k8s.io/v1",
            ));
        }
        let [group] = items(&top["resources"], "`resources`")? else {
            return Err(unfit("`resources` does not have exactly one entry"));
        };
        let group = fields(
            group,
            "the entry of `resources`",
            &["providers", "resources"],
        )?;
        let providers = items(&group["providers"], "`providers`")?;
        let (first, rest) = providers
            .split_first()
            .ok_or_else(|| unfit("`providers` is empty"))?;
        let reads_plain = match rest {
            [] => false,
            [other] if *other == json!({"identity": {}}) => true,
            _ => {
                let why = "`providers` holds more than `secretbox` and, after it, `identity`";
                return Err(unfit(why));
            }
        };
        Ok(Self {
            resources: resources(&group["resources"])?,
            keys: keys(first)?,
            reads_plain,
        })
    }

    /// Returns the resources that are encrypted, such as `secrets` or `tokens.example.com`.
    pub fn resources(&self) -> &[String] {
        &self.resources
    }

    /// Returns the names of the keys; the first one encrypts.
    pub fn key_names(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| key.name.as_str())
    }

    /// Returns the name of the key that encrypts.
    pub fn active_key(&self) -> &str {
        self.key_names().next().unwrap_or_default()
    }

    /// Returns the names of the keys that only decrypt.
    pub fn old_keys(&self) -> impl Iterator<Item = &str> {
        self.key_names().skip(1)
    }

    /// Returns a name that no key in the file has and, by counting up, none had before.
    pub fn next_key_name(&self, also_taken: &[&str]) -> String {
        let number = |name: &str| name.strip_prefix(STEM)?.parse::<u32>().ok();
        let names = self.key_names().chain(also_taken.iter().copied());
        let last = names.filter_map(number).max().unwrap_or(0);
        format!("{STEM}{}", u64::from(last) + 1)
    }

    /// Puts a new key in front of the others.
    #[must_use]
    pub fn with_new_key(&self, name: String, bits: &Secret) -> Self {
        let secret = Secret::new(STANDARD.encode(bits.expose()).into_bytes());
        let mut keys = vec![Key { name, secret }];
        keys.extend(self.keys.iter().cloned());
        Self {
            keys,
            ..self.clone()
        }
    }

    /// Keeps the key that encrypts, and no other.
    #[must_use]
    pub fn without_old_keys(&self) -> Self {
        Self {
            keys: self.keys.iter().take(1).cloned().collect(),
            ..self.clone()
        }
    }

    /// Writes the file.
    pub fn content(&self) -> Secret {
        let keys = self.keys.iter().map(|key| {
            let secret = String::from_utf8_lossy(key.secret.expose());
            (key.name.as_str(), secret)
        });
        let keys: Vec<_> = keys.collect();
        let keys = keys.iter().map(|(name, secret)| (*name, &**secret));
        Secret::new(document(&self.resources, keys, self.reads_plain).into_bytes())
    }
}

/// Writes an encryption config.
pub(crate) fn document<'a>(
    resources: &[String],
    keys: impl Iterator<Item = (&'a str, &'a str)>,
    reads_plain: bool,
) -> String {
    let keys: Vec<Value> = keys
        .map(|(name, secret)| json!({"name": name, "secret": secret}))
        .collect();
    let mut providers = vec![json!({"secretbox": {"keys": keys}})];
    if reads_plain {
        providers.push(json!({"identity": {}}));
    }
    yaml::document(&json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": resources, "providers": providers}],
    }))
}

fn unfit(why: &str) -> Unfit {
    Unfit(why.to_owned())
}

/// Takes an object that has exactly these fields.
fn fields<'a>(
    value: &'a Value,
    what: &str,
    names: &[&str],
) -> Result<&'a Map<String, Value>, Unfit> {
    let map = value
        .as_object()
        .ok_or_else(|| Unfit(format!("{what} is not a map")))?;
    let has_all = names.iter().all(|name| map.contains_key(*name));
    if has_all && map.len() == names.len() {
        return Ok(map);
    }
    let names = names.join("`, `");
    Err(Unfit(format!(
        "{what} does not have exactly the fields `{names}`"
    )))
}

fn items<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], Unfit> {
    let items = value.as_array().map(Vec::as_slice);
    items.ok_or_else(|| Unfit(format!("{what} is not a list")))
}

fn resources(value: &Value) -> Result<Vec<String>, Unfit> {
    let is_name = |text: &&str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
        text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(fits)
    };
    let names = items(value, "the list of resources")?;
    let names: Option<Vec<String>> = names
        .iter()
        .map(|name| name.as_str().filter(is_name).map(str::to_owned))
        .collect();
    match names {
        Some(names) if !names.is_empty() => Ok(names),
        _ => Err(unfit(
            "the list of resources is empty, or holds a pattern instead of names such as `secrets`",
        )),
    }
}

fn keys(provider: &Value) -> Result<Vec<Key>, Unfit> {
    let first = "the first provider";
    let provider = fields(provider, first, &["secretbox"])?;
    let provider = fields(&provider["secretbox"], "`secretbox`", &["keys"])?;
    let mut keys: Vec<Key> = Vec::new();
    for (n, value) in items(&provider["keys"], "`keys`")?.iter().enumerate() {
        let what = format!("key {} of `secretbox`", n + 1);
        let key = fields(value, &what, &["name", "secret"])?;
        let (Some(name), Some(secret)) = (key["name"].as_str(), key["secret"].as_str()) else {
            return Err(Unfit(format!(
                "{what} has a name or a secret that is not text"
            )));
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            return Err(Unfit(format!("{what} has no usable name")));
        }
        let length = STANDARD.decode(secret).map(|bits| bits.len());
        if length != Ok(KEY_BYTES) {
            return Err(Unfit(format!("{what} is not {KEY_BYTES} bytes in base64")));
        }
        if keys.iter().any(|other| other.name == name) {
            return Err(Unfit(format!("two keys have the name {name}")));
        }
        keys.push(Key {
            name: name.to_owned(),
            secret: Secret::new(secret.as_bytes().to_vec()),
        });
    }
    if keys.is_empty() {
        return Err(unfit("`keys` is empty"));
    }
    Ok(keys)
}
