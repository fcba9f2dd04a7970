//! A prompt taken apart: what the user says, what was pasted, and what both name.
//!
//! Every step is linear in the length of the prompt; there are no regular expressions.

pub mod error;
pub mod paste;
pub mod token;

use token::{Kind, Token};

/// How much of a long main text is read: its first and its last bytes.
const READ_FIRST: usize = 16 * 1024;
const READ_LAST: usize = 4 * 1024;
/// How much pasted text is searched for paths, in bytes.
const PASTED_READ: usize = 64 * 1024;
/// Most paths, quotations or URLs that are kept.
const MOST: usize = 32;

/// A prompt taken apart.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// The main text, as typed but for white space and odd quotation marks.
    pub main: String,
    /// What was taken out of it, and what it was: `fence`, `output`, `trace`, `log` or `diff`.
    pub pasted: Vec<(&'static str, String)>,
    /// The tokens of the main text.
    pub tokens: Vec<Token>,
    /// Paths and file names in the main text, in order, as typed.
    pub paths: Vec<String>,
    /// Paths and file names in the pasted text.
    pub pasted_paths: Vec<String>,
    /// Text in quotes or backticks.
    pub quoted: Vec<String>,
    /// `http` and `https` URLs of the main text.
    pub urls: Vec<String>,
    /// The first error line anywhere, whole.
    pub error: Option<String>,
}

impl Prompt {
    /// Takes a prompt apart.
    #[must_use]
    pub fn read(prompt: &str) -> Self {
        let prompt = prompt.strip_prefix('\u{feff}').unwrap_or(prompt);
        let (lines, pasted) = paste::part(prompt);
        let text = shortened(joined(&lines).trim());
        let mut read = Self {
            error: error::first(prompt),
            main: text.replace('\n', " "),
            tokens: token::tokens(&text),
            pasted,
            ..Self::default()
        };
        read.collect_names();
        read
    }

    /// Whether the main text says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.main.chars().any(char::is_alphanumeric)
    }

    fn collect_names(&mut self) {
        for token in &self.tokens {
            match token.kind {
                Kind::Path => keep(&mut self.paths, place(&token.text)),
                Kind::Url => keep(&mut self.urls, &token.text),
                Kind::Quoted => {
                    keep(&mut self.quoted, &token.text);
                    if token::is_path(&token.text) {
                        keep(&mut self.paths, place(&token.text));
                    }
                }
                _ => {}
            }
        }
        let mut read = 0;
        for word in self
            .pasted
            .iter()
            .flat_map(|(_, text)| text.split_whitespace())
        {
            read += word.len();
            if read > PASTED_READ {
                break;
            }
            let word = word.trim_matches(|letter: char| {
                !letter.is_alphanumeric() && !matches!(letter, '.' | '/' | '_')
            });
            if word.len() < 200 && token::is_path(word) {
                keep(&mut self.pasted_paths, place(word));
            }
        }
        if self.error.is_none() {
            self.error = self
                .quoted
                .iter()
                .find(|quoted| error::message(quoted))
                .cloned();
        }
    }
}

fn keep(list: &mut Vec<String>, text: &str) {
    if list.len() < MOST && !text.is_empty() && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// A path without its line number.
fn place(text: &str) -> &str {
    match text.split_once(':') {
        Some((head, tail)) if tail.starts_with(|letter: char| letter.is_ascii_digit()) => head,
        _ => text,
    }
}

/// Lines as one text: a run of white space is one blank, and `\n` stays where a line break ends something – at an empty
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
        let item = item_text(trimmed);
        if !text.is_empty() {
            text.push(if broken || item.is_some() { '\n' } else { ' ' });
        }
        for (position, word) in item.unwrap_or(trimmed).split_whitespace().enumerate() {
            if position > 0 {
                text.push(' ');
            }
            text.extend(word.chars().map(plain));
        }
        broken = false;
    }
    text
}

/// The text of a list item or heading; a number stays in front of it.
fn item_text(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(['-', '*', '•', '#']);
    if text.len() < line.len() && text.starts_with(' ') {
        return Some(text.trim_start());
    }
    let (head, tail) = line.split_once(['.', ')'])?;
    let numbered = (1..4).contains(&head.len()) && head.bytes().all(|byte| byte.is_ascii_digit());
    (numbered && tail.starts_with(' ')).then_some(line)
}

/// A curly quotation mark or odd hyphen as a plain one.
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
    let head = text
        .get(..text.floor_char_boundary(READ_FIRST))
        .unwrap_or_default();
    let tail = text
        .get(text.ceil_char_boundary(text.len() - READ_LAST)..)
        .unwrap_or_default();
    format!("{head}\n{tail}")
}
