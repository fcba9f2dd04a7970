//! Tools: which are started, with which flag, and what their text becomes.

use serde_json::json;

use crate::os_root::{NONE, OsRoot, Payload, agent};
use crate::policy;

/// One tool: reference relative to `os://crew/`, its script, its description.
type Row<'a> = (&'a str, String, String);

/// Each script is a tool of one agent, started under a policy that lets it.
fn assert_described(rows: &[Row<'_>]) {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    for (name, script, _) in rows {
        root.tool(&format!("crew/{name}"), format!("#!/bin/sh\n{script}\n"));
    }
    let payload = declaring(&root, rows.iter().map(|(name, ..)| *name));
    for (name, _, description) in rows {
        let described = payload.tool(&format!("os://crew/{name}"));
        assert_eq!(described, description, "{name}");
    }
}

/// The payload of an agent in `os://crew/` with these tools.
fn declaring<'a>(root: &OsRoot, tools: impl Iterator<Item = &'a str>) -> Payload {
    let tools: Vec<&str> = tools.collect();
    root.file("crew/pilot.md", agent(NONE, &tools));
    root.payload(&["os://crew/pilot.md"])
}

/// `description` for `--description`, `help` for `--help`: the shell commands of a tool.
fn answering(description: &str, help: &str) -> String {
    format!("case $1 in --description) {description};; --help) {help};; esac")
}

#[test]
fn a_description_comes_from_the_first_flag_that_gives_one() {
    let run_help = "ERROR: EXECUTION_FAILED";
    #[rustfmt::skip]
    let rows = [
        ("a", answering("echo D", "echo H"), "D".into()),
        ("b", answering("echo D; exit 1", "echo H"), "H".into()),
        ("c", answering("echo ' '", "echo H"), "H".into()),
        ("d", answering("kill -9 $$", "echo H"), "H".into()),
        ("e", answering("echo D >&2", "echo H"), "H".into()),
        ("f", answering("exit 1", "echo H; exit 2"), run_help.into()),
        ("g", answering("exit 1", "echo H; kill -9 $$"), run_help.into()),
        ("h", answering("exit 1", "exit 0"), "ERROR: NO_OUTPUT".into()),
        ("i", answering("exit 1", "echo H >&2"), "ERROR: NO_OUTPUT".into()),
        ("j", answering("exit 1", "printf 'one\\ntwo\\n\\nthree'"), "one\ntwo".into()),
        ("k", answering("exit 1", "printf '\\n\\n  one \\n\\nthree'"), "one".into()),
        ("l", answering("exit 1", "printf 'one\\r\\n\\r\\nthree'"), "one".into()),
        ("m", answering("exit 1", "printf 'one\\n \\nthree'"), "one\n \nthree".into()),
        ("n", answering("printf 'one\\n\\ntwo'", "echo H"), "one\n\ntwo".into()),
        ("o", answering("exit 1", "printf '\\033[1m\\033[0m \\n'"), "ERROR: NO_OUTPUT".into()),
    ];
    assert_described(&rows);
}

#[test]
fn tool_text_is_cleaned_in_the_order_of_the_row() {
    let cleaned = |printf: &str| answering(&format!("printf '{printf}'"), "exit 1");
    #[rustfmt::skip]
    let rows = [
        ("lossy", cleaned("a\\377\\342\\202b"), "a\u{FFFD}\u{FFFD}b".into()),
        ("crlf", cleaned("a\\r\\nb\\rc"), "a\nb\rc".into()),
        ("csi", cleaned("\\033[1;31mRed\\033[0m \\033[?25lx\\033[2 qy"), "Red xy".into()),
        ("order", cleaned("a\\r\\033[0m\\nb"), "a\r\nb".into()),
        ("other", cleaned("a\\033]0;t\\007b\\033[\\001"), "a\u{1b}]0;t\u{7}b\u{1b}[\u{1}".into()),
        ("trim", cleaned("\\302\\240 \\n a \\342\\200\\203"), "a".into()),
        ("kept", cleaned("\\357\\273\\277a\\342\\200\\213"), "\u{FEFF}a\u{200B}".into()),
        ("quote", cleaned("\"},{\""), "\"},{\"".into()),
    ];
    assert_described(&rows);
}

#[test]
fn long_text_is_cut_by_unicode_scalar_values() {
    let repeat = |count: usize| format!("printf 'é%.0s' $(seq {count})");
    let first = |count: usize| "é".repeat(count);
    let help = |count: usize| answering("exit 1", &repeat(count));
    let indicator = "... (Run with --help for full usage)";
    assert_eq!(indicator.len(), 36);
    #[rustfmt::skip]
    let rows = [
        ("d1024", answering(&repeat(1024), "exit 1"), first(1024)),
        ("d1025", answering(&repeat(1025), "exit 1"), first(1024)),
        ("h1024", help(1024), first(1024)),
        ("h1025", help(1025), first(988) + indicator),
    ];
    assert_described(&rows);
}

