//! Approvals for people: one line of a list, and what a decision is about.
//!
//! What stands in a request was written by whoever wrote the skill's document, or by an agent, and it is read by whoever is
//! about to approve it. So all of it is shown as printable ASCII, a letter that only looks like another one as `\u{…}`, and
//! each row of it stands behind a label or a `|` of ours: no text can begin a row, draw a question or answer one.

use std::fmt::Write as _;

use hydrant::base::escaped;
use rustix::termios::tcgetwinsize;
use serde_json::Value;

/// Characters of a cell of the list, at most; the id says which request it is.
const MAX_CELL: usize = 48;
/// Columns where there is no terminal, and the fewest that text is broken to.
const COLUMNS: usize = 100;
const FEWEST_COLUMNS: usize = 40;
/// Columns of the labels, and of what stands between them and the text.
const LABEL: usize = 11;
const GUTTER: &str = "| ";
/// Below more rows than this, what is asked for is said once more: the first row is out of sight.
const MOST_ROWS: usize = 16;

/// A string member; empty where there is none.
pub(super) fn text<'a>(approval: &'a Value, name: &str) -> &'a str {
    approval
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub(super) fn tier(approval: &Value) -> u64 {
    approval.get("tier").and_then(Value::as_u64).unwrap_or(0)
}

fn texts(approval: &Value, name: &str) -> Vec<String> {
    let list = approval.get(name).and_then(Value::as_array);
    let list = list.into_iter().flatten().filter_map(Value::as_str);
    list.map(str::to_owned).collect()
}

/// What its requests and its jail may reach.
fn hosts(approval: &Value) -> Vec<String> {
    let mut hosts = texts(approval, "hosts");
    let network = approval.pointer("/policy/network").unwrap_or(&Value::Null);
    hosts.extend(texts(network, "egress"));
    hosts.sort();
    hosts.dedup();
    hosts
}

/// What is asked for. Only a capability has no bracket, and no id can hold one.
pub(super) fn subject(approval: &Value) -> String {
    let skill = escaped(text(approval, "skill-id"));
    let detail = |name| {
        let value = approval.get("details").and_then(|all| all.get(name));
        let value = value.map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        escaped(&value.unwrap_or_default())
    };
    match text(approval, "kind") {
        "capability" => escaped(text(approval, "capability")),
        "source-host" => "[load skills from a host]".to_owned(),
        "budget" => format!(
            "[budget: {} more {}]",
            detail("amount"),
            detail("dimension")
        ),
        "secret-write" => format!("[keep a secret] {skill}"),
        "human-action" => format!("[do something] {skill}"),
        other => format!("[{}] {skill}", escaped(other)),
    }
}

/// A header and a line for each: id, status, what it is about, tier, hosts, secrets.
pub(super) fn table(approvals: &[Value]) -> String {
    let header = ["ID", "STATUS", "OPERATION", "TIER", "HOSTS", "SECRETS"].map(str::to_owned);
    let rows = approvals.iter().map(|approval| {
        let list = |texts: Vec<String>| match texts.join(",") {
            none if none.is_empty() => "-".to_owned(),
            some => cut(&escaped(&some)),
        };
        let tier = match tier(approval) {
            0 => "-".to_owned(),
            tier => tier.to_string(),
        };
        [
            escaped(text(approval, "id")),
            escaped(text(approval, "status")),
            cut(&subject(approval)),
            tier,
            list(hosts(approval)),
            list(texts(approval, "secrets")),
        ]
    });
    let lines: Vec<[String; 6]> = std::iter::once(header).chain(rows).collect();
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.len().max(*width);
        }
    }
    let mut table = String::new();
    for line in &lines {
        let mut row = String::new();
        for (width, cell) in widths.iter().zip(line) {
            let _ = write!(row, "{cell:width$}  ");
        }
        let _ = writeln!(table, "{}", row.trim_end());
    }
    table
}

/// Printable ASCII, cut.
fn cut(text: &str) -> String {
    match text.get(..MAX_CELL) {
        Some(start) if text.len() > MAX_CELL => format!("{start}..."),
        _ => text.to_owned(),
    }
}

