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

/// The lines of each request up to the first empty one.
type Requests = Arc<Mutex<Vec<Vec<String>>>>;

pub(crate) struct Server {
    address: SocketAddr,
    secure: bool,
    connections: Arc<AtomicUsize>,
    requests: Requests,
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
        Self::start_with(Some(identity.config(None)), Arc::new(answer))
    }

    /// Starts a server that talks only to holders of a certificate of its own authority.
    pub(crate) fn start_mutual(
        identity: &Identity,
        answer: impl Fn(usize, &str, &mut dyn Write) + Send + Sync + 'static,
    ) -> Self {
        let clients = Some(identity.authority.as_str());
        Self::start_with(Some(identity.config(clients)), Arc::new(answer))
    }

    fn start_with(tls: Option<Arc<rustls::ServerConfig>>, answer: Arc<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Requests::default();
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
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request[0].clone()).collect()
    }

    /// The other lines of all requests.
    pub(crate) fn headers(&self) -> Vec<Vec<String>> {
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .map(|request| request[1..].to_vec())
            .collect()
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
    requests: &Mutex<Vec<Vec<String>>>,
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
    requests: &Mutex<Vec<Vec<String>>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        match line.trim() {
            "" if lines.is_empty() => return None,
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let length = lines
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    stream.read_exact(&mut vec![0; length]).ok()?;
    let first = lines[0].clone();
    requests.lock().unwrap().push(lines);
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
    authority_key: Secret,
    pub(crate) certificate: String,
    pub(crate) key: Secret,
}

impl Identity {
    /// Makes a server that proves to be this address or name, for some days around now.
    pub(crate) fn new(names: &[&str], valid_days: i64, back_dated_days: i64) -> Self {
        Self::lasting(names, -100, valid_days - back_dated_days)
    }

    /// Makes a server that proves to be this address or name, between two days from now.
    pub(crate) fn lasting(names: &[&str], begin: i64, end: i64) -> Self {
        let authority_key = pki::make_key(KeyAlgorithm::EcdsaP256).unwrap();
        let authority = request("authority", Usage::Authority, -100, 100);
        let long_ago = days_from_now(-100);
        let authority = pki::issue(&authority, &authority_key, Signer::Itself, long_ago).unwrap();
        let mut leaf = request("server", Usage::Server, begin, end);
        // The gateway of etcd asks etcd itself with its server's certificate.
        leaf.usages.push(Usage::Client);
        for name in names {
            match name.parse() {
                Ok(address) => leaf.addresses.push(address),
                Err(_) => leaf.dns_names.push((*name).to_owned()),
            }
        }
        let (certificate, key) = issue(&authority, &authority_key, &leaf, begin);
        Self {
            authority,
            authority_key,
            certificate,
            key,
        }
    }

    /// Makes a client that this one's authority knows, with all rights, between two days from now.
    pub(crate) fn client(&self, begin: i64, end: i64) -> (String, Secret) {
        let mut leaf = request("client", Usage::Client, begin, end);
        leaf.subject.organizations = vec!["system:masters".into()];
        issue(&self.authority, &self.authority_key, &leaf, begin)
    }

    fn config(&self, clients: Option<&str>) -> Arc<rustls::ServerConfig> {
        let chain = certificates(&self.certificate);
        let key = PrivateKeyDer::from_pem_slice(self.key.expose()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = rustls::RootCertStore::empty();
                roots.add_parsable_certificates(certificates(authority));
                let roots = Arc::new(roots);
                let verifier =
                    rustls::server::WebPkiClientVerifier::builder_with_provider(roots, provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        Arc::new(builder.with_single_cert(chain, key).unwrap())
    }
}

fn days_from_now(days: i64) -> jiff::Timestamp {
    jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days)
}

fn request(common_name: &str, usage: Usage, begin: i64, end: i64) -> CertificateRequest {
    CertificateRequest {
        subject: Subject::user(common_name),
        dns_names: vec![],
        addresses: vec![],
        usages: vec![usage],
        valid_for: Duration::from_hours(24 * u64::try_from(end - begin).unwrap()),
        back_dated: Duration::ZERO,
    }
}

fn issue(
    authority: &str,
    authority_key: &Secret,
    leaf: &CertificateRequest,
    begin: i64,
) -> (String, Secret) {
    let key = pki::make_key(KeyAlgorithm::EcdsaP256).unwrap();
    let signer = Signer::Authority {
        certificate: authority.as_bytes(),
        key: authority_key,
    };
    let certificate = pki::issue(leaf, &key, signer, days_from_now(begin)).unwrap();
    (certificate, key)
}

fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    let chain = CertificateDer::pem_slice_iter(pem.as_bytes());
    chain.collect::<Result<Vec<_>, _>>().unwrap()
}
