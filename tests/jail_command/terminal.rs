//! A jailed program at a terminal: it has one of its own, and can put nothing into the operator's.

use serde_json::Value;

use crate::cell::Cell;
use crate::operator;

/// `hydrant jail -- COMMAND` at a terminal.
fn at_terminal(cell: &Cell, command: &[&str], keys: &[(&str, &str)]) -> Value {
    operator::at_terminal(&cell.command(&["--workspace", "ws"], command), keys)
}

#[test]
fn a_program_at_a_terminal_has_one_of_the_same_size() {
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
fn keys_are_signals_in_the_jail_and_do_not_end_it() {
    let cell = Cell::new();
    // Short sleeps: a key that comes while bash starts one would else be answered when that ends.
    let script = "trap 'echo interrupted; hit=1' INT; echo ready; while [ -z \"$hit\" ]; do sleep 0.1; done; echo after; exit 6";
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
fn nothing_is_put_into_the_operators_terminal() {
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
fn a_terminal_is_as_it_was_where_there_is_no_jail() {
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
