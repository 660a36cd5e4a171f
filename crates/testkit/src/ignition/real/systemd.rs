//! Something that answers where systemd would, with a version and nothing else.

use std::io::{BufRead as _, BufReader, Read as _, Result, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The version that is answered; from 240 on instances can be enabled.
const VERSION: &str = "252";
/// The type of a message that asks for something.
const CALL: u8 = 1;
/// The most bytes of a message that are read.
const MOST_BYTES: usize = 1 << 20;

/// Listens on a socket until it is dropped.
#[derive(Debug)]
pub(super) struct StandIn {
    socket: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Begins to listen.
    pub(super) fn listen(socket: &Path) -> Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let over = Arc::clone(&over);
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    // Whoever asks hangs up when it knows enough, which ends the conversation with an error.
                    thread::spawn(move || drop(answer(&stream)));
                }
            }
        });
        Ok(Self {
            socket: socket.to_owned(),
            over,
            thread: Some(thread),
        })
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread; if that fails, it ends with the process.
        if UnixStream::connect(&self.socket).is_ok()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}

/// Lets anybody in, then answers every question with the version.
fn answer(mut stream: &UnixStream) -> Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.trim_start_matches('\0').split_whitespace();
        match (words.next(), words.next()) {
            (Some("AUTH"), None) => stream.write_all(b"REJECTED EXTERNAL\r\n")?,
            (Some("AUTH"), Some(_)) => {
                stream.write_all(b"OK 0123456789abcdef0123456789abcdef\r\n")?;
            }
            (Some("BEGIN"), _) => break,
            _ => stream.write_all(b"ERROR\r\n")?,
        }
    }
    loop {
        let mut head = [0; 16];
        reader.read_exact(&mut head)?;
        let number = |at: usize| {
            let bytes = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            u32::from_le_bytes(bytes.unwrap_or_default())
        };
        let (body, serial, fields) = (number(4), number(8), number(12));
        let rest = (fields as usize).next_multiple_of(8) + body as usize;
        let mut skipped = vec![0; rest.min(MOST_BYTES)];
        reader.read_exact(&mut skipped)?;
        if head[1] == CALL {
            stream.write_all(&reply(serial))?;
        }
    }
}

/// Writes a reply that holds the version as a variant, in the wire format of D-Bus.
fn reply(to: u32) -> Vec<u8> {
    let length = u32::try_from(VERSION.len()).unwrap_or(0);
    let mut body = vec![1, b's', 0, 0];
    body.extend(length.to_le_bytes());
    body.extend(VERSION.bytes().chain([0]));
    // Little-endian, a reply that wants no answer, version 1 of the protocol.
    let mut message = vec![b'l', 2, 1, 1];
    message.extend(u32::try_from(body.len()).unwrap_or(0).to_le_bytes());
    message.extend(1_u32.to_le_bytes());
    message.extend(15_u32.to_le_bytes());
    message.extend([5, 1, b'u', 0]);
    message.extend(to.to_le_bytes());
    message.extend([8, 1, b'g', 0, 1, b'v', 0]);
    // The head ends at a multiple of eight.
    message.push(0);
    message.extend(body);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lets_in_and_answers() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("private");
        let stand_in = StandIn::listen(&socket).unwrap();
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream
            .write_all(b"\0AUTH EXTERNAL 30\r\nBEGIN\r\n")
            .unwrap();
        // A call with nothing in it.
        let mut call = vec![b'l', CALL, 0, 1];
        for number in [0_u32, 7, 0] {
            call.extend(number.to_le_bytes());
        }
        stream.write_all(&call).unwrap();
        let mut reader = BufReader::new(&stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("OK "), "{line}");
        let mut answer = vec![0; reply(7).len()];
        reader.read_exact(&mut answer).unwrap();
        assert_eq!(answer, reply(7));
        assert_eq!(answer.len() % 8, 4);
        drop(stand_in);
    }
}