#[test]
fn only_the_first_64_kib_of_stdout_count() {
    let spaces = |count: usize, then: &str| format!("printf '%{count}s{then}' ''");
    #[rustfmt::skip]
    let rows = [
        ("inside", answering(&spaces(65_535, "D"), "echo H"), "D".into()),
        ("beyond", answering(&spaces(65_536, "D"), "echo H"), "H".into()),
        ("rest", answering(&format!("echo D; {}", spaces(300_000, "")), "exit 1"), "D".into()),
    ];
    assert_described(&rows);
}

#[test]
fn exactly_these_executions_happen_and_no_other() {
    let root = OsRoot::new();
    let log = root.project().join("calls");
    let mut policy = policy::tools_run();
    policy["host"]["discovery"]["env"] = json!({"CALLS": log});
    root.policy(&policy);
    let logged =
        |then: &str| format!("#!/bin/sh\necho \"${{0##*/}} $# $*\" >> \"$CALLS\"\n{then}\n");
    root.tool("crew/good.sh", logged("echo D"));
    root.tool("crew/bad.sh", logged("exit 1"));
    root.tool("crew/blank.sh", logged(""));
    let payload = declaring(
        &root,
        ["good.sh", "bad.sh", "blank.sh", "./good.sh"].into_iter(),
    );
    assert_eq!(payload.tool("os://crew/bad.sh"), "ERROR: EXECUTION_FAILED");
    assert_eq!(payload.tool("os://crew/blank.sh"), "ERROR: NO_OUTPUT");
    let calls = std::fs::read_to_string(log).unwrap();
    let mut calls: Vec<&str> = calls
        .lines()
        .map(|call| call.split_once(' ').unwrap().1)
        .collect();
    assert!(
        calls[3..].iter().all(|call| *call == "1 --help"),
        "{calls:?}"
    );
    calls.sort_unstable();
    let expected = [
        "1 --description",
        "1 --description",
        "1 --description",
        "1 --help",
        "1 --help",
    ];
    assert_eq!(calls, expected);
}

#[test]
fn a_tool_that_is_not_there_or_not_reachable() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    let echo = "#!/bin/sh\necho ran\n";
    root.tool("../outside.sh", echo)
        .tool("bin/inside.sh", echo)
        .tool("crew/dir/x", echo);
    root.link("crew/up.sh", "../../outside.sh");
    root.link("crew/absolute.sh", root.path("bin/inside.sh"));
    root.link("crew/dangling.sh", "nothing.sh");
    root.link("crew/near.sh", "../bin/inside.sh");
    let fifo = root.path("crew/fifo.sh");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        fifo,
        rustix::fs::FileType::Fifo,
        0o755.into(),
        0,
    )
    .unwrap();
    #[rustfmt::skip]
    let rows = [
        ("ftp://h.example/t.sh", "ftp://h.example/t.sh", "ERROR: UNSUPPORTED_SCHEME"),
        ("../../t.sh", "../../t.sh", "ERROR: PERMISSION_DENIED"),
        ("t.sh?x", "t.sh?x", "ERROR: FETCH_FAILED"),
        ("#t", "#t", "ERROR: FETCH_FAILED"),
        ("gone.sh", "os://crew/gone.sh", "ERROR: NOT_FOUND"),
        ("dir", "os://crew/dir", "ERROR: NOT_FOUND"),
        ("dangling.sh", "os://crew/dangling.sh", "ERROR: NOT_FOUND"),
        ("fifo.sh", "os://crew/fifo.sh", "ERROR: NOT_FOUND"),
        ("up.sh", "os://crew/up.sh", "ERROR: PERMISSION_DENIED"),
        ("absolute.sh", "os://crew/absolute.sh", "ERROR: PERMISSION_DENIED"),
        ("near.sh", "os://crew/near.sh", "ran"),
        ("%FF.sh", "os://crew/%FF.sh", "ERROR: NOT_FOUND"),
    ];
    let payload = declaring(&root, rows.iter().map(|(reference, ..)| *reference));
    for (reference, uri, description) in rows {
        assert_eq!(payload.tool(uri), description, "{reference}");
    }
}

