//! Bodies (K-134 to K-137, K-184, K-199 to K-204, K-207).

use serde_json::json;

use super::encode;
use super::encoded_pairs::encoded_pairs;
use super::headers::Heading;
use super::inputs::{Need, Wish};
use super::json_text;
use super::pairs::{Carrier, RawPair, RawValue, split};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use crate::draft::{
    BodyDraft, FileUse, HttpDraft, Media, MultipartDraft, Part, PartContent, Piece, Template,
    WrittenAs,
};
use crate::failure::Code;
use crate::model::{
    Body, Encoding, JsonMember, JsonNode, MultipartPart, PartValue, PieceOut, Segments,
};

/// How a body reads (K-236).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReadableBody {
    /// Text.
    Text(String),
    /// Parts: name, and value or file.
    Multipart(Vec<(String, ReadablePart)>),
}

/// How a part of a multipart body reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReadablePart {
    Value(String),
    File(String),
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

impl Assembly<'_> {
    /// The body of a request, with the content type it gets unless the document sets one.
    pub(super) fn body(
        &mut self,
        draft: &HttpDraft,
        heading: &mut Heading,
    ) -> Option<(Body, ReadableBody)> {
        // A literal that is replaced must not be shown; one that was replaced elsewhere is not in this text.
        let before = std::mem::take(&mut self.replaced);
        let body = self.body_of(draft, heading);
        self.replaced |= before;
        body
    }

    fn body_of(
        &mut self,
        draft: &HttpDraft,
        heading: &mut Heading,
    ) -> Option<(Body, ReadableBody)> {
        let Some(body) = &draft.body else {
            return self.absent_body(draft, heading);
        };
        Some(match body {
            BodyDraft::Pieces(pieces) => self.pieces(pieces, draft, heading),
            BodyDraft::Json(json) => {
                heading.default_header("Content-Type", JSON);
                let (mut node, shown) = self.json_body(json.clone());
                self.add_unplaced(&mut node);
                (Body::Json(node), ReadableBody::Text(shown))
            }
            BodyDraft::Form(pairs) => {
                heading.default_header("Content-Type", FORM);
                let raw: Vec<RawPair> = pairs
                    .iter()
                    .map(|(name, value)| Carrier::Form.plain(name, value))
                    .collect();
                self.form(&raw, None)
            }
            BodyDraft::Multipart(parts) => self.multipart(parts),
            BodyDraft::Input {
                name,
                media,
                content_type,
            } => self.input_body(name, *media, content_type.as_deref(), heading),
            BodyDraft::FromInputs(media) => return self.unplaced_body(*media, heading),
        })
    }

    /// K-204: what a structured operation without a body sends.
    fn absent_body(
        &mut self,
        draft: &HttpDraft,
        heading: &mut Heading,
    ) -> Option<(Body, ReadableBody)> {
        if matches!(draft.method.as_str(), "GET" | "HEAD" | "DELETE") {
            return None;
        }
        if self.inputs.are_declared() && draft.written_as != WrittenAs::Endpoint {
            return self.unplaced_body(Media::Json, heading);
        }
        // What a structured operation without a body sends, its reader says; a command sends what it says.
        let takes_body = matches!(draft.written_as, WrittenAs::Verb | WrittenAs::Listed)
            && matches!(draft.method.as_str(), "POST" | "PUT" | "PATCH");
        if !takes_body {
            return None;
        }
        let name = self.inputs.add(Wish {
            name: "body",
            place: "body",
            variable: None,
            schema: json!({}),
            need: Need::Optional,
            example: None,
        });
        heading.default_header("Content-Type", JSON);
        let readable = ReadableBody::Text(format!("{{{name}}}"));
        let media = Media::Json;
        Some((Body::Input { name, media }, readable))
    }

    /// K-204: declared inputs that have no other place.
    fn unplaced_body(
        &mut self,
        media: Media,
        heading: &mut Heading,
    ) -> Option<(Body, ReadableBody)> {
        let names = self.inputs.unplaced();
        if names.is_empty() {
            return None;
        }
        for name in &names {
            self.inputs.place(name);
        }
        let wire = |name: &String| self.wire_name(name);
        Some(match media {
            Media::Form => {
                heading.default_header("Content-Type", FORM);
                let pairs: Vec<_> = names
                    .iter()
                    .map(|name| crate::model::Pair {
                        name: Segments::literal(encode::form(&wire(name))),
                        value: Some(Segments::input(name.clone(), Encoding::Form)),
                    })
                    .collect();
                let shown: Vec<String> = names
                    .iter()
                    .map(|name| format!("{}={{{name}}}", encode::form(&wire(name))))
                    .collect();
                (Body::Form(pairs), ReadableBody::Text(shown.join("&")))
            }
            Media::Multipart => {
                let parts = names
                    .iter()
                    .map(|name| MultipartPart {
                        name: wire(name),
                        value: PartValue::Text(Segments::input(name.clone(), Encoding::None)),
                        content_type: None,
                        filename: None,
                    })
                    .collect();
                let shown = names
                    .iter()
                    .map(|name| (wire(name), ReadablePart::Value(format!("{{{name}}}"))))
                    .collect();
                (Body::Multipart(parts), ReadableBody::Multipart(shown))
            }
            Media::Json | Media::Text | Media::File => {
                heading.default_header("Content-Type", JSON);
                let members = names
                    .iter()
                    .map(|name| JsonMember {
                        key: wire(name),
                        value: JsonNode::Input(name.clone()),
                    })
                    .collect();
                // K-212: the whole input, as the manifest writes it.
                let readable = ReadableBody::Text("input-json".to_owned());
                (Body::Json(JsonNode::Object(members)), readable)
            }
        })
    }

    /// The name of a declared input in the request.
    fn wire_name(&self, input: &str) -> String {
        self.declaration
            .input
            .iter()
            .flat_map(|declared| &declared.places)
            .find(|place| place.input == input)
            .map_or_else(|| input.to_owned(), |place| place.wire_name.clone())
    }

    /// Declared inputs that a body does not name are members of it.
    fn add_unplaced(&mut self, node: &mut JsonNode) {
        let JsonNode::Object(members) = node else {
            return;
        };
        for name in self.inputs.unplaced() {
            let key = self.wire_name(&name);
            if members.iter().all(|member| member.key != key) {
                self.inputs.place(&name);
                members.push(JsonMember {
                    key,
                    value: JsonNode::Input(name),
                });
            }
        }
    }

    fn input_body(
        &mut self,
        name: &str,
        media: Media,
        content_type: Option<&str>,
        heading: &mut Heading,
    ) -> (Body, ReadableBody) {
        let readable = ReadableBody::Text(format!("{{{name}}}"));
        let default = match media {
            Media::Json => Some(JSON),
            Media::Form => Some(FORM),
            Media::Text => Some("text/plain"),
            Media::File => Some("application/octet-stream"),
            // It needs the boundary, which the host chooses.
            Media::Multipart => None,
        };
        if let Some(default) = default {
            heading.default_header("Content-Type", content_type.unwrap_or(default));
        }
        if media == Media::File {
            self.inputs.place(name);
            let name = self.file(&Template::literal(name));
            let piece = PieceOut::File {
                name,
                r#use: FileUse::Verbatim,
            };
            return (Body::Pieces(vec![piece]), readable);
        }
        let name = self.inputs.add(Wish {
            name,
            place: "body",
            variable: None,
            schema: json!({}),
            need: Need::Optional,
            example: None,
        });
        (Body::Input { name, media }, readable)
    }

    fn pieces(
        &mut self,
        pieces: &[Piece],
        draft: &HttpDraft,
        heading: &mut Heading,
    ) -> (Body, ReadableBody) {
        let is_text = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Encoded(_));
        if !pieces.iter().all(is_text) {
            return self.raw_pieces(pieces);
        }
        let is_command = matches!(draft.written_as, WrittenAs::Curl | WrittenAs::Wget);
        let media = heading.media_type();
        let may_be_form = media.as_deref().is_none_or(|media| media == FORM);
        if pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Encoded(_)))
        {
            return self.form(&encoded_pairs(pieces), None);
        }
        let mut text = Template::default();
        for piece in pieces {
            if let Piece::Text(template) = piece {
                text.append(template.clone());
            }
        }
        let is_json = media
            .as_deref()
            .is_some_and(|media| media == JSON || media.ends_with("+json"));
        let looks_json = begins_with(&text, &['{', '[']);
        if is_json || looks_json && (may_be_form || media.is_none()) {
            let scanned = self.with_constants(&scan(&text, Place::Json));
            if let Some(json) = json_text::parse(&scanned) {
                if !is_command {
                    heading.default_header("Content-Type", JSON);
                }
                let (mut node, shown) = self.json_body(json);
                self.add_unplaced(&mut node);
                // K-236: a JSON body keeps its own spelling.
                let shown = if self.replaced {
                    shown
                } else {
                    scanned.display()
                };
                return (Body::Json(node), ReadableBody::Text(shown));
            }
        }
        if looks_json && is_sketch(&text) {
            self.diagnostics.warn(
                Code::Json,
                self.line,
                "the body is nearly JSON; the input `body` takes its place",
            );
            if !is_command {
                heading.default_header("Content-Type", JSON);
            }
            return self.input_body("body", Media::Json, None, heading);
        }
        if may_be_form && !looks_json {
            let raw = split(&text);
            if raw.first().is_some_and(|pair| pair.value.is_some()) {
                if !is_command {
                    heading.default_header("Content-Type", FORM);
                }
                return self.form(&raw, Some(&text));
            }
        }
        let place = if looks_json {
            Place::Json
        } else {
            Place::Value
        };
        let text = self.with_constants(&scan(&text, place));
        let segments = self.segments(&text, Encoding::None, Position::Body(""), None, as_it_is);
        let shown = segments.display();
        (Body::Text(segments), ReadableBody::Text(shown))
    }

    /// Form pairs; `text` is how the document writes them.
    fn form(&mut self, raw: &[RawPair], text: Option<&Template>) -> (Body, ReadableBody) {
        let pairs = self.pairs(raw, Carrier::Form);
        let shown = match text.filter(|_| !self.replaced) {
            Some(text) => scan(text, Place::Value).display(),
            None => {
                let shown: Vec<&str> = pairs.iter().map(|pair| pair.readable.as_str()).collect();
                shown.join("&")
            }
        };
        let body = Body::Form(pairs.into_iter().map(|pair| pair.pair).collect());
        (body, ReadableBody::Text(shown))
    }

    /// A body with files in it, or with what the stage before puts out.
    fn raw_pieces(&mut self, pieces: &[Piece]) -> (Body, ReadableBody) {
        let mut shown = String::new();
        let pieces = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Encoded(text) => {
                    let (enc, literal): (_, fn(&str) -> String) = match piece {
                        Piece::Encoded(_) => (Encoding::Form, encode::form),
                        _ => (Encoding::None, as_it_is),
                    };
                    let text = self.with_constants(&scan(text, Place::Value));
                    let segments = self.segments(&text, enc, Position::Body(""), None, literal);
                    shown.push_str(&segments.display());
                    PieceOut::Text(segments)
                }
                Piece::File { name, how } => {
                    let name = self.file(name);
                    shown.push('@');
                    shown.push_str(&name);
                    PieceOut::File { name, r#use: *how }
                }
                Piece::Previous(how) => {
                    shown.push_str("@-");
                    PieceOut::Previous { r#use: *how }
                }
            })
            .collect();
        (Body::Pieces(pieces), ReadableBody::Text(shown))
    }

    fn multipart(&mut self, parts: &[MultipartDraft]) -> (Body, ReadableBody) {
        let raw: Vec<RawPair> = parts
            .iter()
            .map(|part| RawPair {
                name: Template::literal(part.name.clone()),
                value: match &part.content {
                    PartContent::Text(text) => Some(RawValue::Plain(text.clone())),
                    _ => None,
                },
            })
            .collect();
        let texts = self.pairs(&raw, Carrier::Parts);
        let mut shown = Vec::new();
        let parts = parts
            .iter()
            .zip(texts)
            .map(|(part, text)| {
                let (value, readable) = match &part.content {
                    PartContent::Text(_) => {
                        let segments = text.pair.value.unwrap_or_default();
                        let value = text
                            .readable
                            .split_once('=')
                            .map(|(_, value)| value.to_owned())
                            .unwrap_or_default();
                        (PartValue::Text(segments), ReadablePart::Value(value))
                    }
                    PartContent::File(name) => {
                        let name = self.file(name);
                        (PartValue::File(name.clone()), ReadablePart::File(name))
                    }
                    PartContent::TextOfFile(name) => {
                        let name = self.file(name);
                        (
                            PartValue::TextOfFile(name.clone()),
                            ReadablePart::File(name),
                        )
                    }
                    PartContent::Previous => (
                        PartValue::Previous(true),
                        ReadablePart::File("-".to_owned()),
                    ),
                };
                shown.push((part.name.clone(), readable));
                MultipartPart {
                    name: part.name.clone(),
                    value,
                    content_type: part.content_type.clone(),
                    filename: part.filename.clone(),
                }
            })
            .collect();
        (Body::Multipart(parts), ReadableBody::Multipart(shown))
    }

    /// K-207: a file of the call, by its name; one that is a variable is called so.
    pub(super) fn file(&mut self, name: &Template) -> String {
        let name = self.with_constants(&scan(name, Place::Argument));
        let name = match name.as_variable() {
            Some(variable) => variable.name.clone(),
            None => name.display(),
        };
        self.read_file(&name, Need::Required);
        name
    }

    pub(super) fn read_file(&mut self, name: &str, need: Need) {
        self.inputs.add_file(name, need);
        if !self.read.iter().any(|known| known == name) {
            self.read.push(name.to_owned());
        }
    }
}

/// Whether the first character that is no blank is one of these.
pub(super) fn begins_with(text: &Template, characters: &[char]) -> bool {
    for part in &text.parts {
        let Part::Literal(literal) = part else {
            return false;
        };
        if let Some(first) = literal.text.trim_start().chars().next() {
            return characters.contains(&first);
        }
    }
    false
}

/// Whether a text that is no JSON leaves places for the reader to fill in.
fn is_sketch(text: &Template) -> bool {
    let shown = text.display();
    ["...", "…", "<"].iter().any(|mark| shown.contains(mark))
}
