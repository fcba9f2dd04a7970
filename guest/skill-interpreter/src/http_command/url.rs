//! What an address of a document only shows: values that are words, and links around it.

use crate::draft::{Part, Spelling, Template};

/// The address of a command, without a Markdown link around it, with an input for each value that only shows what belongs there.
pub(super) fn with_placeholders(mut url: Template) -> Template {
    if let Some(Part::Literal(first)) = url.parts.first_mut()
        && let Some(text) = without_link(&first.text)
    {
        first.text = text;
    }
    with_query_placeholders(url)
}

/// With an input for each query value that only shows what belongs there: words with blanks between them, which no client
/// sends (`?q=your query here`), alternatives (`?unit={day|hour}`), or a placeholder that closes as a tag (`?unit={U>`).
pub(super) fn with_query_placeholders(url: Template) -> Template {
    let Some((mut found, query)) = url.split_once('?') else {
        return url;
    };
    let pairs = query.split('&');
    let name_of = |pair: &Template| pair.as_literal().and_then(|text| shown_value(&text));
    if pairs.iter().all(|pair| name_of(pair).is_none()) {
        return url;
    }
    for (index, pair) in pairs.into_iter().enumerate() {
        let separator = if index == 0 { "?" } else { "&" };
        found.append(Template::literal(separator));
        match name_of(&pair) {
            Some(name) => {
                found.append(Template::literal(format!("{name}=")));
                found.append(Template::variable(name, Spelling::Brace));
            }
            None => found.append(pair),
        }
    }
    found
}

/// The name of a pair whose value only shows what belongs there.
fn shown_value(pair: &str) -> Option<String> {
    let (name, value) = pair.split_once('=')?;
    let value = value.trim();
    let is_words = value.contains(' ') && value.chars().all(|c| c == ' ' || c.is_alphanumeric());
    let is_choice = value
        .strip_prefix('{')
        .and_then(|value| value.strip_suffix('}'))
        .is_some_and(|choice| {
            !choice.contains(['{', '}', ',', '"'])
                && (choice.contains('|') || choice.bytes().all(|b| b.is_ascii_digit()))
        });
    // `{limit>`: an editor took the braces for a tag.
    let is_slip = value
        .strip_prefix('{')
        .and_then(|value| value.strip_suffix('>'))
        .is_some_and(|shown| !shown.is_empty() && shown.chars().all(char::is_alphanumeric));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_shown =
        (is_words || is_choice || is_slip) && !name.is_empty() && name.chars().all(is_name);
    is_shown.then(|| name.to_owned())
}

/// `[address](address)`, as text with links has it, without its link.
fn without_link(text: &str) -> Option<String> {
    let (shown, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (address, rest) = rest.split_once(')')?;
    (shown == address).then(|| format!("{address}{rest}"))
}
