//! Text → tree, with everything that Go's decoder does on the way: keys in any case, the last of
//! several equal keys, null as nothing.

use std::borrow::Cow;
use std::sync::Arc;

use crate::json::{Cursor, Kind};
use crate::node::{Item, Mark, Node, Part, Step, Value, shown};
use crate::problem::Problem;
use crate::report::{Place, Report, Severity};
use crate::shape::{CONFIG, Holds, Shape};
use crate::text::shared::{Stretch, Text};
use crate::version::Version;

/// Where lines begin, to tell places in a text.
#[derive(Debug)]
pub(crate) struct Lines {
    source: Arc<str>,
    begins: Vec<usize>,
}

/// From how many bytes on a text is not copied.
const LONG: usize = 64;
/// How many bytes are looked at together.
const PIECE: usize = 256;

impl Lines {
    /// Looks for the lines of a text.
    pub(crate) fn of(source: &str, text: &[u8]) -> Self {
        let mut begins = vec![0];
        // Most pieces have no end of a line in them, which is seen for many bytes at once.
        for (number, piece) in text.chunks(PIECE).enumerate() {
            let ends = piece.iter().map(|byte| u8::from(*byte == b'\n'));
            if ends.fold(0, |any, one| any | one) != 0 {
                let ends = piece.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
                begins.extend(ends.map(|(at, _)| number * PIECE + at + 1));
            }
        }
        Self {
            source: source.into(),
            begins,
        }
    }

    /// Returns line and column of a byte.
    fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.begins.partition_point(|begin| *begin <= offset);
        let begin = self.begins.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (small(line), small(offset - begin + 1))
    }

    /// Names a place.
    pub(crate) fn place(&self, path: String, offset: usize) -> Place {
        let (line, column) = self.position(offset);
        Place {
            source: Arc::clone(&self.source),
            path,
            line,
            column,
        }
    }
}

/// Decodes a text that is known to be a JSON object.
///
/// If the whole text is given, long texts within it are held as parts of it.
pub(crate) fn decode(
    text: &[u8],
    whole: Option<&Arc<String>>,
    lines: &Lines,
    version: Version,
) -> (Node, Report) {
    let mut decoder = Decoder {
        cursor: Cursor::new(text),
        whole,
        lines,
        version,
        path: Vec::new(),
        report: Report::default(),
    };
    let config = Arc::new(Item {
        source: Arc::clone(&lines.source),
        above: None,
    });
    let root = decoder.part(&CONFIG, &config, None);
    (root, decoder.report)
}

struct Decoder<'t> {
    cursor: Cursor<'t>,
    whole: Option<&'t Arc<String>>,
    lines: &'t Lines,
    version: Version,
    path: Vec<Step>,
    report: Report,
}

