//! Services of a cluster, asked from the network of the machine or of a pod on it.
//!
//! A pod is not changed and nothing runs in it: a thread of ours enters its network for the length
//! of the question, and ends there.

mod dns;

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use bootlace_engine::port::{Asked, HostResult, ServiceQuestion, ServiceRequest};
use rustix::fs::stat;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::error::refused;
use crate::http::{Trust, tls};

/// How many pods are asked from at most; one that gets an answer is enough.
const MOST_PODS: usize = 4;
/// The network of this process.
const OWN_NETWORK: &str = "/proc/self/ns/net";

/// Asks from the machine's own network.
pub(super) fn from_machine(request: &ServiceRequest<'_>) -> HostResult<Asked> {
    let question = Prepared::of(request)?;
    Ok(concluded([question.ask(request.within)]))
}

/// Asks from the networks of pods, of each by one of its processes.
pub(super) fn from_pods(request: &ServiceRequest<'_>, processes: &[u32]) -> HostResult<Asked> {
    let question = Prepared::of(request)?;
    let networks = networks_of(processes)?;
    let within = request.within;
    let answers = std::thread::scope(|scope| {
        let asked: Vec<_> = networks
            .iter()
            .map(|network| scope.spawn(|| enter(network).and_then(|()| question.ask(within))))
            .collect();
        let answers = asked.into_iter().map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err("the thread that asked was lost".into()))
        });
        answers.collect::<Vec<_>>()
    });
    Ok(concluded(answers))
}

/// One answer is enough; without one the last reason is told.
fn concluded(answers: impl IntoIterator<Item = Result<String, String>>) -> Asked {
    let mut asked = Asked::NoPod;
    for answer in answers {
        match answer {
            Ok(answer) => return Asked::Answered(answer),
            Err(why) => asked = Asked::Failed(why),
        }
    }
    asked
}

/// Opens the networks of processes, each network once, without the machine's own.
#[expect(
    clippy::disallowed_methods,
    reason = "the networks of processes that run now are meant, whatever root is worked on"
)]
fn networks_of(processes: &[u32]) -> HostResult<Vec<File>> {
    let own = stat(OWN_NETWORK).map_err(|error| refused("look at", OWN_NETWORK, error))?;
    let mut known = vec![own.st_ino];
    let mut networks = Vec::new();
    for process in processes {
        let path = format!("/proc/{process}/ns/net");
        // A pod that has ended meanwhile is no pod to ask from.
        let Ok(found) = stat(path.as_str()) else {
            continue;
        };
        if known.contains(&found.st_ino) || networks.len() == MOST_PODS {
            continue;
        }
        if let Ok(network) = File::open(&path) {
            known.push(found.st_ino);
            networks.push(network);
        }
    }
    Ok(networks)
}

/// Moves this thread into a network; it must end there.
fn enter(network: &File) -> Result<(), String> {
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|error| format!("the network of a pod cannot be entered: {error}"))
}

/// A question that can be asked from any thread.
enum Prepared {
    Identity(SocketAddr, Arc<ClientConfig>),
    Name(SocketAddr, String),
}

impl Prepared {
    fn of(request: &ServiceRequest<'_>) -> HostResult<Self> {
        Ok(match request.question {
            ServiceQuestion::Name(name) => {
                Self::Name(SocketAddr::new(request.address, dns::PORT), name.to_owned())
            }
            ServiceQuestion::Identity { port, authority } => {
                let trust = Trust::default();
                let roots = trust.roots(Some(authority))?;
                let roots = roots.ok_or_else(|| trust.nobody())?;
                let config = tls(roots)?.with_no_client_auth();
                Self::Identity(SocketAddr::new(request.address, port), Arc::new(config))
            }
        })
    }

    fn ask(&self, within: Duration) -> Result<String, String> {
        match self {
            Self::Name(server, name) => dns::ask(*server, name, within),
            Self::Identity(server, config) => identify(*server, config, within),
        }
    }
}

/// Lets a server prove who it is.
fn identify(
    server: SocketAddr,
    config: &Arc<ClientConfig>,
    within: Duration,
) -> Result<String, String> {
    let words = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => {
            format!("no answer within {} s", within.as_secs_f32())
        }
        _ => error.to_string(),
    };
    let stream = TcpStream::connect_timeout(&server, within).map_err(words)?;
    stream.set_read_timeout(Some(within)).map_err(words)?;
    stream.set_write_timeout(Some(within)).map_err(words)?;
    let name = ServerName::IpAddress(server.ip().into());
    let connection = ClientConnection::new(Arc::clone(config), name);
    let connection = connection.map_err(|error| error.to_string())?;
    let mut stream = StreamOwned::new(connection, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(words)?;
    }
    Ok(format!(
        "{server} answers, with a certificate that is trusted"
    ))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, TcpListener};

    use bootlace_model::expect::Vantage;

    use super::*;

    #[test]
    fn one_answer_is_enough_and_none_names_the_reason() {
        let (yes, no) = (|| Ok("yes".to_owned()), || Err("no".to_owned()));
        assert_eq!(
            concluded([no(), yes(), no()]),
            Asked::Answered("yes".into())
        );
        assert_eq!(concluded([no()]), Asked::Failed("no".into()));
        assert_eq!(concluded([]), Asked::NoPod);
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up_in_time() {
        let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["ca".into()]).unwrap();
        let authority = params.self_signed(&key).unwrap().pem();
        let begun = std::time::Instant::now();
        let asked = from_machine(&ServiceRequest {
            from: Vantage::Machine,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            question: ServiceQuestion::Identity {
                port: silent.local_addr().unwrap().port(),
                authority: authority.as_bytes(),
            },
            within: Duration::from_millis(100),
        });
        assert_eq!(
            asked.unwrap(),
            Asked::Failed("no answer within 0.1 s".into())
        );
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn the_network_of_this_process_is_no_pod() {
        assert!(networks_of(&[std::process::id()]).unwrap().is_empty());
    }
}
