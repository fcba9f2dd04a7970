//! Requests of an operation with an `endpoint`.

use super::auth as credentials;
use super::field::Field;
use crate::assemble::placeholder::document_text;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{
    AuthDraft, BodyDraft, Declaration, HeaderDraft, HeaderValue, HttpDraft, InputDeclaration,
    JsonDraft, Media, Piece, QueryDraft, WrittenAs,
};
use crate::failure::{Code, Failure};
use kit::yaml;

/// The request; none without an endpoint. Everything is read in any case, so that a wrong type is found.
///
/// # Errors
///
/// `schema`, with path.
pub(super) fn endpoint(
    field: &Field<'_, '_>,
    declaration: &Declaration,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Option<HttpDraft>, Failure> {
    let url = field.read("endpoint", Field::text)?;
    let input = declaration.input.as_ref();
    let body = field.read("body", |body| body_of(&body, input))?;
    let method = method(field, body.is_some())?;
    let headers = headers(field)?;
    let query = query(field)?;
    let auth = auth(field, context)?;
    let follow = follow(field)?;
    let Some(url) = url else {
        refuse_without_endpoint(field, diagnostics);
        return Ok(None);
    };
    let mut http = HttpDraft::new(WrittenAs::Endpoint, method, Some(document_text(url)));
    http.body = body.or_else(|| body_of_inputs(&http.method, input));
    http.headers = headers;
    http.query = query;
    http.auth = auth;
    http.follow = follow;
    Ok(Some(http))
}

/// Parts of a request that belong to an endpoint are not lost in silence.
fn refuse_without_endpoint(field: &Field<'_, '_>, diagnostics: &mut Diagnostics) {
    for key in ["method", "headers", "query", "body"] {
        if let Some(value) = field.get(key) {
            diagnostics.warn(
                Code::UnknownKey,
                value.node.line(),
                format!("{}: means nothing without an endpoint", value.path),
            );
        }
    }
}

/// The method: without one, POST with a body and else GET.
fn method(field: &Field<'_, '_>, has_body: bool) -> Result<String, Failure> {
    let Some(method) = field.get("method") else {
        return Ok(if has_body { "POST" } else { "GET" }.to_owned());
    };
    let text = method.text()?;
    // RFC 9110, 5.6.2
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_token) {
        return Err(method.wrong("HTTP method"));
    }
    Ok(text.to_ascii_uppercase())
}

fn headers(field: &Field<'_, '_>) -> Result<Vec<HeaderDraft>, Failure> {
    let headers = field
        .read("headers", Field::string_map)?
        .unwrap_or_default();
    Ok(headers
        .into_iter()
        .map(|(name, value)| HeaderDraft {
            name,
            value: match value.trim() {
                "" => HeaderValue::Empty,
                value => HeaderValue::Set(document_text(value)),
            },
        })
        .collect())
}

fn query(field: &Field<'_, '_>) -> Result<Vec<QueryDraft>, Failure> {
    let query = field.read("query", Field::string_map)?.unwrap_or_default();
    Ok(query
        .into_iter()
        .map(|(name, value)| QueryDraft::Pair {
            name,
            value: document_text(value),
        })
        .collect())
}

/// The credentials; nothing is one element `None` only where the document says `none`.
pub(super) fn auth(field: &Field<'_, '_>, context: &Context) -> Result<Vec<AuthDraft>, Failure> {
    let auth = field.read("auth", |auth| credentials::read(auth, context))?;
    Ok(auth.into_iter().collect())
}

/// Whether redirects are followed.
pub(super) fn follow(field: &Field<'_, '_>) -> Result<bool, Failure> {
    Ok(field.read("follow", Field::boolean)?.unwrap_or_default())
}

/// The body: text as it is, anything else as JSON.
fn body_of(field: &Field<'_, '_>, input: Option<&InputDeclaration>) -> Result<BodyDraft, Failure> {
    if let Some(number) = field.node.inexact() {
        let failure = field.failure(Code::Schema, "has a number that cannot be sent exactly");
        return Err(failure.at_line(number.line()));
    }
    Ok(match field.node.as_text() {
        Some(text) => BodyDraft::Pieces(vec![Piece::Text(document_text(text))]),
        None => BodyDraft::Json(json(field, input)),
    })
}

/// A JSON value with templates in its string leaves.
fn json(field: &Field<'_, '_>, input: Option<&InputDeclaration>) -> JsonDraft {
    match field.node.value() {
        yaml::Value::Text(text) => {
            let template = document_text(text);
            if is_typed_variable(text, input) {
                JsonDraft::Any(template)
            } else {
                JsonDraft::Text(template)
            }
        }
        yaml::Value::List => {
            JsonDraft::Array(field.items().map(|item| json(&item, input)).collect())
        }
        yaml::Value::Map => JsonDraft::Object(
            field
                .entries()
                .map(|(key, value)| (key.to_owned(), json(&value, input)))
                .collect(),
        ),
        _ => JsonDraft::Value(field.node.to_json()),
    }
}

/// Whether a leaf is `{name}`, `{{name}}`, `$name` or `${name}` of an input that is declared to be no string: then it is the
/// input's value, and not text that holds it.
fn is_typed_variable(text: &str, input: Option<&InputDeclaration>) -> bool {
    let marks = [("{{", "}}"), ("${", "}"), ("{", "}"), ("$", "")];
    let name = marks
        .iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    let properties = input.and_then(|input| input.schema.get("properties"));
    let property = name.and_then(|name| properties?.get(name.trim()));
    let r#type = property.and_then(|property| property.get("type"));
    property.is_some() && r#type.is_none_or(|r#type| r#type != "string")
}

/// The body of an operation that declares none.
fn body_of_inputs(method: &str, input: Option<&InputDeclaration>) -> Option<BodyDraft> {
    match (method, input) {
        ("GET" | "HEAD" | "DELETE", _) => None,
        (_, Some(_)) => Some(BodyDraft::FromInputs(Media::Json)),
        ("POST" | "PUT" | "PATCH", None) => Some(BodyDraft::Input {
            name: "body".to_owned(),
            media: Media::Json,
            content_type: None,
        }),
        _ => None,
    }
}
