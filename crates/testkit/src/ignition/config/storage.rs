//! Directories, files and links.

use super::{Kind, Maker, Purpose, Taken};
use crate::ignition::draft::Draft;
use crate::ignition::root;

const FOLDERS: [&str; 6] = [
    "/etc",
    "/opt/app",
    "/srv",
    "/usr/local/share",
    "/var/lib/x",
    "/",
];
const WORDS: [&str; 10] = [
    "a",
    "b",
    "config.d",
    "app.conf",
    "..data",
    "with space",
    "ümlaut",
    "x.y.z",
    "@",
    "deep/er",
];
const TARGETS: [&str; 6] = [
    "/etc/hosts",
    "../relative",
    "plain",
    "/nowhere/at/all",
    "./dotted/",
    "/dev/null",
];

impl Maker<'_> {
    /// Makes all entries, and disks if they may be there.
    pub(super) fn storage(&mut self) -> Draft {
        let mut storage = Draft::object();
        let links = self.many(45, 3, Self::link);
        let directories = self.many(55, 3, Self::directory);
        let files = self.many(80, 5, Self::file);
        let hard = self.many(35, 2, Self::hard_link);
        storage.put_list("directories", directories);
        storage.put_list("files", files);
        storage.put_list("links", links.into_iter().chain(hard).collect());
        if !self.is(Purpose::Tree) {
            self.disks(&mut storage);
        }
        storage
    }

    fn many(
        &mut self,
        percent: u64,
        most: u64,
        one: impl Fn(&mut Self) -> Option<Draft>,
    ) -> Vec<Draft> {
        (0..self.few(percent, most))
            .filter_map(|_| one(self))
            .collect()
    }

    fn directory(&mut self) -> Option<Draft> {
        let path = self.path(Kind::Directory)?;
        let mut directory = Draft::object().with("path", path);
        self.mode(&mut directory);
        self.owner(&mut directory);
        let overwrite = self.dice.percent(50);
        self.maybe(&mut directory, 25, "overwrite", overwrite);
        Some(directory)
    }

    fn file(&mut self) -> Option<Draft> {
        let path = self.path(Kind::File)?;
        let mut file = Draft::object().with("path", path);
        self.mode(&mut file);
        self.owner(&mut file);
        let overwrite = if self.dice.percent(80) {
            let contents = self.contents();
            file.put("contents", contents);
            self.dice.percent(60)
        } else {
            // Nothing can be put in the place of what is overwritten.
            false
        };
        self.maybe(&mut file, 55, "overwrite", overwrite);
        if self.dice.percent(30) {
            let appended: Vec<Draft> = (0..=self.dice.below(2)).map(|_| self.contents()).collect();
            file.put("append", appended);
        }
        Some(file)
    }

    fn link(&mut self) -> Option<Draft> {
        let path = self.path(Kind::Link)?;
        let target = self.pick(&TARGETS);
        let mut link = Draft::object().with("path", path).with("target", target);
        self.owner(&mut link);
        let overwrite = self.dice.percent(70);
        self.maybe(&mut link, 40, "overwrite", overwrite);
        self.maybe(&mut link, 10, "hard", false);
        Some(link)
    }

    /// Makes a hard link to a file of the same config, or now and then to something else.
    fn hard_link(&mut self) -> Option<Draft> {
        let files: Vec<String> = self
            .entries
            .iter()
            .filter(|entry| entry.kind == Kind::File)
            .map(|entry| entry.path.clone())
            .collect();
        let target = match files.get(self.dice.index(files.len())) {
            Some(file) if self.dice.percent(90) => file.clone(),
            _ => root::LINKED.to_owned(),
        };
        let path = self.path(Kind::Link)?;
        let mut link = Draft::object()
            .with("path", path)
            .with("target", target)
            .with("hard", true);
        if self.dice.percent(10) {
            self.owner(&mut link);
        }
        let overwrite = self.dice.percent(80);
        self.maybe(&mut link, 30, "overwrite", overwrite);
        Some(link)
    }

    fn mode(&mut self, entry: &mut Draft) {
        let mode = match self.dice.below(10) {
            // Set-user-id and the like.
            0 => self.number(0o10000),
            1 | 2 => self.number(0o1000),
            3..=5 => 0o644,
            6 | 7 => 0o755,
            _ => 0o600,
        };
        self.maybe(entry, 60, "mode", mode);
    }

    fn owner(&mut self, entry: &mut Draft) {
        for key in ["user", "group"] {
            let mut who = Draft::object();
            match self.dice.below(10) {
                0 | 1 => who.put("id", self.number(2000)),
                2 => {
                    let known = if key == "user" {
                        root::USERS
                    } else {
                        root::GROUPS
                    };
                    let name = self.pick(known);
                    who.put("name", name);
                }
                3 if self.dice.percent(4) => who.put("name", "nobody-knows"),
                4 => who = who.with("id", self.number(10)).with("name", ""),
                _ => continue,
            }
            entry.put(key, who);
        }
    }

    /// Chooses a path that fits what the config already has; none if it found none in time.
    fn path(&mut self, kind: Kind) -> Option<String> {
        (0..20).find_map(|_| {
            let path = self.any_path();
            if !self.fits(&path, kind) {
                return None;
            }
            self.entries.push(Taken {
                path: path.clone(),
                kind,
            });
            Some(path)
        })
    }

    fn any_path(&mut self) -> String {
        if self.is(Purpose::Tree) && self.dice.percent(8) {
            return self.pick(root::PATHS).to_owned();
        }
        if self.is(Purpose::Merge) {
            return format!("/{}", self.pick(&["a", "a/b", "c", "d", "d/e/f", "g"]));
        }
        let mut path = self.pick(&FOLDERS).trim_end_matches('/').to_owned();
        for _ in 0..=self.dice.below(2) {
            path = format!("{path}/{}", self.pick(&WORDS));
        }
        path
    }

    fn fits(&mut self, path: &str, kind: Kind) -> bool {
        // Below a file nothing can be made; that is valid, and fails when it is applied.
        let careless = self.dice.percent(2);
        let below = |lower: &str, upper: &str| {
            lower
                .strip_prefix(upper)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let in_the_way = |upper: Kind| match upper {
            Kind::Link => true,
            Kind::File => !careless,
            Kind::Directory => false,
        };
        let fits = |taken: &Taken| {
            taken.path != path
                && !(below(path, &taken.path) && in_the_way(taken.kind))
                && !(below(&taken.path, path) && in_the_way(kind))
        };
        self.entries.iter().all(fits) && !self.unit_paths.contains(path)
    }
}
