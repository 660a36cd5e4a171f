//! `/healthz`: whether the operator is alive, for the kubelet's probes.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::log::Log;

/// How long a caller may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers on a port of this machine's loopback from now on; port 0 is none at all.
///
/// A port that somebody else has is no reason not to work: the probe then tells what is wrong.
pub(crate) async fn serve(port: u16, log: &Log) {
    if port == 0 {
        return;
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match TcpListener::bind(address).await {
        Ok(listener) => drop(tokio::spawn(accept(listener))),
        Err(error) => log.say(format!("/healthz is not served: {address}: {error}")),
    }
}

async fn accept(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((caller, _)) => {
                tokio::spawn(async move {
                    // A caller that goes away or is too slow gets no answer, and needs none.
                    drop(tokio::time::timeout(PATIENCE, answer(caller)).await);
                });
            }
            // Out of file descriptors, most likely: others must be closed first.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(mut caller: TcpStream) -> std::io::Result<()> {
    let mut request = vec![];
    let mut part = [0; 512];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") && request.len() < 8192 {
        match caller.read(&mut part).await? {
            0 => break,
            read => request.extend(part.iter().take(read)),
        }
    }
    caller.write_all(response(&request).as_bytes()).await?;
    caller.shutdown().await
}

fn response(request: &[u8]) -> String {
    let line = request
        .split(|&byte| byte == b'\r')
        .next()
        .unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some(b"GET" | b"HEAD"), Some(b"/healthz")) => ("200 OK", "ok\n"),
        _ => ("404 Not Found", "only /healthz is here\n"),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut caller = TcpStream::connect(address).await.unwrap();
        caller.write_all(request).await.unwrap();
        let mut answer = String::new();
        caller.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_probe_is_answered_and_nothing_else_is() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(accept(listener));
        let good = ask(address, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(good.starts_with("HTTP/1.1 200 OK\r\n"), "{good}");
        assert!(good.ends_with("\r\n\r\nok\n"), "{good}");
        let other = ask(address, b"GET /secret HTTP/1.1\r\n\r\n").await;
        assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
    }
}
