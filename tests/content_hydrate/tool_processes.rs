//! What surrounds a tool while it runs, and that nothing of it stays behind.
//!
//! These tools run unjailed, so that they can leave marks for the test outside their scratch directory.

use std::fs;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::os_root::{NONE, OsRoot, Payload, Run, agent};
use crate::policy;

/// A root whose tools find the directory `$MARKS`.
fn with_marks() -> OsRoot {
    let root = OsRoot::new();
    let marks = root.project().join("marks");
    fs::create_dir(&marks).unwrap();
    let mut policy = policy::tools_run();
    policy["host"]["discovery"]["env"] = json!({"MARKS": marks});
    root.policy(&policy);
    root
}

fn mark(root: &OsRoot, name: &str) -> String {
    fs::read_to_string(root.project().join("marks").join(name)).unwrap()
}

/// Whether the process whose id a tool wrote down is gone, or will be in a moment: it may still be on
/// its way out when the host, which killed it, has answered. A zombie is gone.
fn gone(pid: &str) -> bool {
    let gone = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().next());
        matches!(state, None | Some("Z" | "X"))
    };
    (0..40).any(|_| {
        gone() || {
            thread::sleep(Duration::from_millis(50));
            false
        }
    })
}

#[test]
fn the_surroundings_of_a_tool_are_fixed() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    #[rustfmt::skip]
    let rows = [
        ("cwd", "pwd; ls -A; stat -c %a .", "/scratch\n700"),
        (
            "env",
            "tr '\\0' '\\n' < /proc/$$/environ | sort",
            "HOME=/scratch\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nTMPDIR=/scratch\nTZ=UTC",
        ),
        ("stdin", "readlink /proc/$$/fd/0; cat", "/dev/null"),
        ("stderr", "echo out; echo err >&2", "out"),
        ("arguments", "echo $#; echo \"$1\"", "1\n--description"),
        ("session", "awk '{exit !($5==$1 && $6==$1)}' /proc/$$/stat && echo own", "own"),
        ("mount", "d=$(dirname \"$(readlink -f \"$0\")\"); echo \"at:$d/x\"", "at:/os/crew/x"),
    ];
    for (name, script, _) in &rows {
        root.tool(&format!("crew/{name}"), format!("#!/bin/sh\n{script}\n"));
    }
    let tools = rows.each_ref().map(|(name, ..)| *name);
    root.file("crew/pilot.md", agent(NONE, &tools));
    // What the host's own environment holds reaches no tool.
    let output = root
        .command(&["hydrate", "os://crew/pilot.md"])
        .envs([
            ("SECRET", "s3cret"),
            ("LANG", "de_DE.UTF-8"),
            ("TMPDIR", "/var/tmp"),
        ])
        .output()
        .unwrap();
    let payload: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let described = payload["metadata"]["dependencies"]["tools"]
        .as_array()
        .unwrap();
    for (name, _, expected) in rows {
        let uri = format!("os://crew/{name}");
        let entry = described
            .iter()
            .find(|entry| entry["uri"] == uri.as_str())
            .unwrap();
        assert_eq!(entry["description"], expected, "{name}");
    }
}

#[test]
fn no_other_descriptor_is_inherited() {
    let root = with_marks();
    root.tool("a.sh", "#!/bin/sh\nls /proc/self/fd | tr '\\n' ' '\n");
    root.file("agent.md", agent(NONE, &["a.sh"]));
    // What the host itself was given by its parent does not reach the tool either.
    let inherited = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    let payload = root.payload(&["os://agent.md"]);
    // The fourth is the directory that `ls` reads.
    assert_eq!(payload.tool("os://a.sh"), "0 1 2 3");
    drop(inherited);
}

