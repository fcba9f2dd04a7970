//! OpenAPI descriptions 2.0, 3.0 and 3.1, by an extractor of our own over the tree.
//!
//! Of a description only what makes requests is read, and what is read is checked; the rest may be as imperfect as such
//! files are. What is wrong with one operation makes that one unusable.

mod body;
mod parameter;
mod reference;
mod schema;
mod security;
mod server;

use serde_json::{Map, Value, json};

use self::parameter::{Inputs, Place};
use self::reference::{Api, Version};
use self::schema::{Schemas, malformed};
use self::server::Source;
use super::markdown::numbering::Taken;
use super::{Candidate, Document, SkillDeclaration};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{
    Declaration, Draft, DraftStage, HttpDraft, Identity, InputDeclaration, WirePlace, WrittenAs,
};
use crate::failure::{Code, Failure};
use crate::identifier::{fold, is_id, slug};
use crate::limits;
use crate::model::Format;
use crate::request::LoadRequest;
use kit::yaml::{self, Node};

/// The methods of a path item.
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// Reads an OpenAPI description.
///
/// # Errors
///
/// `openapi`, `openapi-version`, `json`, `yaml`, `limit`.
pub fn read(
    text: &str,
    is_json: bool,
    request: &LoadRequest,
    diagnostics: &mut Diagnostics,
) -> Result<Document, Failure> {
    let tree = super::structured::parse(text, is_json)?;
    let root = tree
        .root()
        .filter(Node::is_map)
        .ok_or_else(|| Failure::new(Code::Openapi, "the description is no mapping"))?;
    let (version, format_version) = version(root, diagnostics)?;
    let api = Api { root, version };
    let mut skill = declaration(root)?;
    skill.format_version = Some(format_version);
    let context = Context::of_load(request, &skill)?;
    if context.skill_id.is_none() {
        return Err(malformed_title(root));
    }
    let mut found = found(api)?;
    keep_only(&request.only, &mut found)?;
    if found.len() > limits::OPERATIONS {
        return Err(
            Failure::exceeded("operations of the skill", limits::OPERATIONS)
                .with_hint("load a part with --only TAG, PATH or ID"),
        );
    }
    ignored(root, &found, diagnostics);
    let reader = Reader {
        api,
        source: Source {
            address: &request.source_url,
            requested: request.base_url.is_some(),
            context: &context,
        },
    };
    let candidates = reader.candidates(&found, diagnostics)?;
    Ok(Document {
        skill,
        context,
        candidates,
    })
}

/// The dialect, and the version as written.
fn version(root: Node<'_>, diagnostics: &mut Diagnostics) -> Result<(Version, String), Failure> {
    let text = |key: &str| root.get(key).and_then(|value| value.as_text());
    let (version, text) = match (text("openapi"), text("swagger")) {
        (Some(text), _) if is_minor(text, "3.0") => (Version::Three, text),
        (Some(text), _) if is_minor(text, "3.1") => (Version::ThreeOne, text),
        (Some(text), _) if is_minor(text, "3.2") => {
            diagnostics.info(
                Code::OpenapiNewer,
                root.line(),
                "openapi: 3.2 is read as 3.1",
            );
            (Version::ThreeOne, text)
        }
        (None, Some("2.0")) => (Version::Two, "2.0"),
        _ => {
            return Err(Failure::new(
                Code::OpenapiVersion,
                "the version is none of 2.0, 3.0, 3.1 and 3.2",
            )
            .at_line(root.line()));
        }
    };
    Ok((version, text.to_owned()))
}

/// `3.1` or `3.1.…`
fn is_minor(text: &str, minor: &str) -> bool {
    text.strip_prefix(minor)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

/// What the description says of itself.
fn declaration(root: Node<'_>) -> Result<SkillDeclaration, Failure> {
    let mut skill = SkillDeclaration::new(Format::Openapi);
    let info = root.get("info");
    let value = |key: &str| info.and_then(|info| info.get(key));
    let title = value("title").and_then(|title| title.as_text());
    skill.name = title
        .filter(|title| !title.trim().is_empty())
        .ok_or_else(|| malformed_title(root))?
        .to_owned();
    if let Some(version) = value("version") {
        match version.value() {
            yaml::Value::Text(text) | yaml::Value::Integer(text) | yaml::Value::Number(text) => {
                text.clone_into(&mut skill.version);
            }
            _ => return Err(malformed(version, "info.version", "string")),
        }
    }
    if let Some(text) = value("description").and_then(|text| text.as_text()) {
        text.clone_into(&mut skill.description);
    }
    Ok(skill)
}

fn malformed_title(root: Node<'_>) -> Failure {
    let line = root.get("info").map_or(root.line(), |info| info.line());
    Failure::new(
        Code::Openapi,
        "info.title: expected a title that makes an id",
    )
    .at_path("info.title")
    .at_line(line)
}

/// An operation of the description.
struct Found<'t> {
    path: &'t str,
    /// Upper-case; none for a path item that could not be read.
    method: Option<String>,
    /// The path item, and the operation, which is the path item itself where that could not be read.
    item: Node<'t>,
    operation: Node<'t>,
    /// Why the path item could not be read.
    failure: Option<Failure>,
    line: u32,
}

