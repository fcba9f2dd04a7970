//! Two programs in turn in one jail (`Launcher::start_several`): the first leaves nothing that the second finds.

use std::io::Read;
use std::os::fd::OwnedFd;

use hydrant_jail::{
    How, Idle, InsidePath, Jailed, Launcher, Plan, Removed, StartError, Streams, Turn,
};

use crate::escape::report;
use crate::host::{Host, Side};
use crate::inside::{Ended, Shape, Stdin, exited, outside, plan};

/// Where the second program finds what the first one left.
enum Control {
    /// Outside, with these words for both.
    Outside(&'static str),
    /// In the same jail without these layers.
    Without(&'static [Removed]),
}

/// What `leave_NAME` leaves, `meet_NAME` does not find, both with the same words.
fn check(name: &str, words: &str, stopped: &str, control: &Control) {
    let host = Host::new();
    let ended = in_turn(&host, name, words, &[]);
    assert!(
        matches!(&ended, Ended::Stopped(by) if by == stopped),
        "{name}: {ended:?}, and not stopped by {stopped}"
    );
    host.assert_unharmed();
    let host = Host::new();
    let ended = match control {
        Control::Outside(words) => {
            outside(
                &host,
                &format!("leave_{name} {words}"),
                None,
                Stdin::Nothing,
            );
            outside(&host, &format!("meet_{name} {words}"), None, Stdin::Nothing)
        }
        Control::Without(layers) => in_turn(&host, name, words, layers),
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
        arguments: std::iter::once("attempt".to_owned())
            .chain(words("meet"))
            .map(Into::into)
            .collect(),
        environment: plan.environment.clone(),
        wall: plan.limits.wall,
    };
    let launcher = Launcher::at(env!("CARGO_BIN_EXE_launcher"));
    let (first, idle) = to_end(|streams| launcher.start_several(plan, streams));
    assert_eq!(first, Ended::Stopped("left".to_owned()));
    let idle = idle.expect("a jail that is kept");
    to_end(|streams| idle.start(&turn, streams)).0
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
        Ok(finished) => finished,
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
fn k_338_a_process_ends_before_the_next_program() {
    check("process", "", "nobody", &Control::Outside(""));
}

#[test]
fn k_330_no_directory_takes_a_file_for_the_next_program() {
    let directories = "/ /tmp /run /dev /dev/shm /etc /proc /usr /var/tmp";
    check("file", directories, "nothing", &Control::Outside("{tmp}"));
}

#[test]
fn k_335_no_socket_waits_for_the_next_program() {
    check("socket", "", "EPERM", &Control::Outside(""));
}

#[test]
fn k_332_no_mount_is_made_for_the_next_program() {
    let layers = &[Removed::Privileges, Removed::Landlock, Removed::Seccomp];
    check("mount", "/etc", "not mounted", &Control::Without(layers));
}

#[test]
fn k_335_the_next_program_is_not_slowed_down() {
    let control = Control::Without(&[Removed::Seccomp]);
    check("priority", "1", "as before", &control);
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
        let started = launcher.start_several(plan, Streams::default());
        assert!(matches!(started, Err(StartError::Refused(_))), "{shape:?}");
    }
}
