//! An operator at a terminal of 77 columns, which a Python script makes and in which it starts the program.

use std::process::Command;

use serde_json::Value;

/// Runs `command` there; `keys` are typed one after the other, each when the text before it has been seen. Answers what was
/// shown, the exit status, and what the terminal has at its end for whoever reads it next, with whether its settings are what
/// they were.
pub(crate) fn at_terminal(command: &Command, keys: &[(&str, &str)]) -> Value {
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
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
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
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    if let Some(directory) = command.get_current_dir() {
        operator.current_dir(directory);
    }
    let output = operator.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}
