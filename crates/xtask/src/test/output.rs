//! Reads what `cargo test` prints: which binaries ran, and what came of their tests.

/// One test binary.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Binary {
    /// What cargo calls it; how to run it again, once cargo has said that.
    pub(crate) name: String,
    /// How many tests passed.
    pub(crate) passed: u64,
    /// Every test that passed and whose line could be read.
    pub(crate) passes: Vec<String>,
    /// The tests that failed.
    pub(crate) failed: Vec<String>,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Whether it came to its end.
    pub(crate) has_result: bool,
}

/// Follows the output line by line.
#[derive(Debug, Default)]
pub(crate) struct Output {
    ended: Vec<Binary>,
    current: Option<Binary>,
    /// The names of the latest list of failures.
    listed: Vec<String>,
}

impl Output {
    /// Takes the next line, stdout and stderr alike.
    pub(crate) fn line(&mut self, line: &str) {
        // With the spaces by which cargo aligns its words: tests say that something is running, too.
        if let Some(name) = line.strip_prefix("     Running ") {
            self.begin(name);
        } else if let Some(name) = line.strip_prefix("   Doc-tests ") {
            self.begin(&format!("doc-tests of {name}"));
        } else if line == "failures:" {
            self.listed.clear();
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.result(result);
        } else if let Some(rest) = line.strip_prefix("test ") {
            if let (Some(binary), Some(name)) = (&mut self.current, rest.strip_suffix(" ... ok")) {
                binary.passes.push(name.into());
            }
        } else if let Some(name) = line.strip_prefix("    ") {
            self.listed.push(name.into());
        } else if let Some((_, words)) = line.split_once("test failed, to rerun pass `")
            && let Some(binary) = &mut self.current
        {
            binary.name = words.trim_end_matches('`').into();
        }
    }

    /// Ends the output and returns all binaries. One that was cut off counts as failed.
    pub(crate) fn end(mut self) -> Vec<Binary> {
        self.close();
        self.ended
    }

    fn begin(&mut self, name: &str) {
        self.close();
        // `tests/it/main.rs (target/debug/deps/it-0123456789abcdef)`
        let (source, file) = name.split_once(" (").unwrap_or((name, ""));
        let file = file.trim_end_matches(')');
        let file = file.rsplit_once('/').map_or(file, |(_, file)| file);
        let crate_name = file.rsplit_once('-').map_or(file, |(name, _)| name);
        let name = if source.contains("src/") {
            format!("{crate_name} ({})", source.trim_start_matches("unittests "))
        } else {
            source.to_owned()
        };
        self.current = Some(Binary {
            name,
            ..Binary::default()
        });
    }

    fn close(&mut self) {
        if let Some(mut binary) = self.current.take() {
            if !binary.has_result {
                let cut = "(it ended without a result: killed, or out of memory)";
                binary.failed.push(cut.into());
            }
            self.ended.push(binary);
        }
    }

    /// Takes a result. A test that runs others may print theirs, so the last one counts.
    fn result(&mut self, words: &str) {
        let Some(binary) = &mut self.current else {
            return;
        };
        let count = |of: &str| {
            let part = words.split([';', '.']).find(|part| part.ends_with(of));
            let number = part.and_then(|part| part.trim().split(' ').next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        binary.passed = count(" passed");
        let failed: usize = count(" failed").try_into().unwrap_or(usize::MAX);
        binary.failed = self.listed.clone();
        binary.failed.truncate(failed);
        while binary.failed.len() < failed {
            binary
                .failed
                .push("(a test whose name was not printed)".into());
        }
        let took = words.rsplit_once("finished in ");
        let took = took.and_then(|(_, took)| took.trim_end_matches('s').parse().ok());
        binary.seconds = took.unwrap_or(0.0);
        binary.has_result = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Binary> {
        let mut output = Output::default();
        text.lines().for_each(|line| output.line(line));
        output.end()
    }

    #[test]
    fn every_binary_is_counted_and_failures_have_their_names() {
        let binaries = read(
            "\
   Compiling bootlace v0.1.0
     Running unittests src/lib.rs (target/debug/deps/bootlace_engine-0123456789abcdef)

running 3 tests
test a::one ... ok
test a::two ... ignored, slow: why
test a::three ... ok

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.25s

     Running tests/it/main.rs (target/debug/deps/it-0123456789abcdef)

running 2 tests
test good ... ok
test bad::one ... FAILED

failures:

---- bad::one stdout ----
thread panicked:
    indented words of the test

failures:
    bad::one

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 3.50s

error: test failed, to rerun pass `-p bootlace --test it`
   Doc-tests bootlace_model
running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: 1 target failed:
    `-p bootlace --test it`
",
        );
        let [unit, it, doc] = binaries.as_slice() else {
            panic!("{binaries:#?}")
        };
        assert_eq!(unit.name, "bootlace_engine (src/lib.rs)");
        assert_eq!((unit.passed, unit.failed.len()), (2, 0));
        assert_eq!(unit.passes, ["a::one", "a::three"]);
        assert_eq!(it.name, "-p bootlace --test it");
        assert_eq!(
            (it.passed, it.failed.as_slice()),
            (1, ["bad::one".to_owned()].as_slice())
        );
        assert!((it.seconds - 3.5).abs() < 0.01);
        assert_eq!(doc.name, "doc-tests of bootlace_model");
    }

    #[test]
    fn a_binary_that_is_killed_has_failed() {
        let binaries = read(
            "
     Running tests/machines/main.rs (target/debug/deps/machines-0123456789abcdef)
running 2 tests
test good ... ok
error: test failed, to rerun pass `-p bootlace --test machines`
",
        );
        assert_eq!(binaries[0].name, "-p bootlace --test machines");
        assert_eq!(binaries[0].failed.len(), 1, "{binaries:?}");
    }

    #[test]
    fn what_a_test_prints_of_others_does_not_count() {
        let binaries = read(
            "
     Running tests/it/main.rs (target/debug/deps/it-0123456789abcdef)
failures:
---- outer stdout ----
failures:
    inner
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s
failures:
    outer

test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s
",
        );
        assert_eq!(binaries.len(), 1);
        assert_eq!(binaries[0].failed, ["outer"]);
        assert_eq!(binaries[0].passed, 4);
    }
}
