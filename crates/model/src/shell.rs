//! The line a person would type, quoted so that it can be pasted.

/// Quotes one word for a POSIX shell; plain words stay as they are.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Joins words into a line, each quoted.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Writes a mode the way `install -m` and `chmod` take it.
pub fn mode(mode: u32) -> String {
    format!("{mode:04o}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(
            line(["cp", "a b", "it's", "", "x=1"]),
            r"cp 'a b' 'it'\''s' '' x=1"
        );
        assert_eq!(mode(0o600), "0600");
    }
}