/// What was decided: what the request was for, and for how long.
pub(super) fn decided(approval: &Value) -> String {
    let mut rows = Rows::new();
    rows.write_head(approval);
    rows.write("status", text(approval, "status"));
    rows.write("scope", text(approval, "scope"));
    rows.write("until", text(approval, "valid-until"));
    rows.write("reason", text(approval, "reason"));
    rows.text
}

/// What a decision about this request is about: all that would be allowed, without the schemas and digests of the manifest.
pub(super) fn summary(approval: &Value) -> String {
    let mut rows = Rows::new();
    rows.write_head(approval);
    rows.write("because of", &texts(approval, "reasons").join("\n"));
    rows.write("warning", text(approval, "warning"));
    rows.write("agent says", text(approval, "asked"));
    rows.write("notes", &texts(approval, "notes").join("\n"));
    let manifest = approval.get("manifest").unwrap_or(&Value::Null);
    rows.write("described", text(manifest, "description"));
    rows.write_sends(approval, manifest);
    rows.write_value("details", approval.get("details"));
    rows.write_value("jail", approval.get("policy"));
    rows.write("code", text(approval, "script"));
    rows.write("changed", &differences(approval));
    if rows.text.lines().count() > MOST_ROWS {
        rows.write("asks for", &subject(approval));
    }
    rows.text
}

fn tier_in_words(tier: u64) -> &'static str {
    match tier {
        0 => "",
        1 => "1: done by hydrant itself",
        2 => "2: a program in a jail",
        _ => "3: a script or an unknown program, in a jail",
    }
}

/// What is other than in the last grant, but for what every change changes.
fn differences(approval: &Value) -> String {
    let list = approval.get("difference").and_then(Value::as_array);
    let list = list.into_iter().flatten();
    let line = |difference: &Value| {
        let path = text(difference, "path");
        let side = |name| match difference.get(name) {
            None => "nothing".to_owned(),
            Some(value) => value.to_string(),
        };
        let is_digest = path.ends_with("digest");
        (!is_digest).then(|| format!("{path}: {} -> {}", side("before"), side("after")))
    };
    list.filter_map(line).collect::<Vec<_>>().join("\n")
}

/// A row of what is sent, its parts as they are shown.
fn parts(row: &Value) -> String {
    let parts = row.get("parts").and_then(Value::as_array);
    let parts = parts.into_iter().flatten();
    parts.map(|part| text(part, "shown")).collect()
}

/// Rows of labelled text.
struct Rows {
    text: String,
    width: usize,
}

impl Rows {
    fn new() -> Self {
        let columns = tcgetwinsize(std::io::stderr()).map_or(COLUMNS, |size| size.ws_col.into());
        let columns = if columns == 0 { COLUMNS } else { columns };
        Self {
            text: String::new(),
            width: columns
                .max(FEWEST_COLUMNS)
                .saturating_sub(LABEL + GUTTER.len() + 1),
        }
    }

    fn write_head(&mut self, approval: &Value) {
        self.write("request", text(approval, "id"));
        self.write("asks for", &subject(approval));
        let line = approval.get("line").and_then(Value::as_u64);
        let line = line.map_or(String::new(), |line| format!(", line {line}"));
        self.write("from", &format!("{}{line}", text(approval, "source")));
        self.write("tier", tier_in_words(tier(approval)));
        self.write("hosts", &hosts(approval).join("\n"));
        self.write("secrets", &texts(approval, "secrets").join("\n"));
    }

    /// Nothing where `text` is empty.
    fn write(&mut self, label: &str, text: &str) {
        self.write_at(label, "", self.width, text);
    }

    /// The same behind a bar of its own.
    fn write_part(&mut self, label: &str, part: &str, text: &str) {
        let width = self.width.saturating_sub(LABEL + GUTTER.len());
        let (mut label, mut part) = (label, part);
        for line in text.lines() {
            self.write_at(label, &format!("{part:LABEL$}{GUTTER}"), width, line);
            (label, part) = ("", "");
        }
    }

