mod check;
mod signing;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tempfile::TempDir;

use super::{Change, Present, Update, UpdateError, now, update};
use crate::report::Report;
use crate::root::{LOCK, LOCK_SIGNATURE, RING};
use crate::testing::{ONE, Scratch, TWO, component, content, description, key, ring};
use crate::{Anchor, ComponentProbe, ProbeError};
use hydrant_base::Digest;
use hydrant_trust::{Experimental, KeyRing, Wasm, pack, sign};

const THREE: &str = "test.three";
const READS: &str = "hydrant:host/fs-read@0.1.0";
const FETCHES: &str = "hydrant:host/fetch@0.1.0";

/// Path, mode, time of change and content of everything in a root.
type Tree = BTreeMap<String, (u32, SystemTime, Vec<u8>)>;

fn tree(directory: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![directory.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let status = path.symlink_metadata().unwrap();
            if status.is_dir() {
                open.push(path.clone());
            }
            let bytes = if status.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            let of = (
                status.permissions().mode(),
                status.modified().unwrap(),
                bytes,
            );
            tree.insert(path.to_string_lossy().into_owned(), of);
        }
    }
    tree
}

/// A directory of signing keys outside every root.
fn keys(signers: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, of) in signers {
        fs::write(directory.path().join(format!("{name}.key")), seed(of)).unwrap();
    }
    directory
}

/// The key file of `testing::key`.
fn seed(signer: &str) -> String {
    use base64::Engine as _;
    let seed: Vec<u8> = Digest::of(format!("pins test key of {signer}").as_bytes())
        .hex()
        .bytes()
        .take(32)
        .collect();
    base64::engine::general_purpose::STANDARD.encode(seed)
}

fn both_keys() -> TempDir {
    keys(&[(ONE, ONE), (TWO, TWO)])
}

/// Runs updates of one root.
struct Runner<'a> {
    scratch: &'a Scratch,
    anchor: Anchor,
    present: Present,
    widening: Change,
    signer_change: Change,
    old_ring: Option<KeyRing>,
    keys: Option<&'a Path>,
    now: u64,
}

impl<'a> Runner<'a> {
    fn of(scratch: &'a Scratch) -> Self {
        Self {
            scratch,
            anchor: scratch.anchor(),
            present: Present::Locked,
            widening: Change::Refused,
            signer_change: Change::Refused,
            old_ring: None,
            keys: None,
            now: 1_800_000_000,
        }
    }

    fn try_run(&self, probe: &dyn ComponentProbe) -> Result<Report, UpdateError> {
        let update_of = Update {
            anchor: &self.anchor,
            probe,
            progress: None,
            present: self.present,
            old_ring: self.old_ring.as_ref(),
            widening: self.widening,
            signer_change: self.signer_change,
            signing_keys: self.keys,
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(self.now),
        };
        update(self.scratch.directory(), &update_of)
    }

    fn run(&self) -> Report {
        self.try_run(&content()).unwrap()
    }

    /// The lines of an update that must be refused with this status and write nothing.
    fn refused(&self, exit: u8) -> Vec<String> {
        let before = tree(self.scratch.directory());
        let report = self.run();
        assert_eq!(report.exit_code(), exit, "{:?}", lines(&report));
        assert_eq!(tree(self.scratch.directory()), before);
        lines(&report)
    }
}

fn lines(report: &Report) -> Vec<String> {
    report.lines().into_iter().map(|line| line.text).collect()
}

fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

/// Adds `a.skill@0.2.0`, which also fetches.
fn widen(scratch: &Scratch) {
    let wasm = component(&[READS, FETCHES]);
    scratch.bundle("a.skill", "0.2.0", &wasm, &["fs.read:/os", "net.http:*"]);
}

