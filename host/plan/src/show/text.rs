//! Texts with placeholders that no text of a document can look like.

use serde_json::{Map, Value};

use url::form_urlencoded::byte_serialize;

use crate::{Encoding, Segment, Segments};

/// What placeholders begin with.
const WORDS: [&str; 4] = ["input", "secret", "file", "output"];

/// A text with `{NAME}` for each variable.
#[must_use]
pub fn display(segments: &Segments) -> String {
    filled(segments, &Map::new())
}

/// The same with values for some of the inputs.
pub(super) fn filled(segments: &Segments, values: &Map<String, Value>) -> String {
    let piece = |segment: &Segment| match segment {
        Segment::Literal { lit } => escaped(lit, true),
        Segment::Input {
            input: name, enc, ..
        } => match values.get(name) {
            Some(Value::String(text)) => escaped(&encoded(text, *enc), true),
            Some(value) => escaped(&encoded(&value.to_string(), *enc), true),
            None => format!("{{{name}}}"),
        },
        Segment::Secret { secret: name, .. } => format!("{{{name}}}"),
    };
    segments.0.iter().map(piece).collect()
}

/// A value as it reads in its place: nothing in it looks like a separator.
fn encoded(text: &str, enc: Encoding) -> String {
    let form = || byte_serialize(text.as_bytes()).collect::<String>();
    match enc {
        Encoding::Form => form(),
        Encoding::Path | Encoding::Query => form().replace('+', "%20"),
        Encoding::JsonString => {
            let quoted = Value::from(text).to_string();
            quoted.trim_matches('"').to_owned()
        }
        Encoding::Header | Encoding::Argv | Encoding::None => text.to_owned(),
    }
}

/// Text of a document in which nothing looks like a placeholder: `{NAME}`, or `{secret NAME`. `goes_on`: something else stands
/// behind it.
#[must_use]
pub fn escaped(text: &str, goes_on: bool) -> String {
    let mut pieces = text.split('{');
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    let mut left = text.matches('{').count();
    for after in pieces {
        left = left.saturating_sub(1);
        let word = after.trim_start_matches(is_of_name);
        let name = after.strip_suffix(word).unwrap_or_default();
        let looks_like_one = match word.chars().next() {
            Some('}') => !name.is_empty(),
            // Letters and blanks of other scripts look like ours.
            Some(next) if !next.is_ascii() || !name.is_ascii() => true,
            Some(next) => WORDS.contains(&name) && !next.is_ascii_punctuation(),
            None => goes_on && left == 0,
        };
        shown.push_str(if looks_like_one { r"\u{7b}" } else { "{" });
        shown.push_str(after);
    }
    shown
}

/// Whether a character may be part of a name in a placeholder.
#[must_use]
pub fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
