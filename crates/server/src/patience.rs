//! A stream whose other side must not take its time: a request that begins must end, and an answer
//! must be taken.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::turn::Turn;

/// How long the head of a request may take from its first byte on.
pub(crate) const HEAD: Duration = Duration::from_secs(10);
/// How long a client may take nothing of its answer.
pub(crate) const TAKE: Duration = Duration::from_secs(30);

/// How long a client may take for all of it, byte by byte.
pub(crate) const TAKE_ALL: Duration = Duration::from_mins(5);

/// A stream with deadlines.
#[derive(Debug)]
pub(crate) struct Patience<S> {
    stream: S,
    whole: Whole,
    turn: Turn,
    /// What came in and was put back.
    before: Bytes,
    head: Option<Pin<Box<Sleep>>>,
    take: Option<Pin<Box<Sleep>>>,
    /// Until when the client must have taken all that waits for it.
    all: Option<Instant>,
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
    pub(crate) fn new(stream: S, whole: Whole, turn: Turn) -> Self {
        Self {
            stream,
            whole,
            turn,
            before: Bytes::new(),
            head: None,
            take: None,
            all: None,
        }
    }

    /// Takes back what came in, to be read again before all else.
    pub(crate) fn put_back(&mut self, before: Bytes) {
        self.before = before;
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
        let all = *self.all.get_or_insert_with(|| Instant::now() + TAKE_ALL);
        let take = self.take.get_or_insert_with(|| {
            let end = (Instant::now() + TAKE).min(all);
            Box::pin(tokio::time::sleep_until(end))
        });
        ready!(take.as_mut().poll(context));
        Poll::Ready(Err(late("the client does not take its answer")))
    }
}

impl<S: AsyncRead + Unpin> Patience<S> {
    /// Waits until something has come in that can be read; returns false if nothing ever will.
    pub(crate) async fn has_more(&mut self) -> io::Result<bool> {
        if self.before.is_empty() {
            // One byte is enough to know, and needs no memory while nothing comes.
            let mut first = [0];
            let count = self.read(&mut first).await?;
            self.before = Bytes::copy_from_slice(first.get(..count).unwrap_or_default());
        }
        Ok(!self.before.is_empty())
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
        let again = self.before.len().min(buffer.remaining());
        buffer.put_slice(self.before.get(..again).unwrap_or_default());
        self.before.advance(again);
        let mut outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        if again > 0 {
            // An end or an error of the stream shows again at the next read.
            outcome = Poll::Ready(Ok(()));
        }
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
        if matches!(outcome, Poll::Ready(Ok(()))) {
            self.all = None;
            self.turn.flushed();
        }
        self.taken(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turn.ends();
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.taken(outcome, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_that_begins_must_end() {
        let (mut client, server) = tokio::io::duplex(64);
        let whole = Whole::default();
        let mut server = Patience::new(server, whole.clone(), Turn::default());
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
        let mut server = Patience::new(server, Whole::default(), Turn::default());
        let end = tokio::time::timeout(Duration::from_mins(5), server.write_all(b"too long"));
        let error = end.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let mut buffer = [0; 4];
        client.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"too ");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_must_be_taken_in_the_end() {
        let (mut client, server) = tokio::io::duplex(1);
        let mut server = Patience::new(server, Whole::default(), Turn::default());
        let answer = [0; 100];
        let slowly = async {
            let mut byte = [0];
            while client.read_exact(&mut byte).await.is_ok() {
                tokio::time::sleep(Duration::from_secs(20)).await;
            }
        };
        let begin = Instant::now();
        let error = tokio::select! {
            taken = server.write_all(&answer) => taken.unwrap_err(),
            () = slowly => panic!("nobody hung up"),
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begin.elapsed() <= TAKE_ALL + TAKE);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_put_back_is_read_first() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut server = Patience::new(server, Whole::default(), Turn::default());
        client.write_all(b"GET").await.unwrap();
        assert!(server.has_more().await.unwrap());
        assert!(server.has_more().await.unwrap());
        let mut buffer = [0; 8];
        assert_eq!(server.read(&mut buffer).await.unwrap(), 3);
        assert_eq!(&buffer[..3], b"GET");
        server.put_back(Bytes::from_static(b"whole"));
        let mut text = [0; 3];
        server.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"who");
        client.write_all(b"!").await.unwrap();
        drop(client);
        let mut rest = Vec::new();
        server.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"le!");
        assert!(!server.has_more().await.unwrap());
    }
}