#[test]
fn how_a_file_is_started() {
    let root = OsRoot::new();
    let mut policy = policy::tools_run();
    policy["host"]["discovery"]["runners"] = json!({
        ".sh": ["sh"],
        ".ts": ["echo", "run"],
        ".js": ["no-such-runner"],
    });
    root.policy(&policy);
    let script = "echo \"$# $1\"\n";
    root.file("crew/runner.sh", script);
    root.tool("crew/noexec.sh", script);
    root.tool("crew/line.sh", "#!/bin/echo line\n"); // its own `#!` line goes before the runner
    root.tool("crew/noexec", script);
    root.tool("crew/gone", "#!/no/such/interpreter\n");
    root.tool("crew/gone.js", script)
        .mode("crew/gone.js", 0o644);
    root.file("crew/words.ts", "");
    root.file("crew/none.py", script);
    root.file("crew/none.txt", "#!/bin/sh\necho ran\n");
    root.tool("crew/bit", "#!/bin/sh\necho ran\n")
        .mode("crew/bit", 0o500);
    #[rustfmt::skip]
    let rows = [
        ("runner.sh", "1 --description"),
        ("noexec.sh", "1 --description"),
        ("noexec", "ERROR: EXECUTION_FAILED"),
        ("gone", "ERROR: EXECUTION_FAILED"),
        ("gone.js", "ERROR: EXECUTION_FAILED"),
        ("words.ts", "run /os/crew/words.ts --description"),
        ("none.py", "ERROR: PERMISSION_DENIED"),
        ("none.txt", "ERROR: PERMISSION_DENIED"),
        ("bit", "ran"),
        ("line.sh", "line /os/crew/line.sh --description"),
    ];
    let payload = declaring(&root, rows.iter().map(|(name, _)| *name));
    for (name, description) in rows {
        let described = payload.tool(&format!("os://crew/{name}"));
        assert_eq!(described, description, "{name}");
    }
}

/// What is denied is answered, and the hydration goes on.
#[test]
fn without_leave_no_tool_is_started_and_existence_does_not_leak() {
    let root = OsRoot::new();
    let echo = "#!/bin/sh\necho ran\n";
    root.tool("tools/a.sh", echo)
        .tool("tools2/a.sh", echo)
        .tool("crew/a.sh", echo);
    root.link("crew/up.sh", "../../outside.sh");
    let tools = [
        "/tools/a.sh",
        "/tools2/a.sh",
        "a.sh",
        "gone.sh",
        "up.sh",
        ".",
        "/tools/gone.sh",
    ];
    let answers = |options: &[&str]| -> Vec<String> {
        root.file("crew/pilot.md", agent(NONE, &tools));
        let payload = root.payload(&[&["os://crew/pilot.md"], options].concat());
        let uris = [
            "tools/a.sh",
            "tools2/a.sh",
            "crew/a.sh",
            "crew/gone.sh",
            "crew/up.sh",
            "crew",
            "tools/gone.sh",
        ];
        uris.map(|uri| payload.tool(&format!("os://{uri}")).to_owned())
            .to_vec()
    };
    let skipped = "ERROR: EXECUTION_SKIPPED";
    let mut everywhere = ["ran"; 7];
    (everywhere[3], everywhere[6]) = ("ERROR: NOT_FOUND", "ERROR: NOT_FOUND");
    (everywhere[4], everywhere[5]) = ("ERROR: PERMISSION_DENIED", "ERROR: NOT_FOUND");
    assert_eq!(answers(&[]), everywhere, "the default policy");
    assert_eq!(answers(&["--no-exec"]), [skipped; 7], "--no-exec");
    let mut policy = policy::tools_run();
    root.policy(&policy);
    assert_eq!(answers(&["--no-exec"]), [skipped; 7], "--no-exec");
    policy["host"]["discovery"]["run"] = json!(["/os/tools"]);
    root.policy(&policy);
    let mut expected = [skipped; 7];
    (expected[0], expected[6]) = ("ran", "ERROR: NOT_FOUND");
    assert_eq!(answers(&[]), expected, "by whole segments");
    policy["host"].as_object_mut().unwrap().remove("discovery");
    root.policy(&policy);
    assert_eq!(answers(&[]), [skipped; 7], "an omitted rule denies");
}

#[test]
fn a_tool_entry_is_a_name_and_never_words() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    root.tool("crew/t.sh", "#!/bin/sh\necho ran\n");
    root.tool("crew/odd name; $(x)", "#!/bin/sh\necho \"$# $1\"\n");
    let references = [
        "./t.sh --evil",
        "--version",
        "-c",
        "$(id)",
        "; rm",
        "./odd name; $(x)",
    ];
    let payload = declaring(&root, references.into_iter());
    let odd = "os://crew/odd%20name;%20$(x)";
    assert_eq!(payload.tool(odd), "1 --description");
    for entry in payload.tools() {
        if entry["uri"] != odd {
            assert_eq!(entry["description"], "ERROR: NOT_FOUND", "{entry}");
        }
    }
    assert_eq!(payload.tools().len(), 6);
}
