//! Each limit on its last good value and on the next one.

use serde_json::{Value, json};

use crate::os_root::{NONE, OsRoot, agent, failed, skill};
use crate::policy;
use crate::server::{Answer, Server};

const MIB: u64 = 1 << 20;

#[test]
fn a_resource_or_skill_holds_4_mib_at_most() {
    let root = OsRoot::new();
    root.sparse("most.md", 4 * MIB)
        .sparse("more.md", 4 * MIB + 1);
    root.file("agent.md", agent(&["most.md", "more.md"], NONE));
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.skill("os://most.md")["name"], "ERROR: MISSING_NAME");
    assert_eq!(payload.skill("os://more.md")["name"], "ERROR: FETCH_FAILED");
    root.file("x.md", "x".repeat(4 << 20));
    assert_eq!(root.payload(&["os://x.md"]).content().len(), 4 << 20);
    assert_eq!(
        root.payload(&["os://more.md"]).text,
        failed("FETCH_FAILED", "")
    );
}

#[test]
fn more_than_64_mib_read_is_a_hard_error_that_names_the_budget() {
    let root = OsRoot::new();
    let skills: Vec<String> = (0..16).map(|n| format!("{n:02}.md")).collect();
    for skill in &skills {
        root.sparse(skill, 4 * MIB);
    }
    root.file("within.md", agent(&skills[..15], NONE));
    assert_eq!(root.payload(&["os://within.md"]).skills().len(), 15);
    root.file("beyond.md", agent(&skills, NONE));
    let run = root.hydrate(&["os://beyond.md"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("67108864"), "the limit: {}", run.stderr);
}

#[test]
fn each_budget_of_the_call_ends_it_with_its_name_and_limit() {
    let root = OsRoot::new();
    let server = Server::new(|_| Answer::Body(skill("remote").into_bytes()));
    root.tool("slow.sh", "#!/bin/sh\nsleep 2\n");
    root.file(
        "agent.md",
        agent(&["a.md", "b.md", &server.url("/a.md")], &["slow.sh"]),
    );
    root.file("long.md", "x".repeat(5000));
    let both = policy::remote_tools(&[&server.url("/")], json!({}));
    #[rustfmt::skip]
    let rows = [
        ("os://agent.md", "fuel", json!({"fuel": 1000}), "1000"),
        ("os://agent.md", "hostcalls", json!({"hostcalls": 3}), "3"),
        ("os://agent.md", "egress", json!({"egress_bytes": 7}), "7"),
        ("os://agent.md", "wall", json!({"wall_ms": 300}), "300"),
        ("os://agent.md", "memory", json!({"memory_bytes": 65536}), "65536"),
        ("os://long.md", "response", json!({"output_bytes": 4000}), "4000"),
    ];
    for (uri, budget, limits, limit) in rows {
        root.policy(&policy::limited(both.clone(), limits));
        let run = root.hydrate(&[uri, "--allow-http-loopback"]);
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (1, ""),
            "{budget}: {}",
            run.stderr
        );
        assert!(
            run.stderr.contains(budget) && run.stderr.contains(&format!("limit {limit}")),
            "{budget}: {}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1, "one message: {}", run.stderr);
        let request = json!({"type": "query", "name": "Content.Hydrate", "payload": {"uri": uri}});
        let run = root.syscall(&["--allow-http-loopback"], &[request.to_string()]);
        let answer = &run.answers()[0];
        assert_eq!(
            (run.status, &answer["payload"]["code"]),
            (1, &json!("INTERNAL_ERROR")),
            "{budget}"
        );
    }
    root.policy(&policy::limited(
        both,
        json!({"http_bytes": 10, "process_ms": 100}),
    ));
    let payload = root.payload(&["os://agent.md", "--allow-http-loopback"]);
    let remote = &payload.skill(&server.url("/a.md"))["name"];
    assert_eq!(
        remote, "ERROR: FETCH_FAILED",
        "the smaller limit wins, as a soft error"
    );
    assert_eq!(payload.tool("os://slow.sh"), "ERROR: TIMEOUT");
}

#[test]
fn skills_take_up_to_1000_and_tools_what_is_left() {
    let numbered = |prefix: &str, count: usize| -> Vec<String> {
        (0..count)
            .rev()
            .map(|n| format!("{prefix}{n:05}"))
            .collect()
    };
    let limit = "ERROR: LIMIT_EXCEEDED";
    let skill_sentinel =
        json!({"uri": limit, "name": limit, "description": limit, "skills": [], "tools": []});
    let tool_sentinel = json!({"uri": limit, "description": limit});
    let root = OsRoot::new();
    // Skills and tools declared, entries expected, and whether each array was cut.
    #[rustfmt::skip]
    let rows = [
        ((1000, 0), (1000, 0), (false, false)),
        ((1001, 0), (1000, 0), (true, false)),
        ((1000, 1), (1000, 0), (false, true)),
        ((600, 400), (600, 400), (false, false)),
        ((600, 401), (600, 400), (false, true)),
        ((0, 1001), (0, 1000), (false, true)),
        ((10_000, 10_000), (1000, 0), (true, true)),
    ];
    for ((skills, tools), (kept_skills, kept_tools), (cut_skills, cut_tools)) in rows {
        root.file(
            "agent.md",
            agent(&numbered("s", skills), &numbered("t", tools)),
        );
        let payload = root.payload(&["os://agent.md"]);
        let check = |entries: &[Value], prefix: &str, kept: usize, cut: bool, sentinel: &Value| {
            assert_eq!(
                entries.len(),
                kept + usize::from(cut),
                "{skills} skills, {tools} tools"
            );
            for (index, entry) in entries[..kept].iter().enumerate() {
                assert_eq!(
                    entry["uri"],
                    format!("os://{prefix}{index:05}"),
                    "the first ones stay"
                );
            }
            assert!(!cut || &entries[kept] == sentinel, "one last entry");
        };
        check(
            payload.skills(),
            "s",
            kept_skills,
            cut_skills,
            &skill_sentinel,
        );
        check(payload.tools(), "t", kept_tools, cut_tools, &tool_sentinel);
    }
}

#[test]
fn the_limit_comes_after_dedupe_and_cut_entries_are_not_read() {
    let root = OsRoot::new();
    let mut skills: Vec<String> = (0..1000).map(|n| format!("{n:04}.md")).collect();
    skills.extend_from_within(..);
    root.file("agent.md", agent(&skills, NONE));
    assert_eq!(
        root.payload(&["os://agent.md"]).skills().len(),
        1000,
        "after dedupe"
    );

    // The thousand and first is remote: had it been read, the server would know.
    let server = Server::new(|_| Answer::Status(404, ""));
    root.policy(&policy::fetches(&[&server.url("/")]));
    let skills: Vec<String> = (0..1001)
        .map(|n| server.url(&format!("/{n:04}.md")))
        .collect();
    root.file("agent.md", agent(&skills, NONE));
    root.payload(&["os://agent.md", "--allow-http-loopback"]);
    assert_eq!(server.requests().len(), 1000);
    assert_eq!(server.hits("/1000.md"), 0);
}

#[test]
fn a_raw_array_shows_its_first_1000_items() {
    let root = OsRoot::new();
    let items = |count: usize| (0..count).map(|n| format!("i{n}")).collect::<Vec<_>>();
    let front = |count| {
        format!(
            "---\nname: A\ndescription: d\nskills: {}\n---\n",
            json!(items(count))
        )
    };
    root.file("most.md", front(1000))
        .file("more.md", front(1001))
        .file("huge.md", front(90_000));
    root.file("agent.md", agent(&["most.md", "more.md", "huge.md"], NONE));
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.skill("os://most.md")["skills"], json!(items(1000)));
    let mut cut = items(1000);
    cut.push("ERROR: LIMIT_EXCEEDED".to_owned());
    assert_eq!(payload.skill("os://more.md")["skills"], json!(cut));
    assert_eq!(payload.skill("os://huge.md")["skills"], json!(cut));
}

