//! Programs and tools as a guest meets them, and tools that do what they like.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Instant;

use super::*;
use crate::testing::{AMPLE, Server, Site, call, meter, respond, snapshot};
use crate::{Budget, MeterBudgets};

const UNJAILED: &str = "  jail: {process: unjailed}\n  discovery: {run: [/os], runners: {.sh: [sh, -e], .py: [no-such-runner-anywhere]}}\n";

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn described(path: &str, declared_by: &str) -> Command {
    Command {
        target: Target::Tool(Tool {
            path: path.to_owned(),
            declared_by: declared_by.to_owned(),
        }),
        arguments: vec!["--description".to_owned()],
        timeout_ms: 5000,
        max_output_bytes: 65536,
    }
}

fn one(call: &Call, command: Command) -> Result<Exit, ProcessError> {
    run(call, vec![command]).unwrap().remove(0)
}

/// What a local tool with this text answers, unjailed.
fn tool(site: &Site, text: &str) -> Result<Exit, ProcessError> {
    write(&site.os().join("tool"), text, 0o755);
    let call = call(site.grant(&[], UNJAILED));
    one(&call, described("/os/tool", "os://a.md"))
}

fn text(exit: &Exit) -> &str {
    std::str::from_utf8(&exit.stdout).unwrap()
}

#[test]
fn without_leave_nothing_is_looked_up() {
    let site = Site::new();
    let call = site.call();
    for path in [
        "/os/none",
        "/etc/passwd",
        "/workspace/x",
        "os/x",
        "https://lib.example/x",
    ] {
        let answer = one(&call, described(path, "os://a.md"));
        assert_eq!(answer, Err(ProcessError::Denied), "{path}");
    }
}

#[test]
fn without_a_jail_nothing_starts_unless_the_policy_says_so() {
    let site = Site::new();
    let call = call(site.grant(&[], "  discovery: {run: [/os]}\n"));
    // A tool that does not exist answers alike: nothing is looked up.
    let answer = one(&call, described("/os/none", "os://a.md"));
    assert_eq!(answer, Err(ProcessError::Unconfined));
}

#[test]
fn a_tool_is_started_with_its_flag_and_nothing_else() {
    let site = Site::new();
    let script = "#!/bin/sh\necho \"$0 $# $1\"; pwd; env | sort; ls -A; cat; echo err >&2\n";
    let exit = tool(&site, script).unwrap();
    assert_eq!(exit.ending, Ending::Exited(0));
    let expected = "/os/tool 1 --description\n/scratch\nHOME=/scratch\nLANG=C.UTF-8\n\
                    PATH=/usr/local/bin:/usr/bin:/bin\nPWD=/scratch\nTMPDIR=/scratch\nTZ=UTC\n";
    let shown: Vec<_> = text(&exit)
        .lines()
        .filter(|line| *line != "_=/usr/bin/env")
        .collect();
    assert_eq!(shown, expected.lines().collect::<Vec<_>>());
    // What it writes to stderr is dropped.
    assert!(exit.stderr.is_empty() && !exit.stderr_truncated);
}

#[test]
fn a_binary_is_started_from_the_file_that_was_opened() {
    let site = Site::new();
    // A busybox would look at its name; a copy of `true` does not care.
    let binary = fs::read("/bin/true")
        .or_else(|_| fs::read("/usr/bin/true"))
        .unwrap();
    fs::write(site.os().join("binary"), binary).unwrap();
    fs::set_permissions(site.os().join("binary"), fs::Permissions::from_mode(0o755)).unwrap();
    let call = call(site.grant(&[], UNJAILED));
    let exit = one(&call, described("/os/binary", "os://a.md")).unwrap();
    assert_eq!(exit.ending, Ending::Exited(0));
}

#[test]
fn what_is_no_startable_tool_is_told_apart() {
    let site = Site::new();
    let os = site.os();
    fs::create_dir(os.join("directory")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, os.join("fifo"), rustix::fs::Mode::RWXU).unwrap();
    symlink("/bin/true", os.join("leaves")).unwrap();
    write(&os.join("plain"), "#!/bin/sh\necho no\n", 0o644);
    write(&os.join("plain.ts"), "x", 0o644);
    write(&os.join("plain.sh"), "echo \"ran $1\"", 0o644);
    write(&os.join("headless.sh"), "echo \"ran $1\"", 0o755);
    write(&os.join("headless"), "echo no shell is involved", 0o755);
    write(&os.join("plain.py"), "x", 0o644);
    write(&os.join("lost"), "#!/no/such/interpreter\n", 0o755);
    let call = call(site.grant(&[], UNJAILED));
    for (name, error) in [
        ("none", ProcessError::NotFound),
        ("directory", ProcessError::NotFound),
        ("fifo", ProcessError::NotFound),
        ("leaves", ProcessError::NotPermitted),
        ("plain", ProcessError::NotPermitted),
        ("plain.ts", ProcessError::NotPermitted),
        ("plain.py", ProcessError::NotStartable),
        ("headless", ProcessError::NotStartable),
        ("lost", ProcessError::NotStartable),
        ("plain.sh --evil", ProcessError::NotFound),
        ("$(id)", ProcessError::NotFound),
    ] {
        let answer = one(&call, described(&format!("/os/{name}"), "os://a.md"));
        assert_eq!(answer, Err(error), "{name}");
    }
    for name in ["plain.sh", "headless.sh"] {
        let exit = one(&call, described(&format!("/os/{name}"), "os://a.md")).unwrap();
        assert_eq!(text(&exit), "ran --description\n", "{name}");
    }
}

