//! Requests of assembled operations: stages as the host executes them, with inputs and secrets filled in.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use skill_interpreter::draft::FileUse;
use skill_interpreter::model::{
    Body as StageBody, Encoding, HttpStage, JsonNode, Operation, PartValue, PieceOut, Segment,
    Segments, Stage, Status,
};

use super::compare::{Body, Part, Request};
use super::draft::{file, form};

/// What an operation is called with.
pub(crate) struct Call<'a> {
    pub(crate) operation: &'a Operation,
    /// Every variable of the command has this value, so that it does not matter what its input is called.
    pub(crate) value: &'a str,
    pub(crate) stdin: &'a str,
}

impl Call<'_> {
    /// The request of its one stage.
    ///
    /// # Errors
    ///
    /// Why it is unusable.
    pub(crate) fn request(&self) -> Result<Request, String> {
        if let Status::Unusable { error, .. } = &self.operation.status {
            return Err(error.to_string());
        }
        match self.operation.stages.as_slice() {
            [Stage::Http(stage)] => Ok(self.http(stage)),
            stages => Err(format!("{} stages", stages.len())),
        }
    }

    fn http(&self, stage: &HttpStage) -> Request {
        let url = self.fill(&stage.url);
        let (_, rest) = url.split_once("://").expect("an absolute URL");
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, "/".to_owned()),
        };
        let query: Vec<String> = stage.query.iter().map(|pair| self.pair(pair)).collect();
        let mut headers: Vec<(String, String)> = stage
            .headers
            .iter()
            .map(|header| (header.name.clone(), self.fill(&header.value)))
            .collect();
        if let Some(basic) = &stage.basic {
            use base64::Engine as _;
            let halves = format!("{}:{}", self.fill(&basic.user), self.fill(&basic.password));
            let encoded = base64::engine::general_purpose::STANDARD.encode(halves);
            headers.push(("Authorization".to_owned(), format!("Basic {encoded}")));
        }
        if !stage.cookies.is_empty() {
            let cookies: Vec<String> = stage.cookies.iter().map(|pair| self.pair(pair)).collect();
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        Request {
            method: stage.method.clone(),
            authority: authority.to_owned(),
            path,
            query: (!query.is_empty()).then(|| query.join("&")),
            headers,
            removed: stage.removed_headers.clone(),
            body: self.body(stage.body.as_ref()),
        }
    }

    fn body(&self, body: Option<&StageBody>) -> Body {
        match body {
            None => Body::Bytes(Vec::new()),
            Some(StageBody::Text(text)) => Body::Bytes(self.fill(text).into_bytes()),
            Some(StageBody::Json(node)) => Body::Json(self.json(node)),
            Some(StageBody::Form(pairs)) => {
                let pairs: Vec<String> = pairs.iter().map(|pair| self.pair(pair)).collect();
                Body::Form(pairs.join("&"))
            }
            Some(StageBody::Pieces(pieces)) => {
                Body::Bytes(pieces.iter().flat_map(|piece| self.piece(piece)).collect())
            }
            Some(StageBody::Multipart(parts)) => Body::Parts(
                parts
                    .iter()
                    .map(|part| {
                        let (content, filename) = match &part.value {
                            PartValue::Text(text) => (self.fill(text).into_bytes(), None),
                            PartValue::File(name) => (file(name).to_vec(), Some(name.clone())),
                            PartValue::TextOfFile(name) => (file(name).to_vec(), None),
                            PartValue::Previous(_) => (self.stdin.as_bytes().to_vec(), None),
                        };
                        Part {
                            name: part.name.clone(),
                            filename: part.filename.clone().or(filename),
                            content_type: part.content_type.clone(),
                            content,
                        }
                    })
                    .collect(),
            ),
            Some(StageBody::Input { name, .. }) => panic!("curl gives no body that is {name}"),
        }
    }

    fn piece(&self, piece: &PieceOut) -> Vec<u8> {
        let used = |bytes: &[u8], how: FileUse| match how {
            FileUse::Verbatim => bytes.to_vec(),
            FileUse::Stripped => bytes
                .iter()
                .copied()
                .filter(|byte| !matches!(byte, b'\r' | b'\n' | 0))
                .collect(),
            FileUse::Encoded => form(bytes).into_bytes(),
        };
        match piece {
            PieceOut::Text(text) => self.fill(text).into_bytes(),
            PieceOut::File { name, r#use } => used(file(name), *r#use),
            PieceOut::Previous { r#use } => used(self.stdin.as_bytes(), *r#use),
        }
    }

    fn json(&self, node: &JsonNode) -> Value {
        match node {
            JsonNode::Value(value) => value.clone(),
            JsonNode::Input(name) => self.input(name),
            JsonNode::Text(text) => Value::String(self.fill(text)),
            JsonNode::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.key.clone(), self.json(&member.value)))
                    .collect::<Map<_, _>>(),
            ),
            JsonNode::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            JsonNode::TextOfFile(name) | JsonNode::JsonOfFile(name) => {
                panic!("curl puts no file {name} into JSON")
            }
        }
    }

    fn pair(&self, pair: &skill_interpreter::model::Pair) -> String {
        match &pair.value {
            Some(value) => format!("{}={}", self.fill(&pair.name), self.fill(value)),
            None => self.fill(&pair.name),
        }
    }

    fn fill(&self, segments: &Segments) -> String {
        segments
            .0
            .iter()
            .map(|segment| match segment {
                Segment::Literal { lit } => lit.clone(),
                Segment::Input { input, enc, .. } => match self.input(input) {
                    Value::String(text) => encoded(&text, *enc),
                    other => encoded(&other.to_string(), *enc),
                },
                Segment::Secret { enc, .. } => encoded(self.value, *enc),
            })
            .collect()
    }

    /// A literal is an example or a default; what is neither is a variable.
    fn input(&self, name: &str) -> Value {
        let example = self
            .operation
            .examples
            .iter()
            .find_map(|example| example.input.as_ref()?.get(name));
        let default = self
            .operation
            .input_schema
            .get("properties")
            .and_then(|properties| properties.get(name)?.get("default"));
        example
            .or(default)
            .cloned()
            .unwrap_or_else(|| Value::String(self.value.to_owned()))
    }
}

/// A value in the encoding of its place.
fn encoded(text: &str, enc: Encoding) -> String {
    match enc {
        Encoding::Path | Encoding::Query => form(text.as_bytes()).replace('+', "%20"),
        Encoding::Form => form(text.as_bytes()),
        Encoding::Header | Encoding::JsonString | Encoding::Argv | Encoding::None => {
            text.to_owned()
        }
    }
}

/// The one value of the variables of a command.
pub(crate) fn value_of(values: &BTreeMap<String, String>) -> &str {
    values.values().next().map_or("", String::as_str)
}
