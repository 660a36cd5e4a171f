//! Whose turn it is on a connection: whether a request is under way, or nothing at all.
//!
//! While nothing is under way, a connection gives back the memory that it needs for requests. To be
//! sure that nothing is, three witnesses are heard: who answers, the body of the answer, and the
//! stream that it is written to.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};

/// A request is under way, or none came yet.
const BUSY: u8 = 0;
/// The whole answer has been handed over, and may not be written yet.
const ANSWERED: u8 = 1;
/// The whole answer has been written.
const IDLE: u8 = 2;
/// Something goes on that nobody here can see the end of.
const KEPT: u8 = 3;

/// What is known about a connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn(Arc<AtomicU8>);

impl Turn {
    /// Begins again, with no request yet.
    pub(crate) fn begin(&self) {
        self.0.store(BUSY, Ordering::Relaxed);
    }

    /// Notes that a request has come. The rest of one with a body may still be on its way when it has
    /// been answered.
    pub(crate) fn asked(&self, has_body: bool) {
        let state = if has_body { KEPT } else { BUSY };
        self.0.store(state, Ordering::Relaxed);
    }

    /// Notes that everything that was handed over has been written.
    pub(crate) fn flushed(&self) {
        self.follow(ANSWERED, IDLE);
    }

    /// Notes that the connection ends.
    pub(crate) fn ends(&self) {
        self.0.store(KEPT, Ordering::Relaxed);
    }

    /// Tells whether a request has been answered, and nothing has happened since.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IDLE
    }

    fn follow(&self, before: u8, after: u8) {
        let order = Ordering::Relaxed;
        // In any other state there is nothing to note.
        let _ = self.0.compare_exchange(before, after, order, order);
    }
}

/// The body of an answer, whose end is noted.
#[derive(Debug)]
pub(crate) struct Noted<B> {
    body: B,
    _over: Over,
}

impl<B> Noted<B> {
    /// Notes the end of a body.
    pub(crate) fn new(body: B, turn: &Turn) -> Self {
        Self {
            body,
            _over: Over(turn.clone()),
        }
    }
}

impl<B: Body + Unpin> Body for Noted<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Notes that it is dropped: whoever wrote the body has taken all that it wants of it.
#[derive(Debug)]
struct Over(Turn);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.follow(BUSY, ANSWERED);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;

    use super::*;

    #[test]
    fn a_connection_is_idle_when_the_answer_is_written() {
        let turn = Turn::default();
        turn.flushed();
        assert!(!turn.is_idle(), "nothing has come yet");
        for _ in 0..2 {
            turn.asked(false);
            let body = Noted::new(Full::<Bytes>::default(), &turn);
            turn.flushed();
            assert!(!turn.is_idle(), "there may be more of the body");
            drop(body);
            assert!(!turn.is_idle(), "the end may not be written");
            turn.flushed();
            assert!(turn.is_idle());
        }
        turn.ends();
        turn.flushed();
        assert!(!turn.is_idle());
    }

    #[test]
    fn a_request_with_a_body_may_still_be_on_its_way() {
        let turn = Turn::default();
        turn.asked(true);
        drop(Noted::new(Full::<Bytes>::default(), &turn));
        turn.flushed();
        assert!(!turn.is_idle());
    }
}
