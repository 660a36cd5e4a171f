//! From a merged config to what it asks for.

use bootlace_ignition as ignition;
use bootlace_ignition::Config;
use bootlace_model::content::Content;
use bootlace_model::effect::Origin;
use bootlace_model::fault::Fault;
use bootlace_model::provision::{
    Directory, Dropin, Entry, File, Group, Holds, KernelArguments, Link, Provision, Unit, User, Who,
};

use super::LARGEST_CONTENT;
use super::content::Contents;

/// Collects what a config asks for; contents are fetched now.
pub(super) fn build(
    name: &str,
    config: &Config,
    contents: &mut Contents<'_, '_>,
) -> Result<Provision, Fault> {
    let arguments = config.kernel_arguments();
    Ok(Provision {
        source: name.to_owned(),
        groups: config.groups().iter().map(group).collect(),
        users: config.users().iter().map(user).collect(),
        directories: config.directories().iter().map(directory).collect(),
        files: files(config, contents)?,
        links: config.links().iter().map(link).collect(),
        units: config.units().iter().map(unit).collect(),
        kernel_arguments: KernelArguments {
            should_exist: texts(&arguments.should_exist),
            should_not_exist: texts(&arguments.should_not_exist),
        },
    })
}

/// Names the config, the line and the entry.
fn origin(place: &ignition::Place) -> Origin {
    let ignition::Place {
        source, path, line, ..
    } = place;
    Origin::new("ignition", format!("{source}:{line} {path}"))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn text(text: Option<&str>) -> Option<String> {
    text.map(ToOwned::to_owned)
}

fn entry(entry: &ignition::Entry<'_>) -> Entry {
    Entry {
        path: entry.path.to_owned(),
        overwrite: entry.overwrite == Some(true),
        user: who(entry.user),
        group: who(entry.group),
        origin: origin(&entry.place),
    }
}

fn who(who: ignition::Who<'_>) -> Who {
    match who {
        ignition::Who::Unset | ignition::Who::Name("") => Who::Unset,
        ignition::Who::Name(name) => Who::Name(name.to_owned()),
        ignition::Who::Id(id) => match number(id) {
            // To the kernel this one means: leave it as it is.
            u32::MAX => Who::Unset,
            id => Who::Id(id),
        },
    }
}

/// Cuts a number down to what the kernel takes, as it is cut down on its way there.
fn number(id: i64) -> u32 {
    u32::try_from(id.rem_euclid(1 << 32)).unwrap_or(u32::MAX)
}

fn directory(directory: &ignition::Directory<'_>) -> Directory {
    Directory {
        entry: entry(&directory.entry),
        mode: directory.mode,
    }
}

fn files(config: &Config, contents: &mut Contents<'_, '_>) -> Result<Vec<File>, Fault> {
    let mut files = Vec::with_capacity(config.counts().files);
    for it in config.files() {
        files.push(file(&it, contents)?);
    }
    Ok(files)
}

fn file(file: &ignition::File<'_>, contents: &mut Contents<'_, '_>) -> Result<File, Fault> {
    // Ignition passes over what it has to append and what has no source.
    let append = file.append.iter();
    let append: Vec<_> = append.filter(|it| it.source.is_some()).collect();
    let whole = file.contents.source.map(|_| &file.contents);
    let holds = match (whole, append.as_slice()) {
        (None, []) => Holds::AsItIs,
        (Some(whole), []) => Holds::Whole(contents.keep(whole, LARGEST_CONTENT)?),
        (None, [more]) => Holds::More(contents.keep(more, LARGEST_CONTENT)?),
        (whole, append) => {
            let mut joined = Vec::new();
            for part in whole.into_iter().chain(append.iter().copied()) {
                joined.extend(contents.take(part, LARGEST_CONTENT)?);
            }
            let joined = Content::of(joined);
            match whole {
                Some(_) => Holds::Whole(joined),
                None => Holds::More(joined),
            }
        }
    };
    Ok(File {
        entry: entry(&file.entry),
        mode: file.mode,
        holds,
    })
}

fn link(link: &ignition::Link<'_>) -> Link {
    Link {
        entry: entry(&link.entry),
        target: link.target.to_owned(),
        hard: link.hard,
    }
}

fn unit(unit: &ignition::Unit<'_>) -> Unit {
    let dropin = |dropin: &ignition::Dropin<'_>| Dropin {
        name: dropin.name.to_owned(),
        contents: text(dropin.contents),
        origin: origin(&dropin.place),
    };
    Unit {
        name: unit.name.to_owned(),
        contents: text(unit.contents),
        enabled: unit.enabled,
        mask: unit.mask,
        dropins: unit.dropins.iter().map(dropin).collect(),
        origin: origin(&unit.place),
    }
}

fn group(group: &ignition::Group<'_>) -> Group {
    Group {
        name: group.name.to_owned(),
        gid: group.gid,
        password_hash: text(group.password_hash),
        should_exist: group.should_exist,
        system: group.system == Some(true),
        origin: origin(&group.place),
    }
}

fn user(user: &ignition::User<'_>) -> User {
    let yes = |flag: Option<bool>| flag == Some(true);
    User {
        name: user.name.to_owned(),
        uid: user.uid,
        gecos: text(user.gecos),
        groups: texts(&user.groups),
        primary_group: text(user.primary_group),
        home_dir: text(user.home_dir),
        no_create_home: yes(user.no_create_home),
        no_log_init: yes(user.no_log_init),
        no_user_group: yes(user.no_user_group),
        system: yes(user.system),
        password_hash: text(user.password_hash),
        shell: text(user.shell),
        ssh_authorized_keys: texts(&user.ssh_authorized_keys),
        should_exist: user.should_exist,
        origin: origin(&user.place),
    }
}
