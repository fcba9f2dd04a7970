//! TOML whose errors show no value: where a digest belongs, a token may stand.
//!
//! The parser's own messages quote the line that is wrong. Here are its number, its key and what is wrong with it, without
//! any word that could be a token.

use std::ops::Range;

use serde::de::DeserializeOwned;

/// Characters of the longest word that is no key and is shown all the same.
const MAX_WORD: usize = 15;
/// Characters of the longest key.
const MAX_KEY: usize = 24;
/// What stands for a word that is not shown.
const HIDDEN: &str = "[hidden]";

/// Reads a document.
///
/// # Errors
///
/// In words: the line, the key if the line has one, and what is wrong.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    toml::from_slice(bytes).map_err(|error| {
        let reason = shown(error.message());
        match error.span() {
            Some(span) => format!("{}: {reason}", place(bytes, &span)),
            None => reason,
        }
    })
}

/// `line 3`, or `line 3: rate`.
fn place(bytes: &[u8], span: &Range<usize>) -> String {
    let before = bytes.get(..span.start).unwrap_or(bytes);
    let line = before.split(|byte| *byte == b'\n').count();
    let text = bytes
        .split(|byte| *byte == b'\n')
        .nth(line.saturating_sub(1));
    let text = String::from_utf8_lossy(text.unwrap_or_default());
    match text.split_once('=').map(|(key, _)| key.trim()) {
        Some(key) if is_key(key) => format!("line {line}: {key}"),
        _ => format!("line {line}"),
    }
}

/// A message without the words that could be tokens.
fn shown(message: &str) -> String {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-+/=.~:".contains(c);
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let is_plain = word.len() <= MAX_WORD && !word.starts_with("hyd_");
        shown.push_str(if is_plain || is_key(word) {
            word
        } else {
            HIDDEN
        });
        let other = after.find(is_of_word).unwrap_or(after.len());
        let (others, next) = after.split_at_checked(other).unwrap_or((after, ""));
        // A message of several lines would look like several messages in a log.
        shown.extend(others.chars().map(|c| if c.is_control() { ' ' } else { c }));
        rest = next;
    }
    shown
}

fn is_key(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= MAX_KEY
        && !word.starts_with("hyd_")
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::config::Table;
    use crate::serve::tenants::{TenantsFile, new_token};

    #[test]
    fn an_error_names_line_and_key_and_never_shows_a_token() {
        let token = new_token().unwrap();
        let bare = token.strip_prefix("hyd_").unwrap();
        for token in [
            token.as_str(),
            bare,
            token.get(..16).unwrap(),
            "correct-horse-battery-staple",
        ] {
            for (text, said) in [
                (
                    format!("[[tenant]]\nname = \"a\"\ntoken_digests = [\"{token}\"]\n"),
                    "line 3: token_digests: ",
                ),
                (
                    format!("[[tenant]]\nname = \"a\"\nconcurrency = \"{token}\"\n"),
                    "line 3: concurrency: ",
                ),
                (
                    format!("[[tenant]]\nname = \"a\"\nprofile = \"{token}\"\n"),
                    "line 3: profile: ",
                ),
                (format!("[[tenant]]\n{token} = 1\n"), "line 2"),
                (format!("[[tenant]]\nname = {token}\n"), "line 2: name: "),
                (format!("[[tenant]]\nname = \"a\"\n{token}\n"), "line 3"),
                (
                    format!("[[tenant]]\nallow_private = [\"{token}\"]\n"),
                    "line 2: allow_private: ",
                ),
            ] {
                let error = parse::<TenantsFile>(text.as_bytes()).unwrap_err();
                assert!(error.starts_with(said), "{error}");
                assert!(!error.contains(token), "{error}");
                let quiet = token.get(4..12).unwrap();
                assert!(!error.contains(quiet), "{error}");
            }
            let text = format!("metrics_token_digests = [\"{token}\"]\n");
            let error = parse::<Table>(text.as_bytes()).unwrap_err();
            assert!(
                error.starts_with("line 1: metrics_token_digests: "),
                "{error}"
            );
            assert!(!error.contains(token), "{error}");
        }
        let error = parse::<TenantsFile>(b"[[tenant]]\nunknown_key = 1\n").unwrap_err();
        assert!(error.contains("unknown_key"), "{error}");
    }
}
