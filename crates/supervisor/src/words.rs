//! The last words of a process: the end of its log.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// How many lines are kept.
const LINES: usize = 40;
/// The most that is read of a log.
const BYTES: u64 = 32 << 10;
/// The longest line that is kept; some programs print their whole configuration as one.
const LONGEST: usize = 1000;

/// Returns the last lines of a log behind a place in it, oldest first.
pub(crate) fn last_words(log: &Path, behind: u64) -> io::Result<Vec<String>> {
    let mut file = File::open(log)?;
    let end = file.metadata()?.len();
    let from = behind.max(end.saturating_sub(BYTES)).min(end);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text.lines().collect();
    if from > behind && lines.len() > 1 {
        // The first one was probably cut.
        lines.remove(0);
    }
    let shown = lines.len().saturating_sub(LINES);
    Ok(lines[shown..].iter().map(|line| cut(line)).collect())
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_this_life_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "of the life before\nfirst\nlast").unwrap();
        assert_eq!(last_words(&log, 19).unwrap(), ["first", "last"]);
        assert_eq!(last_words(&log, 9999).unwrap(), [""; 0]);
        let many: Vec<String> = (0..10_000).map(|n| format!("line {n}")).collect();
        std::fs::write(&log, many.join("\n")).unwrap();
        let words = last_words(&log, 0).unwrap();
        assert_eq!(words.len(), LINES);
        assert_eq!(words[LINES - 1], "line 9999");
        std::fs::write(&log, "ä".repeat(2000)).unwrap();
        let words = last_words(&log, 0).unwrap();
        assert_eq!(words[0].chars().count(), LONGEST + 1);
    }
}
