//! Bodies.

use serde_json::json;

use super::encode;
use super::headers::Heading;
use super::inputs::{InputRequest, Need};
use super::json_text;
use super::pairs::{self, Carrier, RawPair, RawValue, split};
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

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

impl Assembly<'_> {
    /// The body of a request, with the content type it gets unless the document sets one.
    pub(super) fn body(&mut self, draft: &HttpDraft, heading: &mut Heading) -> Option<Body> {
        let Some(body) = &draft.body else {
            return self.absent_body(draft, heading);
        };
        Some(match body {
            BodyDraft::Pieces(pieces) => self.pieces(pieces, draft, heading),
            BodyDraft::Json(json) => {
                heading.default_header("Content-Type", JSON);
                let mut node = self.json_body(json.clone());
                self.add_unplaced(&mut node);
                Body::Json(node)
            }
            BodyDraft::Form(pairs) => {
                heading.default_header("Content-Type", FORM);
                let raw: Vec<RawPair> = pairs
                    .iter()
                    .map(|(name, value)| Carrier::Form.plain(name, value))
                    .collect();
                self.form(&raw)
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

    /// What a structured operation without a body sends.
    fn absent_body(&mut self, draft: &HttpDraft, heading: &mut Heading) -> Option<Body> {
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
        Some(self.input_body("body", Media::Json, None, heading))
    }

    /// Declared inputs that have no other place.
    fn unplaced_body(&mut self, media: Media, heading: &mut Heading) -> Option<Body> {
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
                Body::Form(pairs)
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
                Body::Multipart(parts)
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
                Body::Json(JsonNode::Object(members))
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
    ) -> Body {
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
            return Body::Pieces(vec![piece]);
        }
        let request = InputRequest::new(name, "body", json!({}), Need::Optional);
        let name = self.inputs.add(request);
        Body::Input { name, media }
    }

    fn pieces(&mut self, pieces: &[Piece], draft: &HttpDraft, heading: &mut Heading) -> Body {
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
            return self.form(&pairs::encoded(pieces));
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
                let mut node = self.json_body(json);
                self.add_unplaced(&mut node);
                return Body::Json(node);
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
                return self.form(&raw);
            }
        }
        let place = if looks_json {
            Place::Json
        } else {
            Place::Value
        };
        let text = self.with_constants(&scan(&text, place));
        // What looks like JSON is read as JSON where it goes: a value can't end the string that it stands in.
        let enc = if is_json || looks_json {
            Encoding::JsonString
        } else {
            Encoding::None
        };
        let segments = self.segments(&text, enc, Position::Body(""), None, as_it_is);
        Body::Text(segments)
    }

    fn form(&mut self, raw: &[RawPair]) -> Body {
        Body::Form(self.pairs(raw, Carrier::Form))
    }

    /// A body with files in it, or with what the stage before puts out.
    fn raw_pieces(&mut self, pieces: &[Piece]) -> Body {
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
                    PieceOut::Text(segments)
                }
                Piece::File { name, how } => {
                    let name = self.file(name);
                    PieceOut::File { name, r#use: *how }
                }
                Piece::Previous(how) => PieceOut::Previous { r#use: *how },
            })
            .collect();
        Body::Pieces(pieces)
    }

    fn multipart(&mut self, parts: &[MultipartDraft]) -> Body {
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
        let parts = parts
            .iter()
            .zip(texts)
            .map(|(part, text)| MultipartPart {
                name: part.name.clone(),
                value: match &part.content {
                    PartContent::Text(_) => PartValue::Text(text.value.unwrap_or_default()),
                    PartContent::File(name) => PartValue::File(self.file(name)),
                    PartContent::TextOfFile(name) => PartValue::TextOfFile(self.file(name)),
                    PartContent::Previous => PartValue::Previous(true),
                },
                content_type: part.content_type.clone(),
                filename: part.filename.clone(),
            })
            .collect();
        Body::Multipart(parts)
    }

    /// A file of the call, by its name; one that is a variable is called so.
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
