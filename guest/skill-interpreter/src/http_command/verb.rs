//! The bare verb: `GET /path`, headers, body (9.3).
//!
//! Lines are read one by one; what a line is depends on the line and on the part of the request it stands in. Nothing is
//! ever both: a label never becomes part of a body, and a comment outside one never part of a request.

use super::url::{Begins, Reader};
use super::{header, url};
use crate::assemble::placeholder::{Place, document_text, scan};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{
    BodyDraft, Draft, DraftStage, HttpDraft, Part, Piece, QueryDraft, Schemeless, Template,
    WrittenAs,
};
use crate::failure::{Code, Failure};
use crate::limits;

/// K-164
pub const VERBS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// K-106: whether the first line that is not blank or a comment is VERB, a space, then `/`, `http`, `{` or `$`.
#[must_use]
pub fn begins(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && comment(line).is_none())
        .is_some_and(|line| request_line(line).is_some())
}

/// A request, and what the text says of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct VerbRequest {
    /// The request; `written_as` is `Verb`.
    pub draft: Draft,
    /// What stands after `Returns:`, `Response:` or `Output:`.
    pub output: Option<String>,
}

/// Reads text that [`begins`] so. Several requests are several operations (K-166); more than
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
                limits::exceeded("operations of one fence", limits::FENCE_OPERATIONS).at_line(line),
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
    ["/", "http", "{", "$"]
        .iter()
        .any(|begin| target.starts_with(begin))
        .then_some((verb, target))
}

/// K-165: what a comment says.
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

fn label(line: &str) -> Option<(Label, &str)> {
    let (name, rest) = line.trim_start().split_once(':')?;
    let label = match name.trim_end().to_ascii_lowercase().as_str() {
        "headers" => Label::Headers,
        "body" => Label::Body,
        "returns" | "response" | "output" => Label::Output,
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
    comment: Option<String>,
    verb: &'static str,
    target: &'a str,
    query: Option<&'a str>,
    headers: Vec<&'a str>,
    body: Vec<&'a str>,
    output: Vec<&'a str>,
    all: Vec<&'a str>,
    section: Section,
}

impl<'a> Lines<'a> {
    fn new(
        whole: &'a str,
        line: u32,
        verb: &'static str,
        target: &'a str,
        comment: Option<String>,
    ) -> Self {
        Self {
            line,
            comment: comment.filter(|comment| !comment.is_empty()),
            verb,
            target: without_version(without_comment(target)),
            query: None,
            headers: Vec::new(),
            body: Vec::new(),
            output: Vec::new(),
            all: vec![whole],
            section: Section::Start,
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

    fn request(&self) -> Result<HttpDraft, Failure> {
        let url = document_text(self.target);
        let begins = url::check(
            &url,
            Reader {
                scheme_refused: Code::UrlInvalid,
                guesses: false,
            },
        )?;
        let mut draft = HttpDraft::new(WrittenAs::Verb, self.verb, Some(url));
        if begins == Begins::Host {
            draft.schemeless = Schemeless::Http;
        }
        draft.query.extend(
            self.query
                .map(|query| QueryDraft::Raw(document_text(query))),
        );
        for line in &self.headers {
            draft
                .headers
                .push(header::parse(&document_text(line), header::Bare::Removes)?);
        }
        let body = self.body.join("\n");
        let body = body.trim_matches(['\n', '\r']);
        if !body.trim().is_empty() {
            let body = document_text(body);
            if is_json(&body) && !header::has(&draft.headers, "Content-Type") {
                // K-166
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

/// `GET /items # all of them`
fn without_comment(target: &str) -> &str {
    [" #", "\t#", " //", "\t//"]
        .iter()
        .filter_map(|mark| target.split_once(mark))
        .map(|(before, _)| before)
        .min_by_key(|before| before.len())
        .unwrap_or(target)
        .trim_end()
}

/// `GET /items HTTP/1.1`
fn without_version(target: &str) -> &str {
    match target.rsplit_once([' ', '\t']) {
        Some((before, version)) if version.starts_with("HTTP/") => before.trim_end(),
        _ => target,
    }
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

/// K-199: whether a text is JSON once each variable is taken as a value.
fn is_json(body: &Template) -> bool {
    let mut text = String::new();
    for part in scan(body, Place::Json).parts {
        match part {
            Part::Literal(literal) => text.push_str(&literal.text),
            Part::Variable(_) => text.push('0'),
        }
    }
    matches!(text.trim_start().chars().next(), Some('{' | '['))
        && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok()
}
