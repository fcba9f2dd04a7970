//! What is asked of tools and what their answers mean, as far as the guest decides it.

#![allow(clippy::string_slice, reason = "a wrong range fails the test")]

use super::*;

/// The description of `/os/t.sh`, declared by `a.md`.
fn description(
    description: Result<Exit, ProcessError>,
    help: Result<Exit, ProcessError>,
) -> (String, FakeHost) {
    let mut host = FakeHost::new(&[("a.md", "---\ntools: [t.sh]\n---\n")]);
    host.tool("/os/t.sh", description, help);
    let payload = host.payload("a.md");
    (members(&payload, "tools", "description").remove(0), host)
}

fn flags(host: &FakeHost) -> Vec<Vec<&str>> {
    host.runs
        .iter()
        .map(|run| run.iter().map(flag).collect())
        .collect()
}

#[test]
fn a_tool_is_described_and_its_uri_absolute() {
    let mut host = FakeHost::new(&[(
        "agents/agent-with-tools.md",
        "---\ntools:\n  - ./mock-tool.sh\n---\nAgent content",
    )]);
    let skipped = r#"{"content":"Agent content","metadata":{"uri":"os://agents/agent-with-tools.md","dependencies":{"skills":[],"tools":[{"uri":"os://agents/mock-tool.sh","description":"ERROR: EXECUTION_SKIPPED"}]}}}"#;
    assert_eq!(host.payload("agents/agent-with-tools.md"), skipped);
    let path = "/os/agents/mock-tool.sh";
    host.tool(path, exit(0, "Mock tool for testing\n"), exit(0, ""));
    let described = skipped.replace("ERROR: EXECUTION_SKIPPED", "Mock tool for testing");
    assert_eq!(host.payload("agents/agent-with-tools.md"), described);
    let command = &host.runs[1][0];
    assert_eq!(
        tool(command),
        &Tool {
            path: path.to_owned(),
            declared_by: "os://agents/agent-with-tools.md".to_owned(),
        }
    );
    assert_eq!(command.arguments, ["--description"]);
    assert_eq!(
        (command.timeout_ms, command.max_output_bytes),
        (5_000, 65_536)
    );
}

#[test]
fn example_7_3() {
    let mut host = FakeHost::new(&[
        (
            "agents/resilient-agent.md",
            "---\nskills:\n  - os://skills/valid-skill.md\n  - os://skills/broken-skill.md\n  - os://skills/missing-file.md\ntools:\n  - ./working-tool.sh\n  - ./broken-tool.sh\n---\nI am a resilient agent that handles errors gracefully.",
        ),
        (
            "skills/valid-skill.md",
            "---\nname: Valid Skill\ndescription: This skill works correctly\n---\n",
        ),
        (
            "skills/broken-skill.md",
            "---\n# Missing 'name' and 'description' fields\nskills: []\n---\n",
        ),
    ]);
    host.tool(
        "/os/agents/working-tool.sh",
        exit(0, "A tool that works\n"),
        exit(0, ""),
    );
    host.tool(
        "/os/agents/broken-tool.sh",
        ended(Ending::TimedOut),
        exit(0, "never"),
    );
    let payload = host.payload("agents/resilient-agent.md");
    assert_eq!(
        members(&payload, "skills", "name"),
        ["ERROR: MISSING_NAME", "ERROR: FETCH_FAILED", "Valid Skill"]
    );
    assert_eq!(
        members(&payload, "tools", "uri"),
        ["os://agents/broken-tool.sh", "os://agents/working-tool.sh"]
    );
    assert_eq!(
        members(&payload, "tools", "description"),
        ["ERROR: TIMEOUT", "A tool that works"]
    );
    assert_eq!(
        flags(&host),
        [["--description"; 2]],
        "no help after a timeout"
    );
}

#[test]
fn a_clean_text_of_1024_characters_at_most() {
    let (text, host) = description(exit(0, b" \x1b[1mDoes\x1b[0m\r\nit.\n"), exit(0, "help"));
    assert_eq!(text, "Does\nit.");
    assert_eq!(flags(&host), [["--description"]]);
    let (text, _) = description(exit(0, "é".repeat(2_000)), exit(0, ""));
    assert_eq!(text, "é".repeat(1_024));
}

#[test]
fn help_is_asked_for_when_the_description_failed_or_is_blank() {
    for first in [
        exit(1, "x"),
        exit(0, " \n"),
        exit(0, "\x1b[0m"),
        ended(Ending::Signaled(11)),
    ] {
        let (text, host) = description(first, exit(0, "\r\nFirst\r\nline \r\n\r\nSecond"));
        assert_eq!(text, "First\nline");
        assert_eq!(flags(&host), [["--description"], ["--help"]]);
    }
}

