//! A client that costs little: servers and clients share the processors of one computer.
//!
//! It reads as much at a time as the kernel has, and lets rustls decrypt it in place; a stream that
//! buffers would read four kilobytes at a time, and be the slowest of all.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{CipherSuite, ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::answer::Answer;

/// How much is read at a time.
const INCOMING: usize = 128 << 10;
/// More than any handshake message or request takes.
const OUTGOING: usize = 16 << 10;

/// Whom to ask, and how to know that it is the right one.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    config: Arc<ClientConfig>,
}

/// Memory that a connection needs while something is under way on it, and not while it is idle.
#[derive(Debug)]
pub(crate) struct Buffers {
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            incoming: vec![0; INCOMING],
            outgoing: vec![0; OUTGOING],
        }
    }
}

/// A secured connection.
pub(crate) struct Connection {
    stream: TcpStream,
    tls: UnbufferedClientConnection,
}

/// What has to be done before TLS can go on.
enum Next {
    /// Try again.
    Again,
    /// Send what is in the outgoing buffer.
    Send,
    /// Read more.
    Read,
    /// Nothing: the other side has closed.
    Closed,
    /// Nothing: requests can be sent.
    Ready,
    /// Nothing: the answer is whole.
    Answered,
}

impl Endpoint {
    /// Trusts what an authority, in PEM, says about an address.
    pub(crate) fn new(address: SocketAddr, authority: &str) -> io::Result<Self> {
        let authority =
            CertificateDer::from_pem_slice(authority.as_bytes()).map_err(io::Error::other)?;
        let mut roots = RootCertStore::empty();
        roots.add(authority).map_err(io::Error::other)?;
        let mut provider = rustls::crypto::ring::default_provider();
        // Real Ignition, as every program in Go, prefers AES with 128 bits, and both servers comply.
        provider
            .cipher_suites
            .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A machine boots for the first time once: every handshake is a whole one.
        config.resumption = Resumption::disabled();
        Ok(Self {
            address,
            config: Arc::new(config),
        })
    }

    /// Connects, and secures the connection.
    pub(crate) async fn connect(&self, buffers: &mut Buffers) -> io::Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = self.address.ip().into();
        let tls = UnbufferedClientConnection::new(Arc::clone(&self.config), name)
            .map_err(io::Error::other)?;
        let mut connection = Connection { stream, tls };
        let outcome = connection.drive(buffers, None).await?;
        match outcome {
            Next::Ready => Ok(connection),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Connection {
    /// Asks, and reads the whole answer.
    pub(crate) async fn ask(
        &mut self,
        buffers: &mut Buffers,
        request: &[u8],
        answer: &mut Answer<'_>,
    ) -> io::Result<()> {
        let length = {
            let status = self.tls.process_tls_records(&mut []);
            match status.state.map_err(io::Error::other)? {
                ConnectionState::WriteTraffic(mut traffic) => traffic
                    .encrypt(request, &mut buffers.outgoing)
                    .map_err(encrypt_error)?,
                _ => return Err(io::Error::other("the connection is not ready for requests")),
            }
        };
        let bytes = buffers.outgoing.get(..length).unwrap_or_default();
        self.stream.write_all(bytes).await?;
        match self.drive(buffers, Some(answer)).await? {
            Next::Answered => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Says goodbye, and hangs up.
    pub(crate) async fn close(mut self, buffers: &mut Buffers) -> io::Result<()> {
        let length = match self.tls.process_tls_records(&mut []).state {
            Ok(ConnectionState::WriteTraffic(mut traffic)) => traffic
                .queue_close_notify(&mut buffers.outgoing)
                .map_err(encrypt_error)?,
            _ => 0,
        };
        let bytes = buffers.outgoing.get(..length).unwrap_or_default();
        self.stream.write_all(bytes).await
    }

    /// Waits until the other side says goodbye and hangs up; anything else is an error.
    pub(crate) async fn closed(&mut self, buffers: &mut Buffers) -> io::Result<()> {
        let mut nothing = Answer::new(&[]);
        match self.drive(buffers, Some(&mut nothing)).await? {
            Next::Closed => Ok(()),
            _ => Err(io::Error::other("the server did not say goodbye")),
        }
    }

    /// Goes on until requests can be sent, or, with an answer, until that is whole.
    async fn drive(
        &mut self,
        buffers: &mut Buffers,
        mut answer: Option<&mut Answer<'_>>,
    ) -> io::Result<Next> {
        let (mut begin, mut end, mut sent) = (0, 0, 0);
        loop {
            let incoming = buffers.incoming.get_mut(begin..end).unwrap_or_default();
            let (used, next) = step(
                &mut self.tls,
                incoming,
                &mut buffers.outgoing,
                &mut sent,
                &mut answer,
            )?;
            begin += used;
            match next {
                Next::Again => {}
                Next::Send => {
                    let bytes = buffers.outgoing.get(..sent).unwrap_or_default();
                    self.stream.write_all(bytes).await?;
                    sent = 0;
                }
                Next::Read => {
                    // A record that came in part moves to the front; there is always place for one.
                    buffers.incoming.copy_within(begin..end, 0);
                    (begin, end) = (0, end - begin);
                    let free = buffers.incoming.get_mut(end..).unwrap_or_default();
                    let count = self.stream.read(free).await?;
                    if count == 0 {
                        return Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "the server hung up without a word",
                        ));
                    }
                    end += count;
                }
                over if begin == end => return Ok(over),
                Next::Closed => return Ok(Next::Closed),
                _ => return Err(io::Error::other("the server sent more than was asked for")),
            }
        }
    }
}

/// Does what TLS wants next; returns how many bytes of what came in are done with.
fn step(
    tls: &mut UnbufferedClientConnection,
    incoming: &mut [u8],
    outgoing: &mut [u8],
    sent: &mut usize,
    answer: &mut Option<&mut Answer<'_>>,
) -> io::Result<(usize, Next)> {
    let UnbufferedStatus {
        mut discard, state, ..
    } = tls.process_tls_records(incoming);
    let next = match state.map_err(io::Error::other)? {
        ConnectionState::ReadTraffic(mut traffic) => {
            while let Some(record) = traffic.next_record() {
                let record = record.map_err(io::Error::other)?;
                discard += record.discard;
                let Some(answer) = answer else {
                    return Err(io::Error::other("an answer without a request"));
                };
                answer.take(record.payload)?;
            }
            match answer {
                Some(answer) if answer.is_whole() => Next::Answered,
                _ => Next::Again,
            }
        }
        ConnectionState::EncodeTlsData(mut data) => {
            let free = outgoing.get_mut(*sent..).unwrap_or_default();
            *sent += data.encode(free).map_err(encode_error)?;
            Next::Again
        }
        ConnectionState::TransmitTlsData(data) => {
            data.done();
            Next::Send
        }
        ConnectionState::WriteTraffic(_) if answer.is_none() => Next::Ready,
        ConnectionState::WriteTraffic(_) | ConnectionState::BlockedHandshake => Next::Read,
        ConnectionState::PeerClosed | ConnectionState::Closed => Next::Closed,
        _ => return Err(io::Error::other("a state of TLS that no client has")),
    };
    Ok((discard, next))
}

fn encode_error(error: EncodeError) -> io::Error {
    io::Error::other(error)
}

fn encrypt_error(error: EncryptError) -> io::Error {
    io::Error::other(error)
}