    /// `lead` stands before the first row, and blanks up to its bar before the others.
    fn write_at(&mut self, label: &str, lead: &str, width: usize, text: &str) {
        let (mut label, mut lead) = (label, lead.to_owned());
        for line in text.lines() {
            // Tabs are as wide as the terminal likes.
            let line = escaped(&line.replace('\t', "    "));
            let mut rest = line.as_str();
            loop {
                let (row, after) = rest.split_at_checked(width).unwrap_or((rest, ""));
                let row = format!("{label:LABEL$}{GUTTER}{lead}{row}");
                let _ = writeln!(self.text, "{}", row.trim_end());
                label = "";
                lead = lead.replace(|c: char| c.is_ascii_alphanumeric(), " ");
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// What each stage would send or run, and what that is where no input is given.
    fn write_sends(&mut self, approval: &Value, manifest: &Value) {
        let stages = approval.get("sends").and_then(Value::as_array);
        let Some(stages) = stages.filter(|stages| !stages.is_empty()) else {
            // Of a request that an older version opened.
            return self.write_value("does", manifest.get("implementation"));
        };
        let rows = |stage: &Value, name| {
            let rows = stage.get(name).and_then(Value::as_array);
            rows.cloned().unwrap_or_default()
        };
        for stage in stages {
            self.write("does", text(stage, "capability"));
            for row in rows(stage, "rows") {
                self.write_part("", text(&row, "what"), &parts(&row));
            }
            let without_input = rows(stage, "without-input");
            if !without_input.is_empty() {
                self.write("defaults", "a call that gives no more than it must sends:");
            }
            for row in without_input {
                self.write_part("", text(&row, "what"), &parts(&row));
            }
        }
    }

    /// Each member that is no object on a row, with the names that lead to it.
    fn write_value(&mut self, label: &str, value: Option<&Value>) {
        let mut lines = Vec::new();
        if let Some(value) = value {
            flatten(value, String::new(), &mut lines);
        }
        self.write(label, &lines.join("\n"));
    }
}

fn flatten(value: &Value, path: String, lines: &mut Vec<String>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                flatten(value, below(name), lines);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (at, value) in items.iter().enumerate() {
                flatten(value, below(&at.saturating_add(1).to_string()), lines);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::String(text) => lines.push(format!("{path} {text}")),
        other => lines.push(format!("{path} {other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whatever a request holds, each row is ours up to the bar.
    #[test]
    fn no_text_of_a_document_begins_a_row_or_leaves_the_alphabet() {
        let hostile = "\r\u{1b}[2J\u{9b}1A\nrequest    | ap-0\n\nonce (o), deny (d)? \u{202e}\u{2028}\u{430}\t|";
        let long = format!("{}request    | ap-0", " ".repeat(300));
        for text in [hostile, &long] {
            let all = json!({
                "id": text, "kind": "capability", "capability": text, "status": text, "source": text, "tier": 3,
                "hosts": [text], "secrets": [text], "reasons": [text], "asked": text, "notes": [text],
                "manifest": { "description": text, "implementation": { (text): text, "args": [text, { (text): text }] } },
                "details": { (text): text }, "policy": [text], "script": text,
                "sends": [{ "capability": text, "rows": [{ "what": "body", "parts": [{ "shown": text }] }] }],
                "difference": [{ "path": text, "before": text, "after": { (text): text } }],
            });
            let summary = summary(&all);
            for row in summary.lines() {
                let (label, rest) = row.split_at(LABEL);
                let own = label
                    .bytes()
                    .all(|b| matches!(b, b'a'..=b'z' | b' ' | b':'));
                assert!(own && rest.starts_with('|'), "{row:?}");
                assert!(row.bytes().all(|b| matches!(b, b' '..=b'~')), "{row:?}");
                assert!(row.len() < COLUMNS, "{row:?}");
            }
            let own = summary.lines().filter(|row| row.starts_with("request"));
            assert_eq!(own.count(), 1, "{summary}");
            let table = table(&[all]);
            assert_eq!(table.lines().count(), 2, "{table}");
            assert!(table.is_ascii(), "{table}");
        }
    }

    #[test]
    fn only_an_operation_is_shown_without_a_bracket() {
        for kind in [
            "source-host",
            "budget",
            "secret-write",
            "human-action",
            "new",
        ] {
            let approval =
                json!({"kind": kind, "skill-id": "library", "capability": "library.search"});
            assert!(subject(&approval).starts_with('['), "{kind}");
        }
    }

    #[test]
    fn a_letter_that_looks_like_another_is_told_apart() {
        let named = |name: &str| subject(&json!({"kind": "capability", "capability": name}));
        assert_eq!(named("library.search"), "library.search");
        assert_eq!(named("library.se\u{430}rch"), r"library.se\u{430}rch");
    }
}
