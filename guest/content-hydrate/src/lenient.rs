//! Names and descriptions with an unquoted `: `, a common defect of real skills.

use kit::front_matter;

/// Calls `read` with the front matter of a text, and where that fails and `lenient` is asked for, again with its names and
/// descriptions in quotes.
pub(crate) fn read<T, E>(
    text: &str,
    lenient: bool,
    mut read: impl FnMut(&str) -> Result<T, E>,
) -> Result<T, E> {
    let front_matter = front_matter(text);
    match read(front_matter) {
        Err(_) if lenient => read(&quote_values(front_matter)),
        result => result,
    }
}

fn front_matter(text: &str) -> &str {
    let front_matter = front_matter::split(text).front_matter;
    front_matter
        .and_then(|range| text.get(range))
        .unwrap_or_default()
}

/// Quotes the values of the lines `name:` and `description:`; everything else keeps its bytes.
///
/// It reads lines and knows no YAML, so it is for front matter that strict parsing has refused.
pub(crate) fn quote_values(front_matter: &str) -> String {
    let mut out = String::with_capacity(front_matter.len().saturating_add(16));
    for line in front_matter.split_inclusive('\n') {
        match quotable(line) {
            Some((before, value, after)) => {
                out.push_str(before);
                out.push('"');
                for character in value.chars() {
                    if matches!(character, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(character);
                }
                out.push('"');
                out.push_str(after);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// The text behind a key on the first line of front matter that begins with it, without quotes around the whole of it: what
/// is left to read where front matter is no YAML at all. None where what the line holds is no text.
pub(crate) fn recover<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let value = front_matter(text)
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?
        .trim();
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    // A block, a list or a mapping goes on in the lines below, and a comment is no value.
    let is_text = !value.starts_with(['|', '>', '[', '{', '#']);
    Some(unquoted.unwrap_or(value)).filter(|text| is_text && !text.is_empty())
}

/// The key with its blanks, the value, and the trailing blanks and line terminator.
fn quotable(line: &str) -> Option<(&str, &str, &str)> {
    let blank = [' ', '\t'];
    let rest = ["name:", "description:"]
        .iter()
        .find_map(|key| line.strip_prefix(key))
        .filter(|rest| rest.starts_with(blank))?;
    let from_value = rest.trim_start_matches(blank);
    let begins_otherwise = from_value.starts_with([
        '"', '\'', '|', '>', '[', ']', '{', '}', '&', '*', '!', '%', '@', '#', '`',
    ]);
    let value = from_value.trim_end_matches(['\n', '\r', ' ', '\t']);
    if begins_otherwise || value.is_empty() {
        return None;
    }
    let before = line
        .split_at_checked(line.len().checked_sub(from_value.len())?)?
        .0;
    let after = from_value.split_at_checked(value.len())?.1;
    Some((before, value, after))
}
