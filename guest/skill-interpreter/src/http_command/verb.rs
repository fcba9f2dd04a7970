//! The bare verb: `GET /path`, headers, body.
//!
//! Lines are read one by one; what a line is depends on the line and on the part of the request it stands in. Nothing is
//! ever both: a label never becomes part of a body, and a comment outside one never part of a request.

use super::header;
use super::url::with_query_placeholders;
use crate::assemble::check_address;
use crate::assemble::placeholder::{Place, document_text, scan};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{
    BodyDraft, Draft, DraftStage, HeaderDraft, HeaderValue, HttpDraft, Piece, QueryDraft, Template,
    WrittenAs,
};
use crate::failure::Failure;
use crate::limits;

/// The verbs that begin a request.
pub const VERBS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Whether the first line that is neither blank nor a comment is a method, blanks, and a path, an address or a variable.
#[must_use]
pub fn begins(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && comment(line).is_none())
        .is_some_and(|line| request_line(line).is_some())
}

/// Whether a text [`begins`] with a request and holds nothing else: further requests, headers, labels, comments and JSON. Where
/// commands are expected, anything more may be one.
#[must_use]
pub fn is_all(text: &str) -> bool {
    begins(text)
        && text.lines().map(str::trim).all(|line| {
            let is_header = || {
                let name = line.split_once(':').map(|(name, _)| name);
                name.is_some_and(header::is_token)
            };
            line.is_empty()
                || line.starts_with(['{', '}', '[', ']', '"', '?'])
                || comment(line).is_some()
                || label(line).is_some()
                || request_line(line).is_some()
                || is_header()
        })
}

/// What may follow a method: a path, an address, or a variable that stands for one.
#[must_use]
pub fn is_target(text: &str) -> bool {
    let is_variable = |rest: &str| {
        rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '{')) || rest.is_empty()
    };
    ["/", "http://", "https://", "<", "$"]
        .iter()
        .any(|begin| text.starts_with(begin))
        || text.strip_prefix('{').is_some_and(is_variable)
}

/// What separates a target from a remark about it.
const REMARK_MARKS: [char; 9] = ['#', '→', '-', '–', '—', '(', '|', '=', '←'];

/// A request, and what the text says of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct VerbRequest {
    /// The request; `written_as` is `Verb`.
    pub draft: Draft,
    /// What stands after `Returns:`, `Response:` or `Output:`.
    pub output: Option<String>,
}

/// Reads text that [`begins`] so. Several requests are several operations; more than
/// [`limits::FENCE_OPERATIONS`] are one that is unusable.
#[must_use]
pub fn parse(
    text: &str,
    start_line: u32,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Vec<VerbRequest> {
    let _ = (context, diagnostics);
    let mut requests = Vec::new();
    let mut comment_above = None;
    let mut open: Option<Lines<'_>> = None;
    for (line, number) in text.lines().zip(start_line..) {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix("###") {
            requests.extend(open.take().map(|request| request.finish(&mut None)));
            let name = name.trim_start_matches('#').trim();
            comment_above = (!name.is_empty()).then(|| name.to_owned());
        } else if let Some((verb, target)) = request_line(trimmed) {
            requests.extend(
                open.take()
                    .map(|request| request.finish(&mut comment_above)),
            );
            open = Some(Lines::new(line, number, verb, target, comment_above.take()));
        } else if let Some(request) = &mut open {
            comment_above = None;
            request.take(line);
        } else {
            comment_above = comment(trimmed).map(str::to_owned);
        }
        if requests.len() > limits::FENCE_OPERATIONS {
            return vec![too_many(text, start_line)];
        }
    }
    requests.extend(open.map(|request| request.finish(&mut None)));
    if requests.len() > limits::FENCE_OPERATIONS {
        return vec![too_many(text, start_line)];
    }
    requests
}

fn too_many(text: &str, line: u32) -> VerbRequest {
    VerbRequest {
        draft: Draft {
            line,
            comment: None,
            text: crate::diagnostic::excerpt(text),
            plan: Err(
                Failure::exceeded("operations of one fence", limits::FENCE_OPERATIONS)
                    .at_line(line),
            ),
        },
        output: None,
    }
}

/// VERB, and what follows the blanks after it.
fn request_line(line: &str) -> Option<(&'static str, &str)> {
    let (verb, target) = line.split_once([' ', '\t'])?;
    let verb = VERBS.into_iter().find(|known| *known == verb)?;
    let target = target.trim();
    is_target(target).then_some((verb, target))
}

/// What a comment says.
fn comment(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
    Some(rest.trim_start_matches('#').trim())
}

/// What a label starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Headers,
    Body,
    Output,
}

