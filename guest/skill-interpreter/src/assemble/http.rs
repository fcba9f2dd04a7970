//! Requests: the parts put together, and declared inputs put in their places.

use serde_json::json;

use super::encode;
use super::headers::Heading;
use super::inputs::{InputRequest, Need};
use super::pairs::{Carrier, RawPair, split};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use super::secrets;
use super::url::Address;
use crate::context::Relative;
use crate::draft::{HttpDraft, InputPlace, OutputDraft, QueryDraft, Template, WirePlace};
use crate::failure::{Code, Failure};
use crate::model::{Encoding, HttpStage, OutputFile, Pair, Segment, Segments, Style};

/// A request that was assembled.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) stage: HttpStage,
    /// Scheme or host do not stand there.
    pub(super) is_derived: bool,
}

impl Assembly<'_> {
    pub(super) fn http(&mut self, draft: &HttpDraft) -> Result<Request, Failure> {
        let raw = raw_query(&draft.query);
        let address = self.address(draft, raw.clone())?;
        let mut heading = self.heading(draft)?;
        let is_input = address.is_none();
        let Address {
            url,
            mut query,
            is_derived,
        } = address.unwrap_or_else(|| Address {
            url: Segments::default(),
            query: self.pairs(&raw, Carrier::Query),
            is_derived: false,
        });
        let url_input = is_input.then(|| self.url_input(draft)).transpose()?;
        query.append(&mut heading.query);
        self.placed_inputs(&mut query, &mut heading)?;
        let body = self.body(draft, &mut heading);
        if matches!(draft.method.as_str(), "GET" | "HEAD" | "DELETE") {
            for name in self.inputs.unplaced() {
                self.inputs.place(&name);
                query.push(self.query_input(&name, &name, None));
            }
        }
        if url_input.is_some() && !self.secrets.is_empty() {
            return Err(Failure::new(
                Code::UrlInputSecret,
                "a request whose URL the caller gives cannot carry a secret",
            ));
        }
        let output_file = draft.output.as_ref().map(|output| self.output_file(output));
        let stage = HttpStage {
            method: draft.method.clone(),
            url,
            domains: match url_input {
                Some(_) => self.context.domains.clone(),
                None => Vec::new(),
            },
            url_input,
            query,
            headers: heading.headers,
            removed_headers: heading.removed,
            cookies: heading.cookies,
            basic: heading.basic,
            auth: self.auth.clone(),
            body,
            follow: draft.follow,
            limits: draft.limits,
            output_file,
        };
        Ok(Request { stage, is_derived })
    }

    /// The URL is the caller's, within `domains`.
    fn url_input(&mut self, draft: &HttpDraft) -> Result<String, Failure> {
        if self.context.domains.is_empty() && self.context.relative == Relative::Refused {
            let failure = |why: &str| {
                let message = format!("{why}, and no domains that the caller could choose one of");
                Failure::new(Code::UrlMissing, message)
            };
            let url = draft.url.as_ref().map(|url| scan(url, Place::Url));
            return Err(match url.as_ref().and_then(Template::as_variable) {
                Some(variable) => {
                    let name = crate::diagnostic::excerpt(&variable.name);
                    let failure = failure(&format!(
                        "the URL is {name}, which the document does not say"
                    ));
                    // A constant that names a secret is refused.
                    if secrets::is_secret_name(&variable.name, self.context)
                        && !self.context.settings.contains(&variable.name)
                    {
                        return Err(failure);
                    }
                    failure.with_hint(format!("load with --set {name}=URL"))
                }
                None => failure("there is no URL"),
            });
        }
        let schema = json!({"type": "string"});
        let request = InputRequest::new("url", "path", schema, Need::Required);
        Ok(self.inputs.add(request.of_variable("url")))
    }

    /// Declared inputs that say where they go, but for path and body.
    fn placed_inputs(
        &mut self,
        query: &mut Vec<Pair>,
        heading: &mut Heading,
    ) -> Result<(), Failure> {
        let Some(declared) = &self.declaration.input else {
            return Ok(());
        };
        let unplaced = self.inputs.unplaced();
        for InputPlace {
            input,
            wire_name,
            place,
            style,
        } in &declared.places
        {
            if !unplaced.contains(input) {
                continue;
            }
            match place {
                WirePlace::Query => query.push(self.query_input(input, wire_name, *style)),
                WirePlace::Header => {
                    let value = one_input(input, Encoding::Header, *style);
                    self.placed_header(wire_name, value, heading)?;
                }
                WirePlace::Cookie => heading.cookies.push(Pair {
                    name: Segments::literal(wire_name),
                    value: Some(one_input(input, Encoding::Header, *style)),
                }),
                WirePlace::Path | WirePlace::Body => continue,
            }
            self.inputs.place(input);
        }
        Ok(())
    }

    fn query_input(&self, input: &str, wire_name: &str, style: Option<Style>) -> Pair {
        // The default of a query is `form`, exploded.
        let is_many = self
            .declaration
            .input
            .as_ref()
            .and_then(|declared| declared.schema.get("properties")?.get(input)?.get("type"))
            .is_some_and(|kind| kind == "array" || kind == "object");
        let style = style.or(is_many.then_some(Style::FormExplode));
        Pair {
            name: Segments::literal(encode::query(wire_name)),
            value: Some(one_input(input, Encoding::Query, style)),
        }
    }

    fn output_file(&mut self, output: &OutputDraft) -> OutputFile {
        let name = match &output.name {
            Some(name) => name.clone(),
            None => Template::literal(
                self.endpoint
                    .as_ref()
                    .and_then(|endpoint| endpoint.final_segment.clone())
                    .unwrap_or_else(|| "index.html".to_owned()),
            ),
        };
        let mut path = output.directory.clone().unwrap_or_default();
        if !path.is_empty() {
            path.append(Template::literal("/"));
        }
        path.append(name);
        let path = self.with_constants(&scan(&path, Place::Argument));
        let path = self.segments(&path, Encoding::None, Position::Argument, None, as_it_is);
        self.write.push(path.display());
        OutputFile { path }
    }
}

fn one_input(input: &str, enc: Encoding, style: Option<Style>) -> Segments {
    Segments(vec![Segment::Input {
        input: input.to_owned(),
        enc,
        style,
    }])
}

fn raw_query(query: &[QueryDraft]) -> Vec<RawPair> {
    query
        .iter()
        .flat_map(|piece| match piece {
            QueryDraft::Raw(text) => split(text),
            QueryDraft::Pair { name, value } if name.is_empty() => vec![RawPair {
                name: match value.as_literal() {
                    Some(text) => Template::literal(encode::query(&text)),
                    None => value.clone(),
                },
                value: None,
            }],
            QueryDraft::Pair { name, value } => vec![Carrier::Query.plain(name, value)],
        })
        .collect()
}
