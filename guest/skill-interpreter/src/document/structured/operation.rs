//! Operations of a YAML or JSON skill.

use super::field::Field;
use super::{http, program, sandbox, schema};
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::document::Candidate;
use crate::draft::{Declaration, Draft, DraftStage, Example, Identity};
use crate::failure::{Code, Failure};
use crate::limits;
use kit::yaml::Node;

/// What an operation may say.
const KEYS: [&str; 22] = [
    "name",
    "description",
    "method",
    "endpoint",
    "headers",
    "query",
    "body",
    "auth",
    "input",
    "input_schema",
    "output",
    "output_schema",
    "command",
    "runtime",
    "script",
    "sandbox",
    "packages",
    "examples",
    "data_classifications",
    "follow",
    "timeout_ms",
    "returns_secret",
];

/// Reads the value of the key `operations`; `null` is none.
///
/// # Errors
///
/// `schema`, `unknown-op-key`, with path; `limit`.
pub fn operations(
    node: Node<'_>,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Candidate>, Failure> {
    let root = super::field::Path::ROOT;
    let field = Field {
        node,
        path: root.key("operations"),
    };
    let mut named: Vec<(&str, Field<'_, '_>)> = Vec::new();
    if node.is_list() {
        for item in field.items() {
            let item = item.map()?;
            named.push((name_of(item)?, item));
        }
    } else if node.is_map() {
        for (key, value) in field.entries() {
            if key.trim().is_empty() {
                return Err(value.failure(Code::Schema, "must not be empty"));
            }
            named.push((key, value.map()?));
        }
        // A map is taken in name order.
        named.sort_by_key(|(name, _)| *name);
    } else if !node.is_null() {
        return Err(field.wrong("list or map"));
    }
    let mut candidates = Vec::new();
    for (name, field) in named {
        candidates.extend(operation(name, &field, context, diagnostics)?);
        if candidates.len() > limits::OPERATIONS {
            return Err(Failure::exceeded(
                "operations of the skill",
                limits::OPERATIONS,
            ));
        }
    }
    Ok(candidates)
}

/// The name of an operation in a list.
fn name_of<'t>(item: Field<'_, 't>) -> Result<&'t str, Failure> {
    item.required("name")?.name()
}

/// One operation; a command with several URLs makes several.
fn operation(
    name: &str,
    field: &Field<'_, '_>,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Candidate>, Failure> {
    field.known_keys(&KEYS, "an operation")?;
    let declaration = declaration(name, field)?;
    let drafts = drafts(field, &declaration, context, diagnostics)?;
    let several = drafts.into_iter().enumerate();
    Ok(several
        .map(|(position, draft)| {
            let mut declaration = declaration.clone();
            if position > 0 {
                let number = position.saturating_add(1);
                declaration.identity = Identity::Verbatim(format!("{name}-{number}"));
            }
            Candidate { draft, declaration }
        })
        .collect())
}

/// What it does, by the first of endpoint, script with runtime, and command that it has.
fn drafts(
    field: &Field<'_, '_>,
    declaration: &Declaration,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Draft>, Failure> {
    let line = field.node.line();
    // What is not used has its type too.
    let endpoint = http::endpoint(field, declaration, context, diagnostics)?;
    let mut program = program::read(field)?;
    let limit = field.read("timeout_ms", Field::count)?;
    if let Some(mut http) = endpoint {
        if let Some(command) = field.get("command") {
            diagnostics.warn(
                Code::CommandIgnored,
                command.node.line(),
                format!("{}: the endpoint goes before the command", command.path),
            );
        }
        http.limits.total_ms = limit;
        let text = http.url.as_ref().map(crate::draft::Template::display);
        return Ok(vec![Draft {
            line,
            comment: None,
            text: format!("{} {}", http.method, text.unwrap_or_default()),
            plan: Ok(vec![DraftStage::Http(Box::new(http))]),
        }]);
    }
    let mut drafts = program.take_drafts(field, context, diagnostics);
    for draft in &mut drafts {
        for stage in draft.plan.iter_mut().flatten() {
            if let DraftStage::Http(http) = stage {
                http.auth.extend(http::auth(field, context)?);
                http.follow |= http::follow(field)?;
                let lower = [http.limits.total_ms, limit].into_iter().flatten().min();
                http.limits.total_ms = lower;
            }
        }
    }
    Ok(drafts)
}

/// What is said of it besides what it does.
fn declaration(name: &str, field: &Field<'_, '_>) -> Result<Declaration, Failure> {
    let mut declaration = Declaration::new(Identity::Verbatim(name.to_owned()));
    name.clone_into(&mut declaration.title);
    if let Some(description) = field.read("description", Field::text)? {
        description.clone_into(&mut declaration.description);
    }
    // Both names are checked; where both are given, the schema is the more exact one.
    for key in ["input", "input_schema"] {
        if let Some(input) = field.read(key, schema::input)? {
            declaration.input = input;
        }
    }
    for key in ["output", "output_schema"] {
        declaration.output_schema = field
            .read(key, schema::output)?
            .or(declaration.output_schema);
    }
    let strings = |key| Ok::<_, Failure>(field.read(key, Field::strings)?.unwrap_or_default());
    declaration.data_classifications = strings("data_classifications")?;
    declaration.packages = strings("packages")?;
    declaration.returns_secret = strings("returns_secret")?;
    declaration.sandbox = field.read("sandbox", sandbox::read)?;
    if let Some(limit) = field.read("timeout_ms", Field::count)?
        && field.get("endpoint").is_none()
    {
        let sandbox = declaration.sandbox.get_or_insert_default();
        if sandbox.line == 0 {
            sandbox.line = field.node.line();
        }
        sandbox::lower(sandbox, ("wall-clock-ms".to_owned(), limit));
    }
    if let Some(examples) = field.read("examples", Field::list)? {
        declaration.examples = examples.items().map(|item| example(&item)).collect();
    }
    Ok(declaration)
}

/// An example: a map with `input` or `output`, or a value that is an input.
fn example(field: &Field<'_, '_>) -> Example {
    let value = |key| field.get(key).map(|value| value.node.to_json());
    let (mut input, output) = (value("input"), value("output"));
    if output.is_none() {
        input = input.or_else(|| Some(field.node.to_json()));
    }
    Example {
        input,
        output,
        line: Some(field.node.line()),
        ..Example::default()
    }
}