#[test]
fn what_help_comes_to() {
    let long = "x".repeat(1_025);
    let cut = format!("{}... (Run with --help for full usage)", "x".repeat(988));
    let cases = [
        (exit(0, ""), "ERROR: NO_OUTPUT"),
        (exit(0, " \n\n "), "ERROR: NO_OUTPUT"),
        (exit(2, "usage"), "ERROR: EXECUTION_FAILED"),
        (ended(Ending::Signaled(9)), "ERROR: EXECUTION_FAILED"),
        (ended(Ending::TimedOut), "ERROR: TIMEOUT"),
        (exit(0, &long), &*cut),
        (exit(0, "x".repeat(1_024)), &long[1..]),
        (
            Err(ProcessError::ArgumentsDenied),
            "ERROR: EXECUTION_SKIPPED",
        ),
    ];
    for (help, expected) in cases {
        assert_eq!(description(exit(1, ""), help).0, expected);
    }
}

#[test]
fn why_nothing_ran() {
    let cases = [
        (ProcessError::Denied, "ERROR: EXECUTION_SKIPPED"),
        (ProcessError::ArgumentsDenied, "ERROR: EXECUTION_SKIPPED"),
        (ProcessError::DirectoryDenied, "ERROR: EXECUTION_SKIPPED"),
        (ProcessError::Unconfined, "ERROR: EXECUTION_SKIPPED"),
        (ProcessError::NotFound, "ERROR: NOT_FOUND"),
        (ProcessError::NotPermitted, "ERROR: PERMISSION_DENIED"),
        (ProcessError::FetchFailed, "ERROR: FETCH_FAILED"),
        (ProcessError::NotStartable, "ERROR: EXECUTION_FAILED"),
        (ProcessError::NoDirectory, "ERROR: EXECUTION_FAILED"),
        (ProcessError::InvalidRequest, "ERROR: EXECUTION_FAILED"),
    ];
    for (error, expected) in cases {
        let (text, host) = description(Err(error), exit(0, "help"));
        assert_eq!(text, expected, "{error:?}");
        assert_eq!(host.runs.len(), 1, "{error:?}");
    }
}

#[test]
fn all_tools_are_asked_in_two_lists() {
    let mut host = FakeHost::new(&[("a.md", "---\ntools: [c, b, ../x, a, d]\n---\n")]);
    host.tool("/os/a", exit(0, "A"), exit(0, ""));
    host.tool("/os/b", exit(1, ""), exit(0, "B"));
    host.tool("/os/d", exit(0, ""), exit(0, "D"));
    let payload = host.payload("a.md");
    assert_eq!(
        members(&payload, "tools", "description"),
        [
            "ERROR: PERMISSION_DENIED",
            "A",
            "B",
            "ERROR: EXECUTION_SKIPPED",
            "D"
        ]
    );
    let paths = |run: usize| host.runs[run].iter().map(path).collect::<Vec<_>>();
    assert_eq!(paths(0), ["/os/a", "/os/b", "/os/c", "/os/d"]);
    assert_eq!(paths(1), ["/os/b", "/os/d"]);
}

#[test]
fn a_tool_entry_is_a_path_and_never_words() {
    let tools = "---\ntools: ['./t.sh --evil', '--version', '$(id)', '; rm']\n---\n";
    let mut host = FakeHost::new(&[("a.md", tools)]);
    host.payload("a.md");
    let paths: Vec<&str> = host.runs[0].iter().map(path).collect();
    assert_eq!(
        paths,
        ["/os/$(id)", "/os/--version", "/os/; rm", "/os/t.sh --evil"]
    );
}

#[test]
fn a_component_is_its_describe() {
    let failed = "ERROR: EXECUTION_FAILED";
    let cases = [
        (
            exit(
                0,
                r#"{"name":"x","description":" Does\r\nit. ","n":[[{"a":1}]]}"#,
            ),
            "Does\nit.",
        ),
        (exit(0, r#"{"description":" "}"#), "ERROR: NO_OUTPUT"),
        (exit(0, ""), failed),
        (exit(0, "Does it."), failed),
        (exit(0, r#"["Does it."]"#), failed),
        (exit(0, r#"{"description":7}"#), failed),
        (exit(0, r#"{"name":"x"}"#), failed),
        (exit(0, r#"{"description":"x"} y"#), failed),
        (exit(0, "[".repeat(60_000)), failed),
        (
            exit(
                0,
                format!("{{\"description\":\"x\",\"n\":{}", "[".repeat(60_000)),
            ),
            failed,
        ),
        (exit(1, r#"{"description":"x"}"#), failed),
        (
            exit(0, r#"{"description":"x"}"#).map(|exit| Exit {
                stdout_truncated: true,
                ..exit
            }),
            failed,
        ),
        (ended(Ending::TimedOut), "ERROR: TIMEOUT"),
        (Err(ProcessError::NotStartable), failed),
        (Err(ProcessError::Denied), "ERROR: EXECUTION_SKIPPED"),
    ];
    for (answer, expected) in cases {
        let mut host = FakeHost::new(&[("a.md", "---\ntools: [t.wasm]\n---\n")]);
        host.tool("/os/t.wasm", answer.clone(), exit(0, "help"));
        let payload = host.payload("a.md");
        assert_eq!(
            members(&payload, "tools", "description"),
            [expected],
            "{answer:?}"
        );
        assert_eq!(host.runs.len(), 1, "a component is never asked for help");
    }
}
