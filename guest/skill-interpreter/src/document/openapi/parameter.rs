//! Parameters of an operation as inputs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::reference::{Api, Version};
use super::schema::{Schemas, malformed};
use crate::diagnostic::excerpt;
use crate::draft::{InputPlace, WirePlace};
use crate::failure::{Code, Failure};
use crate::model::Style;
use kit::yaml::Node;

/// A parameter with references followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter<'t> {
    pub(super) node: Node<'t>,
    pub(super) name: &'t str,
    pub(super) place: Place,
}

/// `in`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the request besides the body.
    Wire(WirePlace),
    /// 2.0: the body.
    Body,
    /// 2.0: a pair of a form, or a part of it.
    Form,
}

impl Parameter<'_> {
    pub(super) fn is_required(&self) -> bool {
        use kit::yaml::Value;
        let required = self.node.get("required");
        let said = required.is_some_and(|flag| matches!(flag.value(), Value::Bool(true)));
        // Nothing else can stand in the place of a path parameter.
        said || self.place == Place::Wire(WirePlace::Path)
    }
}

/// Those of the path item and of the operation, merged by name and place.
///
/// # Errors
///
/// `openapi`, `openapi-ref`, `openapi-remote-ref`, `openapi-style`.
pub(super) fn merged<'t>(
    api: Api<'t>,
    levels: [Node<'t>; 2],
) -> Result<Vec<Parameter<'t>>, Failure> {
    let mut parameters: Vec<Parameter<'t>> = Vec::new();
    let mut positions: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for level in levels {
        let Some(list) = level.get("parameters").filter(|list| !list.is_null()) else {
            continue;
        };
        if !list.is_list() {
            return Err(malformed(list, "parameters", "list"));
        }
        for node in list.items() {
            let node = api.resolve(node)?;
            let text = |key: &str| node.get(key).and_then(|value| value.as_text());
            let (Some(name), Some(within)) = (text("name"), text("in")) else {
                return Err(malformed(node, "parameters", "maps with name and in"));
            };
            let Some(place) = place(api.version, within) else {
                let message = format!("a parameter in {}", excerpt(within));
                return Err(Failure::new(Code::OpenapiStyle, message).at_line(node.line()));
            };
            let parameter = Parameter { node, name, place };
            match positions.get(&(name, within)).copied() {
                Some(position) => {
                    if let Some(slot) = parameters.get_mut(position) {
                        *slot = parameter;
                    }
                }
                None => {
                    positions.insert((name, within), parameters.len());
                    parameters.push(parameter);
                }
            }
        }
    }
    parameters.retain(|parameter| !is_dropped(parameter));
    Ok(parameters)
}

fn place(version: Version, within: &str) -> Option<Place> {
    Some(match (version, within) {
        (_, "path") => Place::Wire(WirePlace::Path),
        (_, "query") => Place::Wire(WirePlace::Query),
        (_, "header") => Place::Wire(WirePlace::Header),
        (Version::Three | Version::ThreeOne, "cookie") => Place::Wire(WirePlace::Cookie),
        (Version::Two, "body") => Place::Body,
        (Version::Two, "formData") => Place::Form,
        _ => return None,
    })
}

/// Headers that are not the caller's to set.
fn is_dropped(parameter: &Parameter<'_>) -> bool {
    let names = ["accept", "content-type", "authorization"];
    parameter.place == Place::Wire(WirePlace::Header)
        && names
            .iter()
            .any(|name| parameter.name.eq_ignore_ascii_case(name))
}

/// The inputs that are being collected.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) properties: Map<String, Value>,
    pub(super) required: Vec<String>,
    pub(super) places: Vec<InputPlace>,
    /// The inputs of path parameters, by the name in the path.
    pub(super) in_path: BTreeMap<String, String>,
    names: BTreeSet<String>,
}

impl Inputs {
    /// A name of its own; the later of two is `<in>-<name>`.
    pub(super) fn name(&mut self, wanted: &str, within: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.names.insert(name.clone()) {
            name = format!("{within}-{name}");
        }
        name
    }

