//! By what a client proves itself: the header that machines send, or the cookie of a browser.

use std::fmt;

use hyper::header::{AUTHORIZATION, COOKIE, HeaderMap};

/// The cookie; browsers take one of this name only over TLS, from this host and for all of it.
const NAME: &str = "__Host-bootlace";
/// What it may be used for: sent to this server alone, never by another site, never seen by scripts.
const RULES: &str = "Path=/; Secure; HttpOnly; SameSite=Strict";

/// What a client proves itself by.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// Nothing.
    None,
    /// An `Authorization` header.
    Header(Vec<u8>),
    /// A token, of a cookie or a form.
    Token(String),
    /// More than one thing, so that nobody could say which counts.
    TooMuch,
}

/// Returns the `Authorization` header.
pub(crate) fn header(headers: &HeaderMap) -> Credentials {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (None, _) => Credentials::None,
        (Some(header), None) => Credentials::Header(header.as_bytes().to_vec()),
        (Some(_), Some(_)) => Credentials::TooMuch,
    }
}

/// Returns the `Authorization` header, or else the cookie.
pub(crate) fn credentials(headers: &HeaderMap) -> Credentials {
    let header = header(headers);
    if header != Credentials::None {
        return header;
    }
    let lines = headers.get_all(COOKIE).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let cookies = lines.flat_map(|line| line.split(';'));
    let mut ours = cookies.filter_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == NAME).then(|| value.to_owned())
    });
    match (ours.next(), ours.next()) {
        (None, _) => Credentials::None,
        (Some(token), None) => Credentials::Token(token),
        (Some(_), Some(_)) => Credentials::TooMuch,
    }
}

impl fmt::Debug for Credentials {
    /// Says of which kind they are, and nothing of what they are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Header(_) => "Header",
            Self::Token(_) => "Token",
            Self::TooMuch => "TooMuch",
        })
    }
}

impl Credentials {
    /// Returns them as an `Authorization` header.
    pub(crate) fn as_header(&self) -> Option<Vec<u8>> {
        match self {
            Self::None => None,
            Self::Header(header) => Some(header.clone()),
            Self::Token(token) if token.is_empty() => None,
            Self::Token(token) => Some(format!("Bearer {token}").into_bytes()),
            // No header of a bearer is empty.
            Self::TooMuch => Some(vec![]),
        }
    }
}

/// Makes a cookie of a valid token, which has no sign that a cookie cannot have. It ends with the
/// browser.
pub(super) fn set(token: &str) -> String {
    format!("{NAME}={token}; {RULES}")
}

/// Takes the cookie away.
pub(super) fn clear() -> String {
    format!("{NAME}=; Max-Age=0; {RULES}")
}

/// Returns the token that a form sends; empty if there is none, or more than one.
pub(super) fn token_of_form(body: &[u8]) -> String {
    let body = String::from_utf8_lossy(body);
    let mut tokens = body
        .split('&')
        .filter_map(|field| field.strip_prefix("token="));
    match (tokens.next(), tokens.next()) {
        (Some(token), None) => unescaped(token).trim().to_owned(),
        _ => String::new(),
    }
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
                match (digit(), digit()) {
                    (Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or(0),
                    // No token holds this, so it is refused.
                    _ => 0,
                }
            }
            byte => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_header_counts_before_the_cookie() {
        let token = |text: &str| Credentials::Token(text.into());
        let rows = [
            (headers(&[]), Credentials::None),
            (headers(&[("cookie", "a=b; c=d")]), Credentials::None),
            (headers(&[("cookie", "__Host-bootlace=x=")]), token("x=")),
            (
                headers(&[("cookie", "a=b;__Host-bootlace=x; c=d")]),
                token("x"),
            ),
            (
                headers(&[("cookie", "a=b"), ("cookie", "__Host-bootlace=x")]),
                token("x"),
            ),
            (
                headers(&[("cookie", "__Host-bootlace=x; __Host-bootlace=y")]),
                Credentials::TooMuch,
            ),
            (
                headers(&[("cookie", "__host-bootlace=x; bootlace=y")]),
                Credentials::None,
            ),
            (
                headers(&[
                    ("cookie", "__Host-bootlace=x"),
                    ("authorization", "Bearer y"),
                ]),
                Credentials::Header(b"Bearer y".to_vec()),
            ),
            (
                headers(&[("authorization", "Bearer y"), ("authorization", "Bearer y")]),
                Credentials::TooMuch,
            ),
        ];
        for (headers, expected) in rows {
            assert_eq!(credentials(&headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_form_holds_one_token() {
        let rows = [
            ("token=abc", "abc"),
            ("token=+abc%0A", "abc"),
            ("token=a%2Bb%2Fc%3D", "a+b/c="),
            ("x=y&token=abc&z", "abc"),
            ("token=a&token=b", ""),
            ("token=", ""),
            ("", ""),
            ("token=%zz", "\0"),
            ("token=%4", "\0"),
        ];
        for (form, token) in rows {
            assert_eq!(token_of_form(form.as_bytes()), token, "{form}");
        }
    }
}
