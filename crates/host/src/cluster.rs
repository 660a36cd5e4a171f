//! APIs over verified TLS: those of Kubernetes, and others that know their clients by certificates.
//!
//! A client library for Kubernetes would bring its own TLS, proxies and retries. Here the question
//! is always the same: does it answer, may it be trusted, what does it say. So the client that
//! downloads use is given a kubeconfig's authority and identity, and the rest is paths and JSON.

mod access;
mod api;
mod apply;
mod fault;
mod kubeconfig;
mod service;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bootlace_engine::port::{
    ApiAnswer, ApiRequest, Applied, ApplyRequest, Asked, Cluster, Credentials, HasRequest,
    HostError, HostResult, RewriteRequest, ServiceRequest,
};
use bootlace_model::expect::Vantage;
use bootlace_model::ids::Digest;

use crate::RealHost;
use crate::clock::StopHandle;
use crate::http::Trust;
use crate::network::Network;

use self::access::Access;
use self::api::Api;

/// The most APIs that are remembered, one for each set of credentials.
const MOST_APIS: usize = 16;
/// How much later than asked an application is given up from outside; it ends itself before.
const SLACK: Duration = Duration::from_secs(5);

/// The APIs that were asked so far; asks nobody by itself.
#[derive(Debug)]
pub(crate) struct Apis {
    trust: Trust,
    network: Arc<Network>,
    known: Mutex<BTreeMap<Digest, Arc<Api>>>,
}

impl Apis {
    /// Prepares to ask.
    pub(crate) fn new(trust: Trust, network: Arc<Network>) -> Self {
        Self {
            trust,
            network,
            known: Mutex::default(),
        }
    }

    fn ask(&self, request: &ApiRequest<'_>, stop: &StopHandle) -> HostResult<ApiAnswer> {
        let api = self.api(request.credentials)?;
        let question = api.ask(request.path, request.post);
        let answer = self.network.wait_for(question, request.within, stop)?;
        answer.unwrap_or_else(|| Err(no_answer(&api, request.within)))
    }

    fn rewrite(&self, request: &RewriteRequest<'_>, stop: &StopHandle) -> HostResult<ApiAnswer> {
        let api = self.api(request.credentials)?;
        let change = api.rewrite(request.path);
        let answer = self.network.wait_for(change, request.within, stop)?;
        answer.unwrap_or_else(|| Err(no_answer(&api, request.within)))
    }

    fn apply(&self, request: &ApplyRequest<'_>, stop: &StopHandle) -> HostResult<Vec<Applied>> {
        let api = self.api(request.credentials)?;
        let work = apply::apply(&api, request.objects, request.within);
        let most = request.within.saturating_add(SLACK);
        match self.network.wait_for(work, most, stop)? {
            Some(results) => results,
            None => Err(HostError::TimedOut {
                what: format!("applying objects to {}", api.server()),
                within: request.within,
            }),
        }
    }

    fn marks(
        &self,
        request: &HasRequest<'_>,
        stop: &StopHandle,
    ) -> HostResult<Vec<Option<String>>> {
        let api = self.api(request.credentials)?;
        let question = apply::there(&api, request.objects);
        match self.network.wait_for(question, request.within, stop)? {
            Some(answers) => answers,
            None => Err(HostError::TimedOut {
                what: format!("asking {} for objects", api.server()),
                within: request.within,
            }),
        }
    }

    fn api(&self, credentials: &Credentials) -> HostResult<Arc<Api>> {
        let digest = digest(credentials);
        // Nothing is left half done under this lock, so a panic elsewhere does not spoil it.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(api) = known.get(&digest) {
            return Ok(Arc::clone(api));
        }
        let api = Arc::new(Api::new(&Access::of(credentials)?, &self.trust)?);
        if known.len() >= MOST_APIS {
            known.clear();
        }
        known.insert(digest, Arc::clone(&api));
        Ok(api)
    }
}

fn no_answer(api: &Api, within: Duration) -> HostError {
    HostError::Unreachable {
        server: api.server().to_owned(),
        reason: format!("no answer came within {} s", within.as_secs_f32()),
    }
}

/// Hashes credentials, part by part, so that no two sets of parts look the same.
fn digest(credentials: &Credentials) -> Digest {
    let parts = match credentials {
        Credentials::Kubeconfig(text) => vec![text.as_slice()],
        Credentials::Certificate {
            server,
            authority,
            certificate,
            key,
        } => vec![server.as_bytes(), authority, certificate, key.expose()],
    };
    let digests: Vec<String> = parts
        .into_iter()
        .map(|part| Digest::of(part).hex())
        .collect();
    Digest::of(digests.join(" ").as_bytes())
}

impl Cluster for RealHost {
    fn ask_api(&self, request: &ApiRequest<'_>) -> HostResult<ApiAnswer> {
        self.apis.ask(request, &self.stop)
    }

    fn apply_objects(&self, request: &ApplyRequest<'_>) -> HostResult<Vec<Applied>> {
        self.apis.apply(request, &self.stop)
    }

    fn object_marks(&self, request: &HasRequest<'_>) -> HostResult<Vec<Option<String>>> {
        self.apis.marks(request, &self.stop)
    }

    fn rewrite_object(&self, request: &RewriteRequest<'_>) -> HostResult<ApiAnswer> {
        self.apis.rewrite(request, &self.stop)
    }

    fn ask_service(&self, request: &ServiceRequest<'_>) -> HostResult<Asked> {
        match request.from {
            Vantage::Machine => service::from_machine(request),
            Vantage::Pod => service::from_pods(request, &self.runtime.pod_processes(&self.stop)?),
        }
    }
}