    /// Adds a parameter that is not part of the body.
    ///
    /// # Errors
    ///
    /// `openapi-style`, and those of [`Schemas::whole`].
    pub(super) fn add<'t>(
        &mut self,
        api: Api<'t>,
        schemas: &mut Schemas<'t>,
        parameter: &Parameter<'t>,
        place: WirePlace,
    ) -> Result<(), Failure> {
        let style = style(api, parameter, place)?;
        let schema = described(schema(api, schemas, parameter)?, parameter.node);
        let is_scalar = schema
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|name| matches!(name, "string" | "integer" | "number" | "boolean"));
        let input = self.name(parameter.name, within(place));
        if place == WirePlace::Path {
            self.in_path
                .insert(parameter.name.to_owned(), input.clone());
        }
        if parameter.is_required() {
            self.required.push(input.clone());
        }
        self.properties.insert(input.clone(), schema);
        self.places.push(InputPlace {
            input,
            wire_name: parameter.name.to_owned(),
            place,
            style: (!is_scalar).then_some(style),
        });
        Ok(())
    }

    /// A name in the path that no parameter declares: a string.
    pub(super) fn add_undeclared(&mut self, name: &str) {
        if self.in_path.contains_key(name) {
            return;
        }
        let input = self.name(name, "path");
        self.in_path.insert(name.to_owned(), input.clone());
        self.required.push(input.clone());
        self.properties
            .insert(input.clone(), json!({"type": "string"}));
        self.places.push(InputPlace {
            input,
            wire_name: name.to_owned(),
            place: WirePlace::Path,
            style: None,
        });
    }
}

fn within(place: WirePlace) -> &'static str {
    match place {
        WirePlace::Path => "path",
        WirePlace::Query => "query",
        WirePlace::Header => "header",
        WirePlace::Cookie => "cookie",
        WirePlace::Body => "body",
    }
}

/// The schema of a parameter: in 2.0 the parameter itself.
pub(super) fn schema<'t>(
    api: Api<'t>,
    schemas: &mut Schemas<'t>,
    parameter: &Parameter<'t>,
) -> Result<Value, Failure> {
    if api.version == Version::Two && parameter.place != Place::Body {
        return schemas.parameter(parameter.node);
    }
    if let Some(schema) = parameter.node.get("schema") {
        return schemas.whole(schema);
    }
    let content = parameter.node.get("content");
    let Some((media, content)) = content.and_then(|content| content.entries().next()) else {
        return Ok(json!({}));
    };
    let mut text = json!({"type": "string", "contentMediaType": media.text});
    if let (Some(schema), Value::Object(text)) = (content.get("schema"), &mut text) {
        text.insert("contentSchema".to_owned(), schemas.whole(schema)?);
    }
    Ok(text)
}

/// The schema with the description that stands beside it, unless it has one.
pub(super) fn described(mut schema: Value, beside: Node<'_>) -> Value {
    let text = beside.get("description").and_then(|text| text.as_text());
    if let (Some(text), Value::Object(schema)) = (text, &mut schema) {
        schema.entry("description").or_insert_with(|| json!(text));
    }
    schema
}

/// How an array or an object is written.
fn style(api: Api<'_>, parameter: &Parameter<'_>, place: WirePlace) -> Result<Style, Failure> {
    let node = parameter.node;
    let text = |key: &str| node.get(key).and_then(|value| value.as_text());
    let unsupported = |what: &str| {
        let name = excerpt(parameter.name);
        let message = format!("the parameter {name}: {what}");
        Failure::new(Code::OpenapiStyle, message).at_line(node.line())
    };
    let in_query = place == WirePlace::Query;
    if api.version == Version::Two {
        return match (text("collectionFormat").unwrap_or("csv"), in_query) {
            ("csv", true) => Ok(Style::Form),
            ("csv", false) => Ok(Style::Simple),
            ("ssv", true) => Ok(Style::SpaceDelimited),
            ("tsv", true) => Ok(Style::TabDelimited),
            ("pipes", true) => Ok(Style::PipeDelimited),
            ("multi", true) => Ok(Style::FormExplode),
            _ => Err(unsupported("its collectionFormat is not supported there")),
        };
    }
    // `content` in place of a schema: the input is the text as it is sent.
    let default = match place {
        WirePlace::Path | WirePlace::Header => "simple",
        _ => "form",
    };
    let style = text("style").unwrap_or(default);
    let explode = node.get("explode").map(|explode| explode.value());
    let explode = match explode {
        Some(kit::yaml::Value::Bool(flag)) => flag,
        _ => style == "form",
    };
    match (place, style, explode) {
        (WirePlace::Path | WirePlace::Header, "simple", false) => Ok(Style::Simple),
        (WirePlace::Path | WirePlace::Header, "simple", true) => Ok(Style::SimpleExplode),
        (WirePlace::Query, "form", true) => Ok(Style::FormExplode),
        (WirePlace::Query | WirePlace::Cookie, "form", _) => Ok(Style::Form),
        // Exploded, they are pairs like those of `form`.
        (WirePlace::Query, "spaceDelimited" | "pipeDelimited", true) => Ok(Style::FormExplode),
        (WirePlace::Query, "spaceDelimited", false) => Ok(Style::SpaceDelimited),
        (WirePlace::Query, "pipeDelimited", false) => Ok(Style::PipeDelimited),
        (WirePlace::Query, "deepObject", _) => Ok(Style::DeepObject),
        _ => Err(unsupported("its style is not supported there")),
    }
}
