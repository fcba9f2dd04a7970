//! Limits of front matter, and time.

use super::*;

#[test]
fn the_source_has_at_most_100_000_nodes() {
    // The root, the key, the sequence and its items.
    let items = |count: usize| format!("x: [{}]", "a,".repeat(count));
    assert!(!is_refused(&items(MAX_NODES - 3)));
    assert!(has_too_many_nodes(
        &parse(&items(MAX_NODES - 2), &USED).unwrap_err()
    ));
    let aliases = format!("x: &a b\ny: [{}]", "*a,".repeat(MAX_NODES - 4));
    assert!(has_too_many_nodes(&parse(&aliases, &USED).unwrap_err()));
}

/// Twelve levels, each ten times the one before.
fn bomb(key: &str) -> String {
    let mut text = String::from("a0: &a0 lol\n");
    for level in 1..12 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        text.push_str(&format!("a{level}: &a{level} [{alias}]\n"));
    }
    format!("{text}{key}: *a11\n")
}

#[test]
fn an_alias_bomb_is_refused_under_a_used_key_and_harmless_elsewhere() {
    assert!(has_too_many_nodes(
        &parse(&bomb("skills"), &USED).unwrap_err()
    ));
    assert!(!is_refused(&bomb("other")));
    assert!(parse(&bomb("name"), &["skills", "tools"]).is_ok());
}

#[test]
fn the_used_values_share_one_expansion_budget() {
    let half = "a,".repeat(40_000);
    let shared = |times: &str| format!("x: &x [{half}]\nskills: {times}\n");
    assert!(!is_refused(&shared("[*x, *x]")));
    assert!(is_refused(&shared("[*x, *x, *x]")));
    assert!(is_refused(&format!("{}tools: [*x, *x]\n", shared("*x"))));
}

#[test]
fn collections_nest_at_most_64_deep() {
    let flow = |depth: usize| format!("x: {}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(!is_refused(&flow(63)));
    assert!(is_refused(&flow(64)));
    let block = |depth: usize| format!("x:\n  {}a", "- ".repeat(depth));
    assert!(!is_refused(&block(63)));
    assert!(is_refused(&block(64)));
    let mixed = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!("x:\n  {}{open}{close}", "- ".repeat(40))
    };
    assert!(!is_refused(&mixed(23)));
    assert!(is_too_deep(&parse(&mixed(24), &USED).unwrap_err()));
    assert!(is_too_deep(
        &parse(
            &format!("x: {}a: b{}", "[".repeat(63), "]".repeat(63)),
            &USED
        )
        .unwrap_err()
    ));
}

#[test]
fn the_expansion_of_used_values_nests_at_most_64_deep_too() {
    let nested = |key: &str| {
        let (open, close) = ("[".repeat(40), "]".repeat(40));
        format!("x: &x {open}{close}\n{key}: {open}*x{close}\n")
    };
    assert!(is_too_deep(&parse(&nested("skills"), &USED).unwrap_err()));
    assert!(!is_refused(&nested("other")));
}

#[test]
fn hostile_front_matter_of_4_mib_ends_soon() {
    const BYTES: usize = 4 << 20;
    let fill = |unit: &str| unit.repeat(BYTES / unit.len());
    let texts = [
        fill("["),
        fill("{a: "),
        fill("- "),
        fill("? "),
        fill("- - - - - - - -\n"),
        format!("x: [{}", fill("[a],")),
        format!("x: [{}", fill("a ")),
        format!("x: \"{}\"", fill("x\n ")),
        format!("x: \"{}\"", fill("\\\\u")),
        format!("x: &a b\n{}", fill("? *a\n")),
        format!("x: &{} y", fill("a")),
        fill("#\n"),
        fill("\t"),
        fill("x: |\n\n"),
        (0..300_000).map(|i| format!("k{i}: v\n")).collect(),
        (0..200_000).map(|i| format!("k{i}: &a{i} v\n")).collect(),
        // The same two long texts are the keys of many mappings.
        format!(
            "a: &a {0}a\nb: &b {0}b\nx: [{1}]",
            "x".repeat(BYTES / 3),
            "{? *a : 1, ? *b : 2},".repeat(19_000)
        ),
    ];
    let started = std::time::Instant::now();
    for text in texts {
        drop(parse(&text, &USED));
    }
    // Debug builds included: seconds where anything quadratic would take minutes.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
