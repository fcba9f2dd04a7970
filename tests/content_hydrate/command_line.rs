//! Arguments, exit statuses, and what goes to which stream.

use std::process::Command;

use crate::os_root::{NONE, OsRoot, Run, agent, skill};
use crate::policy;

#[test]
fn the_defaults_are_the_payload_of_os_at_depth_1() {
    let root = OsRoot::new();
    root.file("a.md", agent(&["b.md"], NONE))
        .file("b.md", agent(&["c.md"], NONE));
    let plain = root.payload(&["os://a.md"]).text;
    let spelled = root.payload(&[
        "os://a.md",
        "--root",
        "./os",
        "--format",
        "json",
        "--depth",
        "1",
    ]);
    assert_eq!(plain, spelled.text);
    assert!(!plain.contains("checksum") && !plain.contains("cycles"));
}

#[test]
fn a_path_means_the_document_below_the_root_before_one_of_this_machine() {
    let root = OsRoot::new();
    root.file("crew/pilot.md", "in the root")
        .file("../crew/pilot.md", "beside it");
    for uri in ["crew/pilot.md", "./crew/pilot.md", "/crew/pilot.md"] {
        assert_eq!(root.payload(&[uri]).content(), "in the root", "{uri}");
    }
}

#[test]
fn json_is_one_line_and_documents_are_their_bytes() {
    let root = OsRoot::new();
    root.file("a.md", "---\nx: 1\n---\nHi");
    let json = root.hydrate(&["os://a.md", "--format", "json"]).stdout;
    assert_eq!(json.matches('\n').count(), 1);
    assert!(json.ends_with("}\n"));
    for format in ["link", "v2"] {
        assert_eq!(
            root.hydrate(&["os://a.md", "--format", format]).stdout,
            "---\nx: 1\n---\nHi",
            "{format}"
        );
    }
}

#[test]
fn error_markers_are_exit_0_and_only_of_the_resource_itself_a_line_on_stderr() {
    let root = OsRoot::new();
    root.file("a.md", agent(&["gone.md", "b.md"], &["t.sh"]))
        .file("b.md", "---\n[\n---\n");
    for (uri, lines) in [
        ("os://a.md", 0),
        ("os://b.md", 1),
        ("os://gone.md", 1),
        ("os://../x", 1),
        ("ftp://x/y", 1),
    ] {
        let run = root.hydrate(&[uri]);
        let said = run.stderr.lines().count();
        assert_eq!((run.status, said), (0, lines), "{uri}: {}", run.stderr);
        assert!(run.stdout.ends_with("}\n"), "{uri}");
    }
}

