//! Draws what a person sees: real commands in a real terminal, as a picture for the front page.
//!
//! tmux is the terminal. It is not part of `make check`, because every run has its own id and times.

mod screen;
mod svg;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, no_arguments};
use crate::root::root;

/// The picture in the repository.
const FILE: &str = "docs/pictures/run.svg";

/// The folder that the commands work on; it shows in the picture, so it has a plain name.
const DEMO: &str = "/tmp/demo";

/// A tmux server of our own, so that nobody's sessions are touched.
const SERVER: &str = "bootlace-picture";

/// The terminal's width and height; lines that stay empty at the end are not drawn.
const COLUMNS: usize = 80;
const ROWS: usize = 60;

/// What is typed.
const COMMANDS: &[&str] = &[
    "bootlace run cluster --to release-info --root /tmp/demo",
    "echo '# a note' >> /tmp/demo/opt/bootlace/auth/admin.conf",
    "bootlace verify cluster --root /tmp/demo",
];

/// Draws the picture.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let root = root()?;
    if Path::new(DEMO).exists() {
        return Err(Failure::Found {
            summary: format!("{DEMO} is in the way; the picture begins with an empty folder"),
            findings: vec![],
            hint: "move it away or remove it",
        });
    }
    let build = ["build", "--release", "--locked", "-p", "bootlace"];
    call(Command::new("cargo").current_dir(&root).args(build))?;
    fs::create_dir(DEMO).map_err(Failure::file(DEMO.as_ref()))?;
    let screen = capture(&root.join("target/release"));
    fs::remove_dir_all(DEMO).map_err(Failure::file(DEMO.as_ref()))?;
    let picture = svg::draw(&screen::parse(&screen?), COLUMNS);
    let file = root.join(FILE);
    let folder = file.parent().unwrap_or(&root);
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    fs::write(&file, picture).map_err(Failure::file(&file))?;
    println!("picture: {FILE} is drawn; look at it before you commit it");
    Ok(())
}

/// Types the commands in a terminal and returns its screen, with colours.
fn capture(programs: &Path) -> Result<String, Failure> {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("PATH={}:{path}", programs.display());
    let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
    let session = ["-f", "/dev/null", "-u", "new-session", "-d"];
    let size = ["-x", &columns, "-y", &rows];
    let shell = ["env", &path, "LC_ALL=C.UTF-8", "bash", "-c"];
    let mut begin = tmux();
    begin.args(session).args(size).args(shell).arg(script());
    call(&mut begin)?;
    let screen = call(tmux().args(["wait-for", "drawn"]))
        .and_then(|_| call(tmux().args(["capture-pane", "-e", "-p"])));
    call(tmux().arg("kill-server"))?;
    screen
}

fn tmux() -> Command {
    let mut command = Command::new("tmux");
    command.args(["-L", SERVER]);
    command.env_remove("TMUX");
    command
}

/// Returns a script that shows each command behind a prompt, runs it, and then waits.
fn script() -> String {
    let typed = |command: &&str| {
        let shown = command.replace('\'', r"'\''");
        format!("printf '\\033[32m$\\033[0m \\033[1m%s\\033[0m\\n' '{shown}'\n{command}\n")
    };
    // An empty line before a prompt keeps the commands apart.
    let commands: Vec<String> = COMMANDS.iter().map(typed).collect();
    let commands = commands.join("echo\n");
    format!("cd /\n{commands}tmux wait-for -S drawn\nsleep 60\n")
}

/// Runs a program to its end and returns its stdout.
fn call(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |reason: String| Failure::Program {
        command: name,
        reason,
    };
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(failed(error.to_string())),
    };
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(failed(stderr.trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
