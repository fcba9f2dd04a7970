//! The form of a lock, byte by byte.

use std::cmp::Ordering;

use super::*;

const WORKED_DIGEST: &str =
    "sha256:57456a1f5be7313730cb3a6f650bdf25bb6348e4b1ee8c1b6bf2044d4edfbd45";

/// The worked lock.
pub(crate) fn worked() -> Lock {
    let digest = |hex: &str| format!("sha256:{hex}").parse::<Digest>().unwrap();
    Lock {
        generated_at: "2026-01-01T00:00:00.000Z".to_owned(),
        substrate_pin: SubstratePin {
            repo: "hydrant".to_owned(),
            commit: "0".repeat(40),
        },
        skills: vec![LockEntry {
            id: "example.null".to_owned(),
            version: "0.1.0".to_owned(),
            bundle_dir: "skills/example.null/0.1.0".to_owned(),
            artifact: digest("24eaf3439a60c96764c4f2c92a0a81b52bd4fe5d5b91f090184a0f6486b1bf29"),
            manifest_hash: digest(
                "714af0b1eef109c008f0daadd9611160e7cd918c636da2fa90e51108c6075467",
            ),
            keys_file: "public-keys.json".to_owned(),
            keys_digest: digest("6e8529f1924eb18cafe396f348854afa8ef24bd18c511ef4727d12799c79426b"),
            signers: vec!["example.a".to_owned(), "example.b".to_owned()],
            skill_md: Digest::of(b""),
        }],
    }
}

/// The worked lock with more entries, given as `id@version`.
fn lock_of(skills: &[&str]) -> Lock {
    let mut lock = worked();
    let entry = lock.skills.remove(0);
    lock.skills = skills
        .iter()
        .map(|skill| skill.split_once('@').unwrap())
        .map(|(id, version)| LockEntry {
            id: id.to_owned(),
            version: version.to_owned(),
            bundle_dir: format!("skills/{id}/{version}"),
            ..entry.clone()
        })
        .collect();
    lock
}

/// The rules that a lock breaks which is written as hydrant writes it.
fn rules(lock: &Lock) -> Vec<&'static str> {
    let faults = lock.check_form(&lock.to_bytes());
    faults.iter().map(|fault| fault.rule).collect()
}

/// The rules that the worked lock breaks with one member of its entry changed.
fn rules_with(change: impl FnOnce(&mut LockEntry)) -> Vec<&'static str> {
    let mut lock = worked();
    change(&mut lock.skills[0]);
    rules(&lock)
}

#[test]
fn the_worked_lock_has_its_bytes() {
    let bytes = worked().to_bytes();
    assert_eq!(bytes.len(), 805);
    assert_eq!(Digest::of(&bytes).as_str(), WORKED_DIGEST);
    assert_eq!(Lock::parse(&bytes).unwrap(), worked());
    assert_eq!(worked().check_form(&bytes), []);
}

#[test]
fn another_layout_of_the_same_lock_is_found() {
    let text = String::from_utf8(worked().to_bytes()).unwrap();
    let reordered = text
        .replacen("  \"schema_version\": \"1.0.0\",\n", "", 1)
        .replacen("\n  ]\n}", "\n  ],\n  \"schema_version\": \"1.0.0\"\n}", 1);
    for other in [
        text.trim_end().to_owned(),
        format!("{text}\n"),
        format!(" {text}"),
        text.replace("\": ", "\":"),
        text.replace('\n', "\r\n"),
        text.replacen("example", "\\u0065xample", 1),
        reordered,
    ] {
        let lock = Lock::parse(other.as_bytes()).unwrap();
        assert_eq!(lock, worked());
        let faults = lock.check_form(other.as_bytes());
        assert_eq!(faults.len(), 1, "{other}");
        assert_eq!(faults[0].rule, "TL-03");
    }
}

#[test]
fn a_lock_is_ascii() {
    let mut lock = worked();
    lock.substrate_pin.repo = "hydränt".to_owned();
    assert_eq!(rules(&lock), ["TL-03"]);
}

