//! Variables that the document gives an address: `API_URL=https://…`, `${BASE:-https://…}`, `API_URL (default: https://…)`.
//!
//! They count where a request is sent to, and nowhere else. A value that the caller gives goes first. A line that is commented
//! out counts where nothing else says the name, and a comment of HTML never.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::lines::Lines;
use super::outline::{Kind, Outline};
use super::wording::{addresses, is_local, says_example};
use crate::assemble::is_base_name;

/// Lines of front matter between the name of a variable and its default.
const ENTRY_LINES: u32 = 4;

/// Returns the addresses by the variables' names; of two, the first. What a line assigns goes before what it tells, and both go
/// before what is commented out.
pub(crate) fn read(outline: &Outline, lines: &Lines<'_>) -> BTreeMap<String, String> {
    let is_comment = |number: u32| {
        let block = outline.block_at(number);
        block.is_some_and(|block| matches!(block.kind, Kind::Comment(_)))
    };
    let numbers = lines.holding("http").into_iter();
    let (commented, written): (Vec<_>, Vec<_>) = numbers
        .filter(|number| !is_comment(*number))
        .filter_map(|number| Some((number, without_comments(lines.get(number)?))))
        .partition(|(_, line)| is_commented_out(line));
    let mut known = BTreeMap::new();
    for numbered in [written, commented] {
        add_all(&mut known, lines, &numbered);
    }
    known
}

/// Adds what lines say, each given with its number.
fn add_all(
    known: &mut BTreeMap<String, String>,
    lines: &Lines<'_>,
    numbered: &[(u32, Cow<'_, str>)],
) {
    let all = || {
        let all = numbered.iter();
        all.map(|(number, line)| (*number, line.as_ref()))
    };
    let mut add = |name: &str, address: &str| {
        known
            .entry(name.to_owned())
            .or_insert_with(|| address.to_owned());
    };
    for (_, line) in all() {
        let line = before_remark(line);
        for (name, address) in assigned(line).into_iter().chain(defaults(line)) {
            add(name, address);
        }
    }
    for (number, line) in all() {
        if let Some((name, address)) = told(line) {
            add(name, address);
        }
        // `- name: API_URL` or `API_URL:`, then `default: https://…`
        if let Some((_, value)) = line.split_once("default:")
            && let Some(address) = addresses(value).next()
            && let Some(name) = (number.saturating_sub(ENTRY_LINES)..number)
                .rev()
                .find_map(|number| entry_name(lines.get(number)?))
        {
            add(name, address);
        }
    }
}

/// A line without the comments of HTML in it; one that does not end on the line takes the rest of it.
fn without_comments(line: &str) -> Cow<'_, str> {
    if !line.contains("<!--") {
        return Cow::Borrowed(line);
    }
    let mut pieces = line.split("<!--");
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        kept.push_str(piece.split_once("-->").map_or("", |(_, behind)| behind));
    }
    Cow::Owned(kept)
}

/// Marks that may stand before an assignment: of a list, a quotation, a prompt, a comment.
fn without_marks(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || "-*>$`\"#".contains(c))
}

fn is_commented_out(line: &str) -> bool {
    let marks = line.len().saturating_sub(without_marks(line).len());
    line.get(..marks).unwrap_or_default().contains('#')
}

/// What of a line stands before a shell's remark at its end.
fn before_remark(line: &str) -> &str {
    let marks = line.len().saturating_sub(without_marks(line).len());
    let begins = |at: &usize| {
        let before = line.get(..*at).unwrap_or_default();
        *at >= marks && before.ends_with(|c: char| c.is_whitespace() || ";&|(".contains(c))
    };
    let remark = line.match_indices('#').map(|(at, _)| at).find(begins);
    line.get(..remark.unwrap_or(line.len())).unwrap_or(line)
}

/// The address of the variables that stand for a base, if it is one.
pub(crate) fn only_base(known: &BTreeMap<String, String>) -> Option<&str> {
    let mut bases = known
        .iter()
        .filter(|(name, _)| is_base_name(name, false))
        .map(|(_, address)| address.trim_end_matches('/'))
        .collect::<BTreeSet<_>>()
        .into_iter();
    bases.next().filter(|_| bases.next().is_none())
}

