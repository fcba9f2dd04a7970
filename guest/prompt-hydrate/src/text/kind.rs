//! Paths, identifiers, numbers and words, told apart by how they are written.

use super::lexicon::function_words::TECHNOLOGIES;
use super::lexicon::{phrases, within};
use super::token::Kind;

/// Endings of file names.
static EXTENSIONS: &str = " adoc astro avi bash bat bib bin bmp c cc cfg cjs clj conf cpp crt cs css csv cts cxx dart db dll \
    diff docx ejs env erl ex exe exs gif go gql gradle graphql gz h hbs hpp hs htm html ico ini ipynb j2 jar java jl jpeg jpg \
    js json jsonl jsx key kt kts less lock log lua md mdx mjs mk ml mo mod mp3 mp4 mts nix odt parquet patch pdf pem php pl \
    plist png po ppt pptx properties proto ps1 py pyi r rb rs rst rtf sass scala scss service sh so sql sqlite sum svelte svg \
    swift tar tex tf tmpl toml ts tsv tsx txt vue wasm wav webm webp wit woff xls xlsx xml yaml yml zig zip zsh ";

/// Files without an ending.
static NAMED_FILES: &[&str] = &[
    "changelog",
    "codeowners",
    "dockerfile",
    "gemfile",
    "jenkinsfile",
    "license",
    "makefile",
    "procfile",
    "readme",
    "vagrantfile",
];

phrases! {
    /// Words with a slash that are no paths.
    SLASHED =
    "|a/b|and/or|async/await|before/after|ci/cd|client/server|either/or|he/she|i/o|in/out|input/output|n/a\
     |on/off|open/close|pass/fail|pros/cons|pub/sub|read/write|start/stop|tcp/ip|true/false|w/|w/o|yes/no\
     |up/down|left/right|crud/rest|http/https|light/dark|dark/light"
}

phrases! {
    /// Names that are written with a capital inside but are plain nouns.
    NAMES =
    "|changelog|devops|ebay|github|gitlab|graphql|ios|ipad|iphone|ipv4|ipv6|javascript|linkedin|macos|mongodb\
     |mysql|nan|nodejs|oauth|openai|openapi|paypal|postgresql|powerpoint|sqlite|todo|typescript|webassembly\
     |webrtc|websocket|websockets|wifi|wordpress|youtube"
}

/// Whether a word alone is a path or file name.
#[must_use]
pub fn is_path(text: &str) -> bool {
    !text.contains(char::is_whitespace) && kind(text) == Kind::Path
}

/// What a run of letters and signs is.
#[must_use]
pub(super) fn kind(text: &str) -> Kind {
    let lower = text.to_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Kind::Url;
    }
    let digits =
        text.trim_start_matches(['$', '£', '€', '#', '~', '+', '-', '<', '>', '=', 'v', 'x']);
    if digits.starts_with(|letter: char| letter.is_ascii_digit())
        && !digits.contains('/')
        && !digits.contains('_')
    {
        return Kind::Number;
    }
    if path(text, &lower) {
        return Kind::Path;
    }
    if identifier(text, &lower) {
        return Kind::Identifier;
    }
    Kind::Word
}

fn path(text: &str, lower: &str) -> bool {
    // "parser.py:12" names a place in a file.
    let lower = lower.split_once(':').map_or(lower, |(head, tail)| {
        if tail.starts_with(|letter: char| letter.is_ascii_digit()) {
            head
        } else {
            lower
        }
    });
    if lower.contains('/') {
        let named = lower.chars().any(char::is_alphanumeric);
        let bare = |part: &str| part.chars().all(|letter| letter.is_ascii_digit());
        return named
            && !SLASHED.contains(&lower)
            && !lower.split('/').all(bare)
            && lower.len() > 2;
    }
    if NAMED_FILES.contains(&lower) && text.starts_with(char::is_uppercase) {
        return true;
    }
    let Some((stem, ending)) = lower.rsplit_once('.') else {
        return false;
    };
    if stem.is_empty() {
        return ending.len() > 1
            && ending
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '-');
    }
    let known = ending.chars().all(|letter| letter.is_ascii_alphanumeric())
        && EXTENSIONS.contains(&format!(" {ending} "));
    known && !(ending == "js" && (within(TECHNOLOGIES, stem) || within(TECHNOLOGIES, lower)))
}

fn identifier(text: &str, lower: &str) -> bool {
    if NAMES.contains(&lower)
        || within(TECHNOLOGIES, lower)
        || lower
            .strip_suffix(".js")
            .is_some_and(|stem| within(TECHNOLOGIES, stem))
    {
        return false;
    }
    let inner = text.trim_matches('_');
    let letters: Vec<char> = inner.chars().take(80).collect();
    let hump = letters
        .windows(2)
        .any(|pair| matches!(pair, [one, two] if one.is_lowercase() && two.is_uppercase()));
    let dotted = inner.split('.').count() > 1
        && inner.split('.').all(|part| {
            part.chars().count() > 1
                && part
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || letter == '_')
        });
    inner.contains('_')
        || hump
        || text.contains("::")
        || text.ends_with("()")
        || (text.starts_with('-') && inner.len() > 1)
        || (text.starts_with('$') && inner.len() > 1)
        || (text.starts_with('@') && inner.len() > 1)
        || dotted
}
