//! The `activeForm` of an item.

use super::text::{capitalised, line};

/// Characters of an active form at most.
const MAX: usize = 40;

/// What the step says, else the first verb of the item as a participle, else `Working`; 1 to 3 words.
pub(super) fn form(given: Option<&str>, content: &str) -> String {
    let given = line(given.unwrap_or_default(), MAX.saturating_sub(1));
    let words: Vec<&str> = given
        .split(' ')
        .filter(|word| !word.is_empty())
        .take(3)
        .collect();
    if !words.is_empty() {
        return capitalised(&words.join(" "));
    }
    content
        .split(|c: char| !c.is_ascii_alphabetic())
        .take(12)
        .map(str::to_ascii_lowercase)
        .find(|word| VERBS.contains(&word.as_str()))
        .map_or_else(
            || "Working".to_owned(),
            |verb| capitalised(&participle(&verb)),
        )
}

/// Whether it is an active form: 1 to 3 words, beginning with a capital.
pub(super) fn is_form(text: &str) -> bool {
    super::text::is_line(text)
        && super::text::length(text) <= MAX
        && (1..=3).contains(&text.split_whitespace().count())
        && !text.starts_with(char::is_lowercase)
}

/// The `-ing` form of a regular English verb; those of [`DOUBLED`] double their last letter.
fn participle(verb: &str) -> String {
    if DOUBLED.contains(&verb) {
        let last = verb
            .chars()
            .next_back()
            .map(String::from)
            .unwrap_or_default();
        return format!("{verb}{last}ing");
    }
    if let Some(stem) = verb.strip_suffix("ie") {
        return format!("{stem}ying");
    }
    let keeps_e = ["ee", "oe", "ye"].iter().any(|end| verb.ends_with(end));
    match verb.strip_suffix('e') {
        Some(stem) if !keeps_e => format!("{stem}ing"),
        _ => format!("{verb}ing"),
    }
}

/// Verbs whose last letter is doubled.
const DOUBLED: &[&str] = &[
    "begin", "commit", "cut", "debug", "drop", "get", "let", "log", "map", "plan", "plug", "put",
    "run", "scan", "set", "ship", "skip", "split", "stop", "strip", "submit", "swap", "tag",
    "trim", "unplug", "wrap", "zip",
];

/// Verbs of instructions, in byte order. A word that is not here names no action.
const VERBS: &[&str] = &[
    "accept",
    "add",
    "adjust",
    "align",
    "allow",
    "analyse",
    "analyze",
    "answer",
    "apply",
    "archive",
    "ask",
    "assess",
    "attach",
    "audit",
    "avoid",
    "begin",
    "benchmark",
    "block",
    "build",
    "bump",
    "cache",
    "call",
    "capture",
    "carry",
    "change",
    "check",
    "choose",
    "clean",
    "clear",
    "close",
    "collect",
    "commit",
    "compare",
    "compile",
    "complete",
    "configure",
    "confirm",
    "connect",
    "convert",
    "copy",
    "correct",
    "cover",
    "create",
    "cut",
    "debug",
    "decide",
    "define",
    "delete",
    "deliver",
    "demonstrate",
    "deploy",
    "describe",
    "design",
    "detect",
    "diagnose",
    "disable",
    "document",
    "download",
    "draft",
    "drop",
    "edit",
    "emit",
    "enable",
    "ensure",
    "estimate",
    "evaluate",
    "examine",
    "execute",
    "expand",
    "explain",
    "explore",
    "export",
    "extend",
    "extract",
    "file",
    "fill",
    "filter",
    "find",
    "finish",
    "fix",
    "format",
    "gather",
    "generate",
    "get",
    "handle",
    "hide",
    "identify",
    "implement",
    "import",
    "improve",
    "include",
    "insert",
    "inspect",
    "install",
    "integrate",
    "introduce",
    "investigate",
    "invoke",
    "join",
    "judge",
    "keep",
    "label",
    "leave",
    "limit",
    "link",
    "list",
    "load",
    "locate",
    "log",
    "look",
    "lower",
    "make",
    "map",
    "mark",
    "measure",
    "merge",
    "migrate",
    "mock",
    "monitor",
    "move",
    "narrow",
    "normalise",
    "normalize",
    "note",
    "notify",
    "observe",
    "open",
    "optimise",
    "optimize",
    "order",
    "package",
    "parse",
    "pick",
    "pin",
    "plan",
    "prepare",
    "preserve",
    "prevent",
    "print",
    "process",
    "produce",
    "prove",
    "provide",
    "publish",
    "pull",
    "push",
    "put",
    "raise",
    "read",
    "rebuild",
    "record",
    "reduce",
    "refactor",
    "refine",
    "refuse",
    "reject",
    "release",
    "reload",
    "remove",
    "rename",
    "render",
    "replace",
    "reply",
    "report",
    "reproduce",
    "request",
    "research",
    "reset",
    "resolve",
    "respect",
    "restate",
    "restore",
    "retry",
    "return",
    "revert",
    "review",
    "revise",
    "rewrite",
    "run",
    "save",
    "scan",
    "search",
    "send",
    "set",
    "ship",
    "show",
    "simplify",
    "skip",
    "sort",
    "split",
    "state",
    "stop",
    "store",
    "strip",
    "submit",
    "summarise",
    "summarize",
    "support",
    "swap",
    "sync",
    "tag",
    "test",
    "tidy",
    "track",
    "translate",
    "trim",
    "turn",
    "undo",
    "update",
    "upgrade",
    "upload",
    "use",
    "validate",
    "verify",
    "warn",
    "watch",
    "wrap",
    "write",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_155_the_first_verb_as_a_participle() {
        let cases = [
            ("Run the tests", "Running"),
            ("Package a script if required", "Packaging"),
            ("If a fix is needed, implement it", "Fixing"),
            ("Tie it together and write it", "Writing"),
            ("the moon", "Working"),
            ("", "Working"),
            ("Commit and push", "Committing"),
            ("Verify it", "Verifying"),
        ];
        for (content, expected) in cases {
            assert_eq!(form(None, content), expected, "{content:?}");
        }
    }

    #[test]
    fn q_155_what_the_file_says_comes_first_in_three_words() {
        assert_eq!(
            form(Some("watching the whole thing"), "Run it"),
            "Watching the whole"
        );
        assert_eq!(form(Some(" \n"), "Run it"), "Running");
    }

    #[test]
    fn q_155_verbs_are_sorted_and_known() {
        assert!(VERBS.is_sorted());
        assert!(DOUBLED.is_sorted());
    }
}
