//! Approves the certificates that kubelets ask for to serve their own ports.
//!
//! Kubernetes signs them only if they are approved, and approves none by itself: a kubelet could ask
//! for any name. Without such a certificate the API server does not trust a kubelet, and `kubectl logs`
//! and `exec` fail on its node.

mod decide;

use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::List;
use k8s_openapi::api::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition,
};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use self::decide::{Decision, Reserved, decide};
use crate::clock;
use crate::operator::Operator;
use crate::pass::values_of_cluster;
use crate::retry::Refusal;

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const NODES: &str = "/api/v1/nodes";

/// How soon to look again at what cannot be decided yet, or after the API server did not answer.
const SOON: Duration = Duration::from_secs(1);
/// How long to follow changes before everything is read again.
const LONG: Duration = Duration::from_mins(5);

/// Approves what nodes may ask for, until it is dropped.
pub(crate) async fn approve(operator: &Operator) -> std::convert::Infallible {
    loop {
        match round(operator).await {
            Ok(Round { since, open: false }) => {
                operator.log.over("serving");
                let changed = changes(operator, &since);
                // Whatever ended it, everything is read again.
                drop(tokio::time::timeout(LONG, changed).await);
            }
            Ok(Round { open: true, .. }) => tokio::time::sleep(SOON).await,
            Err(refusal) => {
                let line = format!("requests for certificates cannot be read: {}", refusal.why);
                operator.log.news("serving", line);
                tokio::time::sleep(SOON).await;
            }
        }
    }
}

/// What came of looking at all requests.
struct Round {
    /// Which state of the requests was looked at.
    since: String,
    /// Whether something is to be looked at again.
    open: bool,
}

async fn round(operator: &Operator) -> Result<Round, Refusal> {
    let list: List<CertificateSigningRequest> = operator.api.list(REQUESTS, None).await?;
    let since = list.metadata.resource_version.unwrap_or_default();
    let mut open = false;
    let pending: Vec<_> = list.items.into_iter().filter(decide::is_pending).collect();
    if pending.is_empty() {
        return Ok(Round { since, open });
    }
    let nodes: List<Node> = operator.api.list(NODES, None).await?;
    let values = values_of_cluster(operator).await;
    let values = values.and_then(|values| values.ok_or_else(|| "it does not exist".into()));
    let reserved = match values.and_then(|values| Reserved::of(&values)) {
        Ok(reserved) => reserved,
        // Without it, any address could be one that belongs to no node.
        Err(why) => {
            let line =
                format!("requests for certificates wait for the ConfigMap cluster-config: {why}");
            operator.log.news("serving", line);
            return Ok(Round { since, open: true });
        }
    };
    for request in pending {
        let name = request.metadata.name.clone().unwrap_or_default();
        let who = request.spec.username.clone().unwrap_or_default();
        match decide(&request, &nodes.items, &reserved) {
            Decision::Approve => {
                let approved = operator
                    .api
                    .replace_part(REQUESTS, &name, "approval", &approved(request))
                    .await;
                match approved {
                    Ok(_) => operator
                        .log
                        .say(format!("approved the serving certificate {name} of {who}")),
                    Err(refusal) => {
                        open = true;
                        let line = format!("{name} of {who} is not approved: {}", refusal.why);
                        operator.log.news("serving", line);
                    }
                }
            }
            Decision::Wait(why) => {
                open = true;
                operator
                    .log
                    .news("serving", format!("{name} of {who} waits: {why}"));
            }
            Decision::Refuse(why) => {
                let line =
                    format!("the serving certificate {name} of {who} is not approved: {why}");
                operator.log.news("serving", line);
            }
        }
    }
    Ok(Round { since, open })
}

fn approved(mut request: CertificateSigningRequest) -> CertificateSigningRequest {
    let condition = CertificateSigningRequestCondition {
        type_: "Approved".into(),
        status: "True".into(),
        reason: Some("NodeMayServe".into()),
        message: Some("it names this node and its addresses, and nothing else".into()),
        last_update_time: Some(Time(clock::now())),
        last_transition_time: None,
    };
    let status = request.status.get_or_insert_default();
    status.conditions.get_or_insert_default().push(condition);
    request
}

/// Waits until a request comes or changes, or the watch ends.
async fn changes(operator: &Operator, since: &str) {
    let events = operator
        .api
        .watch::<CertificateSigningRequest>(REQUESTS, None, since)
        .await;
    match events {
        Ok(mut events) => drop(events.next().await),
        Err(_) => tokio::time::sleep(SOON).await,
    }
}
