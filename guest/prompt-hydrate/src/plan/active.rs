//! The `activeForm` of an item: 1 to 3 words.

use super::text::{capitalised, line};
use crate::cues::is_order;
use crate::text::token::listed;

/// Characters of an active form at most.
const MAX: usize = 40;
/// Verbs whose last letter is doubled.
const DOUBLED: &str = "commit cut drop get put run set split stop swap tag trim wrap zip";

/// The active form: what the step says, else its first word as a participle, else `Working`.
pub(super) fn form(given: Option<&str>, content: &str) -> String {
    let given = line(given.unwrap_or_default(), MAX - 1);
    let words: Vec<&str> = given.split_whitespace().take(3).collect();
    if !words.is_empty() {
        return capitalised(&words.join(" "));
    }
    let first = content.split(' ').next().unwrap_or_default().to_lowercase();
    if !is_order(&first) {
        return "Working".to_owned();
    }
    let stem = match first.strip_suffix('e') {
        Some(stem) if !first.ends_with("ee") => stem.to_owned(),
        _ if listed(DOUBLED, &first) => first.chars().chain(first.chars().last()).collect(),
        _ => first,
    };
    capitalised(&format!("{stem}ing"))
}
