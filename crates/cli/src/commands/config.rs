//! `bootlace config`: print, check and describe config files.

use std::path::PathBuf;

use bootlace_model::config;
use bootlace_model::fault::Fault;
use bootlace_report::output;

use crate::args::{Config, Output};
use crate::error::Ending;
use crate::paths::Places;
use crate::session::Session;

pub(crate) fn config(session: &mut Session, args: Config) -> Result<Ending, Fault> {
    match args {
        Config::PrintDefaults => print_defaults(session)?,
        Config::Validate { files } => validate(session, files)?,
        Config::Schema => schema(session)?,
    }
    Ok(Ending::Done)
}

/// Prints the defaults with their comments; as JSON, which has none, only the values.
fn print_defaults(session: &Session) -> Result<(), Fault> {
    let text = config::print_defaults();
    match session.console.output() {
        Output::Text | Output::Yaml => session.console.write(&text),
        Output::Json => {
            let value: serde_json::Value = serde_saphyr::from_str(&text)
                .map_err(|error| Fault::internal(format!("the defaults are no YAML: {error}")))?;
            session.console.write(&output::json(&value)?)
        }
    }
}

fn validate(session: &mut Session, files: Vec<PathBuf>) -> Result<(), Fault> {
    session.globals.config.extend(files);
    let places = Places::new(&session.globals)?;
    let settings = session.settings(&places)?;
    match session.console.output() {
        Output::Text => {
            let name = &settings.cluster.name;
            let text = format!("Valid: these settings describe the cluster {name}.\n");
            session.console.say(&text);
            Ok(())
        }
        Output::Json | Output::Yaml => session.console.show(&settings, |_| String::new()),
    }
}

fn schema(session: &Session) -> Result<(), Fault> {
    let schema = config::schema();
    let text = match session.console.output() {
        Output::Text | Output::Json => output::json(&schema)?,
        Output::Yaml => output::yaml(&schema)?,
    };
    session.console.write(&text)
}
