//! What must hold for any input; the fuzz targets in `fuzz/` call it with what they make up.
//!
//! Each function takes one input, and panics if the server would treat it wrongly. The files in
//! `fuzz/corpus` go through the same functions in the tests of this crate.

mod accept;
mod path;
mod token;

pub use accept::accept;
pub use path::path;
pub use token::token;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests read the corpus")]
mod tests {
    use std::path::Path;

    /// Checks every file of a corpus, and says how many there are.
    fn check(target: &str, check: fn(&[u8])) {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        let files: Vec<_> = std::fs::read_dir(corpus.join(target))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(files.len() >= 4, "{target} has a corpus of {files:?}");
        for file in files {
            println!("{}", file.display());
            check(&std::fs::read(file).unwrap());
        }
    }

    #[test]
    fn every_header_of_the_corpus_is_answered_with_a_served_version() {
        check("accept", super::accept);
    }

    #[test]
    fn every_path_of_the_corpus_leads_to_its_own_pool_or_none() {
        check("paths", super::path);
    }

    #[test]
    fn every_tokens_file_of_the_corpus_admits_only_valid_tokens() {
        check("tokens", super::token);
    }
}
