//! Who runs a control plane: as asked, else as the run began.

use std::path::PathBuf;

use bootlace_model::config::Placement;
use bootlace_model::fault::{Fault, FaultKind};

use crate::args::{Placed, PlacementName};
use crate::commands::up::programs;
use crate::paths;
use crate::session::Work;

/// Puts into the settings what flags decide and what a run keeps once it has begun.
///
/// A run that goes on is the same run, also for whoever leaves the flag out the second time.
pub(crate) fn settle(work: &mut Work, asked: &Placed) -> Result<(), Fault> {
    let begun = bootlace_engine::begun_with(
        &work.host,
        &work.settings.paths.state,
        work.sequence,
        work.options.run.as_ref(),
    )?;
    let begun = begun.as_ref();
    let clean = begun.and_then(|config| config.get("clean")?.as_bool());
    work.settings.clean |= clean.unwrap_or(false);
    let before = begun.map(Placement::of_run).unwrap_or_default();
    work.settings.placement = match asked.placement {
        None => before,
        Some(PlacementName::Kubelet) if !asked.programs.is_empty() => {
            let message = "--programs is for --placement process";
            return Err(Fault::new(FaultKind::Usage, message)
                .because("a kubelet runs images, and looks for no programs"));
        }
        Some(PlacementName::Kubelet) => Placement::Kubelet,
        Some(PlacementName::Process) if asked.programs.is_empty() && !before.is_kubelet() => before,
        Some(PlacementName::Process) => process(&asked.programs)?,
    };
    Ok(())
}

/// Places processes whose programs lie in these folders, or where programs are found.
pub(crate) fn process(folders: &[PathBuf]) -> Result<Placement, Fault> {
    let folders = if folders.is_empty() {
        programs::find()?
    } else {
        let resolve = |folder: &PathBuf| paths::resolve(folder, "--programs");
        folders.iter().map(resolve).collect::<Result<_, _>>()?
    };
    let text = |folder: &PathBuf| {
        let text = folder.to_str().map(ToOwned::to_owned);
        text.ok_or_else(|| {
            let message = format!("--programs {} is not UTF-8", folder.display());
            Fault::new(FaultKind::Usage, message)
        })
    };
    let programs = folders.iter().map(text).collect::<Result<_, _>>()?;
    Ok(Placement::Process { programs })
}
