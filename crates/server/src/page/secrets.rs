//! What of a config is shown to people, and what is not: if in doubt, it is not.

#[cfg(test)]
mod tests;

/// What stands where something is hidden.
pub(super) const HIDDEN: &str = "(hidden)";

/// The bit that lets everybody on a machine read a file.
const EVERYBODY_READS: u32 = 0o004;

/// Paths of secrets; one that ends in `/` or `_` means everything that begins like it.
const PATHS: [(&str, &str); 20] = [
    ("/var/lib/kubelet/config.json", "it is the pull secret"),
    ("/etc/kubernetes/kubeconfig", "it lets a machine join"),
    (
        "/etc/mcs-machine-config-content.json",
        "it holds the whole config, with the secrets in it",
    ),
    (
        "/etc/ignition-machine-config-encapsulated.json",
        "it holds the config as it was written, with all its annotations",
    ),
    ("/etc/shadow", "it holds password hashes"),
    ("/etc/shadow-", "it holds password hashes"),
    ("/etc/gshadow", "it holds password hashes"),
    ("/etc/gshadow-", "it holds password hashes"),
    ("/etc/ssh/ssh_host_", "it is a key of the machine"),
    ("/etc/NetworkManager/system-connections/", NETWORK),
    ("/etc/wpa_supplicant/", NETWORK),
    ("/etc/wireguard/", NETWORK),
    ("/etc/ipsec.d/", NETWORK),
    ("/etc/ipsec.secrets", NETWORK),
    ("/etc/pki/tls/private/", "keys are kept there"),
    ("/etc/ssl/private/", "keys are kept there"),
    (
        "/etc/sysconfig/network-scripts/",
        "network scripts hold keys",
    ),
    ("/etc/chrony.keys", "keys are kept there"),
    ("/etc/crypttab.d/", "keys are kept there"),
    ("/etc/luks/", "keys are kept there"),
];

const NETWORK: &str = "connections hold keys and passwords";

/// What the names of files with secrets hold.
const IN_NAMES: [&str; 19] = [
    "kubeconfig",
    "pull-secret",
    "pullsecret",
    "secret",
    "token",
    "password",
    "htpasswd",
    "credential",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "netrc",
    "pgpass",
    "dockercfg",
    "dockerconfig",
    "auth.json",
    "opaque",
    "keyfile",
];

/// What the names of files with secrets end in.
const AT_ENDS: [&str; 8] = [
    ".key", "-key", "_key", "-key.pem", ".p12", ".pfx", ".jks", ".keytab",
];

/// What texts with secrets hold, in small letters.
const IN_TEXTS: [(&str, &str); 19] = [
    ("private key", "it holds a private key"),
    ("private%20key", "it holds a private key"),
    ("ls0tls1crudjti", "it holds a key or certificate in base64"),
    ("\"auths\"", "it holds passwords of registries"),
    ("\"auth\"", "it holds a password of a registry"),
    ("client-key-data", "it holds a private key"),
    ("bearer ", "it holds a bearer token"),
    ("bearer%20", "it holds a bearer token"),
    ("authorization:", "it holds what proves who somebody is"),
    ("token:", "it holds a token"),
    ("\"token\"", "it holds a token"),
    ("passwordhash", "it holds a password hash"),
    ("$y$", HASH),
    ("$1$", HASH),
    ("$2a$", HASH),
    ("$2b$", HASH),
    ("$2y$", HASH),
    ("$5$", HASH),
    ("$6$", HASH),
];

const HASH: &str = "it holds a password hash";

/// What the names of secret values hold, in small letters and without `_`, `-` and `.`.
const IN_VALUE_NAMES: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "apikey",
    "privatekey",
    "accesskey",
    "signature",
    "authorization",
    "cookie",
    "joincode",
];

/// Words that the names of secret values end in, or consist of.
const WORDS: [&str; 8] = ["key", "keys", "pass", "psk", "pwd", "auth", "sig", "pin"];

/// Says why the content of a file is not shown; none if it may be.
pub(super) fn of_file(path: &str, mode: u32, content: &[u8]) -> Option<&'static str> {
    if mode & EVERYBODY_READS == 0 {
        return Some("not everybody on the machine may read it");
    }
    of_path(path).or_else(|| of_text(&String::from_utf8_lossy(content)))
}

/// Says why nothing at a path is shown; none if it may be.
fn of_path(path: &str) -> Option<&'static str> {
    let known = PATHS.iter().find(|(known, _)| {
        path == *known || (known.ends_with(['/', '_']) && path.starts_with(known))
    });
    if let Some((_, why)) = known {
        return Some(why);
    }
    let lower = path.to_ascii_lowercase();
    if lower
        .split('/')
        .any(|part| part == ".ssh" || part == ".gnupg")
    {
        return Some("keys are kept there");
    }
    let name = lower.rsplit('/').next().unwrap_or_default();
    let is_secret = IN_NAMES.iter().any(|part| name.contains(part))
        || AT_ENDS.iter().any(|end| name.ends_with(end));
    is_secret.then_some("its name is that of a secret")
}

/// Says why a text is not shown at all; none if it may be, but for single values.
pub(super) fn of_text(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let found = IN_TEXTS.iter().find(|(part, _)| lower.contains(part));
    found.map(|(_, why)| *why)
}

/// Tells whether a value of this name is a secret.
fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain: String = lower.split(['_', '-', '.']).collect();
    let mut words = lower.split(['_', '-', '.']);
    IN_VALUE_NAMES.iter().any(|part| plain.contains(part))
        || words.any(|word| WORDS.contains(&word))
        || plain.ends_with("key")
        || plain.ends_with("keys")
}

