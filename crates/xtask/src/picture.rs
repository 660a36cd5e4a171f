//! Draws what a person sees: real commands in a real terminal, as a picture for the front page.
//!
//! tmux is the terminal. It is not part of `make check`, because every run has its own id and times.

mod screen;
mod svg;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::root::root;

/// A tmux server of our own, so that nobody's sessions are touched.
const SERVER: &str = "bootlace-picture";

/// The terminal's width and height; lines that stay empty at the end are not drawn.
const COLUMNS: usize = 80;
const ROWS: usize = 80;

/// A picture: what is typed, and where it is kept.
struct Scene {
    name: &'static str,
    /// The picture in the repository.
    file: &'static str,
    /// What must not be there before; it shows in the picture, so it has a plain name.
    place: &'static str,
    /// What is typed.
    commands: &'static [&'static str],
    /// What is typed afterwards, when nobody looks any more.
    then: &'static str,
}

const SCENES: [Scene; 2] = [
    Scene {
        name: "run",
        file: "docs/pictures/run.svg",
        place: "/tmp/demo",
        commands: &[
            "bootlace run cluster --to release-info --root /tmp/demo",
            "echo '# a note' >> /tmp/demo/opt/bootlace/auth/admin.conf",
            "bootlace verify cluster --root /tmp/demo",
        ],
        then: "rm -rf /tmp/demo",
    },
    // The machines of `make lab` are needed, and root.
    Scene {
        name: "up",
        file: "docs/pictures/up.svg",
        place: "/var/lib/bootlace/up",
        commands: &[
            "eval $(bootlace up)",
            "kubectl get nodes",
            "kubectl get pods -n sample",
        ],
        then: "bootlace down",
    },
];

/// Draws the pictures that are named.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = root()?;
    let named = |scene: &&Scene| arguments.iter().any(|name| name == scene.name);
    let scenes: Vec<&Scene> = SCENES.iter().filter(named).collect();
    if scenes.len() != arguments.len() || scenes.is_empty() {
        return Err(Failure::Found {
            summary: "which picture?".into(),
            findings: SCENES.iter().map(|scene| scene.name.into()).collect(),
            hint: "name one or more of them",
        });
    }
    let build = ["build", "--release", "--locked", "-p", "bootlace"];
    call(Command::new("cargo").current_dir(&root).args(build))?;
    scenes.into_iter().try_for_each(|scene| draw(&root, scene))
}

fn draw(root: &Path, scene: &Scene) -> Result<(), Failure> {
    if Path::new(scene.place).exists() {
        return Err(Failure::Found {
            summary: format!(
                "{} is in the way; the picture begins without it",
                scene.place
            ),
            findings: vec![],
            hint: "move it away or remove it",
        });
    }
    let screen = capture(root, scene)?;
    let picture = svg::draw(&screen::parse(&screen), COLUMNS);
    let file = root.join(scene.file);
    let folder = file.parent().unwrap_or(root);
    fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    fs::write(&file, picture).map_err(Failure::file(&file))?;
    let drawn = scene.file;
    println!("picture: {drawn} is drawn; look at it before you commit it");
    Ok(())
}

/// Types the commands in a terminal and returns its screen, with colours.
fn capture(root: &Path, scene: &Scene) -> Result<String, Failure> {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("PATH={}:{path}", root.join("target/release").display());
    let lab = format!("BOOTLACE_LAB={}", root.join("target/lab.json").display());
    let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
    let session = ["-f", "/dev/null", "-u", "new-session", "-d"];
    let size = ["-x", &columns, "-y", &rows];
    let shell = ["env", &path, &lab, "LC_ALL=C.UTF-8", "bash", "-c"];
    let mut begin = tmux();
    let begin = begin.args(session).args(size).args(shell);
    call(begin.arg(script(scene)))?;
    let screen = call(tmux().args(["wait-for", "drawn"]))
        .and_then(|_| call(tmux().args(["capture-pane", "-e", "-p"])));
    call(tmux().args(["wait-for", "-S", "seen"]))?;
    call(tmux().args(["wait-for", "gone"]))?;
    call(tmux().arg("kill-server"))?;
    screen
}

fn tmux() -> Command {
    let mut command = Command::new("tmux");
    command.args(["-L", SERVER]);
    command.env_remove("TMUX");
    command
}

/// Returns a script that shows each command behind a prompt, runs it, and tidies up when it was seen.
fn script(scene: &Scene) -> String {
    let typed = |command: &&str| {
        let shown = command.replace('\'', r"'\''");
        format!("printf '\\033[32m$\\033[0m \\033[1m%s\\033[0m\\n' '{shown}'\n{command}\n")
    };
    // An empty line before a prompt keeps the commands apart.
    let commands: Vec<String> = scene.commands.iter().map(typed).collect();
    let (commands, then) = (commands.join("echo\n"), scene.then);
    format!(
        "cd /\n{commands}tmux wait-for -S drawn\ntmux wait-for seen\n{then}\n\
         tmux wait-for -S gone\nsleep 60\n"
    )
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
