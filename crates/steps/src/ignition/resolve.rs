//! From the text of a config to what it asks for: other configs followed, everything fetched.
//!
//! Whoever calls says how a URL is fetched, so that nothing here touches the world. Bounds hold for
//! everything that comes from elsewhere: how large, how many, how deep.

mod build;
mod content;
mod supply;

use std::sync::Arc;
use std::time::Duration;

use bootlace_ignition::{
    Config, Finding, Parsed, Problem, Report, Resource, Severity, parse, parse_shared,
};
use bootlace_model::content::Content;
use bootlace_model::fault::{Fault, Place};
use bootlace_model::provision::{Inputs, Provision};

use content::Contents;
pub use supply::Reread;

/// The largest config that is read.
const LARGEST_CONFIG: u64 = 64 << 20;
/// The largest content that is taken, after it is unpacked.
const LARGEST_CONTENT: u64 = 128 << 20;
/// The most bytes that all contents have together.
const LARGEST_TOTAL: u64 = 512 << 20;
/// How deep configs may refer to others.
const DEEPEST: usize = 16;
/// How many configs may belong to one.
const MOST_CONFIGS: usize = 128;
/// How long one source may take, unless the config says it.
const WITHIN: Duration = Duration::from_mins(5);

/// Something to fetch.
#[derive(Debug, Clone)]
pub struct Request {
    /// From where, over http or https.
    pub url: String,
    /// Headers to send, but not to where a redirect leads.
    pub headers: Vec<(String, String)>,
    /// Authorities in PEM that are trusted beside those of this machine.
    pub authorities: Option<Vec<u8>>,
    /// The most bytes that are accepted.
    pub limit: u64,
    /// How long all tries together may take.
    pub within: Duration,
}

/// How something is fetched.
pub type Fetch<'a> = dyn FnMut(&Request) -> Result<Vec<u8>, Fault> + 'a;

/// The text of a config.
#[derive(Debug)]
pub struct Text {
    /// What it is called: a path or a URL.
    pub name: String,
    /// The text.
    pub bytes: Vec<u8>,
    /// How parts of it are read again, if it need not stay in memory.
    pub again: Option<Arc<dyn Reread>>,
}

/// What a config comes to.
#[derive(Debug)]
pub struct Resolved {
    /// What it asks for.
    pub provision: Provision,
    /// What it was read from.
    pub inputs: Inputs,
    /// What is odd about it, a sentence each.
    pub warnings: Vec<String>,
}

/// Reads a config, follows what it refers to, and fetches all contents.
pub fn resolve(text: Text, fetch: &mut Fetch<'_>) -> Result<Resolved, Fault> {
    let name = text.name;
    let mut resolver = Resolver {
        contents: Contents::new(fetch),
        configs: 0,
        way: vec![],
        warnings: vec![],
    };
    let (config, content) = match String::from_utf8(text.bytes) {
        Ok(whole) => {
            let whole = Arc::new(whole);
            let Parsed { report, config, .. } = parse_shared(&name, &whole);
            let config = resolver.usable(&name, report, config)?;
            let content = resolver.contents.keep_text(&whole, text.again);
            (config, content)
        }
        Err(odd) => {
            let bytes = odd.into_bytes();
            let Parsed { report, config, .. } = parse(&name, &bytes);
            let config = resolver.usable(&name, report, config)?;
            (config, Content::of(bytes))
        }
    };
    resolver.contents.settle(&config)?;
    let merges = !config.references().merge.is_empty() || config.references().replace.is_some();
    let config = resolver.render(config)?;
    if merges {
        resolver.judge(&name, config.validate())?;
    }
    refuse_disks(&config)?;
    let provision = build::build(&name, &config, &mut resolver.contents)?;
    Ok(Resolved {
        provision,
        inputs: Inputs {
            name,
            config: content,
            fetched: resolver.contents.fetched,
        },
        warnings: resolver.warnings,
    })
}

struct Resolver<'f, 'a> {
    contents: Contents<'f, 'a>,
    configs: usize,
    /// The URLs of the configs that are being followed, outermost first.
    way: Vec<String>,
    warnings: Vec<String>,
}

impl Resolver<'_, '_> {
    fn read(&mut self, name: &str, text: Vec<u8>) -> Result<Config, Fault> {
        let Parsed { report, config, .. } = match String::from_utf8(text) {
            Ok(text) => parse_shared(name, &Arc::new(text)),
            Err(odd) => parse(name, odd.as_bytes()),
        };
        self.usable(name, report, config)
    }

    fn usable(
        &mut self,
        name: &str,
        report: Report,
        config: Option<Config>,
    ) -> Result<Config, Fault> {
        self.judge(name, report)?;
        config.ok_or_else(|| Fault::internal(format!("{name} was refused without a reason")))
    }

