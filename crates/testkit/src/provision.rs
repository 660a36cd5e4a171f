//! An Ignition config that uses all that the sequence `ignition` can do, and a machine for it.

use bootlace_engine::port::{Command, HostResult, Output};
use bootlace_model::config::{IgnitionSettings, Settings};
use bootlace_model::content::Content;
use bootlace_model::effect::Origin;
use bootlace_model::node::{Attributes, Owner, SpecialKind};
use bootlace_model::provision::{
    Directory, Dropin, Entry, Fetched, File, Group, Holds, Inputs, Link, Provision, Unit, User, Who,
};

use crate::env;
use crate::fake::{FakeHost, World, failed, printed};

/// The settings with the config.
pub fn settings() -> Settings {
    let mut settings = env::settings();
    settings.ignition = IgnitionSettings::new(config(), inputs()).ok();
    settings
}

/// What the config was read from, as far as a run keeps it.
pub fn inputs() -> Inputs {
    Inputs {
        name: "sample.ign".into(),
        config: Content::of(*b"{}"),
        fetched: vec![Fetched {
            url: "http://127.0.0.1/file".into(),
            content: Content::of(*b"fetched"),
        }],
    }
}

fn origin(entry: &str) -> Origin {
    Origin::new("ignition", format!("sample.ign:1 {entry}"))
}

fn entry(path: &str, overwrite: bool) -> Entry {
    Entry {
        path: path.into(),
        overwrite,
        user: Who::Unset,
        group: Who::Unset,
        origin: origin(path),
    }
}

fn holding(path: &str, holds: Holds) -> File {
    File {
        entry: entry(path, false),
        mode: None,
        holds,
    }
}

fn file(path: &str, text: &str) -> File {
    holding(path, Holds::Whole(Content::of(text.as_bytes())))
}

fn overwriting(path: &str, text: &str) -> File {
    File {
        entry: entry(path, true),
        ..file(path, text)
    }
}

fn link(path: &str, target: &str, hard: bool) -> Link {
    Link {
        entry: entry(path, hard),
        target: target.into(),
        hard,
    }
}

fn unit(name: &str, contents: Option<&str>, enabled: Option<bool>) -> Unit {
    Unit {
        name: name.into(),
        contents: contents.map(ToOwned::to_owned),
        enabled,
        mask: None,
        dropins: vec![],
        origin: origin(name),
    }
}

/// The config.
pub fn config() -> Provision {
    let owned = |mut file: File, user: Who, mode| {
        file.entry.user = user;
        file.mode = Some(mode);
        file
    };
    let named = || Who::Name("core".into());
    let directory = |path: &str, overwrite, mode| Directory {
        entry: entry(path, overwrite),
        mode,
    };
    Provision {
        source: "sample.ign".into(),
        groups: vec![Group {
            name: "admins".into(),
            gid: Some(501),
            password_hash: None,
            should_exist: None,
            system: true,
            origin: origin("admins"),
        }],
        users: vec![core(), gone()],
        directories: vec![
            directory("/srv/new/deep", false, Some(0o2750)),
            directory("/srv/replaced", true, None),
            directory("/srv/old", false, Some(0o700)),
            directory("/srv/socket", true, None),
        ],
        files: vec![
            file("/srv/new/deep/er/file", "below a group\nand more\n"),
            owned(file("/srv/own", "mine\n"), named(), 0o6755),
            owned(holding("/etc/kept", Holds::AsItIs), Who::Id(7), 0o640),
            holding("/etc/grown", Holds::More(Content::of(*b"one\ntwo\n"))),
            overwriting("/etc/hosts", "127.0.0.1 localhost\n"),
            overwriting("/etc/folder", "now a file\n"),
            overwriting("/etc/pipe", "now a file, too\n"),
            file("/srv/replaced/inside", "new\n"),
            file("/way/through/link", "elsewhere\n"),
        ],
        links: vec![
            link("/etc/link", "../srv/own", false),
            link("/etc/same-link", "/dev/zero", false),
            link("/srv/second", "/srv/own", true),
        ],
        units: units(),
        ..Provision::default()
    }
}

fn units() -> Vec<Unit> {
    const TEXT: &str = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";
    let dropin = Dropin {
        name: "10-more.conf".into(),
        contents: Some(String::new()),
        origin: origin("10-more.conf"),
    };
    vec![
        unit("own.service", Some(TEXT), Some(true)),
        unit("echo@.service", Some(TEXT), None),
        unit("echo@one.service", None, Some(true)),
        unit("old.service", None, Some(false)),
        Unit {
            dropins: vec![dropin],
            ..unit("other.service", None, None)
        },
        Unit {
            mask: Some(true),
            ..unit("noisy.service", None, None)
        },
        Unit {
            mask: Some(false),
            ..unit("masked.service", None, None)
        },
    ]
}

