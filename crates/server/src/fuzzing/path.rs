//! Paths of requests, against a folder of pools that has files where no request may lead.

use std::path::{Component, Path, PathBuf};

use http::Uri;

use crate::answer::{asked_for, endpoint};
use crate::folder::Folder;
use crate::name::Name;
use crate::page;
use crate::pools::{Origin, Pools};
use crate::source::{Document, Mark, Unservable};

/// The pools of `fuzz/pools`.
const POOLS: [&str; 3] = ["a.b_c-1", "master", "worker"];

/// Checks where the path of a request leads.
///
/// # Panics
///
/// Panics if it leads to a pool other than by its exact name, or to a file outside of the folder.
pub fn path(input: &[u8]) {
    let Ok(uri) = Uri::try_from(input) else {
        return;
    };
    let path = uri.path();
    let endpoint = endpoint(path);
    let config = asked_for(path);
    let pool = match (endpoint, &config) {
        ("config" | "layered", Some((view, pool))) => {
            assert_eq!(view.endpoint(), endpoint);
            pool.clone()
        }
        ("explain", None) => match page::pool_of(path) {
            Some(pool) => pool,
            None => return,
        },
        (_, None) => return,
        (_, Some(_)) => unreachable!("{endpoint} serves no config"),
    };
    assert_eq!(path, format!("/{endpoint}/{}", pool.as_str()));
    for document in [Document::Pool(pool.clone()), Document::Config(pool.clone())] {
        check_place(&Folder::place(&document), &pool);
    }
    check_reading(&pool);
}

/// Checks that the file of a document lies in its folder, under its own name.
fn check_place(place: &str, pool: &Name) {
    let place = Path::new(place);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    assert!(place.components().all(is_plain), "{}", place.display());
    assert_eq!(place.components().count(), 2, "{}", place.display());
    let name = place.file_name().and_then(|name| name.to_str());
    assert_eq!(name, Some(format!("{}.yaml", pool.as_str()).as_str()));
}

/// Checks that only what is in the folder of pools is found, and only files of that folder are read.
fn check_reading(pool: &Name) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/pools");
    let pools = Pools {
        origin: Origin::Folder(Folder(folder.clone())),
        kubeconfig: None,
        certificates: vec![],
    };
    let reading = pools.read(pool);
    match reading.source {
        Ok(source) => {
            assert!(POOLS.contains(&pool.as_str()), "{pool:?} is no pool");
            assert_eq!(source.pool_name, *pool);
        }
        Err(error) => {
            assert_eq!(error, Unservable::Unknown, "{pool:?}");
            assert!(!POOLS.contains(&pool.as_str()), "{pool:?} is not found");
        }
    }
    for mark in reading.marks {
        let Mark::File(path, _) = mark else {
            unreachable!("a folder has files only");
        };
        let below = path.strip_prefix(&folder).ok();
        let mut parts = below.into_iter().flat_map(Path::components);
        let is_inside = below.is_some() && parts.all(|part| matches!(part, Component::Normal(_)));
        assert!(is_inside, "{} is outside", path.display());
    }
}
