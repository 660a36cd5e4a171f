#![expect(clippy::disallowed_methods, reason = "a test's own files")]

use std::path::Path;

use hyper::Request;

use super::*;
use crate::audit::Audit;
use crate::cache::Cache;
use crate::pools::Pools;
use crate::site::Gate;
use crate::tls::Identity;

/// How many requests are made up.
const COUNT: usize = 5_000;

fn site(folder: &Path) -> Arc<Site> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    // A file that looks like a pool, one folder too high.
    write("decoy.yaml", "status: {configuration: {name: r}}");
    write(
        "pools/machine-pools/p.yaml",
        "status: {configuration: {name: r}}",
    );
    write(
        "pools/machine-configs/r.yaml",
        "spec: {config: {ignition: {version: 3.5.0}}}",
    );
    write("pools/decoy.yaml", "status: {configuration: {name: r}}");
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap();
    write("key", &key.serialize_pem());
    write("certificate", &certificate.self_signed(&key).unwrap().pem());
    let pools = Pools {
        origin: crate::pools::Origin::Folder(crate::folder::Folder(folder.join("pools"))),
        kubeconfig: None,
        certificates: vec![],
    };
    let identity = Identity::read(&folder.join("certificate"), &folder.join("key")).unwrap();
    let audit = Audit::open(Some(Path::new("/dev/null"))).unwrap();
    let progress = crate::progress::Progress::new(std::time::Duration::from_mins(5));
    Arc::new(Site::new(
        Cache::new(pools, std::time::Duration::ZERO),
        Gate::Open,
        audit,
        identity,
        progress,
    ))
}

#[tokio::test]
async fn no_made_up_request_gets_what_it_should_not() {
    let folder = tempfile::tempdir().unwrap();
    let site = site(folder.path());
    let pieces = [
        "/",
        "/config/",
        "config",
        "p",
        "decoy",
        "..",
        ".",
        "%2e%2e",
        "%2f",
        "%00",
        ".yaml",
        "?",
        "&",
        "//",
        "\\",
        "~",
        ";",
        "machine-pools",
        "+",
        "%",
        "%zz",
        "a",
        "healthz",
        "explain/",
        "login",
        "logout",
    ];
    let accepts = [
        "",
        "*/*",
        "text/html",
        "application/vnd.coreos.ignition+json;version=3.4.0",
        ";;,,=/",
        "é/\u{1f980}",
    ];
    let mut dice: u64 = 0x2545_f491_4f6c_dd1d;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (dice >> 33) as usize % sides
    };
    let mut served = 0;
    for _ in 0..COUNT {
        let mut path = ["/", "/config/"][roll(2)].to_owned();
        for _ in 0..roll(5) {
            path.push_str(pieces[roll(pieces.len())]);
        }
        let request = Request::builder()
            .method(["GET", "HEAD", "POST"][roll(3)])
            .uri(&path)
            .header(ACCEPT, accepts[roll(accepts.len())].as_bytes())
            .body(());
        // What is no URI never gets as far as this.
        let Ok(request) = request else { continue };
        let (request, ()) = request.into_parts();
        let body = http_body_util::Empty::<&[u8]>::new();
        let reply = answer(&site, &request, body, ([127, 0, 0, 1], 1).into()).await;
        let is_right = match reply.status.as_u16() {
            200 => {
                let page = ["/config/p", "/healthz", "/explain/p", "/"];
                page.contains(&request.uri.path()) && request.method != Method::POST
            }
            303 => matches!(request.uri.path(), "/login" | "/logout"),
            404 => request.method != Method::POST,
            405 => request.method == Method::POST || request.uri.path() == "/logout",
            _ => false,
        };
        assert!(is_right, "{path}: {reply:?}");
        served += usize::from(reply.status == 200);
    }
    assert!(served > 10, "{served} of {COUNT}");
}
