//! A stream whose other side must not take its time: a request that begins must end, and an answer
//! must be taken.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// How long the head of a request may take from its first byte on.
pub(crate) const HEAD: Duration = Duration::from_secs(10);
/// How long a client may take nothing of its answer.
pub(crate) const TAKE: Duration = Duration::from_secs(30);

/// A stream with deadlines.
#[derive(Debug)]
pub(crate) struct Patience<S> {
    stream: S,
    whole: Whole,
    head: Option<Pin<Box<Sleep>>>,
    take: Option<Pin<Box<Sleep>>>,
}

/// Tells the stream that a request has come in whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Whole(Arc<AtomicBool>);

impl Whole {
    /// Says that what came in so far was a whole request.
    pub(crate) fn say(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<S> Patience<S> {
    /// Watches a stream.
    pub(crate) fn new(stream: S, whole: Whole) -> Self {
        Self {
            stream,
            whole,
            head: None,
            take: None,
        }
    }

    /// Notes whether the other side took something; fails if it took nothing for too long.
    fn taken<T>(
        &mut self,
        outcome: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.take = None;
            return outcome;
        }
        let take = self
            .take
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(TAKE)));
        ready!(take.as_mut().poll(context));
        Poll::Ready(Err(late("the client does not take its answer")))
    }
}

fn late(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl<S: AsyncRead + Unpin> AsyncRead for Patience<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.whole.0.swap(false, Ordering::Relaxed) {
            self.head = None;
        }
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        let came = buffer.filled().len() > before;
        if came && self.head.is_none() {
            self.head = Some(Box::pin(tokio::time::sleep(HEAD)));
        }
        if let Some(head) = &mut self.head
            && head.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(late("the request takes too long")));
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patience<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.taken(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.taken(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.taken(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.taken(outcome, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_that_begins_must_end() {
        let (mut client, server) = tokio::io::duplex(64);
        let whole = Whole::default();
        let mut server = Patience::new(server, whole.clone());
        let mut buffer = [0; 8];
        // Nobody who says nothing is late.
        let wait = tokio::time::timeout(Duration::from_secs(100), server.read(&mut buffer));
        assert!(wait.await.is_err());
        client.write_all(b"GET").await.unwrap();
        assert_eq!(server.read(&mut buffer).await.unwrap(), 3);
        whole.say();
        let wait = tokio::time::timeout(Duration::from_secs(100), server.read(&mut buffer));
        assert!(wait.await.is_err());
        client.write_all(b"GET").await.unwrap();
        assert_eq!(server.read(&mut buffer).await.unwrap(), 3);
        let end = tokio::time::timeout(Duration::from_mins(5), server.read(&mut buffer));
        let error = end.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_must_be_taken() {
        let (mut client, server) = tokio::io::duplex(4);
        let mut server = Patience::new(server, Whole::default());
        let end = tokio::time::timeout(Duration::from_mins(5), server.write_all(b"too long"));
        let error = end.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let mut buffer = [0; 4];
        client.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"too ");
    }
}
