//! Names of files in a diff: plain, cut at a TAB, or quoted as C strings.

use std::borrow::Cow;

use kit::SkillError;
use kit::path::MAX_PATH_BYTES;
use serde_json::json;

use super::lines::Lines;
use super::malformed;

/// A name as it is meant: unquoted, not yet stripped, and not yet trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// At most 4,096 bytes, not empty.
    pub(crate) text: Cow<'a, str>,
    /// The line of the diff that holds it, from 1.
    pub(crate) line: usize,
    /// Backslashes were taken for slashes.
    pub(crate) windows: bool,
}

/// The `---` and `+++` lines; a side is none if it is `/dev/null`.
pub(super) fn sides<'a>(
    lines: &mut Lines<'a>,
) -> Result<(Option<Name<'a>>, Option<Name<'a>>), SkillError> {
    let mut next = || {
        let number = lines.number();
        let text = lines.next().and_then(|line| line.get(4..));
        side(text.unwrap_or_default(), number)
    };
    Ok((next()?, next()?))
}

/// A name, or none for `/dev/null`.
pub(super) fn side(text: &str, line: usize) -> Result<Option<Name<'_>>, SkillError> {
    let name = whole(text, line)?;
    Ok((name.text != "/dev/null").then_some(name))
}

/// The name that `text` begins with; what follows a TAB or the closing quote is no part of it.
pub(super) fn whole(text: &str, line: usize) -> Result<Name<'_>, SkillError> {
    if text.starts_with('"') {
        return Ok(quoted(text, line)?.0);
    }
    let end = text.find('\t').unwrap_or(text.len());
    let text = text.get(..end).unwrap_or(text);
    // Git and GNU diff quote a name with a backslash: without quotes it is a path of Windows.
    if text.contains('\\') {
        let mut name = named(Cow::Owned(text.replace('\\', "/")), line)?;
        name.windows = true;
        return Ok(name);
    }
    named(Cow::Borrowed(text), line)
}

/// The two names of a `diff --git` line, for sections that have no others.
///
/// Names with blanks are not quoted: unless one is, the line is halved, as both sides name the same file with
/// prefixes of the same length.
pub(super) fn pair(text: &str, line: usize) -> Result<(Name<'_>, Name<'_>), SkillError> {
    let unclear = || malformed(line, "which files these are cannot be told from this line");
    if text.starts_with('"') {
        let (old, rest) = quoted(text, line)?;
        let new = rest.strip_prefix(' ').ok_or_else(unclear)?;
        return Ok((old, whole(new, line)?));
    }
    if text.ends_with('"') {
        let (old, new) = text
            .split_at_checked(text.find(" \"").ok_or_else(unclear)?)
            .ok_or_else(unclear)?;
        return Ok((whole(old, line)?, whole(new.trim_start(), line)?));
    }
    let (old, new) = text.split_at_checked(text.len() / 2).ok_or_else(unclear)?;
    let new = new.strip_prefix(' ').ok_or_else(unclear)?;
    Ok((whole(old, line)?, whole(new, line)?))
}

/// The two names of a line that says that binary files differ.
pub(super) fn binary(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("Binary files ")?
        .strip_suffix(" differ")?
        .split_once(" and ")
}

/// A quoted name and what follows its closing quote.
fn quoted(text: &str, line: usize) -> Result<(Name<'_>, &str), SkillError> {
    let (bytes, rest) =
        unquote(text).ok_or_else(|| malformed(line, "the quotes of a name are not right"))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let what = format!("line {line} of the diff: a name that is not UTF-8 cannot be used");
        SkillError::new("unsupported", &what).with_details(json!({ "line": line }).to_string())
    })?;
    Ok((named(Cow::Owned(text), line)?, rest))
}

fn named(text: Cow<'_, str>, line: usize) -> Result<Name<'_>, SkillError> {
    match text.len() {
        0 => Err(malformed(line, "a name is empty")),
        1..=MAX_PATH_BYTES => Ok(Name {
            text,
            line,
            windows: false,
        }),
        _ => Err(malformed(line, "a name is longer than 4096 bytes")),
    }
}

/// Undoes the quoting of C: `\` and one letter, or three octal digits.
fn unquote(text: &str) -> Option<(Vec<u8>, &str)> {
    let mut name = Vec::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let end = rest.find(['"', '\\'])?;
        let (plain, special) = rest.split_at_checked(end)?;
        name.extend_from_slice(plain.as_bytes());
        if let Some(after) = special.strip_prefix('"') {
            return Some((name, after));
        }
        let escape = special.get(1..2)?;
        rest = special.get(2..)?;
        name.push(match escape {
            "a" => 0x07,
            "b" => 0x08,
            "t" => b'\t',
            "n" => b'\n',
            "v" => 0x0B,
            "f" => 0x0C,
            "r" => b'\r',
            "\\" => b'\\',
            "\"" => b'"',
            "0" | "1" | "2" | "3" => {
                let digits = special.get(1..4)?;
                rest = special.get(4..)?;
                octal(digits)?
            }
            _ => return None,
        });
    }
}

fn octal(digits: &str) -> Option<u8> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| u8::from_str_radix(digits, 8).ok())?
}