fn core() -> User {
    User {
        name: "core".into(),
        uid: Some(1000),
        gecos: None,
        groups: vec!["admins".into()],
        primary_group: None,
        home_dir: None,
        no_create_home: false,
        no_log_init: false,
        no_user_group: false,
        system: false,
        password_hash: Some("$y$secret".into()),
        shell: None,
        ssh_authorized_keys: vec!["ssh-ed25519 AAAA core".into()],
        should_exist: None,
        origin: origin("core"),
    }
}

fn gone() -> User {
    User {
        name: "gone".into(),
        uid: None,
        groups: vec![],
        password_hash: None,
        ssh_authorized_keys: vec![],
        should_exist: Some(false),
        origin: origin("gone"),
        ..core()
    }
}

/// What every new home is given.
const PROFILE: &[u8] = b"umask 022\n";

/// Prepares a machine that the config changes in every way.
pub fn world(host: &FakeHost) -> HostResult<()> {
    for program in [
        "useradd",
        "usermod",
        "chpasswd",
        "userdel",
        "groupadd",
        "chgpasswd",
    ] {
        host.program(program, account);
    }
    host.set_up(|world| {
        let odd = Attributes {
            owner: Some(Owner { uid: 3, gid: 4 }),
            ..Attributes::mode(0o4755)
        };
        let passwd = b"root:x:0:0::/root:/bin/sh\ngone:x:9:9::/home/gone:/bin/sh\n";
        world.write("/etc/passwd", passwd)?;
        world.write("/etc/group", b"root:x:0:\n")?;
        world.write("/home/gone/notes", b"dear diary\n")?;
        world.write("/etc/skel/.profile", PROFILE)?;
        for path in [
            "/etc/kept",
            "/etc/grown",
            "/etc/hosts",
            "/etc/folder/inside",
        ] {
            world.write(path, b"from before\n")?;
            world.set_attributes(path, &odd)?;
        }
        world.make_special("/etc/pipe", SpecialKind::Pipe, &odd)?;
        world.make_special("/srv/replaced/pipe", SpecialKind::Pipe, &odd)?;
        world.make_special("/srv/socket", SpecialKind::Socket, &odd)?;
        world.write("/srv/replaced/old", b"old\n")?;
        world.make_folder("/srv/old")?;
        world.make_link("/etc/same-link", "/dev/zero")?;
        world.make_link("/way", "/srv/not/yet")?;
        let text = b"[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";
        world.write("/usr/lib/systemd/system/old.service", text)?;
        let wants = "/etc/systemd/system/multi-user.target.wants/old.service";
        world.make_link(wants, "/usr/lib/systemd/system/old.service")?;
        world.make_link("/etc/systemd/system/masked.service", "/dev/null")?;
        world.write("/etc/systemd/system/noisy.service", b"[Service]\n")?;
        let preset = "/etc/systemd/system-preset/20-ignition.preset";
        world.write(preset, b"enable first.service\n")?;
        world.make_folder("/var/lib")
    })
}

/// Edits the lists as the real programs do: a copy beside, then the list as a whole.
fn account(command: &Command<'_>, world: &mut World<'_>) -> HostResult<Output> {
    let Some((program, name)) = command.argv.first().zip(command.argv.last()) else {
        return Ok(failed(2, "what?"));
    };
    let list = if ["groupadd", "chgpasswd"].contains(&program.as_str()) {
        "/etc/group"
    } else {
        "/etc/passwd"
    };
    let old = world.read(list)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&old).into_owned();
    let others: String = text
        .lines()
        .filter(|line| line.split(':').next() != Some(name))
        .flat_map(|line| [line, "\n"])
        .collect();
    let new = match program.as_str() {
        "groupadd" => format!("{text}{name}:x:501:\n"),
        "useradd" => format!("{text}{name}:x:1000:1000::/home/{name}:/bin/sh\n"),
        "usermod" | "chpasswd" | "chgpasswd" => text.clone(),
        _ => others,
    };
    world.write_durably(&format!("{list}-"), &old)?;
    if program == "useradd" {
        let home = format!("/home/{name}");
        world.write_durably(&format!("{home}/.profile"), PROFILE)?;
        let attributes = Attributes {
            owner: Some(Owner {
                uid: 1000,
                gid: 1000,
            }),
            ..Attributes::mode(0o700)
        };
        world.set_attributes(&home, &attributes)?;
    }
    if program == "userdel" {
        world.remove(&format!("/home/{name}/notes"))?;
    }
    world.write_durably(list, new.as_bytes())?;
    Ok(printed("done"))
}
