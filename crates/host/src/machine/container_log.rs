//! The last lines of a container's log, which may be very long.
//!
//! Each line in the file begins with a time, a stream and a tag: `2026-01-02T03:04:05Z stderr F text`.
//! The tag `P` marks a part of a line that goes on in the next.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use bootlace_engine::port::HostResult;
use bootlace_model::path::TargetPath;
use rustix::fs::{Mode, OFlags};

use crate::RealHost;
use crate::error::{refused, senseless};

/// The most that is read of a log.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the last lines of a log, oldest first; none if there is no log.
pub(super) fn tail(host: &RealHost, log: &str, lines: usize) -> HostResult<Vec<String>> {
    let bad = |_| senseless("read", log, "it is not the path of a log");
    let path = TargetPath::new(log).map_err(bad)?;
    let folder = path.parent().map(|above| host.open(&above)).transpose()?;
    let Some((folder, _)) = folder.flatten() else {
        return Ok(vec![]);
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(&folder.handle, path.name(), flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(vec![]),
        Err(errno) => return Err(refused("read", log, errno)),
    };
    let bytes = end_of(&file).map_err(|error| refused("read", log, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut found = spoken(&text);
    Ok(found.split_off(found.len().saturating_sub(lines)))
}

/// Reads the end of a file, from the beginning of a line.
fn end_of(file: &File) -> std::io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let begin = length.saturating_sub(MOST_BYTES);
    let size = usize::try_from(length - begin).unwrap_or_default();
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while filled < size {
        match file.read_at(&mut bytes[filled..], begin + filled as u64)? {
            0 => break,
            more => filled += more,
        }
    }
    bytes.truncate(filled);
    if begin > 0 {
        let whole = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(filled, |at| at + 1);
        bytes.drain(..whole);
    }
    Ok(bytes)
}

/// Takes out what the container itself wrote, and puts lines together that came in parts.
fn spoken(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // What each stream has said of a line that is not complete.
    let mut begun: [String; 2] = Default::default();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let (_, stream, tag) = (words.next(), words.next(), words.next());
        let is_marked = matches!(stream, Some("stdout" | "stderr"));
        let (Some(tag), true) = (tag, is_marked) else {
            lines.push(line.to_owned());
            continue;
        };
        let open = &mut begun[usize::from(stream == Some("stderr"))];
        open.push_str(words.next().unwrap_or_default());
        // Further tags may follow the first after a colon.
        if tag.split(':').next() != Some("P") {
            lines.push(std::mem::take(open));
        }
    }
    lines.extend(begun.into_iter().filter(|open| !open.is_empty()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_container_wrote_is_left() {
        let text = "2026-01-02T03:04:05.6Z stderr F one  two\n\
                    2026-01-02T03:04:05.7Z stdout P begin, \n\
                    2026-01-02T03:04:05.7Z stderr F other\n\
                    2026-01-02T03:04:05.8Z stdout F end\n\
                    2026-01-02T03:04:05.9Z stdout F \n\
                    not marked at all\n\
                    2026-01-02T03:04:06.0Z stdout P:x unfinished";
        assert_eq!(
            spoken(text),
            [
                "one  two",
                "other",
                "begin, end",
                "",
                "not marked at all",
                "unfinished"
            ]
        );
    }

    #[test]
    fn of_a_long_log_only_whole_lines_at_the_end_are_read() {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().unwrap();
        let line = format!("{}\n", "x".repeat(999));
        for _ in 0..2_000 {
            file.write_all(line.as_bytes()).unwrap();
        }
        let end = end_of(&file).unwrap();
        assert_eq!(end.len(), (1 << 20) / 1000 * 1000);
        assert!(end.starts_with(b"xxx") && end.ends_with(b"x\n"));
    }
}
