//! What the steps of the sequence `ignition` decide.

mod resolving;

use bootlace_model::config::{IgnitionSettings, Settings};
use bootlace_model::content::Content;
use bootlace_model::effect::{Effect, EffectKind, Origin};
use bootlace_model::fact::Facts;
use bootlace_model::ids::Digest;
use bootlace_model::node::Owner;
use bootlace_model::probe::Answer;
use bootlace_model::provision::{
    Directory, Entry, File, Group, Holds, Inputs, Link, Provision, Unit, User, Who,
};
use bootlace_model::secret::Secret;
use bootlace_model::step::{Decision, PlanError};
use bootlace_model::survey::{Account, Accounts, Seen, Survey, UnitFileState};
use serde_json::json;

use super::{path, settings, step};

const ROOT: Owner = Owner { uid: 0, gid: 0 };

fn origin() -> Origin {
    Origin::new("ignition", "a.ign:1 x")
}

fn entry(path: &str) -> Entry {
    Entry {
        path: path.into(),
        overwrite: false,
        user: Who::Unset,
        group: Who::Unset,
        origin: origin(),
    }
}

fn file(path: &str, text: Option<&str>) -> File {
    File {
        entry: entry(path),
        mode: None,
        holds: text.map_or(Holds::AsItIs, |text| {
            Holds::Whole(Content::of(text.as_bytes()))
        }),
    }
}

fn user(name: &str) -> User {
    User {
        name: name.into(),
        uid: None,
        gecos: None,
        groups: vec![],
        primary_group: None,
        home_dir: Some(format!("/home/{name}")),
        no_create_home: false,
        no_log_init: false,
        no_user_group: false,
        system: false,
        password_hash: Some("secret".into()),
        shell: None,
        ssh_authorized_keys: vec!["key".into()],
        should_exist: None,
        origin: origin(),
    }
}

fn unit(name: &str) -> Unit {
    Unit {
        name: name.into(),
        contents: Some("[Service]\n".into()),
        enabled: Some(true),
        mask: None,
        dropins: vec![],
        origin: origin(),
    }
}

fn wishes() -> Provision {
    Provision {
        source: "a.ign".into(),
        groups: vec![Group {
            name: "wheel".into(),
            gid: Some(10),
            password_hash: None,
            should_exist: None,
            system: false,
            origin: origin(),
        }],
        users: vec![user("core")],
        directories: vec![Directory {
            entry: entry("/srv/folder"),
            mode: Some(0o700),
        }],
        files: vec![file("/srv/file", Some("x"))],
        links: vec![Link {
            entry: entry("/srv/link"),
            target: "file".into(),
            hard: false,
        }],
        units: vec![unit("a.service")],
        ..Provision::default()
    }
}

fn survey(nodes: &[(&str, Seen)]) -> Survey {
    Survey {
        identity: ROOT,
        moved: [].into(),
        nodes: nodes
            .iter()
            .map(|(at, seen)| (path(at), seen.clone()))
            .collect(),
        owners: [].into(),
        same: vec![],
        lost: [].into(),
    }
}

fn folder(mode: u32, gid: u32) -> Seen {
    Seen::Directory {
        mode,
        owner: Owner { uid: 0, gid },
    }
}

fn old_file(mode: u32) -> Seen {
    Seen::File {
        mode,
        owner: Owner { uid: 5, gid: 6 },
        digest: Some(Digest::of(b"old")),
    }
}

fn accounts() -> Accounts {
    let account = Account {
        uid: 1000,
        gid: 1000,
        home: "/home/core".into(),
    };
    let home = Seen::Directory {
        mode: 0o700,
        owner: Owner {
            uid: 1000,
            gid: 1000,
        },
    };
    Accounts {
        users: [("core".to_owned(), account)].into(),
        groups: [("wheel".to_owned(), 10)].into(),
        homes: survey(&[("/home/core", home)]),
    }
}

fn inputs() -> Inputs {
    Inputs {
        name: "a.ign".into(),
        config: Content::of(*b"{}"),
        fetched: vec![],
    }
}

/// The config that a test over all steps works by.
pub(super) fn config() -> IgnitionSettings {
    IgnitionSettings::new(wishes(), inputs()).unwrap()
}

