//! Performing what is no write: programs, units, images, objects, waits, and their products.

use std::collections::BTreeMap;
use std::time::Duration;

use bootlace_model::effect::{ApplyObjects, Effect, ImportImages, Product, StartUnit};
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::node::Node;
use bootlace_model::path::TargetPath;

use super::command;
use crate::folders::Folders;
use crate::port::{Applied, ApplyRequest, Dir, Host, HostError, Stat};
use crate::{access, waiting};

/// How long the removal of one product may take.
const REMOVAL: Duration = Duration::from_mins(2);
/// How many lines of a log, or names of objects, are shown.
const SHOWN: usize = 8;

/// Performs an act.
pub(super) fn act(host: &dyn Host, effect: &Effect) -> Result<(), Fault> {
    match effect {
        Effect::RunCommand(run) => command::run_effect(host, run),
        Effect::StartUnit(start) => start_unit(host, start),
        Effect::ImportImages(import) => import_images(host, import),
        Effect::ApplyObjects(apply) => apply_objects(host, apply),
        Effect::Await(wait) => {
            let patience = waiting::Patience {
                claim: &wait.claim,
                within: wait.within,
                because: wait.because,
                symptoms: &wait.symptoms,
            };
            waiting::until(host, &patience)
        }
        other => Err(Fault::internal(format!("{:?} is no act", other.kind()))),
    }
}

/// Makes what a program has edited and made durable: few programs sync more than their lists.
pub(super) fn settle(host: &dyn Host, effect: &Effect) -> Result<(), Fault> {
    if effect.edits().is_empty() {
        return Ok(());
    }
    let folders = Folders::new(host);
    let products = effect.products();
    let products = products.iter().filter_map(Product::path);
    let mut dirs = BTreeMap::new();
    let mut files = Vec::new();
    for place in effect.edits().iter().chain(products) {
        for path in super::writes::tree_below(&folders, place)? {
            let Some(holding) = folders.holding(&path)? else {
                continue;
            };
            match holding.stat(path.name())? {
                Some(Stat::File { .. }) => files.push((holding.clone(), path.name().to_owned())),
                Some(Stat::Directory { .. }) => {
                    dirs.extend(folders.open(&path)?.map(|dir| (path.clone(), dir)));
                }
                _ => {}
            }
            dirs.insert(holding.path().clone(), holding);
        }
    }
    let files = files
        .iter()
        .map(|(dir, name)| (dir.as_ref(), name.as_str()));
    host.sync_files(&files.collect::<Vec<(&dyn Dir, &str)>>())?;
    let dirs: Vec<&dyn Dir> = dirs.values().map(AsRef::as_ref).collect();
    Ok(host.sync_dirs(&dirs)?)
}

/// Lists the copies that an act is about to make: those that are not there yet.
pub(super) fn copies(host: &dyn Host, effect: &Effect) -> Result<Vec<TargetPath>, Fault> {
    let folders = Folders::new(host);
    let mut copies = vec![];
    for product in effect.products() {
        if let Product::Copy { path, .. } = product
            && !folders.look(&path)?.exists()
        {
            copies.push(path);
        }
    }
    Ok(copies)
}

/// Tells what is at the places of an act's products, all that is in its copies, and what it edits.
pub(super) fn products(
    host: &dyn Host,
    effect: &Effect,
    copies: &[TargetPath],
) -> Result<Vec<Node>, Fault> {
    let folders = Folders::new(host);
    let mut paths = super::writes::touches(&folders, effect)?;
    for copy in copies {
        // The copy itself is among what is touched.
        let below = super::writes::tree_below(&folders, copy)?;
        paths.extend(below.into_iter().skip(1));
    }
    let look = |path: TargetPath| {
        let state = folders.look(&path)?;
        Ok(Node { path, state })
    };
    paths.into_iter().map(look).collect()
}

/// Lists the products other than paths that are there already.
pub(crate) fn present(host: &dyn Host, effect: &Effect) -> Result<Vec<Product>, Fault> {
    // A container never outlives its command: one that is there is what an earlier try left.
    let lasts = |product: &Product| {
        product.path().is_none() && !matches!(product, Product::Container { .. })
    };
    let lasting: Vec<Product> = effect.products().into_iter().filter(lasts).collect();
    Ok(host.products_there(&lasting)?)
}

/// Removes a product of a started thing.
pub(crate) fn remove_product(host: &dyn Host, product: &Product) -> Result<(), Fault> {
    match product {
        Product::Path(path) | Product::Copy { path, .. } => command::remove_tree(host, path),
        Product::Container { id_file, .. } => {
            host.remove_product(product, REMOVAL)?;
            command::remove_tree(host, id_file)
        }
        other => Ok(host.remove_product(other, REMOVAL)?),
    }
}

fn start_unit(host: &dyn Host, start: &StartUnit) -> Result<(), Fault> {
    let Err(error) = host.start_unit(&start.unit, start.anew.is_some(), start.within) else {
        return Ok(());
    };
    if matches!(error, HostError::Stopped | HostError::Crashed) {
        return Err(error.into());
    }
    let mut fault = Fault::from(error);
    fault.details.extend(host.unit_log(&start.unit, SHOWN)?);
    Err(fault.hint(format!("`journalctl -u {}` shows more", start.unit)))
}

fn import_images(host: &dyn Host, import: &ImportImages) -> Result<(), Fault> {
    host.import_images(&import.archive, import.digest, import.within)?;
    let there = host.images()?.unwrap_or_default();
    let missing = import.images.iter().filter(|image| !there.contains(image));
    let missing: Vec<String> = missing.cloned().collect();
    if missing.is_empty() {
        return Ok(());
    }
    let archive = &import.archive;
    let what = match missing.as_slice() {
        [one] => format!("the image {one} is not in {archive}"),
        several => format!("{} images are not in {archive}", several.len()),
    };
    let mut fault = Fault::new(FaultKind::StepFailed, what)
        .in_file(archive.as_str())
        .because("The kubelet would wait for it for ever: nothing is pulled during a bootstrap.")
        .hint(
            "make the archive anew from the release that lists the image, then `bootlace resume`",
        );
    fault.details = if missing.len() > 1 { missing } else { vec![] };
    Err(fault)
}

fn apply_objects(host: &dyn Host, apply: &ApplyObjects) -> Result<(), Fault> {
    let credentials = access::kubeconfig(host, &apply.kubeconfig)?;
    let applied = host.apply_objects(&ApplyRequest {
        credentials: &credentials,
        objects: &apply.objects,
        within: apply.within,
    })?;
    let failed: Vec<&Applied> = applied.iter().filter(|one| one.problem.is_some()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let (all, bad) = (applied.len(), failed.len());
    let mut fault = Fault::new(
        FaultKind::StepFailed,
        format!("{bad} of {all} objects were not accepted by the API"),
    );
    fault.details = failed
        .iter()
        .take(SHOWN)
        .map(|one| told(apply, one))
        .collect();
    if failed.len() > SHOWN {
        fault
            .details
            .push(format!("and {} more", failed.len() - SHOWN));
    }
    Err(fault
        .because("The cluster would lack what these objects stand for.")
        .hint("correct the files that are named, then `bootlace resume` applies all of them again"))
}

/// Tells what came of one object, with the file that it is from.
fn told(apply: &ApplyObjects, one: &Applied) -> String {
    let source = apply.objects.iter().find(|object| object.id == one.id);
    let source = source
        .map(|object| object.source.as_str())
        .unwrap_or_default();
    let problem = one.problem.as_deref().unwrap_or_default();
    format!(
        "{} of {source}: {problem} (tried {} times)",
        one.id, one.tries
    )
}