#[test]
fn a_tool_is_asked_with_two_flags_only() {
    let site = Site::new();
    write(&site.os().join("tool"), "#!/bin/sh\n", 0o755);
    let call = call(site.grant(&[], UNJAILED));
    for arguments in [
        vec![],
        vec!["--version"],
        vec!["--help", "--help"],
        vec!["-c", "id"],
    ] {
        let mut command = described("/os/tool", "os://a.md");
        command.arguments = arguments.into_iter().map(str::to_owned).collect();
        assert_eq!(one(&call, command), Err(ProcessError::ArgumentsDenied));
    }
}

#[test]
fn a_tool_that_deletes_writes_home_and_leaves_a_child_changes_nothing() {
    let site = Site::new();
    fs::write(site.work().join("kept"), "x").unwrap();
    let before = snapshot(&site.work());
    let started = Instant::now();
    // The child keeps stdout open and names itself by its argument.
    let script = "#!/bin/sh\nrm -rf ./* \"$HOME\"/*; echo x > \"$HOME/x\"; echo y > y\n\
                  mkdir locked; chmod 0 locked\nsleep 64.25 &\necho done\n";
    let exit = tool(&site, script).unwrap();
    assert_eq!((exit.ending, text(&exit)), (Ending::Exited(0), "done\n"));
    // What holds stdout open delays nothing, and is killed.
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(snapshot(&site.work()), before);
    let gone = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        !runs("64.25")
    });
    assert!(gone, "the background child is alive");
}

/// Whether a process with this argument lives.
fn runs(argument: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
        })
    })
}

#[test]
fn a_descendant_that_leaves_the_group_delays_nothing() {
    if !Path::new("/usr/bin/setsid").exists() {
        return;
    }
    let site = Site::new();
    let started = Instant::now();
    let exit = tool(&site, "#!/bin/sh\nsetsid sleep 8 &\necho done\n").unwrap();
    assert_eq!(text(&exit), "done\n");
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn endless_output_ends_as_a_timeout_with_the_whole_group() {
    let site = Site::new();
    write(
        &site.os().join("tool"),
        "#!/bin/sh\nsleep 65.75 &\nwhile :; do echo yyyyyyyy; done\n",
        0o755,
    );
    let call = call(site.grant(&[], UNJAILED));
    let mut command = described("/os/tool", "os://a.md");
    (command.timeout_ms, command.max_output_bytes) = (200, 100);
    let started = Instant::now();
    let exit = one(&call, command).unwrap();
    assert_eq!(exit.ending, Ending::TimedOut);
    assert_eq!((exit.stdout.len(), exit.stdout_truncated), (100, true));
    assert!((200..5000).contains(&started.elapsed().as_millis()));
    assert!((0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        !runs("65.75")
    }));
}

#[test]
fn with_sigchld_ignored_nothing_starts_and_nothing_is_called_a_timeout() {
    const INSIDE: &str = "HYDRANT_TEST_WITH_SIGCHLD_IGNORED";
    if std::env::var_os(INSIDE).is_some() {
        let site = Site::new();
        let touched = site.work().join("touched");
        let answer = tool(&site, &format!("#!/bin/sh\n: > {}\n", touched.display()));
        assert_eq!(answer, Err(ProcessError::NotStartable));
        assert!(!touched.exists());
        // An interpreter that does not exist: the standard library would panic over the lost status.
        let answer = tool(&site, "#!/no/such/interpreter\n");
        assert_eq!(answer, Err(ProcessError::NotStartable));
        return;
    }
    // The disposition belongs to the whole process, so this test runs once more, in a process of its own.
    let (_, module) = module_path!().split_once("::").unwrap();
    let this = "with_sigchld_ignored_nothing_starts_and_nothing_is_called_a_timeout";
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    session::ignore_sigchld(&mut again);
    let output = again
        .args(["--exact", &format!("{module}::{this}")])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn a_tool_that_moves_its_scratch_directory_leaves_nothing_in_it() {
    let site = Site::new();
    let moved = site.work().join("moved");
    let script = format!(
        "#!/bin/sh\necho x > file\nmv \"$HOME\" {0}\nmkdir \"$HOME\"\necho y > \"$HOME/kept\"\n\
         echo \"$HOME\" > {0}.was\n",
        moved.display()
    );
    // The site and the scratch directory are both temporary: on one file system, so that this is a rename.
    let exit = tool(&site, &script).unwrap();
    assert_eq!(exit.ending, Ending::Exited(0));
    assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
    let was = fs::read_to_string(moved.with_extension("was")).unwrap();
    let kept = Path::new(was.trim()).join("kept");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "y\n");
    fs::remove_dir_all(kept.parent().unwrap()).unwrap();
}