#[test]
fn unknown_missing_duplicate_and_mistyped_members_are_refused() {
    let text = String::from_utf8(worked().to_bytes()).unwrap();
    for (old, new) in [
        ("{", "{\"extra\": 1,"),
        ("{", "{\"generated_at\": \"\","),
        ("  \"generated_at\": \"2026-01-01T00:00:00.000Z\",\n", ""),
        ("\"repo\": \"hydrant\",", ""),
        ("\"repo\":", "\"extra\": 1, \"repo\":"),
        ("\"id\":", "\"extra\": 1, \"id\":"),
        ("\"id\":", "\"id\": \"other\", \"id\":"),
        ("\"version\": \"0.1.0\",", ""),
        ("\"version\": \"0.1.0\"", "\"version\": 1"),
        ("\"version\": \"0.1.0\"", "\"version\": null"),
        ("[\n        \"example.a\"", "[1, \"example.a\""),
        ("sha256:24ea", "sha256:24EA"),
        ("sha256:24ea", "24ea"),
    ] {
        let bad = text.replacen(old, new, 1);
        assert_ne!(bad, text, "{old}");
        let error = Lock::parse(bad.as_bytes()).unwrap_err();
        assert!(matches!(error, LockError::Json(_)), "{new}: {error}");
    }
    for bad in ["", "null", "[]", "{}", "\u{feff}{}"] {
        assert!(Lock::parse(bad.as_bytes()).is_err(), "{bad}");
    }
    assert!(Lock::parse(format!("{text}{{}}").as_bytes()).is_err());
}

#[test]
fn another_schema_version_is_refused_by_name() {
    let text = String::from_utf8(worked().to_bytes()).unwrap();
    for version in ["99", "1.0", "1.0.0 ", ""] {
        let bad = text.replacen("1.0.0", version, 1);
        let error = Lock::parse(bad.as_bytes()).unwrap_err().to_string();
        let expected = format!("unsupported lock schema version: {version} (expected 1.0.0)");
        assert_eq!(error, expected);
    }
    let bad = text.replacen("\"1.0.0\"", "1", 1);
    assert!(matches!(
        Lock::parse(bad.as_bytes()),
        Err(LockError::Json(_))
    ));
}

#[test]
fn entries_are_sorted_unique_and_at_least_one() {
    assert_eq!(rules(&lock_of(&["a@0.1.0", "a@0.2.0", "b@0.1.0"])), [""; 0]);
    // Byte order, not SemVer order.
    assert_eq!(rules(&lock_of(&["a@0.10.0", "a@0.9.0"])), [""; 0]);
    for bad in [
        &[][..],
        &["b@0.1.0", "a@0.1.0"],
        &["a@0.2.0", "a@0.1.0"],
        &["a@0.1.0", "a@0.1.0"],
    ] {
        assert_eq!(rules(&lock_of(bad)), ["TL-04"], "{bad:?}");
    }
}

#[test]
fn sorting_gives_the_order_that_is_checked() {
    let mut lock = lock_of(&["b@0.1.0", "a-b@0.1.0", "a@0.9.0", "a@0.10.0", "a.b@0.1.0"]);
    lock.sort();
    assert_eq!(rules(&lock), [""; 0]);
}

#[test]
fn members_keep_to_their_patterns() {
    for bad in ["", ".", "..", "A", "-a", "a/b", "a b", "ä", "a\n"] {
        let found = rules_with(|entry| {
            entry.id = bad.to_owned();
            entry.bundle_dir = format!("skills/{bad}/0.1.0");
        });
        assert!(found.contains(&"TL-05"), "id {bad:?}: {found:?}");
        let found = rules_with(|entry| {
            entry.version = bad.to_owned();
            entry.bundle_dir = format!("skills/example.null/{bad}");
        });
        assert!(found.contains(&"TL-05"), "version {bad:?}: {found:?}");
    }
    for bad in ["", "keys.json", "../public-keys.json", "public-keys.json/"] {
        let found = rules_with(|entry| entry.keys_file = bad.to_owned());
        assert_eq!(found, ["TL-05"], "keys_file {bad:?}");
    }
    for bad in [
        "",
        "skills/example.null/0.1.0/",
        "skills/example.null/0.2.0",
        "skills/../skills/example.null/0.1.0",
        "./skills/example.null/0.1.0",
        "/skills/example.null/0.1.0",
        "../other/skills/example.null/0.1.0",
    ] {
        let found = rules_with(|entry| entry.bundle_dir = bad.to_owned());
        assert_eq!(found, ["TL-05"], "bundle_dir {bad:?}");
    }
    for bad in [&[][..], &["", "b"]] {
        let signers = bad.iter().map(ToString::to_string).collect();
        assert_eq!(rules_with(|entry| entry.signers = signers), ["TL-05"]);
    }
}

