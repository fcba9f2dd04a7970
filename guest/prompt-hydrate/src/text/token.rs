//! Main text as tokens: words in lower case, and what counts as one noun, such as quotations, paths and identifiers.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word.
    Word,
    /// It starts with a digit.
    Number,
    /// Text in quotes or backticks: one opaque noun.
    Quoted,
    /// A path or file name.
    Path,
    /// An `http` or `https` URL.
    Url,
    /// `snake_case`, `camelCase`, `a::b`, `f()`, `--flag`.
    Identifier,
}

/// The punctuation after a token, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Stop {
    /// Nothing.
    #[default]
    None,
    /// A comma or a bracket.
    Comma,
    /// A colon.
    Colon,
    /// A dash between blanks.
    Dash,
    /// A semicolon.
    Semicolon,
    /// A line break that ends something: an empty line, or one before a list item.
    Line,
    /// A period.
    Period,
    /// An exclamation mark.
    Exclamation,
    /// A question mark.
    Question,
}

/// One token.
#[derive(Debug, Clone)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// The text as typed, without quotes; empty for the second word of a contraction.
    pub text: String,
    /// The text in lower case, without apostrophes.
    pub word: String,
    /// Where it begins in the main text, in bytes.
    pub start: usize,
    /// The punctuation after it.
    pub stop: Stop,
}

impl Token {
    /// Whether it is one of the words of a list, which are parted by blanks.
    #[must_use]
    pub fn among(&self, list: &str) -> bool {
        self.kind == Kind::Word && listed(list, &self.word)
    }
}

/// Whether a word is in a list of words that are parted by blanks.
#[must_use]
pub fn listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Longest quotation that counts as one noun, in bytes.
const LONGEST_QUOTATION: usize = 600;
const LONGEST_SINGLE_QUOTATION: usize = 160;

/// Negations that are typed without their apostrophe.
const BARE_NEGATIONS: &str =
    "arent cant couldnt didnt doesnt dont hasnt havent isnt shouldnt wasnt werent wont wouldnt";

/// Cuts main text, in which `\n` is a line break that ends something.
#[must_use]
pub fn tokens(main: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = main;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let start = main.len() - rest.len();
        let length = if first == '\n' {
            stop(&mut tokens, Stop::Line);
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if let Some(length) = quotation(rest, first, before) {
            let mark = first.len_utf8();
            push(
                &mut tokens,
                Kind::Quoted,
                rest.get(mark..length - mark).unwrap_or_default(),
                start,
            );
            length
        } else {
            let length = rest
                .char_indices()
                .find(|(at, letter)| {
                    letter.is_whitespace() || (*at > 0 && matches!(letter, '"' | '`' | '—'))
                })
                .map_or(rest.len(), |(at, _)| at);
            run(&mut tokens, rest.get(..length).unwrap_or_default(), start);
            length
        };
        before = rest
            .get(..length)
            .and_then(|read| read.chars().next_back())
            .unwrap_or(' ');
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
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
        if letter == '\n' || at > longest || (at == 1 && mark == '\'' && letter.is_whitespace()) {
            return None;
        }
        if letter == mark {
            let after = rest.get(at + 1..).and_then(|tail| tail.chars().next());
            if mark != '\''
                || (!after.is_some_and(char::is_alphanumeric) && !previous.is_whitespace())
            {
                return (at > 1).then_some(at + 1);
            }
        }
        previous = letter;
    }
    None
}

/// Reads a run of characters without white space and quotation marks.
fn run(tokens: &mut Vec<Token>, run: &str, start: usize) {
    if run
        .chars()
        .all(|letter| matches!(letter, '-' | '—' | '–' | '*' | '•'))
    {
        stop(tokens, Stop::Dash);
        return;
    }
    let body = run.trim_start_matches(|letter: char| "([{*<\"'`—–#!?,;:|".contains(letter));
    punctuation(
        tokens,
        run.get(..run.len() - body.len()).unwrap_or_default(),
    );
    let body = body.trim_start_matches("...");
    let start = start + (run.len() - body.len());
    let mut closed =
        body.trim_end_matches(|letter: char| ".,;:?!()[]{}*>\"'`…|—–".contains(letter));
    // "f()" keeps its brackets.
    if body
        .get(closed.len()..)
        .is_some_and(|tail| tail.starts_with("()"))
        && !closed.is_empty()
    {
        closed = body.get(..closed.len() + 2).unwrap_or(closed);
    }
    if closed.chars().any(char::is_alphanumeric) {
        push(tokens, kind(closed), closed, start);
    }
    punctuation(tokens, body.get(closed.len()..).unwrap_or_default());
}

fn stop(tokens: &mut [Token], stop: Stop) {
    if let Some(last) = tokens.last_mut() {
        last.stop = last.stop.max(stop);
    }
}

fn punctuation(tokens: &mut [Token], marks: &str) {
    for mark in marks.chars() {
        let found = match mark {
            '.' | '…' => Stop::Period,
            ',' | '(' | ')' | '[' | ']' => Stop::Comma,
            ':' => Stop::Colon,
            ';' => Stop::Semicolon,
            '?' => Stop::Question,
            '!' => Stop::Exclamation,
            '—' | '–' => Stop::Dash,
            _ => Stop::None,
        };
        stop(tokens, found);
    }
}

