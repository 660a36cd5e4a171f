//! Connections: accepted, secured, answered, and let end in peace.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use hyper::body::{Body as _, Incoming};
use hyper::header::USER_AGENT;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::answer::answer;
use crate::audit::{Line, shortened};
use crate::bare::{Bare, Refused};
use crate::disk;
use crate::limits::Limits;
use crate::log::Log;
use crate::patience::{Patience, Whole};
use crate::reply::Sent;
use crate::shares::{Share, Shares};
use crate::site::Site;
use crate::stop::Stop;
use crate::turn::{Noted, Turn};

/// How long a client may take to secure its connection.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How much of an answer is encrypted ahead of what the client has taken.
const AHEAD: usize = 128 << 10;
/// How long a connection may be idle.
const IDLE: Duration = Duration::from_mins(1);
/// How long that of a stranger may be.
const STRANGER_IDLE: Duration = Duration::from_secs(10);
/// How large the head of a request may be.
const LARGEST_HEAD: usize = 16 << 10;
/// How many headers a request may have.
const MOST_HEADERS: usize = 64;
/// How long requests that are under way may take when the server ends.
const DRAIN: Duration = Duration::from_secs(30);
/// How long is waited when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers until it is asked to stop, and then ends what is under way.
pub(crate) async fn serve(
    site: Arc<Site>,
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    log: Log,
    limits: Limits,
    stop: &Stop,
) {
    let acceptor = TlsAcceptor::from(tls);
    let places = Places::new(limits);
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let place = Arc::clone(&places.all).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = stop.asked() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Some((share, stranger)) = places.share(peer.ip()) else {
                    // Hung up on: one source must not keep all others out.
                    site.metrics.handshake_failed();
                    continue;
                };
                let (site, acceptor, stop) = (Arc::clone(&site), acceptor.clone(), stop.clone());
                tokio::spawn(async move {
                    let client = Client {
                        peer,
                        stranger: Arc::new(Mutex::new(Some(stranger))),
                    };
                    connection(site, acceptor, stream, &client, &stop).await;
                    drop((place, share));
                });
            }
            Err(error) => {
                log.say(&format!("cannot accept a connection: {error}"));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    site.drain();
    let most = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    if tokio::time::timeout(DRAIN, places.all.acquire_many(most))
        .await
        .is_err()
    {
        let count = limits.connections - places.all.available_permits();
        log.say(&format!("connections that were cut off: {count}"));
    }
}

/// The places for connections.
struct Places {
    all: Arc<Semaphore>,
    shares: Shares,
    strangers: Shares,
    limits: Limits,
}

impl Places {
    fn new(limits: Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections)),
            shares: Shares::new(limits.of_one_source),
            strangers: Shares::new(limits.of_strangers),
            limits,
        }
    }

    /// Counts a connection that has a place already, for its source and as that of a stranger; none if
    /// the source has enough. The last places are for sources that have few.
    fn share(&self, source: IpAddr) -> Option<(Share, Share)> {
        let is_reserve = self.all.available_permits() < self.limits.reserve;
        let most = if is_reserve {
            self.limits.few
        } else {
            self.limits.of_one_source
        };
        let share = self.shares.take_below(source, most)?;
        Some((share, self.strangers.take(source)?))
    }
}

/// Whoever is at the other end of a connection.
#[derive(Debug, Clone)]
struct Client {
    peer: SocketAddr,
    /// Its share of what strangers may have, until it is none any more.
    stranger: Arc<Mutex<Option<Share>>>,
}

