//! A small web server on this machine that says what a test wants it to.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bootlace_engine::port::Signer;
use bootlace_host::pki;
use bootlace_model::pki::{CertificateRequest, KeyAlgorithm, Subject, Usage};
use bootlace_model::secret::Secret;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Answers the nth connection, whose request line is given, by writing to it.
type Answer = dyn Fn(usize, &str, &mut dyn Write) + Send + Sync;

pub(crate) struct Server {
    address: SocketAddr,
    secure: bool,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    closing: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(
        answer: impl Fn(usize, &str, &mut dyn Write) + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(None, Arc::new(answer))
    }

    pub(crate) fn start_secure(
        identity: &Identity,
        answer: impl Fn(usize, &str, &mut dyn Write) + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(Some(identity.config()), Arc::new(answer))
    }

    fn start_with(tls: Option<Arc<rustls::ServerConfig>>, answer: Arc<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let closing = Arc::new(AtomicBool::new(false));
        let secure = tls.is_some();
        let listening = {
            let (connections, requests) = (Arc::clone(&connections), Arc::clone(&requests));
            let closing = Arc::clone(&closing);
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    if closing.load(Ordering::SeqCst) {
                        return;
                    }
                    let number = connections.fetch_add(1, Ordering::SeqCst);
                    let (tls, answer, requests) =
                        (tls.clone(), Arc::clone(&answer), Arc::clone(&requests));
                    // A client that goes away early breaks the connection; that is no error here.
                    std::thread::spawn(move || {
                        serve(stream.ok()?, tls, number, answer.as_ref(), &requests)
                    });
                }
            })
        };
        Self {
            address,
            secure,
            connections,
            requests,
            closing,
            listening: Some(listening),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// How many connections there were, also those that came to nothing.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The first lines of all requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            listening.join().unwrap();
        }
    }
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    number: usize,
    answer: &Answer,
    requests: &Mutex<Vec<String>>,
) -> Option<()> {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .ok()?;
    match tls {
        None => talk(stream, number, answer, requests),
        Some(tls) => {
            let connection = rustls::ServerConnection::new(tls).ok()?;
            let mut stream = rustls::StreamOwned::new(connection, stream);
            talk(&mut stream, number, answer, requests)?;
            stream.conn.send_close_notify();
            stream.flush().ok()
        }
    }
}

fn talk(
    stream: impl Read + Write,
    number: usize,
    answer: &Answer,
    requests: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
    }
    let first = first.trim_end().to_owned();
    requests.lock().unwrap().push(first.clone());
    answer(number, &first, stream.get_mut());
    stream.get_mut().flush().ok()
}

/// Writes an answer with a body; nobody minds if the other side is gone.
pub(crate) fn reply(to: &mut dyn Write, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    );
    drop(
        to.write_all(head.as_bytes())
            .and_then(|()| to.write_all(body)),
    );
}

/// An authority and a server's key and certificate.
pub(crate) struct Identity {
    pub(crate) authority: String,
    certificate: String,
    key: Secret,
}

impl Identity {
    /// Makes a server that proves to be this address or name, for some days around now.
    pub(crate) fn new(names: &[&str], valid_days: u64, back_dated_days: u64) -> Self {
        let day = Duration::from_hours(24);
        let request = |common_name: &str, usages: Vec<Usage>| CertificateRequest {
            subject: Subject::user(common_name),
            dns_names: vec![],
            addresses: vec![],
            usages,
            valid_for: day * 100,
            back_dated: day * 100,
        };
        let now = jiff::Timestamp::now();
        let authority_key = pki::make_key(KeyAlgorithm::EcdsaP256).unwrap();
        let authority = request("authority", vec![Usage::Authority]);
        let authority = pki::issue(&authority, &authority_key, Signer::Itself, now).unwrap();
        let mut leaf = request("server", vec![Usage::Server]);
        for name in names {
            match name.parse() {
                Ok(address) => leaf.addresses.push(address),
                Err(_) => leaf.dns_names.push((*name).to_owned()),
            }
        }
        leaf.valid_for = day * u32::try_from(valid_days).unwrap();
        let issued = now
            .checked_sub(day * u32::try_from(back_dated_days).unwrap())
            .unwrap();
        let key = pki::make_key(KeyAlgorithm::EcdsaP256).unwrap();
        let signer = Signer::Authority {
            certificate: authority.as_bytes(),
            key: &authority_key,
        };
        let certificate = pki::issue(&leaf, &key, signer, issued).unwrap();
        Self {
            authority,
            certificate,
            key,
        }
    }

    fn config(&self) -> Arc<rustls::ServerConfig> {
        let chain = CertificateDer::pem_slice_iter(self.certificate.as_bytes());
        let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_slice(self.key.expose()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        Arc::new(config)
    }
}
