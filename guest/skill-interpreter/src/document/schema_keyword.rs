//! The keywords of JSON Schema 2020-12 that a schema of a document may bring along, and what their values are.
//!
//! What is not here is left out: identifiers and dynamic references (`$id`, `$anchor`, `$dynamicRef`), which would change
//! what a reference means, and what other dialects add.

/// What a keyword's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// A map of schemas.
    SchemaMap,
    /// A number, at least 0 and whole.
    Count,
    /// Any number.
    Number,
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// A list of any values.
    Values,
    /// Any value.
    Data,
}

/// What the value of a keyword is; none for one that is left out. `type`, `required`, `properties`, `items` and `$ref` are
/// read by the readers themselves, each in its own dialect.
#[must_use]
pub fn keyword(name: &str) -> Option<Keyword> {
    Some(match name {
        "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contains"
        | "unevaluatedItems"
        | "not"
        | "if"
        | "then"
        | "else" => Keyword::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Keyword::Schemas,
        "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => Keyword::SchemaMap,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Keyword::Count,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Keyword::Number
        }
        "description" | "title" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
            Keyword::Text
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Keyword::Flag,
        "enum" | "examples" => Keyword::Values,
        "const" | "default" => Keyword::Data,
        _ => return None,
    })
}