/// Facts with which every step of the sequence can plan.
pub(super) fn set_facts(facts: &mut Facts) {
    let nobody = Accounts {
        users: [].into(),
        groups: [].into(),
        homes: survey(&[]),
    };
    let states = json!({"a.service": UnitFileState::Static});
    let mut set = |name: &str, value| facts.set(name, Answer::Json(value));
    set("ignition.is-live", json!(false));
    set("ignition.accounts-before", json!(nobody));
    set("ignition.accounts", json!(accounts()));
    set("ignition.target", json!(survey(&[])));
    set("ignition.unit-places", json!(survey(&[])));
    set("ignition.unit-files", states);
}

fn with(wishes: Provision) -> Settings {
    let mut settings = settings();
    settings.ignition = Some(IgnitionSettings::new(wishes, inputs()).unwrap());
    settings
}

/// Plans a step on a target.
fn plan(name: &str, wishes: Provision, target: &Survey) -> Result<Vec<Effect>, PlanError> {
    let mut facts = Facts::default();
    set_facts(&mut facts);
    for fact in ["ignition.target", "ignition.unit-places"] {
        facts.set(fact, Answer::Json(json!(target)));
    }
    match step(name).plan(&with(wishes), &facts)? {
        Decision::Do(effects) => Ok(effects),
        other => panic!("{other:?}"),
    }
}

fn files(files: Vec<File>) -> Provision {
    Provision {
        files,
        ..Provision::default()
    }
}