impl Decoder<'_> {
    fn mark(&self, item: &Arc<Item>, offset: usize) -> Mark {
        let (line, column) = self.lines.position(offset);
        Mark {
            item: Arc::clone(item),
            line,
            column,
        }
    }

    /// Decodes an object, over one that an earlier equal key gave.
    fn part(&mut self, shape: &'static Shape, item: &Arc<Item>, over: Option<Node>) -> Node {
        let mark = self.mark(item, self.cursor.offset());
        let mut part = match over.map(|node| node.value) {
            Some(Value::Part(part)) => part,
            _ => Part {
                shape,
                fields: Vec::new(),
            },
        };
        self.cursor.enter();
        while self.cursor.next_item() {
            let at = self.cursor.offset();
            let key = self.cursor.key();
            let found = shape.find(&key, self.version);
            let is_exact = found.is_some_and(|index| shape.fields[index].name == key);
            if !is_exact {
                self.unused_key(&key, at);
            }
            let Some(index) = found else {
                self.cursor.skip();
                continue;
            };
            let field = &shape.fields[index];
            self.path.push(Step::Field(field.name));
            let before = part.take(index);
            let node = if field.is_plain && self.cursor.kind() == Kind::Null {
                // What cannot be absent cannot be taken back.
                self.cursor.skip();
                before
            } else {
                self.value(field.holds, item, before)
            };
            if let Some(node) = node {
                part.set(index, node);
            }
            self.path.pop();
        }
        // A config has thousands of these, and most have one field or two.
        part.fields.shrink_to_fit();
        Node {
            value: Value::Part(part),
            mark,
        }
    }

    /// Decodes the value of a field; none if it is null, or of a wrong type.
    fn value(&mut self, holds: Holds, item: &Arc<Item>, before: Option<Node>) -> Option<Node> {
        let mark = self.mark(item, self.cursor.offset());
        let value = match (holds, self.cursor.kind()) {
            (_, Kind::Null) => {
                self.cursor.skip();
                // Null takes back what an earlier equal key said, but not parts of an object.
                return before.filter(|_| matches!(holds, Holds::Part(_)));
            }
            (Holds::Text, Kind::Text) => Value::Text(self.text()),
            (Holds::Flag, Kind::Flag) => Value::Flag(self.cursor.flag()),
            (Holds::Number, Kind::Number) => {
                let offset = self.cursor.offset();
                let Some(number) = self.cursor.whole_number() else {
                    self.wrong_type(holds, "another number", offset);
                    return None;
                };
                Value::Number(number)
            }
            (Holds::Part(shape), Kind::Object) => return Some(self.part(shape, item, before)),
            (Holds::Texts | Holds::Parts(_), Kind::Array) => {
                let before = match before.map(|node| node.value) {
                    Some(Value::List(items)) => items,
                    _ => Vec::new(),
                };
                Value::List(self.list(holds, item, before))
            }
            (_, found) => {
                self.wrong_type(holds, found.noun(), self.cursor.offset());
                self.cursor.skip();
                return None;
            }
        };
        Some(Node { value, mark })
    }

    /// Decodes a text; a long one is held only once, if all of it means itself.
    fn text(&mut self) -> Text {
        let from = self.cursor.offset() + 1;
        let text = self.cursor.text();
        if let (Cow::Borrowed(text), Some(whole)) = (&text, self.whole)
            && text.len() >= LONG
            && let Some(stretch) = Stretch::new(whole, from, text.len())
        {
            return Text::Of(stretch);
        }
        Text::Own(text.into())
    }

    fn list(&mut self, holds: Holds, item: &Arc<Item>, before: Vec<Node>) -> Vec<Node> {
        let mut before = before.into_iter();
        let mut items = Vec::new();
        self.cursor.enter();
        while self.cursor.next_item() {
            let index = u32::try_from(items.len()).unwrap_or(u32::MAX);
            let inner = match holds {
                Holds::Parts(shape) => Holds::Part(shape),
                _ => Holds::Text,
            };
            self.path.push(Step::Index(index));
            let own = Arc::new(Item {
                source: Arc::clone(&item.source),
                above: Some((Arc::clone(item), index)),
            });
            let offset = self.cursor.offset();
            let node = self.value(inner, &own, before.next());
            // Null in a list is an item about which nothing is said.
            let nothing = || Node {
                value: match holds {
                    Holds::Parts(shape) => Value::Part(Part {
                        shape,
                        fields: Vec::new(),
                    }),
                    _ => Value::Text("".into()),
                },
                mark: self.mark(&own, offset),
            };
            items.push(node.unwrap_or_else(nothing));
            self.path.pop();
        }
        items.shrink_to_fit();
        items
    }

    fn unused_key(&mut self, key: &str, offset: usize) {
        let path = match shown(&self.path) {
            above if above.is_empty() => key.to_owned(),
            above => format!("{above}.{key}"),
        };
        let place = self.lines.place(path, offset);
        let problem = Problem::UnusedKey(key.to_owned());
        self.report.add(Severity::Warning, problem, place);
    }

    fn wrong_type(&mut self, holds: Holds, found: &'static str, offset: usize) {
        let place = self.lines.place(shown(&self.path), offset);
        let expected = holds.noun();
        let problem = Problem::WrongType { expected, found };
        self.report.add(Severity::Error, problem, place);
    }
}