#[test]
fn the_first_lock_is_made_with_init_and_verifies() {
    let scratch = Scratch::empty();
    scratch.bundle("a.skill", "0.1.0", &component(&[READS]), &["fs.read:/os"]);
    scratch.remove("skills/a.skill/0.1.0/public-keys.json");
    let keys = both_keys();
    let mut runner = Runner::of(&scratch);
    assert!(matches!(
        runner.try_run(&content()),
        Err(UpdateError::NoLock)
    ));
    runner.present = Present::Nothing;
    runner.keys = Some(keys.path());
    // A new skill with any capability is a widening.
    assert!(has(&runner.refused(4), "id=a.skill kind=fs.read value=/os"));
    runner.widening = Change::Allowed;
    let report = runner.run();
    let digest = Digest::of(&scratch.read(LOCK));
    assert_eq!(
        lines(&report),
        [
            "verifying a.skill@0.1.0".to_owned(),
            "pinned a.skill@0.1.0".to_owned(),
            "  a.skill@0.1.0 + fs.read:/os (wider)".to_owned(),
            format!("OK lock count=1 digest={digest} signatures=2"),
        ]
    );
    assert_eq!(report.lock_digest, Some(digest));
    assert_eq!(scratch.rows(), [""; 0]);
    for pin in [LOCK, LOCK_SIGNATURE] {
        let mode = fs::metadata(scratch.path(pin))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o644, "{pin}");
    }
    assert!(matches!(
        runner.try_run(&content()),
        Err(UpdateError::LockExists)
    ));
}

/// With or without keys, and however late it is.
#[test]
fn an_update_without_a_change_changes_nothing() {
    let scratch = Scratch::new();
    let before = tree(scratch.directory());
    let keys = both_keys();
    let mut runner = Runner::of(&scratch);
    for keys in [None, Some(keys.path())] {
        runner.keys = keys;
        let report = runner.run();
        assert_eq!(report.exit_code(), 0);
        assert!(has(&lines(&report), "signatures=2"));
        assert!(!has(&lines(&report), "UNSIGNED"));
        assert_eq!(tree(scratch.directory()), before);
    }
}

#[test]
fn a_changed_lock_has_the_time_of_its_change() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/SKILL.md", b"# Another text\n");
    let report = Runner::of(&scratch).run();
    assert_eq!(report.exit_code(), 0);
    assert_eq!(scratch.lock().generated_at, "2027-01-15T08:00:00.000Z");
}

#[test]
fn source_date_epoch_overrides_the_clock_and_must_be_a_time() {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    assert_eq!(now(Some("0")).unwrap(), at(0));
    assert_eq!(now(Some("253402300799")).unwrap(), at(253_402_300_799));
    assert!(now(None).unwrap() > at(1_700_000_000));
    for bad in [
        "",
        "-1",
        "1.5",
        " 1",
        "253402300800",
        "99999999999999999999",
    ] {
        assert!(
            matches!(now(Some(bad)), Err(UpdateError::Epoch(_))),
            "{bad}"
        );
    }
}

#[test]
fn a_widening_is_listed_and_nothing_is_written_without_its_flag() {
    let scratch = Scratch::new();
    widen(&scratch);
    scratch.remove("skills/a.skill/0.2.0/public-keys.json");
    let keys = both_keys();
    let mut runner = Runner::of(&scratch);
    runner.keys = Some(keys.path());
    // One flag never implies the other.
    runner.signer_change = Change::Allowed;
    let lines = runner.refused(4);
    let expected = "error: a.skill@0.2.0 TW-02 widening: id=a.skill kind=net.http value=*: \
                    no capability of a.skill@0.1.0 covers it; --allow-widen would allow it";
    assert!(has(&lines, expected), "{lines:?}");
    assert!(!has(&lines, "fs.read value"), "{lines:?}");
    runner.widening = Change::Allowed;
    assert_eq!(runner.run().exit_code(), 0);
    let ring = scratch.read(RING);
    assert_eq!(scratch.read("skills/a.skill/0.2.0/public-keys.json"), ring);
}