/// The label that a line is, alone or in a comment, and what stands behind it: `Body: {}`, `# Response (200)`.
fn label(line: &str) -> Option<(Label, &str)> {
    // A comment within JSON is no label.
    let is_indented = line.starts_with([' ', '\t']);
    let line = line.trim();
    if line.starts_with("HTTP/") {
        return Some((Label::Output, line));
    }
    let remark = comment(line).filter(|_| !is_indented);
    let (name, rest) = match (line.split_once(':'), remark) {
        (_, Some(remark)) => remark.split_once(':').unwrap_or((remark, "")),
        (Some(split), None) => split,
        (None, None) => return None,
    };
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("request ").unwrap_or(&name).trim();
    let first = name.split([' ', '(']).next().unwrap_or_default();
    let is_short = name.split_whitespace().count() <= 3;
    let label = match (name, first) {
        ("headers", _) => Label::Headers,
        ("body", _) => Label::Body,
        (_, "returns" | "response" | "output") if is_short => Label::Output,
        _ => return None,
    };
    Some((label, rest.trim()))
}

/// Which part of a request lines stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Directly below line 1.
    Start,
    Head,
    Body,
    Output,
}

/// The lines of one request, told apart.
struct Lines<'a> {
    line: u32,
    /// The comment above, or else the remark behind the target.
    comment: Option<String>,
    verb: &'static str,
    target: &'a str,
    query: Option<&'a str>,
    headers: Vec<&'a str>,
    body: Vec<&'a str>,
    output: Vec<&'a str>,
    all: Vec<&'a str>,
    section: Section,
    /// Whether `Body:` stands above it.
    body_is_labelled: bool,
}

impl<'a> Lines<'a> {
    fn new(
        whole: &'a str,
        line: u32,
        verb: &'static str,
        target: &'a str,
        comment: Option<String>,
    ) -> Self {
        let (target, remark) = split_remark(target);
        Self {
            line,
            comment: comment
                .or_else(|| remark.map(str::to_owned))
                .filter(|comment| !comment.is_empty()),
            verb,
            target,
            query: None,
            headers: Vec::new(),
            body: Vec::new(),
            output: Vec::new(),
            all: vec![whole],
            section: Section::Start,
            body_is_labelled: false,
        }
    }

    fn take(&mut self, line: &'a str) {
        self.all.push(line);
        let trimmed = line.trim();
        if let Some((label, rest)) = label(line) {
            self.section = match label {
                Label::Headers => {
                    self.headers.extend((!rest.is_empty()).then_some(rest));
                    Section::Head
                }
                Label::Body => {
                    // What stood after a blank line was no body then.
                    self.body.clear();
                    self.body_is_labelled = true;
                    self.body.extend((!rest.is_empty()).then_some(rest));
                    Section::Body
                }
                Label::Output => {
                    self.output.extend((!rest.is_empty()).then_some(rest));
                    Section::Output
                }
            };
            return;
        }
        let section = self.section;
        if section == Section::Start {
            self.section = Section::Head;
        }
        match section {
            Section::Body => self.body.push(line),
            Section::Output => self.output.push(line),
            Section::Start if trimmed.starts_with('?') => self.query = trimmed.strip_prefix('?'),
            Section::Start | Section::Head if trimmed.is_empty() => self.section = Section::Body,
            Section::Start | Section::Head if comment(trimmed).is_some() => {}
            Section::Start | Section::Head if trimmed.starts_with(['{', '[']) => {
                self.section = Section::Body;
                self.body.push(line);
            }
            Section::Start | Section::Head => {
                let is_header = trimmed
                    .split_once(':')
                    .is_some_and(|(name, _)| header::is_token(name));
                if is_header {
                    self.headers.push(trimmed);
                }
            }
        }
    }

    /// What the lines say. The comment that ends them belongs to the request below, if one follows.
    fn finish(mut self, comment_below: &mut Option<String>) -> VerbRequest {
        if let Some(last) = self.all.last()
            && let Some(text) = comment(last.trim())
        {
            *comment_below = Some(text.to_owned());
        }
        drop_last_comments(&mut self.body);
        drop_last_comments(&mut self.output);
        let plan = self
            .request()
            .map(|draft| vec![DraftStage::Http(Box::new(draft))])
            .map_err(|failure| failure.at_line(self.line));
        let output = self.output.join("\n");
        let output = output.trim();
        VerbRequest {
            draft: Draft {
                line: self.line,
                comment: self.comment,
                text: self.all.join("\n").trim_end().to_owned(),
                plan,
            },
            output: (!output.is_empty()).then(|| output.to_owned()),
        }
    }

