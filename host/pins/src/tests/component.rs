//! What a component imports, declares and does.

use std::cell::RefCell;
use std::fs;

use serde_json::json;

use crate::testing::{Scratch, component, content, description, rows};
use crate::{
    Class, ComponentProbe, Finding, LOCK, Options, ProbeError, Progress, RING, Verification, verify,
};
use hydrant_base::Digest;
use hydrant_trust::Wasm;

const WASM: &str = "skills/a.skill/0.1.0/skill.wasm";
const MANIFEST: &str = "skills/a.skill/0.1.0/manifest.json";
const READ: &str = "hydrant:host/fs-read@0.1.0";

/// A root whose one skill is this component with these capabilities, pinned and signed.
fn skill(wasm: &[u8], capabilities: &[&str]) -> Scratch {
    let scratch = Scratch::empty();
    scratch.bundle("a.skill", "0.1.0", wasm, capabilities);
    scratch.pin(&[("a.skill", "0.1.0")]);
    scratch
}

fn assert_finding(finding: &Finding, row: &str, class: Class, path: &str, said: &str) {
    assert_eq!(
        (finding.row.id(), finding.class()),
        (row, class),
        "{finding}"
    );
    assert_eq!(finding.path.as_deref(), Some(path), "{finding}");
    assert!(finding.message.contains(said), "{finding} without {said}");
}

/// The outcome of a verification whose probe answers this, and how often the probe was asked.
fn probed(scratch: &Scratch, answer: Result<String, ProbeError>) -> (Verification, usize) {
    let mut probe = content();
    probe.answer = Some(answer);
    let verification = scratch.verify_with(&Options::default(), &probe);
    (verification, probe.asked.get())
}

#[test]
fn only_components_that_parse_are_pinned() {
    let module = wat::parse_str("(module)").unwrap();
    let mut cut = component(&[READ]);
    cut.truncate(cut.len() - 1);
    for (wasm, said) in [
        (&module[..], "is a core module"),
        (&cut[..], "does not parse"),
        (b"#!/bin/sh", "is not a component"),
        (b"", "is not a component"),
    ] {
        let scratch = skill(wasm, &[]);
        let finding = scratch.only();
        assert_finding(&finding, "TV-23", Class::Drift, WASM, said);
        let verification = scratch.verify();
        let asked = verification.findings.evaluated().map(|(_, row)| row.id());
        let none = asked.filter(|row| ["TV-24", "TV-25", "TV-26", "TV-27"].contains(row));
        assert_eq!(none.count(), 0);
    }
}

#[test]
fn other_imports_are_refused_and_such_a_component_never_starts() {
    for other in [
        "wasi:sockets/tcp@0.2.0",
        "wasi:http/outgoing-handler@0.2.0",
        "hydrant:host/secrets@0.1.0",
        "evil:host/fs-read@0.1.0",
    ] {
        let scratch = skill(&component(&[READ, other]), &["fs.read:/os"]);
        let (verification, asked) = probed(&scratch, Ok(description("a.skill")));
        let [finding] = verification.findings.found() else {
            panic!("{:?}", verification.findings);
        };
        let said = format!("import not allowed: {other}");
        assert_finding(finding, "TV-24", Class::Policy, WASM, &said);
        assert_eq!(asked, 0);
        assert_eq!(verification.findings.exit_code(), 4);
    }
}

#[test]
fn inert_wasi_needs_no_capability() {
    let wasm = component(&["wasi:cli/environment@0.2.0", "wasi:io/streams@0.2.0"]);
    assert_eq!(skill(&wasm, &[]).rows(), [""; 0]);
}

#[test]
fn each_imported_interface_is_declared_by_its_kind() {
    for (interface, kind, value) in [
        ("fs-read", "fs.read", "/os"),
        ("fs-write", "fs.write", "/workspace"),
        ("fetch", "net.http", "*"),
        ("process", "exec.safe", "git"),
    ] {
        let wasm = component(&[&format!("hydrant:host/{interface}@0.1.0")]);
        let scratch = skill(&wasm, &[]);
        let said = format!("import not declared: {interface} needs a capability {kind}");
        assert_finding(&scratch.only(), "TV-25", Class::Policy, WASM, &said);
        let scratch = skill(&wasm, &[&format!("{kind}:{value}")]);
        assert_eq!(scratch.rows(), [""; 0], "{interface}");
    }
    // A capability of another kind does not stand in.
    let scratch = skill(&component(&[READ]), &["fs.write:/workspace"]);
    assert_eq!(
        scratch.rows(),
        ["a.skill@0.1.0 TV-25", "a.skill@0.1.0 TV-26"]
    );
}

