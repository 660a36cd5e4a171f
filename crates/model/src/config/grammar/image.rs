//! References to images.

use super::{Problem, name};
use crate::ids::Digest;

const WHY: &str = "the image is pulled by exactly this name";

/// Reads `[HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST]`.
pub(in crate::config) fn image(text: &str) -> Result<String, Problem> {
    let bad = |reason: String| {
        let hint = "write it like registry.example/team/release:v1.36.3";
        Problem::new(format!("is not an image: {reason}"), WHY, hint)
    };
    if let Some((_, rest)) = text.split_once("://") {
        let hint = format!("leave the scheme out: {rest}");
        return Err(Problem::new("is not an image: it has a scheme", WHY, hint));
    }
    let (named, digest) = text
        .split_once('@')
        .map_or((text, None), |(n, d)| (n, Some(d)));
    if let Some(digest) = digest {
        digest
            .parse::<Digest>()
            .map_err(|error| bad(error.to_string()))?;
    }
    let (folder, last) = named
        .rsplit_once('/')
        .map_or((None, named), |(f, l)| (Some(f), l));
    let (last, tag) = last
        .split_once(':')
        .map_or((last, None), |(l, t)| (l, Some(t)));
    if !tag.is_none_or(is_tag) {
        return Err(bad("its tag is not one".into()));
    }
    let mut parts: Vec<&str> = folder
        .into_iter()
        .flat_map(|folder| folder.split('/'))
        .collect();
    if parts
        .first()
        .is_some_and(|first| first.contains(['.', ':']) || *first == "localhost")
    {
        let host = parts.remove(0);
        if !is_registry(host) {
            return Err(bad(format!("{host:?} is not a registry")));
        }
    }
    parts.push(last);
    match parts.iter().find(|part| !is_path_part(part)) {
        Some(part) => Err(bad(format!("{part:?} cannot be a part of its name"))),
        None => Ok(text.into()),
    }
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = tag.bytes().next().is_some_and(word);
    first
        && tag.len() <= 128
        && tag
            .bytes()
            .all(|byte| word(byte) || byte == b'.' || byte == b'-')
}

fn is_registry(host: &str) -> bool {
    let (host, port) = host
        .split_once(':')
        .map_or((host, None), |(h, p)| (h, Some(p)));
    let address = host.parse::<std::net::Ipv4Addr>().is_ok();
    (address || name::subdomain(host).is_ok())
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Lower-case letters and digits, with single separators between them only.
fn is_path_part(part: &str) -> bool {
    let word = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = part.as_bytes();
    let ends = bytes.first().is_some_and(word) && bytes.last().is_some_and(word);
    ends && bytes.iter().all(|byte| word(byte) || b"._-".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_read_strictly() {
        let digest = Digest::of(b"x");
        for good in [
            "release",
            "team/release:v1",
            "registry.example/team/release:v1.36.3",
            "localhost:5000/x",
            "127.0.0.1:5000/x:Y_1",
            &format!("a.b/c@{digest}"),
            &format!("a.b/c:t@{digest}"),
        ] {
            assert!(image(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a b",
            "https://a.b/c",
            "a.b/",
            "/a",
            "a.b/C",
            "a:",
            "a:-x",
            "a@sha256:12",
            "a.b:x/c",
            "a.b/-c",
            "a//b",
            "a.b:0/c",
        ] {
            assert!(image(bad).is_err(), "{bad}");
        }
    }
}