/// A root of three signers whose new version is signed by the first and the third.
fn other_signer() -> Scratch {
    let scratch = Scratch::empty();
    scratch.write(RING, &ring(&[ONE, THREE, TWO]));
    scratch.bundle("a.skill", "0.1.0", &component(&[READS]), &["fs.read:/os"]);
    scratch.pin(&[("a.skill", "0.1.0")]);
    let wasm = component(&[READS]);
    let manifest = scratch.manifest_with(&[
        ("version", json!("0.2.0")),
        ("signers", json!([ONE, THREE])),
    ]);
    let path = scratch.path("skills/a.skill/0.2.0");
    fs::create_dir_all(&path).unwrap();
    let manifest = serde_json::to_vec(&manifest).unwrap();
    pack(&path, &wasm, &manifest, Experimental::Refused).unwrap();
    for signer in [ONE, THREE] {
        sign(&path, signer, &key(signer), Experimental::Refused).unwrap();
    }
    scratch
}

#[test]
fn a_signer_change_is_listed_and_nothing_is_written_without_its_flag() {
    let scratch = other_signer();
    let mut runner = Runner::of(&scratch);
    runner.widening = Change::Allowed;
    let lines = runner.refused(3);
    let expected = "error: a.skill@0.2.0 TW-04 signer change: signed by test.one,test.three, \
                    the baseline by test.one,test.two; --allow-signer-change would allow it";
    assert!(has(&lines, expected), "{lines:?}");
    runner.signer_change = Change::Allowed;
    assert_eq!(runner.run().exit_code(), 0);
    assert_eq!(scratch.lock().skills[1].signers, [ONE, THREE]);
}

/// The root with the key of the second signer replaced and everything signed again.
fn rekeyed() -> (Scratch, KeyRing) {
    let scratch = Scratch::new();
    let old = KeyRing::parse(&scratch.read(RING)).unwrap();
    let new_key = key("replaced").public().to_base64();
    let old_key = key(TWO).public().to_base64();
    scratch.edit(RING, &old_key, &new_key);
    let bundle = scratch.path("skills/a.skill/0.1.0");
    sign(&bundle, TWO, &key("replaced"), Experimental::Refused).unwrap();
    (scratch, old)
}

#[test]
fn after_a_change_of_the_ring_the_old_lock_is_held_against_the_old_ring() {
    let (scratch, old) = rekeyed();
    let keys = keys(&[(ONE, ONE), (TWO, "replaced")]);
    let mut runner = Runner::of(&scratch);
    runner.keys = Some(keys.path());
    // Signed with a key that is in no ring any more.
    assert!(has(&runner.refused(3), "error: lock TV-04"));
    runner.old_ring = Some(old);
    let lines = runner.refused(3);
    assert!(
        has(&lines, "TW-04 signer change: the key of test.two is "),
        "{lines:?}"
    );
    runner.signer_change = Change::Allowed;
    let report = runner.run();
    assert_eq!(report.exit_code(), 0, "{:?}", report.lines());
    assert!(has(&super::tests::lines(&report), "rekeyed test.two "));
    assert_eq!(scratch.rows(), [""; 0]);
}

#[test]
fn the_old_ring_must_be_the_one_that_signed() {
    let (scratch, _) = rekeyed();
    let mut runner = Runner::of(&scratch);
    runner.signer_change = Change::Allowed;
    runner.old_ring = Some(KeyRing::parse(&ring(&[ONE, THREE])).unwrap());
    assert!(has(&runner.refused(3), "error: lock TV-04"));
}

#[test]
fn a_lock_that_is_not_signed_blocks_the_update_and_no_flag_opens_it() {
    for spoil in [
        |scratch: &Scratch| scratch.remove(LOCK_SIGNATURE),
        |scratch: &Scratch| scratch.sign_lock(&[ONE]),
        |scratch: &Scratch| scratch.edit(LOCK, "2026-01-01", "2026-01-02"),
    ] {
        let scratch = Scratch::new();
        spoil(&scratch);
        let keys = both_keys();
        let mut runner = Runner::of(&scratch);
        runner.keys = Some(keys.path());
        runner.widening = Change::Allowed;
        runner.signer_change = Change::Allowed;
        let lines = runner.refused(3);
        assert!(has(&lines, "error: lock TV-04"), "{lines:?}");
        assert!(has(&lines, "lock --sign"), "{lines:?}");
    }
}

