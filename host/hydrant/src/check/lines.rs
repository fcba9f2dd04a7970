//! Where in a front matter something stands: words are compared, nothing is parsed. A wrong answer is a wrong line in a
//! message, and no more.

use std::collections::HashMap;

/// Bytes of a document that are searched; a list of a thousand references takes less.
const MAX_SEARCHED: usize = 256 * 1024;
/// Folders of a reference that are compared.
const MAX_FOLDERS: usize = 8;

/// The lines between the two `---` of a document.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    /// The first line that holds each word.
    words: HashMap<String, usize>,
    /// The first line with a reference that ends in this name, or in these folders and the name.
    ends: HashMap<String, usize>,
    /// The line of each key.
    keys: HashMap<String, usize>,
    unquoted_colon: Option<usize>,
    /// The first line of the document that is not UTF-8.
    pub(super) not_utf8: Option<usize>,
}

impl FrontMatter {
    /// That of the document with these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut found = Self {
            not_utf8: first_invalid_line(bytes),
            ..Self::default()
        };
        let searched = bytes.get(..MAX_SEARCHED).unwrap_or(bytes);
        let text = String::from_utf8_lossy(searched);
        let mut lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
        if lines
            .next()
            .is_none_or(|(first, _)| first.trim_end() != "---")
        {
            return found;
        }
        for (line, number) in lines {
            if line.trim_end() == "---" {
                break;
            }
            found.add(line, number);
        }
        found
    }

    fn add(&mut self, line: &str, number: usize) {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if let Some((key, value)) = line.split_once(':') {
            let key = key.trim().trim_matches(['"', '\'']);
            self.keys.entry(key.to_owned()).or_insert(number);
            let value = value.trim();
            let is_quoted = value.starts_with(['"', '\'', '|', '>']);
            if matches!(key, "name" | "description") && !is_quoted && value.contains(": ") {
                self.unquoted_colon.get_or_insert(number);
            }
        }
        let item = line.strip_prefix("- ").unwrap_or(line).trim();
        let between = |character: char| {
            character.is_whitespace()
                || matches!(character, '"' | '\'' | ',' | '[' | ']' | '{' | '}')
        };
        let words = line.split(between).filter(|word| !word.is_empty());
        for word in std::iter::once(item.trim_matches(['"', '\''])).chain(words) {
            self.words.entry(word.to_owned()).or_insert(number);
            let mut end = word;
            for _ in 0..MAX_FOLDERS {
                self.ends.entry(end.to_owned()).or_insert(number);
                match end.split_once('/') {
                    Some((_, rest)) => end = rest,
                    None => break,
                }
            }
        }
    }

    /// The line of a key.
    pub(super) fn key(&self, key: &str) -> Option<usize> {
        self.keys.get(key).copied()
    }

    /// The line of a value of `name` or `description` that has a `: ` and no quotes.
    pub(super) fn unquoted_colon(&self) -> Option<usize> {
        self.unquoted_colon
    }

    /// The line of a declaration below `key` that was resolved to `reference`, or stands there as it is.
    pub(super) fn reference(&self, key: &str, base: &str, reference: &str) -> Option<usize> {
        let path = reference.strip_prefix("os://");
        let relative = path.map(|path| relative(base.strip_prefix("os://").unwrap_or(base), path));
        let mut spellings = vec![reference.to_owned()];
        spellings.extend(path.map(|path| format!("/{path}")));
        spellings.extend(relative.iter().cloned());
        spellings.extend(relative.map(|relative| format!("./{relative}")));
        let decoded = |text: &String| {
            let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
            decoded.ok().map(|decoded| decoded.into_owned())
        };
        let decoded: Vec<String> = spellings.iter().filter_map(decoded).collect();
        spellings.extend(decoded);
        let exact = spellings.iter().find_map(|text| self.words.get(text));
        let by_end = || {
            let mut end = path?;
            loop {
                if let Some(line) = self.ends.get(end) {
                    return Some(line);
                }
                end = end.split_once('/')?.1;
            }
        };
        exact.or_else(by_end).copied().or_else(|| self.key(key))
    }
}

/// `path` as the document `base` would write it.
fn relative(base: &str, path: &str) -> String {
    let folders: Vec<&str> = base.split('/').collect();
    let folders = folders.split_last().map_or(&[][..], |(_, folders)| folders);
    let segments: Vec<&str> = path.split('/').collect();
    let common = folders
        .iter()
        .zip(&segments)
        .take_while(|(one, other)| one == other)
        .count();
    let up = folders.len().saturating_sub(common);
    let down = segments.get(common..).unwrap_or_default().join("/");
    format!("{}{down}", "../".repeat(up))
}

fn first_invalid_line(bytes: &[u8]) -> Option<usize> {
    let error = std::str::from_utf8(bytes).err()?;
    let before = bytes.get(..error.valid_up_to())?;
    Some(memchr::memchr_iter(b'\n', before).count().saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "---
# skills: here
skills:
  - ../kits/a/SKILL.md # os://kits/b/SKILL.md
  - \"os://kits/b/SKILL.md\"
  - SKILL.md
  - ./with space.md
tools: [ /bin/x.sh, ftp://h/y ]
description: Use: when
---
os://kits/c.md
";

    #[test]
    fn a_reference_is_found_however_it_is_written() {
        let found = FrontMatter::of(DOCUMENT.as_bytes());
        let line = |reference| found.reference("skills", "os://crew/pilot.md", reference);
        assert_eq!(line("os://kits/a/SKILL.md"), Some(4));
        assert_eq!(line("os://kits/b/SKILL.md"), Some(5));
        assert_eq!(line("os://crew/SKILL.md"), Some(6));
        assert_eq!(line("os://crew/with%20space.md"), Some(7));
        assert_eq!(line("os://bin/x.sh"), Some(8));
        assert_eq!(line("ftp://h/y"), Some(8));
        assert_eq!(line("os://kits/c.md"), Some(3), "no front matter: the key");
        assert_eq!(found.unquoted_colon(), Some(9));
        assert_eq!(found.key("tools"), Some(8));
    }

    #[test]
    fn what_is_no_front_matter_has_no_lines() {
        for document in ["", "skills: [a]\n", "\n---\nskills: [a]\n---\n"] {
            let found = FrontMatter::of(document.as_bytes());
            assert_eq!(found.reference("skills", "os://x.md", "os://a"), None);
        }
        assert_eq!(FrontMatter::of(b"---\nx\n\xff\n---\n").not_utf8, Some(3));
    }
}