#[test]
fn the_scratch_directory_is_fresh_for_each_execution_and_removed() {
    let root = with_marks();
    root.tool("a.sh", "#!/bin/sh\nls -A >> $MARKS/found\npwd >> $MARKS/pwd\ntouch left; mkdir -p d/e; chmod 500 d\nexit 1\n");
    root.file("agent.md", agent(NONE, &["a.sh"]));
    root.payload(&["os://agent.md"]);
    assert_eq!(mark(&root, "found"), "", "empty at the start");
    let used = mark(&root, "pwd");
    let used: Vec<&str> = used.lines().collect();
    assert_eq!(used.len(), 2);
    assert_ne!(used[0], used[1], "one for each execution");
    for directory in used {
        assert!(!fs::exists(directory).unwrap(), "removed afterwards");
    }
}

#[test]
fn what_a_tool_leaves_in_the_background_is_killed_and_delays_nothing() {
    let root = with_marks();
    root.tool(
        "a.sh",
        "#!/bin/sh\nsleep 300 &\necho $! > $MARKS/pid\necho here\n",
    );
    root.file("agent.md", agent(NONE, &["a.sh"]));
    let started = Instant::now();
    assert_eq!(root.payload(&["os://agent.md"]).tool("os://a.sh"), "here");
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "stdout is held open by the child"
    );
    assert!(gone(&mark(&root, "pid")), "the rest of the group is killed");
}

#[test]
fn an_execution_that_takes_5_seconds_is_a_timeout() {
    let root = with_marks();
    let wait = "echo $$ >> $MARKS/pids; echo D; sleep 60 & echo $! >> $MARKS/pids; wait";
    root.tool(
        "waits.sh",
        format!("#!/bin/sh\necho $1 >> $MARKS/calls\n{wait}\n"),
    );
    root.tool(
        "helps.sh",
        format!("#!/bin/sh\n[ $1 = --description ] && exit 1\n{wait}\n"),
    );
    root.tool("endless.sh", "#!/bin/sh\nexec yes\n");
    root.tool("quick.sh", "#!/bin/sh\necho quick\n");
    root.file(
        "agent.md",
        agent(NONE, &["waits.sh", "helps.sh", "endless.sh", "quick.sh"]),
    );
    let payload = root.payload(&["os://agent.md"]);
    for tool in ["waits", "helps", "endless"] {
        assert_eq!(
            payload.tool(&format!("os://{tool}.sh")),
            "ERROR: TIMEOUT",
            "{tool}"
        );
    }
    assert_eq!(
        payload.tool("os://quick.sh"),
        "quick",
        "one that waits harms no other"
    );
    assert_eq!(
        mark(&root, "calls"),
        "--description\n",
        "never after a timeout"
    );
    let pids = mark(&root, "pids");
    assert_eq!(pids.lines().count(), 4);
    assert!(pids.lines().all(gone), "the whole group is killed");
}

#[test]
fn at_most_ten_executions_at_a_time_in_the_order_of_uris() {
    let root = with_marks();
    let script = "#!/bin/sh\ntouch $MARKS/run.$$\nls $MARKS | grep -c run >> $MARKS/counts\nsleep 0.1\nrm $MARKS/run.$$\necho ${0##*-}\n";
    let tools: Vec<String> = (0..30).rev().map(|n| format!("t-{n:02}")).collect();
    for tool in &tools {
        root.tool(tool, script);
    }
    root.file("agent.md", agent(NONE, &tools));
    let payload = root.payload(&["os://agent.md"]);
    for (index, entry) in payload.tools().iter().enumerate() {
        assert_eq!(entry["uri"], format!("os://t-{index:02}"));
        assert_ne!(entry["description"], "ERROR: EXECUTION_FAILED");
    }
    let counts = mark(&root, "counts");
    let counts: Vec<usize> = counts.lines().map(|count| count.parse().unwrap()).collect();
    assert_eq!(counts.len(), 30);
    assert!(counts.iter().all(|&count| count <= 10), "{counts:?}");
}

