//! `guardrails.md` and `skills.md`: list items with a name in backticks.

use super::Skill;
use super::workflow::one_line;

/// Entries of a registry, and phrases of a skill.
const MAX_ENTRIES: usize = 500;

/// Names and definitions, in order, each name once; a parameter (`:<name>`) is not part of the name.
pub(super) fn guardrails(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for (name, rest) in entries(text) {
        let name = name.split(':').next().unwrap_or_default();
        let valid = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        // `none` is the empty list, not a constraint.
        if valid && name != "none" && !all.iter().any(|(known, _)| known == name) {
            all.push((name.to_owned(), one_line(rest)));
        }
    }
    all
}

/// Skills and their trigger phrases.
pub(super) fn skills(text: &str) -> Vec<Skill> {
    let mut all: Vec<Skill> = Vec::new();
    for (name, rest) in entries(text) {
        if !is_skill(name) || all.iter().any(|known| known.name == name) {
            continue;
        }
        all.push(Skill {
            name: name.to_owned(),
            triggers: rest
                .split(';')
                .map(one_line)
                .filter(|phrase| !phrase.is_empty())
                .take(MAX_ENTRIES)
                .collect(),
        });
    }
    all
}

/// Whether a plan can name a skill so: what a guardrail's parameter may hold.
pub(crate) fn is_skill(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'))
}

/// ``- `name`: rest``
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter_map(|line| {
            let item = line.trim_start();
            let item = item
                .strip_prefix("- ")
                .or_else(|| item.strip_prefix("* "))?;
            let (name, rest) = item.trim_start().strip_prefix('`')?.split_once('`')?;
            Some((name, rest.trim_start().strip_prefix(':')?.trim()))
        })
        .take(MAX_ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_has_names_and_definitions() {
        let text = "# G\n\n- `a_b`: Does it.\n- `skill:<name>`: With  that.\n- `Bad`: no\n- `none`: nothing\n- `a_b`: again\ntext `c`: no\n";
        assert_eq!(
            guardrails(text),
            [
                ("a_b".to_owned(), "Does it.".to_owned()),
                ("skill".to_owned(), "With that.".to_owned())
            ]
        );
    }

    #[test]
    fn a_skill_has_phrases() {
        let skills = skills("- `sql-lint`: lint the queries; check sql\n- `a b`: x\n- `no`\n");
        assert_eq!(skills.len(), 1);
        assert_eq!(skills[0].name, "sql-lint");
        assert_eq!(skills[0].triggers, ["lint the queries", "check sql"]);
    }
}