#[test]
fn a_process_gets_at_most_what_the_call_has_left() {
    let site = Site::new();
    write(&site.os().join("tool"), "#!/bin/sh\nsleep 66\n", 0o755);
    let mut call = call(site.grant(&[], UNJAILED));
    call.meter = meter(MeterBudgets {
        wall_clock: Duration::from_millis(100),
        ..AMPLE
    });
    let exceeded = run(&call, vec![described("/os/tool", "os://a.md")]).unwrap_err();
    assert_eq!(exceeded.budget, Budget::WallClock);
}

#[test]
fn the_exit_status_and_the_signal_are_answered() {
    let site = Site::new();
    assert_eq!(
        tool(&site, "#!/bin/sh\nexit 3\n").unwrap().ending,
        Ending::Exited(3)
    );
    let exit = tool(&site, "#!/bin/sh\necho last words\nkill -TERM $$\n").unwrap();
    assert_eq!(
        (exit.ending, text(&exit)),
        (Ending::Signaled(15), "last words\n")
    );
}

#[test]
fn a_component_is_described_and_never_started() {
    let site = Site::new();
    write(&site.os().join("a.wasm"), "bytes", 0o644);
    write(&site.os().join("slow.wasm"), "slow", 0o755);
    write(&site.os().join("broken.wasm"), "broken", 0o755);
    let huge = fs::File::create(site.os().join("huge.wasm")).unwrap();
    huge.set_len(u64::from(5 * 1024 * 1024_u32)).unwrap();
    // Leave to be read is all it needs: no discovery, no process.
    let call = site.call();
    let ask = |name: &str| one(&call, described(&format!("/os/{name}"), "os://a.md"));
    let exit = ask("a.wasm").unwrap();
    assert_eq!(
        (exit.ending, text(&exit)),
        (Ending::Exited(0), "{\"description\":\"bytes\"}")
    );
    assert_eq!(ask("slow.wasm").unwrap().ending, Ending::TimedOut);
    assert_eq!(ask("broken.wasm"), Err(ProcessError::NotStartable));
    assert_eq!(ask("huge.wasm"), Err(ProcessError::NotStartable));
    assert_eq!(ask("none.wasm"), Err(ProcessError::NotFound));
}

#[test]
fn remote_documents_and_remote_tools_need_leave_of_their_own() {
    let server = Server::start(|line, stream| match line {
        "GET /tool.sh HTTP/1.1" => {
            respond(stream, "HTTP/1.1 200 OK", b"echo \"$0 $1\"; pwd; ls -A");
        }
        "GET /a.wasm HTTP/1.1" => respond(stream, "HTTP/1.1 200 OK", b"remote"),
        "GET /plain HTTP/1.1" => respond(stream, "HTTP/1.1 200 OK", b"#!/bin/sh\necho no\n"),
        _ => respond(stream, "HTTP/1.1 404 Not Found", b""),
    });
    let site = Site::new();
    write(&site.os().join("tool"), "#!/bin/sh\necho local\n", 0o755);
    let net = format!(
        "{UNJAILED}  net: [{{url: \"{}\", methods: [GET]}}]\n",
        server.url("/")
    );
    let closed = call(site.grant(&[server.url("/")], &net));
    for (path, declared_by) in [
        ("/os/tool", "https://lib.example/a.md"),
        ("/os/tool", ""),
        ("/os/tool", "file:///a.md"),
        (&server.url("/tool.sh"), "os://a.md"),
        (&server.url("/a.wasm"), "os://a.md"),
    ] {
        let answer = one(&closed, described(path, declared_by));
        assert_eq!(answer, Err(ProcessError::Denied), "{path} {declared_by}");
    }
    assert!(server.asked().is_empty());
    let open = call(site.grant(
        &[server.url("/")],
        &net.replace("{run: [/os]", "{remote: true, run: [/os]"),
    ));
    let exit = one(&open, described("/os/tool", "https://lib.example/a.md")).unwrap();
    assert_eq!(text(&exit), "local\n");
    let exit = one(&open, described(&server.url("/tool.sh"), "os://a.md")).unwrap();
    assert_eq!(text(&exit), "/scratch/tool.sh --description\n/scratch\n");
    let exit = one(&open, described(&server.url("/a.wasm"), "os://a.md")).unwrap();
    assert_eq!(text(&exit), "{\"description\":\"remote\"}");
    for (path, error) in [
        (server.url("/plain"), ProcessError::NotPermitted),
        (server.url("/gone.sh"), ProcessError::FetchFailed),
        (
            "https://other.example/x.sh".to_owned(),
            ProcessError::Denied,
        ),
    ] {
        assert_eq!(
            one(&open, described(&path, "os://a.md")),
            Err(error),
            "{path}"
        );
    }
}

