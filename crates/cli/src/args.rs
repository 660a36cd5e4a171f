//! The command line, as a value.

use std::ffi::OsString;
use std::path::PathBuf;

use bootlace_model::step::Choice;
use bootlace_steps::render::Component;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum, ValueHint};

use crate::commands::{Assets, Ignition, NodeNetwork, Pki, Serve, VersionOperator};
use crate::environment;

/// How wide help is where no terminal says it.
const COLUMNS: usize = 80;

/// What a person sees who types `bootlace` and nothing else.
const START_HERE: &str = "\
Start here:
  bootlace explain cluster              what there is to do, and why
  bootlace plan cluster --root DIR      what that would change; touches nothing
  bootlace run cluster --root DIR --to release-info      do it, in a folder
";

/// Bring machines and clusters to life, one step at a time
///
/// Every step explains itself, is planned without touching anything, is run, verified, resumed
/// after a power cut, and taken back.
#[derive(Debug, Parser)]
#[command(name = "bootlace", version, after_help = START_HERE, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Returns the command line. Help that goes to a file or a pipe is 80 columns wide, whatever terminal
/// the caller sits at.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    if environment::of_stdout().columns.is_some() {
        command
    } else {
        command.term_width(COLUMNS)
    }
}

/// Flags that every command takes, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Flags everywhere")]
pub(crate) struct Globals {
    /// A config file; several are merged, later ones win [default: all of /etc/bootlace/*.yaml]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(env = "BOOTLACE_CONFIG", hide_env_values = true)]
    pub(crate) config: Vec<PathBuf>,
    /// The root of the machine that is worked on
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(env = "BOOTLACE_ROOT", hide_env_values = true, default_value = "/")]
    pub(crate) root: PathBuf,
    /// Journals, blobs and locks [default: /var/lib/bootlace below the root]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(env = "BOOTLACE_STATE", hide_env_values = true)]
    pub(crate) state: Option<PathBuf>,
    /// The asset folder [default: /opt/bootlace below the root]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(env = "BOOTLACE_ASSETS", hide_env_values = true)]
    pub(crate) assets: Option<PathBuf>,
    /// The notation of data on stdout
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    pub(crate) output: Output,
    /// When output is coloured; `NO_COLOR` counts, too
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// What is shown on stderr while something is under way
    #[arg(long, global = true, value_enum, default_value_t, value_name = "HOW")]
    pub(crate) progress: Progress,
    /// Show failures only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show evidence, and commands to do the same by hand
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// The notation of data on stdout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For both
    Yaml,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What is shown while something is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// Live on a terminal, plain elsewhere
    #[default]
    Auto,
    /// One line an event
    Plain,
    /// One JSON object an event
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tell what steps are for, what they read and write, how they are checked and undone
    #[command(after_help = "\
Examples:
  bootlace explain cluster
  bootlace explain cluster --only prepare-assets
  bootlace explain cluster -o json | jq -r '.steps[].id'")]
    Explain(Explain),
    /// Show what a run would change, without touching anything
    #[command(after_help = "\
Examples:
  bootlace plan cluster --root /tmp/demo
  bootlace plan cluster --only copy-manifests -v")]
    Plan(Plan),
    /// Do what the plan says; goes on with an unfinished run
    #[command(after_help = "\
Examples:
  bootlace run cluster --root /tmp/demo --to release-info
  bootlace run cluster --root /tmp/demo --to release-info --pause")]
    Run(Run),
    /// Check again that everything that was done still holds
    #[command(after_help = "\
Ends with code 6 if something drifted.

Examples:
  bootlace verify cluster --root /tmp/demo
  bootlace verify cluster --root /tmp/demo -o json | jq .ok
  bootlace verify cluster --benchmark cis")]
    Verify(Verify),
    /// Go on with a run that failed, was stopped or was cut off
    #[command(after_help = "\
Example:
  bootlace resume cluster --root /tmp/demo --to release-info")]
    Resume(Run),
    /// Take back what a run did, newest first
    #[command(after_help = "\
What someone edited since is left alone and listed; the command then ends with code 9.

Examples:
  bootlace undo cluster --root /tmp/demo
  bootlace undo cluster --root /tmp/demo --from release-info")]
    Undo(Undo),
    /// Give a machine back after the point of no return: everything that the run made is removed
    #[command(after_help = "\
The cluster's data on this machine is lost. Asks first, unless --yes is given.

Example:
  bootlace reset")]
    Reset(Reset),
    /// Bring up a local cluster on a machine of its own, or find it up
    #[command(after_help = "\
Ends with a line for your shell, on stdout; with -o json, with the path of the kubeconfig.
  eval $(bootlace up)
  kubectl get nodes")]
    Up(Up),
    /// Remove all that `up` made, and nothing else
    #[command(after_help = "\
Asks first if `up` is still running, unless --yes is given.")]
    Down(Down),
    /// Open a shell in a machine of `up`, or run one command there
    #[command(after_help = "\
Examples:
  bootlace shell
  bootlace shell m1 -- journalctl -u kubelet

