//! What cannot be seen from outside: which authorities are found, and what is not started.

use std::sync::Arc;
use std::time::Duration;

use bootlace_engine::port::{FetchRequest, HostError};

use super::{Http, Proxy, Trust};
use crate::clock::StopHandle;

fn new(trust: Trust, proxy: Option<Proxy>) -> Http {
    Http::new(trust, proxy, Arc::default())
}

fn ask(http: &Http, url: &str) -> Result<u16, HostError> {
    let request = FetchRequest {
        url,
        authorities: None,
        trusts_system: false,
        headers: &[],
        limit: 10,
        within: Duration::from_secs(10),
    };
    http.status(&request, &StopHandle::default())
}

#[test]
fn nothing_is_started_before_something_is_asked() {
    let http = new(Trust::default(), None);
    ask(&http, "gopher://127.0.0.1/").unwrap_err();
    assert!(!http.network.is_started());
    ask(&http, "http://127.0.0.1:1/").unwrap_err();
    assert!(http.network.is_started());
}

#[test]
fn a_machine_without_authorities_can_still_use_plain_http() {
    let folder = tempfile::tempdir().unwrap();
    let http = new(Trust::at(vec![folder.path().join("missing")]), None);
    let error = ask(&http, "http://127.0.0.1:1/").unwrap_err();
    assert!(matches!(error, HostError::Fetch { .. }), "{error:?}");
    let error = ask(&http, "https://127.0.0.1:1/").unwrap_err();
    assert!(error.to_string().contains("ca-certificates"), "{error}");
}

#[test]
fn the_first_bundle_that_is_there_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = tempfile::NamedTempFile::new().unwrap();
    let trust = Trust::at(vec![
        folder.path().join("missing"),
        bundle.path().to_owned(),
        folder.path().to_owned(),
    ]);
    let error = ask(&new(trust, None), "https://127.0.0.1:1/").unwrap_err();
    assert!(matches!(error, HostError::Fetch { .. }), "{error:?}");
    // One that is there but cannot be read is not passed over.
    let unreadable = Trust::at(vec![folder.path().to_owned()]);
    let error = ask(&new(unreadable, None), "https://127.0.0.1:1/").unwrap_err();
    assert!(matches!(error, HostError::Io { .. }), "{error:?}");
}

#[test]
fn a_proxy_that_is_no_url_is_an_error() {
    let proxy = Proxy {
        url: "http://[".into(),
        except: String::new(),
    };
    let http = new(Trust::default(), Some(proxy));
    let error = ask(&http, "http://127.0.0.1:1/").unwrap_err();
    assert!(matches!(error, HostError::Crypto(_)), "{error:?}");
}
