//! The running machine and its cluster below the engine's port.

use std::time::Duration;

use bootlace_engine::port::{
    ApiAnswer, ApiRequest, Applied, ApplyRequest, Asked, Cluster, ContainerStatus, HasRequest,
    HostError, HostResult, Machine, RewriteRequest, ServiceRequest, UnitActivity,
};
use bootlace_model::effect::{Product, UnitName};
use bootlace_model::ids::Digest;
use bootlace_model::path::TargetPath;

use super::faults::OperationKind;
use super::host::FakeHost;
use super::running::{Ailment, Container};
use super::state::{Pass, State};

/// How long a question to the machine takes.
const ONE_LOOK: Duration = Duration::from_millis(1);
/// How much room a disk has that is not almost full.
const MUCH_ROOM: u64 = 100 << 30;
/// The control group controllers of a whole machine.
const CONTROLLERS: [&str; 6] = ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"];

impl FakeHost {
    /// Does something that is a fault point; the machine settles first.
    fn act<T>(
        &self,
        kind: OperationKind,
        target: &str,
        act: impl FnOnce(&mut State, &Pass) -> HostResult<T>,
    ) -> HostResult<T> {
        let mut state = self.alive()?;
        state.pass_time(ONE_LOOK);
        state.settle();
        let pass = state.begin(kind, target)?;
        let done = act(&mut state, &pass);
        state.end(pass, done)
    }

    /// Asks the machine something.
    fn look<T>(&self, what: &str, answer: impl FnOnce(&State) -> T) -> HostResult<T> {
        self.act(OperationKind::Look, what, |state, _| Ok(answer(state)))
    }
}

/// Keeps the last lines.
fn last(mut lines: Vec<String>, most: usize) -> Vec<String> {
    lines.drain(..lines.len().saturating_sub(most));
    lines
}

impl Machine for FakeHost {
    fn is_live(&self) -> bool {
        let state = self.shared.lock();
        let folder = |it: &Ailment| matches!(it, Ailment::NotLive).then_some(());
        state.running.ailing(folder).is_none()
    }

    fn unit(&self, unit: &UnitName) -> HostResult<UnitActivity> {
        self.look(unit.as_str(), |state| state.unit_activity(unit.as_str()))
    }

    fn start_unit(&self, unit: &UnitName, anew: bool, within: Duration) -> HostResult<()> {
        self.act(OperationKind::StartUnit, unit.as_str(), |state, pass| {
            if pass.is_partial() {
                return Err(HostError::Crashed);
            }
            let begun = state.now;
            state.start(unit.as_str(), anew)?;
            if state.now.duration_since(begun).unsigned_abs() > within {
                let what = unit.to_string();
                return Err(HostError::TimedOut { what, within });
            }
            Ok(())
        })
    }

    fn unit_log(&self, unit: &UnitName, lines: usize) -> HostResult<Vec<String>> {
        let what = format!("the log of {unit}");
        self.look(&what, |state| last(state.unit_lines(unit.as_str()), lines))
    }

    fn containers(&self) -> HostResult<Option<Vec<ContainerStatus>>> {
        self.look("containers", |state| {
            let all = state.all_containers()?;
            Some(all.iter().map(Container::status).collect())
        })
    }

    fn container_log(&self, container: &ContainerStatus, lines: usize) -> HostResult<Vec<String>> {
        self.look(&container.log, |state| {
            last(state.container_lines(&container.id), lines)
        })
    }

    fn images(&self) -> HostResult<Option<Vec<String>>> {
        self.look("images", |state| {
            Some(state.images()?.into_iter().collect())
        })
    }

    fn import_images(
        &self,
        archive: &TargetPath,
        digest: Option<Digest>,
        _: Duration,
    ) -> HostResult<()> {
        let kind = OperationKind::ImportImages;
        self.act(kind, archive.as_str(), |state, pass| {
            let images = state.read_archive(archive, digest)?;
            let most = state.part(pass, images.len());
            state.load_images(&images[..most])
        })
    }

    fn has_product(&self, product: &Product) -> HostResult<bool> {
        self.look(&product.what(), |state| state.has_product(product))
    }

    fn remove_product(&self, product: &Product, _: Duration) -> HostResult<()> {
        let kind = OperationKind::RemoveProduct;
        self.act(kind, &product.what(), |state, pass| {
            state.remove_product(product, pass.is_partial())
        })
    }

    fn listens(&self, port: u16) -> HostResult<bool> {
        self.look(&format!("port {port} answers"), |state| {
            state.port_user(port).is_some()
        })
    }

    fn port_holder(&self, port: u16) -> HostResult<Option<String>> {
        self.look(&format!("port {port}"), |state| state.port_user(port))
    }

    fn free_bytes(&self, path: &TargetPath) -> HostResult<u64> {
        self.look(&format!("room below {path}"), |state| {
            let little = state.running.ailing(|ailment| match ailment {
                Ailment::LittleRoom { bytes } => Some(*bytes),
                _ => None,
            });
            little.unwrap_or(MUCH_ROOM)
        })
    }

    fn swap_areas(&self) -> HostResult<Vec<String>> {
        self.look("swap", |state| {
            let area = state.running.ailing(|ailment| match ailment {
                Ailment::Swap { area } => Some(area.clone()),
                _ => None,
            });
            area.into_iter().collect()
        })
    }

    fn cgroup_controllers(&self) -> HostResult<Vec<String>> {
        self.look("control groups", |state| {
            let missing = state.running.ailing(|ailment| match ailment {
                Ailment::ControllerMissing { name } => Some(name.clone()),
                _ => None,
            });
            let there = CONTROLLERS
                .iter()
                .filter(|it| Some(**it) != missing.as_deref());
            there.map(|it| (*it).to_owned()).collect()
        })
    }
}

impl Cluster for FakeHost {
    fn ask_api(&self, request: &ApiRequest<'_>) -> HostResult<ApiAnswer> {
        self.act(OperationKind::Ask, request.path, |state, pass| {
            if pass.is_partial() {
                return Err(HostError::Crashed);
            }
            state.ask_cluster(request)
        })
    }

    fn apply_objects(&self, request: &ApplyRequest<'_>) -> HostResult<Vec<Applied>> {
        let what = format!("{} objects", request.objects.len());
        self.act(OperationKind::Apply, &what, |state, pass| {
            state.apply(request, pass)
        })
    }

    fn rewrite_object(&self, request: &RewriteRequest<'_>) -> HostResult<ApiAnswer> {
        // The fake encrypts nothing, so there is nothing to store again.
        self.ask_api(&ApiRequest {
            credentials: request.credentials,
            path: request.path,
            post: None,
            within: request.within,
        })
    }

    fn ask_service(&self, request: &ServiceRequest<'_>) -> HostResult<Asked> {
        let what = request.address.to_string();
        self.act(OperationKind::Ask, &what, |state, pass| {
            if pass.is_partial() {
                return Err(HostError::Crashed);
            }
            Ok(state.ask_service(request))
        })
    }

    fn object_marks(&self, request: &HasRequest<'_>) -> HostResult<Vec<Option<String>>> {
        let what = format!("{} objects", request.objects.len());
        self.act(OperationKind::Ask, &what, |state, pass| {
            if pass.is_partial() {
                return Err(HostError::Crashed);
            }
            state.marks(request)
        })
    }
}
