//! The form v2.

#![allow(clippy::string_slice, reason = "a wrong range fails the test")]

use super::*;

#[test]
fn values_become_mappings_from_uris() {
    let file = "---\nskills: # known\n  - ../kits/rope.md\n  - '../../up'\ntools: [./horn.sh]\nversion: 1.10\n---\nFly.";
    let mut host = FakeHost::new(&[
        ("crew/pilot.md", file),
        ("kits/rope.md", "---\nname: Rope\ndescription: Ties\n---\n"),
    ]);
    assert_eq!(
        host.document("crew/pilot.md", Format::V2).unwrap(),
        "---\nskills:\n  \"../../up\":\n    name: \"ERROR: FETCH_FAILED\"\n    description: \"ERROR: FETCH_FAILED\"\n  \"os://kits/rope.md\":\n    name: \"Rope\"\n    description: \"Ties\"\ntools:\n  \"os://crew/horn.sh\":\n    description: \"ERROR: EXECUTION_SKIPPED\"\nversion: 1.10\n---\nFly."
    );
}

#[test]
fn flow_style_is_a_compact_json_object() {
    let mut host = FakeHost::new(&[("a.md", "---\n{skills: [s.md], tools: [t], x: 1}\n---\n")]);
    assert_eq!(
        host.document("a.md", Format::V2).unwrap(),
        "---\n{skills: {\"os://s.md\":{\"name\":\"ERROR: FETCH_FAILED\",\"description\":\"ERROR: FETCH_FAILED\"}}, tools: {\"os://t\":{\"description\":\"ERROR: EXECUTION_SKIPPED\"}}, x: 1}\n---\n"
    );
}

#[test]
fn long_keys_are_written_in_the_explicit_form() {
    // With its quotes and `os://`, 1000 and 1001 characters.
    let (short, long) = ("a".repeat(993), "b".repeat(994));
    let mut host = FakeHost::new(&[
        (
            "x.md",
            format!("---\nskills: [{short}, {long}]\ntools: [{long}]\n---\n"),
        ),
        ("y.md", format!("---\n{{skills: [{long}]}}\n---\n")),
    ]);
    let failed = "\"ERROR: FETCH_FAILED\"";
    let block = host.document("x.md", Format::V2).unwrap();
    assert_eq!(
        block,
        format!(
            "---\nskills:\n  \"os://{short}\":\n    name: {failed}\n    description: {failed}\n  ? \"os://{long}\"\n  : name: {failed}\n    description: {failed}\ntools:\n  ? \"os://{long}\"\n  : description: \"ERROR: EXECUTION_SKIPPED\"\n---\n"
        )
    );
    let flow = host.document("y.md", Format::V2).unwrap();
    assert!(flow.starts_with(&format!("---\n{{skills: {{? \"os://{long}\":{{\"name\":")));
    for document in [block, flow] {
        let range = kit::front_matter::split(&document).front_matter.unwrap();
        kit::yaml::read_front_matter(&document[range], &["skills", "tools"]).unwrap();
    }
}

#[test]
fn a_declared_entry_of_the_sentinel_s_name_gives_way_to_it() {
    let items: Vec<String> = (0..1_001).map(|i| format!("s{i:04}")).collect();
    let file = format!(
        "---\nskills: ['ERROR: LIMIT_EXCEEDED', {}]\n---\n",
        items.join(",")
    );
    let mut host = FakeHost::new(&[("a.md", file)]);
    let document = host.document("a.md", Format::V2).unwrap();
    assert_eq!(document.matches("\"ERROR: LIMIT_EXCEEDED\":").count(), 1);
    assert!(document.ends_with("\n  \"ERROR: LIMIT_EXCEEDED\":\n    name: \"ERROR: LIMIT_EXCEEDED\"\n    description: \"ERROR: LIMIT_EXCEEDED\"\n---\n"));
    // The list has both: there it is no key.
    let document = host.document("a.md", Format::Link).unwrap();
    assert_eq!(
        document.matches("- uri: \"ERROR: LIMIT_EXCEEDED\"").count(),
        2
    );
}