fn refused(name: &str, wishes: Provision, target: &Survey) -> String {
    match plan(name, wishes, target) {
        Err(PlanError::Fault(fault)) => fault.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_there_is_not_replaced_unless_it_may_be() {
    let target = || survey(&[("/etc", folder(0o755, 0)), ("/etc/x", old_file(0o600))]);
    let wish = file("/etc/x", Some("new"));
    let message = refused("write-files", files(vec![wish.clone()]), &target());
    assert!(message.contains("/etc/x is there already"), "{message}");
    assert!(message.starts_with("x: "), "{message}");
    let mut over = wish;
    over.entry.overwrite = true;
    let effects = plan("write-files", files(vec![over]), &target()).unwrap();
    let [Effect::PutFile(put)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (put.attributes.mode, put.attributes.owner),
        (0o644, Some(ROOT))
    );
}

#[test]
fn a_file_without_contents_keeps_those_that_it_has() {
    let target = survey(&[("/etc", folder(0o755, 0)), ("/etc/x", old_file(0o4755))]);
    let effects = plan("write-files", files(vec![file("/etc/x", None)]), &target).unwrap();
    let [Effect::SetAttributes(set)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    // The kernel takes the set-id bit away when the owner is set, even to the same one.
    assert_eq!(set.attributes.mode, 0o755);
    let mut longer = file("/etc/x", None);
    longer.holds = Holds::More(Content::of(*b"more"));
    let effects = plan("write-files", files(vec![longer]), &target).unwrap();
    let [Effect::AppendFile(append)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(append.before, Digest::of(b"old"));
}

#[test]
fn a_folder_that_hands_its_group_down_does_so_on_the_whole_way() {
    let target = survey(&[("/srv", folder(0o2775, 42))]);
    let effects = plan(
        "write-files",
        files(vec![file("/srv/a/b", Some(""))]),
        &target,
    )
    .unwrap();
    let [Effect::MakeDirectory(made), Effect::PutFile(put)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let inherited = Some(Owner { uid: 0, gid: 42 });
    assert_eq!(
        (made.attributes.mode, made.attributes.owner),
        (0o2755, inherited)
    );
    assert_eq!(put.attributes.owner, inherited);
}

#[test]
fn two_entries_that_links_lead_to_one_place_are_refused() {
    let mut target = survey(&[]);
    target.moved.insert(path("/link/x"), path("/real/x"));
    let wishes = files(vec![file("/real/x", Some("")), file("/link/x", Some(""))]);
    let message = refused("write-files", wishes, &target);
    assert!(message.contains("the same place"), "{message}");
}

#[test]
fn nothing_is_under_a_file() {
    let target = survey(&[("/etc", folder(0o755, 0)), ("/etc/x", old_file(0o600))]);
    let message = refused(
        "write-files",
        files(vec![file("/etc/x/y", Some(""))]),
        &target,
    );
    assert!(
        message.contains("/etc/x is a file, not a folder"),
        "{message}"
    );
}

#[test]
fn names_are_those_of_the_target_or_are_refused() {
    let owned = |name: &str| {
        let mut file = file("/srv/x", Some(""));
        file.entry.user = Who::Name(name.into());
        files(vec![file])
    };
    let effects = plan("write-files", owned("core"), &survey(&[])).unwrap();
    let [Effect::PutFile(put)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(put.attributes.owner.unwrap().uid, 1000);
    let message = refused("write-files", owned("nobody-here"), &survey(&[]));
    assert!(message.contains("nobody-here"), "{message}");
    // A user that the config brings is known once the step before has run.
    let mut early = owned("new");
    early.users = vec![user("new")];
    let error = plan("write-files", early, &survey(&[]));
    assert!(matches!(error, Err(PlanError::Fact(_))), "{error:?}");
}

#[test]
fn hard_links_come_last_and_need_something_to_be_a_name_of() {
    let hard = |target: &str| Link {
        entry: entry("/a"),
        target: target.into(),
        hard: true,
    };
    let mut wishes = files(vec![file("/deep/er/file", Some(""))]);
    wishes.links = vec![hard("/deep/er/file")];
    let effects = plan("write-files", wishes.clone(), &survey(&[])).unwrap();
    let kinds: Vec<EffectKind> = effects.iter().map(Effect::kind).collect();
    assert_eq!(kinds, [EffectKind::PutFile, EffectKind::MakeHardLink]);
    wishes.links = vec![hard("/nowhere")];
    let message = refused("write-files", wishes, &survey(&[]));
    assert!(message.contains("/nowhere is absent"), "{message}");
}

#[test]
fn hashes_of_passwords_are_no_arguments_and_are_not_shown() {
    let mut wishes = wishes();
    wishes.groups[0].password_hash = Some("secret".into());
    let effects = plan("create-groups-and-users", wishes, &survey(&[])).unwrap();
    let programs: Vec<String> = effects.iter().map(Effect::shell).collect();
    let begins = ["groupadd", "chgpasswd", "useradd", "chpasswd"];
    assert_eq!(programs.len(), begins.len(), "{programs:?}");
    for ((effect, program), begin) in effects.iter().zip(&programs).zip(begins) {
        assert!(program.starts_with(&format!("{begin} --root")), "{program}");
        assert!(!program.contains("secret"), "{program}");
        let Effect::RunCommand(run) = effect else {
            panic!("{effect:?}");
        };
        assert!(!run.argv.concat().contains("secret"), "{run:?}");
        let read = run.input.as_ref().map(Secret::expose);
        assert_eq!(read.is_some(), begin.contains("passwd"), "{run:?}");
        assert!(
            read.is_none_or(|read| read.ends_with(b":secret\n")),
            "{run:?}"
        );
    }
}

#[test]
fn a_mask_takes_the_place_of_contents() {
    let mut masked = unit("a.service");
    masked.mask = Some(true);
    let wishes = Provision {
        units: vec![masked],
        ..Provision::default()
    };
    let effects = plan("write-units", wishes, &survey(&[])).unwrap();
    let [Effect::MakeLink(link)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(link.target, "/dev/null");
}

#[test]
fn a_config_is_told_in_a_sentence() {
    let text = crate::ignition::summarise(&wishes(), None);
    let expected = "This config writes 2 files, makes 1 folder, makes 1 link, adds or changes 1 \
                    user, adds 1 group and enables 1 unit.";
    assert_eq!(text, expected);
    let mut away = wishes();
    away.groups[0].should_exist = Some(false);
    away.users.clear();
    away.units = vec![Unit {
        contents: None,
        enabled: None,
        mask: Some(false),
        ..unit("a.service")
    }];
    (away.files, away.directories, away.links) = (vec![], vec![], vec![]);
    let text = crate::ignition::summarise(&away, None);
    assert_eq!(text, "This config removes 1 group and unmasks 1 unit.");
    let nothing = crate::ignition::summarise(&Provision::default(), None);
    assert_eq!(nothing, "This config asks for nothing.");
}

#[test]
fn the_sequence_has_exactly_the_promised_steps() {
    let sequence = crate::sequence("ignition").unwrap();
    let names: Vec<&str> = sequence.steps.iter().map(|step| step.name()).collect();
    let promised = [
        "keep-config",
        "create-groups-and-users",
        "authorize-ssh-keys",
        "write-files",
        "write-units",
        "enable-units",
    ];
    assert_eq!(names, promised);
}
