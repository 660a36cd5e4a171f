//! Typed facts: what is known of the world when a step is planned.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::ids::StepId;
use crate::probe::{Answer, FileTree, Probe};

/// Names a fact and its type; `facts.get(&FACT)` is that type, checked by the compiler.
#[derive(Debug)]
pub struct Fact<T> {
    name: &'static str,
    kind: PhantomData<fn() -> T>,
}

impl<T: FromAnswer> Fact<T> {
    /// Names a fact; names are unique over all sequences.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            kind: PhantomData,
        }
    }

    /// Returns the name, for journals and checks.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Says how the fact is found out.
    pub fn from(&self, probe: Probe) -> Ask {
        Ask {
            fact: self.name,
            probe,
        }
    }
}

/// A fact by name, and the probe that answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// Which fact.
    pub fact: &'static str,
    /// What to ask.
    pub probe: Probe,
}

/// What can be made from an answer.
pub trait FromAnswer: Sized {
    /// Takes the answer apart, or says what was expected.
    fn from_answer(answer: &Answer) -> Result<Self, String>;
}

impl FromAnswer for FileTree {
    fn from_answer(answer: &Answer) -> Result<Self, String> {
        match answer {
            Answer::Tree(tree) => Ok(tree.clone()),
            other => Err(format!("a tree of files was expected, not {other:?}")),
        }
    }
}

/// The content of a file that may be absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent(pub Option<Vec<u8>>);

impl FromAnswer for FileContent {
    fn from_answer(answer: &Answer) -> Result<Self, String> {
        match answer {
            Answer::Content(content) => Ok(Self(content.clone())),
            other => Err(format!("a file's content was expected, not {other:?}")),
        }
    }
}

impl<T: DeserializeOwned> FromAnswer for T {
    fn from_answer(answer: &Answer) -> Result<Self, String> {
        match answer {
            Answer::Json(value) => T::deserialize(value).map_err(|error| error.to_string()),
            other => Err(format!("a JSON value was expected, not {other:?}")),
        }
    }
}

/// Why a fact could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// The step that yields it has not run yet, so a plan stops here and says so.
    #[error("{fact} is known after {after}")]
    NotYet {
        /// Which fact.
        fact: &'static str,
        /// Which step yields it.
        after: StepId,
    },
    /// No probe and no earlier step yields it: a defect that a test over all sequences finds.
    #[error("nothing yields the fact {fact}")]
    Missing {
        /// Which fact.
        fact: &'static str,
    },
    /// The answer is not of the fact's type.
    #[error("the fact {fact} is not what it should be: {reason}")]
    Wrong {
        /// Which fact.
        fact: &'static str,
        /// What was expected.
        reason: String,
    },
}

/// The facts that a step may use: its own answers and what earlier steps yielded.
#[derive(Debug, Clone, Default)]
pub struct Facts(BTreeMap<String, Answer>);

impl Facts {
    /// Adds or replaces a fact.
    pub fn set(&mut self, name: impl Into<String>, answer: Answer) {
        self.0.insert(name.into(), answer);
    }

    /// Returns the raw answer.
    pub fn answer(&self, name: &str) -> Option<&Answer> {
        self.0.get(name)
    }

    /// Returns a fact as its type.
    pub fn get<T: FromAnswer>(&self, fact: &Fact<T>) -> Result<T, FactError> {
        let fact = fact.name;
        match self.0.get(fact) {
            None => Err(FactError::Missing { fact }),
            Some(Answer::KnownAfter(step)) => Err(FactError::NotYet {
                fact,
                after: step.clone(),
            }),
            Some(answer) => {
                T::from_answer(answer).map_err(|reason| FactError::Wrong { fact, reason })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Fact<String> = Fact::new("test.name");

    #[test]
    fn facts_are_typed_and_say_why_they_are_missing() {
        let mut facts = Facts::default();
        assert_eq!(
            facts.get(&NAME),
            Err(FactError::Missing { fact: "test.name" })
        );
        facts.set("test.name", Answer::KnownAfter(StepId::new("s", "a")));
        assert!(matches!(facts.get(&NAME), Err(FactError::NotYet { .. })));
        facts.set("test.name", Answer::Json(serde_json::json!(7)));
        assert!(matches!(facts.get(&NAME), Err(FactError::Wrong { .. })));
        facts.set("test.name", Answer::Json(serde_json::json!("x")));
        assert_eq!(facts.get(&NAME).as_deref(), Ok("x"));
    }
}