#[test]
fn what_is_declared_is_used() {
    let scratch = skill(&component(&[READ]), &["exec.safe:git", "fs.read:/os"]);
    let said = "capability not used: exec.safe, but skill.wasm does not import process";
    assert_finding(&scratch.only(), "TV-26", Class::Policy, MANIFEST, said);
    for kind in ["env", "exec", "kv.read", "fs.raed"] {
        let scratch = skill(&component(&[]), &[&format!("{kind}:x")]);
        let said = format!("capability not used: no interface stands for {kind}");
        assert_finding(&scratch.only(), "TV-26", Class::Policy, MANIFEST, &said);
    }
}

#[test]
fn values_have_the_forms_of_components() {
    for bad in ["/", "/os/../etc", "workspace", "*", "/os/", ""] {
        let scratch = skill(&component(&[READ]), &[&format!("fs.read:{bad}")]);
        let said = format!("manifest.json: fs.read:{bad}: ");
        assert_finding(&scratch.only(), "TV-26", Class::Policy, MANIFEST, &said);
    }
}

#[test]
fn a_component_that_does_not_instantiate_is_found() {
    let why = "unknown import\nbacktrace".to_owned();
    let (verification, asked) = probed(&Scratch::new(), Err(ProbeError::DoesNotInstantiate(why)));
    let finding = &verification.findings.found()[0];
    assert_finding(
        finding,
        "TV-27",
        Class::Drift,
        WASM,
        "does not instantiate: unknown import",
    );
    assert!(!finding.message.contains('\n'), "{finding}");
    assert_eq!((rows(&verification).len(), asked), (1, 1));
    let described = verification
        .findings
        .evaluated()
        .any(|(_, row)| row.id() == "TV-28");
    assert!(!described);
}

#[test]
fn a_component_that_does_not_describe_itself_is_found() {
    let why = "out of fuel".to_owned();
    let (verification, _) = probed(&Scratch::new(), Err(ProbeError::NoDescription(why)));
    let [finding] = verification.findings.found() else {
        panic!("{:?}", verification.findings);
    };
    assert_finding(
        finding,
        "TV-28",
        Class::Drift,
        WASM,
        "describe: out of fuel",
    );
}

#[test]
fn a_description_under_another_name_is_found() {
    let (verification, _) = probed(&Scratch::new(), Ok(description("b.skill")));
    let [finding] = verification.findings.found() else {
        panic!("{:?}", verification.findings);
    };
    let said = "name is \"b.skill\", not the id \"a.skill\"";
    assert_finding(finding, "TV-28", Class::Drift, WASM, said);
}

/// Nothing unpinned runs, not even to be verified.
#[test]
fn no_component_starts_whose_bundle_is_not_pinned_and_signed() {
    type Breakage = fn(&Scratch);
    let breakages: [(&str, Breakage); 5] = [
        ("TV-12", |scratch| scratch.write(WASM, &component(&[]))),
        ("TV-14", |scratch| {
            scratch.alter_entry(|entry| entry.artifact = Digest::of(b"other"));
        }),
        ("TV-15", |scratch| {
            scratch.alter_entry(|entry| entry.manifest_hash = Digest::of(b"other"));
        }),
        ("TV-17", |scratch| {
            scratch.edit(
                "skills/a.skill/0.1.0/signatures.json",
                "\"signature\": \"",
                "\"signature\": \"A",
            );
        }),
        ("TV-13", |scratch| {
            scratch.write("skills/a.skill/0.1.0/public-keys.json", b"{}");
        }),
    ];
    for (row, breakage) in breakages {
        let scratch = Scratch::new();
        breakage(&scratch);
        let (verification, asked) = probed(&scratch, Ok(description("a.skill")));
        let expected = format!("a.skill@0.1.0 {row}");
        assert!(rows(&verification).contains(&expected), "{row}");
        assert_eq!(asked, 0, "{row}");
    }
}

/// A bundle with a wrong summary is wrong, and its component is still asked: every finding is reported.
#[test]
fn is_asked_of_a_pinned_bundle_with_other_faults() {
    let scratch = Scratch::new();
    scratch.write("skills/a.skill/0.1.0/extra", b"");
    let (verification, asked) = probed(&scratch, Ok(String::new()));
    assert_eq!(
        rows(&verification),
        ["a.skill@0.1.0 TV-21", "a.skill@0.1.0 TV-28"]
    );
    assert_eq!(asked, 1);
}

