//! Downloads.

use std::time::{Duration, Instant};

use bootlace_engine::port::{FetchRequest, Host as _, HostError, HostResult};
use bootlace_host::{Proxy, RealHost};

use crate::server::{Identity, Server, reply};

const LIMIT: u64 = 1 << 20;

fn host() -> RealHost {
    RealHost::builder().proxy(None).build()
}

fn request(url: &str, within: Duration) -> FetchRequest<'_> {
    FetchRequest {
        url,
        authorities: None,
        trusts_system: false,
        headers: &[],
        limit: LIMIT,
        within,
    }
}

fn fetch(url: &str) -> HostResult<Vec<u8>> {
    host().fetch(&request(url, Duration::from_secs(20)))
}

fn fetch_trusting(url: &str, authority: &str) -> HostResult<Vec<u8>> {
    let authorities = Some(authority.as_bytes());
    host().fetch(&FetchRequest {
        authorities,
        ..request(url, Duration::from_secs(20))
    })
}

/// Returns why a download failed for good; anything else fails the test.
fn reason(result: HostResult<impl std::fmt::Debug>) -> String {
    match result.unwrap_err() {
        HostError::Fetch { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

/// An address at which nobody listens: the port is reserved for a service of the seventies.
const NOBODY: &str = "http://127.0.0.1:1/";

#[test]
fn content_comes_as_it_was_sent() {
    let content: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let sent = content.clone();
    let server = Server::start(move |_, _, to| reply(to, "200 OK", "", &sent));
    assert_eq!(fetch(&server.url("/a/b?c=d")).unwrap(), content);
    assert_eq!(server.requests(), ["GET /a/b?c=d HTTP/1.1"]);
}

#[test]
fn what_may_pass_is_tried_again() {
    let server = Server::start(|number, _, to| match number {
        0 => reply(to, "503 Service Unavailable", "", b"later"),
        1 => reply(to, "429 Too Many Requests", "retry-after: 1\r\n", b"later"),
        // A connection that breaks before the answer, and one that breaks in the middle.
        2 => {}
        3 => drop(to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")),
        _ => reply(to, "200 OK", "", b"content"),
    });
    let begun = Instant::now();
    assert_eq!(fetch(&server.url("/")).unwrap(), b"content");
    assert_eq!(server.connections(), 5);
    // The server asked for one second, twice the due wait.
    assert!(
        begun.elapsed() >= Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn what_is_final_is_tried_once() {
    for status in [
        "404 Not Found",
        "403 Forbidden",
        "400 Bad Request",
        "304 Not Modified",
    ] {
        let server = Server::start(move |_, _, to| reply(to, status, "", b""));
        let reason = reason(fetch(&server.url("/")));
        assert_eq!(reason, format!("the server answered {status}"));
        assert_eq!(server.connections(), 1, "{status}");
    }
    let server = Server::start(|number, _, to| match number {
        0 => reply(to, "500 Internal Server Error", "", b""),
        _ => reply(to, "404 Not Found", "", b""),
    });
    let reason = reason(fetch(&server.url("/")));
    assert_eq!(reason, "the server answered 404 Not Found (at try 2)");
}

#[test]
fn all_tries_together_end_with_the_deadline() {
    let begun = Instant::now();
    let within = Duration::from_millis(900);
    let error = host().fetch(&request(NOBODY, within)).unwrap_err();
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert!(matches!(error, HostError::TimedOut { .. }), "{error:?}");
    let text = error.to_string();
    // At once, then after 0.1 to 0.2 s, then after 0.2 to 0.4 s more, if the machine is not busy.
    let tries = (2..=4).any(|tries| text.contains(&format!("failed {tries} times")));
    assert!(
        tries && text.contains("refused") && text.contains("0.9 s"),
        "{text}"
    );
}

#[test]
fn a_server_that_asks_for_more_time_than_there_is_ends_the_wait_at_once() {
    let server = Server::start(|_, _, to| {
        reply(to, "503 Service Unavailable", "retry-after: 3600\r\n", b"");
    });
    let begun = Instant::now();
    let error = fetch(&server.url("/")).unwrap_err();
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    let text = error.to_string();
    assert!(
        text.contains("failed once") && text.contains("503"),
        "{text}"
    );
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_silent_server_is_not_waited_for_longer_than_allowed() {
    let server = Server::start(|_, _, _| std::thread::sleep(Duration::from_secs(15)));
    let url = server.url("/");
    for ask in [
        &(|| {
            host()
                .fetch(&request(&url, Duration::from_millis(300)))
                .map(drop)
        }) as &dyn Fn() -> _,
        &|| {
            host()
                .http_status(&request(&url, Duration::from_millis(300)))
                .map(drop)
        },
    ] {
        let begun = Instant::now();
        let error = ask().unwrap_err();
        assert!(matches!(error, HostError::TimedOut { .. }), "{error:?}");
        assert!(error.to_string().contains("gave no answer"), "{error}");
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn a_wish_to_stop_ends_a_download() {
    let server = Server::start(|_, _, _| std::thread::sleep(Duration::from_secs(15)));
    let (host, url) = (host(), server.url("/"));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let fetching = scope.spawn(|| host.fetch(&request(&url, Duration::from_mins(1))));
        while server.connections() == 0 {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "nothing was asked"
            );
            std::thread::yield_now();
        }
        host.stop_handle().request();
        assert!(matches!(fetching.join().unwrap(), Err(HostError::Stopped)));
    });
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn too_much_is_refused_whether_it_is_announced_or_not() {
    let limit = usize::try_from(LIMIT).unwrap();
    let just = Server::start(move |_, _, to| reply(to, "200 OK", "", &vec![1; limit]));
    assert_eq!(fetch(&just.url("/")).unwrap().len(), limit);
    let announced = Server::start(|_, _, to| {
        drop(to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1048577\r\n\r\n"));
        std::thread::sleep(Duration::from_secs(5));
    });
    // Goes on for ever, in pieces of 4 KiB.
    let endless = Server::start(|_, _, to| {
        let mut piece = b"1000\r\n".to_vec();
        piece.extend([b'x'; 0x1000]);
        piece.extend(b"\r\n");
        let mut sent = to.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        while sent.is_ok() {
            sent = to.write_all(&piece);
        }
    });
    for server in [announced, endless] {
        let error = fetch(&server.url("/x")).unwrap_err();
        let HostError::TooLarge {
            target,
            limit: LIMIT,
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!(*target, server.url("/x"));
        assert_eq!(server.connections(), 1);
    }
}

#[test]
fn a_few_redirects_are_followed_and_not_more() {
    let server = Server::start(|_, line, to| {
        let left: u32 = line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        match left {
            0 => reply(to, "200 OK", "", b"content"),
            left => {
                let next = format!("location: /{}\r\n", left - 1);
                reply(to, "302 Found", &next, b"elsewhere");
            }
        }
    });
    assert_eq!(fetch(&server.url("/5")).unwrap(), b"content");
    let reason = reason(fetch(&server.url("/6")));
    assert!(reason.contains("more than 5 times"), "{reason}");
    assert_eq!(server.connections(), 6 + 6);
}

#[test]
fn redirects_lead_neither_from_secure_to_open_nor_out_of_the_web() {
    let identity = Identity::new(&["127.0.0.1"], 10, 1);
    let open = Server::start(|_, _, to| reply(to, "200 OK", "", b"open"));
    let target = open.url("/");
    let secure = Server::start_secure(&identity, move |_, line, to| {
        let target = match line.split(' ').nth(1) {
            Some("/down") => target.as_str(),
            Some("/file") => "file:///etc/passwd",
            Some("/bad") => "http://[",
            _ => return reply(to, "200 OK", "", b"secure"),
        };
        reply(
            to,
            "301 Moved Permanently",
            &format!("location: {target}\r\n"),
            b"",
        );
    });
    for (path, expected) in [
        ("/down", "plain http"),
        ("/file", "file:"),
        ("/bad", "not a URL"),
    ] {
        let reason = reason(fetch_trusting(&secure.url(path), &identity.authority));
        assert!(reason.contains(expected), "{reason}");
    }
    assert_eq!(open.connections(), 0);
    // Upwards is fine.
    let target = secure.url("/");
    let up = Server::start(move |_, _, to| {
        reply(
            to,
            "307 Temporary Redirect",
            &format!("location: {target}\r\n"),
            b"",
        );
    });
    let content = fetch_trusting(&up.url("/"), &identity.authority).unwrap();
    assert_eq!(content, b"secure");
    let nowhere = Server::start(|_, _, to| reply(to, "302 Found", "", b""));
    assert!(reason(fetch(&nowhere.url("/"))).contains("nowhere"));
}

#[test]
fn servers_must_prove_who_they_are() {
    let good = Identity::new(&["127.0.0.1"], 10, 1);
    let other = Identity::new(&["127.0.0.1"], 10, 1);
    let wrong_name = Identity::new(&["api.demo.example"], 10, 1);
    let expired = Identity::new(&["127.0.0.1"], 1, 2);
    let serve = |identity: &Identity| {
        Server::start_secure(identity, |_, _, to| reply(to, "200 OK", "", b"content"))
    };
    let server = serve(&good);
    assert_eq!(
        fetch_trusting(&server.url("/"), &good.authority).unwrap(),
        b"content"
    );
    for (identity, trusted) in [
        (&good, &other.authority),
        (&wrong_name, &wrong_name.authority),
        (&expired, &expired.authority),
    ] {
        let server = serve(identity);
        let reason = reason(fetch_trusting(&server.url("/"), trusted));
        assert!(reason.contains("certificate"), "{reason}");
        // Trying again would not make it another server.
        assert_eq!(server.connections(), 1);
        assert_eq!(server.requests(), Vec::<String>::new());
    }
    // This machine does not know our authority either.
    let server = serve(&good);
    fetch(&server.url("/")).unwrap_err();
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn one_host_keeps_authorities_apart() {
    let identities = [(); 2].map(|()| Identity::new(&["127.0.0.1"], 10, 1));
    let serve = |identity| Server::start_secure(identity, |_, _, to| reply(to, "200 OK", "", b"x"));
    let servers = identities.each_ref().map(serve);
    let host = host();
    for (number, server) in servers.iter().enumerate() {
        for (trusted, identity) in identities.iter().enumerate() {
            let url = server.url("/");
            let asked = host.fetch(&FetchRequest {
                authorities: Some(identity.authority.as_bytes()),
                ..request(&url, Duration::from_secs(20))
            });
            assert_eq!(asked.is_ok(), number == trusted, "{number} {trusted}");
        }
    }
}

#[test]
fn authorities_that_are_none_are_refused() {
    for garbage in [
        "",
        "hello",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let error = fetch_trusting("https://127.0.0.1:1/", garbage).unwrap_err();
        assert!(
            matches!(error, HostError::Crypto(_)),
            "{garbage:?}: {error:?}"
        );
    }
}

#[test]
fn a_status_is_asked_for_once_and_is_never_followed() {
    let server = Server::start(|_, line, to| {
        let status = line.split(['/', ' ']).nth(2).unwrap().to_owned();
        let headers = "location: /200\r\nretry-after: 0\r\n";
        reply(to, &format!("{status} Something"), headers, b"");
    });
    let host = host();
    for (number, status) in [200, 204, 302, 401, 404, 429, 500, 503]
        .into_iter()
        .enumerate()
    {
        let url = server.url(&format!("/{status}"));
        let told = host
            .http_status(&request(&url, Duration::from_secs(20)))
            .unwrap();
        assert_eq!(told, status);
        assert_eq!(server.connections(), number + 1);
    }
    let reason = reason(host.http_status(&request(NOBODY, Duration::from_secs(20))));
    assert!(reason.contains("refused"), "{reason}");
}

#[test]
fn only_the_web_is_downloaded_from() {
    for url in [
        "",
        "x",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "data:,x",
    ] {
        assert!(!reason(fetch(url)).is_empty());
        let asked = host().http_status(&request(url, Duration::from_secs(1)));
        assert!(!reason(asked).is_empty());
    }
}

#[test]
fn passwords_and_signed_queries_are_not_repeated() {
    let server = Server::start(|_, _, to| reply(to, "404 Not Found", "", b""));
    let url = server.url("/file?signature=hush");
    let url = url.replace("http://", "http://user:hush@");
    let shown = fetch(&url).unwrap_err().to_string();
    assert!(
        !shown.contains("hush") && shown.contains("/file?…"),
        "{shown}"
    );
}

#[test]
fn a_proxy_carries_https_to_others_and_nothing_else() {
    let proxy = Server::start(|_, _, to| reply(to, "403 Forbidden", "", b""));
    // This address leads to this machine, too, but does not look like it.
    let identity = Identity::new(&["127.0.0.1", "0.0.0.0"], 10, 1);
    let open = Server::start(|_, _, to| reply(to, "200 OK", "", b""));
    let secure = Server::start_secure(&identity, |_, _, to| reply(to, "200 OK", "", b""));
    let disguised = |server: &Server| server.url("/").replace("127.0.0.1", "0.0.0.0");
    let ask = |url: &str, except: &str| {
        let (url_of_proxy, except) = (proxy.url("/"), except.to_owned());
        let proxy = Some(Proxy {
            url: url_of_proxy,
            except,
        });
        let request = FetchRequest {
            authorities: Some(identity.authority.as_bytes()),
            ..request(url, Duration::from_secs(5))
        };
        RealHost::builder()
            .proxy(proxy)
            .build()
            .http_status(&request)
    };
    ask("https://registry.invalid/v2/", "").unwrap_err();
    ask(&disguised(&secure), "other.invalid").unwrap_err();
    let asked = proxy.requests();
    assert_eq!(asked[0], "CONNECT registry.invalid:443 HTTP/1.1");
    assert!(asked[1].starts_with("CONNECT 0.0.0.0:"), "{asked:?}");
    // This machine itself, what is excepted, and plain http go without it.
    assert_eq!(ask(&secure.url("/"), "").unwrap(), 200);
    assert_eq!(
        ask(&disguised(&secure), "other.invalid, 0.0.0.0").unwrap(),
        200
    );
    assert_eq!(ask(&disguised(&open), "").unwrap(), 200);
    assert_eq!(proxy.connections(), 2);
}
