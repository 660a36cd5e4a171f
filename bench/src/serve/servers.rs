//! Both servers as processes: the real program, and nginx with the same bytes as a file.

use std::io::{BufRead as _, BufReader, Error, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::site::{Site, request};
use crate::memory;

const BOOTLACE: &str = "target/release/bootlace";
const NGINX: [&str; 2] = ["nginx", "/usr/sbin/nginx"];
/// How long a server may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(40);
/// How often another port is tried for nginx, which cannot choose one itself.
const ATTEMPTS: usize = 5;

type Failure = Box<dyn std::error::Error>;

/// Who encrypts what nginx sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// nginx itself.
    Process,
    /// The kernel.
    Kernel,
}

impl Encryption {
    /// Returns the name of its files.
    fn name(self) -> &'static str {
        match self {
            Self::Process => "nginx",
            Self::Kernel => "nginx-ktls",
        }
    }
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts `bootlace serve` as it is used: with tokens and an audit.
    pub(crate) fn bootlace(site: &Site) -> Result<Self, Failure> {
        let mut child = Command::new(BOOTLACE)
            .args(["serve", "--listen", "127.0.0.1:0", "--pools"])
            .arg(site.path("pools"))
            .arg("--cert")
            .arg(site.path("tls.crt"))
            .arg("--key")
            .arg(site.path("tls.key"))
            .arg("--tokens")
            .arg(site.path("tokens.yaml"))
            .arg("--audit")
            .arg(site.path("audit.jsonl"))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!("cannot start {BOOTLACE}: {error}; `make release` builds it")
            })?;
        let lines = child.stderr.take().ok_or("bootlace has no stderr")?;
        let mut lines = BufReader::new(lines).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            let address = line.strip_prefix("serving https://")?.split(',').next()?;
            address.parse().ok()
        });
        // What it says later matters to nobody, but it must be able to say it.
        std::thread::spawn(move || lines.for_each(drop));
        let Some(address) = address else {
            drop(child.kill());
            return Err(format!("bootlace does not serve: {}", child.wait()?).into());
        };
        Ok(Self { child, address })
    }

    /// Starts nginx, for which the file that it serves is written already.
    pub(crate) fn nginx(site: &Site, encryption: Encryption) -> Result<Self, Failure> {
        let name = encryption.name();
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
            let conf = nginx_conf(address, encryption);
            site.write(&format!("{name}.conf"), conf)?;
            let child = start_nginx(site, name)?;
            let mut server = Self { child, address };
            match server.await_connections() {
                Ok(()) => return Ok(server),
                Err(error) => last = error.to_string(),
            }
        }
        let log = std::fs::read_to_string(site.path(&format!("{name}.log"))).unwrap_or_default();
        Err(format!("nginx does not serve: {last}: {log}").into())
    }

    fn await_connections(&mut self) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                return Err(status.to_string().into());
            }
            if Instant::now() > end {
                return Err("it does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Lists its processes: nginx has one for each processor, and one that watches them.
    fn processes(&self) -> Vec<String> {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let children = children.split_whitespace().map(str::to_owned);
        std::iter::once(id.to_string()).chain(children).collect()
    }

    /// Returns how much memory it has, in MiB.
    pub(crate) fn resident(&self) -> f64 {
        let processes = self.processes();
        processes.iter().filter_map(|id| memory::resident(id)).sum()
    }

    /// Returns how much memory it had at most, in MiB.
    pub(crate) fn peak(&self) -> f64 {
        let processes = self.processes();
        processes.iter().filter_map(|id| memory::peak(id)).sum()
    }

    /// Returns for how long it has kept processors busy.
    pub(crate) fn busy(&self) -> Duration {
        let processes = self.processes();
        processes.iter().filter_map(|id| memory::busy(id)).sum()
    }

    /// Asks it to end, as a supervisor does.
    pub(crate) fn ask_to_end(&self) -> Result<(), Failure> {
        let id = i32::try_from(self.child.id())?;
        let id = Pid::from_raw(id).ok_or("a process without a number")?;
        Ok(kill_process(id, Signal::TERM)?)
    }

    /// Waits until it has ended.
    pub(crate) fn ended(&mut self) -> Result<ExitStatus, Failure> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > end {
                return Err("a server was asked to end, and did not".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks once, in the plainest way, and returns the body, whatever it is.
    pub(crate) fn fetch(&self, authority: &str) -> Result<Vec<u8>, Failure> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tls = ClientConnection::new(Arc::new(config), self.address.ip().into())?;
        let mut stream = StreamOwned::new(tls, TcpStream::connect(self.address)?);
        let request = request().replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.filter(|_| answer.starts_with(b"HTTP/1.1 200 "));
        match end {
            Some(end) => Ok(answer.split_off(end + 4)),
            None => Err(String::from_utf8_lossy(&answer).into_owned().into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already needs neither; one that does not end when asked is ended.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none())
            && (self.ask_to_end().is_err() || self.ended().is_err())
        {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

fn start_nginx(site: &Site, name: &str) -> Result<Child, Failure> {
    for program in NGINX {
        let started = Command::new(program)
            .arg("-p")
            .arg(site.path(""))
            .arg("-c")
            .arg(site.path(&format!("{name}.conf")))
            .arg("-e")
            .arg(site.path(&format!("{name}.log")))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match started {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            started => return Ok(started?),
        }
    }
    let hint = "nginx is not installed, and it is what the server is compared with; \
                type `make bench` as root, or `apt-get install nginx`";
    Err(Error::new(ErrorKind::NotFound, hint).into())
}

/// Sets nginx up as well as one can: a process for each processor, no limit on requests of a
/// connection, the file kept open. What bootlace does, nginx does as well: it writes a line for each
/// answer, says what it is asked for in TLS 1.2 or 1.3 with the same certificate, and hands out no
/// tickets. It looks at no token. All its processes share one socket: with one for each, few connections
/// fall unevenly, and nginx is slower.
fn nginx_conf(address: SocketAddr, encryption: Encryption) -> String {
    let name = encryption.name();
    let ktls = match encryption {
        Encryption::Process => "",
        Encryption::Kernel => "ssl_conf_command Options KTLS;",
    };
    // As root it would let somebody else read the files, who may not.
    let user = if rustix::process::geteuid().is_root() {
        "user root root;"
    } else {
        ""
    };
    let temporary: Vec<String> = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("{what}_temp_path temporary/{what};"))
        .to_vec();
    let temporary = temporary.join(" ");
    format!(
        "{user}
daemon off;
pid {name}.pid;
worker_processes auto;
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
  {temporary}
  access_log {name}-access.log combined buffer=64k flush=1s;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_timeout 60s;
  keepalive_requests 1000000000;
  open_file_cache max=16 inactive=60s;
  output_buffers 2 128k;
  server {{
    listen {address} ssl backlog=4096;
    ssl_certificate tls.crt;
    ssl_certificate_key tls.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    {ktls}
    ssl_session_cache off;
    ssl_session_tickets off;
    root nginx;
    default_type application/json;
  }}
}}
"
    )
}
