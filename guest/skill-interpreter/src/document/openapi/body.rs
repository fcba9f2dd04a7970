//! Request bodies and responses.

use serde_json::{Map, Value, json};

use super::parameter::{Inputs, Parameter, Place, described, schema};
use super::reference::{Api, Version};
use super::schema::Schemas;
use crate::draft::{BodyDraft, Media, MultipartDraft, PartContent, Spelling, Template};
use crate::failure::Failure;
use kit::yaml::{self, Node};

/// The input that is the body, in 3.x and for forms.
const BODY: &str = "body";

/// How a body is sent, by its media type.
pub(super) fn media(r#type: &str) -> Media {
    match essence(r#type).as_str() {
        "application/json" => Media::Json,
        essence if essence.ends_with("+json") => Media::Json,
        "application/x-www-form-urlencoded" => Media::Form,
        "multipart/form-data" => Media::Multipart,
        "text/plain" => Media::Text,
        _ => Media::File,
    }
}

/// A media type without its parameters.
fn essence(r#type: &str) -> String {
    let essence = r#type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Which of several media types is taken, the least first.
fn rank(r#type: &str) -> u8 {
    match media(r#type) {
        Media::Json if essence(r#type) == "application/json" => 0,
        Media::Json => 1,
        Media::Form => 2,
        Media::Multipart => 3,
        Media::Text => 4,
        Media::File => 5,
    }
}

/// The media type of a `content` map that is taken, and what is said of it.
fn chosen<'t>(content: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    content
        .entries()
        .map(|(key, value)| (key.text, value))
        // The first of equals.
        .min_by_key(|(name, _)| rank(name))
}

/// Adds the input of a body, and says how it is sent.
struct NewBody<'a> {
    wanted: &'a str,
    schema: Value,
    /// Those of its properties that are files.
    files: Vec<&'a str>,
    required: bool,
    r#type: String,
}

fn add(inputs: &mut Inputs, body: NewBody<'_>) -> BodyDraft {
    let media = media(&body.r#type);
    if media == Media::Multipart
        && let Some(parts) = parts_with_files(inputs, &body)
    {
        return BodyDraft::Multipart(parts);
    }
    let name = inputs.name(body.wanted, BODY);
    // A file is not a value: it is listed under `files`.
    if media != Media::File {
        if body.required {
            inputs.required.push(name.clone());
        }
        inputs.properties.insert(name.clone(), body.schema);
    }
    // The boundary of multipart is the host's to choose.
    let content_type = (media != Media::Multipart).then_some(body.r#type);
    BodyDraft::Input {
        name,
        media,
        content_type,
    }
}

/// The parts of a form that sends files, which are none of the input: each comes from the `files` of a call. Of files that are
/// all optional the first one is sent.
fn parts_with_files(inputs: &mut Inputs, body: &NewBody<'_>) -> Option<Vec<MultipartDraft>> {
    let properties = body.schema.get("properties")?.as_object()?;
    let required: Vec<&str> = body
        .schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_required = |name: &str| required.contains(&name);
    let first = body.files.first()?;
    let any_required = body.files.iter().any(|name| is_required(name));
    let mut parts = Vec::new();
    for (name, schema) in properties {
        let content = if !body.files.contains(&name.as_str()) {
            let input = inputs.name(name, BODY);
            if is_required(name) {
                inputs.required.push(input.clone());
            }
            inputs.properties.insert(input.clone(), schema.clone());
            PartContent::Text(Template::variable(input, Spelling::Declared))
        } else if is_required(name) || !any_required && name == *first {
            PartContent::File(Template::variable(name.clone(), Spelling::Declared))
        } else {
            continue;
        };
        parts.push(MultipartDraft {
            name: name.clone(),
            content,
            content_type: None,
            filename: None,
        });
    }
    Some(parts)
}

/// Whether a schema is that of a file, or of a list of files.
fn is_file<'t>(api: Api<'t>, schema: Node<'t>) -> bool {
    let says = |schema: Node<'t>, key: &str, text: &str| {
        let value = schema.get(key).and_then(|value| value.as_text());
        value == Some(text)
    };
    let is_binary = |schema: Node<'t>| {
        let schema = api.resolve(schema);
        schema.is_ok_and(|schema| says(schema, "format", "binary") || says(schema, "type", "file"))
    };
    let items = api
        .resolve(schema)
        .ok()
        .and_then(|schema| schema.get("items"));
    is_binary(schema) || items.is_some_and(is_binary)
}