#[test]
fn a_tool_runs_in_the_jail_unless_the_policy_says_unjailed() {
    let root = OsRoot::new();
    let mark = root.project().join("mark");
    root.tool(
        "a.sh",
        format!("#!/bin/sh\ntouch {}\necho ran\n", mark.display()),
    );
    root.file("agent.md", agent(NONE, &["a.sh"]));
    let mut policy = policy::tools_run();
    for jail in [json!({}), json!({"process": "required"})] {
        policy["host"]["jail"] = jail;
        root.policy(&policy);
        assert_eq!(root.payload(&["os://agent.md"]).tool("os://a.sh"), "ran");
        assert!(!mark.exists(), "it wrote outside of the jail");
    }
    policy["host"]["jail"] = json!({"process": "unjailed"});
    root.policy(&policy);
    assert_eq!(root.payload(&["os://agent.md"]).tool("os://a.sh"), "ran");
    assert!(mark.exists());
}

/// A tool is exchanged for a link out of the mount again and again: what it leads to is never started.
#[test]
fn a_tool_that_becomes_a_link_out_of_the_mount_is_never_the_other_one() {
    let root = OsRoot::new();
    let mut policy = policy::tools_run();
    policy["host"]["jail"] = json!({"process": "required"});
    root.policy(&policy);
    root.tool("a.sh", "#!/bin/sh\necho inside\n");
    root.tool("../outside.sh", "#!/bin/sh\necho outside\n");
    root.link("link", "../outside.sh");
    root.file("agent.md", agent(NONE, &["a.sh"]));
    let names = ["a.sh", "link", "kept"].map(|name| root.path(name));
    let over = AtomicBool::new(false);
    let is_inside = |output: &Output| {
        String::from_utf8_lossy(&output.stdout).contains(r#""description":"inside""#)
    };
    // Whatever fails, the thread must end: the answers are looked at when it has.
    let outputs = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                let [tool, link, kept] = &names;
                fs::rename(tool, kept).unwrap();
                fs::rename(link, tool).unwrap();
                fs::rename(tool, link).unwrap();
                fs::rename(kept, tool).unwrap();
            }
        });
        let started = Instant::now();
        let mut outputs: Vec<Output> = Vec::new();
        // Until it was met as what it is, which on a busy machine may take a while.
        while (outputs.len() < 60 || !outputs.iter().any(is_inside))
            && started.elapsed() < Duration::from_secs(30)
        {
            let mut command = root.command(&["hydrate", "os://agent.md"]);
            outputs.extend(command.env("HYDRANT_CACHE", "off").output());
        }
        over.store(true, Relaxed);
        outputs
    });
    let payloads: Vec<Payload> = outputs
        .into_iter()
        .map(|output| Payload::from(Run::from(output)))
        .collect();
    let told = |description: &str| {
        let answers = payloads.iter().map(|payload| payload.tool("os://a.sh"));
        answers.filter(|answer| *answer == description).count()
    };
    assert_eq!(told("outside"), 0);
    assert!(
        told("inside") > 0 && told("inside") < payloads.len(),
        "the race was never run"
    );
}

/// A tool from before the discovery contract, with a default action.
#[test]
fn a_tool_that_acts_instead_of_describing_itself_has_nothing_to_act_on() {
    let root = with_marks();
    root.tool(
        "fit.sh",
        "#!/bin/sh\nrm -rf ./* ; for f in *; do echo \"converted $f\"; done\necho x > $HOME/.profile\n\
         cat > got; (sleep 300 & echo $! > $MARKS/pid)\ncd ..; exit 3\n",
    );
    root.tool("binary.sh", "#!/bin/sh\nprintf '\\001\\000\\377'\n");
    root.file("agent.md", agent(NONE, &["fit.sh", "binary.sh"]));
    root.file("../photo.png", "precious");
    let payload = root.payload(&["os://agent.md"]);
    assert_eq!(payload.tool("os://fit.sh"), "ERROR: EXECUTION_FAILED");
    assert_eq!(payload.tool("os://binary.sh"), "\u{1}\0\u{FFFD}");
    assert_eq!(
        fs::read_to_string(root.project().join("photo.png")).unwrap(),
        "precious"
    );
    assert!(root.path("fit.sh").exists(), "the root is as it was");
    assert!(
        !root.home().join(".profile").exists(),
        "the home is as it was"
    );
    assert!(gone(&mark(&root, "pid")), "the process table is as it was");
}
