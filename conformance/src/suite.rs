//! Listing and running specs: ginkgo starts several processes of `e2e.test`, and writes one report.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bootlace_lab::{ConformanceSuite, ProgramFolders};
use serde::Deserialize;

use crate::{ConformanceError, Result};

/// What every conformance spec has in its text.
const CONFORMANCE: &str = r"\[Conformance\]";

/// What a spec's line of output starts with when the spec has ended.
const ENDED: &str = "• [";

/// Kubernetes' specs and the programs that run them.
#[derive(Debug)]
pub struct Suite {
    built: ConformanceSuite,
    kubectl: PathBuf,
    scratch: PathBuf,
}

/// Which specs are run, and how.
#[derive(Debug, Clone, Copy)]
pub enum Choice<'a> {
    /// All conformance specs but these.
    AllBut(&'a [String]),
    /// Only these.
    Only(&'a [String]),
}

/// How one spec ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Whether it passed.
    pub passed: bool,
    /// How long it took.
    pub seconds: f64,
    /// The first lines of its failure; empty if it passed.
    pub failure: String,
}

/// A spec's end, as soon as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// It passed.
    Passed,
    /// It failed, with its full text.
    Failed(&'a str),
}

/// The part of ginkgo's report that matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    spec_reports: Vec<SpecReport>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SpecReport {
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_type: String,
    leaf_node_text: String,
    state: String,
    run_time: f64,
    failure: Option<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Failure {
    message: String,
}

/// The part of an archive's index that matters here.
#[derive(Debug, Deserialize)]
struct Index {
    manifests: Vec<Manifest>,
}

#[derive(Debug, Deserialize)]
struct Manifest {
    annotations: Annotations,
}

#[derive(Debug, Deserialize)]
struct Annotations {
    #[serde(rename = "io.containerd.image.name")]
    name: String,
}

impl SpecReport {
    fn text(&self) -> String {
        let above = self.container_hierarchy_texts.iter().flatten();
        let words: Vec<&str> = above
            .map(String::as_str)
            .chain([self.leaf_node_text.as_str()])
            .collect();
        words.join(" ")
    }
}

impl Suite {
    /// Finds what the lab built; reports and logs go to a folder.
    pub fn find(scratch: &Path) -> Result<Self> {
        fs::create_dir_all(scratch).map_err(ConformanceError::file("make", scratch))?;
        Ok(Self {
            built: ConformanceSuite::load()?,
            kubectl: ProgramFolders::load()?.kubernetes.join("kubectl"),
            scratch: scratch.to_owned(),
        })
    }

    /// Returns the version of Kubernetes whose specs these are.
    pub fn version(&self) -> &str {
        &self.built.version
    }

    /// Returns the archive of images that the specs need.
    pub fn images(&self) -> &Path {
        &self.built.images
    }

    /// Lists the full texts of all conformance specs, sorted.
    pub fn list(&self) -> Result<Vec<String>> {
        let report = self.scratch.join("list.json");
        let mut command = Command::new(self.built.specs());
        command
            .arg("--ginkgo.dry-run")
            .arg(format!("--ginkgo.focus={CONFORMANCE}"))
            .arg(format!("--ginkgo.json-report={}", report.display()));
        output("listing the specs", &mut command)?;
        Ok(read_report(&report)?.into_keys().collect())
    }

    /// Lists the images that specs of any kind ask for.
    pub fn images_asked_for(&self) -> Result<Vec<String>> {
        let mut command = Command::new(self.built.specs());
        let listed = output("listing the images", command.arg("--list-images"))?;
        Ok(listed.lines().map(ToOwned::to_owned).collect())
    }

    /// Lists the names of the images in the archive.
    pub fn image_names(&self) -> Result<Vec<String>> {
        let mut command = Command::new("tar");
        command.arg("-xOf").arg(self.images()).arg("index.json");
        let text = output("reading the archive of images", &mut command)?;
        let index: Index = serde_json::from_str(&text)
            .map_err(|error| ConformanceError::content(self.images(), &error))?;
        let name = |manifest: Manifest| manifest.annotations.name;
        Ok(index.manifests.into_iter().map(name).collect())
    }

