//! Making systemd forget the units whose files were put back.

use std::time::Duration;

use bootlace_model::event::Event;
use bootlace_model::fault::{Fault, FaultKind};

use crate::Engine;
use crate::effects::run_program;
use crate::history::Deed;
use crate::port::Command;

/// Where units lie that a run can have written.
const UNITS: &str = "/etc/systemd/";
/// How long systemd may take to read all unit files again.
const RELOAD: Duration = Duration::from_mins(1);

impl Engine<'_> {
    /// Lets a running systemd read its unit files again after some of them were put back: until it does, a
    /// unit whose file is gone can still be started.
    pub(super) fn forget_units(&self, group: &[Deed]) -> Result<(), Fault> {
        let nodes = group.iter().flat_map(|deed| &deed.before.nodes);
        let mut units = nodes.filter(|node| node.path.as_str().starts_with(UNITS));
        if !self.host.is_live() || units.next().is_none() {
            return Ok(());
        }
        let argv = ["systemctl", "daemon-reload"].map(ToOwned::to_owned);
        let command = Command {
            argv: &argv,
            env: vec![],
            directory: None,
            within: RELOAD,
            keep: 4096,
            input: None,
        };
        match run_program(self.host, &command) {
            Err(fault) if fault.kind == FaultKind::StepFailed => {
                // A machine that was not booted by systemd has none that could remember a unit.
                let text = format!("systemd did not read its units again: {fault}");
                self.observer.on(&Event::Note { text });
                Ok(())
            }
            other => other.map(|_| ()),
        }
    }
}
