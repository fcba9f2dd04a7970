//! `<name>` in shell text, which authors write for what the reader is to fill in.

/// The name, if a placeholder begins here: `<name>` followed by a blank, the end, a quote or one of `/ ? & : = , . )`.
pub(super) fn name_at(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    // Not a search for `>`: text full of `<` would be read again and again.
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))?;
    let (name, after) = inner.split_at_checked(end)?;
    let after = after.strip_prefix('>')?;
    let follows = match after.chars().next() {
        None => true,
        Some(c) => c.is_ascii_whitespace() || "\"'/?&:=,.)".contains(c),
    };
    follows.then_some(name)
}
