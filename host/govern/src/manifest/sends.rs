//! What an operation would send or run, part by part, for whoever decides about it.
//!
//! The manifest has `{NAME}` for an input and for a secret alike. Here each part says what it is: text of the document, an
//! input with its default, a secret, a file. What a call sends that gives no more than it must is told as well, as it is sent.
//! Every interface shows these texts, and no text of a document can look like a placeholder: its brace is escaped then.

use std::collections::BTreeSet;

use hydrant_canonical::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::render::interpreter;
use crate::failure::{Code, Failure};
use crate::request::{CallFiles, Fill, Inputs, filled_pairs};
use hydrant_plan::show::{escaped, is_of_name};
use hydrant_plan::{
    Body, Encoding, HttpStage, JsonNode, Media, MultipartPart, Operation, Pair, PartValue,
    PieceOut, Program, SandboxStage, Segment, Segments, Stage,
};

/// What a stage sends or runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Sends {
    /// The core capability that carries it out.
    pub capability: String,
    /// Its parts, with a placeholder for each input, secret and file.
    pub rows: Vec<Row>,
    /// The same of a call that gives no more than it must: defaults in place, optional parts left out. Empty where the stage
    /// has no input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_input: Vec<Row>,
}

/// A request line, a header, a body, an argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which of these.
    pub what: String,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
}

/// A part of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Whose text it is.
    pub kind: Kind,
    /// As every interface shows it.
    pub shown: String,
    /// Of an input, a secret or a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of an input that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// Whose text a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The document's: it is sent as it is, whatever the caller says.
    Constant,
    /// The document's, which is sent unless the caller says something else.
    Default,
    /// The caller's.
    Input,
    /// The host's.
    Secret,
    /// That of a file of the call.
    File,
    /// What the stage before put out.
    Previous,
}

/// What each stage of an operation sends or runs.
#[must_use]
pub fn of(operation: &Operation) -> Vec<Sends> {
    let defaults = Inputs::defaults(&operation.input_schema);
    let required = operation.input_schema.get("required");
    let required: BTreeSet<&str> = required
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let stage = |stage: &Stage| {
        let view = |without_input| View {
            required: &required,
            defaults: &defaults,
            without_input,
            needs_all: !matches!(stage, Stage::Http(_)),
        };
        let rows = view(false).stage(stage);
        let has_input = |row: &Row| row.parts.iter().any(|part| part.kind == Kind::Input);
        Sends {
            capability: stage.capability().to_owned(),
            without_input: if rows.iter().any(has_input) {
                view(true).stage(stage)
            } else {
                Vec::new()
            },
            rows,
        }
    };
    operation.stages.iter().map(stage).collect()
}

/// A name in a placeholder: quoted where it could be taken for more than a name.
fn named(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_of_name) {
        name.to_owned()
    } else {
        quoted(&Json::String(name.to_owned()))
    }
}

/// JSON without a brace, which only ends a placeholder.
fn quoted(value: &Json) -> String {
    let json = value.to_string();
    json.replace('{', r"\u007b").replace('}', r"\u007d")
}

/// Parts of a row while it is made: texts are as they are written.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn part(&mut self, kind: Kind, shown: String, name: Option<&str>) {
        self.0.push(Part {
            kind,
            shown,
            name: name.map(str::to_owned),
            default: None,
        });
    }

    fn text(&mut self, kind: Kind, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.kind == kind => last.shown.push_str(text),
            _ => self.part(kind, text.to_owned(), None),
        }
    }

    fn constant(&mut self, text: &str) {
        self.text(Kind::Constant, text);
    }

    fn file(&mut self, name: &str) {
        self.part(Kind::File, format!("{{file {}}}", named(name)), Some(name));
    }

    fn previous(&mut self) {
        let shown = "{output of the stage before}".to_owned();
        self.part(Kind::Previous, shown, None);
    }

    /// Adds what is not left out.
    fn append(&mut self, others: Option<Self>) {
        for part in others.into_iter().flat_map(|others| others.0) {
            match part.kind {
                Kind::Constant | Kind::Default => self.text(part.kind, &part.shown),
                _ => self.0.push(part),
            }
        }
    }

    fn row(mut self, what: &str) -> Row {
        let last = self.0.len().saturating_sub(1);
        for (index, part) in self.0.iter_mut().enumerate() {
            if matches!(part.kind, Kind::Constant | Kind::Default) {
                part.shown = escaped(&part.shown, index < last);
            }
        }
        Row {
            what: what.to_owned(),
            parts: self.0,
        }
    }
}

