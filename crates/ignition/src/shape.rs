//! Which parts a config has: every field, since which version, and how lists of it are merged.

mod tables;

pub(crate) use tables::CONFIG;

use crate::version::Version;

/// A kind of part: an object with named fields.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Its fields, by name.
    pub(crate) fields: &'static [Field],
    /// What tells two items of a list apart.
    pub(crate) key: Key,
}

/// What tells two items of a list apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// It is never in a list.
    None,
    /// The text of a field.
    Field(&'static str),
    /// The number if there is one, else the label.
    Partition,
}

/// A field of a part.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name, as it is written.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) holds: Holds,
    /// The version that it came with.
    pub(crate) since: Version,
    /// Whether nothing and an empty value are the same; the child's counts in a merge, even if empty.
    pub(crate) is_plain: bool,
    /// How two lists become one.
    pub(crate) merging: Merging,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holds {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// A part.
    Part(&'static Shape),
    /// A list of texts.
    Texts,
    /// A list of parts.
    Parts(&'static Shape),
}

impl Holds {
    /// Names what is expected, for people.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a whole number",
            Self::Flag => "true or false",
            Self::Part(_) => "an object",
            Self::Texts => "a list of texts",
            Self::Parts(_) => "a list of objects",
        }
    }
}

/// How two lists become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    /// Items of the same key are one; keys are unique among all lists of the part with the same name here.
    ByKey(&'static str),
    /// All items of both, one list after the other; keys may repeat.
    All,
}

impl Shape {
    /// Finds a field as Go does: by its name, else by its name in any case.
    pub(crate) fn find(&self, key: &str, version: Version) -> Option<usize> {
        let known = |field: &&Field| field.since <= version;
        let fields = || self.fields.iter().filter(known);
        let found = fields()
            .find(|field| field.name == key)
            .or_else(|| fields().find(|field| is_same_but_for_case(field.name, key)))?;
        self.position(found.name)
    }

    /// Returns the number of a field.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// Compares names without regard to case. Two letters outside of ASCII count as letters of it.
pub(crate) fn is_same_but_for_case(name: &str, key: &str) -> bool {
    let folded = |text: &str| -> Vec<char> {
        let fold = |character: char| match character {
            '\u{212a}' => 'k',
            '\u{17f}' => 's',
            other => other.to_ascii_lowercase(),
        };
        text.chars().map(fold).collect()
    };
    folded(name) == folded(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function for every shape.
    fn visit(shape: &'static Shape, depth: usize, seen: &mut dyn FnMut(&'static Shape)) {
        assert!(depth < 12, "shapes do not contain themselves");
        seen(shape);
        for field in shape.fields {
            if let Holds::Part(inner) | Holds::Parts(inner) = field.holds {
                visit(inner, depth + 1, seen);
            }
        }
    }

    #[test]
    fn tables_are_sound() {
        let mut shapes = 0;
        visit(&CONFIG, 0, &mut |shape| {
            shapes += 1;
            assert!(shape.fields.len() < 256);
            let names: Vec<&str> = shape.fields.iter().map(|field| field.name).collect();
            assert!(names.is_sorted(), "{names:?}");
            if let Key::Field(name) = shape.key {
                assert!(names.contains(&name), "{name} is not in {names:?}");
            }
            for field in shape.fields {
                if let Holds::Parts(inner) = field.holds
                    && field.merging != Merging::All
                {
                    assert_ne!(inner.key, Key::None, "{}", field.name);
                }
            }
        });
        assert!(shapes > 30);
    }

    #[test]
    fn fields_are_found_in_any_case_and_only_in_their_versions() {
        let find = |key: &str, version| {
            let found = CONFIG.find(key, version);
            found.map(|at| CONFIG.fields[at].name)
        };
        assert_eq!(find("storage", Version::V3_0), Some("storage"));
        assert_eq!(find("\u{17f}TORAGE", Version::V3_0), Some("storage"));
        assert_eq!(find("kernelArguments", Version::V3_2), None);
        assert_eq!(
            find("KERNELarguments", Version::V3_3),
            Some("kernelArguments")
        );
    }
}
