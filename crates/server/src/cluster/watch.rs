//! What changes in the cluster is taken over as it changes, and what was known before stays while the
//! API is away.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use http::Request;
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, ResourceExt as _};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use super::refusal::{plain, refusal};
use super::{CONTROLLER, GROUP, Held, Store, config_of};
use crate::disk;
use crate::log::Log;
use crate::name::Name;
use crate::site::Site;

/// How often the API server is asked whether it is there. A watch over a connection that was cut
/// somewhere on the way waits for minutes until it notices.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How long the API server may take for that answer.
const ANSWER: Duration = Duration::from_secs(5);

/// What the API answers when it does not know a kind.
const NOT_FOUND: u16 = 404;
/// Within which time a watch that failed is tried again.
const TRIES_AGAIN: Duration = Duration::from_secs(45);

/// Takes everything over, for ever.
pub(crate) async fn watch(client: Client, store: Arc<Store>, site: Arc<Site>, log: Log) {
    let watcher = Arc::new(Watcher {
        client,
        store,
        site,
        log,
        is_read: Notify::new(),
        failing: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&watcher).pools());
    tasks.spawn(Arc::clone(&watcher).controller());
    tasks.spawn(Arc::clone(&watcher).build_configs());
    tasks.spawn(Arc::clone(&watcher).builds());
    tasks.spawn(Arc::clone(&watcher).health());
    while let Some(ended) = tasks.join_next().await {
        // None of them ends by itself.
        drop(ended);
    }
}

struct Watcher {
    client: Client,
    store: Arc<Store>,
    site: Arc<Site>,
    log: Log,
    /// Says that a config was read.
    is_read: Notify,
    /// Which kinds cannot be followed, and when that was last so.
    failing: Mutex<BTreeMap<&'static str, Timestamp>>,
}

/// The objects of a kind, as the API tells of them.
struct Kind {
    /// How the API names one of it.
    singular: &'static str,
    /// How the API names many of it.
    plural: &'static str,
    /// Whether a cluster may know nothing of it.
    is_optional: bool,
}

const POOLS: Kind = Kind {
    singular: "MachineConfigPool",
    plural: "machineconfigpools",
    is_optional: false,
};
const CONFIGS: Kind = Kind {
    singular: "MachineConfig",
    plural: "machineconfigs",
    is_optional: false,
};
const CONTROLLERS: Kind = Kind {
    singular: "ControllerConfig",
    plural: "controllerconfigs",
    is_optional: true,
};
const BUILD_CONFIGS: Kind = Kind {
    singular: "MachineOSConfig",
    plural: "machineosconfigs",
    is_optional: true,
};
const BUILDS: Kind = Kind {
    singular: "MachineOSBuild",
    plural: "machineosbuilds",
    is_optional: true,
};

