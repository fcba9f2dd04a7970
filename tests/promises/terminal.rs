//! A program in the jail and the terminal.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::machine::Machine;

/// An operator who starts the words at a terminal, as a shell does, and says what was shown, what is left for the shell to
/// read, and whether the terminal is still that of the session.
const OPERATOR: &str = r"
import fcntl, json, os, pty, select, subprocess, sys, termios, time
words = json.loads(sys.argv[1])
outer, inner = pty.openpty()
before = termios.tcgetattr(inner)
def own():
    os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)
child = subprocess.Popen(words, stdin=inner, stdout=inner, stderr=inner, preexec_fn=own)
shown, until = b'', time.time() + 60
while time.time() < until:
    if select.select([outer], [], [], 0.05)[0]: shown += os.read(outer, 65536)
    elif child.poll() is not None: break
child.kill()
attributes = termios.tcgetattr(inner)
restored = attributes == before
attributes[3] &= ~termios.ICANON
termios.tcsetattr(inner, termios.TCSANOW, attributes)
left = os.read(inner, 65536).decode() if select.select([inner], [], [], 0.2)[0] else ''
print(json.dumps({'shown': shown.decode(errors='replace'), 'left': left, 'restored': restored, 'terminal': os.ttyname(inner)}))
";

/// What a program tries at the terminal that it was given; prints what worked.
const ATTEMPTS: &str = r"
import fcntl, os, sys, termios
def attempt(name, what):
    try: print('DONE', name, what() or '')
    except (OSError, termios.error) as error: print('refused', name, error.strerror if isinstance(error, OSError) else error)
for fd in 0, 1, 2:
    attempt(f'TIOCSTI {fd}', lambda: fcntl.ioctl(fd, termios.TIOCSTI, b'x') and None)
    attempt(f'TIOCSCTTY {fd}', lambda: fcntl.ioctl(fd, termios.TIOCSCTTY, 1) and None)
attempt('/dev/tty', lambda: open('/dev/tty').close())
child = os.fork()
if not child:
    os.setsid()
    attempt('TIOCSCTTY of another session', lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 1) and None)
    os._exit(0)
os.waitpid(child, 0)
print('session', 'own' if os.getsid(0) == os.getpid() else 'shared')
";

fn at_terminal(command: &Command) -> Value {
    let words: Vec<&str> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_str().unwrap())
        .collect();
    let mut operator = Command::new("/usr/bin/python3");
    operator
        .args(["-c", OPERATOR, &json!(words).to_string()])
        .env("TERM", "xterm");
    operator.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    operator.current_dir(command.get_current_dir().unwrap());
    let output = operator.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_jailed_agent_takes_nothing_of_the_operators_terminal() {
    let machine = Machine::new();
    let jail = machine.command(&["jail", "--", "/usr/bin/python3", "-c", ATTEMPTS]);
    let ended = at_terminal(&jail);
    let shown = ended["shown"].as_str().unwrap();
    assert!(shown.contains("session own"), "{ended}");
    assert!(!shown.contains("DONE"), "{ended}");
    assert_eq!(
        (&ended["left"], &ended["restored"]),
        (&json!(""), &json!(true)),
        "{ended}"
    );

    // The control: without the jail it is the operator's own.
    let mut outside = Command::new("/usr/bin/python3");
    outside.args(["-c", ATTEMPTS]).current_dir(machine.work());
    let ended = at_terminal(&outside);
    let shown = ended["shown"].as_str().unwrap();
    assert!(
        shown.contains("DONE /dev/tty") && shown.contains("DONE TIOCSCTTY 0"),
        "{ended}"
    );
}

#[test]
fn a_program_of_a_skill_has_no_terminal_at_all() {
    let machine = Machine::new();
    for jail in ["required", "unjailed"] {
        let script = "import os, sys\nprint([os.isatty(fd) for fd in (0, 1, 2)])\ntry: open('/dev/tty'); print('TTY')\nexcept OSError: print('none')";
        let policy = json!({
            "version": 1, "trusted_signers": ["hydrant.build", "hydrant.release"],
            "capability_ceiling": {"fs": {"read": ["/workspace"]}, "exec": true},
            "host": {
                "mounts": [{"at": "/workspace", "dir": machine.work(), "mode": "ro"}],
                "process": [{"program": "/usr/bin/python3", "args": [["-c", script]], "cwd": ["/workspace"]}],
                "jail": {"process": jail},
            },
        });
        let file = machine.home().join("policy.json");
        fs::write(&file, policy.to_string()).unwrap();
        let request = json!({"argv": ["python3", "-c", script]}).to_string();
        let run = machine.command(&[
            "run",
            "shell.exec_safe",
            &request,
            "--policy",
            file.to_str().unwrap(),
        ]);
        let ended = at_terminal(&run);
        let shown = ended["shown"].as_str().unwrap();
        assert!(
            shown.contains("[False, False, False]")
                && shown.contains("none")
                && !shown.contains("TTY"),
            "{jail}: {ended}"
        );
    }
}