/// Every operation, in the order of the description.
fn found<'t>(api: Api<'t>) -> Result<Vec<Found<'t>>, Failure> {
    let mut all = Vec::new();
    let Some(paths) = api.root.get("paths").filter(|paths| !paths.is_null()) else {
        return Ok(all);
    };
    if !paths.is_map() {
        return Err(malformed(paths, "paths", "map"));
    }
    for (path, item) in paths.entries() {
        // Extensions.
        if path.text.starts_with("x-") || item.is_null() {
            continue;
        }
        let resolved = api.resolve(item);
        let mut one = |method: Option<String>, item, operation, failure, line| {
            all.push(Found {
                path: path.text,
                method,
                item,
                operation,
                failure,
                line,
            });
        };
        match resolved {
            Err(failure) => one(None, item, item, Some(failure), path.line),
            Ok(item) if !item.is_map() => return Err(malformed(item, "paths", "map of maps")),
            Ok(item) => {
                for (key, operation) in item.entries() {
                    if !METHODS.contains(&key.text) || operation.is_null() {
                        continue;
                    }
                    if !operation.is_map() {
                        return Err(malformed(operation, "paths", "operations that are maps"));
                    }
                    let method = Some(key.text.to_ascii_uppercase());
                    one(method, item, operation, None, key.line);
                }
            }
        }
    }
    Ok(all)
}

/// Keeps the operations that have one of the tags, paths (or the beginning of one, up to a `/`) or ids.
fn keep_only(only: &[String], found: &mut Vec<Found<'_>>) -> Result<(), Failure> {
    if only.is_empty() {
        return Ok(());
    }
    found.retain(|one| {
        let tags = one.operation.get("tags");
        only.iter().any(|wanted| {
            let has_tag = || {
                let mut tags = tags.iter().flat_map(|tags| tags.items());
                tags.any(|tag| {
                    tag.as_text()
                        .is_some_and(|tag| tag.eq_ignore_ascii_case(wanted))
                })
            };
            let below = || one.path.strip_prefix(wanted.trim_end_matches('/'));
            let is_path = || {
                wanted.starts_with('/')
                    && below().is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let written = one.operation.get("operationId").and_then(|id| id.as_text());
            let has_id = || {
                let method = one.method.as_deref().unwrap_or_default();
                written == Some(wanted) || id(written, method, one.path) == *wanted
            };
            is_path() || has_tag() || has_id()
        })
    });
    if found.is_empty() {
        let message = "only: no operation has this tag, path or id";
        return Err(Failure::new(Code::InvalidRequest, message).at_path("only"));
    }
    Ok(())
}

/// What is no request.
fn ignored(root: Node<'_>, found: &[Found<'_>], diagnostics: &mut Diagnostics) {
    let mut report = |what: &str, node: Option<Node<'_>>| {
        if let Some(node) = node {
            let message = format!("{what} are not read");
            diagnostics.info(Code::OpenapiIgnored, node.line(), message);
        }
    };
    report("webhooks", root.get("webhooks"));
    let operations = || found.iter().map(|found| found.operation);
    report(
        "callbacks",
        operations().find_map(|node| node.get("callbacks")),
    );
    let links = |operation: Node<'_>| {
        let responses = operation.get("responses")?;
        let links = responses
            .entries()
            .find_map(|(_, response)| response.get("links"))?;
        Some(links.line())
    };
    if let Some(line) = operations().find_map(links) {
        diagnostics.info(Code::OpenapiIgnored, line, "links are not read");
    }
}

struct Reader<'a, 't> {
    api: Api<'t>,
    source: Source<'a>,
}

