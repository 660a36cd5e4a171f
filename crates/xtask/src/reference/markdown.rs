//! Plain text in a page of markup.

/// Keeps a text from being read as markup: `*` and `<` stand in patterns and placeholders.
pub(super) fn literal(text: &str) -> String {
    let mut quoted = false;
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        quoted ^= letter == '`';
        if !quoted && matches!(letter, '*' | '<' | '>' | '_') {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

/// Makes a sentence of a phrase.
pub(super) fn sentence(phrase: &str) -> String {
    let phrase = literal(phrase);
    let mut letters = phrase.chars();
    let first = letters.next().map(char::to_uppercase);
    let first: String = first.into_iter().flatten().collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_literal_outside_of_code() {
        assert_eq!(literal("a_b `c_d` <e>"), "a\\_b `c_d` \\<e\\>");
    }

    #[test]
    fn phrases_become_sentences() {
        assert_eq!(sentence("the disk is full"), "The disk is full.");
        assert_eq!(sentence("`df` shows it"), "`df` shows it.");
    }
}
