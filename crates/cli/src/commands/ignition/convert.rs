//! `bootlace ignition convert`.

use std::path::Path;

use bootlace_ignition::{Config, Version};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_report::output;

use super::input;
use crate::args::Output;
use crate::error::Ending;
use crate::session::Session;

pub(crate) fn convert(session: &Session, to: &str, file: &Path) -> Result<Ending, Fault> {
    let Some(version) = Version::meant(to) else {
        let known = Version::ALL.map(Version::name).join(", ");
        let message = format!("there is no version {to} of Ignition's spec");
        return Err(Fault::new(FaultKind::Usage, message).hint(format!("use one of {known}")));
    };
    let (_, config) = input::config(file)?;
    write(session, &config, version)?;
    Ok(Ending::Done)
}

/// Writes a config in a version to standard output.
pub(crate) fn write(session: &Session, config: &Config, version: Version) -> Result<(), Fault> {
    let value = config.to_version(version).map_err(|lost| {
        let things = match lost.len() {
            1 => "1 thing".to_owned(),
            many => format!("{many} things"),
        };
        let message = format!("Ignition {version} cannot express {things} of the config");
        let mut fault = Fault::bad_input(message)
            .because("Leaving it out would make another machine than the one that was asked for.")
            .hint("leave it out of the config, or choose a newer version");
        fault.details = lost.iter().map(ToString::to_string).collect();
        fault
    })?;
    let text = match session.console.output() {
        Output::Text | Output::Json => output::json(&value)?,
        Output::Yaml => output::yaml(&value)?,
    };
    session.console.write(&text)
}