impl<'t> Reader<'_, 't> {
    fn candidates(
        &self,
        found: &[Found<'t>],
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<Candidate>, Failure> {
        let mut schemas = Schemas::new(self.api);
        let mut candidates = Vec::new();
        let mut taken = Taken::default();
        for one in found {
            let mut candidate = self.candidate(one, &mut schemas, diagnostics)?;
            if let Identity::Verbatim(id) = &mut candidate.declaration.identity {
                // An id that was made, or cut, must not collide; one that stands there is the author's.
                let written = one.operation.get("operationId").and_then(|id| id.as_text());
                if written == Some(id) {
                    taken.take(fold(id));
                } else if !taken.take(fold(id)) {
                    *id = taken.numbered(&fold(id));
                }
            }
            candidates.push(candidate);
        }
        // What goes in is needed, and comes first.
        for (one, candidate) in found.iter().zip(&mut candidates) {
            if candidate.draft.plan.is_ok() {
                self.add_output(one, candidate, &mut schemas, diagnostics)?;
            }
        }
        Ok(candidates)
    }

    fn candidate(
        &self,
        found: &Found<'t>,
        schemas: &mut Schemas<'t>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Candidate, Failure> {
        let text = |key: &str| found.operation.get(key).and_then(|value| value.as_text());
        let method = found.method.as_deref().unwrap_or_default();
        let id = id(text("operationId"), method, found.path);
        let title = text("operationId").or_else(|| text("summary"));
        let mut declaration = Declaration::new(Identity::Verbatim(id.clone()));
        title.unwrap_or(&id).clone_into(&mut declaration.title);
        text("description")
            .filter(|text| !text.is_empty())
            .or_else(|| text("summary"))
            .unwrap_or_default()
            .clone_into(&mut declaration.description);
        let plan = match &found.failure {
            Some(failure) => Err(failure.clone()),
            None => self.request(found, method, &mut declaration, schemas, diagnostics),
        };
        let plan = match plan {
            Ok(http) => Ok(vec![DraftStage::Http(Box::new(http))]),
            Err(failure) if is_of_operation(failure.code) => Err(failure.at_line(found.line)),
            Err(failure) => return Err(failure),
        };
        Ok(Candidate {
            draft: Draft {
                line: found.line,
                comment: None,
                text: format!("{method} {}", found.path),
                plan,
            },
            declaration,
        })
    }

    fn request(
        &self,
        found: &Found<'t>,
        method: &str,
        declaration: &mut Declaration,
        schemas: &mut Schemas<'t>,
        diagnostics: &mut Diagnostics,
    ) -> Result<HttpDraft, Failure> {
        let (api, operation) = (self.api, found.operation);
        let parameters = parameter::merged(api, [found.item, operation])?;
        let base = server::base(api, [operation, found.item], &self.source, diagnostics)?;
        let security = security::read(api, operation, self.source.context)?;
        let ((inputs, body), definitions) = schemas.convert(|schemas| {
            let mut inputs = Inputs::default();
            for parameter in &parameters {
                // What the path has no place for cannot be sent.
                let is_in_path = || server::names_in(found.path).any(|name| name == parameter.name);
                if let Place::Wire(place) = parameter.place
                    && (place != WirePlace::Path || is_in_path())
                {
                    inputs.add(api, schemas, parameter, place)?;
                }
            }
            for name in server::names_in(found.path) {
                inputs.add_undeclared(name);
            }
            let body = match api.version {
                Version::Two => {
                    body::body_parameters(api, operation, &parameters, schemas, &mut inputs)?
                }
                _ => body::request_body(api, operation, schemas, &mut inputs)?,
            };
            Ok((inputs, body))
        })?;
        let input_of = |name: &str| match inputs.in_path.get(name) {
            Some(input) => input.clone(),
            None => name.to_owned(),
        };
        let url = server::url(&base, found.path, input_of);
        let mut http = HttpDraft::new(WrittenAs::Endpoint, method, Some(url));
        http.auth = security.auth;
        http.body = body;
        declaration.notes = security.notes;
        declaration.input = Some(InputDeclaration {
            schema: object_schema(&inputs, definitions),
            places: inputs.places,
        });
        Ok(http)
    }

    /// What comes out. It is left out where it would be too large: nothing depends on it.
    fn add_output(
        &self,
        found: &Found<'t>,
        candidate: &mut Candidate,
        schemas: &mut Schemas<'t>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Failure> {
        let converted = body::response_schema(self.api, found.operation).and_then(|schema| {
            let convert = |schema| schemas.convert(|schemas| schemas.whole(schema));
            schema.map(convert).transpose()
        });
        match converted {
            Ok(Some((mut schema, definitions))) => {
                if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
                    schema.insert("$defs".to_owned(), Value::Object(definitions));
                }
                candidate.declaration.output_schema = Some(schema);
            }
            Ok(None) => {}
            Err(failure) if failure.code == Code::Limit => {
                let message = format!("output schema left out: {}", failure.message);
                diagnostics.warn(Code::Limit, found.line, message);
            }
            Err(failure) if is_of_operation(failure.code) => {
                candidate.draft.plan = Err(failure.at_line(found.line));
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

/// Whether a failure makes one operation unusable, and not the description.
fn is_of_operation(code: Code) -> bool {
    code != Code::Openapi
}

/// The id of an operation: its `operationId`, or one that is made of it or of method and path.
fn id(operation_id: Option<&str>, method: &str, path: &str) -> String {
    match operation_id {
        Some(id) if is_id(id) => return id.to_owned(),
        Some(id) => {
            if let Some(slug) = slug(id) {
                return slug;
            }
        }
        None => {}
    }
    // A path item that cannot be read has no method.
    slug(&format!("{method} {path}")).unwrap_or_else(|| "operation".to_owned())
}

/// The schema of all inputs of an operation.
fn object_schema(inputs: &Inputs, definitions: Map<String, Value>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), json!(inputs.properties));
    if !inputs.required.is_empty() {
        schema.insert("required".to_owned(), json!(inputs.required));
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}
