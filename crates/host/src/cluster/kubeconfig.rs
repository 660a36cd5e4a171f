//! Reads kubeconfigs that hold all they need: authority, certificate and key, or a token.
//!
//! What would make an API less trustworthy, or run a program of somebody's choice, is refused with
//! its name. Files are not followed: whoever hands a kubeconfig over has read it, and what it
//! refers to may change behind its digest.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bootlace_engine::port::{HostError, HostResult};
use bootlace_model::secret::Secret;
use serde::Deserialize;

use super::access::{Access, Identity, address};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Kubeconfig {
    #[serde(default)]
    current_context: String,
    #[serde(default)]
    contexts: Vec<NamedContext>,
    #[serde(default)]
    clusters: Vec<NamedCluster>,
    #[serde(default)]
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    #[serde(default)]
    user: String,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Endpoint,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Endpoint {
    server: String,
    certificate_authority_data: Option<String>,
    certificate_authority: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
    tls_server_name: Option<String>,
    proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    #[serde(default)]
    user: User,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct User {
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    token: Option<String>,
    client_certificate: Option<String>,
    client_key: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    username: Option<String>,
    exec: Option<serde::de::IgnoredAny>,
    auth_provider: Option<serde::de::IgnoredAny>,
}

/// Reads what the current context of a kubeconfig says.
pub(super) fn read(text: &[u8]) -> HostResult<Access> {
    let text = std::str::from_utf8(text).map_err(|_| bad("it is not UTF-8"))?;
    // The parser would quote the place, which may be a key.
    let config: Kubeconfig =
        serde_saphyr::from_str(text).map_err(|_| bad("it is not YAML of a kubeconfig's shape"))?;
    let wanted = &config.current_context;
    let context = config.contexts.into_iter().find(|it| it.name == *wanted);
    let context = context
        .ok_or_else(|| bad(&format!("its current context {wanted:?} is not in it")))?
        .context;
    let name = &context.cluster;
    let cluster = config.clusters.into_iter().find(|it| it.name == *name);
    let cluster = cluster.ok_or_else(|| bad(&format!("its cluster {name:?} is not in it")))?;
    let name = &context.user;
    let user = config.users.into_iter().find(|it| it.name == *name);
    let user = match user {
        Some(named) => named.user,
        None if name.is_empty() => User::default(),
        None => return Err(bad(&format!("its user {name:?} is not in it"))),
    };
    check(&cluster.cluster, &user)?;
    Ok(Access {
        server: address(&cluster.cluster.server)?,
        authority: decoded(
            "certificate-authority-data",
            cluster.cluster.certificate_authority_data.as_deref(),
        )?,
        identity: identity(&user)?,
    })
}

/// Refuses what is not supported, by name.
fn check(server: &Endpoint, user: &User) -> HostResult<()> {
    const FILE: &str = "it names a file; put the content into the kubeconfig instead";
    const OTHER: &str = "use a client certificate or a token";
    if server.insecure_skip_tls_verify {
        return Err(bad(
            "insecure-skip-tls-verify would let anybody answer in the API's place; \
             put the authority into certificate-authority-data instead",
        ));
    }
    let refused = [
        (
            "certificate-authority",
            server.certificate_authority.is_some(),
            FILE,
        ),
        (
            "client-certificate",
            user.client_certificate.is_some(),
            FILE,
        ),
        ("client-key", user.client_key.is_some(), FILE),
        ("tokenFile", user.token_file.is_some(), FILE),
        ("username", user.username.is_some(), OTHER),
        ("exec", user.exec.is_some(), OTHER),
        ("auth-provider", user.auth_provider.is_some(), OTHER),
        (
            "tls-server-name",
            server.tls_server_name.is_some(),
            "name the server as its certificate does",
        ),
        (
            "proxy-url",
            server.proxy_url.is_some(),
            "the API is reached directly only",
        ),
    ];
    match refused.iter().find(|(_, is_there, _)| *is_there) {
        Some((field, _, why)) => Err(bad(&format!("{field} cannot be used here: {why}"))),
        None => Ok(()),
    }
}

fn identity(user: &User) -> HostResult<Identity> {
    let certificate = decoded(
        "client-certificate-data",
        user.client_certificate_data.as_deref(),
    )?;
    let key = decoded("client-key-data", user.client_key_data.as_deref())?;
    match (certificate, key, &user.token) {
        (Some(certificate), Some(key), _) => Ok(Identity::Certificate {
            certificate,
            key: Secret::new(key),
        }),
        (None, None, Some(token)) => Ok(Identity::Token(Secret::new(token.trim().into()))),
        (None, None, None) => Ok(Identity::Anonymous),
        (Some(_), None, _) => Err(bad("it has a client certificate without its key")),
        (None, Some(_), _) => Err(bad("it has a client key without its certificate")),
    }
}

fn decoded(field: &str, text: Option<&str>) -> HostResult<Option<Vec<u8>>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let dense: String = text.split_ascii_whitespace().collect();
    match BASE64_STANDARD.decode(dense) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(_) => Err(bad(&format!("its {field} is not base64"))),
    }
}