impl Watcher {
    /// Follows the objects of a kind, or the one of a name, and hands over all of them after each
    /// change.
    async fn follow(
        &self,
        kind: &Kind,
        only: Option<&str>,
        mut take: impl FnMut(&BTreeMap<String, Held>),
    ) {
        let resource = GroupVersionKind::gvk(GROUP, "v1", kind.singular);
        let resource = ApiResource::from_gvk_with_plural(&resource, kind.plural);
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let mut settings = watcher::Config::default();
        if let Some(name) = only {
            settings = settings.fields(&format!("metadata.name={name}"));
        }
        let mut events = pin!(watcher(api, settings).default_backoff());
        let mut all = BTreeMap::new();
        let mut fresh = BTreeMap::new();
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    // What was told before stays: an API server that has just started may not know
                    // its own kinds yet, and a machine must not be sent away for that.
                    self.failed(kind, only, &error);
                    continue;
                }
            };
            self.told(kind.plural, None);
            match event {
                Event::Init => fresh = BTreeMap::new(),
                Event::InitApply(object) => insert(&mut fresh, &object),
                Event::InitDone => {
                    all = std::mem::take(&mut fresh);
                    take(&all);
                }
                Event::Apply(object) => {
                    insert(&mut all, &object);
                    take(&all);
                }
                Event::Delete(object) => {
                    all.remove(&object.name_any());
                    take(&all);
                }
            }
        }
    }

    /// Follows the pools, and for each of them the config that it names.
    async fn pools(self: Arc<Self>) {
        let (latest, mut changed) = tokio::sync::watch::channel(None);
        let this = Arc::clone(&self);
        let pools = tokio::spawn(async move {
            let follow = this.follow(&POOLS, None, |all| {
                latest.send_replace(Some(all.clone()));
            });
            follow.await;
        });
        let _ended_with_us = AbortOnDrop(pools);
        let mut configs: BTreeMap<Name, AbortOnDrop> = BTreeMap::new();
        loop {
            tokio::select! {
                told = changed.changed() => if told.is_err() { return },
                () = self.is_read.notified() => {}
            }
            let Some(pools) = changed.borrow_and_update().clone() else {
                continue;
            };
            let pools: BTreeMap<Name, Held> = pools
                .into_iter()
                .filter_map(|(name, held)| Some((Name::parse(&name)?, held)))
                .collect();
            for config in pools.values().filter_map(|pool| config_of(&pool.value)) {
                configs
                    .entry(config.clone())
                    .or_insert_with(|| AbortOnDrop(tokio::spawn(Arc::clone(&self).config(config))));
            }
            let used = self.take_over(&pools);
            configs.retain(|name, _| used.contains(name));
        }
    }

    /// Serves from pools whose configs were read, and as before from the others; returns the configs
    /// that are used or waited for.
    fn take_over(&self, pools: &BTreeMap<Name, Held>) -> BTreeSet<Name> {
        self.store.change(|told| {
            told.pools.retain(|name, _| pools.contains_key(name));
            told.announced = Some(pools.keys().cloned().collect());
            for (name, pool) in pools {
                let config = config_of(&pool.value);
                let is_read = config.is_none_or(|config| told.configs.contains_key(&config));
                if is_read {
                    told.pools.insert(name.clone(), pool.clone());
                }
            }
            let used: BTreeSet<Name> = pools
                .values()
                .chain(told.pools.values())
                .filter_map(|pool| config_of(&pool.value))
                .collect();
            told.configs.retain(|name, _| used.contains(name));
            used
        })
    }

    async fn config(self: Arc<Self>, name: Name) {
        let take = |all: &BTreeMap<String, Held>| {
            let held = all.get(name.as_str()).cloned();
            self.store
                .change(|told| told.configs.insert(name.clone(), held));
            self.is_read.notify_one();
        };
        self.follow(&CONFIGS, Some(name.as_str()), take).await;
    }

    async fn controller(self: Arc<Self>) {
        let take = |all: &BTreeMap<String, Held>| {
            let held = all.get(CONTROLLER).cloned();
            self.store.change(|told| told.controller = held);
        };
        self.follow(&CONTROLLERS, Some(CONTROLLER), take).await;
    }

    async fn build_configs(self: Arc<Self>) {
        let take = |all: &BTreeMap<String, Held>| {
            let all = all.clone();
            self.store.change(|told| told.builds.configs = all);
        };
        self.follow(&BUILD_CONFIGS, None, take).await;
    }

    async fn builds(self: Arc<Self>) {
        let take = |all: &BTreeMap<String, Held>| {
            let all = all.clone();
            self.store.change(|told| told.builds.builds = all);
        };
        self.follow(&BUILDS, None, take).await;
    }

    /// Asks the API server again and again whether it is there.
    async fn health(self: Arc<Self>) {
        let mut answered = None;
        loop {
            let why = match Request::get("/version").body(Vec::new()) {
                Ok(request) => {
                    let answer = self.client.request_text(request);
                    match tokio::time::timeout(ANSWER, answer).await {
                        Ok(Ok(_)) => None,
                        Ok(Err(error)) => Some(plain(&error)),
                        Err(_) => Some("no answer in time".to_owned()),
                    }
                }
                Err(error) => Some(error.to_string()),
            };
            let trouble = why.map(|why| {
                match answered {
                    Some(last) => format!("the API server has not answered since {last:.0}: {why}; pools are served as they were then"),
                    None => format!("the API server has not answered yet: {why}; no pool can be served before it does"),
                }
            });
            if trouble.is_none() {
                let now = disk::now();
                answered = Some(now);
                self.forget_failures(now);
            }
            self.told("api", trouble);
            tokio::time::sleep(ASK_AGAIN).await;
        }
    }

    /// Notes that a kind cannot be followed, and why the API says so. That it does not answer at all
    /// is noticed elsewhere, for all kinds at once.
    fn failed(&self, kind: &Kind, only: Option<&str>, error: &watcher::Error) {
        let Some((code, why)) = refusal(error) else {
            return;
        };
        // The name of a config follows from all of it, and every token shows this.
        let hidden = only.filter(|_| kind.plural == CONFIGS.plural);
        let why = hidden.map_or_else(|| why.to_owned(), |name| why.replace(name, "NAME"));
        let is_unknown = code == NOT_FOUND;
        if kind.is_optional && is_unknown {
            return self.told(kind.plural, None);
        }
        let mut trouble = format!("{} cannot be watched: {why}", kind.plural);
        if is_unknown {
            trouble += "; the cluster does not know the kind: install its definition";
        }
        self.failing().insert(kind.plural, disk::now());
        self.told(kind.plural, Some(trouble));
    }

    /// Takes back what was wrong with kinds that were tried since, with success: a watch that goes on
    /// where it was says nothing until something changes.
    fn forget_failures(&self, now: Timestamp) {
        let mut failing = self.failing();
        failing.retain(|kind, last| {
            let is_fresh = now.duration_since(*last).unsigned_abs() < TRIES_AGAIN;
            if !is_fresh {
                self.told(kind, None);
            }
            is_fresh
        });
    }

    fn failing(&self) -> MutexGuard<'_, BTreeMap<&'static str, Timestamp>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what is wrong, once, and that it is over.
    fn told(&self, about: &'static str, trouble: Option<String>) {
        if self.site.troubles.set(about, trouble.as_deref()) {
            let line = trouble.unwrap_or_else(|| format!("{about}: all is well again"));
            self.log.say(&line);
        }
    }
}

/// A task that ends with its owner.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn insert(all: &mut BTreeMap<String, Held>, object: &DynamicObject) {
    // What came as JSON can be written as JSON.
    let Ok(value) = serde_json::to_value(object) else {
        return;
    };
    let held = Held {
        version: object.resource_version().unwrap_or_default(),
        value: Arc::new(value),
    };
    all.insert(object.name_any(), held);
}
