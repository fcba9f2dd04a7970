//! Names of tools that clients accept: `[a-zA-Z0-9_-]{1,64}`, where ids of skills have dots and may be longer.

use std::collections::BTreeMap;

use hydrant_base::Digest;

/// Characters of a name.
const LONGEST: usize = 64;
/// Hexadecimal digits that tell two ids apart that would have the same name.
const DIGITS: usize = 8;

/// A name for each of `ids`: its characters, with `_` in place of those that names do not have. An id that is too long,
/// or would be called like another one before it or like one of `taken`, ends with digits of its digest; so that a name
/// does not depend on what else there is, but for ids that collide.
pub(super) fn of<'a>(
    ids: impl IntoIterator<Item = &'a str>,
    taken: &[&str],
) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for id in ids {
        let plain: String = id.chars().map(allowed).collect();
        let fits = (1..=LONGEST).contains(&plain.len());
        let name = if fits && !taken.contains(&plain.as_str()) && !names.contains_key(&plain) {
            plain
        } else {
            told_apart(&plain, id)
        };
        names.entry(name).or_insert_with(|| id.to_owned());
    }
    names
}

fn allowed(character: char) -> char {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    }
}

fn told_apart(plain: &str, id: &str) -> String {
    let digest = Digest::of(id.as_bytes()).to_string();
    let digits = digest.rsplit(':').next().unwrap_or_default();
    let beginning = plain.chars().take(LONGEST - DIGITS - 1);
    beginning
        .chain(['_'])
        .chain(digits.chars().take(DIGITS))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_become_underscores() {
        let names = of(["fs.read_text", "git.status"], &[]);
        let expected = [
            ("fs_read_text", "fs.read_text"),
            ("git_status", "git.status"),
        ];
        let names: Vec<_> = names
            .iter()
            .map(|(name, id)| (name.as_str(), id.as_str()))
            .collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn every_id_has_a_name_of_its_own_that_clients_accept() {
        let long = "x".repeat(100);
        let other = format!("{long}y");
        let ids = ["a.b", "a_b", "a/b", "hydrate", "ü.ö", &long, &other, ""];
        let names = of(ids, &["hydrate"]);
        assert_eq!(names.len(), ids.len());
        assert!(!names.contains_key("hydrate"));
        for name in names.keys() {
            assert!((1..=LONGEST).contains(&name.len()), "{name}");
            let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            assert!(name.bytes().all(good), "{name}");
        }
    }
}
