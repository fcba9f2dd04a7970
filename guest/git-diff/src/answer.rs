//! The response: whole lines of the diff.

use kit::SkillError;
use kit::host::process::Exit;

#[derive(serde::Serialize)]
struct Response<'a> {
    diff: &'a str,
    bytes: usize,
    truncated: bool,
}

/// The response about what git wrote, at most `max_bytes` of it.
pub(crate) fn write(exit: &Exit, max_bytes: u32) -> Result<Vec<u8>, SkillError> {
    let whole = if exit.stdout_truncated {
        // The line at the end may go on.
        whole_lines(&exit.stdout)
    } else {
        &exit.stdout
    };
    let text = String::from_utf8_lossy(whole);
    let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    // Decoding can make it longer, but takes no line end away.
    let diff = text
        .as_bytes()
        .get(..most)
        .map(|kept| whole_lines(kept).len())
        .and_then(|end| text.get(..end))
        .unwrap_or(&text);
    let response = Response {
        diff,
        bytes: diff.len(),
        truncated: exit.stdout_truncated || diff.len() < text.len(),
    };
    kit::json::response(&response)
}

/// The longest beginning that ends with a line feed, or nothing.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    end.and_then(|end| bytes.get(..=end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::host::process::Ending;
    use proptest::prelude::*;

    fn answer(stdout: &[u8], stdout_truncated: bool, most: u32) -> serde_json::Value {
        let exit = Exit {
            ending: Ending::Exited(0),
            stdout: stdout.to_vec(),
            stdout_truncated,
            stderr: Vec::new(),
            stderr_truncated: false,
            duration_ms: 1,
        };
        serde_json::from_slice(&write(&exit, most).unwrap()).unwrap()
    }

    #[test]
    fn the_diff_is_cut_to_whole_lines() {
        for (stdout, more, most, diff, truncated) in [
            (&b""[..], false, 9, "", false),
            (b"a\nbc\n", false, 5, "a\nbc\n", false),
            (b"a\nbc\n", false, 4, "a\n", true),
            (b"a\nbc\n", true, 9, "a\nbc\n", true),
            (b"a\nbc", true, 9, "a\n", true),
            (b"abc", true, 9, "", true),
            (b"abcdef\n", false, 3, "", true),
            // One byte becomes three.
            (b"a\n\xff\n", false, 4, "a\n", true),
            (b"a\n\xff\n", false, 6, "a\n\u{FFFD}\n", false),
            (b"a\r\nb\r\n", false, 3, "a\r\n", true),
        ] {
            let expected = serde_json::json!({
                "diff": diff, "bytes": diff.len(), "truncated": truncated,
            });
            assert_eq!(answer(stdout, more, most), expected, "{stdout:?} {most}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_whole_lines_within_the_limit(
            stdout in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..60),
            more: bool,
            most in 1..40_u32,
        ) {
            let answer = answer(&stdout, more, most);
            let diff = answer["diff"].as_str().unwrap();
            let all = String::from_utf8_lossy(&stdout);
            prop_assert!(diff.len() <= usize::try_from(most).unwrap());
            prop_assert!(all.starts_with(diff));
            prop_assert_eq!(answer["bytes"].as_u64().unwrap(), u64::try_from(diff.len()).unwrap());
            prop_assert!(diff.is_empty() || diff.ends_with('\n') || (!more && *diff == all));
            prop_assert_eq!(answer["truncated"].as_bool().unwrap(), more || *diff != all);
        }
    }
}
