//! The tokens file as it changes, goes away, and cannot be read.

#![expect(
    clippy::disallowed_methods,
    reason = "a test's own files and processes"
)]

use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::client::{Connection, ask};
use crate::world::{Setup, World, token, until};

const ALL: &str = "Authorization: Bearer all-token";

/// A tokens file with one token of the pool worker. Those for two tokens are equally large.
fn only(name: &str) -> String {
    let valid = "expires: 2999-01-01T00:00:00Z";
    let worker = token(name, &format!("pool: worker, {valid}"));
    let all = token("all-token", &format!("pool: '*', {valid}"));
    format!("tokens:\n{worker}{all}")
}

fn status(world: &World, token: &str) -> u16 {
    let header = format!("Authorization: Bearer {token}");
    world.client.get("/config/worker", &[&header]).status
}

fn is_trouble(world: &World) -> bool {
    let ready = world.client.get("/readyz", &[ALL]).json();
    ready["problems"].to_string().contains("tokens.yaml")
}

#[test]
fn a_folder_in_place_of_the_tokens_takes_nothing_away() {
    let world = World::with_tokens(&only("one"));
    assert_eq!((status(&world, "one"), status(&world, "two")), (200, 511));
    let place = world.path("tokens.yaml");
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    until("the folder is noticed", || is_trouble(&world));
    assert_eq!((status(&world, "one"), status(&world, "two")), (200, 511));
    std::fs::remove_dir(&place).unwrap();
    world.replace("tokens.yaml", &only("two"));
    until("the new token is valid", || status(&world, "two") == 200);
    assert_eq!(status(&world, "one"), 401);
    assert!(!is_trouble(&world));
}

#[test]
fn a_change_is_noticed_that_keeps_size_and_time() {
    let world = World::with_tokens(&only("one"));
    let place = world.path("tokens.yaml");
    let before = std::fs::metadata(&place).unwrap();
    let file = std::fs::File::options().write(true).open(&place).unwrap();
    let text = only("two");
    assert_eq!(text.len() as u64, before.len());
    std::os::unix::fs::FileExt::write_all_at(&file, text.as_bytes(), 0).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    until("the new token is valid", || status(&world, "two") == 200);
    assert_eq!(status(&world, "one"), 401);
}

#[test]
fn a_token_that_is_revoked_while_the_server_starts_is_refused() {
    let tokens = only("one");
    let world = World::start(Setup {
        before_serving: |folder| {
            let revoked = only("one").replacen("pool:", "revoked: true, pool:", 1);
            let place = folder.join("tokens.yaml");
            std::fs::write(&place, revoked).unwrap();
            // It looks as if it were long ago: nothing but the change itself tells.
            let file = std::fs::File::options().write(true).open(&place).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        },
        ..Setup::of_tokens(&tokens)
    });
    until("the token is refused", || status(&world, "one") == 401);
}

/// Sets how many files this process may open.
fn allow_files(count: Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: count,
        ..limit
    };
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// Takes the tokens over although they can only be read a while after they changed: no file can be opened
/// meanwhile, and what is known about the file stays the same.
#[test]
#[ignore = "helper: another test starts it, since it limits its whole process"]
fn helper_with_no_files_left() {
    let world = World::with_tokens(&only("one"));
    let mut stream = world.client.connect().unwrap();
    let asked = |stream: &mut Connection, token: &str| {
        let header = format!("Authorization: Bearer {token}");
        ask(stream, "GET", "/config/worker", &[&header])
            .unwrap()
            .status
    };
    assert_eq!(
        (asked(&mut stream, "one"), asked(&mut stream, "two")),
        (200, 511)
    );
    world.write("new", &only("two"));
    // Until the file is no longer fresh, so that the server reads it as soon as it sees it.
    std::thread::sleep(Duration::from_millis(300));
    let before = getrlimit(Resource::Nofile).current;
    allow_files(Some(0));
    std::fs::rename(world.path("new"), world.path("tokens.yaml")).unwrap();
    until("it is told that the file cannot be read", || {
        world.said().contains("tokens not read again")
    });
    assert_eq!(
        (asked(&mut stream, "one"), asked(&mut stream, "two")),
        (200, 511)
    );
    allow_files(before);
    until("the new token is valid", || {
        asked(&mut stream, "two") == 200
    });
    assert_eq!(asked(&mut stream, "one"), 401);
}

#[test]
fn tokens_that_could_not_be_read_are_read_again_although_they_do_not_change() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "reload::helper_with_no_files_left", "--ignored"]);
    let ended = command.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}
