//! A server on this computer that proves who it is, by an authority of its own.

use std::io::{BufRead as _, BufReader, Error, Result, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bootlace_engine::port::Signer;
use bootlace_host::pki;
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long certificates are valid.
const VALID: Duration = Duration::from_hours(24);

/// Answers over https until it is dropped: every path with the same content.
#[derive(Debug)]
pub struct SecureServer {
    address: SocketAddr,
    authority: String,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SecureServer {
    /// Begins to listen, on 127.0.0.1 and a free port.
    pub fn listen(content: &[u8]) -> Result<Self> {
        let (authority, tls) = identity()?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let over = Arc::new(AtomicBool::new(false));
        let content: Arc<[u8]> = content.into();
        let thread = thread::spawn({
            let over = Arc::clone(&over);
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let (tls, content) = (Arc::clone(&tls), Arc::clone(&content));
                    // A client that does not trust us hangs up, which is what some tests want.
                    thread::spawn(move || drop(answer(stream, tls, &content)));
                }
            }
        });
        Ok(Self {
            address,
            authority,
            over,
            thread: Some(thread),
        })
    }

    /// Returns where a path is found.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// Returns the certificate, in PEM, of the authority by which the server proves who it is.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl Drop for SecureServer {
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

/// Makes an authority, and what a server needs to prove to be 127.0.0.1 by it.
#[expect(
    clippy::disallowed_methods,
    reason = "certificates of a test count from now on, and tests look at the clock beside the port"
)]
fn identity() -> Result<(String, Arc<rustls::ServerConfig>)> {
    let request = |name: &str, usage| CertificateRequest {
        subject: Subject::user(name),
        dns_names: vec![],
        addresses: vec![],
        usages: vec![usage],
        valid_for: VALID,
        back_dated: VALID,
    };
    let now = jiff::Timestamp::now();
    let authority_key = pki::make_key(KeyAlgorithm::EcdsaP256).map_err(Error::other)?;
    let authority = request("authority", Usage::Authority);
    let authority =
        pki::issue(&authority, &authority_key, Signer::Itself, now).map_err(Error::other)?;
    let mut server = request("server", Usage::Server);
    server.addresses.push([127, 0, 0, 1].into());
    let key = pki::make_key(KeyAlgorithm::EcdsaP256).map_err(Error::other)?;
    let signer = Signer::Authority {
        certificate: authority.as_bytes(),
        key: &authority_key,
    };
    let certificate = pki::issue(&server, &key, signer, now).map_err(Error::other)?;
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
    let chain = chain.collect::<std::result::Result<Vec<_>, _>>();
    let chain = chain.map_err(Error::other)?;
    let key = PrivateKeyDer::from_pem_slice(key.expose()).map_err(Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(Error::other)?;
    Ok((authority, Arc::new(tls)))
}

/// Answers one request and hangs up.
fn answer(stream: TcpStream, tls: Arc<rustls::ServerConfig>, content: &[u8]) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let connection = rustls::ServerConnection::new(tls).map_err(Error::other)?;
    let mut stream = BufReader::new(rustls::StreamOwned::new(connection, stream));
    let mut line = String::new();
    while stream.read_line(&mut line)? > 0 && !line.trim().is_empty() {
        line.clear();
    }
    let stream = stream.get_mut();
    let length = content.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(content)?;
    stream.conn.send_close_notify();
    stream.flush()
}
