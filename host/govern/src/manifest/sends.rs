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

fn placeholder(kind: Kind, word: &str, name: &str) -> Part {
    Part {
        kind,
        shown: format!("{{{word} {}}}", named(name)),
        name: Some(name.to_owned()),
        default: None,
    }
}

/// Parts of a row while it is made: texts are as they are written.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn text(&mut self, kind: Kind, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.kind == kind => last.shown.push_str(text),
            _ => self.0.push(Part {
                kind,
                shown: text.to_owned(),
                name: None,
                default: None,
            }),
        }
    }

    fn constant(&mut self, text: &str) {
        self.text(Kind::Constant, text);
    }

    fn secret(&mut self, name: &str) {
        self.0.push(placeholder(Kind::Secret, "secret", name));
    }

    fn file(&mut self, name: &str) {
        self.0.push(placeholder(Kind::File, "file", name));
    }

    fn previous(&mut self) {
        self.0.push(Part {
            kind: Kind::Previous,
            shown: "{output of the stage before}".to_owned(),
            name: None,
            default: None,
        });
    }

    fn append(&mut self, others: Self) {
        for part in others.0 {
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

fn constant(what: &str, text: &str) -> Row {
    let mut parts = Parts::default();
    parts.constant(text);
    parts.row(what)
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
                rows.extend(stdin.iter().filter_map(|text| self.row("reads", "", text)));
                rows
            }
            Stage::TextTransform { tool, args, stdin } => {
                let mut rows = vec![constant("program", tool)];
                rows.extend(
                    args.iter()
                        .filter_map(|text| self.row("argument", "", text)),
                );
                rows.extend(stdin.iter().filter_map(|text| self.row("reads", "", text)));
                rows
            }
            Stage::Println { text } => self.row("text", "", text).into_iter().collect(),
            Stage::ReadFile(stage) => {
                let file = |path: &String| {
                    let mut parts = Parts::default();
                    parts.file(path);
                    parts.row("reads")
                };
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
        match &stage.url_input {
            Some(name) => drop(self.input(&mut parts, name, |url| {
                url.as_str().map_or_else(|| url.to_string(), str::to_owned)
            })),
            // A path without one of its inputs is no request.
            None => drop(self.complete().segments(&mut parts, &stage.url)),
        }
        let query = self.pairs(&stage.query, Encoding::Query, "&");
        if !query.0.is_empty() {
            parts.constant("?");
            parts.append(query);
        }
        let mut rows = vec![parts.row("request")];
        for header in &stage.headers {
            rows.extend(self.row("header", &format!("{}: ", header.name), &header.value));
        }
        if let Some(basic) = &stage.basic {
            let mut parts = Parts::default();
            parts.constant("Authorization: Basic ");
            let _ = self.complete().segments(&mut parts, &basic.user);
            parts.constant(":");
            let _ = self.complete().segments(&mut parts, &basic.password);
            rows.push(parts.row("header"));
        }
        let cookies = self.pairs(&stage.cookies, Encoding::Header, "; ");
        if !cookies.0.is_empty() {
            let mut parts = Parts::default();
            parts.constant("Cookie: ");
            parts.append(cookies);
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
            rows.extend(self.complete().row("saved as", "", &file.path));
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
        rows.extend(
            stage
                .args
                .iter()
                .filter_map(|word| self.row("argument", "", word)),
        );
        rows.extend(
            stage
                .stdin
                .iter()
                .filter_map(|text| self.row("reads", "", text)),
        );
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
        let mut parts = Parts::default();
        parts.constant(before);
        self.segments(&mut parts, value)?;
        Some(parts.row(what))
    }

    fn segments(self, parts: &mut Parts, segments: &Segments) -> Option<()> {
        for segment in &segments.0 {
            match segment {
                Segment::Literal { lit } => parts.constant(lit),
                Segment::Secret { secret, .. } => parts.secret(secret),
                Segment::Input { input, .. } => self.input(parts, input, |value| {
                    let one = Segments(vec![segment.clone()]);
                    self.filled(|fill| {
                        fill.text(&one)
                            .ok()
                            .flatten()
                            .map(|text| text.text.to_string())
                    })
                    .unwrap_or_else(|| value.to_string())
                })?,
            }
        }
        Some(())
    }

    /// An input, or what its default is written as.
    fn input(
        self,
        parts: &mut Parts,
        name: &str,
        written: impl FnOnce(&Json) -> String,
    ) -> Option<()> {
        let default = self.defaults.present(name);
        let is_required = self.required.contains(name);
        match default {
            Some(value) if self.without_input => {
                parts.text(Kind::Default, &written(value));
                return Some(());
            }
            None if self.without_input && !is_required && !self.needs_all => return None,
            _ => {}
        }
        let name_shown = named(name);
        let shown = match default {
            Some(value) => format!("{{input {name_shown}, default {}}}", quoted(value)),
            None if is_required || self.needs_all => format!("{{input {name_shown}}}"),
            None => format!("{{input {name_shown}, optional}}"),
        };
        parts.0.push(Part {
            kind: Kind::Input,
            shown,
            name: Some(name.to_owned()),
            default: default.map(Json::nearest),
        });
        Some(())
    }

    fn pairs(self, pairs: &[Pair], enc: Encoding, between: &str) -> Parts {
        let mut all = Parts::default();
        for pair in pairs {
            let mut own = Parts::default();
            if self.pair(&mut own, pair, enc, between).is_none() || own.0.is_empty() {
                continue;
            }
            if !all.0.is_empty() {
                all.constant(between);
            }
            all.append(own);
        }
        all
    }

    fn pair(self, parts: &mut Parts, pair: &Pair, enc: Encoding, between: &str) -> Option<()> {
        if self.without_input
            && let Some(
                [
                    Segment::Input {
                        input,
                        style: Some(_),
                        ..
                    },
                ],
            ) = pair.value.as_ref().map(|value| value.0.as_slice())
            && self.defaults.present(input).is_some()
            && let Some(texts) = self.filled(|fill| filled_pairs(pair, enc, fill).ok())
        {
            parts.text(Kind::Default, &texts.0.join(between));
            return Some(());
        }
        self.segments(parts, &pair.name)?;
        if let Some(value) = &pair.value {
            parts.constant("=");
            self.segments(parts, value)?;
        }
        Some(())
    }

    fn body(self, body: &Body) -> Option<Parts> {
        let mut parts = Parts::default();
        match body {
            Body::Text(text) => self.segments(&mut parts, text)?,
            Body::Json(node) => self.json(&mut parts, node)?,
            Body::Form(pairs) => parts = self.pairs(pairs, Encoding::Form, "&"),
            Body::Pieces(pieces) => {
                for piece in pieces {
                    match piece {
                        PieceOut::Text(text) => {
                            let mut own = Parts::default();
                            if self.segments(&mut own, text).is_some() {
                                parts.append(own);
                            }
                        }
                        PieceOut::File { name, .. } => parts.file(name),
                        PieceOut::Previous { .. } => parts.previous(),
                    }
                }
            }
            Body::Input {
                name,
                media: Media::File,
            } => parts.file(name),
            Body::Input { name, media } => {
                self.input(&mut parts, name, |value| match (media, value) {
                    (Media::Text, Json::String(text)) => text.clone(),
                    _ => value.to_string(),
                })?;
            }
            // Each part of it is a row.
            Body::Multipart(_) => {}
        }
        Some(parts)
    }

    fn json(self, parts: &mut Parts, node: &JsonNode) -> Option<()> {
        match node {
            JsonNode::Value(value) => parts.constant(&value.to_string()),
            JsonNode::Input(name) => self.input(parts, name, Json::to_string)?,
            JsonNode::Text(text) => {
                parts.constant("\"");
                self.segments(parts, text)?;
                parts.constant("\"");
            }
            JsonNode::Object(members) => {
                let members = members.iter().map(|member| {
                    let key = Value::from(member.key.as_str());
                    (format!("{key}:"), &member.value)
                });
                self.collection(parts, ["{", "}"], members);
            }
            JsonNode::Array(items) => {
                let items = items.iter().map(|item| (String::new(), item));
                self.collection(parts, ["[", "]"], items);
            }
            JsonNode::TextOfFile(name) => {
                parts.constant("\"");
                parts.file(name);
                parts.constant("\"");
            }
            JsonNode::JsonOfFile(name) => parts.file(name),
        }
        Some(())
    }

    fn collection<'n>(
        self,
        parts: &mut Parts,
        [start, end]: [&str; 2],
        members: impl Iterator<Item = (String, &'n JsonNode)>,
    ) {
        parts.constant(start);
        let mut is_first = true;
        for (key, value) in members {
            let mut own = Parts::default();
            own.constant(&key);
            if self.json(&mut own, value).is_some() {
                parts.constant(if is_first { "" } else { "," });
                parts.append(own);
                is_first = false;
            }
        }
        parts.constant(end);
    }

    fn multipart(self, part: &MultipartPart) -> Option<Row> {
        let mut parts = Parts::default();
        parts.constant(&format!("{}=", part.name));
        match &part.value {
            PartValue::Text(text) => self.segments(&mut parts, text)?,
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
