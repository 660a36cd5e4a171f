//! Asking an API: what is an answer, what is silence, and what cannot be trusted.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bootlace_engine::port::{
    ApiAnswer, ApiRequest, Cluster as _, Credentials, HostError, RewriteRequest,
};
use bootlace_host::RealHost;
use bootlace_model::secret::Secret;
use serde_json::json;

use crate::server::{Identity, Server, reply};

const PLENTY: Duration = Duration::from_secs(20);

/// Writes a kubeconfig of a server that this authority vouches for.
pub(crate) fn kubeconfig(server: &str, authority: &str, user: &serde_json::Value) -> Credentials {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server,
            "certificate-authority-data": BASE64_STANDARD.encode(authority)}}],
        "users": [{"name": "u", "user": user}],
    });
    Credentials::Kubeconfig(config.to_string().into_bytes())
}

fn certificate(server: &str, authority: &str, client: &(String, Secret)) -> Credentials {
    Credentials::Certificate {
        server: server.into(),
        authority: authority.into(),
        certificate: client.0.clone().into_bytes(),
        key: client.1.clone(),
    }
}

fn ask_within(
    credentials: &Credentials,
    path: &str,
    within: Duration,
) -> Result<ApiAnswer, HostError> {
    let host = RealHost::builder().proxy(None).build();
    host.ask_api(&ApiRequest {
        credentials,
        path,
        post: None,
        within,
    })
}

fn ask(credentials: &Credentials, path: &str) -> Result<ApiAnswer, HostError> {
    ask_within(credentials, path, PLENTY)
}

