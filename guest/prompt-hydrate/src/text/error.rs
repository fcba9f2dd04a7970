//! Error lines, traces and log lines: how they look, so that they can be set apart and quoted.

/// Whether a line opens a stack trace or is an error line of a tool.
#[must_use]
pub fn opens_trace(line: &str) -> bool {
    let text = line.trim();
    text.starts_with("Traceback (most recent call last)")
        || text.starts_with("stack backtrace:")
        || text.starts_with("goroutine ")
        || text.starts_with("Exception in thread")
        || text.starts_with("Caused by:")
        || text.starts_with("npm ERR!")
        || text.starts_with("panic: ")
        || (text.starts_with("thread '") && text.contains("panicked at"))
        || text.starts_with("error[E")
        || text.starts_with("FAILED ")
        || text.starts_with("fatal: ")
        || frame(text)
        || exception(text)
        || tool_error(text)
}

/// Whether a line after the first belongs to the trace.
#[must_use]
pub fn trace_continues(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty()
        && (line.starts_with([' ', '\t', '|', '^', '~'])
            || opens_trace(line)
            || text.starts_with("note: ")
            || text.starts_with("help: ")
            || text.starts_with("-->")
            || text.starts_with("... ")
            || text.starts_with("assertion `")
            || text.starts_with("[signal ")
            || text.starts_with("created by ")
            || (text.ends_with(')') && text.contains('(') && !text.contains(' '))
            || text.starts_with("E  "))
}

/// A pasted line and the order that somebody wrote behind it, after a dash.
#[must_use]
pub fn with_order(line: &str) -> Option<(&str, &str)> {
    [" - ", " -- ", " – ", " — "].iter().find_map(|dash| {
        let (head, tail) = line.rsplit_once(dash)?;
        let first = tail.split_whitespace().next()?.to_lowercase();
        super::token::listed(ORDERS, &first).then_some((head, tail))
    })
}

/// Words that open an order about an error.
const ORDERS: &str = "can catch change correct could find fix handle help ignore investigate look make please prevent repair resolve silence";

