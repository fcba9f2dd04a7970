//! Templates: scanned once, from left to right; what is inserted is not scanned.

use crate::respond::Failure;

const MAX_BYTES: usize = 64 * 1024;

/// Returns the text of a template, without front matter, with its placeholders `{{name}}` replaced; `needed` has to be among them. `value` gives
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
    let body = kit::front_matter::split(template).content;
    let mut rest = template.get(body..).unwrap_or_default();
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