fn push(tokens: &mut Vec<Token>, kind: Kind, text: &str, start: usize) {
    let lower = text.to_lowercase();
    let mut add = |text: &str, word: String| {
        tokens.push(Token {
            kind,
            text: text.to_owned(),
            word,
            start,
            stop: Stop::None,
        });
    };
    if kind != Kind::Word {
        return add(text, lower);
    }
    let stem = lower.strip_suffix("n't").or_else(|| {
        lower
            .strip_suffix("nt")
            .filter(|_| listed(BARE_NEGATIONS, &lower))
    });
    match stem {
        Some(stem) => {
            add(
                text,
                match stem {
                    "ca" => "can".to_owned(),
                    "wo" => "will".to_owned(),
                    stem => stem.to_owned(),
                },
            );
            add("", "not".to_owned());
        }
        None => add(text, lower.replace('\'', "")),
    }
}

/// Endings of file names.
const EXTENSIONS: &str = "adoc astro avi bash bat bib bin bmp c cc cfg cjs clj conf cpp crt cs css csv cts cxx dart db dll diff \
    docx ejs env erl ex exe exs gif go gql gradle graphql gz h hbs hpp hs htm html ico ini ipynb j2 jar java jl jpeg jpg js json \
    jsonl jsx key kt kts less lock log lua md mdx mjs mk ml mo mod mp3 mp4 mts nix odt parquet patch pdf pem php pl plist png po \
    ppt pptx properties proto ps1 py pyi r rb rs rst rtf sass scala scss service sh so sql sqlite sum svelte svg swift tar tex tf \
    tmpl toml ts tsv tsx txt vue wasm wav webm webp wit woff xls xlsx xml yaml yml zig zip zsh";

/// Files without an ending, which are written with a capital.
const NAMED_FILES: &str = "changelog codeowners dockerfile gemfile jenkinsfile license makefile procfile readme vagrantfile";

/// Words with a slash that are no paths.
const SLASHED: &str = "a/b and/or async/await before/after ci/cd client/server either/or he/she http/https i/o in/out input/output \
    light/dark n/a on/off open/close pass/fail pros/cons pub/sub read/write red/green red/green/refactor start/stop tcp/ip true/false up/down w/ w/o yes/no";

/// Names with a capital inside, or an ending, that are plain nouns.
const NAMES: &str = "changelog devops express.js github gitlab graphql ios iphone ipv4 ipv6 javascript macos mongodb mysql next.js \
    node.js nodejs oauth openapi postgresql react.js sqlite todo typescript vue.js webassembly websocket wordpress youtube";

/// Whether a word alone is a path or file name.
#[must_use]
pub fn is_path(text: &str) -> bool {
    !text.contains(char::is_whitespace) && kind(text) == Kind::Path
}

fn kind(text: &str) -> Kind {
    let lower = text.to_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Kind::Url;
    }
    if listed(NAMES, &lower) {
        return Kind::Word;
    }
    let digits =
        text.trim_start_matches(['$', '£', '€', '#', '~', '+', '-', '<', '>', '=', 'v', 'x']);
    if digits.starts_with(|letter: char| letter.is_ascii_digit()) && !digits.contains(['/', '_']) {
        Kind::Number
    } else if path(text, &lower) {
        Kind::Path
    } else if identifier(text) {
        Kind::Identifier
    } else {
        Kind::Word
    }
}

fn path(text: &str, lower: &str) -> bool {
    // "parser.py:12" names a place in a file.
    let lower = lower
        .split_once(':')
        .filter(|(_, tail)| tail.starts_with(|letter: char| letter.is_ascii_digit()))
        .map_or(lower, |(head, _)| head);
    if lower.contains('/') {
        let number = |part: &str| part.chars().all(|letter| letter.is_ascii_digit());
        return lower.chars().any(char::is_alphanumeric)
            && !listed(SLASHED, lower)
            && !lower.split('/').all(number)
            && lower.len() > 2;
    }
    if listed(NAMED_FILES, lower) && text.starts_with(char::is_uppercase) {
        return true;
    }
    match lower.rsplit_once('.') {
        None => false,
        Some(("", ending)) => {
            ending.len() > 1
                && ending
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '-')
        }
        Some((_, ending)) => listed(EXTENSIONS, ending),
    }
}

fn identifier(text: &str) -> bool {
    let inner = text.trim_matches('_');
    let hump = inner
        .chars()
        .zip(inner.chars().skip(1))
        .take(80)
        .any(|(one, two)| one.is_lowercase() && two.is_uppercase());
    let dotted = inner.contains('.')
        && inner.split('.').all(|part| {
            part.chars().count() > 1
                && part
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '_')
        });
    inner.contains('_')
        || hump
        || dotted
        || text.contains("::")
        || text.ends_with("()")
        || (text.starts_with(['-', '$', '@']) && inner.len() > 1)
}