#[test]
fn exit_1_is_a_hard_error_with_one_message() {
    let root = OsRoot::new();
    for format in ["link", "v2"] {
        let run = root.hydrate(&["os://gone.md", "--format", format]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{format}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn exit_2_is_a_usage_error() {
    let root = OsRoot::new();
    root.file("a.md", "Hi");
    #[rustfmt::skip]
    let rows: [&[&str]; 14] = [
        &["hydrate"],
        &["hydrate", ""],
        &["hydrate", "os://a.md", "--frobnicate"],
        &["hydrate", "os://a.md", "--format", "yaml"],
        &["hydrate", "os://a.md", "--format"],
        &["hydrate", "os://a.md", "--depth", "0"],
        &["hydrate", "os://a.md", "--depth", "17"],
        &["hydrate", "os://a.md", "--depth", "1.5"],
        &["hydrate", "os://a.md", "--blob-dir", "."],
        &["syscall", "os://a.md"],
        &["syscall", "--format", "json"],
        &["syscall", "--depth", "0"],
        &["syscall", "--mount", "lib=os"],
        &["syscall", "--frobnicate"],
    ];
    for arguments in rows {
        let run = Run::from(root.command(arguments).output().unwrap());
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.stderr);
        assert!(
            run.stdout.is_empty() && !run.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn no_exec_holds_whatever_the_policy_says() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    root.file("a.md", agent(NONE, &["t.sh"]))
        .tool("t.sh", "#!/bin/sh\necho ran\n");
    assert_eq!(root.payload(&["os://a.md"]).tool("os://t.sh"), "ran");
    let skipped = root.payload(&["os://a.md", "--no-exec"]);
    assert_eq!(skipped.tool("os://t.sh"), "ERROR: EXECUTION_SKIPPED");
}

#[test]
fn a_policy_that_cannot_be_read_hydrates_nothing() {
    let root = OsRoot::new();
    root.file("a.md", "Hi").file("../bad.yaml", "version: 2\n");
    for policy in ["gone.yaml", "bad.yaml"] {
        let run = root.hydrate(&["os://a.md", "--policy", policy]);
        assert_ne!(run.status, 0, "{policy}");
        assert!(
            run.stdout.is_empty() && run.stderr.contains(policy),
            "{policy}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_mount_outside_the_ceiling_is_not_read() {
    let root = OsRoot::new();
    root.file("docs/a.md", skill("A")).file("b.md", skill("B"));
    root.file("docs/agent.md", agent(&["a.md", "../b.md"], NONE));
    let mut policy = policy::tools_run();
    policy["capability_ceiling"]["fs"]["read"] = serde_json::json!(["/os/docs"]);
    root.policy(&policy);
    let payload = root.payload(&["os://docs/agent.md"]);
    assert_eq!(payload.skill("os://docs/a.md")["name"], "A");
    assert_eq!(
        payload.skill("os://b.md")["name"],
        "ERROR: FETCH_FAILED",
        "denied by policy"
    );
}

#[test]
fn it_works_without_a_home() {
    let root = OsRoot::new();
    root.file("a.md", "Hi");
    let mut command = root.command(&["hydrate", "os://a.md"]);
    let output = command
        .env_remove("HOME")
        .env_remove("XDG_CACHE_HOME")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The command with so many KiB of address space.
fn limited(root: &OsRoot, kib: u64, arguments: &[&str]) -> Run {
    let command = root.command(arguments);
    let mut shell = Command::new("/bin/sh");
    let limit = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    shell
        .args(["-c", &limit])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    if let Some(directory) = command.get_current_dir() {
        shell.current_dir(directory);
    }
    Run::from(shell.output().unwrap())
}

/// State and detail of the pool of instances, as `doctor` tells them.
fn pool_of(doctor: &Run) -> (String, String) {
    assert_eq!(doctor.status, 0, "{}", doctor.stderr);
    let findings: serde_json::Value = serde_json::from_str(&doctor.stdout).unwrap();
    let pool = &findings[0];
    assert_eq!(pool["layer"], "instance-pool");
    let text = |member: &str| pool[member].as_str().unwrap().to_owned();
    (text("state"), text("detail"))
}

/// Where a pool has no room in the address space, memory is mapped for each call, and `doctor` says so.
#[test]
fn without_address_space_for_a_pool_everything_still_works() {
    let root = OsRoot::new();
    root.file("agent.md", "Fly.");
    let limited = |arguments: &[&str]| limited(&root, 40_000_000, arguments);
    let doctor = limited(&["doctor", "--format", "json"]);
    let (state, detail) = pool_of(&doctor);
    assert_eq!(state, "degraded", "{detail}");
    assert!(detail.contains("ulimit -v"), "{detail}");
    let hydrated = limited(&["hydrate", "agent.md"]);
    assert_eq!((hydrated.status, hydrated.stderr.as_str()), (0, ""));
    assert!(hydrated.stdout.contains("Fly."));
}

/// With room for some slots there is a pool of those, and `doctor` says why there are no more.
#[test]
fn with_address_space_for_some_slots_there_are_some() {
    let root = OsRoot::new();
    root.file("agent.md", "Fly.");
    let limited = |arguments: &[&str]| limited(&root, 150_000_000, arguments);
    let (state, detail) = pool_of(&limited(&["doctor", "--format", "json"]));
    assert_eq!(state, "degraded", "{detail}");
    let slots: u32 = detail.split(' ').next().unwrap().parse().unwrap();
    assert!((16..40).contains(&slots), "{detail}");
    assert!(
        detail.contains("64 slots") && detail.contains("ulimit -v"),
        "{detail}"
    );
    let hydrated = limited(&["hydrate", "agent.md"]);
    assert_eq!((hydrated.status, hydrated.stderr.as_str()), (0, ""));
}

/// With room for no instance at all, that is what is said, and not that memory is short.
#[test]
fn without_address_space_for_one_instance_it_is_said_how_much_one_needs() {
    let root = OsRoot::new();
    root.file("agent.md", "Fly.");
    let hydrated = limited(&root, 3_000_000, &["hydrate", "agent.md"]);
    assert_eq!(hydrated.status, 1, "{}", hydrated.stdout);
    let said = &hydrated.stderr;
    assert!(
        said.contains("one more call needs 4362076160 bytes of address space"),
        "{said}"
    );
    assert!(
        said.contains("of 3072000000") && said.contains("`ulimit -v`"),
        "{said}"
    );
}
