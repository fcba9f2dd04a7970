//! The forms in which inputs and outputs are declared, as JSON Schema 2020-12.
//!
//! There are three: the seed's shorthand (property → type), a list of entries, and JSON Schema. A property is read alike in
//! all of them, so that `required: true` within a JSON Schema means what its author meant.

use serde_json::{Map, Value, json};

use super::field::Field;
use crate::document::schema_keyword::{Keyword, keyword};
use crate::draft::{InputDeclaration, InputPlace, WirePlace};
use crate::failure::{Code, Failure};
use kit::yaml;

/// `input`, `input_schema`: none if nothing is declared in it.
///
/// # Errors
///
/// `schema`, with path.
pub fn input(field: Field<'_, '_>) -> Result<Option<InputDeclaration>, Failure> {
    let mut places = Vec::new();
    let schema = object(&field, &mut places)?;
    let is_empty = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_none_or(Map::is_empty);
    Ok((!is_empty).then_some(InputDeclaration { schema, places }))
}

/// `output`, `output_schema`.
///
/// # Errors
///
/// `schema`, with path.
pub fn output(field: Field<'_, '_>) -> Result<Value, Failure> {
    object(&field, &mut Vec::new()).map(Value::Object)
}

/// Any of the three forms.
fn object(
    field: &Field<'_, '_>,
    places: &mut Vec<InputPlace>,
) -> Result<Map<String, Value>, Failure> {
    let field = field.map()?;
    let named = field.get("type").and_then(|r#type| r#type.node.as_text());
    let properties = field.get("properties").filter(|p| p.node.is_map());
    if field.get("$schema").is_some() || (named == Some("object") && properties.is_some()) {
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        if let Some(r#type) = field.get("type")
            && named != Some("object")
        {
            return Err(r#type.wrong("object"));
        }
        keywords(&field, &mut schema, places)?;
        return Ok(schema);
    }
    if let Some(entries) = field
        .get("entries")
        .filter(|entries| entries.node.is_list())
        && named == Some("map")
    {
        return self::entries(&entries);
    }
    let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    let mut required = Vec::new();
    properties_of(&field, &mut schema, &mut required, places)?;
    set_required(&mut schema, required);
    Ok(schema)
}

/// `{type: map, entries: [{key, value_type, optional?}]}`
fn entries(list: &Field<'_, '_>) -> Result<Map<String, Value>, Failure> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for entry in list.items() {
        let entry = entry.map()?;
        let key = entry.required("key")?.name()?.to_owned();
        let schema = entry.read("value_type", |r#type| Ok(property(&r#type)?.schema))?;
        let schema = schema.unwrap_or_else(|| json!({}));
        if entry.read("optional", Field::boolean)? != Some(true) {
            required.push(key.clone());
        }
        if properties.insert(key, schema).is_some() {
            return Err(entry.failure(Code::Schema, "the key stands twice"));
        }
    }
    let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    schema.insert("properties".to_owned(), Value::Object(properties));
    set_required(&mut schema, required);
    Ok(schema)
}

/// A property that was read.
struct Property {
    schema: Value,
    /// `required: true`
    required: bool,
    /// `in`
    place: Option<WirePlace>,
}

/// The properties of a map, each read as a property.
fn properties_of(
    map: &Field<'_, '_>,
    schema: &mut Map<String, Value>,
    required: &mut Vec<String>,
    places: &mut Vec<InputPlace>,
) -> Result<(), Failure> {
    let mut properties = Map::new();
    for (name, value) in map.entries() {
        let property = property(&value)?;
        if property.required {
            required.push(name.to_owned());
        }
        if let Some(place) = property.place {
            places.push(InputPlace {
                input: name.to_owned(),
                wire_name: name.to_owned(),
                place,
                style: None,
            });
        }
        properties.insert(name.to_owned(), property.schema);
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    Ok(())
}

fn set_required(schema: &mut Map<String, Value>, mut names: Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    if !names.is_empty() {
        schema.insert("required".to_owned(), json!(names));
    }
}

/// One property: a type name, or a map of keywords. `null` is a property of any type.
fn property(field: &Field<'_, '_>) -> Result<Property, Failure> {
    let mut property = Property {
        schema: Value::Null,
        required: false,
        place: None,
    };
    let mut schema = Map::new();
    match field.node.value() {
        yaml::Value::Null | yaml::Value::Bool(true) => {}
        // JSON Schema: nothing fits.
        yaml::Value::Bool(false) => {
            schema.insert("not".to_owned(), json!({}));
        }
        yaml::Value::Text(_) => set_type(field, &mut schema)?,
        yaml::Value::Map => {
            if let Some(required) = field.get("required")
                && !required.node.is_list()
            {
                property.required = required.boolean()?;
            }
            property.place = field.read("in", wire_place)?;
            let named = field.get("type").and_then(|r#type| r#type.node.as_text());
            match field.get("entries") {
                Some(list) if named == Some("map") && list.node.is_list() => {
                    schema = entries(&list)?;
                }
                // `in` tells the place of an input of the operation, not of what is within one.
                _ => keywords(field, &mut schema, &mut Vec::new())?,
            }
        }
        _ => return Err(field.wrong("type name or map")),
    }
    property.schema = Value::Object(schema);
    Ok(property)
}

fn wire_place(field: Field<'_, '_>) -> Result<WirePlace, Failure> {
    Ok(match field.text()? {
        "path" => WirePlace::Path,
        "query" => WirePlace::Query,
        "header" => WirePlace::Header,
        "cookie" => WirePlace::Cookie,
        "body" => WirePlace::Body,
        _ => return Err(field.wrong("path, query, header, cookie or body")),
    })
}

/// The keywords of a map, added to `schema`; those that are not known are left out.
fn keywords(
    field: &Field<'_, '_>,
    schema: &mut Map<String, Value>,
    places: &mut Vec<InputPlace>,
) -> Result<(), Failure> {
    let mut required = Vec::new();
    for (name, value) in field.entries() {
        if value.node.is_null() && !matches!(name, "default" | "const") {
            continue;
        }
        match name {
            "type" => set_type(&value, schema)?,
            "properties" => {
                let map = value.map()?;
                properties_of(&map, schema, &mut required, places)?;
            }
            "items" => {
                let items = property(&value)?.schema;
                schema.insert(name.to_owned(), items);
            }
            // A reference to another document could only be followed by fetching it.
            "$ref" => {
                let reference = value.text()?;
                if !reference.starts_with('#') {
                    return Err(value.wrong("reference within the schema"));
                }
                schema.insert(name.to_owned(), json!(reference));
            }
            // Of the property itself where it is a boolean.
            "required" if !value.node.is_list() => {}
            "required" => required.extend(value.strings()?),
            _ => {
                if let Some(kind) = keyword(name) {
                    let value = keyword_value(kind, &value)?;
                    schema.insert(name.to_owned(), value);
                }
            }
        }
    }
    set_required(schema, required);
    Ok(())
}

fn keyword_value(kind: Keyword, field: &Field<'_, '_>) -> Result<Value, Failure> {
    let schema = |field: &Field<'_, '_>| Ok(property(field)?.schema);
    Ok(match kind {
        Keyword::Schema => match field.node.value() {
            yaml::Value::Bool(value) => Value::Bool(value),
            _ => schema(field)?,
        },
        Keyword::Schemas => {
            let list = field.list()?;
            let schemas: Result<Vec<Value>, Failure> =
                list.items().map(|item| schema(&item)).collect();
            Value::Array(schemas?)
        }
        Keyword::SchemaMap => {
            let map = field.map()?;
            let schemas: Result<Map<String, Value>, Failure> = map
                .entries()
                .map(|(key, value)| Ok((key.to_owned(), schema(&value)?)))
                .collect();
            Value::Object(schemas?)
        }
        Keyword::Count => json!(field.count()?),
        Keyword::Number => match field.node.to_json() {
            number @ Value::Number(_) => number,
            _ => return Err(field.wrong("number")),
        },
        Keyword::Text => json!(field.text()?),
        Keyword::Flag => json!(field.boolean()?),
        Keyword::Values | Keyword::Data => {
            if kind == Keyword::Values {
                field.list()?;
            }
            if let Some(number) = field.node.inexact() {
                let failure = field.failure(Code::Schema, "has a number that is not exact");
                return Err(failure.at_line(number.line()));
            }
            field.node.to_json()
        }
    })
}

/// `type`: a name, or a list of them.
fn set_type(field: &Field<'_, '_>, schema: &mut Map<String, Value>) -> Result<(), Failure> {
    let value = if field.node.is_list() {
        let mut names = Vec::new();
        for item in field.items() {
            match type_name(&item)? {
                Some(name) => names.push(json!(name)),
                // `any` is among them.
                None => return Ok(()),
            }
        }
        Value::Array(names)
    } else {
        match type_name(field)? {
            Some(name) => json!(name),
            None => return Ok(()),
        }
    };
    schema.insert("type".to_owned(), value);
    Ok(())
}

/// A type by one of its names; none for `any`.
fn type_name(field: &Field<'_, '_>) -> Result<Option<&'static str>, Failure> {
    Ok(Some(match field.text()? {
        "string" | "str" => "string",
        "integer" | "int" => "integer",
        "number" | "float" | "double" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" => "array",
        "object" | "map" => "object",
        "null" => "null",
        "any" => return Ok(None),
        _ => return Err(field.wrong("type name")),
    }))
}
