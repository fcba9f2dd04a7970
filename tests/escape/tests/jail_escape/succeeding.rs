//! Two programs in turn in one jail (`Launcher::start_several`): the first leaves nothing that the second finds.

use std::io::Read;
use std::os::fd::OwnedFd;

use hydrant_jail::{
    How, Idle, InsidePath, Jailed, Launcher, Plan, Removed, StartError, Streams, Turn,
};

use crate::escape::report;
use crate::host::{Host, Side};
use crate::inside::{Ended, Shape, Stdin, exited, in_jail, outside, plan};

/// Where the second program finds what the first one left.
enum Control {
    /// Outside, with these words for both.
    Outside(&'static str),
    /// In the same jail without these layers.
    Without(&'static [Removed]),
    /// In a jail that has such a thing. That the first program cannot make one is shown by rows of other files.
    Seen(&'static str),
}

/// Something that `leave_NAME` leaves and `meet_NAME` does not find, both with the same words.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    words: &'static str,
    /// What the second one says then.
    stopped: &'static str,
    control: Control,
}

pub(crate) const ALL: &[Pair] = &[
    Pair {
        name: "process",
        words: "",
        stopped: "nobody",
        control: Control::Outside(""),
    },
    Pair {
        name: "file",
        words: "/ /tmp /run /dev /dev/shm /etc /proc /usr /var/tmp",
        stopped: "nothing",
        control: Control::Outside("{tmp}"),
    },
    Pair {
        name: "socket",
        words: "",
        stopped: "EPERM",
        control: Control::Outside(""),
    },
    Pair {
        name: "mount",
        words: "/etc",
        stopped: "not mounted",
        control: Control::Seen("meet_mount /tmp"),
    },
    Pair {
        name: "priority",
        words: "1",
        stopped: "as before",
        control: Control::Without(&[Removed::Seccomp]),
    },
];

fn check(name: &str) {
    let pair = ALL.iter().find(|pair| pair.name == name).unwrap();
    let words = pair.words;
    let host = Host::new();
    let ended = in_turn(&host, name, words, &[]);
    assert!(
        matches!(&ended, Ended::Stopped(by) if by == pair.stopped),
        "{name}: {ended:?}, and not stopped by {}",
        pair.stopped
    );
    host.assert_unharmed();
    let host = Host::new();
    let ended = match pair.control {
        Control::Outside(words) => {
            let alone = |verb| {
                let attempt = format!("{verb}_{name} {words}");
                outside(&host, &attempt, None, Stdin::Nothing)
            };
            alone("leave");
            alone("meet")
        }
        Control::Without(layers) => in_turn(&host, name, words, layers),
        Control::Seen(attempt) => in_jail(&host, attempt, Shape::Plain, &[]),
    };
    match ended {
        Ended::Escaped(_) => {}
        Ended::Untried(why) => report(&format!("no control: {name}: {why}")),
        Ended::Stopped(by) => panic!("the control of `{name}` was stopped by {by}"),
    }
}

/// `leave_NAME`, and after it `meet_NAME`, whose end it is.
fn in_turn(host: &Host, name: &str, words: &str, without: &[Removed]) -> Ended {
    let words = |verb| host.words(&format!("{verb}_{name} {words}"), Side::Inside);
    let plan = Plan {
        mounts: Vec::new(),
        scratch: Vec::new(),
        directory: InsidePath::new("/").unwrap(),
        ..plan(host, words("leave"), Shape::Plain, without)
    };
    let turn = Turn {
        program: None,
        pins: vec![],
        arguments: std::iter::once("attempt".to_owned())
            .chain(words("meet"))
            .map(Into::into)
            .collect(),
        environment: plan.environment.clone(),
        wall: plan.limits.wall,
    };
    let launcher = Launcher::at(env!("CARGO_BIN_EXE_launcher"));
    let (first, idle) = to_end(|streams| launcher.start_several(plan, vec![], streams));
    assert_eq!(first, Ended::Stopped("left".to_owned()));
    let idle = idle.expect("a jail that is kept");
    to_end(|streams| idle.start(turn, streams)).0
}

fn to_end(start: impl FnOnce(Streams) -> Result<Jailed, StartError>) -> (Ended, Option<Idle>) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let streams = Streams {
        stdout: Some(OwnedFd::from(writer)),
        ..Streams::default()
    };
    let jailed = match start(streams) {
        Ok(jailed) => jailed,
        Err(error) => return (Ended::Untried(error.to_string()), None),
    };
    let (ended, idle) = match jailed.finish() {
        Ok(finished) => (finished.ended, finished.idle),
        Err(error) => return (Ended::Untried(format!("{error:?}")), None),
    };
    let mut output = Vec::new();
    // What was left behind without a pid namespace may hold the other end.
    rustix::io::ioctl_fionbio(&reader, true).unwrap();
    let _ = reader.read_to_end(&mut output);
    let ended = match ended.how {
        How::Exited(status) => exited(i32::from(status), &output),
        other => Ended::Stopped(format!("{other:?}")),
    };
    (ended, idle)
}

#[test]
fn a_process_ends_before_the_next_program() {
    check("process");
}

#[test]
fn no_directory_takes_a_file_for_the_next_program() {
    check("file");
}

#[test]
fn no_socket_waits_for_the_next_program() {
    check("socket");
}

#[test]
fn no_mount_is_made_for_the_next_program() {
    check("mount");
}

#[test]
fn the_next_program_is_not_slowed_down() {
    check("priority");
}

#[test]
fn what_could_be_left_to_the_next_program_is_refused() {
    let host = Host::new();
    for shape in [Shape::Plain, Shape::Relay, Shape::Socket] {
        let whole = plan(&host, Vec::new(), shape, &[]);
        let narrow = |plan: Plan| Plan {
            mounts: Vec::new(),
            scratch: Vec::new(),
            ..plan
        };
        let plan = if shape == Shape::Plain {
            whole
        } else {
            narrow(whole)
        };
        let launcher = Launcher::at(env!("CARGO_BIN_EXE_launcher"));
        let started = launcher.start_several(plan, vec![], Streams::default());
        assert!(matches!(started, Err(StartError::Refused(_))), "{shape:?}");
    }
}
