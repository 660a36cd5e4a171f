//! URLs, taken or refused as Go's `net/url` does it.

/// The parts of a URL that Ignition looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url<'t> {
    /// The scheme, in small letters; empty if there is none.
    pub(crate) scheme: String,
    /// What follows the scheme if it does not begin with a slash.
    pub(crate) opaque: &'t str,
    /// The query, not yet taken apart.
    query: &'t str,
}

impl<'t> Url<'t> {
    /// Takes a URL apart; none if it is none.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        // The fragment may hold anything that can be unescaped.
        let url = Self::parse_whole(text)?;
        is_escaped_well(fragment).then_some(url)
    }

    fn parse_whole(text: &'t str) -> Option<Self> {
        if has_control(text) {
            return None;
        }
        let (scheme, rest) = split_scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Self {
            scheme: scheme.to_ascii_lowercase(),
            opaque: "",
            query,
        };
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                url.opaque = rest;
                return Some(url);
            }
            let first = rest.split('/').next().unwrap_or_default();
            if first.contains(':') {
                return None;
            }
        }
        let has_authority = !url.scheme.is_empty() || !rest.starts_with("///");
        let path = match rest.strip_prefix("//") {
            Some(authority) if has_authority => {
                let end = authority.find('/').unwrap_or(authority.len());
                let (authority, path) = authority.split_at(end);
                if !is_authority(authority) {
                    return None;
                }
                path
            }
            _ => rest,
        };
        is_escaped_well(path).then_some(url)
    }

    /// Returns the first value of a name in the query.
    pub(crate) fn query_value(&self, name: &str) -> Option<Vec<u8>> {
        let pairs = self.query.split('&');
        let mut values = pairs.filter_map(|pair| {
            if pair.is_empty() || pair.contains(';') {
                return None;
            }
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let key = unescaped(key)?;
            let value = unescaped(value)?;
            (key == name.as_bytes()).then_some(value)
        });
        values.next()
    }
}

/// Looks for control characters, many at a time: a data URL may be long.
fn has_control(text: &str) -> bool {
    let mut chunks = text.as_bytes().chunks(128);
    chunks.any(|chunk| {
        let found = chunk.iter().map(|byte| *byte < 0x20 || *byte == 0x7f);
        found.fold(false, |any, one| any | one)
    })
}

/// Splits the scheme off; none if there is nothing before the colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => return Some(("", text)),
        }
    }
    Some(("", text))
}

fn is_authority(authority: &str) -> bool {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return is_host(authority);
    };
    let may_be_in_user =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    is_host(host) && user.bytes().all(may_be_in_user) && is_escaped_well(user)
}

fn is_host(host: &str) -> bool {
    if host.starts_with('[') {
        let Some((inner, port)) = host.rsplit_once(']') else {
            return false;
        };
        if !is_port(port) {
            return false;
        }
        if let Some((before, zone)) = inner.split_once("%25") {
            return is_host_text(before) && is_escaped_well(zone);
        }
        return is_host_text(host);
    }
    if let Some(colon) = host.rfind(':')
        && !is_port(&host[colon..])
    {
        return false;
    }
    is_host_text(host)
}

fn is_port(port: &str) -> bool {
    port.strip_prefix(':').map_or(port.is_empty(), |digits| {
        digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Tells whether a host has only bytes that hosts may have; escaped ones must not be ASCII.
fn is_host_text(host: &str) -> bool {
    let plain = b"-_.~!$&'()*+,;=:[]<>\"";
    let mut rest = host.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let Some((digits, after)) = rest.split_at_checked(2) else {
                return false;
            };
            let is_high = matches!(digits[0], b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F');
            if !digits[0].is_ascii_hexdigit()
                || !digits[1].is_ascii_hexdigit()
                || !(is_high || digits == b"25")
            {
                return false;
            }
            rest = after;
        } else if byte < 0x80 && !byte.is_ascii_alphanumeric() && !plain.contains(&byte) {
            return false;
        }
    }
    true
}

/// Tells whether every percent sign is followed by two digits.
fn is_escaped_well(text: &str) -> bool {
    let mut parts = text.split('%');
    parts.next();
    parts.all(|part| {
        let digits = part.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// Resolves percent signs, and plus signs as spaces.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                let digits = std::str::from_utf8(digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = after;
            }
            other => bytes.push(other),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_or_refused_as_in_go() {
        for (good, scheme) in [
            ("http://example.com/a?b=c#d", "http"),
            ("HTTPS://user:pw@h:8080/", "https"),
            ("data:,x", "data"),
            ("/path/only", ""),
            ("relative", ""),
            ("http://[::1]:80/", "http"),
            ("http://[fe80::1%25en0]/", "http"),
            ("s3://bucket/key?versionId=1", "s3"),
            ("http://", "http"),
            ("", ""),
            ("http://h:/", "http"),
            ("a/b:c", ""),
            ("///a", ""),
        ] {
            let url = Url::parse(good);
            assert_eq!(url.map(|url| url.scheme).as_deref(), Some(scheme), "{good}");
        }
        for bad in [
            ":x",
            "http://h:a/",
            "http://[::1",
            "http://a b/",
            "http://h/%zz",
            "1:2",
            "http://h/#%z",
            "http://h%41/",
            "http://us er@h/",
            "ht\ntp://h/",
            "http://h|/",
            "scheme:/ %",
            "a b:c",
        ] {
            assert_eq!(Url::parse(bad), None, "{bad}");
        }
        // What does not begin with a slash is opaque, whatever stands in it.
        assert_eq!(Url::parse("scheme: %").map(|url| url.opaque), Some(" %"));
    }

    #[test]
    fn a_query_is_read_by_name() {
        let value = |text: &str| Url::parse(text).unwrap().query_value("versionId");
        assert_eq!(value("s3://b/k?versionId=a%20b"), Some(b"a b".to_vec()));
        assert_eq!(value("s3://b/k?x=1&versionId="), Some(vec![]));
        assert_eq!(value("s3://b/k?versionid=1"), None);
        assert_eq!(value("s3://b/k"), None);
    }
}
