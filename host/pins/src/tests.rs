//! Every rule that `verify` asks, with locks that are altered and signed again.

mod before_entries;
mod bundle;
mod component;
mod mutation;
mod options;

use super::testing::Scratch;

#[test]
fn a_root_in_which_all_is_right_has_no_finding() {
    let scratch = Scratch::new();
    let verification = scratch.verify();
    assert_eq!(verification.findings.found(), []);
    assert_eq!(verification.findings.exit_code(), 0);
    assert_eq!(verification.entries, ["a.skill@0.1.0"]);
    assert_eq!(verification.min_signers.count(), 2);
    let digest = |path| hydrant_base::Digest::of(&scratch.read(path));
    assert_eq!(verification.lock_digest, Some(digest(super::LOCK)));
    assert_eq!(verification.keys_digest, Some(digest(super::RING)));
}

#[test]
fn the_rows_that_were_asked_are_known_and_optional_ones_are_not_among_them() {
    let verification = Scratch::new().verify();
    let asked = |skill: Option<&str>| {
        let rows = verification.findings.evaluated();
        rows.filter(|(of, _)| *of == skill)
            .map(|(_, row)| row.id())
            .collect::<Vec<_>>()
    };
    let of_root = [
        "TV-01", "TV-02", "TV-03", "TV-04", "TV-05", "TV-06", "TV-08", "TV-22",
    ];
    assert_eq!(asked(None), of_root);
    let of_entry = [
        "TV-07", "TV-11", "TV-12", "TV-13", "TV-14", "TV-15", "TV-16", "TV-17", "TV-18", "TV-19",
        "TV-20", "TV-21", "TV-22", "TV-23", "TV-24", "TV-25", "TV-26", "TV-27", "TV-28",
    ];
    assert_eq!(asked(Some("a.skill@0.1.0")), of_entry);
}

#[test]
fn findings_of_all_entries_are_reported_at_once() {
    let scratch = Scratch::new();
    let wasm = super::testing::component(&[]);
    scratch.bundle("b.skill", "0.1.0", &wasm, &["fs.read:/os"]);
    scratch.pin(&[("a.skill", "0.1.0"), ("b.skill", "0.1.0")]);
    scratch.write("skills/a.skill/0.1.0/extra", b"");
    scratch.write("skills/stray", b"");
    let verification = scratch.verify();
    let expected = [
        "lock TV-22",
        "a.skill@0.1.0 TV-21",
        "b.skill@0.1.0 TV-26",
        "b.skill@0.1.0 TV-28",
    ];
    assert_eq!(super::testing::rows(&verification), expected);
    assert_eq!(verification.findings.exit_code(), 4);
}