#[test]
fn ring_and_lock_are_verified_before_anything_else() {
    let scratch = Scratch::new();
    let mut runner = Runner::of(&scratch);
    runner.anchor.keys_digest = Digest::of(b"another ring");
    assert!(has(&runner.refused(3), "error: lock TV-02"));
    scratch.write_lock_bytes(b"{}\n");
    assert!(has(&Runner::of(&scratch).refused(2), "error: lock TV-05"));
}

/// A bundle that cannot be pinned is no reason to speak of unpinning it.
#[test]
fn a_bundle_that_fails_is_the_only_thing_reported() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/0.1.0/extra", b"x");
    let lines = Runner::of(&scratch).refused(2);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].contains("TV-21"), "{lines:?}");
}

/// It pins everything on disk or fails.
#[test]
fn nothing_on_disk_is_skipped() {
    // Which row speaks, and the file that is changed; without new content it is removed.
    let spoils: [(&str, &str, Option<&[u8]>); 6] = [
        ("TV-22 stray entry", "skills/notes.txt", Some(b"x")),
        ("TV-22 stray entry", "skills/a.skill/notes.txt", Some(b"x")),
        ("TV-22 SKILL.md", "skills/a.skill/SKILL.md", None),
        ("TV-11", "skills/a.skill/0.2.0/skill.wasm", Some(b"x")),
        ("TV-21 extra file", "skills/a.skill/0.1.0/extra", Some(b"x")),
        ("TV-12", "skills/a.skill/0.1.0/skill.wasm", Some(b"x")),
    ];
    for (expected, path, content) in spoils {
        let scratch = Scratch::new();
        match content {
            Some(content) => scratch.write(path, content),
            None => scratch.remove(path),
        }
        let lines = Runner::of(&scratch).refused(2);
        assert!(has(&lines, expected), "{expected}: {lines:?}");
    }
}

#[test]
fn a_root_without_bundles_is_not_pinned() {
    let scratch = Scratch::empty();
    let mut runner = Runner::of(&scratch);
    runner.present = Present::Nothing;
    assert!(has(&runner.refused(2), "TV-06"));
}

#[test]
fn a_bundle_signed_by_one_is_not_pinned() {
    let scratch = Scratch::new();
    let signatures = "skills/a.skill/0.1.0/signatures.json";
    let mut parsed: serde_json::Value = serde_json::from_slice(&scratch.read(signatures)).unwrap();
    parsed["signatures"].as_array_mut().unwrap().pop();
    scratch.write(signatures, &serde_json::to_vec_pretty(&parsed).unwrap());
    assert!(has(&Runner::of(&scratch).refused(3), "TV-18"));
}

#[test]
fn a_component_that_does_not_describe_itself_is_not_pinned() {
    let scratch = Scratch::new();
    let mut probe = content();
    probe.answer = Some(Err(ProbeError::NoDescription("trap".to_owned())));
    let before = tree(scratch.directory());
    let report = Runner::of(&scratch).try_run(&probe).unwrap();
    assert_eq!(report.exit_code(), 2);
    assert_eq!(tree(scratch.directory()), before);
}

#[test]
fn a_stale_ring_copy_is_replaced_and_no_other_bundle_file_changes() {
    let scratch = Scratch::new();
    let copy = "skills/a.skill/0.1.0/public-keys.json";
    scratch.write(copy, b"{}");
    let mut before = tree(&scratch.path("skills"));
    assert_eq!(Runner::of(&scratch).run().exit_code(), 0);
    assert_eq!(scratch.read(copy), scratch.read(RING));
    let mut after = tree(&scratch.path("skills"));
    for tree in [&mut before, &mut after] {
        tree.retain(|path, _| !path.ends_with(copy) && !path.ends_with("0.1.0"));
    }
    assert_eq!(after, before);
}

