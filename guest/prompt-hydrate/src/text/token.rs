//! Main text as tokens: words in one spelling, and things that count as one noun – quotations, paths, identifiers, numbers.

pub use super::kind::is_path;
use super::kind::kind;
use super::lemma::{self, Verb};
use super::lexicon::within;
use super::spelling;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word.
    Word,
    /// It starts with a digit.
    Number,
    /// In quotes or backticks: one opaque noun.
    Quoted,
    /// A path or file name.
    Path,
    /// `http` or `https`.
    Url,
    /// `snake_case`, `camelCase`, `a::b`, `f()`, `--flag`.
    Identifier,
}

/// What stands after a token, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Stop {
    /// Nothing.
    #[default]
    /// Nothing.
    None,
    /// Also a bracket.
    Comma,
    /// :
    Colon,
    /// Between blanks.
    Dash,
    /// ;
    Semicolon,
    /// A line break that ends something: an empty line, or before a list item.
    Line,
    /// .
    Period,
    /// !
    Exclamation,
    /// ?
    Question,
}

impl Stop {
    /// Ends a clause always.
    #[must_use]
    pub fn cuts(self) -> bool {
        self >= Self::Colon
    }
}

/// One token.
#[derive(Debug, Clone)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// As typed, without quotes; empty for the second word of a contraction.
    pub text: String,
    /// Lower case, in one spelling.
    pub word: String,
    /// The verb that it may be.
    pub verb: Option<Verb>,
    /// Bytes of the main text.
    pub start: usize,
    /// Where it ends in the main text, in bytes.
    pub end: usize,
    /// What stands after it.
    pub stop: Stop,
}

impl Token {
    /// Whether it is this word.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.word == word
    }

    /// Whether it is one of these words.
    #[must_use]
    pub fn among(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word && words.contains(&self.word.as_str())
    }

    /// Whether it is a word of the class.
    #[must_use]
    pub fn within(&self, words: super::lexicon::Words) -> bool {
        self.kind == Kind::Word && within(words, &self.word)
    }
}

/// Longest quotation, in bytes, that counts as one noun.
const LONGEST_QUOTATION: usize = 600;
const LONGEST_SINGLE_QUOTATION: usize = 160;

/// Cuts main text, in which `\n` stands only where a line break ends something.
#[must_use]
pub fn tokens(main: &str) -> Vec<Token> {
    let mut reader = Reader { tokens: Vec::new() };
    let mut place = 0;
    let mut before = ' ';
    while let Some(rest) = main.get(place..) {
        let Some(first) = rest.chars().next() else {
            break;
        };
        if first == '\n' {
            reader.stop(Stop::Line);
            place += 1;
        } else if first.is_whitespace() {
            place += first.len_utf8();
        } else if let Some(length) = quotation(rest, first, before) {
            let text = rest
                .get(first.len_utf8()..length - first.len_utf8())
                .unwrap_or_default();
            reader.push(Kind::Quoted, text, place, place + length);
            place += length;
        } else {
            let length = rest
                .char_indices()
                .find(|(at, letter)| {
                    letter.is_whitespace() || (*at > 0 && matches!(letter, '"' | '`' | '—'))
                })
                .map_or(rest.len(), |(at, _)| at);
            let chunk = rest.get(..length).unwrap_or_default();
            reader.chunk(chunk, place);
            place += length.max(1);
        }
        before = main
            .get(..place)
            .and_then(|read| read.chars().next_back())
            .unwrap_or(' ');
    }
    reader.tokens
}

/// Length of the quotation that starts here, with its marks.
fn quotation(rest: &str, mark: char, before: char) -> Option<usize> {
    let longest = match mark {
        '"' | '`' => LONGEST_QUOTATION,
        '\'' if !before.is_alphanumeric() => LONGEST_SINGLE_QUOTATION,
        _ => return None,
    };
    let mut previous = mark;
    for (at, letter) in rest.char_indices().skip(1) {
        if letter == '\n' || at > longest {
            return None;
        }
        if letter == mark {
            let after = rest
                .get(at + 1..)
                .and_then(|tail| tail.chars().next())
                .unwrap_or(' ');
            if mark != '\'' || (!after.is_alphanumeric() && !previous.is_whitespace()) {
                return (at > 1).then_some(at + 1);
            }
        }
        if at == 1 && letter.is_whitespace() && mark == '\'' {
            return None;
        }
        previous = letter;
    }
    None
}

struct Reader {
    tokens: Vec<Token>,
}

impl Reader {
    fn stop(&mut self, stop: Stop) {
        if let Some(last) = self.tokens.last_mut() {
            last.stop = last.stop.max(stop);
        }
    }

    fn push(&mut self, kind: Kind, text: &str, start: usize, end: usize) {
        let lower = text.to_lowercase();
        if kind != Kind::Word {
            self.tokens.push(Token {
                kind,
                text: text.to_owned(),
                word: lower,
                verb: None,
                start,
                end,
                stop: Stop::None,
            });
            return;
        }
        if let Some(words) = spelling::expand(&lower) {
            for (position, word) in words.iter().enumerate() {
                let text = if position == 0 { text } else { "" };
                self.word(text, (*word).to_owned(), start, end);
            }
        } else {
            self.word(text, spelling::normal(&lower), start, end);
        }
    }

    fn word(&mut self, text: &str, word: String, start: usize, end: usize) {
        let verb = lemma::verb(&word).or_else(|| {
            word.contains('-')
                .then(|| lemma::verb(&word.replace('-', "")))
                .flatten()
        });
        self.tokens.push(Token {
            kind: Kind::Word,
            text: text.to_owned(),
            word,
            verb,
            start,
            end,
            stop: Stop::None,
        });
    }

