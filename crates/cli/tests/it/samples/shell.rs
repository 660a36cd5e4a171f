//! A shell that types what a page says.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::{Builder, TempDir};

use super::page::{Deed, Page};
use super::show::Shown;

/// The folder that the guides use. Each page gets one of its own, with a name of the same length,
/// because lines are wrapped by their length.
const DEMO: &str = "/tmp/demo";
/// The port that the guides use. Each page gets a free one, with as many digits.
const PORT: &str = "22623";
/// How long the samples of one page may take on a busy computer.
const SECONDS: &str = "300";

/// Does what a page wants, and returns what each command showed.
#[expect(
    clippy::disallowed_methods,
    reason = "a test's own files and processes"
)]
pub(crate) fn run(page: &Page) -> Vec<Shown> {
    let samples = page.samples().count();
    if samples == 0 {
        return vec![];
    }
    let demo = Builder::new()
        .prefix("")
        .rand_bytes(4)
        .tempdir_in("/tmp")
        .unwrap();
    let demo_path = demo.path().to_str().unwrap();
    assert_eq!(demo_path.len(), DEMO.len());
    let (folder, outputs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let script = outputs.path().join("script");
    let port = free_port();
    let text = script_of(page, outputs.path())
        .replace(DEMO, demo_path)
        .replace(PORT, &port);
    std::fs::write(&script, text).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_bootlace"));
    let programs = program.parent().unwrap().display();
    let ended = Command::new("timeout")
        .args(["-s", "KILL", SECONDS, "bash"])
        .arg(&script)
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
        .env("HOME", folder.path())
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "80")
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(ended.success(), "the shell ended: {ended}");
    let read = |name: String| std::fs::read_to_string(outputs.path().join(name)).unwrap();
    let shown = (0..samples).map(|n| {
        let succeeded = read(format!("{n}.status")) == "0\n";
        let output = read(n.to_string());
        let output = output.replace(demo_path, DEMO).replace(&port, PORT);
        Shown::new(succeeded, &output)
    });
    shown.collect()
}

fn free_port() -> String {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        if port.len() == PORT.len() {
            return port;
        }
    }
}

/// Writes the script: each command prints into a file of its own, and sees how the last one ended.
fn script_of(page: &Page, outputs: &Path) -> String {
    let outputs = outputs.display();
    let mut script = "status=0\n".to_owned();
    let mut n = 0;
    for deed in &page.deeds {
        match deed {
            Deed::Write { name, text } => {
                assert!(!text.contains("\nEND-OF-FILE\n"));
                writeln!(script, "cat > {name} <<'END-OF-FILE'\n{text}END-OF-FILE").unwrap();
            }
            Deed::Type(sample) => {
                let command = &sample.command;
                writeln!(
                    script,
                    "{{\n(exit $status)\n{command}\nstatus=$?\n}} >{outputs}/{n} 2>&1\n\
                     echo $status >{outputs}/{n}.status"
                )
                .unwrap();
                n += 1;
            }
        }
    }
    script
}
