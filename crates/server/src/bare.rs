//! Answers that hyper gives by itself, to what is not even a request: they get a body that says what
//! to do, like all others.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::problem::{Kind, Problem};

/// The status of the answer that was given without a request; zero if there was none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refused(Arc<AtomicU16>);

impl Refused {
    /// Returns the status, if there was such an answer.
    pub(crate) fn status(&self) -> Option<u16> {
        Some(self.0.load(Ordering::Relaxed)).filter(|status| *status != 0)
    }
}

/// A stream whose bare answers get a body.
#[derive(Debug)]
pub(crate) struct Bare<S> {
    stream: S,
    refused: Refused,
    /// What is written instead, and how much of the caller's that stands for.
    instead: Bytes,
    stands_for: usize,
}

impl<S> Bare<S> {
    /// Wraps a stream.
    pub(crate) fn new(stream: S, refused: Refused) -> Self {
        Self {
            stream,
            refused,
            instead: Bytes::new(),
            stands_for: 0,
        }
    }

    /// Returns the stream.
    pub(crate) fn into_inner(self) -> S {
        self.stream
    }
}

/// Returns what is said instead of an answer that has no body; none if it is one of ours, which say
/// of what kind they are.
fn instead(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let head = answer.strip_suffix(b"\r\n\r\n")?;
    let head = std::str::from_utf8(head).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.get(2..5)?;
    if !status.starts_with('4') || head.to_ascii_lowercase().contains("\r\ncontent-type:") {
        return None;
    }
    let status: u16 = status.parse().ok()?;
    let problem = if status == 400 {
        let detail = "what came is not a request of HTTP/1.1";
        let hint = "ask as in `curl https://SERVER/config/POOL`";
        Problem::new(Kind::Malformed, detail, hint)
    } else {
        let detail = "the head of the request is too large";
        let hint = "send at most 16 KiB, with at most 64 headers";
        Problem::new(Kind::TooLarge, detail, hint)
    };
    let problem = problem.with_status(hyper::StatusCode::from_u16(status).ok()?);
    let body = problem.body();
    let line = head.lines().next()?;
    let length = body.len();
    let mut answer = format!(
        "{line}\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    )
    .into_bytes();
    answer.extend(body);
    Some((status, answer))
}

impl<S: AsyncRead + Unpin> AsyncRead for Bare<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> Bare<S> {
    /// Writes what is said instead; afterwards the caller's counts as written.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while !self.instead.is_empty() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, &self.instead))?;
            self.instead.advance(count);
        }
        Poll::Ready(Ok(std::mem::take(&mut self.stands_for)))
    }

    fn begins(&mut self, bytes: &[u8]) -> bool {
        if self.stands_for == 0
            && let Some((status, instead)) = instead(bytes)
        {
            self.refused.0.store(status, Ordering::Relaxed);
            self.instead = instead.into();
            self.stands_for = bytes.len();
        }
        self.stands_for > 0
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bare<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.begins(bytes) {
            return self.poll_instead(context);
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = buffers.first()
            && self.begins(first)
        {
            return self.poll_instead(context);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