impl Client {
    fn is_stranger(&self) -> bool {
        let stranger = self.stranger.lock();
        stranger.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Notes that it may ask.
    fn introduced(&self) {
        let stranger = self.stranger.lock();
        drop(stranger.unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// A connection that is secured.
type Secured = Patience<Box<TlsStream<TcpStream>>>;

/// How a stretch of requests ended.
enum Pause {
    /// All are answered; more may come.
    Idle(Secured),
    /// No more can come.
    Over,
}

async fn connection(
    site: Arc<Site>,
    acceptor: TlsAcceptor,
    stream: TcpStream,
    client: &Client,
    stop: &Stop,
) {
    let _connected = site.metrics.connected();
    // Answers are written whole; if this fails they come a moment later.
    drop(stream.set_nodelay(true));
    // In a box of its own, here and below: what is needed for a while is given back afterwards.
    let secured = Box::pin(secure(acceptor, stream));
    let secured = tokio::select! {
        secured = secured => secured,
        () = stop.asked() => return,
    };
    let Some(stream) = secured else {
        return site.metrics.handshake_failed();
    };
    let (whole, turn) = (Whole::default(), Turn::default());
    let mut stream = Patience::new(stream, whole.clone(), turn.clone());
    loop {
        let idle = if client.is_stranger() {
            STRANGER_IDLE
        } else {
            IDLE
        };
        let more = tokio::select! {
            more = tokio::time::timeout(idle, stream.has_more()) => matches!(more, Ok(Ok(true))),
            () = stop.asked() => false,
        };
        if !more {
            // A client that has gone does not hear the goodbye.
            return drop(stream.shutdown().await);
        }
        let requests = requests(Arc::clone(&site), stream, client, &whole, &turn, stop);
        match Box::pin(requests).await {
            Pause::Idle(idle) => stream = idle,
            Pause::Over => return,
        }
    }
}

/// Secures a connection; none if the client cannot, or takes too long.
async fn secure(acceptor: TlsAcceptor, stream: TcpStream) -> Option<Box<TlsStream<TcpStream>>> {
    let secured = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
    let mut secured = Box::new(secured.ok()?.ok()?);
    secured.get_mut().1.set_buffer_limit(Some(AHEAD));
    Some(secured)
}

/// Answers requests until none is under way. Hyper holds twice eight kilobytes for each connection as
/// long as it has it, so an idle one is taken from it.
async fn requests(
    site: Arc<Site>,
    stream: Secured,
    client: &Client,
    whole: &Whole,
    turn: &Turn,
    stop: &Stop,
) -> Pause {
    turn.begin();
    let refused = Refused::default();
    let service = service_fn(|request: Request<Incoming>| {
        whole.say();
        turn.asked(!request.body().is_end_stream());
        let answer = respond(Arc::clone(&site), request, client.clone());
        async {
            answer
                .await
                .map(|answer| answer.map(|body| Noted::new(body, turn)))
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(Bare::new(stream, refused.clone())), service);
    let until_idle = poll_fn(|context| match Pin::new(&mut connection).poll(context) {
        Poll::Pending if turn.is_idle() => Poll::Ready(true),
        ended => ended.map(|_| false),
    });
    // How a connection ends is the client's affair: it hangs up, is late, or speaks no HTTP.
    let is_idle = tokio::select! {
        is_idle = until_idle => Some(is_idle),
        () = stop.asked() => None,
    };
    match is_idle {
        Some(true) => {
            let parts = connection.into_parts();
            let mut stream = parts.io.into_inner().into_inner();
            stream.put_back(parts.read_buf);
            return Pause::Idle(stream);
        }
        Some(false) => {}
        None => {
            Pin::new(&mut connection).graceful_shutdown();
            drop(connection.await);
        }
    }
    if let Some(status) = refused.status() {
        note_refused(&site, status, client.peer);
    }
    Pause::Over
}

/// Notes an answer to what was no request.
fn note_refused(site: &Site, status: u16, peer: SocketAddr) {
    site.metrics.answered("none", status, 0);
    site.audit.note(&Line {
        time: disk::now().to_string(),
        source: peer.to_string(),
        method: String::new(),
        path: String::new(),
        status,
        bytes: 0,
        pool: None,
        config: None,
        version: None,
        token: None,
        node: None,
        agent: None,
        reason: Some("what came was no request that can be answered".to_owned()),
    });
}

async fn respond(
    site: Arc<Site>,
    request: Request<Incoming>,
    client: Client,
) -> Result<Response<Sent>, Infallible> {
    let (request, body) = request.into_parts();
    let peer = client.peer;
    let reply = answer(&site, &request, body, peer).await;
    if site.gate.tokens().is_none() || reply.is_of_valid_token() {
        client.introduced();
    }
    let bytes = reply.sent(&request.method);
    let status = reply.status.as_u16();
    site.metrics.answered(reply.endpoint, status, bytes);
    let [pool, config, version] = reply.subject.clone();
    let agent = request.headers.get(USER_AGENT);
    let agent = agent.map(|agent| shortened(&String::from_utf8_lossy(agent.as_bytes())));
    site.audit.note(&Line {
        time: disk::now().to_string(),
        source: peer.to_string(),
        method: shortened(request.method.as_str()),
        path: shortened(request.uri.path()),
        status,
        bytes,
        pool,
        config,
        version,
        token: reply.bearer.token.clone(),
        node: reply.bearer.node.clone(),
        agent,
        reason: reply.reason.clone(),
    });
    Ok(reply.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_introduced_makes_room_for_other_strangers() {
        let strangers = Shares::new(1);
        let source = SocketAddr::from(([10, 0, 0, 1], 1));
        let client = Client {
            peer: source,
            stranger: Arc::new(Mutex::new(strangers.take(source.ip()))),
        };
        assert!(client.is_stranger());
        assert!(strangers.take(source.ip()).is_none());
        client.introduced();
        assert!(!client.is_stranger());
        assert!(strangers.take(source.ip()).is_some());
    }
}
