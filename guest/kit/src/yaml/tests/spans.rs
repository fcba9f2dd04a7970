//! Where things stand in the source.

#![allow(clippy::string_slice, reason = "a wrong range fails the test")]

use super::*;

#[test]
fn entries_tell_where_a_key_and_its_value_stand() {
    let slices = |text: &str| {
        let entry = parse(text, &USED).unwrap().entry("skills").unwrap();
        (text[entry.key].to_owned(), text[entry.value].to_owned())
    };
    let cases = [
        (
            "skills: # x\n  - a\n  - b # c\n\n# y\nz: w",
            "skills",
            "- a\n  - b",
        ),
        (
            "skills: !!seq &s [a, b] \nz: w",
            "skills",
            "!!seq &s [a, b]",
        ),
        (
            "skills:\n  &s !!seq\n  - [a]\n",
            "skills",
            "&s !!seq\n  - [a]",
        ),
        (
            "{&k skills : &v !!str a b, z: w}",
            "&k skills",
            "&v !!str a b",
        ),
        ("k: &k skills\n*k : *k\n", "*k", "*k"),
        ("? \"skills\" # a: b\n: 'it''s'\n", "\"skills\"", "'it''s'"),
        ("skills: {a: [b], c: d}\n", "skills", "{a: [b], c: d}"),
        ("skills: [a: b]\n", "skills", "[a: b]"),
        ("é: ü\nskills: [é]", "skills", "[é]"),
    ];
    for (text, key, value) in cases {
        assert_eq!(slices(text), (key.to_owned(), value.to_owned()), "{text:?}");
    }
}

#[test]
fn anchors_inside_a_range_that_are_used_outside_are_found() {
    let referred = |text: &str| {
        let yaml = parse(text, &USED).unwrap();
        yaml.is_referred_to(&[yaml.entry("skills").unwrap().value])
    };
    assert!(referred("skills: &s [a]\nx: *s"));
    assert!(referred("skills: [&s a]\nx: [*s]"));
    assert!(referred("x: &s b\nskills: [&s a]\ny: *s"));
    assert!(!referred("x: &s b\nskills: [*s]\ny: *s"));
    assert!(!referred("skills: [&s a, *s]\nx: y"));
}