    /// Whether what follows a request that takes no body is prose of a list, not data.
    fn is_note(&self, body: &str, draft: &HttpDraft) -> bool {
        matches!(self.verb, "GET" | "HEAD" | "DELETE" | "OPTIONS")
            && !self.body_is_labelled
            && !body.trim_start().starts_with(['{', '[', '<', '"'])
            && !header::has(&draft.headers, "Content-Type")
    }

    fn request(&self) -> Result<HttpDraft, Failure> {
        let url = with_query_placeholders(document_text(self.target));
        let mut draft = HttpDraft::new(WrittenAs::Verb, self.verb, Some(url));
        draft.query.extend(
            self.query
                .map(|query| QueryDraft::Raw(document_text(query))),
        );
        for line in &self.headers {
            draft
                .headers
                .push(header::parse(&document_text(line), header::Bare::Removes)?);
        }
        check_address(&draft)?;
        say_host(&mut draft);
        let body = self.body.join("\n");
        let body = body.trim_matches(['\n', '\r']);
        if !body.trim().is_empty() && !self.is_note(body, &draft) {
            let body = document_text(body);
            if is_json(&body) && !header::has(&draft.headers, "Content-Type") {
                draft.headers.push(header::set(
                    "Content-Type",
                    Template::literal("application/json"),
                ));
            }
            draft.body = Some(BodyDraft::Pieces(vec![Piece::Text(body)]));
        }
        Ok(draft)
    }
}

/// The target, and the remark behind it: `GET /items  # all of them`, `GET /items → all of them`, `GET /items HTTP/1.1`.
///
/// Words behind a query after one blank may be its own (`?q=two words`), so that they are no remark.
fn split_remark(target: &str) -> (&str, Option<&str>) {
    let Some((path, behind)) = target.split_once([' ', '\t']) else {
        return (target, None);
    };
    let remark = behind.trim();
    if remark.starts_with("HTTP/") {
        return (path, None);
    }
    let is_remark = behind.starts_with([' ', '\t'])
        || remark.starts_with(REMARK_MARKS)
        || remark.starts_with("//")
        || !path.contains('?');
    // Variables may hold blanks: `/users/{user id}`.
    let is_cut = [('{', '}'), ('<', '>')]
        .iter()
        .any(|(open, close)| path.matches(*open).count() > path.matches(*close).count());
    if !is_remark || is_cut {
        return (target, None);
    }
    let text =
        remark.trim_start_matches(|c| REMARK_MARKS.contains(&c) || matches!(c, '/' | '>' | ' '));
    (path, Some(text.trim_end_matches(')')))
}

/// Takes the `Host` header away: a path goes to that host; an address says its own.
fn say_host(draft: &mut HttpDraft) {
    let is_host = |header: &HeaderDraft| header.name.eq_ignore_ascii_case("host");
    let said = draft.headers.iter().find(|header| is_host(header));
    let Some(HeaderValue::Set(host)) = said.map(|header| header.value.clone()) else {
        return;
    };
    let Some(url) = &draft.url else {
        return;
    };
    let begins_with = |text: &str| url.leading_text().starts_with(text);
    if begins_with("/") {
        let is_local = host
            .as_literal()
            .is_some_and(|host| host.starts_with("localhost") || host.starts_with("127."));
        let mut whole = host.prefixed(if is_local { "http://" } else { "https://" });
        whole.append(url.clone());
        draft.url = Some(whole);
    } else if !host.as_literal().is_some_and(|host| {
        ["http://", "https://"]
            .iter()
            .any(|scheme| begins_with(&format!("{scheme}{host}")))
    }) {
        // Another host than the address has: `assemble` refuses it.
        return;
    }
    draft.headers.retain(|header| !is_host(header));
}

/// Comments after a blank line, or with nothing before them, are notes.
fn drop_last_comments(lines: &mut Vec<&str>) {
    let is_note = |line: &&str| line.trim().is_empty() || comment(line.trim()).is_some();
    let kept = lines
        .iter()
        .rposition(|line| !is_note(line))
        .map_or(0, |last| last + 1);
    if kept == 0 || lines.get(kept).is_some_and(|line| line.trim().is_empty()) {
        lines.truncate(kept);
    }
}

/// Whether a text is JSON once each variable is taken as a value.
fn is_json(body: &Template) -> bool {
    let text = scan(body, Place::Json).display_with(|_| "0".to_owned());
    matches!(text.trim_start().chars().next(), Some('{' | '['))
        && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok()
}