    /// Runs specs on a cluster; returns how each of them ended.
    pub fn run(
        &self,
        kubeconfig: &Path,
        choice: Choice<'_>,
        processes: usize,
        mut tell: impl FnMut(Event<'_>),
    ) -> Result<BTreeMap<String, Ended>> {
        let report = self.scratch.join("report.json");
        if report.exists() {
            fs::remove_file(&report).map_err(ConformanceError::file("remove", &report))?;
        }
        let mut command = Command::new(self.built.ginkgo());
        command
            .arg(format!("--procs={processes}"))
            .arg(format!("--json-report={}", report.display()))
            .args(filter(choice))
            .args(["--timeout=3h", "--no-color", "-v", "--silence-skips"])
            .arg(self.built.specs())
            .arg("--")
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .arg(format!("--kubectl-path={}", self.kubectl.display()))
            .args(["--provider=skeleton", "--num-nodes=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| ConformanceError::program("starting ginkgo", &error))?;
        let path = self.scratch.join("ginkgo.log");
        let log = File::create(&path).map_err(ConformanceError::file("write", &path))?;
        if let Some(stdout) = child.stdout.take() {
            follow(BufReader::new(stdout), log, &mut tell)
                .map_err(ConformanceError::file("write", &path))?;
        }
        // Its exit code tells that a spec failed, which the report tells better.
        child
            .wait()
            .map_err(|error| ConformanceError::program("waiting for ginkgo", &error))?;
        read_report(&report)
    }
}

/// Copies the output of ginkgo to a log, and tells the ends of specs.
fn follow(
    output: impl std::io::BufRead,
    mut log: impl std::io::Write,
    tell: &mut impl FnMut(Event<'_>),
) -> std::io::Result<()> {
    let mut failed = false;
    for line in output.split(b'\n') {
        let line = line?;
        log.write_all(&line)?;
        log.write_all(b"\n")?;
        let line = String::from_utf8_lossy(&line);
        if failed {
            tell(Event::Failed(line.trim()));
            failed = false;
        } else if let Some(how) = line.strip_prefix(ENDED) {
            // The next line has the text of the spec.
            failed = how.starts_with(|first: char| first.is_ascii_uppercase());
            if !failed {
                tell(Event::Passed);
            }
        }
    }
    log.flush()
}

/// Returns the flags by which ginkgo chooses specs.
fn filter(choice: Choice<'_>) -> Vec<String> {
    match choice {
        Choice::AllBut(specs) => {
            let mut flags = vec![format!("--focus={CONFORMANCE}")];
            flags.extend(
                specs
                    .iter()
                    .map(|spec| format!("--skip={}$", escaped(spec))),
            );
            flags
        }
        Choice::Only(specs) => {
            let flag = |spec: &String| format!("--focus={}$", escaped(spec));
            specs.iter().map(flag).collect()
        }
    }
}

/// Returns a regular expression that matches exactly this text.
fn escaped(text: &str) -> String {
    let mut expression = String::new();
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$".contains(letter) {
            expression.push('\\');
        }
        expression.push(letter);
    }
    expression
}

/// Reads how each spec ended that was run.
fn read_report(path: &Path) -> Result<BTreeMap<String, Ended>> {
    let text = fs::read(path).map_err(ConformanceError::file("read", path))?;
    parse(&text).map_err(|error| ConformanceError::content(path, &error))
}

fn parse(text: &[u8]) -> serde_json::Result<BTreeMap<String, Ended>> {
    let reports: Vec<Report> = serde_json::from_slice(text)?;
    let specs = reports.into_iter().flat_map(|report| report.spec_reports);
    let ran = specs.filter(|spec| spec.leaf_node_type == "It" && spec.state != "skipped");
    Ok(ran
        .map(|spec| {
            let failure = spec.failure.as_ref();
            let failure = failure.map_or(String::new(), |failure| failure.message.clone());
            let ended = Ended {
                passed: spec.state == "passed",
                seconds: spec.run_time / 1e9,
                failure,
            };
            (spec.text(), ended)
        })
        .collect())
}

fn output(what: &str, command: &mut Command) -> Result<String> {
    let finished = command
        .output()
        .map_err(|error| ConformanceError::program(what, &error))?;
    if finished.status.success() {
        return Ok(String::from_utf8_lossy(&finished.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&finished.stderr);
    Err(ConformanceError::program(
        what,
        &format!("{}\n{said}", finished.status),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_specs_are_told_from_the_output() {
        let output = "------\n• [1.204 seconds]\n[sig-a] x passes [Conformance]\n\
                      ------\n• [FAILED] [12.030 seconds]\n[sig-a] y fails [Conformance]\ntext\n";
        let mut told = Vec::new();
        let mut log = Vec::new();
        follow(output.as_bytes(), &mut log, &mut |event| {
            told.push(format!("{event:?}"));
        })
        .unwrap();
        assert_eq!(
            told,
            ["Passed", "Failed(\"[sig-a] y fails [Conformance]\")"]
        );
        assert_eq!(log, output.as_bytes());
    }

    #[test]
    fn a_report_gives_the_specs_that_ran() {
        let report = r#"[{"SpecReports": [
            {"ContainerHierarchyTexts": ["[sig-a] x", "when"], "LeafNodeType": "It", "LeafNodeText": "fails",
             "State": "failed", "RunTime": 1500000000, "Failure": {"Message": "why"}},
            {"ContainerHierarchyTexts": null, "LeafNodeType": "It", "LeafNodeText": "left out",
             "State": "skipped", "RunTime": 0},
            {"ContainerHierarchyTexts": null, "LeafNodeType": "ReportAfterSuite", "LeafNodeText": "",
             "State": "passed", "RunTime": 0}]}]"#;
        let ended = Ended {
            passed: false,
            seconds: 1.5,
            failure: "why".into(),
        };
        let expected = BTreeMap::from([("[sig-a] x when fails".to_owned(), ended)]);
        assert_eq!(parse(report.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn a_spec_is_chosen_by_its_text_alone() {
        let specs = ["runs (twice) [Conformance]".to_owned()];
        assert_eq!(
            filter(Choice::Only(&specs)),
            [r"--focus=runs \(twice\) \[Conformance\]$"]
        );
        assert_eq!(
            filter(Choice::AllBut(&specs)),
            [
                r"--focus=\[Conformance\]",
                r"--skip=runs \(twice\) \[Conformance\]$"
            ]
        );
    }
}
