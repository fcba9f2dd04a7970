//! A jailed program at a terminal: it has one of its own, and can put nothing into the operator's (K-332, K-335).
//!
//! The terminal of the operator is made by a Python script, which starts hydrant in it and plays the operator.

use std::process::Command;

use serde_json::Value;

use crate::cell::Cell;

/// Runs `hydrant jail -- COMMAND` in a terminal of 77 columns; `keys` are typed one after the other, each when the text
/// before it has been seen. Answers what was shown, the exit status, and what the terminal has at its end for whoever
/// reads it next, with whether its settings are what they were.
fn at_terminal(cell: &Cell, command: &[&str], keys: &[(&str, &str)]) -> Value {
    const OPERATOR: &str = r#"
import fcntl, json, os, pty, select, struct, subprocess, sys, termios, time, tty
words, keys = json.loads(sys.argv[1]), json.loads(sys.argv[2])
outer, inner = pty.openpty()
fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack('HHHH', 22, 77, 0, 0))
before = termios.tcgetattr(inner)
def own():
    os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)
child = subprocess.Popen(words, stdin=inner, stdout=inner, stderr=inner, preexec_fn=own)
shown, seen, until = b'', 0, time.time() + 30
while time.time() < until:
    if select.select([outer], [], [], 0.05)[0]:
        shown += os.read(outer, 65536)
    if keys and keys[0][0].encode() in shown[seen:]:
        seen = len(shown)
        key = keys.pop(0)[1]
        if key == 'RESIZE':
            fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 99, 0, 0)); os.kill(child.pid, 28)
        else: os.write(outer, key.encode())
    elif child.poll() is not None and not select.select([outer], [], [], 0.2)[0]: break
status = child.poll()
if status is None: child.kill()
after = termios.tcgetattr(inner)
attributes = list(after); attributes[3] &= ~termios.ICANON; termios.tcsetattr(inner, termios.TCSANOW, attributes)
left = os.read(inner, 65536) if select.select([inner], [], [], 0.2)[0] else b''
print(json.dumps({'shown': shown.decode(errors='replace'), 'status': status, 'left': left.decode(errors='replace'),
                  'restored': before == after}))
"#;
    let jail = cell.command(&["--workspace", "ws"], command);
    let words: Vec<String> = std::iter::once(jail.get_program())
        .chain(jail.get_args())
        .map(|word| word.to_str().unwrap().to_owned())
        .collect();
    let mut operator = Command::new("/usr/bin/python3");
    operator
        .args(["-c", OPERATOR])
        .arg(serde_json::to_string(&words).unwrap())
        .arg(serde_json::to_string(keys).unwrap())
        .env_clear()
        .env("TERM", "xterm")
        .envs(
            jail.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(cell.folder().path(""));
    let output = operator.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn k_350_a_program_at_a_terminal_has_one_of_the_same_size() {
    let cell = Cell::new();
    let script = "stty size; test -t 0 && test -t 1 && test -t 2 && echo all; trap 'stty size' WINCH; echo ready; sleep 20 & wait; read x; echo got $x; read y; exit 5";
    let ended = at_terminal(
        &cell,
        &["bash", "-c", script],
        &[("ready", "RESIZE"), ("33 99", "word\n"), ("got", "\n")],
    );
    let shown = ended["shown"].as_str().unwrap();
    assert!(shown.contains("22 77\r\nall\r\n"), "{ended}");
    assert!(shown.contains("33 99"), "{ended}");
    assert_eq!(
        (&ended["status"], &ended["restored"]),
        (&5.into(), &true.into()),
        "{ended}"
    );
}

#[test]
fn k_350_keys_are_signals_in_the_jail_and_do_not_end_it() {
    let cell = Cell::new();
    let script = "trap 'echo interrupted' INT; echo ready; sleep 20; echo after; exit 6";
    let ended = at_terminal(&cell, &["bash", "-c", script], &[("ready", "\u{3}")]);
    assert!(
        ended["shown"]
            .as_str()
            .unwrap()
            .contains("interrupted\r\nafter"),
        "{ended}"
    );
    assert_eq!(ended["status"], 6, "{ended}");
}

#[test]
fn k_335_nothing_is_put_into_the_operators_terminal() {
    let cell = Cell::new();
    let script = r"
import fcntl, os, termios
for fd in 0, 1, 2:
    for request, argument in [(termios.TIOCSTI, b'x'), (0x541C, b'\x03'), (0x541D, b''), (0x5423, b'\0\0\0\0')]:
        try: fcntl.ioctl(fd, request, argument); print('done', hex(request))
        except OSError as error: print(error.strerror)
    os.fchmod(fd, 0o666)
# A terminal answers this with keys.
print('\033[c\033[6n', end='', flush=True)
try: open('/dev/tty')
except OSError as error: print('tty', error.strerror)
import tty; tty.setraw(0)
print('ready', flush=True)
import time; time.sleep(1)
";
    let ended = at_terminal(
        &cell,
        &["/usr/bin/python3", "-c", script],
        &[("ready", "rm -rf /\n")],
    );
    let shown = ended["shown"].as_str().unwrap();
    assert!(!shown.contains("done"), "{ended}");
    assert_eq!(
        shown.matches("Operation not permitted").count(),
        12,
        "{ended}"
    );
    assert_eq!(ended["left"], "", "{ended}");
    assert_eq!(
        (&ended["status"], &ended["restored"]),
        (&0.into(), &true.into()),
        "{ended}"
    );
}

#[test]
fn k_350_a_terminal_is_as_it_was_where_there_is_no_jail() {
    let cell = Cell::new();
    let ended = at_terminal(&cell, &["/workspace/missing"], &[]);
    assert_eq!(
        (&ended["status"], &ended["restored"]),
        (&127.into(), &true.into()),
        "{ended}"
    );
    let ended = at_terminal(&cell, &["no-such-program"], &[]);
    assert_eq!(
        (&ended["status"], &ended["restored"]),
        (&127.into(), &true.into()),
        "{ended}"
    );
}
