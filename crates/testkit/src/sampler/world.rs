//! The machine that the sample sequence runs on: what is there before, programs, URLs.

use bootlace_engine::port::{Command, HostResult, Output};
use bootlace_model::node::{Attributes, Owner};

use super::live::{self, IMAGES};
use super::parts::{at, attributes};
use crate::fake::{FakeHost, Trouble, World, archive, failed, printed};

/// From where the sample sequence downloads.
pub const ANSWER_URL: &str = "http://127.0.0.1/answer.json";
/// What the sample sequence waits for.
pub const HEALTH_URL: &str = "http://127.0.0.1/health";
/// What lies at [`ANSWER_URL`].
pub(super) const ANSWER_CONTENT: &str = r#"{"answer": 42, "notes": ["so long"]}"#;

/// What a file holds that grows.
pub(super) const GROWN: &[u8] = b"the beginning\n";
/// The content of the skeleton that a new home is copied from.
const SKELETON: &[u8] = b"of somebody who comes\n";

/// Prepares a machine: content that gets replaced and removed, inputs, programs, URLs.
pub fn world(host: &FakeHost) -> HostResult<()> {
    host.set_up(|world| {
        old_files(world)?;
        units(world)?;
        world.write("/inputs/old.conf", b"old = yes\n")?;
        world.write("/inputs/tree/one", b"1")?;
        world.write("/inputs/tree/below/two", b"2")?;
        world.write("/inputs/images.tar", &archive(&IMAGES))?;
        world.write("/inputs/release.json", br#"{"pinned": true}"#)?;
        world.make_input(&at("/inputs"));
        world.make_folder("/var/lib")?;
        world.install_unit("containerd.service", true)?;
        world.start_unit("containerd.service")?;
        world.load_images(&IMAGES[..1])
    })?;
    host.unit_leaves("steady.service", live::leaves());
    host.program("kubelet", |_, _| Ok(printed("Kubernetes v1.36.3")));
    host.program("ip", |_, _| Ok(failed(2, "Network is unreachable")));
    host.program("sampler-look", |_, _| Ok(printed("looked")));
    host.program("sampler-render", render);
    host.program("sampler-count", count);
    host.program("sampler-account", account);
    host.program("sampler-ready", |_, world| {
        Ok(if world.times_run() > 3 {
            printed("ready")
        } else {
            failed(1, "not yet")
        })
    });
    let troubles = [Trouble::Refused, Trouble::Status(503)];
    host.url(ANSWER_URL, ANSWER_CONTENT, &troubles);
    host.url(HEALTH_URL, "", &[troubles[0], troubles[1], troubles[1]]);
    Ok(())
}

fn old_files(world: &mut World<'_>) -> HostResult<()> {
    let odd = Attributes {
        owner: Some(Owner { uid: 3, gid: 4 }),
        ..attributes(0o640, None, Some("old"))
    };
    world.write("/etc/sampler.conf", b"from before\n")?;
    world.set_attributes("/etc/sampler.conf", &odd)?;
    world.write("/etc/sampler.link", b"a file that becomes a link\n")?;
    world.write("/etc/same", b"same\n")?;
    world.write("/etc/kept.txt", b"kept as it is\n")?;
    world.set_attributes("/etc/kept.txt", &odd)?;
    world.write("/etc/grown.txt", GROWN)?;
    world.set_attributes("/etc/grown.txt", &odd)?;
    world.write("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")?;
    world.set_attributes("/etc/passwd", &odd)?;
    world.write("/var/homes/old/file", b"of somebody who goes\n")?;
    world.write("/etc/skel/file", SKELETON)?;
    world.write("/etc/old.txt", b"old\n")?;
    world.set_attributes(
        "/etc/old.txt",
        &Attributes {
            mode: 0o400,
            ..odd.clone()
        },
    )?;
    world.make_link("/etc/old.link", "/etc/old.txt")?;
    world.set_owner("/etc/old.link", Owner { uid: 3, gid: 4 })?;
    world.make_folder("/srv/existing")?;
    world.set_attributes(
        "/srv/existing",
        &Attributes {
            mode: 0o2755,
            ..odd.clone()
        },
    )?;
    world.write("/srv/existing/left alone", b"x")?;
    world.write("/srv/old/a/b/c", b"c")?;
    world.write("/srv/old/a/d", b"")?;
    world.make_link("/srv/old/a/link", "../a/b")?;
    world.make_folder("/srv/old/hollow")?;
    world.set_attributes(
        "/srv/old/a",
        &Attributes {
            mode: 0o711,
            ..odd.clone()
        },
    )?;
    world.set_attributes(
        "/srv/old/a/b/c",
        &Attributes {
            mode: 0o6755,
            ..odd
        },
    )
}

fn units(world: &mut World<'_>) -> HostResult<()> {
    let unit = b"[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";
    for name in ["old", "noisy", "wanted", "unwanted"] {
        world.write(&format!("/usr/lib/systemd/system/{name}.service"), unit)?;
    }
    let link = "/etc/systemd/system/multi-user.target.wants/old.service";
    world.make_link(link, "/usr/lib/systemd/system/old.service")?;
    let preset = b"enable other.service\nenable unwanted.service\n";
    world.write("/etc/systemd/system-preset/20-bootlace.preset", preset)
}

/// Renders the same small tree whenever it is asked to; it can be cut off in the middle.
fn render(command: &Command<'_>, world: &mut World<'_>) -> HostResult<Output> {
    let Some(folder) = command.argv.get(1) else {
        return Ok(failed(2, "where to?"));
    };
    world.write(&format!("{folder}/file"), b"rendered\n")?;
    world.write(&format!("{folder}/below/file"), b"rendered below\n")?;
    world.sync_below(folder)?;
    Ok(printed("rendered"))
}

/// Adds a user and takes a home away, as programs do that edit several files.
fn account(_: &Command<'_>, world: &mut World<'_>) -> HostResult<Output> {
    const LIST: &str = "/etc/passwd";
    let old = world.read(LIST)?.unwrap_or_default();
    world.write_durably("/etc/passwd-", &old)?;
    world.remove("/var/homes/old/file")?;
    let new = [&old[..], b"sampler:x:9:9::/var/homes/new:/bin/sh\n"].concat();
    world.write_durably(LIST, &new)?;
    world.write_durably("/var/homes/new/file", SKELETON)?;
    Ok(printed("added"))
}

/// Counts how often it ran: a program that must not be repeated.
fn count(command: &Command<'_>, world: &mut World<'_>) -> HostResult<Output> {
    const COUNT: &str = "/var/lib/sampler-count";
    let text = world.read(COUNT)?.unwrap_or_default();
    let so_far: u32 = String::from_utf8_lossy(&text).parse().unwrap_or(0);
    match (command.argv.get(1).map(String::as_str), so_far) {
        (Some("up"), _) => world.write_durably(COUNT, (so_far + 1).to_string().as_bytes())?,
        (Some("down"), 0 | 1) => {
            world.remove(COUNT)?;
            world.sync_names("/var/lib")?;
        }
        (Some("down"), _) => world.write_durably(COUNT, (so_far - 1).to_string().as_bytes())?,
        _ => return Ok(failed(2, "up or down?")),
    }
    Ok(printed("counted"))
}