fn bad(why: &str) -> HostError {
    HostError::Crypto(format!("the kubeconfig cannot be used: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "
apiVersion: v1
kind: Config
current-context: here
preferences: {}
contexts:
  - {name: there, context: {cluster: other, user: other}}
  - {name: here, context: {cluster: ours, user: admin, namespace: kube-system}}
clusters:
  - {name: other, cluster: {server: https://127.0.0.2:1, insecure-skip-tls-verify: true}}
  - {name: ours, cluster: {server: https://127.0.0.1:6443, certificate-authority-data: QUJD}}
users:
  - {name: other, user: {exec: {command: rm}}}
  - {name: admin, user: {client-certificate-data: REVG, client-key-data: R0hJ}}
";

    fn problem(text: &str) -> String {
        match read(text.as_bytes()) {
            Err(HostError::Crypto(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_what_the_current_context_names_counts() {
        let access = read(FULL.as_bytes()).unwrap();
        assert_eq!(access.server.as_str(), "https://127.0.0.1:6443/");
        assert_eq!(access.authority.unwrap(), b"ABC");
        let Identity::Certificate { certificate, key } = access.identity else {
            panic!("{:?}", access.identity);
        };
        assert_eq!((&certificate[..], key.expose()), (&b"DEF"[..], &b"GHI"[..]));
    }

    #[test]
    fn tokens_and_nobody_are_identities_too() {
        let user = "{client-certificate-data: REVG, client-key-data: R0hJ}";
        let token = read(FULL.replace(user, "{token: abc}").as_bytes()).unwrap();
        assert!(matches!(token.identity, Identity::Token(it) if it.expose() == b"abc"));
        let nobody = read(FULL.replace(user, "{}").as_bytes()).unwrap();
        assert!(matches!(nobody.identity, Identity::Anonymous));
    }

    #[test]
    fn what_is_missing_or_dangerous_is_named() {
        let changes = [
            ("current-context: here", "current-context: gone", "gone"),
            ("cluster: ours", "cluster: gone", "gone"),
            ("user: admin", "user: gone", "gone"),
            ("REVG", "'*'", "client-certificate-data"),
            (", client-key-data: R0hJ", "", "without its key"),
            (
                "client-certificate-data: REVG, ",
                "",
                "without its certificate",
            ),
            ("client-key-data: R0hJ", "client-key: /k", "client-key"),
            ("client-key-data: R0hJ", "exec: {command: rm}", "exec"),
            ("https://127.0.0.1:6443", "http://127.0.0.1:6443", "https"),
            ("https://127.0.0.1:6443", "'::'", "not a URL"),
            (
                "certificate-authority-data: QUJD",
                "certificate-authority: /c",
                "names a file",
            ),
            (
                "certificate-authority-data: QUJD",
                "insecure-skip-tls-verify: true",
                "insecure-skip-tls-verify",
            ),
        ];
        for (from, to, named) in changes {
            assert!(FULL.contains(from), "{from}");
            let text = problem(&FULL.replace(from, to));
            assert!(text.contains(named), "{to}: {text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_quoted() {
        for text in ["- hush", "users: hush", "{"] {
            assert!(!problem(text).contains("hush"), "{text}");
        }
    }
}