The exit code is the command's.")]
    Shell(Shell),
    /// Lead connections to a machine of `up`; it is started by that
    #[command(hide = true)]
    Forward(Forward),
    /// Run the static pods below the root as plain processes; it is started by a run
    #[command(hide = true)]
    Supervise(Supervise),
    /// Tell where a run stands
    #[command(after_help = "\
Without a sequence it means the only run there is.

Examples:
  bootlace status --root /tmp/demo
  bootlace status cluster --root /tmp/demo -v")]
    Status(crate::commands::Status),
    /// Read a run's journal
    #[command(after_help = "\
Examples:
  bootlace log cluster --root /tmp/demo
  bootlace log cluster --root /tmp/demo -o json | jq .rec.kind")]
    Log(OnRun),
    /// List all runs
    Runs,
    /// Render what one component needs, as its stage does, into a folder
    ///
    /// Called like the render command of an operator. The name of the node and the release come
    /// from the records beside the input folder, else from the asset folder, else from the config.
    #[command(after_help = "\
Examples:
  bootlace render etcd --asset-input-dir ASSETS/tls --asset-output-dir /tmp/e
  bootlace render mco --asset-input-dir ASSETS/manifests --asset-output-dir /tmp/m")]
    Render(Render),
    /// Print, check and describe config files
    #[command(subcommand)]
    Config(Config),
    /// List and check the cluster's keys and certificates, and rotate the encryption key
    #[command(subcommand)]
    Pki(Pki),
    /// Check, translate, merge and apply Ignition configs
    #[command(subcommand)]
    Ignition(Ignition),
    /// Make what machines are given: keys, certificates, kubeconfigs, tokens, pointer configs
    #[command(subcommand)]
    Assets(Assets),
    /// Serve Ignition configs to machines that boot for the first time
    #[command(after_help = "\
Runs until it is stopped, and then ends what is under way.

Examples:
  bootlace serve --pools DIR --listen 0.0.0.0:22623 --cert tls.crt --key tls.key --tokens tokens.yaml
  printf %s TOKEN | sha256sum    what stands in tokens.yaml for a token")]
    Serve(Serve),
    /// Hold a cluster to its release: apply its manifests, and put right what drifts
    #[command(after_help = "\
Runs in the cluster until it is stopped. Progress is on the ClusterVersion `version`.

Example:
  bootlace version-operator --kubeconfig /etc/kubernetes/admin.conf --release-manifests DIR --once")]
    VersionOperator(VersionOperator),
    /// Give the pods of a node their network
    #[command(hide = true)]
    NodeNetwork(NodeNetwork),
    /// Print the completions for a shell
    #[command(after_help = "\
Example:
  bootlace completions bash > /etc/bash_completion.d/bootlace")]
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print a manual page
    #[command(after_help = "\
Examples:
  bootlace man | man -l -
  bootlace man config validate | man -l -")]
    Man {
        /// The command; none for the page of bootlace itself
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

/// Which steps of which sequence.
#[derive(Debug, Clone, Args)]
pub(crate) struct Steps {
    /// The sequence of steps: cluster or ignition
    #[arg(value_name = "SEQUENCE")]
    pub(crate) sequence: String,
    /// The first step
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<String>,
    /// The last step
    #[arg(long, value_name = "STEP")]
    pub(crate) to: Option<String>,
    /// The only step
    #[arg(long, value_name = "STEP", conflicts_with_all = ["from", "to"])]
    pub(crate) only: Option<String>,
}

impl Steps {
    /// Returns the choice of steps.
    pub(crate) fn choice(&self) -> Choice {
        Choice {
            from: self.from.clone(),
            to: self.to.clone(),
            only: self.only.clone(),
        }
    }
}

/// `explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) steps: Steps,
    #[command(flatten)]
    pub(crate) given: Given,
}

/// What a sequence works by, beside the config.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Given {
    /// The Ignition config that the sequence `ignition` applies [default: that of the run]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ignition: Option<PathBuf>,
}

/// `verify`, `log` and others.
#[derive(Debug, Args)]
pub(crate) struct OnRun {
    #[command(flatten)]
    pub(crate) steps: Steps,
    /// Which run [default: the newest of the sequence]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
}

/// `verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) on: OnRun,
    /// Judge this machine by a benchmark of hardening instead
    #[arg(long, value_name = "NAME", value_enum, conflicts_with_all = ["from", "to", "only", "run"])]
    pub(crate) benchmark: Option<Benchmark>,
}

/// A benchmark of hardening.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Benchmark {
    /// The CIS Kubernetes Benchmark
    Cis,
}

/// `plan`.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) on: OnRun,
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) placed: Placed,
    /// Plan every step again, also those that are done
    #[arg(long)]
    pub(crate) replan: bool,
}

/// Who runs the control plane.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Placed {
    /// Who runs the control plane [default: as the run began; a new one: kubelet]
    #[arg(long, value_enum, value_name = "WHO")]
    pub(crate) placement: Option<PlacementName>,
    /// A folder with the programs of plain processes; several are searched in turn [default: those
    /// of PATH, else what `make lab` built]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "placement")]
    pub(crate) programs: Vec<PathBuf>,
}