/// Replaces every file of the bundle, the lock and the ring while the component is asked.
struct Replacing<'a>(&'a Scratch);

impl ComponentProbe for Replacing<'_> {
    fn instantiate_and_describe(&self, wasm: &Wasm) -> Result<String, ProbeError> {
        if Digest::of(wasm.bytes()) != *wasm.digest() {
            return Err(ProbeError::DoesNotInstantiate("not the artifact".into()));
        }
        for entry in fs::read_dir(self.0.path("skills/a.skill/0.1.0")).unwrap() {
            fs::write(entry.unwrap().path(), b"replaced").unwrap();
        }
        for path in [LOCK, RING, "pins/skills.lock.json.sig"] {
            self.0.write(path, b"replaced");
        }
        Ok(description("a.skill"))
    }
}

#[test]
fn what_was_read_once_is_never_read_again() {
    let scratch = Scratch::new();
    let anchor = scratch.anchor();
    let verification = verify(
        &scratch.root(),
        &anchor,
        &Options::default(),
        &Replacing(&scratch),
    );
    assert_eq!(rows(&verification), [""; 0]);
    assert_eq!(scratch.read(WASM), b"replaced");
}

/// Removes the bundles as soon as a component starts, and keeps what it was told meanwhile.
struct Emptying<'a> {
    scratch: &'a Scratch,
    told: RefCell<Vec<String>>,
}

impl ComponentProbe for Emptying<'_> {
    fn instantiate_and_describe(&self, _: &Wasm) -> Result<String, ProbeError> {
        let _ = fs::remove_dir_all(self.scratch.path("skills"));
        Ok(description("a.skill"))
    }
}

impl Progress for Emptying<'_> {
    fn starts(&self, skill: &str) {
        self.told.borrow_mut().push(format!("starts {skill}"));
    }

    fn done(&self, skill: &str) {
        self.told.borrow_mut().push(format!("done {skill}"));
    }
}

/// Two versions of a skill, pinned.
fn two_versions() -> Scratch {
    let scratch = Scratch::empty();
    for version in ["0.1.0", "0.2.0"] {
        scratch.bundle("a.skill", version, &component(&[READ]), &["fs.read:/os"]);
    }
    scratch.pin(&[("a.skill", "0.1.0"), ("a.skill", "0.2.0")]);
    scratch
}

/// What a verification tells of these, whose bundles go when the first component starts.
fn told(scratch: &Scratch) -> (Verification, Vec<String>) {
    let probe = Emptying {
        scratch,
        told: RefCell::default(),
    };
    let options = Options {
        progress: Some(&probe),
        ..Options::default()
    };
    let verification = verify(&scratch.root(), &scratch.anchor(), &options, &probe);
    (verification, probe.told.into_inner())
}

#[test]
fn every_file_is_checked_before_the_first_component_starts() {
    let scratch = two_versions();
    let (verification, told) = told(&scratch);
    assert_eq!(rows(&verification), [""; 0]);
    assert!(!scratch.path("skills").exists());
    let done = |skill| [format!("starts {skill}"), format!("done {skill}")];
    assert_eq!(
        told,
        [done("a.skill@0.1.0"), done("a.skill@0.2.0")].concat()
    );
}

/// What may not run is told of all the same, in its place.
#[test]
fn a_bundle_that_is_not_believed_is_done_without_being_started() {
    let scratch = two_versions();
    scratch.write(WASM, &component(&[]));
    let (_, told) = told(&scratch);
    let expected = [
        "done a.skill@0.1.0",
        "starts a.skill@0.2.0",
        "done a.skill@0.2.0",
    ];
    assert_eq!(told, expected);
}

/// A capability that is declared twice is `TV-19`'s; its form is said once.
#[test]
fn findings_that_say_the_same_are_one() {
    let scratch = Scratch::empty();
    let wasm = component(&[READ]);
    scratch.bundle("a.skill", "0.1.0", &wasm, &["fs.read:*"]);
    let twice = json!([{"kind": "fs.read", "value": "*"}, {"kind": "fs.read", "value": "*"}]);
    let manifest = scratch.manifest_with(&[("capabilities", twice)]);
    scratch.bundle_of("skills/a.skill/0.1.0", &wasm, &manifest);
    scratch.pin(&[("a.skill", "0.1.0")]);
    let verification = scratch.verify();
    let found: Vec<_> = verification
        .findings
        .found()
        .iter()
        .map(|one| one.row.id())
        .collect();
    assert_eq!(found, ["TV-19", "TV-26"]);
}
