//! curl, wget and the bare verb, option by option, and with what no author would write.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod processor_time;

#[path = "http_command/curl.rs"]
mod curl;
#[path = "http_command/curl_options.rs"]
mod curl_options;
#[path = "http_command/curl_refusals.rs"]
mod curl_refusals;
#[path = "http_command/hostile.rs"]
mod hostile;
#[path = "http_command/properties.rs"]
mod properties;
#[path = "http_command/verb.rs"]
mod verb;
#[path = "http_command/wget.rs"]
mod wget;

use skill_interpreter::context::Context;
use skill_interpreter::diagnostic::Diagnostics;
use skill_interpreter::draft::{
    BodyDraft, HeaderValue, HttpDraft, Piece, QueryDraft, Quoting, Spelling, Template,
};
use skill_interpreter::failure::{Code, Failure};
use skill_interpreter::http_command::{Invocation, Stdin, parse};

/// A word; `$NAME` within it is a variable, as the shell would hand it over.
fn word(text: &str) -> Template {
    let mut template = Template::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        template.push_literal(before, Quoting::Double);
        let end = after
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(after.len());
        template.append(Template::variable(&after[..end], Spelling::Dollar));
        rest = &after[end..];
    }
    template.push_literal(rest, Quoting::Double);
    template
}

fn read_with(argv: &[&str], stdin: Stdin<'_>) -> (Result<Vec<HttpDraft>, Failure>, Diagnostics) {
    let argv: Vec<Template> = argv.iter().map(|text| word(text)).collect();
    let mut diagnostics = Diagnostics::default();
    let invocation = Invocation {
        argv: &argv,
        stdin,
        line: 7,
    };
    let drafts = parse(&invocation, &Context::default(), &mut diagnostics);
    (drafts, diagnostics)
}

fn read(argv: &[&str]) -> Result<Vec<HttpDraft>, Failure> {
    read_with(argv, Stdin::Nothing).0
}

/// The one request of a command.
fn request(argv: &[&str]) -> HttpDraft {
    let mut drafts = read(argv).unwrap_or_else(|failure| panic!("{argv:?}: {failure}"));
    assert_eq!(drafts.len(), 1, "{argv:?}");
    drafts.remove(0)
}

/// The code that a command is refused with; the failure has the line.
fn refusal(argv: &[&str]) -> Code {
    let failure = read(argv).expect_err(&format!("{argv:?} is refused"));
    assert_eq!(failure.line, Some(7));
    failure.code
}

/// `Name: value`, `Name;` for an empty one, `Name:` for one that is removed; sorted.
fn headers(draft: &HttpDraft) -> Vec<String> {
    let mut list: Vec<String> = draft
        .headers
        .iter()
        .map(|header| match &header.value {
            HeaderValue::Set(value) => format!("{}: {}", header.name, value.display()),
            HeaderValue::Empty => format!("{};", header.name),
            HeaderValue::Removed => format!("{}:", header.name),
        })
        .collect();
    list.sort();
    list
}

/// The text of a body: `[…]` around what is encoded, `@` before a file.
fn body(draft: &HttpDraft) -> Option<String> {
    match &draft.body {
        None => None,
        Some(BodyDraft::Pieces(pieces)) => Some(
            pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.display(),
                    Piece::Encoded(text) => format!("[{}]", text.display()),
                    Piece::File { name, how } => format!("@{}({how:?})", name.display()),
                    Piece::Previous(how) => format!("@-({how:?})"),
                })
                .collect(),
        ),
        Some(other) => Some(format!("{other:?}")),
    }
}

fn query(draft: &HttpDraft) -> Vec<String> {
    draft
        .query
        .iter()
        .map(|piece| match piece {
            QueryDraft::Raw(text) => text.display(),
            QueryDraft::Pair { name, value } => format!("{name}=[{}]", value.display()),
        })
        .collect()
}

fn url(draft: &HttpDraft) -> String {
    draft
        .url
        .as_ref()
        .map(Template::display)
        .unwrap_or_default()
}