/// Who runs a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlacementName {
    /// The kubelet of this machine, in containers
    Kubelet,
    /// A supervisor, as plain processes below --root; needs no root
    Process,
}

/// `run` and `resume`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that people type"
)]
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) on: OnRun,
    #[command(flatten)]
    pub(crate) given: Given,
    #[command(flatten)]
    pub(crate) placed: Placed,
    /// Stop before every step, explain it, and wait for Enter
    #[arg(long)]
    pub(crate) pause: bool,
    /// If another process works on the run, show its progress instead of refusing
    #[arg(long)]
    pub(crate) attach: bool,
    /// How many steps run side by side at most [default: one for each processor, at least 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Go on although the config or the tool changed, and plan every step again
    #[arg(long)]
    pub(crate) replan: bool,
    /// Preflight checks that are not looked at, by name; `all` for all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) ignore_preflight_errors: Vec<String>,
    /// Start a control plane from images that are not pinned by digest
    #[arg(long)]
    pub(crate) insecure_unpinned_release: bool,
    /// Remove the asset folder as a whole at the end, not only its secrets
    #[arg(long)]
    pub(crate) clean: bool,
}

/// `ignition apply`.
#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The config; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

/// `reset`.
#[derive(Debug, Args)]
pub(crate) struct Reset {
    /// Which run [default: the newest of the cluster]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Do not ask first
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// `up`.
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Where the control plane runs [default: machine, if this computer can start one]
    #[arg(long = "in", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<In>,
    /// How many machines
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) nodes: u16,
    /// Stop before every step, explain it, and wait for Enter
    #[arg(long)]
    pub(crate) pause: bool,
    /// A folder with the programs of plain processes; several are searched in turn [default: those
    /// of PATH, else what `make lab` built]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) programs: Vec<PathBuf>,
}

/// `supervise`.
#[derive(Debug, Args)]
pub(crate) struct Supervise {
    /// A folder with programs; several are searched in turn
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Vec<PathBuf>,
    /// Only tell whether a supervisor works: code 0 if so, 6 if not
    #[arg(long, conflicts_with_all = ["stop", "serve"])]
    pub(crate) check: bool,
    /// End the supervisor and all its processes
    #[arg(long, conflicts_with = "serve")]
    pub(crate) stop: bool,
    /// Become the supervisor, in this process
    #[arg(long)]
    pub(crate) serve: bool,
}

/// `down`.
#[derive(Debug, Args)]
pub(crate) struct Down {
    /// Where the control plane runs
    #[arg(long = "in", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<In>,
    /// Do not ask first, even while `up` is running
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// `shell`.
#[derive(Debug, Args)]
pub(crate) struct Shell {
    /// Which machine; the first if none is named
    pub(crate) machine: Option<String>,
    /// A command to run instead of a shell
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Where a local control plane runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum In {
    /// On a machine of its own, with systemd
    Machine,
    /// As plain processes of whoever calls
    Process,
}

/// `forward`.
#[derive(Debug, Args)]
pub(crate) struct Forward {
    /// The folder of the machines
    pub(crate) folder: PathBuf,
    /// Where to listen
    pub(crate) listen: std::net::SocketAddr,
    /// Where to connect to, inside the machines' network
    pub(crate) target: std::net::SocketAddr,
}

/// `undo`.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    #[command(flatten)]
    pub(crate) on: OnRun,
    /// Also take back what someone edited since; their edits are lost
    #[arg(long)]
    pub(crate) force: bool,
}

/// `render`.
#[derive(Debug, Args)]
pub(crate) struct Render {
    /// What to render
    #[arg(value_name = "COMPONENT", value_parser = components())]
    pub(crate) component: String,
    /// The folder with keys and certificates, or with your manifests
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) asset_input_dir: PathBuf,
    /// The folder into which files are written
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) asset_output_dir: PathBuf,
    /// The image of the component, instead of that of the release
    #[arg(long, value_name = "IMAGE")]
    pub(crate) manifest_image: Option<String>,
}

/// Accepts the names of renderers, and the names that operators have for them.
fn components() -> PossibleValuesParser {
    let values = Component::ALL.iter().map(|component| {
        PossibleValue::new(component.name).aliases(component.aliases.iter().copied())
    });
    PossibleValuesParser::new(values)
}

/// `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print a config with every default and what it means
    #[command(after_help = "\
Example:
  bootlace config print-defaults > cluster.yaml")]
    PrintDefaults,
    /// Read config files and say what is wrong with them
    #[command(after_help = "\
With -o json or -o yaml the settings that the files lead to are printed.

Example:
  bootlace config validate cluster.yaml")]
    Validate {
        /// Config files, after those of --config
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Print the JSON Schema of config files, for editors
    Schema,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_count_before_and_after_the_command() {
        for words in [
            ["bootlace", "--root", "/x", "-o", "json", "runs"],
            ["bootlace", "runs", "--root", "/x", "-o", "json"],
            ["bootlace", "-o", "json", "runs", "--root", "/x"],
        ] {
            let cli = Cli::try_parse_from(words).unwrap();
            assert_eq!(cli.globals.root, PathBuf::from("/x"));
            assert_eq!(cli.globals.output, Output::Json);
        }
    }
}
