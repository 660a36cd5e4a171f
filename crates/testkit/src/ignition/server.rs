//! A server on this computer, for contents that come from elsewhere.

use std::io::{BufRead as _, BufReader, Result, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::words::gzip;

/// What configs write where the server's address belongs.
pub(crate) const PLACEHOLDER: &str = "server.invalid";
/// The header without which the server gives some things to nobody.
pub(crate) const TOKEN: (&str, &str) = ("X-Token", "open sesame");
/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Returns what lies at a number.
pub(crate) fn body(number: u64) -> Vec<u8> {
    format!("from elsewhere, number {number}\n").into_bytes()
}

impl Server {
    /// Begins to listen, on 127.0.0.1 and a free port.
    pub fn listen() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let over = Arc::clone(&over);
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    // A client that hangs up is that client's business.
                    thread::spawn(move || drop(answer(&stream)));
                }
            }
        });
        Ok(Self {
            address,
            over,
            thread: Some(thread),
        })
    }

    /// Writes the server's address into a config.
    pub fn fill_in(&self, config: &str) -> String {
        config.replace(PLACEHOLDER, &self.address.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread; if that fails, it ends with the process.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

/// Answers one request and hangs up.
fn answer(mut stream: &TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut may_enter = false;
    for line in lines.by_ref() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let header = line.split_once(": ");
        may_enter |= header
            .is_some_and(|(name, value)| name.eq_ignore_ascii_case(TOKEN.0) && value == TOKEN.1);
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (kind, number) = path
        .trim_start_matches('/')
        .split_once('/')
        .unwrap_or_default();
    let body = body(number.parse().unwrap_or(0));
    let (status, more, body) = match kind {
        "plain" => ("200 OK", String::new(), body),
        "packed" => ("200 OK", String::new(), gzip(&body)),
        "secret" if may_enter => ("200 OK", String::new(), body),
        "secret" => ("403 Forbidden", String::new(), vec![]),
        "moved" => (
            "302 Found",
            format!("Location: /plain/{number}\r\n"),
            vec![],
        ),
        _ => ("404 Not Found", String::new(), vec![]),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn get(server: &Server, path: &str, header: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n").unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        String::from_utf8_lossy(&said).into_owned()
    }

    #[test]
    fn it_gives_to_those_who_may_have_it() {
        let server = Server::listen().unwrap();
        assert!(get(&server, "/plain/7", "").ends_with("number 7\n"));
        assert!(get(&server, "/secret/7", "").starts_with("HTTP/1.1 403"));
        assert!(get(&server, "/secret/7", "x-token: open sesame\r\n").ends_with("number 7\n"));
        assert!(get(&server, "/moved/7", "").contains("Location: /plain/7\r\n"));
        assert!(get(&server, "/else", "").starts_with("HTTP/1.1 404"));
        let filled = server.fill_in("http://server.invalid/plain/1");
        assert!(filled.starts_with("http://127.0.0.1:") && filled.ends_with("/plain/1"));
    }
}