#[test]
fn signers_are_sorted_and_unique() {
    for bad in [["b", "a"], ["a", "a"]] {
        let signers = bad.map(str::to_owned).to_vec();
        assert_eq!(rules_with(|entry| entry.signers = signers), ["TL-06"]);
    }
}

#[test]
fn generated_at_is_a_time_in_milliseconds_of_utc() {
    let found = |text: &str| {
        let mut lock = worked();
        lock.generated_at = text.to_owned();
        rules(&lock)
    };
    for good in ["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z"] {
        assert_eq!(found(good), [""; 0], "{good}");
    }
    for bad in [
        "",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.00Z",
        "2026-01-01T00:00:00.0000Z",
        "2026-01-01t00:00:00.000z",
        "2026-01-01 00:00:00.000Z",
        "2026-01-01T00:00:00.000+00:00",
        "2026-13-01T00:00:00.000Z",
        "2026-02-29T00:00:00.000Z",
        "2026-00-01T00:00:00.000Z",
        "2026-01-01T24:00:00.000Z",
        "2026-01-01T00:60:00.000Z",
        "2026-01-01T00:00:60.000Z",
        "2026-01-01T00:00:0\u{663}.00Z",
    ] {
        assert!(found(bad).contains(&"TL-07"), "{bad}");
    }
}

#[test]
fn every_fault_is_listed_with_its_entry() {
    let mut lock = lock_of(&["b@0.1.0", "a@0.1.0"]);
    lock.skills[0].keys_file = "x\u{1b}".to_owned();
    lock.generated_at.clear();
    let faults = lock.check_form(&lock.to_bytes());
    let found: Vec<_> = faults
        .iter()
        .map(|fault| (fault.rule, fault.skill.as_deref()))
        .collect();
    let expected = [
        ("TL-04", Some("a@0.1.0")),
        ("TL-05", Some("b@0.1.0")),
        ("TL-07", None),
    ];
    assert_eq!(found, expected);
    assert!(
        faults
            .iter()
            .all(|fault| !fault.to_string().contains('\u{1b}'))
    );
}

/// Without a version the highest is meant.
#[test]
fn the_newest_version_is_the_highest_of_semver() {
    let lock = lock_of(&["a@0.10.0", "a@0.9.0", "a@1.0.0-rc.1", "a@zzz", "b@2.0.0"]);
    assert_eq!(lock.newest("a").unwrap().version, "1.0.0-rc.1");
    assert_eq!(lock.newest("b").unwrap().version, "2.0.0");
    assert!(lock.newest("c").is_none());
    assert_eq!(lock.get("a", "0.9.0").unwrap().version, "0.9.0");
    assert!(lock.get("a", "2.0.0").is_none());
    assert_eq!(lock.ids(), ["a", "b"]);
}

#[test]
fn versions_compare_as_semver_does() {
    for (lower, higher) in [
        ("0.9.0", "0.10.0"),
        ("1.0.0-rc.1", "1.0.0"),
        ("1.0.0-rc.2", "1.0.0-rc.10"),
        ("zzz", "0.0.1"),
        ("x", "y"),
    ] {
        assert_eq!(compare_versions(lower, higher), Ordering::Less);
        assert_eq!(compare_versions(higher, lower), Ordering::Greater);
    }
    assert_eq!(compare_versions("1.0.0", "1.0.0"), Ordering::Equal);
}
