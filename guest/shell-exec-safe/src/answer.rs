//! The response: how the program ended, and the first bytes of what it wrote.

use kit::SkillError;
use kit::cut::utf8_at_bytes;
use kit::host::process::{Ending, Exit};

/// `exit_code` of a program whose time was up, as `timeout(1)` has it.
const TIMED_OUT: u16 = 124;

/// What is added to a signal's number, as shells do.
const SIGNALED: u16 = 128;

/// Names of the signals from 1 on, by their numbers on Linux.
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

#[derive(serde::Serialize)]
struct Response {
    exit_code: u16,
    stdout: String,
    stderr: String,
    stdout_truncated: bool,
    stderr_truncated: bool,
    duration_ms: u32,
    signal: Option<String>,
    timed_out: bool,
}

/// The response about a program that ran, whatever its exit status.
pub(crate) fn write(exit: Exit, max_output_bytes: u32) -> Result<Vec<u8>, SkillError> {
    let (exit_code, signal) = match exit.ending {
        Ending::Exited(status) => (u16::from(status), None),
        Ending::Signaled(number) => (
            SIGNALED.saturating_add(u16::from(number)),
            Some(signal_name(number)),
        ),
        Ending::TimedOut => (TIMED_OUT, None),
    };
    let most = usize::try_from(max_output_bytes).unwrap_or(usize::MAX);
    let (stdout, stdout_truncated) = shown(exit.stdout, exit.stdout_truncated, most);
    let (stderr, stderr_truncated) = shown(exit.stderr, exit.stderr_truncated, most);
    let response = Response {
        exit_code,
        stdout,
        stderr,
        stdout_truncated,
        stderr_truncated,
        duration_ms: exit.duration_ms,
        signal,
        timed_out: exit.ending == Ending::TimedOut,
    };
    serde_json::to_vec(&response).map_err(|error| SkillError::new("internal", &error.to_string()))
}

fn signal_name(number: u8) -> String {
    usize::from(number)
        .checked_sub(1)
        .and_then(|index| SIGNALS.get(index))
        .map_or_else(|| format!("SIG{number}"), |name| (*name).to_owned())
}

/// Decodes what `most` bytes hold in whole characters, and says whether anything was left out.
fn shown(mut bytes: Vec<u8>, more: bool, most: usize) -> (String, bool) {
    let limit = bytes.len().min(most);
    if more && bytes.len() <= most {
        // A smaller limit of the host cut it: the sequence at its end may go on, and is left out then.
        bytes.push(0x80);
    }
    let kept = utf8_at_bytes(&bytes, limit);
    let text = String::from_utf8_lossy(kept).into_owned();
    (text, more || kept.len() < bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn signals_have_their_names() {
        for (number, name) in [
            (1, "SIGHUP"),
            (9, "SIGKILL"),
            (11, "SIGSEGV"),
            (15, "SIGTERM"),
        ] {
            assert_eq!(signal_name(number), name);
        }
        assert_eq!(signal_name(31), "SIGSYS");
        for number in [0, 32, 64, 255] {
            assert_eq!(signal_name(number), format!("SIG{number}"));
        }
    }

    #[test]
    fn output_is_cut_between_characters_and_then_decoded() {
        for (bytes, more, most, text, cut) in [
            ("aé".as_bytes(), false, 3, "aé", false),
            ("aé".as_bytes(), false, 2, "a", true),
            (b"a\xffb", false, 9, "a\u{FFFD}b", false),
            // What the program itself left unfinished is shown as such.
            (b"a\xe2\x82", false, 9, "a\u{FFFD}", false),
            // What a smaller limit of the host split is not.
            (b"a\xe2\x82", true, 9, "a", true),
            ("a€".as_bytes(), true, 9, "a€", true),
            (b"", true, 9, "", true),
        ] {
            let answer = shown(bytes.to_vec(), more, most);
            assert_eq!(answer, (text.to_owned(), cut), "{bytes:?} {most}");
        }
    }

    proptest! {
        #[test]
        fn valid_text_is_never_shown_with_replacements(text: String, most in 1..40_usize) {
            let (shown, cut) = shown(text.clone().into_bytes(), false, most);
            prop_assert!(text.starts_with(&shown) && shown.len() <= most);
            prop_assert_eq!(cut, shown.len() < text.len());
            prop_assert!(!cut || most - shown.len() <= 3);
        }
    }
}
