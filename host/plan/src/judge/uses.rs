//! What stages name: secrets, files, code.

use std::collections::BTreeSet;

use crate::{
    Body, HttpStage, JsonNode, Operation, Pair, PartValue, PieceOut, Program, SandboxStage,
    Segment, Segments, Stage,
};

/// What a plan names.
#[derive(Debug, Default)]
pub(super) struct Uses<'a> {
    /// Names of secrets.
    pub(super) secrets: BTreeSet<&'a String>,
    /// Names of the files of a call.
    pub(super) read: BTreeSet<&'a String>,
    /// Names of the files that it writes, variables as `{NAME}`.
    pub(super) written: BTreeSet<String>,
}

/// Of all stages.
pub(super) fn of(stages: &[Stage]) -> Uses<'_> {
    let mut uses = Uses::default();
    for stage in stages {
        uses.stage(stage);
    }
    uses
}

/// Of a request.
pub(super) fn of_http(stage: &HttpStage) -> Uses<'_> {
    let mut uses = Uses::default();
    uses.http(stage);
    uses
}

/// The code that an operation runs, each program under the one before.
#[must_use]
pub fn script(operation: &Operation) -> Option<String> {
    let texts: Vec<&str> = operation
        .stages
        .iter()
        .filter_map(|stage| match stage {
            Stage::Sandbox(stage) => match &stage.program {
                Program::Code(text) | Program::Script(text) => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

impl<'a> Uses<'a> {
    fn stage(&mut self, stage: &'a Stage) {
        match stage {
            Stage::Http(stage) => self.http(stage),
            Stage::JsonFilter { args, stdin, .. } => self.texts(args.values().chain(stdin)),
            Stage::TextTransform { args, stdin, .. } => self.texts(args.iter().chain(stdin)),
            Stage::Println { text } => self.text(text),
            Stage::ReadFile(stage) => self.read.extend(&stage.paths),
            Stage::Sandbox(stage) => self.sandbox(stage),
        }
    }

    fn text(&mut self, text: &'a Segments) {
        for segment in &text.0 {
            if let Segment::Secret { secret, .. } = segment {
                self.secrets.insert(secret);
            }
        }
    }

    fn texts(&mut self, texts: impl Iterator<Item = &'a Segments>) {
        for text in texts {
            self.text(text);
        }
    }

    fn pairs(&mut self, pairs: &'a [Pair]) {
        for pair in pairs {
            self.text(&pair.name);
            self.texts(pair.value.iter());
        }
    }

    fn http(&mut self, stage: &'a HttpStage) {
        self.text(&stage.url);
        self.pairs(&stage.query);
        self.texts(stage.headers.iter().map(|header| &header.value));
        self.pairs(&stage.cookies);
        if let Some(basic) = &stage.basic {
            self.text(&basic.user);
            self.text(&basic.password);
        }
        if let Some(file) = &stage.output_file {
            self.written.insert(file.path.display());
            self.text(&file.path);
        }
        match &stage.body {
            Some(Body::Text(text)) => self.text(text),
            Some(Body::Json(node)) => self.json(node),
            Some(Body::Form(pairs)) => self.pairs(pairs),
            Some(Body::Multipart(parts)) => {
                for part in parts {
                    match &part.value {
                        PartValue::Text(text) => self.text(text),
                        PartValue::File(file) | PartValue::TextOfFile(file) => {
                            self.read.insert(file);
                        }
                        PartValue::Previous(_) => {}
                    }
                }
            }
            Some(Body::Pieces(pieces)) => {
                for piece in pieces {
                    match piece {
                        PieceOut::Text(text) => self.text(text),
                        PieceOut::File { name, .. } => {
                            self.read.insert(name);
                        }
                        PieceOut::Previous { .. } => {}
                    }
                }
            }
            Some(Body::Input { .. }) | None => {}
        }
    }

    fn json(&mut self, node: &'a JsonNode) {
        match node {
            JsonNode::Value(_) | JsonNode::Input(_) => {}
            JsonNode::Text(text) => self.text(text),
            JsonNode::Object(members) => {
                for member in members {
                    self.json(&member.value);
                }
            }
            JsonNode::Array(items) => {
                for item in items {
                    self.json(item);
                }
            }
            JsonNode::TextOfFile(file) | JsonNode::JsonOfFile(file) => {
                self.read.insert(file);
            }
        }
    }

    fn sandbox(&mut self, stage: &'a SandboxStage) {
        self.texts(stage.args.iter().chain(&stage.stdin));
        if let Program::Argv(argv) = &stage.program {
            self.texts(argv.iter());
        }
    }
}
