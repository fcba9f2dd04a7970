//! How a jail ends, and its exit status.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cell::Cell;

#[test]
fn the_exit_status_is_the_commands() {
    let cell = Cell::new();
    for (command, status) in [
        (vec!["true"], 0),
        (vec!["sh", "-c", "exit 3"], 3),
        (vec!["sh", "-c", "exit 255"], 255),
        (vec!["sh", "-c", "kill -TERM $$"], 143),
        (vec!["sh", "-c", "kill -KILL $$"], 137),
        (vec!["no-such-program"], 127),
        (vec!["./missing"], 127),
        (vec!["/etc/passwd"], 126),
        (vec!["/usr"], 126),
        (vec![""], 127),
    ] {
        let run = crate::program::Run::of(&mut cell.command(&[], &command));
        assert_eq!(run.status, status, "{command:?}: {}", run.stderr);
    }
}

#[test]
fn a_wrong_command_line_is_usage_and_no_jail_is_125() {
    let cell = Cell::new();
    assert_eq!(cell.folder().run(&["jail"]).status, 2);
    assert_eq!(cell.folder().run(&["jail", "true"]).status, 2);
    assert_eq!(
        cell.folder()
            .run(&["jail", "--no-such", "--", "true"])
            .status,
        2
    );
    assert_eq!(cell.with(&["--policy", "missing.json"], "true").status, 125);
    // A jail in a jail would need what the jail forbids.
    let run =
        cell.sh("env -u HYDRANT_SOCKET HYDRANT_HOME=/tmp/h hydrant jail -- echo ran; echo $?");
    assert_eq!(run.stdout, "125\n", "{run:?}");
    assert!(run.stderr.contains("no jail: "), "{}", run.stderr);
}

#[test]
fn a_program_outside_of_the_jail_is_named() {
    let cell = Cell::new();
    cell.folder().put("bin/agent", "#!/bin/sh\n");
    let agent = cell.folder().path("bin/agent");
    std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = cell.command(&[], &["agent"]);
    command.env("PATH", agent.parent().unwrap());
    let run = crate::program::Run::of(&mut command);
    assert_eq!(run.status, 127);
    assert!(
        run.stderr.contains(agent.to_str().unwrap()),
        "{}",
        run.stderr
    );
}

#[test]
fn streams_are_the_callers() {
    let cell = Cell::new();
    let mut command = cell.command(&[], &["sh", "-c", "cat; echo error >&2"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = "x".repeat(1 << 20);
    let fed = text.clone();
    let feeding = std::thread::spawn(move || stdin.write_all(fed.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    assert_eq!(output.stdout, text.as_bytes());
    assert_eq!(output.stderr, b"error\n");
    // From a file, which may end in the middle of what the program reads.
    cell.folder().put("in", &text);
    let mut command = cell.command(&[], &["sh", "-c", "head -c 5; echo"]);
    command.stdin(std::fs::File::open(cell.folder().path("in")).unwrap());
    assert_eq!(command.output().unwrap().stdout, b"xxxxx\n");
}

#[test]
fn a_reader_that_goes_away_ends_the_program_and_closed_streams_are_none() {
    let cell = Cell::new();
    let mut command = cell.command(&[], &["sh", "-c", "yes"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    child
        .stdout
        .take()
        .unwrap()
        .read_exact(&mut [0; 2])
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    let script = "exec \"$0\" jail -- sh -c 'cat; echo to nobody; exit 4' <&- >&- 2>&-";
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", script, crate::program::program()])
        .env_clear()
        .env("HYDRANT_HOME", cell.folder().home());
    assert_eq!(shell.status().unwrap().code(), Some(4));
}

#[test]
fn a_signal_to_hydrant_ends_everything_in_the_jail() {
    let cell = Cell::new();
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let jail = cell.command(
            &["--workspace", "ws"],
            &[
                "sh",
                "-c",
                "trap '' TERM INT HUP; sleep 31.4159 & echo ready; wait",
            ],
        );
        // What started the tests may ignore them, as a shell does for what runs in the background.
        let mut command = std::process::Command::new("env");
        command
            .arg("--default-signal=TERM,INT,HUP")
            .arg(jail.get_program())
            .args(jail.get_args())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HYDRANT_HOME", cell.folder().home())
            .current_dir(cell.folder().path(""));
        // Its own group, so that nothing reaches the jail but by hydrant.
        let mut child = command
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut ready)
            .unwrap();
        let began = Instant::now();
        let id = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-s", signal, &id])
            .status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(128 + number), "{signal}");
        assert!(began.elapsed() < Duration::from_secs(5));
        // The pipe is at its end: nobody has it open any more.
        let mut rest = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        assert_eq!(rest, "");
    }
}

#[test]
fn a_signal_that_hydrant_was_started_to_ignore_ends_nothing() {
    let cell = Cell::new();
    let script = "trap '' HUP; exec \"$0\" jail -- sh -c 'echo ready; read x; exit 5'";
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", script, crate::program::program()])
        .env_clear()
        .env("HYDRANT_HOME", cell.folder().home());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut ready)
        .unwrap();
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-s", "HUP", &id])
        .status();
    assert!(kill.unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    child.stdin.take().unwrap().write_all(b"x\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn what_the_program_leaves_behind_ends_with_it() {
    let cell = Cell::new();
    let began = Instant::now();
    let run = cell.sh("(setsid sleep 60 &) ; sleep 60 & echo left");
    assert_eq!((run.status, run.stdout.as_str()), (0, "left\n"));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_killed_hydrant_leaves_no_process_and_no_socket() {
    let cell = Cell::new();
    let temporary = cell.folder().path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = cell.command(
        &["--workspace", "ws"],
        &["sh", "-c", "echo ready; sleep 60"],
    );
    command.env("TMPDIR", &temporary);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 6]).unwrap();
    let sockets = || {
        let found = crate::program::listing(&temporary);
        found
            .into_iter()
            .filter(|name| name.ends_with(".sock"))
            .count()
    };
    let until = Instant::now() + Duration::from_secs(5);
    while sockets() > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(sockets(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}

#[test]
fn parents_cannot_be_killed_from_inside() {
    let cell = Cell::new();
    let run = cell.python(
        &[],
        r#"
import signal
for process in 1, os.getppid(), -1:
    try: os.kill(process, signal.SIGKILL)
    except OSError as error: print(process, error.strerror)
for process in range(2, 12):
    if process != os.getpid():
        try: os.kill(process, signal.SIGKILL)
        except OSError: pass
print(call('fs.read_text', path='/workspace/a.txt').get('bytes_read'))
"#,
    );
    assert!(
        run.stdout.ends_with("\n17\n") || run.stdout == "17\n",
        "{run:?}"
    );
}

#[test]
fn a_long_name_of_the_temporary_directory_is_no_hindrance() {
    let cell = Cell::new();
    let long = cell.folder().path(&"t".repeat(120));
    std::fs::create_dir(&long).unwrap();
    let mut command = cell.command(
        &["--workspace", "ws"],
        &["hydrant", "run", "fs.read_text", r#"{"path":"a.txt"}"#],
    );
    command.env("TMPDIR", &long);
    let run = crate::program::Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(crate::program::listing(&long), Vec::<String>::new());
}
