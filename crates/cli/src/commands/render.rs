//! `bootlace render`: one renderer, called like an operator's own command.

mod folder;

use std::path::PathBuf;

use bootlace_engine::port::Host as _;
use bootlace_host::RealHost;
use bootlace_model::config::{ReleaseSource, Settings};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::path::TargetPath;
use bootlace_model::probe::FileTree;
use bootlace_steps::render::{Component, InputFolder, ReleaseFacts, RenderInput};

use self::folder::Folder;
use crate::args::Render;
use crate::error::Ending;
use crate::paths::{self, Places};
use crate::session::Session;
use crate::wire;

pub(crate) fn render(session: &mut Session, args: &Render) -> Result<Ending, Fault> {
    let component = Component::find(&args.component)
        .ok_or_else(|| Fault::internal(format!("no renderer is called {:?}", args.component)))?;
    let image = manifest_image(component, args.manifest_image.as_deref())?;
    let places = Places::new(&session.globals)?;
    let settings = session.settings(&places)?;
    let host = wire::host(&places, &places.inputs(&settings)?);
    let source = Folder::at(paths::resolve(&args.asset_input_dir, "--asset-input-dir")?);
    let target = paths::resolve(&args.asset_output_dir, "--asset-output-dir")?;
    let records = Records {
        beside: source.above(),
        assets: Folder::at(places.source(&settings.paths.assets)),
    };
    source.must_be_there("--asset-input-dir")?;
    source.must_have(component.tls)?;
    let mut input = RenderInput::new(&settings);
    input.node = node(&settings, &records, &host)?;
    input.token = records.read("auth/bootstrap-token")?;
    input.payload = payload(&settings, &host)?;
    let release = records.read("records/release.json")?;
    input.release = ReleaseFacts::find(&settings, release.as_deref(), input.payload.as_ref())?;
    if let Some((name, image)) = image {
        input.release.images.insert(name.into(), image.into());
    }
    if component.input == InputFolder::Manifests {
        let manifests = source.tree()?;
        input.copied = match records.beside.read("records/copy-manifests.json")? {
            Some(list) => Some(list),
            None => Some(RenderInput::list(&source.target()?, &manifests)?),
        };
        input.manifests = vec![manifests];
    }
    write(session, component, &input, &source, target)?;
    Ok(Ending::Done)
}

/// Takes the image that replaces the release's, for a component that has one.
fn manifest_image<'a>(
    component: &Component,
    image: Option<&'a str>,
) -> Result<Option<(&'static str, &'a str)>, Fault> {
    match (component.image, image) {
        (_, None) => Ok(None),
        (Some(name), Some(image)) => Ok(Some((name, image))),
        (None, Some(_)) => {
            let message = format!("{} has no image that could be replaced", component.name);
            Err(Fault::new(FaultKind::Usage, message)
                .because("--manifest-image would be ignored, and that is not what was asked for")
                .hint("leave --manifest-image out"))
        }
    }
}

/// Where records of earlier steps may lie.
struct Records {
    /// The folder that holds the input folder.
    beside: Folder,
    /// The asset folder.
    assets: Folder,
}

impl Records {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        match self.beside.read(name)? {
            Some(content) => Ok(Some(content)),
            None => self.assets.read(name),
        }
    }
}

/// Finds the node's name: the one that the certificates speak for, else as `prepare-assets` would.
fn node(settings: &Settings, records: &Records, host: &RealHost) -> Result<String, Fault> {
    let record = records.read("records/node.json")?;
    let record = record.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let recorded = record.as_ref().and_then(|record| record["name"].as_str());
    match recorded {
        Some(name) => Ok(name.to_owned()),
        None => bootlace_steps::pki::node_name(settings, &host.host_name()?),
    }
}

fn payload(settings: &Settings, host: &RealHost) -> Result<Option<FileTree>, Fault> {
    match &settings.cluster.release {
        ReleaseSource::Dir { path, .. } => folder::read_tree(host, path).map(Some),
        ReleaseSource::BuiltIn | ReleaseSource::Image(_) => Ok(None),
    }
}

/// Renders, and writes the same bytes as the stage does.
fn write(
    session: &Session,
    component: &Component,
    input: &RenderInput<'_>,
    source: &Folder,
    target: PathBuf,
) -> Result<(), Fault> {
    let tls = input.settings.paths.assets.join("tls");
    let tls = tls.map_err(|bad| Fault::internal(bad.to_string()))?;
    let read = |path: &TargetPath| {
        let name = path.below(&tls).unwrap_or_default();
        let content = source.read(name)?;
        content.ok_or_else(|| Fault::internal(format!("{name:?} was there a moment ago")))
    };
    let shown = target.display().to_string();
    let folder = Folder::at(target);
    let files = component.render(input)?;
    for file in &files {
        let content = file.bytes_of(input.settings, &read)?;
        folder.put(&file.path, &content, file.mode)?;
    }
    let (name, count) = (component.name, files.len());
    let text = format!("Rendered {name}: {count} files in {shown}.\n");
    session.console.say(&text);
    Ok(())
}