    /// Keeps warnings, and refuses on errors with all of them.
    fn judge(&mut self, name: &str, report: Report) -> Result<(), Fault> {
        let (errors, warnings): (Vec<Finding>, Vec<Finding>) = report
            .findings
            .into_iter()
            .partition(|finding| finding.severity == Severity::Error);
        let told = |finding: &Finding| format!("{}: {}", finding.place, finding.problem);
        self.warnings.extend(warnings.iter().map(told));
        let Some(first) = errors.first() else {
            return Ok(());
        };
        let message = match errors.len() {
            1 => format!("{}: {}", first.place.path, first.problem),
            several => format!("the config has {several} errors"),
        };
        let mut fault = Fault::bad_input(message.trim_start_matches(": "))
            .at(place(&first.place))
            .because(match first.problem {
                Problem::Empty => "It may be the wrong file; nothing was touched.",
                _ => "Ignition would refuse it, too; nothing was touched.",
            })
            .hint(match errors.len() {
                1 => first.problem.advice().to_owned(),
                _ if name.contains("://") || name == "a data URL" => {
                    "correct what is listed above, where it comes from".to_owned()
                }
                _ => format!("`bootlace ignition validate {name}` tells all that is wrong"),
            });
        if errors.len() > 1 {
            fault.details = errors.iter().map(told).collect();
        }
        Err(fault)
    }

    /// Follows what a config refers to, as Ignition does.
    fn render(&mut self, config: Config) -> Result<Config, Fault> {
        let references = config.references();
        if let Some(replace) = &references.replace
            && replace.source.is_some()
        {
            let other = self.follow(replace)?;
            self.contents.settle(&other)?;
            let rendered = self.render(other);
            self.way.pop();
            return rendered;
        }
        if references.merge.is_empty() {
            return Ok(config);
        }
        let mut merged: Option<Config> = None;
        for reference in &references.merge {
            let so_far = merged.as_ref().unwrap_or(&config);
            let other = self.follow(reference)?;
            // What the new one says about fetching counts already for what it refers to.
            self.contents.settle(&Config::merge(so_far, &other))?;
            let other = self.render(other)?;
            self.way.pop();
            let so_far = merged.as_ref().unwrap_or(&config);
            merged = Some(Config::merge(so_far, &other));
        }
        Ok(merged.unwrap_or(config))
    }

    /// Fetches and reads a config that another one refers to.
    fn follow(&mut self, reference: &Resource<'_>) -> Result<Config, Fault> {
        let url = reference.source.unwrap_or_default();
        let name = content::shown(url);
        let refused = |message: String| {
            Fault::bad_input(format!("{}: {message}", reference.place.path))
                .at(place(&reference.place))
                .because("Configs that refer to each other without end would never be applied.")
        };
        self.configs += 1;
        if self.configs > MOST_CONFIGS {
            let message = format!("more than {MOST_CONFIGS} configs belong together");
            return Err(refused(message).hint("merge some of them beforehand"));
        }
        if self.way.iter().any(|earlier| earlier == url) {
            let way: Vec<String> = self.way.iter().map(|url| content::shown(url)).collect();
            let way = format!("{} → {name}", way.join(" → "));
            let message = format!("configs refer to each other in a circle: {way}");
            return Err(refused(message).hint("remove one of the references"));
        }
        if self.way.len() >= DEEPEST {
            let message = format!("configs refer to each other more than {DEEPEST} deep");
            return Err(refused(message).hint("merge some of them beforehand"));
        }
        let is_upper = |hash: &str| hash.bytes().any(|byte| byte.is_ascii_uppercase());
        if reference.hash.is_some_and(is_upper) {
            // Of contents it reads the digits, of configs it compares the letters.
            let message = "the hash of a config has digits in upper case";
            return Err(refused(message.to_owned())
                .because("Ignition would refuse the config, whatever it holds.")
                .hint("write the hash in lower case"));
        }
        let text = self.contents.take(reference, LARGEST_CONFIG)?;
        let config = self.read(&name, text)?;
        self.way.push(url.to_owned());
        Ok(config)
    }
}

/// Refuses what only a machine that does not run yet can have done to it.
fn refuse_disks(config: &Config) -> Result<(), Fault> {
    let needs = config.needs_disks();
    let Some((first, at)) = needs.first() else {
        return Ok(());
    };
    let message = format!("{first} cannot be applied here: it would change disks");
    let mut fault = Fault::bad_input(message)
        .at(place(at))
        .because("Disks, RAID, LUKS and filesystems are set up before a machine runs from them.")
        .hint("take it out of the config, or let Ignition itself apply it at the first boot");
    let others = needs.iter().skip(1);
    fault.details = others.map(|(what, at)| format!("{what} at {at}")).collect();
    Err(fault)
}

/// Turns a place in a config into a fault's.
fn place(place: &bootlace_ignition::Place) -> Place {
    Place {
        file: place.source.to_string(),
        line: Some(place.line.into()),
        column: Some(place.column.into()),
    }
}
