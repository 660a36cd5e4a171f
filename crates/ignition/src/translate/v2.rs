//! Spec 2.2, for clients that know nothing younger: what it can say is written, the rest refused.
//!
//! It names a filesystem in every entry, has one `append` flag instead of a list, and overwrites
//! files unless told otherwise.

mod disks;

use serde_json::{Map, Value as Json, json};

use disks::{Mounted, home};

use super::Inexpressible;
use crate::node::{Node, Step};

/// Fields of a config that have no place in 2.2.
const LACKING: [(&[&str], &str); 3] = [
    (&["kernelArguments"], "2.2.0 has no kernelArguments"),
    (&["ignition", "proxy"], "2.2.0 has no proxy"),
    (&["storage", "luks"], "2.2.0 has no luks"),
];

/// Writes a config in 2.2.
pub(super) fn down(root: &Node) -> Result<Json, Vec<Inexpressible>> {
    let mut writer = Writer::default();
    for (path, why) in LACKING {
        if let Some(node) = root.find(path).filter(|node| !node.is_empty()) {
            writer.path = path.iter().map(step).collect();
            writer.refuse(node, why);
        }
    }
    writer.path.clear();
    writer.find_mounted(root);
    let config = json!({
        "ignition": writer.ignition(root),
        "passwd": writer.passwd(root),
        "storage": writer.storage(root),
        "systemd": writer.systemd(root),
    });
    if writer.lost.is_empty() {
        Ok(without_empty(config))
    } else {
        Err(writer.lost)
    }
}

#[derive(Default)]
struct Writer {
    path: Vec<Step>,
    lost: Vec<Inexpressible>,
    /// The filesystems to which entries can belong.
    mounted: Vec<Mounted>,
}

impl Writer {
    fn refuse(&mut self, node: &Node, why: &str) {
        self.lost.push(Inexpressible {
            place: node.mark.place(&self.path),
            why: why.to_owned(),
        });
    }

    /// Writes each item of a list.
    fn each(
        &mut self,
        root: &Node,
        path: &[&'static str],
        mut write: impl FnMut(&mut Self, &Node) -> Vec<Json>,
    ) -> Json {
        let Some((name, above)) = path.split_last() else {
            return Json::Null;
        };
        let items = root.find(above).map(|node| node.items(name));
        let mut written = Vec::new();
        let before = self.path.clone();
        self.path.extend(path.iter().map(|name| Step::Field(name)));
        for (index, item) in items.unwrap_or_default().iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.path.push(Step::Index(index));
            written.extend(write(self, item));
            self.path.pop();
        }
        self.path = before;
        written.into()
    }

    fn ignition(&mut self, root: &Node) -> Json {
        let timeouts = root.find(&["ignition", "timeouts"]).map(Node::to_json);
        let append = self.each(
            root,
            &["ignition", "config", "merge"],
            |writer, reference| vec![writer.reference(reference)],
        );
        let replace = root.find(&["ignition", "config", "replace"]);
        let replace = replace.filter(|node| !node.is_empty());
        let before = std::mem::replace(
            &mut self.path,
            ["ignition", "config", "replace"].map(Step::Field).to_vec(),
        );
        let replace = replace.map(|reference| self.reference(reference));
        self.path = before;
        json!({
            "version": "2.2.0",
            "config": {"append": append, "replace": replace},
            "security": self.security(root),
            "timeouts": timeouts,
        })
    }

    fn reference(&mut self, reference: &Node) -> Json {
        if reference.some_text("compression").is_some() {
            self.refuse(reference, "2.2.0 has no compression of configs");
        }
        self.resource(reference)
    }

    fn resource(&mut self, resource: &Node) -> Json {
        if !resource.items("httpHeaders").is_empty() {
            self.refuse(resource, "2.2.0 has no httpHeaders");
        }
        let hash = resource.find(&["verification", "hash"]);
        if hash
            .and_then(Node::as_text)
            .is_some_and(|hash| hash.starts_with("sha256-"))
        {
            self.refuse(resource, "2.2.0 knows no sha256, only sha512");
        }
        let source = resource.text("source").unwrap_or_default();
        if ["gs:", "arn:"]
            .iter()
            .any(|scheme| source.starts_with(scheme))
        {
            self.refuse(resource, "2.2.0 does not know the scheme of this source");
        }
        let mut written = Map::new();
        written.insert("source".into(), source.into());
        if let Some(compression) = resource.some_text("compression") {
            written.insert("compression".into(), compression.into());
        }
        if let Some(hash) = hash {
            written.insert("verification".into(), json!({"hash": hash.to_json()}));
        }
        written.into()
    }