/// The variables that the document writes in the place of a host: `https://$NAME`.
pub(crate) fn hosts<'t>(lines: &Lines<'t>) -> BTreeSet<&'t str> {
    let behind = |line: &'t str| line.split("://").skip(1);
    let numbers = lines.holding("://").into_iter();
    let all = numbers
        .filter_map(|number| lines.get(number))
        .flat_map(behind);
    all.filter_map(|host| {
        let variable = host.trim_start_matches(['$', '{', '<', '[']);
        let name = variable.get(..name_length(variable))?;
        (variable.len() < host.len()).then_some(name)
    })
    .collect()
}

/// The variable that an entry of a list or a mapping is about.
fn entry_name(line: &str) -> Option<&str> {
    let name = match line.split_once("name:") {
        Some((_, name)) => name.trim(),
        None => line.trim().strip_suffix(':')?,
    };
    let name = name.trim_matches(['"', '\'']);
    is_constant(name).then_some(name)
}

/// `export NAME="https://…"`, `NAME: https://…`, `"NAME": "https://…"`, `NAME="${OTHER:-https://…}"`,
/// `NAME=$(… || echo "https://…")`, in a list, a comment or neither.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let line = without_marks(line);
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, rest) = line.split_at_checked(name_length(line))?;
    let value = rest
        .trim_start_matches(['`', '*', ' ', '"'])
        .strip_prefix(['=', ':'])?
        .trim_start_matches(['`', '*', ' ', '"', '\'']);
    if !is_constant(name) {
        return None;
    }
    if let Some((_, address)) = defaults(value).next().filter(|_| value.starts_with("${")) {
        return Some((name, address));
    }
    let value = match value.strip_prefix("$(") {
        Some(command) => command
            .rsplit_once("|| echo ")?
            .1
            .trim_start_matches(['"', '\'']),
        None => value,
    };
    let end = value.find(|c: char| c.is_whitespace() || "`\"'()|,".contains(c));
    let address = value.get(..end.unwrap_or(value.len()))?;
    has_plain_host(address).then_some((name, address))
}

/// Each `${NAME:-https://…}` and `${NAME:=https://…}`.
fn defaults(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("${").skip(1).filter_map(|after| {
        let (name, rest) = after.split_at_checked(name_length(after))?;
        let operators = [":-", ":=", "-"];
        let value = operators.iter().find_map(|mark| rest.strip_prefix(mark))?;
        let (address, _) = value.split_once('}')?;
        has_plain_host(address).then_some((name, address))
    })
}

/// A line that names one variable of a base and one address: a row of a table, `API_URL (default: https://…)`.
fn told(line: &str) -> Option<(&str, &str)> {
    let mut all = addresses(line).collect::<BTreeSet<_>>().into_iter();
    let (Some(address), None) = (all.next(), all.next()) else {
        return None;
    };
    let mut names = line
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| is_constant(word) && word.contains('_') && is_base_name(word, false))
        .collect::<BTreeSet<_>>()
        .into_iter();
    let (Some(name), None) = (names.next(), names.next()) else {
        return None;
    };
    // What only shows where an address belongs.
    let shows_none = ["example", "your", "xxx", ".local"]
        .iter()
        .any(|word| address.to_ascii_lowercase().contains(word));
    let is_default =
        line.contains("efault") || line.contains("默认") || is_local(address) && says_example(line);
    // A sentence tells of many things: only a table, or nothing but marks between the two, says that they belong together.
    let between = line
        .find(name)
        .zip(line.find(address))
        .and_then(|(at, to)| line.get(at.saturating_add(name.len())..to));
    let is_plain = line.trim_start().starts_with('|')
        || between.is_some_and(|text| is_default || !text.contains(char::is_alphabetic));
    if !is_plain {
        return None;
    }
    (has_plain_host(address) && (is_default || !shows_none)).then_some((name, address))
}

/// Whether a text is an address whose host is no variable; its path may hold some.
fn has_plain_host(address: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme))
        .and_then(|rest| rest.split('/').next())
        .is_some_and(|host| !host.is_empty() && !host.contains(['<', '>', '{', '}', '$', '@']))
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len())
}

/// Capitals, digits and `_`, two at least.
fn is_constant(name: &str) -> bool {
    name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
