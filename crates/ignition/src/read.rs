//! Reads what a config says from its tree.

use crate::Config;
use crate::node::{Node, Step, Value};
use crate::report::Place;
use crate::says::{
    Counts, Directory, Dropin, Entry, File, Group, KernelArguments, Link, Proxy, References,
    Resource, Timeouts, Unit, User, Who,
};

/// Calls a function for each item of a list, with its path.
fn list<'a, T>(
    node: Option<&'a Node>,
    path: &[Step],
    name: &'static str,
    read: impl Fn(&'a Node, &[Step]) -> T,
) -> Vec<T> {
    each(node, path, name, read).collect()
}

fn each<'a, T>(
    node: Option<&'a Node>,
    path: &[Step],
    name: &'static str,
    read: impl Fn(&'a Node, &[Step]) -> T,
) -> impl Iterator<Item = T> {
    let items = node.map(|node| node.items(name)).unwrap_or_default();
    let mut path = [path, &[Step::Field(name), Step::Index(0)]].concat();
    let last = path.len() - 1;
    let read_one = move |(index, item)| {
        path[last] = Step::Index(u32::try_from(index).unwrap_or(u32::MAX));
        read(item, &path)
    };
    items.iter().enumerate().map(read_one)
}

fn texts<'a>(node: &'a Node, name: &str) -> Vec<&'a str> {
    node.items(name).iter().filter_map(Node::as_text).collect()
}

fn who<'a>(node: &'a Node, name: &str) -> Who<'a> {
    let Some(who) = node.get(name) else {
        return Who::Unset;
    };
    match (who.number("id"), who.some_text("name")) {
        (Some(id), _) => Who::Id(id),
        (None, Some(name)) => Who::Name(name),
        (None, None) => Who::Unset,
    }
}

fn entry<'a>(node: &'a Node, path: &[Step]) -> Entry<'a> {
    Entry {
        path: node.text("path").unwrap_or_default(),
        overwrite: node.flag("overwrite"),
        user: who(node, "user"),
        group: who(node, "group"),
        place: node.mark.place(path),
    }
}

fn mode(node: &Node) -> Option<u32> {
    node.number("mode")
        .and_then(|mode| u32::try_from(mode).ok())
}

fn resource<'a>(node: &'a Node, path: &[Step]) -> Resource<'a> {
    let headers = node.items("httpHeaders").iter();
    let headers = headers.filter_map(|header| Some((header.text("name")?, header.text("value")?)));
    Resource {
        source: node.text("source"),
        stretch: node.stretch("source"),
        compression: node.some_text("compression"),
        hash: node.get("verification").and_then(|it| it.text("hash")),
        headers: headers.collect(),
        place: node.mark.place(path),
    }
}

fn nothing<'a>(node: &Node, path: &[Step]) -> Resource<'a> {
    Resource {
        source: None,
        stretch: None,
        compression: None,
        hash: None,
        headers: Vec::new(),
        place: node.mark.place(path),
    }
}

impl Config {
    /// Counts what the config asks for.
    pub fn counts(&self) -> Counts {
        let count = |part: &str, list: &str| {
            let part = self.root.get(part);
            part.map_or(0, |part| part.items(list).len())
        };
        Counts {
            files: count("storage", "files"),
            directories: count("storage", "directories"),
            links: count("storage", "links"),
            units: count("systemd", "units"),
            users: count("passwd", "users"),
            groups: count("passwd", "groups"),
        }
    }