    fn passwd(&mut self, root: &Node) -> Json {
        let mut account = |writer: &mut Self, account: &Node| {
            if account.flag("shouldExist") == Some(false) {
                writer.refuse(account, "2.2.0 cannot remove users and groups");
            }
            let mut written = account.to_json();
            if let Some(fields) = written.as_object_mut() {
                fields.remove("shouldExist");
            }
            vec![written]
        };
        let users = self.each(root, &["passwd", "users"], &mut account);
        let groups = self.each(root, &["passwd", "groups"], &mut account);
        json!({"users": users, "groups": groups})
    }

    fn storage(&mut self, root: &Node) -> Json {
        let files = self.each(root, &["storage", "files"], Self::file);
        let directories = self.each(root, &["storage", "directories"], |writer, directory| {
            vec![writer.entry(directory, &["mode"]).into()]
        });
        let links = self.each(root, &["storage", "links"], |writer, link| {
            vec![writer.link(link)]
        });
        json!({
            "disks": self.disks(root),
            "raid": self.raid(root),
            "filesystems": self.filesystems(root),
            "files": files,
            "directories": directories,
            "links": links,
        })
    }

    /// Writes a file, and each thing that is appended to it as an entry of its own.
    fn file(&mut self, file: &Node) -> Vec<Json> {
        let mut written = Vec::new();
        let append = file.items("append");
        let contents = file.get("contents");
        let source = contents.and_then(|contents| contents.text("source"));
        match (contents, source) {
            (Some(contents), Some(_)) => {
                let mut whole = self.entry(file, &["mode"]);
                whole.insert("contents".into(), self.resource(contents));
                written.push(whole.into());
            }
            _ if append.is_empty() => {
                let why = "2.2.0 would empty a file that is there, and 3.x keeps it";
                self.refuse(file, why);
            }
            _ => {}
        }
        for part in append {
            let mut more = self.entry(file, &["mode"]);
            more.remove("overwrite");
            more.insert("append".into(), true.into());
            more.insert("contents".into(), self.resource(part));
            written.push(more.into());
        }
        written
    }

    fn link(&mut self, link: &Node) -> Json {
        let mut written = self.entry(link, &["hard", "target"]);
        if link.is_true("hard") {
            let path = link.text("path").unwrap_or_default();
            let target = link.text("target").unwrap_or_default();
            let (here, (there, within)) =
                (home(&self.mounted, path).0, home(&self.mounted, target));
            written.insert("target".into(), within.into());
            if here != there {
                self.refuse(link, "2.2.0 makes hard links within one filesystem only");
            }
        }
        written.into()
    }

    /// Writes what files, directories and links have in common, and some fields as they are.
    fn entry(&self, node: &Node, names: &[&str]) -> Map<String, Json> {
        let mut written = Map::new();
        let (filesystem, path) = home(&self.mounted, node.text("path").unwrap_or_default());
        written.insert("filesystem".into(), filesystem.into());
        written.insert("path".into(), path.into());
        // What is not said means no in 3.x, and yes for the files of 2.2.
        written.insert("overwrite".into(), node.is_true("overwrite").into());
        for name in ["user", "group"].iter().chain(names) {
            if let Some(field) = node.get(name).filter(|field| !field.is_empty()) {
                written.insert((*name).into(), field.to_json());
            }
        }
        written
    }

    fn systemd(&mut self, root: &Node) -> Json {
        let units = self.each(root, &["systemd", "units"], |_, unit| vec![unit.to_json()]);
        json!({"units": units})
    }
}

fn step(name: &&'static str) -> Step {
    Step::Field(name)
}

/// Removes what says nothing.
fn without_empty(value: Json) -> Json {
    let Json::Object(fields) = value else {
        return value;
    };
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name, without_empty(value)));
    let says = |value: &Json| match value {
        Json::Null => false,
        Json::Object(fields) => !fields.is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => true,
    };
    Json::Object(fields.filter(|(_, value)| says(value)).collect())
}
