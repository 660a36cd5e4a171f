//! Configs that can be read, nearly all of them, and that ask for what nobody should give.

use std::collections::BTreeSet;

use bootlace_testkit::dice::Dice;
use serde_json::{Map, Value, json};

use super::place::TRAPS;

/// Names that are put below traps.
const NAMES: &[&str] = &[
    "new",
    "x",
    "file",
    "dir",
    "inner",
    "leaf",
    "ü",
    "with space",
    "...",
    "%2e%2e",
    "-rf",
    "a:b",
];
/// Texts that are no clean paths.
const DIRTY: &[&str] = &[
    "",
    "/",
    ".",
    "..",
    "/..",
    "/../outside/file",
    "/a/../../outside/file",
    "//a/file",
    "/a//file",
    "/a/./file",
    "/a/file/",
    "a/file",
    "/a/x\u{0}y",
    "/a/x\ny",
    "~/file",
    "file:///a/file",
];
const UNITS: &[&str] = &[
    "a.service",
    "b.service",
    "c@.service",
    "c@1.service",
    "c@..service",
    "-.mount",
    ".service",
    "../x.service",
    "../../../outside/x.service",
    "a/b.service",
    "a.service ",
    "ä.service",
    "x.target",
    "a.service.d",
    "\u{0}.service",
    "",
];
const DROPINS: &[&str] = &[
    "10.conf",
    "20.conf",
    "../../../outside/x.conf",
    "a/b.conf",
    ".conf",
    "..conf",
    "ü.conf",
    "",
];
const MODES: &[i64] = &[
    0,
    0o644,
    0o777,
    0o7777,
    0o4755,
    0o2755,
    0o1000,
    0o10000,
    -1,
    1 << 40,
];
const IDS: &[i64] = &[
    0,
    1,
    7,
    65_534,
    4_294_967_294,
    4_294_967_295,
    1 << 32,
    -1,
    i64::MIN,
    i64::MAX,
];
const OWNERS: &[&str] = &[
    "root",
    "ghost",
    "",
    "../../etc/passwd",
    "a:b",
    "root\nghost",
];
const SOURCES: &[&str] = &[
    "data:,x",
    "data:,",
    "data:;base64,aGVsbG8=",
    "data:;base64,!",
    "data:",
    "",
    "file:///etc/passwd",
    "s3://a/b",
    "data:,%zz",
    "gopher://a",
];

/// Makes a config; some are spoilt so that they can hardly be read.
pub(super) fn hostile(dice: &mut Dice, outside: &str) -> Vec<u8> {
    let mut maker = Maker {
        dice,
        outside,
        taken: BTreeSet::new(),
    };
    let config = maker.config();
    let mut text = config.to_string().into_bytes();
    if dice.percent(10) {
        spoil(&mut text, dice);
    }
    text
}

/// Spoils a text in a few places.
fn spoil(text: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let at = dice.index(text.len());
        match dice.below(4) {
            0 => text.truncate(at),
            1 => text.insert(at, dice.below(256).to_le_bytes()[0]),
            2 => drop(text.drain(at..(at + 7).min(text.len()))),
            _ => {
                let piece = text[at..(at + 40).min(text.len())].to_vec();
                text.splice(at..at, piece);
            }
        }
    }
}

struct Maker<'a> {
    dice: &'a mut Dice,
    outside: &'a str,
    /// Paths that have an entry: two of them are refused before anything else is looked at.
    taken: BTreeSet<String>,
}