    /// Lists the directories.
    pub fn directories(&self) -> Vec<Directory<'_>> {
        self.storage("directories", |node, path| Directory {
            entry: entry(node, path),
            mode: mode(node),
        })
    }

    /// Goes through the files: there may be thousands, so they are not all listed at once.
    pub fn files(&self) -> impl Iterator<Item = File<'_>> {
        let storage = self.root.get("storage");
        each(storage, &[Step::Field("storage")], "files", |node, path| {
            let inner = [path, &[Step::Field("contents")]].concat();
            let contents = node.get("contents");
            File {
                entry: entry(node, path),
                mode: mode(node),
                contents: contents.map_or_else(
                    || nothing(node, &inner),
                    |contents| resource(contents, &inner),
                ),
                append: list(Some(node), path, "append", resource),
            }
        })
    }

    /// Lists the links.
    pub fn links(&self) -> Vec<Link<'_>> {
        self.storage("links", |node, path| Link {
            entry: entry(node, path),
            target: node.text("target").unwrap_or_default(),
            hard: node.is_true("hard"),
        })
    }

    fn storage<'a, T>(
        &'a self,
        name: &'static str,
        read: impl Fn(&'a Node, &[Step]) -> T,
    ) -> Vec<T> {
        let storage = self.root.get("storage");
        list(storage, &[Step::Field("storage")], name, read)
    }

    /// Lists the units.
    pub fn units(&self) -> Vec<Unit<'_>> {
        let systemd = self.root.get("systemd");
        list(systemd, &[Step::Field("systemd")], "units", |node, path| {
            Unit {
                name: node.text("name").unwrap_or_default(),
                contents: node.text("contents"),
                enabled: node.flag("enabled"),
                mask: node.flag("mask"),
                dropins: list(Some(node), path, "dropins", |dropin, path| Dropin {
                    name: dropin.text("name").unwrap_or_default(),
                    contents: dropin.text("contents"),
                    place: dropin.mark.place(path),
                }),
                place: node.mark.place(path),
            }
        })
    }

    /// Lists the groups.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let passwd = self.root.get("passwd");
        list(passwd, &[Step::Field("passwd")], "groups", |node, path| {
            Group {
                name: node.text("name").unwrap_or_default(),
                gid: node.number("gid"),
                password_hash: node.text("passwordHash"),
                should_exist: node.flag("shouldExist"),
                system: node.flag("system"),
                place: node.mark.place(path),
            }
        })
    }

    /// Lists the users.
    pub fn users(&self) -> Vec<User<'_>> {
        let passwd = self.root.get("passwd");
        list(passwd, &[Step::Field("passwd")], "users", |node, path| {
            User {
                name: node.text("name").unwrap_or_default(),
                uid: node.number("uid"),
                gecos: node.text("gecos"),
                groups: texts(node, "groups"),
                home_dir: node.text("homeDir"),
                no_create_home: node.flag("noCreateHome"),
                no_log_init: node.flag("noLogInit"),
                no_user_group: node.flag("noUserGroup"),
                password_hash: node.text("passwordHash"),
                primary_group: node.text("primaryGroup"),
                ssh_authorized_keys: texts(node, "sshAuthorizedKeys"),
                shell: node.text("shell"),
                should_exist: node.flag("shouldExist"),
                system: node.flag("system"),
                place: node.mark.place(path),
            }
        })
    }

    /// Returns the kernel's arguments.
    pub fn kernel_arguments(&self) -> KernelArguments<'_> {
        let Some(node) = self.root.get("kernelArguments") else {
            return KernelArguments::default();
        };
        KernelArguments {
            should_exist: texts(node, "shouldExist"),
            should_not_exist: texts(node, "shouldNotExist"),
        }
    }

    /// Returns the configs that belong to this one.
    pub fn references(&self) -> References<'_> {
        let config = self.root.find(&["ignition", "config"]);
        let path = [Step::Field("ignition"), Step::Field("config")];
        let replace = config.and_then(|config| config.get("replace"));
        let replace = replace.filter(|replace| replace.some_text("source").is_some());
        let inner = [&path[..], &[Step::Field("replace")]].concat();
        References {
            replace: replace.map(|replace| resource(replace, &inner)),
            merge: list(config, &path, "merge", resource),
        }
    }

    /// Lists the authorities that sources may be signed by, besides those of the machine.
    pub fn authorities(&self) -> Vec<Resource<'_>> {
        let tls = self.root.find(&["ignition", "security", "tls"]);
        let path = ["ignition", "security", "tls"].map(Step::Field);
        list(tls, &path, "certificateAuthorities", resource)
    }

    /// Returns how long fetching may take.
    pub fn timeouts(&self) -> Timeouts {
        let timeouts = self.root.find(&["ignition", "timeouts"]);
        let seconds = |name| timeouts.and_then(|node| node.number(name));
        Timeouts {
            http_response_headers: seconds("httpResponseHeaders"),
            http_total: seconds("httpTotal"),
        }
    }

    /// Returns whom fetching goes through.
    pub fn proxy(&self) -> Proxy<'_> {
        let Some(proxy) = self.root.find(&["ignition", "proxy"]) else {
            return Proxy::default();
        };
        Proxy {
            http: proxy.some_text("httpProxy"),
            https: proxy.some_text("httpsProxy"),
            none_for: texts(proxy, "noProxy"),
        }
    }

    /// Names what needs disks, which nobody changes on a machine that lives.
    pub fn needs_disks(&self) -> Vec<(&'static str, Place)> {
        let lists = [
            ("storage.disks", "disks"),
            ("storage.filesystems", "filesystems"),
            ("storage.luks", "luks"),
            ("storage.raid", "raid"),
        ];
        let storage = self.root.get("storage");
        let named = lists.into_iter().filter_map(|(shown, name)| {
            let node = storage?.get(name)?;
            let is_there = matches!(&node.value, Value::List(items) if !items.is_empty());
            let path = [Step::Field("storage"), Step::Field(name)];
            is_there.then(|| (shown, node.mark.place(&path)))
        });
        named.collect()
    }
}
