//! The API of the fake cluster: it answers while the pods of a control plane run.
//!
//! Objects lie in etcd's folder on the fake disk, so they survive a reboot and go with the folder.
//! What can be asked is a table in [`routes`]; a path without a row is answered with 404 and
//! remembered, so that a test can name what the fake does not know.

mod apply;
mod kinds;
mod routes;
mod store;
mod synthetic;
mod trust;

use std::time::Duration;

use bootlace_engine::port::{
    ApiAnswer, ApiRequest, Asked, Credentials, HostError, HostResult, ServiceQuestion,
    ServiceRequest,
};

use super::running::{Ailment, Component};
use super::state::State;

impl State {
    /// Answers a question, if anybody is there to answer it.
    pub(super) fn ask_cluster(&mut self, request: &ApiRequest<'_>) -> HostResult<ApiAnswer> {
        self.keep_silent(request.credentials, request.within)?;
        let (path, query) = request.path.split_once('?').unwrap_or((request.path, ""));
        let Some((route, found)) = routes::find(path) else {
            self.reach_api(request.credentials)?;
            self.running.miss(request.path);
            return Ok(routes::not_found(path));
        };
        match route.side {
            routes::Side::Api => self.reach_api(request.credentials)?,
            routes::Side::Etcd => self.reach_etcd(request.credentials)?,
        }
        let question = routes::Question {
            found,
            query,
            post: request.post,
        };
        Ok((route.answer)(self, &question))
    }

    /// Answers for a service: all of them do while the control plane runs and nothing ails them.
    pub(super) fn ask_service(&mut self, request: &ServiceRequest<'_>) -> Asked {
        let dead = |ailment: &Ailment| match ailment {
            Ailment::ServicesDead { from } if *from == request.from => Some(()),
            _ => None,
        };
        if self.running.ailing(dead).is_some() {
            self.pass_time(request.within);
            return Asked::Failed("no answer came in time".into());
        }
        match request.question {
            ServiceQuestion::Identity { .. } => Asked::Answered("it is who it says".into()),
            ServiceQuestion::Name(name) => Asked::Answered(format!("{name} is 10.96.0.1")),
        }
    }

    /// Lets somebody wait in vain, if the API is to say nothing.
    fn keep_silent(&mut self, credentials: &Credentials, within: Duration) -> HostResult<()> {
        let silent = |ailment: &Ailment| matches!(ailment, Ailment::ApiSilent).then_some(());
        if self.running.ailing(silent).is_none() {
            return Ok(());
        }
        self.pass_time(within);
        Err(refuses(trust::server(credentials)))
    }

    /// Fails unless the API listens and its certificate can be trusted.
    pub(super) fn reach_api(&self, credentials: &Credentials) -> HostResult<()> {
        let server = trust::server(credentials);
        if !self.api_listens() {
            return Err(refuses(server));
        }
        let reason = self.running.ailing(|ailment| match ailment {
            Ailment::ApiUntrusted { reason } => Some(reason.clone()),
            _ => None,
        });
        let found = reason.or_else(|| self.distrust(Component::ApiServer, credentials));
        found.map_or(Ok(()), |reason| {
            Err(HostError::Untrusted { server, reason })
        })
    }

    fn reach_etcd(&self, credentials: &Credentials) -> HostResult<()> {
        let server = trust::server(credentials);
        if !self.is_up(Component::Etcd) {
            return Err(refuses(server));
        }
        let found = self.distrust(Component::Etcd, credentials);
        found.map_or(Ok(()), |reason| {
            Err(HostError::Untrusted { server, reason })
        })
    }
}

fn refuses(server: String) -> HostError {
    HostError::Unreachable {
        server,
        reason: "the connection is refused".into(),
    }
}