fn parts(make: impl FnOnce(&mut Parts)) -> Parts {
    let mut parts = Parts::default();
    make(&mut parts);
    parts
}

fn constant(what: &str, text: &str) -> Row {
    parts(|parts| parts.constant(text)).row(what)
}

/// One way to look at the stages of an operation. What is made of absent inputs is left out: those functions answer nothing
/// then.
#[derive(Clone, Copy)]
struct View<'a> {
    required: &'a BTreeSet<&'a str>,
    defaults: &'a Inputs,
    /// Defaults stand in their places.
    without_input: bool,
    /// Nothing is left out: without this input there is no call.
    needs_all: bool,
}

impl View<'_> {
    fn stage(self, stage: &Stage) -> Vec<Row> {
        match stage {
            Stage::Http(stage) => self.http(stage),
            Stage::JsonFilter {
                program,
                options,
                args,
                json_args,
                stdin,
            } => {
                let mut rows = vec![constant("jq", program)];
                if !options.is_empty() {
                    rows.push(constant("options", &options.join(", ")));
                }
                for (name, value) in args {
                    rows.extend(self.row("argument", &format!("{name}="), value));
                }
                for (name, value) in json_args {
                    rows.push(constant("argument", &format!("{name}={value}")));
                }
                rows.extend(self.rows("reads", stdin));
                rows
            }
            Stage::TextTransform { tool, args, stdin } => {
                let mut rows = vec![constant("program", tool)];
                rows.extend(self.rows("argument", args));
                rows.extend(self.rows("reads", stdin));
                rows
            }
            Stage::Println { text } => self.rows("text", [text]).collect(),
            Stage::ReadFile(stage) => {
                let file = |path: &String| parts(|parts| parts.file(path)).row("reads");
                let mut rows: Vec<Row> = stage.paths.iter().map(file).collect();
                if let Some(excerpt) = &stage.excerpt {
                    let (tool, unit) = (&excerpt.tool, &excerpt.unit);
                    let text = format!("{tool}: {} {} {unit}", excerpt.mode, excerpt.count);
                    rows.push(constant("part", &text));
                }
                rows
            }
            Stage::Sandbox(stage) => self.sandbox(stage),
        }
    }

    fn http(self, stage: &HttpStage) -> Vec<Row> {
        let mut parts = Parts::default();
        parts.constant(&format!("{} ", stage.method));
        parts.append(match &stage.url_input {
            Some(name) => self.input(name, |url| {
                url.as_str().map_or_else(|| url.to_string(), str::to_owned)
            }),
            // A path without one of its inputs is no request.
            None => self.complete().segments(&stage.url),
        });
        let query = self.pairs(&stage.query, Encoding::Query, "&");
        if !query.0.is_empty() {
            parts.constant("?");
            parts.append(Some(query));
        }
        let mut rows = vec![parts.row("request")];
        for header in &stage.headers {
            rows.extend(self.row("header", &format!("{}: ", header.name), &header.value));
        }
        if let Some(basic) = &stage.basic {
            let mut parts = Parts::default();
            parts.constant("Authorization: Basic ");
            parts.append(self.complete().segments(&basic.user));
            parts.constant(":");
            parts.append(self.complete().segments(&basic.password));
            rows.push(parts.row("header"));
        }
        let cookies = self.pairs(&stage.cookies, Encoding::Header, "; ");
        if !cookies.0.is_empty() {
            let mut parts = Parts::default();
            parts.constant("Cookie: ");
            parts.append(Some(cookies));
            rows.push(parts.row("header"));
        }
        if !stage.removed_headers.is_empty() {
            rows.push(constant("no header", &stage.removed_headers.join(", ")));
        }
        match &stage.body {
            Some(Body::Multipart(all)) => {
                rows.extend(all.iter().filter_map(|part| self.multipart(part)));
            }
            Some(body) => rows.extend(self.body(body).map(|parts| parts.row("body"))),
            None => {}
        }
        if let Some(file) = &stage.output_file {
            rows.extend(self.complete().rows("saved as", [&file.path]));
        }
        if stage.follow {
            rows.push(constant("redirects", "followed, to the same hosts"));
        }
        rows
    }

    fn sandbox(self, stage: &SandboxStage) -> Vec<Row> {
        let mut rows = match &stage.program {
            Program::Argv(argv) => {
                let what = |index| if index == 0 { "program" } else { "argument" };
                let row = |(index, word)| self.row(what(index), "", word);
                argv.iter().enumerate().filter_map(row).collect()
            }
            Program::Module(name) => {
                let program = format!("{} -m {name}", interpreter(stage.runtime));
                vec![constant("program", &program)]
            }
            Program::File { name, .. } => vec![constant("program", name)],
            Program::Code(_) | Program::Script(_) => {
                let program = format!("the code below, for {}", stage.runtime.as_str());
                vec![constant("program", &program)]
            }
        };
        rows.extend(self.rows("argument", &stage.args));
        rows.extend(self.rows("reads", &stage.stdin));
        for name in &stage.env_inputs {
            let value = Segments::input(name.as_str(), Encoding::Argv);
            rows.extend(self.row("variable", &format!("{name}="), &value));
        }
        rows
    }

    /// The same, with nothing left out.
    fn complete(self) -> Self {
        Self {
            needs_all: true,
            ..self
        }
    }

    fn row(self, what: &str, before: &str, value: &Segments) -> Option<Row> {
        let value = self.segments(value)?;
        let mut parts = Parts::default();
        parts.constant(before);
        parts.append(Some(value));
        Some(parts.row(what))
    }

    fn rows<'s>(
        self,
        what: &str,
        values: impl IntoIterator<Item = &'s Segments>,
    ) -> impl Iterator<Item = Row> {
        let values = values.into_iter();
        values.filter_map(move |value| self.row(what, "", value))
    }

    fn segments(self, segments: &Segments) -> Option<Parts> {
        let mut parts = Parts::default();
        for segment in &segments.0 {
            match segment {
                Segment::Literal { lit } => parts.constant(lit),
                Segment::Secret { secret, .. } => {
                    let shown = format!("{{secret {}}}", named(secret));
                    parts.part(Kind::Secret, shown, Some(secret));
                }
                Segment::Input { input, .. } => {
                    let written = |value: &Json| {
                        let one = Segments(vec![segment.clone()]);
                        self.filled(|fill| fill.text(&one).ok().flatten())
                            .map_or_else(|| value.to_string(), |filled| filled.text.to_string())
                    };
                    parts.append(Some(self.input(input, written)?));
                }
            }
        }
        Some(parts)
    }

    /// An input, or what its default is written as.
    fn input(self, name: &str, written: impl FnOnce(&Json) -> String) -> Option<Parts> {
        let default = self.defaults.present(name);
        let is_required = self.required.contains(name);
        let name_shown = named(name);
        let shown = match default {
            Some(value) if self.without_input => {
                return Some(parts(|parts| parts.text(Kind::Default, &written(value))));
            }
            Some(value) => format!("{{input {name_shown}, default {}}}", quoted(value)),
            None if is_required || self.needs_all => format!("{{input {name_shown}}}"),
            None if self.without_input => return None,
            None => format!("{{input {name_shown}, optional}}"),
        };
        Some(Parts(vec![Part {
            kind: Kind::Input,
            shown,
            name: Some(name.to_owned()),
            default: default.map(Json::nearest),
        }]))
    }

    fn pairs(self, pairs: &[Pair], enc: Encoding, between: &str) -> Parts {
        let mut all = Parts::default();
        for pair in pairs {
            let own = self.pair(pair, enc, between);
            let own = own.filter(|own| !own.0.is_empty());
            if own.is_some() && !all.0.is_empty() {
                all.constant(between);
            }
            all.append(own);
        }
        all
    }

    fn pair(self, pair: &Pair, enc: Encoding, between: &str) -> Option<Parts> {
        let value = pair.value.as_ref().map(|value| value.0.as_slice());
        if self.without_input
            && let Some([Segment::Input { input, style, .. }]) = value
            && style.is_some()
            && self.defaults.present(input).is_some()
            && let Some((texts, _)) = self.filled(|fill| filled_pairs(pair, enc, fill).ok())
        {
            let text = texts.join(between);
            return Some(parts(|parts| parts.text(Kind::Default, &text)));
        }
        let mut parts = self.segments(&pair.name)?;
        if let Some(value) = &pair.value {
            parts.constant("=");
            parts.append(Some(self.segments(value)?));
        }
        Some(parts)
    }

    fn body(self, body: &Body) -> Option<Parts> {
        match body {
            Body::Text(text) => self.segments(text),
            Body::Json(node) => self.json(node),
            Body::Form(pairs) => Some(self.pairs(pairs, Encoding::Form, "&")),
            Body::Pieces(pieces) => {
                let mut parts = Parts::default();
                for piece in pieces {
                    match piece {
                        PieceOut::Text(text) => parts.append(self.segments(text)),
                        PieceOut::File { name, .. } => parts.file(name),
                        PieceOut::Previous { .. } => parts.previous(),
                    }
                }
                Some(parts)
            }
            Body::Input {
                name,
                media: Media::File,
            } => Some(parts(|parts| parts.file(name))),
            Body::Input { name, media } => self.input(name, |value| match (media, value) {
                (Media::Text, Json::String(text)) => text.clone(),
                _ => value.to_string(),
            }),
            // Each part of it is a row.
            Body::Multipart(_) => Some(Parts::default()),
        }
    }

    fn json(self, node: &JsonNode) -> Option<Parts> {
        let mut parts = Parts::default();
        match node {
            JsonNode::Value(value) => parts.constant(&value.to_string()),
            JsonNode::Input(name) => return self.input(name, Json::to_string),
            JsonNode::Text(text) => {
                let text = self.segments(text)?;
                parts.constant("\"");
                parts.append(Some(text));
                parts.constant("\"");
            }
            JsonNode::Object(members) => {
                let members = members.iter().map(|member| {
                    let key = Value::from(member.key.as_str());
                    (format!("{key}:"), &member.value)
                });
                self.collection(&mut parts, ["{", "}"], members);
            }
            JsonNode::Array(items) => {
                let items = items.iter().map(|item| (String::new(), item));
                self.collection(&mut parts, ["[", "]"], items);
            }
            JsonNode::TextOfFile(name) => {
                parts.constant("\"");
                parts.file(name);
                parts.constant("\"");
            }
            JsonNode::JsonOfFile(name) => parts.file(name),
        }
        Some(parts)
    }

    fn collection<'n>(
        self,
        parts: &mut Parts,
        [start, end]: [&str; 2],
        members: impl Iterator<Item = (String, &'n JsonNode)>,
    ) {
        parts.constant(start);
        let mut between = "";
        for (key, value) in members {
            if let Some(value) = self.json(value) {
                parts.constant(between);
                parts.constant(&key);
                parts.append(Some(value));
                between = ",";
            }
        }
        parts.constant(end);
    }

    fn multipart(self, part: &MultipartPart) -> Option<Row> {
        let mut parts = Parts::default();
        parts.constant(&format!("{}=", part.name));
        match &part.value {
            PartValue::Text(text) => parts.append(Some(self.segments(text)?)),
            PartValue::File(name) | PartValue::TextOfFile(name) => parts.file(name),
            PartValue::Previous(_) => parts.previous(),
        }
        // Both are sent, whatever the file is.
        for (name, given) in [("filename", &part.filename), ("type", &part.content_type)] {
            if let Some(given) = given {
                parts.constant(&format!("; {name}={given}"));
            }
        }
        Some(parts.row("part"))
    }

    /// What the defaults are written as where they stand.
    fn filled<T>(self, fill: impl FnOnce(Fill<'_>) -> T) -> T {
        let secrets = |_: &str| {
            Err(Failure::new(
                Code::SecretMissing,
                "no default holds a secret",
            ))
        };
        fill(Fill {
            inputs: self.defaults,
            files: &CallFiles::default(),
            secrets: &secrets,
            previous: b"",
        })
    }
}