/// The body of an operation of 3.x.
///
/// # Errors
///
/// `openapi-ref`, `openapi-remote-ref`, `limit`.
pub(super) fn request_body<'t>(
    api: Api<'t>,
    operation: Node<'t>,
    schemas: &mut Schemas<'t>,
    inputs: &mut Inputs,
) -> Result<Option<BodyDraft>, Failure> {
    let Some(body) = operation.get("requestBody").filter(|body| !body.is_null()) else {
        return Ok(None);
    };
    let body = api.resolve(body)?;
    let Some((r#type, content)) = body.get("content").and_then(chosen) else {
        return Ok(None);
    };
    let schema = match content.get("schema") {
        Some(schema) => schemas.whole(schema)?,
        None => json!({}),
    };
    let required = body.get("required").map(|required| required.value());
    let whole = content.get("schema").map(|schema| api.resolve(schema));
    let properties = whole
        .transpose()?
        .and_then(|schema| schema.get("properties"));
    let files = properties
        .iter()
        .flat_map(|properties| properties.entries());
    let new = NewBody {
        wanted: BODY,
        schema: described(schema, body),
        files: files
            .filter(|(_, schema)| is_file(api, *schema))
            .map(|(name, _)| name.text)
            .collect(),
        required: matches!(required, Some(yaml::Value::Bool(true))),
        r#type: r#type.to_owned(),
    };
    Ok(Some(add(inputs, new)))
}

/// The body of an operation of 2.0: a `body` parameter, or all `formData` parameters.
///
/// # Errors
///
/// `openapi-ref`, `openapi-remote-ref`, `limit`.
pub(super) fn body_parameters<'t>(
    api: Api<'t>,
    operation: Node<'t>,
    parameters: &[Parameter<'t>],
    schemas: &mut Schemas<'t>,
    inputs: &mut Inputs,
) -> Result<Option<BodyDraft>, Failure> {
    let consumes = listed(api, operation, "consumes");
    if let Some(body) = parameters.iter().find(|one| one.place == Place::Body) {
        let r#type = consumes.iter().min_by_key(|name| rank(name)).copied();
        let new = NewBody {
            wanted: body.name,
            schema: described(schema(api, schemas, body)?, body.node),
            files: Vec::new(),
            required: body.is_required(),
            r#type: r#type.unwrap_or("application/json").to_owned(),
        };
        return Ok(Some(add(inputs, new)));
    }
    let mut form = Map::new();
    let mut required = Vec::new();
    let mut files = Vec::new();
    for part in parameters.iter().filter(|one| one.place == Place::Form) {
        if is_file(api, part.node) {
            files.push(part.name);
        }
        let schema = described(schema(api, schemas, part)?, part.node);
        if part.is_required() {
            required.push(part.name);
        }
        form.insert(part.name.to_owned(), schema);
    }
    if form.is_empty() {
        return Ok(None);
    }
    let is_required = !required.is_empty();
    let mut schema = json!({"type": "object", "properties": form, "additionalProperties": false});
    if let (true, Value::Object(schema)) = (is_required, &mut schema) {
        schema.insert("required".to_owned(), json!(required));
    }
    let form_types = ["application/x-www-form-urlencoded", "multipart/form-data"];
    let [urlencoded, multipart] = form_types;
    let consumed = consumes
        .into_iter()
        .filter(|name| matches!(media(name), Media::Form | Media::Multipart))
        .min_by_key(|name| rank(name));
    let r#type = if !files.is_empty() {
        multipart
    } else {
        consumed.unwrap_or(urlencoded)
    };
    let new = NewBody {
        wanted: BODY,
        schema,
        files,
        required: is_required,
        r#type: r#type.to_owned(),
    };
    Ok(Some(add(inputs, new)))
}

/// `consumes` or `produces`, of the operation or else of the description.
fn listed<'t>(api: Api<'t>, operation: Node<'t>, key: &str) -> Vec<&'t str> {
    let list = operation.get(key).or_else(|| api.root.get(key));
    list.into_iter()
        .flat_map(|list| list.items())
        .filter_map(|name| name.as_text())
        .collect()
}

/// The schema of the response that counts: the first 2xx, else `default`; in JSON.
///
/// # Errors
///
/// `openapi-ref`, `openapi-remote-ref`.
pub(super) fn response_schema<'t>(
    api: Api<'t>,
    operation: Node<'t>,
) -> Result<Option<Node<'t>>, Failure> {
    let Some(responses) = operation.get("responses") else {
        return Ok(None);
    };
    let is_success = |status: &str| status.len() == 3 && status.starts_with('2');
    let success = responses
        .entries()
        .find(|(status, _)| is_success(status.text))
        .map(|(_, response)| response);
    let Some(response) = success.or_else(|| responses.get("default")) else {
        return Ok(None);
    };
    let response = api.resolve(response)?;
    if api.version == Version::Two {
        let produces = listed(api, operation, "produces");
        let is_json = |name: &&str| media(name) == Media::Json;
        let schema = response.get("schema").filter(|schema| !schema.is_null());
        return Ok(schema.filter(|_| produces.is_empty() || produces.iter().any(is_json)));
    }
    let json = response
        .get("content")
        .and_then(chosen)
        .filter(|(name, _)| media(name) == Media::Json);
    Ok(json.and_then(|(_, content)| content.get("schema")))
}
