//! Sections of the file: fences that hold what they fence, and budgets over all that is rendered.

use crate::redact;
use crate::request::{Codebase, Memory};
use crate::session::{Facts, render};

/// What stands in a section without content.
const NONE: &str = "(none)";

/// Characters of a memory passage and of its source that are looked at.
const PASSAGE_CHARS: usize = 4_000;
const SOURCE_CHARS: usize = 200;

/// Files that are named.
const MAX_FILES: usize = 8;
const REASON_CHARS: usize = 80;

/// A gathered section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Heading, fence and text, without a final line feed.
    pub section: String,
    /// The lines in it, without `- `.
    pub lines: Vec<String>,
}

/// `ceil(chars / 4)`
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// Text in a fence of backticks that is longer than each run of them inside.
pub(super) fn fenced(text: &str, info: &str, least: usize) -> String {
    let mut longest = 0_usize;
    let mut run = 0_usize;
    for byte in text.bytes() {
        run = if byte == b'`' {
            run.saturating_add(1)
        } else {
            0
        };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.saturating_add(1).max(least));
    format!("{fence}{info}\n{text}\n{fence}")
}

pub(super) fn section(heading: &str, text: &str) -> String {
    let text = if text.is_empty() { NONE } else { text };
    format!("## {heading}\n\n{text}")
}

fn gathered(heading: &str, text: &str) -> String {
    if text.is_empty() {
        section(heading, "")
    } else {
        section(heading, &fenced(text, "text", 3))
    }
}

/// `## Session Context`
#[must_use]
pub fn session_section(facts: &Facts, prompt: &str, budget: usize) -> Rendered {
    let heading = "Session Context";
    let text = render(facts, prompt, |text| {
        tokens(&gathered(heading, text)) <= budget
    });
    Rendered {
        section: gathered(heading, &text),
        lines: text.lines().map(str::to_owned).collect(),
    }
}

/// `## Memory`: best first, whole lines, the first one cut if it alone is too long.
#[must_use]
pub fn memory_section(memory: &[Memory], budget: usize) -> Rendered {
    let heading = "Memory";
    let lines = memory.iter().filter_map(|passage| {
        let source = redact::excerpt(&passage.source, SOURCE_CHARS, "…");
        let text = redact::excerpt(&passage.text, PASSAGE_CHARS, "…");
        (!text.is_empty()).then(|| format!("{source}: {text}"))
    });
    let lines: Vec<String> = lines.take(budget.saturating_add(1)).collect();
    let mut kept = within(heading, &lines, budget);
    if let (true, Some(first)) = (kept.lines.is_empty(), lines.first()) {
        let frame = gathered(heading, "- …").chars().count();
        let room = budget.saturating_mul(4).saturating_sub(frame);
        if room > 0 {
            kept = within(heading, &[redact::cut(first, room, "…")], budget);
        }
    }
    kept
}

/// `## Codebase`: at most 8 files, whole lines.
#[must_use]
pub fn codebase_section(codebase: &Codebase, budget: usize) -> Rendered {
    let lines = codebase
        .files
        .iter()
        .filter(|file| is_printable(&file.path));
    let lines = lines.take(MAX_FILES).map(|file| {
        let reason = redact::excerpt(&file.reason, REASON_CHARS, "…");
        format!("`{}`: {reason}", file.path)
    });
    within("Codebase", &lines.collect::<Vec<_>>(), budget)
}

/// Whether a path is printed as it is: in one line, without a backtick, and no secret by its form. A path that had to be
/// changed would be a claim about another file.
pub(crate) fn is_printable(path: &str) -> bool {
    !path.is_empty() && !path.contains('`') && redact::one_line(path) == path
}

/// The most lines from the beginning that fit.
fn within(heading: &str, lines: &[String], budget: usize) -> Rendered {
    let mut text = String::new();
    let mut kept = Vec::new();
    for line in lines {
        let break_before = if text.is_empty() { "" } else { "\n" };
        let longer = format!("{text}{break_before}- {line}");
        if tokens(&gathered(heading, &longer)) > budget {
            break;
        }
        text = longer;
        kept.push(line.clone());
    }
    Rendered {
        section: gathered(heading, &text),
        lines: kept,
    }
}
