//! Why a document is `FETCH_FAILED` or `PARSE_ERROR`. RFC 0020 leaves no room beside the marker, so that the reason goes to the
//! host's debug log, by way of standard error.

/// Logs the reason for a document. Neither may hold control characters there.
#[allow(clippy::print_stderr, reason = "what a component logs")]
pub(crate) fn log(uri: &str, reason: &str) {
    let mut line: String = format!("{uri}: {reason}")
        .chars()
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect();
    line.push('\n');
    // One write, which is one call of the host.
    eprint!("{line}");
}
