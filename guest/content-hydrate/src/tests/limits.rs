//! How many dependencies and how long documents may be, and that hostile documents end soon.

use super::*;

fn list(key: &str, count: usize) -> String {
    let items: Vec<String> = (0..count).map(|i| format!("{key}{i:05}")).collect();
    format!("{key}: [{}]\n", items.join(","))
}

#[test]
fn skills_take_up_to_1000_and_tools_what_is_left() {
    let file = format!(
        "---\n{}{}---\n",
        list("skills", 10_000),
        list("tools", 10_000)
    );
    let mut host = FakeHost::new(&[("a.md", file)]);
    let payload = host.payload("a.md");
    let skills = members(&payload, "skills", "uri");
    assert_eq!(skills.len(), 1_001);
    assert_eq!(
        (&*skills[0], &*skills[999]),
        ("os://skills00000", "os://skills00999")
    );
    let sentinel = r#"{"uri":"ERROR: LIMIT_EXCEEDED","name":"ERROR: LIMIT_EXCEEDED","description":"ERROR: LIMIT_EXCEEDED","skills":[],"tools":[]}],"tools":[{"uri":"ERROR: LIMIT_EXCEEDED","description":"ERROR: LIMIT_EXCEEDED"}]}}}"#;
    assert!(payload.ends_with(sentinel));
    assert_eq!(host.all_reads().len(), 1_001, "cut entries cause no read");
    assert!(host.reads.iter().all(|batch| batch.len() <= 64));
    assert!(host.runs.is_empty());
}

#[test]
fn each_array_that_was_cut_has_its_own_sentinel() {
    let lengths = |skills: usize, tools: usize| {
        let file = format!(
            "---\n{}{}---\n",
            list("skills", skills),
            list("tools", tools)
        );
        let payload = FakeHost::new(&[("a.md", file)]).payload("a.md");
        let count = |array| members(&payload, array, "uri").len();
        let cut = |array| {
            members(&payload, array, "uri").last().map(String::as_str)
                == Some("ERROR: LIMIT_EXCEEDED")
        };
        (
            (count("skills"), cut("skills")),
            (count("tools"), cut("tools")),
        )
    };
    assert_eq!(lengths(1_000, 0), ((1_000, false), (0, false)));
    assert_eq!(lengths(1_000, 1), ((1_000, false), (1, true)));
    assert_eq!(lengths(999, 1), ((999, false), (1, false)));
    assert_eq!(lengths(999, 2), ((999, false), (2, true)));
    assert_eq!(lengths(0, 1_001), ((0, false), (1_001, true)));
}

#[test]
fn the_limit_counts_what_is_left_after_duplicates() {
    let items: Vec<String> = (0..50_000).map(|i| format!("s{:03}", i % 900)).collect();
    let file = format!("---\nskills: [{}]\n---\n", items.join(","));
    let payload = FakeHost::new(&[("a.md", file)]).payload("a.md");
    assert_eq!(members(&payload, "skills", "uri").len(), 900);
}

#[test]
fn raw_arrays_have_1000_items_and_a_sentinel() {
    let raw = |count: usize| {
        let skill = format!("---\n{}---\n", list("tools", count));
        let mut host = FakeHost::new(&[("a.md", "---\nskills: [s.md]\n---\n"), ("s.md", &skill)]);
        let payload = json(&host.payload("a.md"));
        let raw = &payload["metadata"]["dependencies"]["skills"][0]["tools"];
        raw.as_array().unwrap().clone()
    };
    assert_eq!(raw(1_000).len(), 1_000);
    let cut = raw(90_000);
    assert_eq!(
        (cut.len(), &cut[999]),
        (1_001, &serde_json::json!("tools00999"))
    );
    assert_eq!(cut[1_000], "ERROR: LIMIT_EXCEEDED");
}

#[test]
fn more_nodes_than_allowed_are_a_parse_error() {
    let file = format!("---\n{}---\n", list("skills", 100_000));
    let payload = FakeHost::new(&[("a.md", file)]).payload("a.md");
    assert!(payload.contains(r#""uri":"ERROR: PARSE_ERROR""#));
}

#[test]
fn a_file_over_4_mib_is_fetch_failed() {
    let mut host = FakeHost::new(&[("a.md", vec![b'a'; 4 << 20])]);
    assert!(host.payload("a.md").contains("os://a.md"));
    host.file("a.md", vec![b'a'; (4 << 20) + 1]);
    assert!(host.payload("a.md").contains("ERROR: FETCH_FAILED"));
}

#[test]
fn more_than_64_mib_is_a_hard_error_that_names_the_budget() {
    let mut host = FakeHost::new(&[("a.md", format!("---\n{}---\n", list("skills", 17)))]);
    for i in 0..17 {
        host.file(&format!("skills{i:05}"), vec![b'a'; 4 << 20]);
    }
    let error = hydrate(&mut host, &Request::new("a.md")).unwrap_err();
    assert_eq!(error.code(), "budget_exceeded");
    assert!(
        error
            .message()
            .starts_with("budget read bytes exceeded: limit 67108864, used ")
    );
}

#[test]
fn aliases_cannot_make_an_answer_longer_than_may_be() {
    let aliases = "*x,".repeat(900);
    let skill = format!(
        "---\nx: &x {}\nskills: [{aliases}]\n---\n",
        "a".repeat(1 << 20)
    );
    let mut host = FakeHost::new(&[("a.md", "---\nskills: [s.md]\n---\n"), ("s.md", &skill)]);
    let error = hydrate(&mut host, &Request::new("a.md")).unwrap_err();
    assert_eq!(error.code(), "budget_exceeded");
    // The same list in the resource is one declaration, which is too long.
    host.file("b.md", &skill);
    assert_eq!(
        members(&host.payload("b.md"), "skills", "name"),
        ["ERROR: FETCH_FAILED"]
    );
}

#[test]
fn an_alias_bomb_is_a_parse_error_or_harmless() {
    let mut bomb = String::from("a0: &a0 lol\n");
    for level in 1..12 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{alias}]\n"));
    }
    let mut host = FakeHost::new(&[("a.md", "---\nskills: [b.md, c.md]\n---\n")]);
    host.file("b.md", format!("---\n{bomb}name: B\nskills: *a11\n---\n"));
    host.file("c.md", format!("---\n{bomb}name: C\n---\n"));
    let payload = host.payload("a.md");
    assert_eq!(
        members(&payload, "skills", "name"),
        ["ERROR: PARSE_ERROR", "C"]
    );
}