fn program(name: &str, arguments: &[&str], directory: &str) -> Command {
    Command {
        target: Target::Program(Program {
            name: name.to_owned(),
            directory: directory.to_owned(),
        }),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        timeout_ms: 5000,
        max_output_bytes: 1024,
    }
}

const PROGRAMS: &str = "  jail: {process: unjailed}\n  process:\n  \
    - {program: sh, args: [[-c, \"pwd; echo $0; echo err >&2\"]], cwd: [/workspace]}\n  \
    - {program: ls, args: [[-A, \"...\"]], cwd: [/workspace], env: {LC_ALL: C}}\n  \
    - {program: no-such-program-anywhere, args: [[]], cwd: [/workspace]}\n";

#[test]
fn programs_run_as_the_policy_says_and_refusals_are_told_apart() {
    let site = Site::new();
    fs::create_dir(site.work().join("below")).unwrap();
    fs::write(site.work().join("below/file"), "").unwrap();
    let call = call(site.grant(&[], PROGRAMS));
    let script = ["-c", "pwd; echo $0; echo err >&2"];
    let exit = one(&call, program("sh", &script, "/workspace/below")).unwrap();
    let directory = site.work().join("below");
    assert_eq!(text(&exit), format!("{}\nsh\n", directory.display()));
    assert_eq!(exit.stderr, b"err\n");
    let exit = one(&call, program("ls", &["-A", "."], "/workspace/below")).unwrap();
    assert_eq!(text(&exit), "file\n");
    for (command, error) in [
        (program("cat", &[], "/workspace"), ProcessError::Denied),
        (
            program("/bin/ls", &["-A"], "/workspace"),
            ProcessError::Denied,
        ),
        (
            program("ls", &["-l"], "/workspace"),
            ProcessError::ArgumentsDenied,
        ),
        (program("ls", &["-A"], "/os"), ProcessError::DirectoryDenied),
        (
            program("ls", &["-A"], "/workspace/none"),
            ProcessError::NoDirectory,
        ),
        (
            program("ls", &["-A"], "/workspace/below/file"),
            ProcessError::NotDirectory,
        ),
        (
            program("ls", &["-A"], "workspace"),
            ProcessError::NoDirectory,
        ),
        (
            program("no-such-program-anywhere", &[], "/workspace"),
            ProcessError::NotFound,
        ),
        (
            program("ls", &["-A", "a\0b"], "/workspace"),
            ProcessError::InvalidRequest,
        ),
        (
            program("ls", &["-A"; 256], "/workspace"),
            ProcessError::InvalidRequest,
        ),
        (
            program("ls", &["-A", &"x".repeat(131_072)], "/workspace"),
            ProcessError::InvalidRequest,
        ),
    ] {
        assert_eq!(one(&call, command.clone()), Err(error), "{command:?}");
    }
    let jailed = PROGRAMS.replace("  jail: {process: unjailed}\n", "");
    let call = crate::testing::call(site.grant(&[], &jailed));
    let answer = one(&call, program("ls", &["-A"], "/workspace/none"));
    assert_eq!(answer, Err(ProcessError::Unconfined));
}

#[test]
fn ten_tools_at_a_time_and_answers_in_order() {
    let site = Site::new();
    for number in 0..12 {
        let script = format!("#!/bin/sh\nsleep 0.25\necho {number}\n");
        write(&site.os().join(number.to_string()), &script, 0o755);
    }
    let call = call(site.grant(&[], UNJAILED));
    let commands = (0..12).map(|number| described(&format!("/os/{number}"), "os://a.md"));
    let started = Instant::now();
    let exits = run(&call, commands.collect()).unwrap();
    for (number, exit) in exits.into_iter().enumerate() {
        assert_eq!(text(&exit.unwrap()), format!("{number}\n"));
    }
    let took = started.elapsed();
    assert!((500..2500).contains(&took.as_millis()), "{took:?}");
}