    /// A run without white space and quotation marks.
    fn chunk(&mut self, chunk: &str, start: usize) {
        if chunk
            .chars()
            .all(|letter| matches!(letter, '-' | '—' | '–' | '*' | '•'))
        {
            self.stop(if chunk == "*" { Stop::Line } else { Stop::Dash });
            return;
        }
        let opened = chunk.trim_start_matches(|letter: char| "([{*<\"'`—–#!?,;:|".contains(letter));
        // "#42" and "#[derive]" keep their sign; an opening bracket is a pause.
        let mut from = start + (chunk.len() - opened.len());
        if chunk.starts_with(['(', '[', '—', '–']) {
            self.stop(Stop::Comma);
        }
        if chunk.starts_with(['?', '!', ';', ',', ':']) {
            self.punctuation(chunk.get(..chunk.len() - opened.len()).unwrap_or_default());
        }
        let mut body = opened;
        if body.starts_with("...") {
            let rest = body.trim_start_matches('.');
            from += body.len() - rest.len();
            body = rest;
        }
        let closed =
            body.trim_end_matches(|letter: char| ".,;:?!()[]{}*>\"'`…|—–".contains(letter));
        // "f()" keeps its brackets.
        let closed = if body
            .get(closed.len()..)
            .is_some_and(|tail| tail.starts_with("()"))
            && !closed.is_empty()
        {
            body.get(..closed.len() + 2).unwrap_or(closed)
        } else {
            closed
        };
        let tail = body.get(closed.len()..).unwrap_or_default();
        if closed.chars().any(char::is_alphanumeric) {
            self.parts(closed, from);
        }
        self.punctuation(tail);
    }

    fn punctuation(&mut self, marks: &str) {
        for mark in marks.chars() {
            self.stop(match mark {
                '.' | '…' => Stop::Period,
                ',' | ')' | ']' => Stop::Comma,
                ':' => Stop::Colon,
                ';' => Stop::Semicolon,
                '?' => Stop::Question,
                '!' => Stop::Exclamation,
                '—' | '–' => Stop::Dash,
                _ => Stop::None,
            });
        }
    }

    /// "a,b" is two, "a...b" too; "1,000" is one.
    fn parts(&mut self, text: &str, start: usize) {
        let cut = text
            .match_indices(',')
            .map(|(at, _)| (at, 1))
            .find(|(at, _)| {
                let left = text.get(..*at).and_then(|left| left.chars().next_back());
                let right = text.get(at + 1..).and_then(|right| right.chars().next());
                !(left.is_some_and(|letter| letter.is_ascii_digit())
                    && right.is_some_and(|letter| letter.is_ascii_digit()))
            });
        let cut = cut.or_else(|| text.find("...").map(|at| (at, 3)));
        if let Some((at, length)) = cut
            && at > 0
            && !text.contains('(')
        {
            self.one(text.get(..at).unwrap_or_default(), start);
            self.stop(if length == 3 {
                Stop::Period
            } else {
                Stop::Comma
            });
            let rest = text.get(at + length..).unwrap_or_default();
            if !rest.is_empty() {
                self.one(rest, start + at + length);
            }
        } else {
            self.one(text, start);
        }
    }

    fn one(&mut self, text: &str, start: usize) {
        self.push(kind(text), text, start, start + text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        tokens(text)
            .into_iter()
            .map(|token| (token.kind, token.word))
            .collect()
    }

    #[test]
    fn q_119_a_quotation_is_one_noun() {
        assert_eq!(
            kinds("put a link captioned \"what is this?\" in it"),
            [
                (Kind::Word, "put".into()),
                (Kind::Word, "a".into()),
                (Kind::Word, "link".into()),
                (Kind::Word, "captioned".into()),
                (Kind::Quoted, "what is this?".into()),
                (Kind::Word, "in".into()),
                (Kind::Word, "it".into()),
            ]
        );
        assert_eq!(
            kinds("don't use 'x y' it's the users' own")
                .iter()
                .filter(|(kind, _)| *kind == Kind::Quoted)
                .count(),
            1
        );
    }

    #[test]
    fn q_117_paths_identifiers_numbers_and_words_are_told_apart() {
        for (text, kind) in [
            ("parser.py", Kind::Path),
            ("src/main", Kind::Path),
            (".gitattributes", Kind::Path),
            ("README", Kind::Path),
            ("https://a.example/b", Kind::Url),
            ("parse_duration", Kind::Identifier),
            ("getUser", Kind::Identifier),
            ("std::env", Kind::Identifier),
            ("run()", Kind::Identifier),
            ("40MB", Kind::Number),
            ("1,000", Kind::Number),
            ("and/or", Kind::Word),
            ("Node.js", Kind::Word),
            ("GitHub", Kind::Word),
            ("read-only", Kind::Word),
        ] {
            assert_eq!(
                kinds(text).first().map(|(kind, _)| *kind),
                Some(kind),
                "{text}"
            );
        }
    }

    #[test]
    fn q_120_stops_are_kept() {
        let stops: Vec<Stop> = tokens("one, two; three -- four. five?")
            .iter()
            .map(|token| token.stop)
            .collect();
        assert_eq!(
            stops,
            [
                Stop::Comma,
                Stop::Semicolon,
                Stop::Dash,
                Stop::Period,
                Stop::Question
            ]
        );
    }
}
