//! Living on after the end of the call.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::escape::Control::Outside;
use crate::escape::escapes;
use crate::host::Host;
use crate::inside::{Shape, in_jail};

escapes! {
    an_orphan_ends_with_the_call: "orphan {rw}/later 500" in Plain, "the child lives on", Outside;
    a_double_fork_ends_with_the_call: "double_fork {rw}/later 500" in Plain, "the grandchild lives on", Outside;
    a_double_fork_ends_with_the_time: "double_fork_and_wait {rw}/later 900" in Hurried, "TimedOut", Outside;
    a_daemon_ends_with_the_call: "daemon {rw}/later 500" in Plain, "the daemon lives on", Outside;
    a_stopped_process_ends_with_the_call: "stopped_child {rw}/later 500" in Plain, "the stopped child lives on", Outside;
    a_double_fork_ends_beside_the_relay: "double_fork {rw}/later 500" in Relay, "the grandchild lives on", Outside;
}

/// The variable by which a test says to its helper that it is meant.
const HELPER: &str = "HYDRANT_JAIL_ESCAPE_HELPER";

/// Its control is that of `a_double_fork_ends_with_the_time`.
#[test]
fn everything_ends_with_a_host_that_is_killed() {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "outliving::a_host_to_be_killed",
            "--ignored",
            "--nocapture",
        ])
        .env(HELPER, "yes")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    // The first lines are the test runner's.
    let directory = lines
        .find_map(|line| {
            line.rsplit_once("directory ")
                .map(|(_, path)| path.to_owned())
        })
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    host.kill().unwrap();
    host.wait().unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    let lived_on = Path::new(&directory).join("rw/later").exists();
    // What the killed one could not.
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(!lived_on, "a process of the jail lived on after its host");
}

/// Not a test of its own: the process that the test above kills.
#[test]
#[ignore = "run by everything_ends_with_a_host_that_is_killed"]
fn a_host_to_be_killed() {
    if std::env::var_os(HELPER).is_none() {
        return;
    }
    let host = Host::new();
    println!("directory {}", host.path("").display());
    in_jail(
        &host,
        "double_fork_and_wait {rw}/later 900",
        Shape::Plain,
        &[],
    );
}
