//! What a hook says on stderr: one line each, with a code, and never anything of the prompt.

use std::fmt;

/// Characters of a line, at most.
const LONGEST: usize = 500;

/// Where a warning comes from; its word stands in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The workflow files.
    Catalog,
    /// The working tree.
    Codebase,
    /// `hydrant.toml`.
    Config,
    /// The name of the event.
    Event,
    /// The language model.
    Llm,
    /// Notes, or the server of notes.
    Memory,
    /// The planner itself.
    Planner,
    /// The transcript.
    Session,
    /// The clock.
    Time,
}

impl Source {
    /// The word of this source.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Codebase => "codebase",
            Self::Config => "config",
            Self::Event => "event",
            Self::Llm => "llm",
            Self::Memory => "memory",
            Self::Planner => "planner",
            Self::Session => "session",
            Self::Time => "time",
        }
    }
}

/// Something that went wrong and stops nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Its code.
    pub code: String,
    /// What happened.
    pub message: String,
}

impl Warning {
    /// A warning of the host's own.
    pub fn new(source: Source, message: impl fmt::Display) -> Self {
        Self {
            code: source.as_str().to_owned(),
            message: message.to_string(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line("WARN", &self.code, &self.message))
    }
}

/// One line of at most 500 characters, without control characters.
#[must_use]
pub fn line(level: &str, code: &str, message: &str) -> String {
    let text = format!("{level}: {code}: {message}");
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if plain.len() >= LONGEST.saturating_mul(4) {
            break;
        }
        match character {
            '\n' | '\r' | '\t' => plain.push(' '),
            character if character.is_control() => {}
            // What turns the reading direction around is control as well.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            character => plain.push(character),
        }
    }
    match plain.char_indices().nth(LONGEST) {
        Some(_) => plain
            .chars()
            .take(LONGEST.saturating_sub(1))
            .chain(['…'])
            .collect(),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_short_line() {
        let text = line("WARN", "memory", "a\nb\u{1b}[31mc\u{202e}d\0");
        assert_eq!(text, "WARN: memory: a b[31mcd");
        let long = line("ERROR", "stdin", &"é".repeat(2000));
        assert_eq!(long.chars().count(), 500);
        assert!(long.ends_with('…'));
    }
}
