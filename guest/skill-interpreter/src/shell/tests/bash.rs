//! Words, compared with those of the real bash, where one is installed. What is compared has no substitution, no path and no
//! operator in it, so that nothing is run but `printf`.

use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::lowered;
use crate::draft::{DraftStage, Program, Template};

fn bash_words(text: &str) -> Option<Option<Vec<String>>> {
    let script = format!("set -f\nprintf '%s\\0' {text}\n");
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() || !output.stderr.is_empty() {
        return Some(None);
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words: Vec<String> = text.split('\0').map(str::to_owned).collect();
    words.pop();
    Some(Some(words))
}

fn our_words(text: &str) -> Option<Vec<String>> {
    let found = lowered(&format!("tool {text}\n"));
    match found.drafts.as_slice() {
        [draft] => match draft.plan.as_deref() {
            Ok([DraftStage::Sandbox(stage)]) => match &stage.program {
                Program::Argv(words) => words.iter().skip(1).map(Template::as_literal).collect(),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Where we read words, bash reads the same.
    #[test]
    fn words_are_those_of_bash(pieces in prop::collection::vec(prop::sample::select(vec![
        "a", "b c", "'", "\"", "\\", " ", "\t", "\\\n", "$'", "\\n", "\\x41", "\\101", "\\u00e9", "#", "=", ":", "-x",
        "é", "!", "%", "\\$", "\\\"", "''", "\"\"", "{x}", "@", ",", "\n",
    ]), 1..14)) {
        let text = pieces.concat();
        // More than one line is more than one command.
        if let (Some(ours), Some(theirs)) = (our_words(&text), bash_words(&text))
            && let Some(theirs) = theirs
        {
            // printf without an argument prints one empty word.
            let theirs = if ours.is_empty() && theirs == [""] { Vec::new() } else { theirs };
            prop_assert_eq!(ours, theirs, "{:?}", text);
        }
    }
}
