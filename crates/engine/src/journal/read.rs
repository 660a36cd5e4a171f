//! Reading a journal: line by line, in constant memory, trusting nothing.

use bootlace_model::fault::Fault;
use bootlace_model::ids::Digest;
use bootlace_model::record::Line;
use bootlace_model::replay::RunState;

use super::line::{BadLine, checked_hash, decode};
use crate::port::LogFile;

/// How much is read at once.
const CHUNK: usize = 256 << 10;
/// No record is longer; a longer line is damage.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// How long a line may be that is looked for at the end.
const SHORT_LINE: u64 = 4096;

/// What reading a journal to its end gives.
#[derive(Debug)]
pub(crate) struct ReadJournal {
    /// What its lines fold into.
    pub(crate) state: RunState,
    /// The number of lines, which is the number of the next.
    pub(crate) lines: u64,
    /// The hash of the last line.
    pub(crate) last: Digest,
    /// How long the good part is, in bytes.
    pub(crate) good: u64,
    /// How many bytes behind it were torn by a crash.
    pub(crate) torn: u64,
}

/// Says where a journal is not what was written, counting lines from 1 as editors do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(crate) struct Damage {
    /// Which line.
    pub(crate) line: u64,
    /// What is wrong with it.
    pub(crate) reason: String,
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::refused(format!("the journal is damaged at {damage}"))
            .because(
                "What a run did can be resumed or taken back only if the journal says what was done.",
            )
            .hint("`bootlace log` shows the lines before the damage")
            .hint("restore the journal from a copy, or move the run's folder away to begin anew")
    }
}

/// Reads lines until the end, and hands each to `sink` as it stands and as it is understood.
pub(crate) fn read_journal(
    log: &dyn LogFile,
    sink: &mut dyn FnMut(&str, &Line),
) -> Result<ReadJournal, Fault> {
    let mut lines = Lines {
        log,
        offset: 0,
        buffer: Vec::new(),
        begin: 0,
    };
    let mut read = ReadJournal {
        state: RunState::default(),
        lines: 0,
        last: Digest::of(b""),
        good: 0,
        torn: 0,
    };
    loop {
        let position = lines.position();
        let Some((raw, ended)) = lines.next_line(read.lines + 1)? else {
            return Ok(read);
        };
        let damage = |reason: String| Damage {
            line: read.lines + 1,
            reason,
        };
        let bad = if ended {
            decode(raw)
        } else {
            Err(BadLine::Torn)
        };
        let (line, hash) = match bad {
            Ok(good) => good,
            Err(BadLine::Unreadable(why)) => {
                return Err(damage(format!("it cannot be understood: {why}")).into());
            }
            Err(BadLine::Changed) => {
                return Err(damage("it was changed: its hash does not fit".into()).into());
            }
            Err(BadLine::Torn) => {
                // Only the end of a journal can be torn by a crash.
                while let Some((later, ended)) = lines.next_line(read.lines + 2)? {
                    if ended && checked_hash(later) != Err(BadLine::Torn) {
                        return Err(damage("it is torn, but whole lines follow it".into()).into());
                    }
                }
                read.torn = lines.position() - position;
                return Ok(read);
            }
        };
        if line.seq != read.lines {
            let reason = format!(
                "it has the number {}, so lines before it are lost",
                line.seq
            );
            return Err(damage(reason).into());
        }
        if line.prev != read.last {
            return Err(damage("it does not follow the line before it".into()).into());
        }
        let text = std::str::from_utf8(raw).map_err(|_| damage("it is not UTF-8".into()))?;
        sink(text, &line);
        read.state
            .apply(line)
            .map_err(|illegal| damage(illegal.reason))?;
        read.lines += 1;
        read.last = hash;
        read.good = lines.position();
    }
}

/// Tells whether a first line was ever written to its end, whatever became of it since.
pub(crate) fn has_first_line(log: &dyn LogFile) -> Result<bool, Fault> {
    let mut lines = Lines {
        log,
        offset: 0,
        buffer: Vec::new(),
        begin: 0,
    };
    Ok(matches!(lines.next_line(1)?, Some((_, true))))
}

/// Returns the last line, if it is whole and short: one that closes a run is.
pub(crate) fn last_line(log: &dyn LogFile) -> Result<Option<Line>, Fault> {
    let length = log.length()?;
    let from = length.saturating_sub(SHORT_LINE);
    let mut buffer = vec![0; usize::try_from(length - from).unwrap_or(0)];
    let read = log.read_at(from, &mut buffer)?;
    let Some(text) = buffer[..read].strip_suffix(b"\n") else {
        return Ok(None);
    };
    let last = text.rsplit(|byte| *byte == b'\n').next();
    Ok(last.and_then(|line| Some(decode(line).ok()?.0)))
}

/// Cuts a growing file into lines.
struct Lines<'a> {
    log: &'a dyn LogFile,
    /// Where in the file the buffer ends.
    offset: u64,
    buffer: Vec<u8>,
    /// Where in the buffer the next line begins.
    begin: usize,
}

impl Lines<'_> {
    /// Returns where in the file the next line begins.
    fn position(&self) -> u64 {
        self.offset - (self.buffer.len() - self.begin) as u64
    }

    /// Returns the next line without its line feed, and whether it had one.
    fn next_line(&mut self, number: u64) -> Result<Option<(&[u8], bool)>, Fault> {
        let mut searched = self.begin;
        loop {
            let end = self.buffer[searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            if let Some(end) = end.map(|end| searched + end) {
                let begin = std::mem::replace(&mut self.begin, end + 1);
                return Ok(Some((&self.buffer[begin..end], true)));
            }
            if self.buffer.len() - self.begin > LONGEST_LINE {
                let reason = "it is longer than any record".to_owned();
                return Err(Damage {
                    line: number,
                    reason,
                }
                .into());
            }
            self.buffer.drain(..self.begin);
            self.begin = 0;
            searched = self.buffer.len();
            self.buffer.resize(searched + CHUNK, 0);
            let read = self
                .log
                .read_at(self.offset, &mut self.buffer[searched..])?;
            self.buffer.truncate(searched + read);
            self.offset += read as u64;
            if read == 0 {
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                let end = self.buffer.len();
                let begin = std::mem::replace(&mut self.begin, end);
                return Ok(Some((&self.buffer[begin..end], false)));
            }
        }
    }
}
