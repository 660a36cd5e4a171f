//! Values of a config, each with the place where it was written.

use std::borrow::Cow;
use std::sync::Arc;

use crate::report::Place;
use crate::shape::{Key, Shape};
use crate::text::shared::{Stretch, Text};

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) mark: Mark,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(Text),
    Number(i64),
    Flag(bool),
    Part(Part),
    List(Vec<Node>),
}

/// An object: the fields that were given, by their number in the shape, sorted.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) shape: &'static Shape,
    pub(crate) fields: Vec<(u8, Node)>,
}

/// Where a value was written.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// The item of a list around it, or the config itself.
    pub(crate) item: Arc<Item>,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// An item of a list as it was written, or a whole config.
#[derive(Debug)]
pub(crate) struct Item {
    /// What the config is called.
    pub(crate) source: Arc<str>,
    /// The item around this one and the place of this one in its list; none for a whole config.
    pub(crate) above: Option<(Arc<Self>, u32)>,
}

impl Item {
    /// Lists the places in lists that lead here, outermost first.
    pub(crate) fn indexes(&self) -> Vec<u32> {
        let mut indexes = Vec::new();
        let mut here = &self.above;
        while let Some((item, index)) = here {
            indexes.push(*index);
            here = &item.above;
        }
        indexes.reverse();
        indexes
    }
}

impl Mark {
    /// Tells where a value was written, given its path in the tree that it is part of now.
    pub(crate) fn place(&self, path: &[Step]) -> Place {
        let mut indexes = self.item.indexes().into_iter();
        let names: Vec<Cow<'static, str>> = path
            .iter()
            .map(|step| match step {
                Step::Field(name) => Cow::Borrowed(*name),
                // Lists may have been merged: what counts is where it stood in its own config.
                Step::Index(now) => indexes.next().unwrap_or(*now).to_string().into(),
            })
            .collect();
        Place {
            source: Arc::clone(&self.item.source),
            path: names.join("."),
            line: self.line,
            column: self.column,
        }
    }
}

/// A step from a value to one within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Field(&'static str),
    Index(u32),
}

/// Writes a path for people.
pub(crate) fn shown(path: &[Step]) -> String {
    let names: Vec<Cow<'static, str>> = path
        .iter()
        .map(|step| match step {
            Step::Field(name) => Cow::Borrowed(*name),
            Step::Index(index) => index.to_string().into(),
        })
        .collect();
    names.join(".")
}

impl Part {
    /// Returns a field by its number.
    pub(crate) fn at(&self, index: usize) -> Option<&Node> {
        let found = self.fields.iter().find(|(at, _)| usize::from(*at) == index);
        found.map(|(_, node)| node)
    }

    /// Sets a field by its number.
    pub(crate) fn set(&mut self, index: usize, node: Node) {
        let Ok(index) = u8::try_from(index) else {
            return;
        };
        match self.fields.binary_search_by_key(&index, |(at, _)| *at) {
            Ok(at) => self.fields[at].1 = node,
            Err(at) => self.fields.insert(at, (index, node)),
        }
    }

    /// Takes a field out.
    pub(crate) fn take(&mut self, index: usize) -> Option<Node> {
        let at = self
            .fields
            .iter()
            .position(|(at, _)| usize::from(*at) == index)?;
        Some(self.fields.remove(at).1)
    }
}

impl Node {
    /// Returns the object that this is.
    pub(crate) fn part(&self) -> Option<&Part> {
        match &self.value {
            Value::Part(part) => Some(part),
            _ => None,
        }
    }

    /// Returns a field.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let part = self.part()?;
        part.at(part.shape.position(name)?)
    }

    /// Returns a field of a field of …
    pub(crate) fn find(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    /// Returns the text that this is.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the stretch of a whole text that a field is, if it is one.
    pub(crate) fn stretch(&self, name: &str) -> Option<&Stretch> {
        match &self.get(name)?.value {
            Value::Text(Text::Of(stretch)) => Some(stretch),
            _ => None,
        }
    }

    /// Returns the text of a field.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// Returns the text of a field, unless it is empty.
    pub(crate) fn some_text(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Returns the number of a field.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        match self.get(name)?.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the flag of a field.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// Tells whether the flag of a field is set.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    /// Returns the items of a field.
    pub(crate) fn items(&self, name: &str) -> &[Self] {
        match self.get(name).map(|node| &node.value) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// Returns what tells this item of a list apart from others.
    pub(crate) fn key(&self) -> Cow<'_, str> {
        let part = match &self.value {
            Value::Text(text) => return Cow::Borrowed(text),
            Value::Part(part) => part,
            _ => return Cow::Borrowed(""),
        };
        match part.shape.key {
            Key::None => Cow::Borrowed(""),
            Key::Field(name) => Cow::Borrowed(self.text(name).unwrap_or_default()),
            Key::Partition => match (self.number("number"), self.text("label")) {
                (Some(number), _) if number != 0 => Cow::Owned(format!("number:{number}")),
                (_, Some(label)) => Cow::Owned(format!("label:{label}")),
                _ => Cow::Borrowed(""),
            },
        }
    }

    /// Tells whether nothing is said here.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.value {
            Value::Part(part) => part.fields.iter().all(|(_, node)| node.is_empty()),
            Value::List(items) => items.is_empty(),
            _ => false,
        }
    }

    /// Writes the value as JSON, without empty parts.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) => (**text).into(),
            Value::Number(number) => (*number).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Part(part) => {
                let fields = part.fields.iter().filter(|(_, node)| !node.is_empty());
                let named = fields.map(|(at, node)| {
                    let name = part.shape.fields.get(usize::from(*at));
                    let name = name.map_or("", |field| field.name);
                    (name.to_owned(), node.to_json())
                });
                serde_json::Value::Object(named.collect())
            }
        }
    }
}
