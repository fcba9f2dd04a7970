//! One attempt: how it is made, what stops it in the jail, and the control that shows that it is real.

use std::io::Write;
use std::time::{Duration, Instant};

use hydrant_jail::Removed;

use crate::host::Host;
use crate::inside::{Ended, Shape, Stdin, in_jail, outside};

/// Where the attempt succeeds, so that its failure in the jail means something.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Control {
    /// Outside, by whoever runs the tests.
    Outside,
    /// Outside, by root.
    Root,
    /// Outside, by an ordinary user that root becomes.
    Nobody,
    /// Outside, with a socket as stdin.
    Socket,
    /// Outside by root, with a terminal as stdin.
    Terminal,
    /// In the same jail without these layers.
    Without(&'static [Removed]),
    /// In a jail of another shape.
    In(Shape),
    /// This attempt is a second way to what another one tries.
    Nowhere(&'static str),
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Escape {
    pub(crate) test: &'static str,
    pub(crate) attempt: &'static str,
    pub(crate) shape: Shape,
    /// What stops it in the jail: names of errors or how the jail ends it, with `|` between them.
    pub(crate) stopped: &'static str,
    pub(crate) control: Control,
}

/// One test for each row: `name: "attempt and its words" in Shape, "what stops it", control;`
macro_rules! escapes {
    ($($test:ident: $attempt:literal in $shape:ident, $stopped:literal, $control:expr;)*) => {
        /// The rows of this file.
        pub(crate) const ALL: &[$crate::escape::Escape] = &[$($crate::escape::Escape {
            test: stringify!($test),
            attempt: $attempt,
            shape: $crate::inside::Shape::$shape,
            stopped: $stopped,
            control: $control,
        }),*];

        $(#[test]
        fn $test() {
            let all = ALL.iter().find(|escape| escape.test == stringify!($test));
            all.expect("a row of this name").check();
        })*
    };
}
pub(crate) use escapes;

/// When the file of one that outlives the call would be there.
const LATER: Duration = Duration::from_millis(900);

impl Escape {
    /// The attempt fails in the jail as the row says, the host is unharmed, and the control succeeds.
    pub(crate) fn check(&self) {
        let host = Host::new();
        let start = Instant::now();
        match self.try_in(&host, self.shape, &[]) {
            Ended::Stopped(by) if self.stopped.split('|').any(|expected| expected == by) => {}
            other => panic!(
                "{}: {other:?}, and not stopped by {}",
                self.attempt, self.stopped
            ),
        }
        assert!(
            start.elapsed() < Duration::from_secs(15),
            "{} took {:?}",
            self.attempt,
            start.elapsed()
        );
        host.assert_unharmed();
        drop(host);
        self.check_control();
    }

    /// Makes the attempt in a jail.
    pub(crate) fn try_in(&self, host: &Host, shape: Shape, without: &[Removed]) -> Ended {
        let ended = in_jail(host, self.attempt, shape, without);
        self.after(host, ended)
    }

    fn check_control(&self) {
        let host = Host::new();
        let at = |user, stdin| self.after(&host, outside(&host, self.attempt, user, stdin));
        let (ended, needs_root) = match self.control {
            Control::Outside => (at(None, Stdin::Nothing), false),
            Control::Root => (at(None, Stdin::Nothing), true),
            Control::Nobody if is_root() => (at(Some(65533), Stdin::Nothing), true),
            Control::Nobody => return self.report("only root can become an ordinary user"),
            Control::Socket => (at(None, Stdin::Socket), false),
            Control::Terminal => (at(None, Stdin::Terminal), true),
            Control::Without(layers) => (self.try_in(&host, self.shape, layers), false),
            Control::In(shape) => (self.try_in(&host, shape, &[]), false),
            Control::Nowhere(why) => return self.report(why),
        };
        match ended {
            Ended::Escaped(_) => {}
            Ended::Untried(why) => {
                self.report(&format!("this machine has nothing to try it with: {why}"));
            }
            Ended::Stopped(by) if needs_root && !is_root() => {
                self.report(&format!("only root may: {by}"));
            }
            Ended::Stopped(by) => match denied_by_this_machine(self.attempt) {
                Some(why) => self.report(&format!("{why}: {by}")),
                None => panic!(
                    "the control of `{}` ({:?}) was stopped by {by}",
                    self.attempt, self.control
                ),
            },
        }
    }

    /// For those that outlive the call, what a file says later counts, and not how it ended.
    fn after(&self, host: &Host, ended: Ended) -> Ended {
        if !self.attempt.contains("{rw}/later") || matches!(ended, Ended::Untried(_)) {
            return ended;
        }
        std::thread::sleep(LATER);
        if host.path("rw/later").exists() {
            Ended::Escaped("it lived on".to_owned())
        } else {
            match ended {
                Ended::Escaped(said) => Ended::Stopped(said),
                other => other,
            }
        }
    }

    fn report(&self, why: &str) {
        report(&format!(
            "no control: {} ({}): {why}",
            self.test, self.attempt
        ));
    }
}

/// Says what a test could not show, past the capture of output that hides it in a test that passes.
pub(crate) fn report(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Settings of a machine that deny to everybody what a control does.
fn denied_by_this_machine(attempt: &str) -> Option<&'static str> {
    let setting = |path: &str| {
        std::fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let name = attempt.split(' ').next().unwrap_or_default();
    match name {
        "socket" if attempt.ends_with("2 2 1") => (setting("/proc/sys/net/ipv4/ping_group_range")
            == "1\t0")
            .then_some("ping_group_range is empty"),
        "io_uring" => {
            (setting("/proc/sys/kernel/io_uring_disabled") != "0").then_some("io_uring_disabled")
        }
        "ptrace_attach"
        | "ptrace_seize"
        | "read_process_memory"
        | "take_descriptor"
        | "compare_processes" => {
            let scope = setting("/proc/sys/kernel/yama/ptrace_scope");
            (!matches!(scope.as_str(), "" | "0")).then_some("yama/ptrace_scope")
        }
        "open_for_writing" | "read_proc_file" => {
            let there = attempt
                .split(' ')
                .skip(1)
                .any(|path| std::path::Path::new(path).exists());
            (!there).then_some("this kernel has no such file")
        }
        "bpf" | "perf_event" | "userfaultfd" | "kernel_log" if !is_root() => {
            Some("denied to ordinary users here")
        }
        "unshare" | "clone" | "clone3" | "write_id_map" if !is_root() => {
            Some("no user namespaces for ordinary users")
        }
        _ => None,
    }
}
