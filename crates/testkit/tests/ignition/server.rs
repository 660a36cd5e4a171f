//! A small web server on this machine that says what a test wants it to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Answers a request: its path and its lines.
type Answer = dyn Fn(&str, &[String], &mut TcpStream) + Send + Sync;

pub(crate) struct Server {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(
        answer: impl Fn(&str, &[String], &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let closing = Arc::new(AtomicBool::new(false));
        let (answer, ends): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&closing));
        let listening = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let answer = Arc::clone(&answer);
                // A client that goes away early breaks the connection; that is no error here.
                std::thread::spawn(move || serve(stream.ok()?, answer.as_ref()));
            }
        });
        Self {
            address,
            closing,
            listening: Some(listening),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Wakes the listener up.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            drop(listening.join());
        }
    }
}

fn serve(mut stream: TcpStream, answer: &Answer) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    answer(&path, &lines, &mut stream);
    Some(())
}

/// Answers as a whole.
pub(crate) fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n"
    );
    // Whoever does not read to the end has its reasons.
    drop(
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body)),
    );
}
