//! What a config says, for whoever fetches and applies it.

use crate::report::Place;
use crate::text::shared::Stretch;

/// Somebody who owns something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who<'a> {
    /// Nobody in particular.
    Unset,
    /// By number.
    Id(i64),
    /// By name, as the target knows it.
    Name(&'a str),
}

/// What files, directories and links have in common.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Where it shall be.
    pub path: &'a str,
    /// Whether something else that is there may be replaced.
    pub overwrite: Option<bool>,
    /// Its user.
    pub user: Who<'a>,
    /// Its group.
    pub group: Who<'a>,
    /// Where it is said.
    pub place: Place,
}

/// A directory that shall be there.
#[derive(Debug, Clone)]
pub struct Directory<'a> {
    /// Where, and whose.
    pub entry: Entry<'a>,
    /// Its mode.
    pub mode: Option<u32>,
}

/// A file that shall be there.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// Where, and whose.
    pub entry: Entry<'a>,
    /// Its mode.
    pub mode: Option<u32>,
    /// What it holds.
    pub contents: Resource<'a>,
    /// What is added to it, in this order.
    pub append: Vec<Resource<'a>>,
}

/// A link that shall be there.
#[derive(Debug, Clone)]
pub struct Link<'a> {
    /// Where, and whose.
    pub entry: Entry<'a>,
    /// What it points to.
    pub target: &'a str,
    /// Whether it is a second name of the same file.
    pub hard: bool,
}

/// Something that comes from somewhere.
#[derive(Debug, Clone)]
pub struct Resource<'a> {
    /// The URL.
    pub source: Option<&'a str>,
    /// Where in its text the URL stands, if it is a part of a text that is shared.
    pub stretch: Option<&'a Stretch>,
    /// How it is compressed.
    pub compression: Option<&'a str>,
    /// What it must hash to: the function, a hyphen, the sum.
    pub hash: Option<&'a str>,
    /// What is sent with a question for it.
    pub headers: Vec<(&'a str, &'a str)>,
    /// Where it is said.
    pub place: Place,
}

/// Where something comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// From nowhere: there is none.
    Nothing,
    /// From the config itself.
    Inline(&'a str),
    /// From elsewhere.
    Remote {
        /// The URL.
        url: &'a str,
        /// How it is reached.
        scheme: Scheme,
    },
}

/// How something elsewhere is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Over HTTP without encryption.
    Http,
    /// Over HTTPS.
    Https,
    /// On this machine; for tests, no config of any version may say it.
    File,
    /// Over TFTP.
    Tftp,
    /// From S3.
    S3,
    /// From S3, by an ARN.
    Arn,
    /// From Google's storage.
    Gs,
    /// In a way that no version knows.
    Unknown,
}

/// A unit of systemd.
#[derive(Debug, Clone)]
pub struct Unit<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub contents: Option<&'a str>,
    /// Whether it is to be started at boot.
    pub enabled: Option<bool>,
    /// Whether it may not be started at all.
    pub mask: Option<bool>,
    /// What is added to it.
    pub dropins: Vec<Dropin<'a>>,
    /// Where it is said.
    pub place: Place,
}

/// What is added to a unit.
#[derive(Debug, Clone)]
pub struct Dropin<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub contents: Option<&'a str>,
    /// Where it is said.
    pub place: Place,
}

/// A group of users.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its number.
    pub gid: Option<i64>,
    /// The hash of its password.
    pub password_hash: Option<&'a str>,
    /// Whether it shall be there.
    pub should_exist: Option<bool>,
    /// Whether it is one of the system.
    pub system: Option<bool>,
    /// Where it is said.
    pub place: Place,
}

/// A user.
#[derive(Debug, Clone)]
pub struct User<'a> {
    /// The name.
    pub name: &'a str,
    /// The number.
    pub uid: Option<i64>,
    /// The comment.
    pub gecos: Option<&'a str>,
    /// Further groups.
    pub groups: Vec<&'a str>,
    /// The home folder.
    pub home_dir: Option<&'a str>,
    /// Whether the home folder is left out.
    pub no_create_home: Option<bool>,
    /// Whether logins are not counted.
    pub no_log_init: Option<bool>,
    /// Whether there is no group of the same name.
    pub no_user_group: Option<bool>,
    /// The hash of the password.
    pub password_hash: Option<&'a str>,
    /// The first group.
    pub primary_group: Option<&'a str>,
    /// The keys that may log in.
    pub ssh_authorized_keys: Vec<&'a str>,
    /// The shell.
    pub shell: Option<&'a str>,
    /// Whether the user shall be there.
    pub should_exist: Option<bool>,
    /// Whether it is one of the system.
    pub system: Option<bool>,
    /// Where it is said.
    pub place: Place,
}

/// Arguments of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelArguments<'a> {
    /// Those that shall be there.
    pub should_exist: Vec<&'a str>,
    /// Those that shall not.
    pub should_not_exist: Vec<&'a str>,
}

/// How much a config asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub files: usize,
    /// Directories.
    pub directories: usize,
    /// Links.
    pub links: usize,
    /// Units.
    pub units: usize,
    /// Users.
    pub users: usize,
    /// Groups.
    pub groups: usize,
}

/// Other configs that belong to one.
#[derive(Debug, Clone)]
pub struct References<'a> {
    /// The one that takes its place.
    pub replace: Option<Resource<'a>>,
    /// Those that are merged into it, in this order.
    pub merge: Vec<Resource<'a>>,
}

/// How long fetching may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Until an answer begins, in seconds.
    pub http_response_headers: Option<i64>,
    /// In all, in seconds; 0 is without end.
    pub http_total: Option<i64>,
}

/// Whom fetching goes through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxy<'a> {
    /// For what is reached over http.
    pub http: Option<&'a str>,
    /// For what is reached over https.
    pub https: Option<&'a str>,
    /// What is reached without.
    pub none_for: Vec<&'a str>,
}

impl<'a> Resource<'a> {
    /// Tells where it comes from.
    pub fn origin(&self) -> Source<'a> {
        let Some(url) = self.source.filter(|source| !source.is_empty()) else {
            return Source::Nothing;
        };
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "data" => return Source::Inline(url),
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "file" => Scheme::File,
            "tftp" => Scheme::Tftp,
            "s3" => Scheme::S3,
            "arn" => Scheme::Arn,
            "gs" => Scheme::Gs,
            _ => Scheme::Unknown,
        };
        Source::Remote { url, scheme }
    }
}