fn untrusted(result: Result<ApiAnswer, HostError>) -> String {
    match result {
        Err(HostError::Untrusted { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

fn unreachable(result: Result<ApiAnswer, HostError>) -> String {
    match result {
        Err(HostError::Unreachable { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_status_is_an_answer() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = Server::start_secure(&identity, |_, line, to| match line.split(' ').nth(1) {
        Some("/readyz?verbose") => reply(to, "500 Oh", "", b"[-]etcd failed"),
        Some("/version") => reply(to, "200 OK", "", br#"{"minor": "36"}"#),
        _ => reply(to, "403 Forbidden", "", br#"{"message": "no"}"#),
    });
    let nobody = kubeconfig(&server.url(""), &identity.authority, &json!({}));
    let answers = ["/readyz?verbose", "/version", "/"].map(|path| ask(&nobody, path).unwrap());
    let expected = [
        (500, json!("[-]etcd failed")),
        (200, json!({"minor": "36"})),
        (403, json!({"message": "no"})),
    ]
    .map(|(status, body)| ApiAnswer { status, body });
    assert_eq!(answers, expected);
    assert_eq!(
        server.connections(),
        3,
        "each question has its own connection"
    );
}

#[test]
fn questions_can_be_posted() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = Server::start_secure(&identity, |_, _, to| reply(to, "200 OK", "", b"{}"));
    let client = identity.client(-1, 1);
    let host = RealHost::builder().proxy(None).build();
    let question = json!({"key": "AA=="});
    host.ask_api(&ApiRequest {
        credentials: &certificate(&server.url(""), &identity.authority, &client),
        path: "/v3/kv/range",
        post: Some(&question),
        within: PLENTY,
    })
    .unwrap();
    assert_eq!(server.requests(), ["POST /v3/kv/range HTTP/1.1"]);
}

#[test]
fn an_object_is_rewritten_by_a_change_of_nothing() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = Server::start_secure(&identity, |_, line, to| {
        if line.contains("/gone ") {
            reply(to, "404 Not Found", "", br#"{"message": "gone"}"#);
        } else {
            reply(to, "200 OK", "", b"{}");
        }
    });
    let credentials = kubeconfig(&server.url(""), &identity.authority, &json!({}));
    let host = RealHost::builder().proxy(None).build();
    let rewrite = |path: &str| {
        let within = PLENTY;
        let credentials = &credentials;
        let request = RewriteRequest {
            credentials,
            path,
            within,
        };
        host.rewrite_object(&request).unwrap().status
    };
    let folder = "/api/v1/namespaces/n/secrets";
    assert_eq!(rewrite(&format!("{folder}/a%3Ab")), 200);
    assert_eq!(rewrite(&format!("{folder}/gone")), 404);
    let asked = ["a%3Ab", "gone"].map(|name| format!("PATCH {folder}/{name} HTTP/1.1"));
    assert_eq!(server.requests(), asked);
}

#[test]
fn a_server_that_cannot_prove_who_it_is_is_not_trusted() {
    let good = Identity::new(&["127.0.0.1"], 10, 1);
    let cases = [
        (Identity::lasting(&["127.0.0.1"], -3, -2), "expired at "),
        (Identity::lasting(&["127.0.0.1"], 2, 3), "valid only from "),
        (
            Identity::new(&["api.demo.example", "127.0.0.2"], 10, 1),
            "not for 127.0.0.1 but for api.demo.example, 127.0.0.2",
        ),
    ];
    for (identity, words) in &cases {
        let server = Server::start_secure(identity, |_, _, to| reply(to, "200 OK", "", b"{}"));
        let credentials = kubeconfig(&server.url(""), &identity.authority, &json!({}));
        let reason = untrusted(ask(&credentials, "/"));
        assert!(reason.contains(words), "{reason}");
        assert_eq!(server.requests(), Vec::<String>::new());
    }
    let server = Server::start_secure(&good, |_, _, to| reply(to, "200 OK", "", b"{}"));
    let stranger = kubeconfig(&server.url(""), &cases[2].0.authority, &json!({}));
    let reason = untrusted(ask(&stranger, "/"));
    assert!(reason.contains("authority"), "{reason}");
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", plain.local_addr().unwrap());
    let talking = std::thread::spawn(move || {
        let (mut stream, _) = plain.accept().unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        stream
    });
    let reason = untrusted(ask(&kubeconfig(&address, &good.authority, &json!({})), "/"));
    assert!(reason.contains("does not speak TLS"), "{reason}");
    talking.join().unwrap();
}

#[test]
fn a_client_is_known_by_its_certificate() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let other = Identity::new(&["127.0.0.1"], 10, 1);
    let server = Server::start_mutual(&identity, |_, _, to| reply(to, "200 OK", "", b"{}"));
    let known = certificate(
        &server.url(""),
        &identity.authority,
        &identity.client(-1, 1),
    );
    assert_eq!(ask(&known, "/").unwrap().status, 200);
    let cases = [
        (other.client(-1, 1), "another authority"),
        (identity.client(-3, -2), "CertificateExpired"),
    ];
    for (client, word) in cases {
        let credentials = certificate(&server.url(""), &identity.authority, &client);
        let reason = untrusted_at_last(&credentials);
        assert!(reason.contains("our client certificate"), "{reason}");
        assert!(reason.contains(word), "{reason}");
    }
    let nobody = kubeconfig(&server.url(""), &identity.authority, &json!({}));
    assert!(untrusted_at_last(&nobody).contains("there is none"));
}

/// Asks until the server's refusal is heard: it may close the connection before it was read.
fn untrusted_at_last(credentials: &Credentials) -> String {
    let begun = Instant::now();
    loop {
        match ask(credentials, "/") {
            Err(HostError::Unreachable { .. }) if begun.elapsed() < PLENTY => {}
            other => return untrusted(other),
        }
    }
}

#[test]
fn tokens_are_sent_and_bad_credentials_are_named() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let server = Server::start_secure(&identity, |_, _, to| reply(to, "200 OK", "", b"{}"));
    let bearer = kubeconfig(
        &server.url(""),
        &identity.authority,
        &json!({"token": "abc"}),
    );
    assert_eq!(ask(&bearer, "/").unwrap().status, 200);
    assert!(server.headers()[0].contains(&"authorization: Bearer abc".to_owned()));
    let (mine, other) = (identity.client(-1, 1), identity.client(-1, 1));
    let mixed = certificate(&server.url(""), &identity.authority, &(mine.0, other.1));
    let error = ask(&mixed, "/").unwrap_err();
    assert!(matches!(error, HostError::Crypto(_)), "{error:?}");
}

#[test]
fn whoever_does_not_answer_may_answer_later() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", closed.local_addr().unwrap());
    drop(closed);
    let nobody = |address: &str| kubeconfig(address, &identity.authority, &json!({}));
    let reason = unreachable(ask(&nobody(&address), "/"));
    assert!(reason.contains("refused"), "{reason}");
    // One that takes the question and ends without an answer.
    let server = Server::start_secure(&identity, |_, _, _| ());
    let reason = unreachable(ask(&nobody(&server.url("")), "/"));
    assert!(reason.contains("closed"), "{reason}");
    // One that takes the connection and says nothing at all.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", silent.local_addr().unwrap());
    let begun = Instant::now();
    let result = ask_within(&nobody(&address), "/", Duration::from_millis(300));
    assert!(unreachable(result).contains("within 0.3 s"));
    assert!(begun.elapsed() < Duration::from_secs(10));
}
