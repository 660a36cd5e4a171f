//! Durability; that it lasts through a power cut cannot be seen from here, that it is asked for can.

use std::io::ErrorKind;

use bootlace_engine::port::{Dir, FileIdentity, Host as _, HostResult, Stat};
use bootlace_model::node::{Attributes, Owner, SpecialKind, Xattrs};
use bootlace_model::path::TargetPath;

use crate::world::{World, kind, path};

#[test]
fn few_and_many_files_and_folders_are_synced() {
    let world = World::new();
    let (root, _) = world.root();
    let names: Vec<String> = (0..20).map(|number| format!("n{number}")).collect();
    for name in &names {
        root.create_dir(name, &Attributes::mode(0o700)).unwrap();
        root.create(&format!("{name}.txt"), b"x", &Attributes::mode(0o400))
            .unwrap();
    }
    let files: Vec<String> = names.iter().map(|name| format!("{name}.txt")).collect();
    let dirs: Vec<_> = names
        .iter()
        .map(|name| world.open(&format!("/{name}")))
        .collect();
    for count in [0, 1, 8, 9, 20] {
        let some: Vec<_> = files[..count]
            .iter()
            .map(|name| (root.as_ref(), name.as_str()))
            .collect();
        world.host.sync_files(&some).unwrap();
        let some: Vec<_> = dirs[..count].iter().map(AsRef::as_ref).collect();
        world.host.sync_dirs(&some).unwrap();
    }
}

#[test]
fn what_cannot_be_synced_is_an_error() {
    let world = World::new();
    let (root, _) = world.root();
    root.create_link("link", "/etc/passwd").unwrap();
    let error = world
        .host
        .sync_files(&[(root.as_ref(), "missing")])
        .unwrap_err();
    assert_eq!(kind(&error), ErrorKind::NotFound);
    let error = world
        .host
        .sync_files(&[(root.as_ref(), "link")])
        .unwrap_err();
    assert_eq!(kind(&error), ErrorKind::InvalidInput);
}

#[test]
fn folders_of_another_host_are_refused() {
    let world = World::new();
    let stranger = Stranger(path("/"));
    for attempt in [
        world.host.sync_dirs(&[&stranger]),
        world.host.sync_files(&[(&stranger, "x")]),
        world.host.lock(&stranger, "x").map(drop),
        world.host.lock_holder(&stranger, "x").map(drop),
        world.host.open_log(&stranger, "x").map(drop),
    ] {
        let error = attempt.unwrap_err();
        assert!(error.to_string().contains("another host"), "{error}");
    }
}

/// A folder that this host did not open.
#[derive(Debug)]
struct Stranger(TargetPath);

impl Dir for Stranger {
    fn path(&self) -> &TargetPath {
        &self.0
    }
    fn stat(&self, _: &str) -> HostResult<Option<Stat>> {
        Ok(None)
    }
    fn read(&self, _: &str, _: u64) -> HostResult<Vec<u8>> {
        Ok(vec![])
    }
    fn xattrs(&self, _: &str) -> HostResult<Xattrs> {
        Ok(Xattrs::default())
    }
    fn list(&self) -> HostResult<Vec<String>> {
        Ok(vec![])
    }
    fn create(&self, _: &str, _: &[u8], _: &Attributes) -> HostResult<()> {
        Ok(())
    }
    fn append(&self, _: &str, _: &[u8]) -> HostResult<()> {
        Ok(())
    }
    fn create_dir(&self, _: &str, _: &Attributes) -> HostResult<()> {
        Ok(())
    }
    fn create_special(&self, _: &str, _: SpecialKind, _: &Attributes) -> HostResult<()> {
        Ok(())
    }
    fn create_link(&self, _: &str, _: &str) -> HostResult<()> {
        Ok(())
    }
    fn create_hard_link(&self, _: &str, _: &dyn Dir, _: &str) -> HostResult<()> {
        Ok(())
    }
    fn identity(&self, _: &str) -> HostResult<Option<FileIdentity>> {
        Ok(None)
    }
    fn set_attributes(&self, _: &str, _: &Attributes) -> HostResult<()> {
        Ok(())
    }
    fn set_owner(&self, _: &str, _: Owner) -> HostResult<()> {
        Ok(())
    }
    fn rename(&self, _: &str, _: &str) -> HostResult<()> {
        Ok(())
    }
    fn remove(&self, _: &str) -> HostResult<()> {
        Ok(())
    }
    fn remove_dir(&self, _: &str) -> HostResult<()> {
        Ok(())
    }
}
