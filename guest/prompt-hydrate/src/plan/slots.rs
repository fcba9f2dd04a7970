//! The texts that replace the braces of a workflow's steps.

use super::text::{MAX_SLOT, length, line};
use super::{Settings, intent};
use crate::cues::{self, has_content, is_order, skip_openers};
use crate::route::{Question, Route};
use crate::text::Prompt;
use crate::text::token::{Kind, Stop, Token};

/// The texts that slots stand for; none is empty.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    values: [(&'static str, String); 11],
}

impl Slots {
    /// The slots of a prompt.
    pub(super) fn new(question: &Question<'_>, route: &Route, settings: &Settings) -> Self {
        let prompt = question.prompt;
        let or = |text: Option<&str>, general: &str| {
            let text = line(text.unwrap_or_default(), MAX_SLOT);
            if text.is_empty() {
                general.to_owned()
            } else {
                text
            }
        };
        let list = |texts: &[String], general: &str| or(Some(&texts.join(", ")), general);
        let clause = or(Some(&intent::clause(question, route)), "the request");
        let object = object(prompt).map(|object| with_article(&object));
        let skill = route.skill.as_ref().map(|(name, _)| name.as_str());
        let asked = question.session.question.as_deref();
        let tests = settings.test_command.as_deref();
        Self {
            values: [
                ("intent", clause.clone()),
                ("clause", clause),
                ("object", or(object.as_deref(), "the component")),
                ("error", or(prompt.error.as_deref(), "the reported fault")),
                ("paths", list(&prompt.paths, "the files concerned")),
                ("quoted", list(&prompt.quoted, "the given text")),
                ("urls", list(&prompt.urls, "the links given")),
                ("count", or(count(&prompt.tokens), "the number of items")),
                ("skill", or(skill, "named")),
                ("question", or(asked, "the last question")),
                ("test_cmd", or(tests, "the project's tests")),
            ],
        }
    }

    /// A text of a workflow file with its slots filled, in one pass; `tracker` is the name of the task tracker.
    ///
    /// A name in braces that is no slot becomes its words; other braces are text.
    pub(super) fn fill(&self, text: &str, tracker: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let name = after.split_once('}').filter(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            });
            rest = after;
            match name {
                None => filled.push('{'),
                Some((name, after)) => {
                    let text = match self.get(name) {
                        _ if name == "tracker" => tracker.to_owned(),
                        "" => format!("the {}", name.replace('_', " ")),
                        text => text.to_owned(),
                    };
                    filled.push_str(&text);
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// Returns the text of a slot; empty: there is none of this name.
    pub(super) fn get(&self, name: &str) -> &str {
        let mut values = self.values.iter();
        let value = values.find(|(known, _)| *known == name);
        value.map_or("", |(_, value)| value)
    }
}

/// What the prompt is about: the first named place, else the first thing behind an article or the verb.
fn object(prompt: &Prompt) -> Option<String> {
    if let Some(path) = prompt.paths.first() {
        return Some(path.clone());
    }
    let tokens = &prompt.tokens;
    if let Some(name) = tokens.iter().find(|token| token.kind == Kind::Identifier) {
        return Some(name.text.clone());
    }
    let main = cues::main_sentence(prompt);
    let main = tokens.iter().position(|token| Some(token.start) == main);
    let main = main.unwrap_or(0);
    let sentence = tokens.get(main..)?;
    let opened = skip_openers(sentence, 0..sentence.len());
    let article = |token: &Token| {
        token.among("the a an my our your this that these those its all every each")
    };
    let after_article = sentence.iter().position(article).map(|at| at + 1);
    let after_verb = opened
        + usize::from(
            sentence
                .get(opened)
                .is_some_and(|token| is_order(&token.word)),
        );
    let start = match after_article {
        Some(at) if at <= after_verb + 4 => at,
        _ => after_verb,
    };
    let mut words: Vec<&str> = Vec::new();
    for token in sentence.iter().skip(start) {
        if token.kind == Kind::Word && (!has_content(token) || ends_phrase(&token.word)) {
            if words.is_empty() && token.stop == Stop::None {
                continue;
            }
            break;
        }
        words.push(&token.text);
        if token.stop != Stop::None || words.len() == 4 {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Whether a word with content ends a noun phrase: a preposition, or a verb of misbehaving.
fn ends_phrase(word: &str) -> bool {
    const ENDS: &str = "above across against along among around before behind below between beyond during inside like near onto \
        outside per since throughout toward towards upon via within without because while whenever whether never always still not \
        anymore crashes dies fails breaks hangs returns shows shows isnt ought must may might than whereas although unless";
    crate::text::token::listed(ENDS, word)
}

/// A number of items: digits before a plural that is no unit.
fn count(tokens: &[Token]) -> Option<&str> {
    const UNITS: &str = "bits bytes characters chars columns days degrees hours lines minutes months ms percent pixels points retries \
        rows seconds secs times weeks words years kb mb gb px rem";
    tokens.iter().enumerate().find_map(|(at, token)| {
        let digits = token.kind == Kind::Number
            && token
                .text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b',')
            && !matches!(token.text.as_str(), "0" | "1" | "2");
        let plural = tokens
            .iter()
            .skip(at + 1)
            .take(3)
            .take_while(|next| !next.among(UNITS));
        let counted = plural
            .filter(|next| next.kind == Kind::Word && next.word.len() > 3)
            .any(|next| next.word.ends_with('s'));
        (digits && counted).then_some(token.text.as_str())
    })
}

/// A noun phrase as a sentence has it: `the parser` for `parser`, but a path, name or possessive as it is.
fn with_article(object: &str) -> String {
    let object = line(object, MAX_SLOT);
    let first = object.split(' ').next().unwrap_or_default();
    let plain = !first.is_empty()
        && first.chars().all(|c| c.is_lowercase() || c == '-')
        && !object.contains("'s ")
        && length(&object) <= MAX_SLOT - 4;
    if plain {
        format!("the {object}")
    } else {
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_noun_gets_its_article() {
        for (object, expected) in [
            ("parser", "the parser"),
            ("memory server", "the memory server"),
            ("parser.py", "parser.py"),
            ("out/", "out/"),
            ("Redis", "Redis"),
            ("last night's snapshot", "last night's snapshot"),
            ("parse_duration", "parse_duration"),
        ] {
            assert_eq!(with_article(object), expected);
        }
    }

    #[test]
    fn the_object_is_a_place_or_the_first_thing() {
        for (prompt, expected) in [
            ("fix the type error in parser.py", "parser.py"),
            ("rename getUser to loadUser", "getUser"),
            ("shorten the tooltip on the archive button", "tooltip"),
            ("what workflows are available?", "workflows"),
            (
                "please speed up our nightly export, it takes hours",
                "nightly export",
            ),
        ] {
            assert_eq!(
                object(&Prompt::read(prompt)).as_deref(),
                Some(expected),
                "{prompt}"
            );
        }
    }
}
