//! The tests T1 to T6 of RFC 0020 §11 and the examples of its §7, each through `hydrate` and
//! through both dialects of `syscall`.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::os_root::{OsRoot, Payload, Run, agent};
use crate::policy;

/// The payload of `uri`, after a check that the three ways give the same bytes.
fn three_ways(root: &OsRoot, uri: &str, options: &[&str]) -> Payload {
    let syscall = |request: serde_json::Value| root.syscall(options, &[request.to_string()]);
    let (direct, event, message) = thread::scope(|scope| {
        let event = scope.spawn(|| {
            syscall(json!({"type": "query", "name": "Content.Hydrate", "payload": {"uri": uri}}))
        });
        let message = scope.spawn(|| {
            syscall(json!({"kind": "query", "type": "Content.Hydrate", "data": {"uri": uri}}))
        });
        let direct = root.payload(&[&[uri], options].concat());
        (direct, event.join().unwrap(), message.join().unwrap())
    });
    let answered = |run: Run, head: &str| {
        let expected = format!(r#"{{{head}:{},"metadata":{{"id":"#, direct.text);
        assert!(run.stdout.starts_with(&expected), "{}", run.stdout);
        assert_eq!((run.stdout.lines().count(), run.status), (1, 0));
    };
    answered(
        event,
        r#""type":"response","name":"Content.Hydrate","payload""#,
    );
    answered(message, r#""kind":"reply","type":"Content.Hydrate","data""#);
    direct
}

#[test]
fn t1_simple_hydration() {
    let root = OsRoot::new();
    root.file(
        "agents/test-agent.md",
        "---\nskills:\n  - os://skills/test-skill.md\n---\nTest agent content",
    );
    root.file(
        "skills/test-skill.md",
        "---\nname: Test Skill\ndescription: A test skill for validation\nskills: []\ntools: []\n---\nSkill content",
    );
    let expected = r#"{"content":"Test agent content","metadata":{"uri":"os://agents/test-agent.md","dependencies":{"skills":[{"uri":"os://skills/test-skill.md","name":"Test Skill","description":"A test skill for validation","skills":[],"tools":[]}],"tools":[]}}}"#;
    assert_eq!(
        three_ways(&root, "os://agents/test-agent.md", &[]).text,
        expected
    );
}

#[test]
fn t2_repeatability() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    for name in ["one", "two", "three"] {
        root.file(
            &format!("{name}.md"),
            format!("---\nname: {name}\ndescription: d\ntools: [{name}.sh]\n---\n"),
        );
        root.tool(&format!("{name}.sh"), format!("#!/bin/sh\necho {name}\n"));
    }
    let skills = ["one.md", "two.md", "three.md", "gone.md"];
    let tools = ["one.sh", "two.sh", "three.sh", "gone.sh"];
    root.file("agent.md", agent(&skills, &tools));
    let first = three_ways(&root, "os://agent.md", &[]).text;
    assert_eq!(root.payload(&["os://agent.md"]).text, first, "two runs");
    let request =
        json!({"type": "query", "name": "Content.Hydrate", "payload": {"uri": "os://agent.md"}})
            .to_string();
    let run = root.syscall(&[], &[request.clone(), request]);
    assert!(
        run.stdout.lines().all(|line| line.contains(&first)),
        "two requests of one stream"
    );
    let permuted = |list: [&'static str; 4]| [list[3], list[1], list[1], list[2], list[0], list[3]];
    root.file("agent.md", agent(&permuted(skills), &permuted(tools)));
    assert_eq!(
        root.payload(&["os://agent.md"]).text,
        first,
        "permuted and repeated declarations"
    );
}

#[test]
fn t3_missing_metadata() {
    let root = OsRoot::new();
    root.file(
        "test/agent-broken-skill.md",
        "---\nskills:\n  - os://skills/no-name.md\n---\nAgent content",
    );
    root.file(
        "skills/no-name.md",
        "---\ndescription: Missing name field\n---\n",
    );
    let payload = three_ways(&root, "os://test/agent-broken-skill.md", &[]);
    assert_eq!(payload.skills()[0]["name"], "ERROR: MISSING_NAME");
    assert_eq!(payload.skills()[0]["description"], "Missing name field");
}

#[test]
fn t4_fetch_failed() {
    let root = OsRoot::new();
    root.file(
        "test/agent-missing-skill.md",
        "---\nskills:\n  - os://skills/does-not-exist.md\n---\nAgent content",
    );
    let payload = three_ways(&root, "os://test/agent-missing-skill.md", &[]);
    let code = "ERROR: FETCH_FAILED";
    let uri = "os://skills/does-not-exist.md";
    let expected =
        json!({"uri": uri, "name": code, "description": code, "skills": [], "tools": []});
    assert_eq!(payload.skills(), [expected]);
}

#[test]
fn t5_tool_discovery() {
    let root = OsRoot::new();
    root.file(
        "agents/agent-with-tools.md",
        "---\ntools:\n  - ./mock-tool.sh\n---\nAgent content",
    );
    root.tool(
        "agents/mock-tool.sh",
        "#!/bin/bash\nif [[ \"$1\" == \"--description\" ]]; then\n  echo \"Mock tool for testing\"\nfi\n",
    );
    let described =
        |description: &str| json!({"uri": "os://agents/mock-tool.sh", "description": description});
    // So by default, and so by a policy that says it.
    let payload = three_ways(&root, "os://agents/agent-with-tools.md", &[]);
    assert_eq!(payload.tools(), [described("Mock tool for testing")]);
    root.policy(&policy::tools_run());
    let payload = three_ways(&root, "os://agents/agent-with-tools.md", &[]);
    assert_eq!(payload.tools(), [described("Mock tool for testing")]);
    let payload = three_ways(&root, "os://agents/agent-with-tools.md", &["--no-exec"]);
    assert_eq!(payload.tools(), [described("ERROR: EXECUTION_SKIPPED")]);
}

#[test]
fn t6_single_level() {
    let root = OsRoot::new();
    root.file(
        "agents/multi-level.md",
        "---\nskills:\n  - os://skills/level-1.md\n---\nAgent content",
    );
    root.file(
        "skills/level-1.md",
        "---\nname: Level 1 Skill\ndescription: Has transitive dependency\nskills:\n  - os://skills/level-2.md\n---\n",
    );
    root.file(
        "skills/level-2.md",
        "---\nname: Level 2 Skill\ndescription: Transitive dependency\n---\n",
    );
    let payload = three_ways(&root, "os://agents/multi-level.md", &[]);
    assert_eq!(payload.skills().len(), 1);
    assert_eq!(payload.skills()[0]["name"], "Level 1 Skill");
    assert_eq!(
        payload.skills()[0]["skills"],
        json!(["os://skills/level-2.md"])
    );
    assert!(!payload.text.contains("Level 2 Skill"));
    let deep = three_ways(&root, "os://agents/multi-level.md", &["--depth", "2"]);
    assert_eq!(deep.skills().len(), 2);
    assert!(deep.text.ends_with(r#","cycles":[]}}"#), "{}", deep.text);
}

#[test]
fn example_7_1() {
    let root = OsRoot::new();
    root.file(
        "agents/writer.md",
        "---\ntype: Agent\nskills:\n  - os://skills/grammar-check.md\n---\nYou are a writing assistant specializing in technical documentation.",
    );
    root.file(
        "skills/grammar-check.md",
        "---\nname: Grammar Checker\ndescription: Validates English grammar and style using industry-standard rules\ntools:\n  - ./grammar-cli.sh\n---\nThis skill checks grammar, spelling, and style compliance.\n",
    );
    let expected = r#"{"content":"You are a writing assistant specializing in technical documentation.","metadata":{"uri":"os://agents/writer.md","dependencies":{"skills":[{"uri":"os://skills/grammar-check.md","name":"Grammar Checker","description":"Validates English grammar and style using industry-standard rules","skills":[],"tools":["./grammar-cli.sh"]}],"tools":[]}}}"#;
    assert_eq!(
        three_ways(&root, "os://agents/writer.md", &[]).text,
        expected
    );
}

#[test]
fn example_7_2() {
    let root = OsRoot::new();
    root.file(
        "agents/researcher.md",
        "---\nskills:\n  - os://skills/web-search.md\n  - os://skills/citation-formatter.md\n---\nYou are a research assistant.",
    );
    root.file(
        "skills/web-search.md",
        "---\nname: Web Search\ndescription: Searches the web using semantic queries\nskills: []\ntools:\n  - os://tools/search-api.ts\n---\n",
    );
    root.file(
        "skills/citation-formatter.md",
        "---\nname: Citation Formatter\ndescription: Formats citations in APA, MLA, and Chicago styles\nskills:\n  - os://skills/bibliography-parser.md\ntools: []\n---\n",
    );
    let expected = concat!(
        r#"{"content":"You are a research assistant.","metadata":{"uri":"os://agents/researcher.md","dependencies":{"skills":["#,
        r#"{"uri":"os://skills/citation-formatter.md","name":"Citation Formatter","description":"Formats citations in APA, MLA, and Chicago styles","skills":["os://skills/bibliography-parser.md"],"tools":[]},"#,
        r#"{"uri":"os://skills/web-search.md","name":"Web Search","description":"Searches the web using semantic queries","skills":[],"tools":["os://tools/search-api.ts"]}],"#,
        r#""tools":[]}}}"#
    );
    assert_eq!(
        three_ways(&root, "os://agents/researcher.md", &[]).text,
        expected
    );
}

#[test]
fn example_7_3() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    root.file(
        "agents/resilient-agent.md",
        "---\nskills:\n  - os://skills/valid-skill.md\n  - os://skills/broken-skill.md\n  - os://skills/missing-file.md\ntools:\n  - ./working-tool.sh\n  - ./broken-tool.sh\n---\nI am a resilient agent that handles errors gracefully.",
    );
    root.file(
        "skills/valid-skill.md",
        "---\nname: Valid Skill\ndescription: This skill works correctly\n---\n",
    );
    root.file(
        "skills/broken-skill.md",
        "---\n# Missing 'name' and 'description' fields\nskills: []\n---\n",
    );
    root.tool("agents/working-tool.sh", "#!/bin/bash\nif [[ \"$1\" == \"--description\" ]]; then\n  echo \"A tool that works\"\nfi\n");
    root.tool(
        "agents/broken-tool.sh",
        "#!/bin/bash\n# This tool times out\nsleep 10\n",
    );
    let started = Instant::now();
    let payload = three_ways(&root, "os://agents/resilient-agent.md", &[]);
    let elapsed = started.elapsed();
    assert!(
        elapsed > Duration::from_millis(4900) && elapsed < Duration::from_millis(9500),
        "about 5 s, not 10: {elapsed:?}"
    );
    let skill = |uri: &str| {
        let entry = payload.skill(uri);
        [
            entry["name"].as_str().unwrap(),
            entry["description"].as_str().unwrap(),
        ]
    };
    assert_eq!(
        skill("os://skills/broken-skill.md"),
        ["ERROR: MISSING_NAME", "ERROR: MISSING_DESCRIPTION"]
    );
    assert_eq!(
        skill("os://skills/missing-file.md"),
        ["ERROR: FETCH_FAILED"; 2]
    );
    assert_eq!(
        skill("os://skills/valid-skill.md"),
        ["Valid Skill", "This skill works correctly"]
    );
    assert_eq!(payload.tool("os://agents/broken-tool.sh"), "ERROR: TIMEOUT");
    assert_eq!(
        payload.tool("os://agents/working-tool.sh"),
        "A tool that works"
    );
    assert_eq!(sleeping_in(&root), 0, "its `sleep` child is dead");
}

/// How many processes there are whose command line names a file of this root, or that such a one left
/// behind: `sleep 10` in a directory that is gone.
fn sleeping_in(root: &OsRoot) -> usize {
    let real = root.path("").to_str().unwrap().to_owned();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let running = processes.filter(|process| {
        let line = std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        let directory = std::fs::read_link(process.path().join("cwd")).unwrap_or_default();
        let orphan =
            line == "sleep\u{0}10\0" && directory.to_string_lossy().ends_with(" (deleted)");
        line.contains(&real) || orphan
    });
    running.count()
}