/// Hides values by their names, and who asks in URLs; returns how many places are hidden besides.
pub(crate) fn redacted(text: &str) -> (String, usize) {
    let mut shown = String::with_capacity(text.len());
    let mut count = 0;
    // Lines that are indented deeper than a hidden value belong to it.
    let mut hidden_below: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            shown.push_str(line);
            continue;
        }
        if hidden_below.is_some_and(|indent| indentation(line) > indent) {
            let end = if line.ends_with('\n') { "\n" } else { "" };
            shown.extend([&line[..indentation(line)], HIDDEN, end]);
            continue;
        }
        hidden_below = None;
        // First, since a password in a URL may hold anything.
        let (line, hidden) = without_userinfo(line);
        let line = line.as_str();
        count += hidden;
        let Some(at) = secret_value(line) else {
            shown.push_str(line);
            continue;
        };
        count += 1;
        shown.push_str(&line[..at]);
        shown.push_str(HIDDEN);
        if goes_on(line, line[at..].trim()) {
            shown.push_str("\n(hidden: the rest, which may belong to it)\n");
            break;
        }
        if line.ends_with('\n') {
            shown.push('\n');
        }
        hidden_below = Some(indentation(line));
    }
    (shown, count)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Finds where the first secret value of a line begins: behind `name=`, `name:` or `--name`.
fn secret_value(line: &str) -> Option<usize> {
    let is_named = |at: usize| {
        let before = line[..at].trim_end_matches([' ', '\t', '"', '\'', '\\']);
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let name = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
        is_secret_name(name)
    };
    let signs = line.char_indices().filter(|(_, c)| matches!(c, '=' | ':'));
    let assigned = signs
        .map(|(at, _)| at)
        .filter(|at| !line[at + 1..].trim().is_empty() || line[*at..].starts_with(':'))
        .find(|at| is_named(*at))
        .map(|at| at + 1);
    let mut flags = line.match_indices(" -").filter_map(|(at, _)| {
        let word = line[at + 1..].split_whitespace().next()?;
        let end = at + 1 + word.len();
        let space = line[end..].chars().next()?;
        let is_followed = !line[end..].trim().is_empty();
        (is_followed && !word.contains(['=', ':']) && is_secret_name(word))
            .then_some(end + space.len_utf8())
    });
    let found = [assigned, flags.next(), spoken(line)];
    found.into_iter().flatten().min()
}

/// Words behind which a secret may stand without any sign between them, as in many formats.
const SPOKEN: [&str; 6] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "auth_pass",
];

/// Finds where what follows a word for secrets begins, in a line that is no remark.
fn spoken(line: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let lower = line.to_ascii_lowercase();
    let mut begin = 0;
    for word in lower.split(|c: char| !is_part(c)) {
        let end = begin + word.len();
        begin = end + lower[end..].chars().next().map_or(0, char::len_utf8);
        let is_meant = SPOKEN.iter().any(|meant| word.contains(meant)) || word == "auth";
        // A path or the name of a file is no secret, and neither is what it is followed by.
        let before = lower[..end - word.len()].chars().next_back();
        let after = lower[end..].chars().next();
        let is_name = before == Some('/') || matches!(after, Some('/' | '.'));
        if is_meant && !is_name {
            let has_more = lower[end..].contains(|c: char| c.is_ascii_alphanumeric());
            let sign = lower[end..].trim_start_matches([' ', '\t', '"', '\'', '\\']);
            if has_more && sign.starts_with(['=', ':']) && is_secret_name(word) {
                // That is found by its sign.
                continue;
            }
            let space = usize::from(matches!(after, Some(' ' | '\t')));
            return match has_more.then_some(end + space) {
                Some(at) => Some(at),
                // A remark, a sentence, or a variable that is empty.
                None if !lower.contains(['=', ':']) => None,
                None if lower.trim_start().starts_with(['#', ';', '/']) => None,
                None if lower[end..].trim_end() == "=" => None,
                None => Some(line.trim_end().len().max(end)),
            };
        }
    }
    None
}

/// Tells whether a value may go on in the next line.
fn goes_on(line: &str, value: &str) -> bool {
    let is_open = |quote: char| line.matches(quote).count() % 2 == 1;
    let begins = |open: char, close: char| value.starts_with(open) && !value.contains(close);
    value.is_empty()
        || value.starts_with(['|', '>'])
        || value.ends_with('\\')
        || is_open('"')
        || is_open('\'')
        || begins('[', ']')
        || begins('{', '}')
        || begins('(', ')')
}

/// Hides who asks in the URLs of a line.
fn without_userinfo(line: &str) -> (String, usize) {
    let mut shown = String::with_capacity(line.len());
    let mut count = 0;
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let is_end = |c: char| c.is_whitespace() || "/?#\"'<>".contains(c);
        let authority = after.split(is_end).next().unwrap_or_default();
        rest = match authority.rfind('@') {
            Some(at) => {
                shown.push_str(HIDDEN);
                count += 1;
                &after[at..]
            }
            None => after,
        };
    }
    shown.push_str(rest);
    (shown, count)
}

/// Shows a URL without who asks and without what is asked, since both may be secrets.
pub(super) fn shown_url(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (shown, _) = without_userinfo(&url[..end]);
    if end == url.len() {
        shown
    } else {
        format!("{shown}?{HIDDEN}")
    }
}
