//! What stands in the braces of a workflow's steps.

use super::Settings;
use super::text::{MAX_SLOT, length, line};
use crate::route::{Question, Route};
use crate::text::Prompt;

/// Texts of all slots of one half of a prompt; none is empty.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    values: [(&'static str, String); 11],
}

impl Slots {
    /// `clause` is what the half asks for, without politeness.
    pub(super) fn new(
        prompt: &Prompt,
        clause: &str,
        question: &Question<'_>,
        route: &Route,
        settings: &Settings,
    ) -> Self {
        let or = |text: Option<&str>, general: &str| {
            let text = line(text.unwrap_or_default(), MAX_SLOT);
            if text.is_empty() {
                general.to_owned()
            } else {
                text
            }
        };
        let list = |texts: &[String], general: &str| {
            // Joined only as far as there is room.
            let texts: Vec<String> = texts
                .iter()
                .take(8)
                .map(|text| line(text, MAX_SLOT))
                .collect();
            or(Some(&texts.join(", ")), general)
        };
        let skill = route.skill.as_ref().map(|(name, _)| name.as_str());
        let asked = question.session.question.as_deref();
        let object = prompt.object.as_deref();
        let object = object
            .filter(|object| !NO_THINGS.contains(&object.trim().to_lowercase().as_str()))
            .map(with_article);
        let values = [
            ("intent", or(Some(clause), "the request")),
            ("clause", or(Some(clause), "the request")),
            ("object", or(object.as_deref(), "the component")),
            ("error", or(prompt.error.as_deref(), "the reported fault")),
            ("paths", list(&prompt.paths, "the files concerned")),
            ("quoted", list(&prompt.quoted, "the given text")),
            ("urls", list(&prompt.urls, "the links given")),
            ("count", or(prompt.count.as_deref(), "the number of items")),
            ("skill", or(skill, "named")),
            ("question", or(asked, "the last question")),
            (
                "test_cmd",
                or(settings.test_command.as_deref(), "the project's tests"),
            ),
        ];
        Self { values }
    }

    /// A text of a workflow file with its slots filled, in one pass; `tracker` is the name of the task tracker.
    ///
    /// A name in braces that is no slot stands as its words; other braces are text.
    pub(super) fn fill(&self, text: &str, tracker: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let name = after.split_once('}').filter(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            });
            if let Some((name, after)) = name {
                match name {
                    "tracker" => filled.push_str(tracker),
                    name => match self.values.iter().find(|(known, _)| *known == name) {
                        Some((_, value)) => filled.push_str(value),
                        None => filled.push_str(&format!("the {}", name.replace('_', " "))),
                    },
                }
                rest = after;
            } else {
                filled.push('{');
                rest = after;
            }
        }
        filled.push_str(rest);
        filled
    }

    /// One slot.
    pub(super) fn get(&self, name: &str) -> &str {
        self.values
            .iter()
            .find(|(known, _)| *known == name)
            .map_or("", |(_, value)| value)
    }
}

/// What a noun phrase may begin with in place of an article.
const DETERMINERS: &[&str] = &[
    "a", "all", "an", "any", "both", "each", "every", "her", "his", "its", "my", "no", "our",
    "that", "the", "their", "these", "this", "those", "what", "which", "whose", "your", "it",
    "them",
];

/// Words that are no thing, however they stand in a sentence.
const NO_THINGS: &[&str] = &[
    "actually", "again", "also", "be", "both", "do", "exactly", "first", "five", "four", "get",
    "have", "here", "it", "just", "need", "next", "now", "one", "really", "roughly", "see", "so",
    "that", "them", "then", "there", "this", "three", "two", "use", "want",
];

/// A noun phrase as a sentence has it: `the parser` for `parser`, but a path, name or possessive as it is.
fn with_article(object: &str) -> String {
    let object = line(object, MAX_SLOT);
    let first = object.split(' ').next().unwrap_or_default();
    let plain = !first.is_empty()
        && first.chars().all(|c| c.is_lowercase() || c == '-')
        && !object.contains("'s ")
        && !object.contains("’s ");
    // A phrase of many words is a clause, not a name.
    let short = object.split(' ').count() <= 4 && length(&object) <= MAX_SLOT.saturating_sub(4);
    if plain && short && !DETERMINERS.contains(&first) {
        format!("the {object}")
    } else {
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_147_a_bare_noun_gets_its_article() {
        for (object, expected) in [
            ("parser", "the parser"),
            ("memory server", "the memory server"),
            ("the tooltip", "the tooltip"),
            ("parser.py", "parser.py"),
            ("out/", "out/"),
            ("Redis", "Redis"),
            ("last night's snapshot", "last night's snapshot"),
            ("parse_duration", "parse_duration"),
            ("`x` flag", "`x` flag"),
        ] {
            assert_eq!(with_article(object), expected);
        }
    }
}
