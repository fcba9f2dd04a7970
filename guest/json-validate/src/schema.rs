//! The schema: its draft, its metaschema, what it refers to, and the check itself.

use std::error::Error;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{
    Draft, PatternOptions, ReferencingError, Retrieve, Uri, ValidationError, ValidationOptions,
    Validator, meta,
};
use kit::SkillError;
use kit::cut;
use serde_json::{Value, json};

use crate::finding::{Finding, Findings};
use crate::request::Request;

/// Steps back of one match with a regular expression, and bytes that all of them may look at.
const REGEX_STEPS: usize = 1_000_000;
const REGEX_WORK: usize = 500_000_000;

/// Errors of a schema in the details at most.
const SCHEMA_ERRORS: usize = 20;

/// Bytes of the errors in the details at most: 16,384 without what is around them.
const SCHEMA_ERROR_BYTES: usize = 16_000;

/// Bytes of a reference in the details at most.
const REFERENCE_BYTES: usize = 4096;

/// What a reference without a base begins with once it is resolved.
const NO_BASE: &str = "json-schema:///";

/// The drafts by their `$schema`, and as answers name them.
const DRAFTS: [(&str, &str, Draft); 5] = [
    (
        "https://json-schema.org/draft/2020-12/schema",
        "2020-12",
        Draft::Draft202012,
    ),
    (
        "https://json-schema.org/draft/2019-09/schema",
        "2019-09",
        Draft::Draft201909,
    ),
    ("http://json-schema.org/draft-07/schema", "7", Draft::Draft7),
    ("http://json-schema.org/draft-06/schema", "6", Draft::Draft6),
    ("http://json-schema.org/draft-04/schema", "4", Draft::Draft4),
];

/// Refuses everything: nothing is fetched.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err("not in the schema".into())
    }
}

/// A schema, ready to check with.
pub(crate) struct Schema {
    draft: &'static str,
    validator: Validator,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// `unsupported` (draft, reference), `invalid_request` (not a schema).
    pub(crate) fn new(request: &Request) -> Result<Self, SkillError> {
        let schema = &request.schema;
        let (_, name, draft) = draft(schema)?;
        let options = options(draft, request);
        let validator = match options.build(schema) {
            // It may refer to the metaschema of another draft than its own.
            Err(error) if is_unretrievable(&error) => options
                .with_registry(&referencing::SPECIFICATIONS)
                .build(schema),
            compiled => compiled,
        };
        Ok(Self {
            draft: name,
            validator: validator.map_err(|error| refused(schema, &error))?,
        })
    }

    /// The draft, as answers name it.
    pub(crate) fn draft(&self) -> &'static str {
        self.draft
    }

    /// Checks an instance; keeps the first `max_errors` errors.
    ///
    /// # Errors
    /// `too_large` when a regular expression takes too many steps: what was found then says nothing.
    pub(crate) fn check(
        &self,
        instance: &Value,
        max_errors: usize,
    ) -> Result<Findings, SkillError> {
        let mut unfinished = false;
        let errors = self.validator.iter_errors(instance).inspect(|error| {
            unfinished |= matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. }
                    | ValidationErrorKind::RegexEngineFailure { .. }
            );
        });
        let findings = Findings::collect(errors, max_errors);
        if unfinished {
            let error = SkillError::new(
                "too_large",
                "a regular expression of the schema takes too many steps",
            );
            return Err(error.with_details(json!({"reason": "regex"}).to_string()));
        }
        Ok(findings)
    }
}

/// The draft by `$schema` of the root. One that is no string is left to the metaschema.
fn draft(schema: &Value) -> Result<(&'static str, &'static str, Draft), SkillError> {
    let [latest, ..] = DRAFTS;
    let Some(Value::String(uri)) = schema.get("$schema") else {
        return Ok(latest);
    };
    let known = uri.strip_suffix('#').unwrap_or(uri);
    let found = DRAFTS.into_iter().find(|(uri, _, _)| *uri == known);
    found.ok_or_else(|| unknown_draft(uri))
}

fn options(draft: Draft, request: &Request) -> ValidationOptions<'static> {
    // Each step may look at all of a text.
    let steps = REGEX_WORK
        .checked_div(request.json.len())
        .unwrap_or(REGEX_WORK);
    let patterns = PatternOptions::fancy_regex().backtrack_limit(steps.min(REGEX_STEPS));
    let options = jsonschema::options()
        .with_draft(draft)
        .with_retriever(Nothing)
        .with_pattern_options(patterns)
        .should_validate_formats(request.assert_formats)
        .should_ignore_unknown_formats(true)
        .without_content_media_type_support("application/json");
    // Annotations, though drafts 6 and 7 let them be checked.
    ["base64", "base64url", "base32", "base32hex", "base16"]
        .into_iter()
        .fold(options, ValidationOptions::without_content_encoding_support)
}

fn is_unretrievable(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { .. })
    )
}

/// Why a schema cannot be used: all that its metaschema finds wrong with it, else what the compiler says.
fn refused(schema: &Value, error: &ValidationError<'_>) -> SkillError {
    if let Ok(metaschema) = meta::validator_for(schema) {
        let findings = Findings::collect(metaschema.iter_errors(schema), SCHEMA_ERRORS);
        if !findings.list.is_empty() {
            return not_a_schema(&findings.list);
        }
    }
    let ValidationErrorKind::Referencing(reason) = error.kind() else {
        let path = error.schema_path().as_str();
        return not_a_schema(&[Finding::of_schema(path, &error.masked())]);
    };
    match reason {
        ReferencingError::Unretrievable { uri, .. } => {
            let uri = uri.strip_prefix(NO_BASE).unwrap_or(uri);
            let uri = cut::at_bytes(uri, REFERENCE_BYTES);
            SkillError::new(
                "unsupported",
                &format!("the schema refers to `{uri}`, which is not in it"),
            )
            .with_details(json!({"reason": "remote_ref", "ref": uri}).to_string())
        }
        ReferencingError::UnknownSpecification { specification } => unknown_draft(specification),
        reason => not_a_schema(&[Finding::of_schema("", reason)]),
    }
}

fn unknown_draft(uri: &str) -> SkillError {
    let uri = cut::at_bytes(uri, REFERENCE_BYTES);
    SkillError::new("unsupported", &format!("the draft `{uri}` is not known"))
        .with_details(json!({"reason": "draft"}).to_string())
}

/// `invalid_request` with as many errors as the details have room for.
fn not_a_schema(errors: &[Finding]) -> SkillError {
    let mut bytes = 0_usize;
    let listed: Vec<Value> = errors
        .iter()
        .map(|error| json!(error))
        .take_while(|error| {
            bytes = bytes
                .saturating_add(error.to_string().len())
                .saturating_add(1);
            bytes <= SCHEMA_ERROR_BYTES
        })
        .collect();
    SkillError::new("invalid_request", "`schema` is not a schema of its draft")
        .with_details(json!({"member": "schema", "reason": "schema", "errors": listed}).to_string())
}
