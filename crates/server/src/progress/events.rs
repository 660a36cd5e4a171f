//! A stream of changes, as server-sent events.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::{Change, Node};
use crate::disk;
use crate::shares::Share;
use crate::sight::Sight;
use crate::site::Site;

/// How often a line is sent when nothing happens, so that whoever reads knows that all is well, and a
/// reader that is gone is noticed.
const PULSE: Duration = Duration::from_secs(15);
/// How long a stream lasts. A reader that comes back must show a token again, and one whose token is
/// not valid any more cannot.
const LASTS: Duration = Duration::from_mins(5);
/// After how many milliseconds a browser connects again.
const AGAIN: u32 = 2_000;

/// The body of an answer that goes on.
#[derive(Debug)]
pub(crate) struct Events {
    lines: mpsc::Receiver<Bytes>,
    _place: (OwnedSemaphorePermit, Share),
}

impl Events {
    /// Begins a stream: where everybody is whom one may see, then each change. None if the server is
    /// about to end, or too many read already, in all or from this source.
    pub(crate) fn begin(site: &Arc<Site>, sight: Sight, source: IpAddr) -> Option<Self> {
        let share = site.readers_of_one.take(source)?;
        let place = Arc::clone(&site.readers).try_acquire_owned().ok()?;
        let changes = site.progress.follow()?;
        let (sender, lines) = mpsc::channel(8);
        tokio::spawn(pump(Arc::clone(site), sight, changes, sender));
        Some(Self {
            lines,
            _place: (place, share),
        })
    }
}

/// Hands changes on until the reader is gone or the server ends.
async fn pump(
    site: Arc<Site>,
    sight: Sight,
    mut changes: tokio::sync::broadcast::Receiver<Change>,
    sender: mpsc::Sender<Bytes>,
) {
    let snapshot = || {
        let nodes = site.progress.list(&sight, disk::now());
        all(&nodes)
    };
    let end = tokio::time::Instant::now() + LASTS;
    let mut line = Some(format!("retry: {AGAIN}\n{}", snapshot()));
    loop {
        if let Some(line) = line.take()
            && sender.send(line.into()).await.is_err()
        {
            return;
        }
        let change = tokio::select! {
            change = changes.recv() => change,
            () = tokio::time::sleep(PULSE) => {
                line = Some(": still here\n\n".into());
                continue;
            }
            () = sender.closed() => return,
            () = tokio::time::sleep_until(end) => return,
        };
        line = match change {
            Ok(change) if sight.sees(&change.pool) => {
                Some(format!("event: node\ndata: {}\n\n", change.text))
            }
            Ok(_) => None,
            // What was missed is in where everybody is now.
            Err(RecvError::Lagged(_)) => Some(snapshot()),
            Err(RecvError::Closed) => return,
        };
    }
}

fn all(nodes: &[Node]) -> String {
    // Texts and numbers: there is nothing in it that could not be written.
    let text = serde_json::to_string(nodes).unwrap_or_default();
    format!("event: nodes\ndata: {text}\n\n")
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let line = self.lines.poll_recv(context);
        line.map(|line| line.map(|line| Ok(Frame::data(line))))
    }
}
