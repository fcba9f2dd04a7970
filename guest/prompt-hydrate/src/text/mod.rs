//! A prompt taken apart: what the user says, what was pasted, its clauses and what they name (section 14.1).
//!
//! Every step is linear in the length of the prompt; there are no regular expressions.

pub mod clause;
pub mod error;
pub mod greeting;
mod kind;
pub mod lemma;
pub mod lexicon;
pub mod paste;
pub mod slots;
pub mod spelling;
pub mod token;

use clause::Tie;
use token::{Kind, Token};

/// what routing reads of a long main text, in bytes.
const READ_FIRST: usize = 16 * 1024;
const READ_LAST: usize = 4 * 1024;

/// A prompt after.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// The main text, with its case and quotes as typed, white space normalised; of a long one the first 16 kB and
    /// the last 4 kB.
    pub main: String,
    /// What was taken out of it, and what it was (`fence`, `output`, `trace`, `log`, `diff`, `greeting`, …).
    pub pasted: Vec<(&'static str, String)>,
    /// Clauses of the main text.
    pub clauses: Vec<Clause>,
    /// Which of them is the main clause.
    pub main_clause: Option<usize>,
    /// Paths and file names in the main text, in order, as typed.
    pub paths: Vec<String>,
    /// Those in the pasted text.
    pub pasted_paths: Vec<String>,
    /// Text in quotes or backticks.
    pub quoted: Vec<String>,
    /// http and https URLs of the main text.
    pub urls: Vec<String>,
    /// The first error line anywhere, whole.
    pub error: Option<String>,
    /// A number of items ("63 manifests"), as typed.
    pub count: Option<String>,
    /// The first named place, else the head noun phrase of the main clause (Q-147 `{object}`).
    pub object: Option<String>,
    /// Further clauses "it should …", "it must …", "also …", each as an instruction.
    pub requirements: Vec<String>,
}

/// One clause of the main text.
#[derive(Debug, Clone, Default)]
pub struct Clause {
    /// As typed, without its final punctuation.
    pub text: String,
    /// Its lemma-like lower-case words.
    pub words: Vec<String>,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// How it is tied to the clause before it.
    pub tie: Tie,
    /// What it says and how.
    pub reading: crate::signals::speech::Reading,
}

impl Prompt {
    /// Takes a prompt apart. Linear in its length.
    #[must_use]
    pub fn read(prompt: &str) -> Self {
        let prompt = prompt.strip_prefix('\u{feff}').unwrap_or(prompt);
        let (lines, mut pasted) = paste::part(prompt);
        let text = joined(&lines);
        let (start, end) = greeting::without(&text);
        for polite in [text.get(..start), text.get(end..)].into_iter().flatten() {
            if polite.chars().any(char::is_alphanumeric) {
                pasted.push(("greeting", polite.trim().to_owned()));
            }
        }
        let text = shortened(text.get(start..end).unwrap_or_default().trim());
        let mut read = Self {
            error: error::first(prompt),
            main: text.replace('\n', " "),
            pasted,
            ..Self::default()
        };
        let tokens = token::tokens(&text);
        let cuts = clause::cuts(&tokens);
        for (position, (from, tie)) in cuts.iter().enumerate() {
            let to = cuts
                .get(position + 1)
                .map_or(tokens.len(), |(next, _)| *next);
            let part = tokens.get(*from..to).unwrap_or_default();
            read.clauses.push(Clause::of(&read.main, part, *tie));
        }
        read.main_clause = crate::signals::speech::main_clause(&read.clauses);
        slots::fill(&mut read, &tokens);
        read
    }

    /// The main clause.
    #[must_use]
    pub fn main_clause(&self) -> Option<&Clause> {
        self.main_clause.and_then(|place| self.clauses.get(place))
    }

    /// All tokens of the main text.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.clauses.iter().flat_map(|clause| clause.tokens.iter())
    }
}

impl Clause {
    fn of(main: &str, tokens: &[Token], tie: Tie) -> Self {
        let start = tokens.first().map_or(0, |token| token.start);
        let end = tokens.last().map_or(start, |token| token.end);
        Self {
            text: main.get(start..end).unwrap_or_default().to_owned(),
            words: tokens.iter().map(lemma_of).collect(),
            tokens: tokens.to_vec(),
            tie,
            reading: crate::signals::speech::Reading::of(tokens),
        }
    }
}

/// The word a token counts as, for triggers, BM25 and the model.
#[must_use]
pub fn lemma_of(token: &Token) -> String {
    match token.kind {
        Kind::Word => token
            .verb
            .map_or_else(|| lemma::singular(&token.word), |verb| verb.base.to_owned()),
        _ => token.word.clone(),
    }
}

/// Lines as one text: runs of white space are one blank, and `\n` stays where a line break ends something – at an empty
/// line and before a list item.
fn joined(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut broken = false;
    for line in lines {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            broken = true;
            continue;
        }
        let mark = trimmed.trim_start_matches(['-', '*', '•', '#']);
        let marked = mark.len() < trimmed.len() && mark.starts_with(' ');
        let item = marked
            || trimmed.split_once(['.', ')']).is_some_and(|(head, tail)| {
                !head.is_empty()
                    && head.len() < 4
                    && tail.starts_with(' ')
                    && head.bytes().all(|byte| byte.is_ascii_digit())
            });
        let trimmed = if marked { mark.trim_start() } else { trimmed };
        if !text.is_empty() {
            text.push(if broken || item { '\n' } else { ' ' });
        }
        for (position, word) in trimmed.split_whitespace().enumerate() {
            if position > 0 {
                text.push(' ');
            }
            text.extend(word.chars().map(plain));
        }
        broken = false;
    }
    text
}

/// Curly quotes and odd blanks as plain ones.
fn plain(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{02bc}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{00ab}' | '\u{00bb}' => '"',
        '\u{2010}' | '\u{2011}' => '-',
        other => other,
    }
}

/// The first and last part of a long text.
fn shortened(text: &str) -> String {
    if text.len() <= READ_FIRST + READ_LAST {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(READ_FIRST);
    let tail = text.ceil_char_boundary(text.len() - READ_LAST);
    format!(
        "{}\n{}",
        text.get(..head).unwrap_or_default(),
        text.get(tail..).unwrap_or_default()
    )
}
