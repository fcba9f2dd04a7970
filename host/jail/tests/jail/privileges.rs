//! What a program is, and may not be.

use std::fs;

use hydrant_jail::{How, Launcher};

use crate::support::{run, script};

#[test]
fn the_jail_has_one_user_who_is_nobody() {
    let ran = run(script(
        "id -u; id -g; cat /proc/self/uid_map /proc/self/setgroups; hostname newname || echo no",
    ));
    let words: Vec<_> = ran.output.split_whitespace().collect();
    assert_eq!(
        (words[0], words[1], words[2], words[4], words[5]),
        ("65534", "65534", "65534", "1", "deny")
    );
    assert_eq!(words.last(), Some(&"no"));
}

#[test]
fn inherited_descriptors_are_closed() {
    let held = fs::File::open("/etc/hosts").unwrap();
    // Without `O_CLOEXEC`, as a careless library would.
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
    let ran = run(script(
        "for f in /proc/self/fd/*; do echo ${f##*/}; done | sort -n | tail -1",
    ));
    // The shell's own descriptor for reading the directory may be there, and 0 to 2.
    assert!(
        ran.output.trim().parse::<u32>().unwrap() <= 3,
        "{}",
        ran.output
    );
}

#[test]
fn there_are_no_privileges() {
    let ran = run(script(
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status",
    ));
    let values: Vec<_> = ran.output.split_whitespace().skip(1).step_by(2).collect();
    assert_eq!(values[..5], ["0000000000000000"; 5]);
    assert_eq!(values[5..], ["1", "2"]);
}

#[test]
fn signals_do_not_leave_the_jail() {
    // To its group, to everybody, to init, to the launcher's number.
    let ran = run(script(
        "trap '' TERM; kill -TERM 0; kill -TERM 1; kill -KILL 1; kill -TERM -1; echo alive",
    ));
    assert_eq!(ran.how, How::Exited(0));
    assert!(ran.output.ends_with("alive\n"), "{}", ran.output);
}

#[test]
fn all_layers_hold_here() {
    let layers = hydrant_jail::layers(
        &Launcher::at(env!("CARGO_BIN_EXE_jail-try")),
        &["/site".into()],
    );
    let names: Vec<_> = layers.iter().map(|layer| layer.name.as_str()).collect();
    let expected = [
        "userns",
        "mount",
        "pid",
        "net",
        "privileges",
        "landlock",
        "seccomp",
        "rlimits",
        "memory",
        "egress",
    ];
    assert_eq!(names, expected, "{layers:?}");
    assert!(
        layers
            .iter()
            .all(|layer| layer.state == hydrant_jail::LayerState::Ok),
        "{layers:?}"
    );
}
