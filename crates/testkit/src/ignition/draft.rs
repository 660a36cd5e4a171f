//! JSON before it is written: keys keep their order, may be there twice, and anything may stand in it.

use crate::dice::Dice;

/// A value before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// Keys and values in their order.
    Object(Vec<(String, Self)>),
    /// Values in their order.
    List(Vec<Self>),
    /// Text, which is escaped when it is written.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A truth value.
    Flag(bool),
    /// Written as it is, JSON or not.
    Raw(String),
}

impl From<&str> for Draft {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Draft {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Draft {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Draft {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Vec<Self>> for Draft {
    fn from(values: Vec<Self>) -> Self {
        Self::List(values)
    }
}

/// Where a value is: the number of the child at each level.
pub type Place = Vec<usize>;

impl Draft {
    /// Begins an object without keys.
    pub fn object() -> Self {
        Self::Object(vec![])
    }

    /// Writes null.
    pub fn null() -> Self {
        Self::Raw("null".into())
    }

    /// Adds a key at the end of an object, even if it is there; anything else stays as it is.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Self>) -> Self {
        self.put(key, value);
        self
    }

    /// Adds a key at the end of an object, even if it is there; anything else stays as it is.
    pub fn put(&mut self, key: &str, value: impl Into<Self>) {
        if let Self::Object(pairs) = self {
            pairs.push((key.to_owned(), value.into()));
        }
    }

    /// Adds a list, unless it is empty.
    pub fn put_list(&mut self, key: &str, values: Vec<Self>) {
        if !values.is_empty() {
            self.put(key, values);
        }
    }

    /// Adds an object, unless it is empty.
    pub fn put_object(&mut self, key: &str, value: Self) {
        if value.children().next().is_some() {
            self.put(key, value);
        }
    }

    /// Returns the value of a key, the first if it is there twice.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(pairs) = self else {
            return None;
        };
        pairs
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns the values of a list at some keys; none if there is no list.
    pub fn list(&self, keys: &[&str]) -> &[Self] {
        let found = keys.iter().try_fold(self, |draft, key| draft.get(key));
        match found {
            Some(Self::List(values)) => values,
            _ => &[],
        }
    }

    /// Lists what is directly in it.
    pub fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Object(pairs) => Box::new(pairs.iter().map(|(_, value)| value)),
            Self::List(values) => Box::new(values.iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Lists the places of all values for which something holds, with the keys that lead there.
    pub fn places(&self, holds: &dyn Fn(&[&str], &Self) -> bool) -> Vec<Place> {
        let mut found = Vec::new();
        self.search(&mut vec![], &mut vec![], holds, &mut found);
        found
    }

    fn search<'a>(
        &'a self,
        keys: &mut Vec<&'a str>,
        place: &mut Place,
        holds: &dyn Fn(&[&str], &Self) -> bool,
        found: &mut Vec<Place>,
    ) {
        if holds(keys, self) {
            found.push(place.clone());
        }
        for (number, child) in self.children().enumerate() {
            place.push(number);
            if let Self::Object(pairs) = self {
                keys.extend(pairs.get(number).map(|(key, _)| key.as_str()));
            }
            child.search(keys, place, holds, found);
            if matches!(self, Self::Object(_)) {
                keys.pop();
            }
            place.pop();
        }
    }

    /// Returns the value at a place.
    pub fn at_mut(&mut self, place: &[usize]) -> Option<&mut Self> {
        place.iter().try_fold(self, |draft, number| match draft {
            Self::Object(pairs) => pairs.get_mut(*number).map(|(_, value)| value),
            Self::List(values) => values.get_mut(*number),
            _ => None,
        })
    }

    /// Brings the keys of all objects into another order.
    pub fn shuffle(&mut self, dice: &mut Dice) {
        match self {
            Self::Object(pairs) => {
                for last in (1..pairs.len()).rev() {
                    pairs.swap(last, dice.index(last + 1));
                }
                for (_, value) in pairs {
                    value.shuffle(dice);
                }
            }
            Self::List(values) => values.iter_mut().for_each(|value| value.shuffle(dice)),
            _ => {}
        }
    }

    /// Writes it without any space.
    pub fn compact(&self) -> String {
        let mut text = String::new();
        self.write_to(&mut text, &mut |_| "");
        text
    }

    /// Writes it with spaces and lines as the dice want them.
    pub fn write(&self, dice: &mut Dice) -> String {
        const SPACES: [&str; 6] = ["", "", " ", "\n", "\n    ", " \r\n\t"];
        let mut text = String::new();
        if dice.percent(20) {
            return self.compact();
        }
        self.write_to(&mut text, &mut |_| {
            SPACES.get(dice.index(SPACES.len())).copied().unwrap_or("")
        });
        text
    }

    fn write_to(&self, to: &mut String, space: &mut dyn FnMut(&Self) -> &'static str) {
        match self {
            Self::Object(pairs) => {
                to.push('{');
                for (number, (key, value)) in pairs.iter().enumerate() {
                    to.push_str(if number == 0 { "" } else { "," });
                    to.push_str(space(self));
                    to.push_str(&quoted(key));
                    to.push_str(space(self));
                    to.push(':');
                    to.push_str(space(self));
                    value.write_to(to, space);
                }
                to.push_str(space(self));
                to.push('}');
            }
            Self::List(values) => {
                to.push('[');
                for (number, value) in values.iter().enumerate() {
                    to.push_str(if number == 0 { "" } else { "," });
                    to.push_str(space(self));
                    value.write_to(to, space);
                }
                to.push_str(space(self));
                to.push(']');
            }
            Self::Text(text) => to.push_str(&quoted(text)),
            Self::Number(number) => to.push_str(&number.to_string()),
            Self::Flag(flag) => to.push_str(if *flag { "true" } else { "false" }),
            Self::Raw(raw) => to.push_str(raw),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Draft {
        Draft::object()
            .with("a", vec![Draft::from(1), Draft::from("é\n")])
            .with("a", Draft::object().with("b", true))
            .with("c", Draft::Raw("oops".into()))
    }

    #[test]
    fn what_is_written_is_what_was_put_there() {
        assert_eq!(
            sample().compact(),
            r#"{"a":[1,"é\n"],"a":{"b":true},"c":oops}"#
        );
        let spaced = sample().write(&mut Dice::new(3));
        let spaceless: String = spaced.split_whitespace().collect();
        assert_eq!(spaceless, sample().compact());
        assert_ne!(spaced, spaceless);
    }

    #[test]
    fn places_lead_back_to_their_values() {
        let mut draft = sample();
        let places = draft.places(&|keys, draft| keys == ["a", "b"] && *draft == Draft::Flag(true));
        assert_eq!(places, [vec![1, 0]]);
        *draft.at_mut(&places[0]).unwrap() = Draft::null();
        assert!(draft.compact().contains(r#""b":null"#));
        assert_eq!(draft.at_mut(&[7]), None);
    }
}