impl Maker<'_> {
    fn config(&mut self) -> Value {
        let minor = self.dice.below(7);
        let count = |maker: &mut Self| maker.dice.below(3);
        let mut storage = Map::new();
        for (kind, make) in [
            ("directories", Self::directory as fn(&mut Self) -> Value),
            ("files", Self::file),
            ("links", Self::link),
        ] {
            let entries: Vec<Value> = (0..count(self)).map(|_| make(self)).collect();
            storage.insert(kind.into(), entries.into());
        }
        let units: Vec<Value> = (0..self.dice.below(3)).map(|_| self.unit()).collect();
        json!({
            "ignition": {"version": format!("3.{minor}.0")},
            "storage": storage,
            "systemd": {"units": units},
        })
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.dice.index(of.len())]
    }

    fn path(&mut self) -> String {
        for _ in 0..10 {
            let path = self.any_path();
            if self.taken.insert(path.clone()) || self.dice.percent(2) {
                return path;
            }
        }
        format!("/new/{}", self.dice.roll())
    }

    fn any_path(&mut self) -> String {
        if self.dice.percent(2) {
            return self.one(DIRTY).to_owned();
        }
        let mut path = self.one(TRAPS).to_owned();
        for _ in 0..self.dice.below(3) {
            path = format!("{path}/{}", self.one(NAMES));
        }
        match self.dice.below(100) {
            0 => format!("{path}/{}", "n".repeat(255)),
            1 => format!("{path}/{}", "n".repeat(256)),
            2 => path + &"/deep".repeat(if self.dice.percent(50) { 900 } else { 200 }),
            _ => path,
        }
    }

    fn target(&mut self) -> String {
        match self.dice.below(8) {
            0 => self.outside.to_owned(),
            1 => format!("{}/file", self.outside),
            2 => "../../outside/file".into(),
            3 => format!("{}etc/passwd", "../".repeat(30)),
            4 => self.one(DIRTY).to_owned(),
            5 => self.one(NAMES).to_owned(),
            _ => self.one(TRAPS).to_owned(),
        }
    }

    /// Gives a path, and now and then an owner and the right to overwrite.
    fn entry(&mut self) -> Map<String, Value> {
        let mut entry = Map::new();
        entry.insert("path".into(), self.path().into());
        match self.dice.below(4) {
            0 => {}
            1 => drop(entry.insert("overwrite".into(), false.into())),
            _ => drop(entry.insert("overwrite".into(), true.into())),
        }
        for key in ["user", "group"] {
            match self.dice.below(12) {
                0 => drop(entry.insert(key.into(), json!({"name": self.one(OWNERS)}))),
                1 | 2 => {
                    let id = IDS[self.dice.index(IDS.len())];
                    entry.insert(key.into(), json!({"id": id}));
                }
                _ => {}
            }
        }
        entry
    }

    fn mode(&mut self, entry: &mut Map<String, Value>) {
        if self.dice.percent(25) {
            // Most of them may be given; one that may not refuses the whole config.
            let end = if self.dice.percent(90) {
                7
            } else {
                MODES.len()
            };
            entry.insert("mode".into(), MODES[self.dice.index(end)].into());
        }
    }

    fn directory(&mut self) -> Value {
        let mut entry = self.entry();
        self.mode(&mut entry);
        entry.into()
    }

    fn file(&mut self) -> Value {
        let mut entry = self.entry();
        self.mode(&mut entry);
        // Without contents nothing may be overwritten, says the specification.
        if entry.get("overwrite") == Some(&true.into()) || self.dice.percent(50) {
            entry.insert("contents".into(), self.source());
        }
        if self.dice.percent(30) {
            let append: Vec<Value> = (0..=self.dice.below(2)).map(|_| self.source()).collect();
            entry.insert("append".into(), append.into());
        }
        entry.into()
    }

    fn source(&mut self) -> Value {
        let end = if self.dice.percent(95) {
            3
        } else {
            SOURCES.len()
        };
        let mut source = json!({"source": SOURCES[self.dice.index(end)]});
        if self.dice.percent(2) {
            source["compression"] = "gzip".into();
        }
        if self.dice.percent(2) {
            source["verification"] = json!({"hash": format!("sha256-{}", "0".repeat(64))});
        }
        source
    }

    fn link(&mut self) -> Value {
        let mut entry = self.entry();
        entry.insert("target".into(), self.target().into());
        if self.dice.percent(40) {
            entry.insert("hard".into(), true.into());
        }
        entry.into()
    }

    fn unit(&mut self) -> Value {
        let end = if self.dice.percent(85) {
            5
        } else {
            UNITS.len()
        };
        let mut unit = json!({"name": UNITS[self.dice.index(end)]});
        if self.dice.percent(60) {
            unit["contents"] = "[Service]\nExecStart=/x\n[Install]\nWantedBy=x.target\n".into();
        }
        if self.dice.percent(60) {
            unit["enabled"] = self.dice.percent(70).into();
        }
        if self.dice.percent(25) {
            unit["mask"] = self.dice.percent(70).into();
        }
        if self.dice.percent(40) {
            let end = if self.dice.percent(90) {
                2
            } else {
                DROPINS.len()
            };
            let name = DROPINS[self.dice.index(end)];
            unit["dropins"] = json!([{"name": name, "contents": "[Unit]\n"}]);
        }
        unit
    }
}
