//! A step that explains itself and cannot run yet.
//!
//! Its texts and expectations are those of the finished step, so that the whole journey can be
//! read before the whole of it can be made.

use bootlace_model::config::Settings;
use bootlace_model::expect::Expectation;
use bootlace_model::fact::Facts;
use bootlace_model::fault::{Fault, FaultKind};
use bootlace_model::step::{About, Decision, PlanError, Step};

/// A step without a plan.
pub(crate) struct Outline {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) about: &'static About,
    /// The steps whose results it needs.
    pub(crate) needs: &'static [&'static str],
    /// The facts of those steps that it reads.
    pub(crate) uses: &'static [&'static str],
    /// What must hold afterwards.
    pub(crate) expects: fn(&Settings) -> Vec<Expectation>,
}

impl Step for Outline {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static About {
        self.about
    }

    fn needs(&self) -> &'static [&'static str] {
        self.needs
    }

    fn uses(&self) -> &'static [&'static str] {
        self.uses
    }

    /// Refuses. The engine looks at `about().built` first; this is the net below it.
    fn plan(&self, _: &Settings, _: &Facts) -> Result<Decision, PlanError> {
        let message = format!("the step {} is not built yet", self.name);
        let read = format!("`bootlace explain cluster --only {}`", self.name);
        Err(Fault::new(FaultKind::Preflight, message)
            .because("this version can explain the step, but cannot do what it describes")
            .hint(format!("{read} tells what it will do"))
            .hint("`bootlace run cluster --to STEP` ends before it")
            .into())
    }

    fn expects(&self, settings: &Settings) -> Vec<Expectation> {
        (self.expects)(settings)
    }
}
