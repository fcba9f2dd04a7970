//! Drafts to operations, as a reader of commands or documents sees it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::panic,
    reason = "a wrong answer fails the test"
)]

mod approval;
mod auth;
mod bodies;
mod digest;
mod hostile;
mod joining;
mod names;
mod placeholders;
mod policy;
mod urls;

use serde_json::Value;

use crate::context::{Context, Relative};
use crate::diagnostic::Diagnostics;
use crate::draft::{
    Declaration, Draft, DraftStage, HeaderDraft, HeaderValue, HttpDraft, Identity, Piece,
    SandboxDraft, Template, WrittenAs,
};
use crate::failure::Code;
use crate::model::judge::{Load, Unconfigured, judge};
use crate::model::{JudgedOperation, Status, show};

/// Text in which `$X` is a variable, as a shell or a document's reader makes it.
fn text(text: &str) -> Template {
    super::placeholder::document_text(text)
}

fn curl(method: &str, url: &str) -> HttpDraft {
    HttpDraft {
        schemeless: crate::draft::Schemeless::Http,
        ..HttpDraft::new(WrittenAs::Curl, method, Some(text(url)))
    }
}

fn endpoint(method: &str, url: &str) -> HttpDraft {
    HttpDraft::new(WrittenAs::Endpoint, method, Some(text(url)))
}

impl HttpDraft {
    fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(HeaderDraft {
            name: name.to_owned(),
            value: HeaderValue::Set(text(value)),
        });
        self
    }

    fn data(mut self, data: &str) -> Self {
        self.body = Some(crate::draft::BodyDraft::Pieces(vec![Piece::Text(text(
            data,
        ))]));
        self
    }
}

fn skill(id: &str) -> Context {
    Context {
        skill_id: Some(id.to_owned()),
        ..Context::default()
    }
}

fn nameless() -> Declaration {
    Declaration::new(Identity::Nameless)
}

/// An operation as it is assembled, and as the host judges it.
struct Assembled {
    assembled: super::Assembled,
    operation: JudgedOperation,
    diagnostics: Diagnostics,
}

impl Assembled {
    fn codes(&self) -> Vec<Code> {
        let diagnostics = self.diagnostics.as_slice();
        diagnostics.iter().map(|each| each.code).collect()
    }

    fn json(&self) -> Value {
        serde_json::to_value(&self.operation).unwrap()
    }

    fn http(&self) -> Value {
        self.json()["stages"][0].clone()
    }

    fn properties(&self) -> Value {
        self.operation.input_schema["properties"].clone()
    }

    fn required(&self) -> Value {
        self.operation.input_schema["required"].clone()
    }

    fn readable(&self) -> Value {
        show::mapping(std::slice::from_ref(&self.operation), &[])["params"].clone()
    }

    fn secrets(&self) -> Vec<&str> {
        let secrets = &self.operation.secrets;
        secrets.iter().map(|secret| secret.name.as_str()).collect()
    }

    fn refusal(&self) -> Code {
        match &self.operation.status {
            Status::Unusable { code, .. } => *code,
            Status::Ok => panic!("usable: {}", self.json()),
        }
    }
}

fn stages(stages: Vec<DraftStage>, declaration: &Declaration, context: &Context) -> Assembled {
    let draft = Draft {
        line: 7,
        comment: None,
        text: String::new(),
        plan: Ok(stages),
    };
    let mut diagnostics = Diagnostics::default();
    let assembled = super::operation(&draft, declaration, context, &mut diagnostics);
    let base_url = context.base_url.as_ref().map(url::Url::as_str);
    let load = Load {
        base_url,
        constants: &context.constants,
        files: &context.files,
        mapping_version: "2",
        is_command: context.relative == Relative::Kept,
    };
    Assembled {
        operation: judge(assembled.operation.clone(), load, &Unconfigured),
        assembled,
        diagnostics,
    }
}

fn http(draft: HttpDraft, declaration: &Declaration, context: &Context) -> Assembled {
    stages(
        vec![DraftStage::Http(Box::new(draft))],
        declaration,
        context,
    )
}

/// A request without declaration in the skill `books`.
fn request(draft: HttpDraft) -> Assembled {
    http(draft, &nameless(), &skill("books"))
}

fn sandbox(draft: SandboxDraft, declaration: &Declaration, context: &Context) -> Assembled {
    stages(
        vec![DraftStage::Sandbox(Box::new(draft))],
        declaration,
        context,
    )
}

/// As `map` does, without a base.
fn unbased() -> Context {
    Context {
        relative: Relative::Kept,
        ..Context::default()
    }
}