#[test]
fn a_reference_has_2048_bytes_at_most() {
    let root = OsRoot::new();
    let of = |bytes: usize| {
        format!(
            "os://{}é",
            "a/".repeat((bytes - 7) / 2) + &"b".repeat((bytes - 7) % 2)
        )
    };
    let (most, more) = (of(2048), of(2049));
    assert_eq!((most.len(), more.len()), (2048, 2049));
    root.file("agent.md", agent(NONE, &[&most, &more]));
    let payload = root.payload(&["os://agent.md", "--no-exec"]);
    let canonical = most.replace('é', "%C3%A9");
    assert_eq!(
        payload.tool(&canonical),
        "ERROR: EXECUTION_SKIPPED",
        "resolved"
    );
    assert_eq!(payload.tool(&more), "ERROR: FETCH_FAILED");
    assert_eq!(root.payload(&[&more]).text, failed("FETCH_FAILED", ""));
}

#[test]
fn nodes_and_depth_of_front_matter() {
    let head = "name: A\ndescription: d\n"; // with the root mapping: 5 nodes
    let wide = |items: usize| format!("---\n{head}x: [{}]\n---\n", "1,".repeat(items)); // and 2 for `x` and its list
    let deep = |open: &str, close: &str, depth: usize| {
        format!(
            "---\n{head}x: {}1{}\n---\n",
            open.repeat(depth - 1),
            close.repeat(depth - 1)
        )
    };
    // `used` expands a list of ten lists of ten … as a raw array: 1 + 10 + … + 10^levels nodes.
    let bomb = |levels: usize, key: &str| {
        let mut text = format!("---\n{head}l0: &l0 [{}]\n", ["x"; 10].join(","));
        for level in 1..levels {
            let item = format!("*l{}", level - 1);
            text += &format!("l{level}: &l{level} [{}]\n", [item.as_str(); 10].join(","));
        }
        text + &format!("{key}: *l{}\n---\n", levels - 1)
    };
    let chain = |depth: usize| {
        // Each alias nests the one before it: deep in the expansion, flat in the source.
        let mut text = format!("---\n{head}a0: &a0 [x]\n");
        for level in 1..depth {
            text += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
        }
        text + &format!("skills: *a{}\n---\n", depth - 1)
    };
    let ok = "A";
    let bad = "ERROR: PARSE_ERROR";
    #[rustfmt::skip]
    let rows = [
        (wide(99_993), ok),
        (wide(99_994), bad),
        (deep("[", "]", 64), ok),
        (deep("[", "]", 65), bad),
        (deep("{k: ", "}", 64), ok),
        (deep("{k: ", "}", 65), bad),
        (bomb(4, "skills"), ok),
        (bomb(6, "skills"), bad),
        (bomb(9, "unused"), ok),
        (chain(63), ok),
        (chain(64), bad),
    ];
    let root = OsRoot::new();
    let mut skills = Vec::new();
    for (index, (file, _)) in rows.iter().enumerate() {
        root.file(&format!("{index:02}.md"), file);
        skills.push(format!("{index:02}.md"));
    }
    root.file("agent.md", agent(&skills, NONE));
    let payload = root.payload(&["os://agent.md"]);
    for ((file, name), entry) in rows.iter().zip(payload.skills()) {
        assert_eq!(entry["name"], *name, "{:.80}", &file[28..]);
    }
}

#[test]
fn a_depth_is_1_to_16() {
    let root = OsRoot::new();
    root.file("a.md", "Hi");
    for (depth, status) in [
        ("1", 0),
        ("16", 0),
        ("0", 2),
        ("17", 2),
        ("-1", 2),
        ("two", 2),
    ] {
        let run = root.hydrate(&["os://a.md", &format!("--depth={depth}")]);
        assert_eq!(run.status, status, "--depth {depth}: {}", run.stderr);
    }
}