/// A frame of a stack: `at f (x.js:1:2)`, `File "x", line 1`, ` --> src/x.rs:1:2`.
fn frame(text: &str) -> bool {
    (text.starts_with("at ")
        && text.ends_with([')', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && text.contains(':'))
        || (text.starts_with("File \"") && text.contains("\", line "))
        || (text.starts_with("--> ") && text.contains(':'))
}

/// `NameError: …`: a type that ends so, at the start of the line.
fn exception(text: &str) -> bool {
    let Some((head, _)) = text.split_once(':') else {
        return false;
    };
    // A type with its module, as Python and Java print it, needs no such ending.
    let qualified = head.matches('.').count() > 1 && !head.contains(['/', ' ']);
    let head = head.rsplit('.').next().unwrap_or(head);
    head.len() > 5
        && head.starts_with(|letter: char| letter.is_ascii_uppercase())
        && head
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && (head.ends_with("Error") || head.ends_with("Exception") || qualified)
}

/// `error: …`, `ERROR …`, `x.c:1:2: error: …` with something after it.
fn tool_error(text: &str) -> bool {
    let starts = [
        "error: ",
        "Error: ",
        "ERROR: ",
        "ERROR ",
        "[ERROR]",
        "[error]",
        "FATAL: ",
        "Fatal error: ",
        "fatal error: ",
        "E: ",
    ];
    starts
        .iter()
        .any(|start| text.starts_with(start) && text.len() > start.len() + 3 && !spoken(text))
        || text
            .find(": error: ")
            .is_some_and(|at| !text.get(..at).unwrap_or_default().contains(' '))
}

/// All in capitals, a prompt is still spoken: "ERROR ON LOGIN, PLEASE FIX".
fn spoken(text: &str) -> bool {
    !text.contains(':') && !text.chars().any(char::is_lowercase)
}

/// A line of a log: it starts with a time stamp, or a level in capitals.
#[must_use]
pub fn log_line(text: &str) -> bool {
    let text = text.trim_start_matches('[');
    let shape: String = text
        .chars()
        .take(16)
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect();
    let stamped = shape.starts_with("0000-00-00T0")
        || shape.starts_with("0000-00-00 00:00")
        || shape.starts_with("0000/00/00 00:00")
        || shape.starts_with("00:00:00")
        || shape
            .get(3..)
            .is_some_and(|rest| rest.starts_with(" 00 00:00") || rest.starts_with("  0 00:00"));
    let levelled = [
        "INFO ", "WARN ", "WARNING ", "DEBUG ", "TRACE ", "INFO:", "WARN:", "WARNING:", "DEBUG:",
        "INFO]", "WARN]", "DEBUG]", "ERROR]",
    ]
    .iter()
    .any(|level| text.starts_with(level))
        && text.chars().any(char::is_lowercase);
    stamped || levelled
}

/// Words of which at least one is in a quoted message that reports an error.
const MESSAGE_WORDS: [&str; 29] = [
    "cannot",
    "could not",
    "denied",
    "error",
    "exception",
    "exceeded",
    "expected",
    "failed",
    "fatal",
    "forbidden",
    "invalid",
    "missing",
    "no such",
    "not a ",
    "not found",
    "null",
    "overflow",
    "panicked",
    "refused",
    "reset by peer",
    "timed out",
    "timeout",
    "unable",
    "unauthorized",
    "undefined",
    "unexpected",
    "unknown",
    "unreachable",
    "unresolved",
];

/// Whether quoted text is the wording of an error.
#[must_use]
pub fn message(quoted: &str) -> bool {
    let lower = quoted.to_lowercase();
    lower.split_whitespace().count() > 1 && MESSAGE_WORDS.iter().any(|word| lower.contains(word))
}

/// The error in a line that may hold words before it, from where the error starts.
#[must_use]
pub fn within(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("Traceback (most recent")
        || line.starts_with("stack backtrace")
        || frame(line)
    {
        return None;
    }
    if line.contains("panicked at") || exception(line) || tool_error(line) {
        return Some(line);
    }
    for mark in [
        "error[E",
        "error: ",
        "Error: ",
        "ERROR: ",
        "fatal: ",
        "panic: ",
        "npm ERR! ",
        "FAILED ",
        "Exception: ",
        "FATAL: ",
    ] {
        if let Some(at) = line.find(mark) {
            // The type's whole name: "java.lang.IllegalStateException: …".
            let start = line
                .get(..at)
                .and_then(|head| head.rfind(char::is_whitespace).map(|space| space + 1))
                .unwrap_or_default();
            let found = line.get(start..).unwrap_or(line);
            if found.len() > mark.len() + 2 {
                return Some(found);
            }
        }
    }
    // "… ERROR worker 3 died" of a log.
    if log_line(line)
        && (line.contains("ERROR") || line.contains("FATAL") || line.contains("CRITICAL"))
    {
        return Some(line);
    }
    // A name such as `TypeError` in a sentence.
    line.split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .find(|word| {
            (word.ends_with("Error") && word.len() > 5
                || word.ends_with("Exception") && word.len() > 9)
                && word.starts_with(|letter: char| letter.is_ascii_uppercase())
        })
}

/// The first error line of a text.
#[must_use]
pub fn first(text: &str) -> Option<String> {
    text.lines().find_map(within).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_line_is_found_and_a_frame_is_none() {
        let trace = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: 'a'\n";
        assert_eq!(first(trace).as_deref(), Some("KeyError: 'a'"));
        assert_eq!(
            first("it says error: no such table users").as_deref(),
            Some("error: no such table users")
        );
        assert_eq!(first("fix the type error in parser.py"), None);
        assert_eq!(
            first("I get a TypeError when saving").as_deref(),
            Some("TypeError")
        );
        assert_eq!(
            first("thread 'main' panicked at src/x.rs:3:5:\nboom").as_deref(),
            Some("thread 'main' panicked at src/x.rs:3:5:")
        );
    }
}
