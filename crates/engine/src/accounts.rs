//! The target's users and groups, as its own lists name them.

use bootlace_model::fault::Fault;
use bootlace_model::path::TargetPath;
use bootlace_model::survey::{Account, Accounts, Seen};

use crate::folders::Folders;
use crate::port::{Host, HostError};
use crate::survey::{Last, Lost, Surveyor};

/// The largest list that is read.
const LARGEST_LIST: u64 = 64 << 20;

/// The lists of users; the second is that of images whose own users lie beside the machine's.
const USERS: [&str; 2] = ["/etc/passwd", "/usr/lib/passwd"];
/// The lists of groups.
const GROUPS: [&str; 2] = ["/etc/group", "/usr/lib/group"];

/// Looks users and groups up, and at a path in the users' homes.
pub(crate) fn accounts(
    host: &dyn Host,
    users: &[String],
    groups: &[String],
    in_homes: Option<&str>,
    beside: &[TargetPath],
) -> Result<Accounts, Fault> {
    let folders = Folders::new(host);
    let mut surveyor = Surveyor::new(host);
    let mut found = Accounts {
        users: [].into(),
        groups: [].into(),
        homes: surveyor.found.clone(),
    };
    let lists = Lists::read(&folders, USERS, users)?;
    for name in users {
        let Some(account) = lists.find(name).and_then(account) else {
            continue;
        };
        if let Ok(home) = TargetPath::new(&account.home) {
            surveyor.follow(&home)?;
            if let Some(relative) = in_homes
                && let Ok(path) = home.join(relative)
            {
                surveyor.visit(&path)?;
            }
        }
        found.users.insert(name.clone(), account);
    }
    for path in beside {
        surveyor.follow(path)?;
    }
    found.homes = surveyor.found;
    let lists = Lists::read(&folders, GROUPS, groups)?;
    for name in groups {
        let gid = lists.find(name).and_then(|line| line.split(':').nth(2));
        if let Some(gid) = gid.and_then(|gid| gid.parse().ok()) {
            found.groups.insert(name.clone(), gid);
        }
    }
    Ok(found)
}

/// Tells whether a user or a group is in the list that programs edit.
pub(crate) fn is_listed(folders: &Folders<'_>, is_group: bool, name: &str) -> Result<bool, Fault> {
    let [own, _] = if is_group { GROUPS } else { USERS };
    let lists = Lists(vec![read(folders, own)?]);
    Ok(lists.find(name).is_some())
}

/// Lists of which the first that names somebody counts.
struct Lists(Vec<String>);

impl Lists {
    /// Reads the lists in which somebody is looked for, and none if nobody is.
    fn read(folders: &Folders<'_>, paths: [&str; 2], wanted: &[String]) -> Result<Self, Fault> {
        if wanted.is_empty() {
            return Ok(Self(vec![]));
        }
        let mut lists = vec![read(folders, paths[0])?];
        // Only a target that says so looks into the second list.
        let order = read(folders, "/etc/nsswitch.conf")?;
        if order
            .lines()
            .any(|line| line.contains("altfiles") && !line.starts_with('#'))
        {
            lists.push(read(folders, paths[1])?);
        }
        Ok(Self(lists))
    }

    fn find(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.iter().flat_map(|list| list.lines());
        lines.find(|line| line.split(':').next() == Some(name) && !line.starts_with(['+', '-']))
    }
}

/// Reads a list; one that is absent, or no file, names nobody.
fn read(folders: &Folders<'_>, path: &str) -> Result<String, Fault> {
    let path = TargetPath::new(path).map_err(|bad| Fault::internal(bad.to_string()))?;
    let mut surveyor = Surveyor::new(folders.host());
    let real = match surveyor.resolve(&path, Last::Followed) {
        Ok(real) => real,
        Err(Lost::Because(_)) => return Ok(String::new()),
        Err(Lost::Fault(fault)) => return Err(fault),
    };
    if !matches!(surveyor.look(&real)?, Some(Seen::File { .. })) {
        return Ok(String::new());
    }
    match folders.read(&real, LARGEST_LIST) {
        Ok(content) => {
            let content = content.unwrap_or_default();
            Ok(String::from_utf8_lossy(&content).into_owned())
        }
        Err(error @ HostError::TooLarge { .. }) => {
            Err(Fault::from(error).in_file(path.as_str()).because(
                "A list of users of that size is none, and reading it would fill the memory.",
            ))
        }
        Err(error) => Err(Fault::from(error).in_file(path.as_str())),
    }
}

/// Reads a line of the list of users.
fn account(line: &str) -> Option<Account> {
    let mut fields = line.split(':').skip(2);
    Some(Account {
        uid: fields.next()?.parse().ok()?,
        gid: fields.next()?.parse().ok()?,
        home: fields.nth(1)?.to_owned(),
    })
}
