//! What a prompt holds beside what the user says: fences, tool output, traces, logs, diffs.

use super::error;

/// Lines that open a block which ends at the next empty line.
static OUTPUT_MARKS: &[&str] = &["⎿", "●", "$ ", "> ", ">>> "];

/// What block the reader is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Main,
    Fence(char, usize),
    Output,
    Trace,
    Diff,
}

/// The user's own lines, and the stretches between them by kind.
#[must_use]
pub fn part(prompt: &str) -> (Vec<&str>, Vec<(&'static str, String)>) {
    let mut main = Vec::new();
    let mut pasted: Vec<(&'static str, String)> = Vec::new();
    let mut block = Block::Main;
    let mut fresh = true;
    for line in prompt.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let trimmed = line.trim();
        let kind = match block {
            Block::Fence(mark, length) => {
                if run(trimmed, mark) >= length && trimmed.chars().all(|letter| letter == mark) {
                    block = Block::Main;
                }
                Some("fence")
            }
            Block::Output if !trimmed.is_empty() => Some("output"),
            Block::Trace if error::trace_continues(line) => Some("trace"),
            Block::Diff if diff_continues(line) => Some("diff"),
            _ => {
                fresh = true;
                let (kind, next) = opens(line, trimmed);
                block = next;
                kind
            }
        };
        // "error: … - correct that": the order behind the pasted line is the user's.
        if kind == Some("trace")
            && fresh
            && let Some((error, order)) = error::with_order(line)
        {
            pasted.push(("trace", error.to_owned()));
            main.push("");
            main.push(order);
            block = Block::Main;
            continue;
        }
        match kind {
            None => main.push(line),
            Some(kind) => {
                match pasted.last_mut() {
                    Some((last, text)) if *last == kind && !fresh => {
                        text.push('\n');
                        text.push_str(line);
                    }
                    _ => pasted.push((kind, line.to_owned())),
                }
                fresh = false;
                // Two blocks are not one, and words around a block are no one sentence.
                if main.last().is_some_and(|last| !last.is_empty()) {
                    main.push("");
                }
            }
        }
    }
    (main, pasted)
}

fn opens(line: &str, trimmed: &str) -> (Option<&'static str>, Block) {
    for mark in ['`', '~'] {
        let length = run(trimmed, mark);
        if length >= 3 {
            let rest = trimmed.trim_start_matches(mark);
            // "```x```" in one line opens nothing.
            let closed = mark == '`' && rest.contains("```");
            return (
                Some("fence"),
                if closed {
                    Block::Main
                } else {
                    Block::Fence(mark, length)
                },
            );
        }
    }
    if OUTPUT_MARKS.iter().any(|mark| trimmed.starts_with(mark)) {
        return (Some("output"), Block::Output);
    }
    if trimmed.starts_with("diff --git ")
        || trimmed.starts_with("@@ -")
        || trimmed.starts_with("--- a/")
        || trimmed.starts_with("+++ b/")
    {
        return (Some("diff"), Block::Diff);
    }
    if error::opens_trace(line) {
        return (Some("trace"), Block::Trace);
    }
    if error::log_line(trimmed) {
        return (Some("log"), Block::Main);
    }
    (None, Block::Main)
}

fn diff_continues(line: &str) -> bool {
    line.starts_with(['+', '-', ' ', '@', '\\', '\t'])
        || line.starts_with("index ")
        || line.starts_with("diff ")
}

fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|letter| *letter == mark).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_output_traces_logs_and_diffs_are_not_main_text() {
        for (prompt, main, kind) in [
            (
                "fix it\n```rust\nlet x = 1;\n\ndelete all\n```\nplease",
                "fix it please",
                "fence",
            ),
            (
                "see\n  ⎿  Bash(rm)\n  more\n\nit should end",
                "see it should end",
                "output",
            ),
            ("> quoted words\nand more\n\nwhy?", "why?", "output"),
            (
                "why?\nTraceback (most recent call last):\n  File \"a.py\", line 3\n    x()\nKeyError: 'a'\nplease look",
                "why? please look",
                "trace",
            ),
            (
                "2026-01-02T10:00:00Z ERROR worker died\nwhat is that",
                "what is that",
                "log",
            ),
            (
                "apply\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n\nto it",
                "apply to it",
                "diff",
            ),
        ] {
            let (lines, pasted) = part(prompt);
            let text = lines
                .join(" ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            assert_eq!(text, main);
            assert_eq!(
                pasted.first().map(|(kind, _)| *kind),
                Some(kind),
                "{prompt}"
            );
        }
    }

    #[test]
    fn an_open_fence_runs_to_the_end() {
        let (lines, pasted) = part("look\n````\n```\nrm -rf\n```\nmore");
        assert_eq!(lines.concat(), "look");
        assert_eq!(pasted.len(), 1);
    }
}
