//! Templates: scanned once, from left to right; what is inserted is not scanned.

use crate::respond::Failure;

const MAX_BYTES: usize = 64 * 1024;

/// Returns the text of a template with its placeholders `{{name}}` replaced; `needed` has to be among them. `value` gives
/// the text of a name, and nothing for one that the template may not hold.
///
/// # Errors
/// `template`, which ends the run.
pub(super) fn fill<'v>(
    template: &str,
    needed: &str,
    value: impl Fn(&str) -> Option<&'v str>,
) -> Result<String, Failure> {
    if template.len() > MAX_BYTES {
        return Err(failure("over 64 KiB"));
    }
    let mut text = String::new();
    let mut rest = body(template);
    let mut has_needed = false;
    while let Some((before, after)) = rest.find("{{").and_then(|at| rest.split_at_checked(at)) {
        text.push_str(before);
        match name(after) {
            Some(name) => {
                let unknown = || failure(&format!("unknown placeholder {{{{{name}}}}}"));
                text.push_str(value(name).ok_or_else(unknown)?);
                has_needed |= name == needed;
                rest = after
                    .get(name.len().saturating_add(4)..)
                    .unwrap_or_default();
            }
            // One brace on, for `{{{name}}}`.
            None => {
                text.push('{');
                rest = after.strip_prefix('{').unwrap_or_default();
            }
        }
    }
    if !has_needed {
        return Err(failure(&format!("no {{{{{needed}}}}}")));
    }
    text.push_str(rest);
    Ok(text)
}

/// `template`
pub(super) fn failure(detail: &str) -> Failure {
    Failure::new("template", detail)
}

/// Returns the name of the placeholder that begins here.
fn name(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("{{")?.split_once("}}")?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

/// Returns a template without front matter and byte order mark.
fn body(text: &str) -> &str {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let is_rule = |line: &str| line.trim_end_matches(['\n', '\r']) == "---";
    let Some(first) = lines.next().filter(|line| is_rule(line)) else {
        return text;
    };
    let mut read = first.len();
    for line in lines {
        read = read.saturating_add(line.len());
        if is_rule(line) {
            return text.get(read..).unwrap_or_default();
        }
    }
    text
}