#[test]
fn a_ring_copy_that_is_a_link_is_refused() {
    let scratch = Scratch::new();
    let copy = scratch.path("skills/a.skill/0.1.0/public-keys.json");
    fs::remove_file(&copy).unwrap();
    symlink(scratch.path(RING), &copy).unwrap();
    assert!(has(&Runner::of(&scratch).refused(2), "TV-11"));
    assert!(copy.symlink_metadata().unwrap().file_type().is_symlink());
}

/// The old manifest is gone from the disk and in no commit, so nothing covers the new one.
#[test]
fn a_repinned_version_is_reported_and_its_lost_baseline_covers_nothing() {
    let scratch = Scratch::new();
    let old = scratch.lock().skills[0].artifact.clone();
    let mut wasm = component(&[READS]);
    // A custom section named `x`.
    wasm.extend([0, 2, 1, b'x']);
    scratch.bundle("a.skill", "0.1.0", &wasm, &["fs.read:/os"]);
    let mut runner = Runner::of(&scratch);
    let report = lines(&runner.run());
    let new = Digest::of(&wasm);
    assert!(
        has(
            &report,
            &format!("repinned a.skill@0.1.0 artifact={new} was={old}")
        ),
        "{report:?}"
    );
    assert!(
        has(&report, "pinned as a.skill@0.1.0 was not found"),
        "{report:?}"
    );
    runner.refused(4);
    runner.widening = Change::Allowed;
    assert_eq!(runner.run().exit_code(), 0);
    assert_eq!(scratch.lock().skills[0].artifact, new);
}

#[test]
fn a_removed_bundle_is_reported_as_unpinned() {
    let scratch = Scratch::new();
    widen(&scratch);
    let mut runner = Runner::of(&scratch);
    runner.widening = Change::Allowed;
    let keys = both_keys();
    runner.keys = Some(keys.path());
    assert_eq!(runner.run().exit_code(), 0);
    fs::remove_dir_all(scratch.path("skills/a.skill/0.1.0")).unwrap();
    runner.widening = Change::Refused;
    let report = runner.run();
    assert_eq!(report.exit_code(), 0);
    assert!(has(&lines(&report), "unpinned a.skill@0.1.0"));
    assert_eq!(scratch.rows(), [""; 0]);
}

/// Describes each component by the skill it belongs to.
struct ByArtifact(BTreeMap<Digest, &'static str>);

impl ComponentProbe for ByArtifact {
    fn instantiate_and_describe(&self, component: &Wasm) -> Result<String, ProbeError> {
        Ok(description(self.0[component.digest()]))
    }
}

#[test]
fn the_lock_is_sorted_by_id_then_version_in_byte_order() {
    let scratch = Scratch::empty();
    let wasms = [component(&[]), component(&[READS])];
    scratch.bundle("b.skill", "0.9.0", &wasms[1], &["fs.read:/os"]);
    scratch.bundle("b.skill", "0.10.0", &wasms[1], &["fs.read:/os"]);
    scratch.bundle("a.skill", "1.0.0", &wasms[0], &[]);
    let of = |index: usize, id| (Digest::of(&wasms[index]), id);
    let probe = ByArtifact(BTreeMap::from([of(0, "a.skill"), of(1, "b.skill")]));
    let mut runner = Runner::of(&scratch);
    runner.present = Present::Nothing;
    runner.widening = Change::Allowed;
    assert_eq!(runner.try_run(&probe).unwrap().exit_code(), 0);
    let lock = scratch.lock();
    let skills: Vec<_> = lock.skills.iter().map(|entry| entry.skill()).collect();
    assert_eq!(skills, ["a.skill@1.0.0", "b.skill@0.10.0", "b.skill@0.9.0"]);
    assert_eq!(lock.check_form(&scratch.read(LOCK)), []);
}
