//! A client that says exactly what it is told, and shows exactly what it gets.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tokio::net::TcpSocket;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A secured connection.
pub(crate) type Connection = StreamOwned<ClientConnection, TcpStream>;

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns a header, looked for without regard to case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// Reads the body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Trusts one authority.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    /// From where it asks.
    source: IpAddr,
    config: Arc<ClientConfig>,
}

impl Client {
    /// Makes one that trusts what a certificate in PEM says.
    pub(crate) fn new(address: SocketAddr, authority: &str) -> Self {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(authority.as_bytes()).unwrap();
        roots.add(certificate).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            address,
            source: Ipv4Addr::LOCALHOST.into(),
            config: Arc::new(config),
        }
    }

    /// Makes one that asks from another address of this machine.
    pub(crate) fn from(&self, source: [u8; 4]) -> Self {
        Self {
            source: source.into(),
            ..self.clone()
        }
    }

    /// Makes one that asks the same server and trusts another authority.
    pub(crate) fn trusting(&self, authority: &str) -> Self {
        Self::new(self.address, authority)
    }

    /// Returns the address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// Connects without securing anything.
    pub(crate) fn plain(&self) -> TcpStream {
        // The standard library does not let a client choose its own address.
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_io().build().unwrap();
        let stream = runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind((self.source, 0).into()).unwrap();
            socket.connect(self.address).await.unwrap()
        });
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Connects.
    pub(crate) fn connect(&self) -> io::Result<Connection> {
        let name = "127.0.0.1".try_into().unwrap();
        let connection =
            ClientConnection::new(Arc::clone(&self.config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(connection, self.plain());
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }

    /// Asks on a connection of its own, with headers each ended by a line break.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str]) -> Answer {
        let mut stream = self.connect().unwrap();
        let headers = [headers, &["Connection: close"]].concat();
        ask(&mut stream, method, path, &headers).unwrap()
    }

    /// Sends a body.
    pub(crate) fn post(&self, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = self.connect().unwrap();
        let mut request = format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        for header in headers {
            request = format!("{request}{header}\r\n");
        }
        let length = body.len();
        let request = format!("{request}Content-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        stream.flush().unwrap();
        read(&mut stream, false).unwrap()
    }

    /// Asks with GET.
    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> Answer {
        self.ask("GET", path, headers)
    }
}

/// Asks on a connection.
pub(crate) fn ask(
    stream: &mut Connection,
    method: &str,
    path: &str,
    headers: &[&str],
) -> io::Result<Answer> {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: x\r\n");
    for header in headers {
        request = format!("{request}{header}\r\n");
    }
    stream.write_all(format!("{request}\r\n").as_bytes())?;
    stream.flush()?;
    read(stream, method == "HEAD")
}

/// Reads one answer.
pub(crate) fn read(stream: &mut Connection, is_head: bool) -> io::Result<Answer> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer {
        status,
        head,
        body: vec![],
    };
    let length = answer.header("content-length");
    let length = length.map_or(0, |length| length.parse().unwrap());
    if !is_head {
        answer.body = vec![0; length];
        stream.read_exact(&mut answer.body)?;
    }
    Ok(answer)
}
