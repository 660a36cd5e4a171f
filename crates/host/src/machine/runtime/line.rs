//! The line to the container runtime: one kept connection, one question at a time or several.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use prost::Message;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_prost::ProstCodec;

/// The largest answer that is taken.
const MOST_BYTES: usize = 16 << 20;

/// A line that is opened with the first question, and again when the other side was away.
#[derive(Default)]
pub(super) struct Line {
    channel: Mutex<Option<Channel>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

impl Line {
    /// Takes the line up; must be called on the runtime on which it is waited.
    pub(super) fn open(&self, socket: &Path) -> Result<Channel, Status> {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = channel.as_ref() {
            return Ok(channel.clone());
        }
        let address = format!("unix://{}", socket.display());
        let endpoint = Endpoint::try_from(address)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let opened = endpoint.connect_lazy();
        *channel = Some(opened.clone());
        Ok(opened)
    }
}

/// Asks once.
pub(super) async fn ask<Q, A>(
    channel: &Channel,
    method: &'static str,
    question: Q,
) -> Result<A, Status>
where
    Q: Message + Default + 'static,
    A: Message + Default + 'static,
{
    let mut client =
        tonic::client::Grpc::new(channel.clone()).max_decoding_message_size(MOST_BYTES);
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(crate::error::chain(&error)))?;
    let path = http::uri::PathAndQuery::from_static(method);
    let codec: ProstCodec<Q, A> = ProstCodec::default();
    let answer = client
        .unary(tonic::Request::new(question), path, codec)
        .await?;
    Ok(answer.into_inner())
}

/// Tells whether nobody is there to answer, or nobody who is ready.
pub(super) fn is_silence(status: &Status) -> bool {
    // What the runtime itself says has no cause on this side.
    status.code() == Code::Unavailable
        || std::error::Error::source(status).is_some()
        || status.message().contains("not initialized yet")
}

/// Puts an answer that is none into words.
pub(super) fn words(status: &Status) -> String {
    match status.code() {
        Code::Unimplemented => format!(
            "it does not offer the container runtime interface; is its plug-in for that switched \
             off in /etc/containerd/config.toml? ({})",
            status.message()
        ),
        code => format!("{} ({code:?})", status.message()),
    }
}
