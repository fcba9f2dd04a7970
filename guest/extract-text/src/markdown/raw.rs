//! Blocks of raw HTML: their tags, comments, scripts and styles are dropped, their text stays (TS-137).

use std::borrow::Cow;

/// What elements whose content is not text are called.
const DROPPED: [&str; 5] = ["script", "style", "noscript", "template", "iframe"];

/// The text of a block without its markup.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, markup)) = rest.find('<').and_then(|at| rest.split_at_checked(at)) {
        text.push_str(&decoded(before));
        match after_markup(markup) {
            Some(after) => rest = after,
            None => {
                text.push('<');
                rest = markup.strip_prefix('<').unwrap_or_default();
            }
        }
    }
    text.push_str(&decoded(rest));
    text
}

/// What follows the markup at the beginning; none if it is a `<` that is text.
fn after_markup(markup: &str) -> Option<&str> {
    let behind = |text: &'_ str, end: &str| text.find(end).map(|at| at.saturating_add(end.len()));
    let after = |end: &str| {
        let end = behind(markup, end).unwrap_or(markup.len());
        markup.get(end..)
    };
    if markup.starts_with("<!--") {
        return after("-->");
    }
    if markup.starts_with("<![CDATA[") {
        return after("]]>");
    }
    if markup.starts_with("<!") || markup.starts_with("<?") {
        return after(">");
    }
    let name = markup.get(1..)?;
    let closing = name.starts_with('/');
    let name = name.strip_prefix('/').unwrap_or(name);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(name.len());
    let (name, attributes) = name.split_at_checked(end)?;
    let content = after_tag(attributes);
    if closing {
        return Some(content);
    }
    match DROPPED
        .iter()
        .find(|dropped| dropped.eq_ignore_ascii_case(name))
    {
        Some(dropped) => Some(after_element(content, dropped)),
        None => Some(content),
    }
}

/// What follows the `>` that is not in a quoted value.
fn after_tag(attributes: &str) -> &str {
    let mut quote = None;
    let mut after_equals = false;
    for (at, c) in attributes.char_indices() {
        match (quote, c) {
            (None, '>') => return attributes.get(at.saturating_add(1)..).unwrap_or_default(),
            (None, '"' | '\'') if after_equals => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        after_equals = c == '=' || (after_equals && c.is_ascii_whitespace());
    }
    ""
}

/// What follows `</name …>`; nothing if the element does not end.
fn after_element<'t>(content: &'t str, name: &str) -> &'t str {
    let mut rest = content;
    while let Some((_, closing)) = rest.split_once("</") {
        if closing
            .get(..name.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(name))
        {
            return after_tag(closing);
        }
        rest = closing;
    }
    ""
}

/// With the references to characters that occur in text by hand.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let plain = text
        .replace("&nbsp;", "\u{a0}")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    Cow::Owned(plain)
}
