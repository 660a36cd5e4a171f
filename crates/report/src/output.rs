//! Views as JSON and YAML: the same shape in two notations.

use bootlace_model::fault::Fault;
use serde::Serialize;

/// Writes a view as JSON, indented, with a line end.
pub fn json<T: Serialize>(view: &T) -> Result<String, Fault> {
    let mut text = serde_json::to_string_pretty(view)
        .map_err(|error| Fault::internal(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// Writes a view as JSON on one line, for streams in which every line is an object.
pub fn json_line<T: Serialize>(view: &T) -> Result<String, Fault> {
    let mut text = serde_json::to_string(view)
        .map_err(|error| Fault::internal(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// Writes a view as one YAML document.
pub fn yaml<T: Serialize>(view: &T) -> Result<String, Fault> {
    let mut text = serde_saphyr::to_string(view)
        .map_err(|error| Fault::internal(format!("cannot write YAML: {error}")))?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}
