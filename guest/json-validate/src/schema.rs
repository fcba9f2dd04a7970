//! The schema: its draft (TS-121), its metaschema (TS-122), what it refers to (TS-123), and the check itself.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ReferencingError, ValidationError, ValidationOptions, Validator};
use kit::SkillError;
use kit::cut;
use serde_json::{Value, json};

use crate::chains::Chains;
use crate::document::Document;
use crate::finding::{Finding, Findings};
use crate::metaschemas;
use crate::node::{Table, TableNode};
use crate::pattern::{self, NamePatterns, StepLimit};

/// Errors of a schema in the details at most.
const SCHEMA_ERRORS: usize = 20;

/// Bytes of the errors in the details at most: 16,384 without what is around them.
const SCHEMA_ERROR_BYTES: usize = 16_000;

/// Bytes of a reference in the details at most.
const REFERENCE_BYTES: usize = 4096;

/// What a reference without a base begins with once it is resolved.
const NO_BASE: &str = "json-schema:///";

/// The only error of an instance that has so many that none is reported by itself.
const UNLISTED: &str = "the instance is not valid, and has too many errors to list";

/// A draft that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Dialect {
    /// TS-121: by `$schema` of the root. One that is no string is left to the metaschema.
    fn of(schema: &Value) -> Result<Self, SkillError> {
        let Some(Value::String(uri)) = schema.get("$schema") else {
            return Ok(Self::Draft202012);
        };
        match uri.strip_suffix('#').unwrap_or(uri) {
            "https://json-schema.org/draft/2020-12/schema" => Ok(Self::Draft202012),
            "https://json-schema.org/draft/2019-09/schema" => Ok(Self::Draft201909),
            "http://json-schema.org/draft-07/schema" => Ok(Self::Draft7),
            "http://json-schema.org/draft-06/schema" => Ok(Self::Draft6),
            "http://json-schema.org/draft-04/schema" => Ok(Self::Draft4),
            _ => Err(unknown_draft(uri)),
        }
    }

    /// As the answer reports it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Draft4 => "4",
            Self::Draft6 => "6",
            Self::Draft7 => "7",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }

    fn metaschema(self) -> &'static str {
        match self {
            Self::Draft4 => "http://json-schema.org/draft-04/schema#",
            Self::Draft6 => "http://json-schema.org/draft-06/schema#",
            Self::Draft7 => "http://json-schema.org/draft-07/schema#",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    fn draft(self) -> Draft {
        match self {
            Self::Draft4 => Draft::Draft4,
            Self::Draft6 => Draft::Draft6,
            Self::Draft7 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }

    fn accepts(self, schema: &Value) -> bool {
        match self {
            Self::Draft4 => jsonschema::draft4::meta::is_valid(schema),
            Self::Draft6 => jsonschema::draft6::meta::is_valid(schema),
            Self::Draft7 => jsonschema::draft7::meta::is_valid(schema),
            Self::Draft201909 => jsonschema::draft201909::meta::is_valid(schema),
            Self::Draft202012 => jsonschema::draft202012::meta::is_valid(schema),
        }
    }
}

/// What a check finds.
pub(crate) enum Outcome {
    Valid,
    Invalid(Findings),
}

/// A schema, ready to check with.
pub(crate) struct Schema {
    dialect: Dialect,
    validator: Validator<Table>,
    chains: Chains,
    /// What a schema needs whose patterns do not run in linear time.
    stepping: Option<(NamePatterns, StepLimit)>,
}

impl Schema {
    /// # Errors
    /// `unsupported` (draft, reference), `invalid_request` (not a schema).
    pub(crate) fn new(
        schema: &Value,
        assert_formats: bool,
        limit: &StepLimit,
    ) -> Result<Self, SkillError> {
        let dialect = Dialect::of(schema)?;
        let chains = Chains::of(schema)?;
        let options = options(dialect, assert_formats);
        let (validator, stepping) = match compile(schema, options.clone(), limit) {
            Err(error) if refers_to_metaschema(&error) => match metaschemas::registry() {
                Some(registry) => compile(schema, options.with_registry(registry), limit),
                None => Err(error),
            },
            compiled => compiled,
        }
        .map_err(|error| refused(dialect, schema, &error))?;
        Ok(Self {
            dialect,
            validator,
            chains,
            stepping,
        })
    }

    pub(crate) fn draft(&self) -> Dialect {
        self.dialect
    }

    /// Checks an instance; keeps the first `max_errors` errors.
    ///
    /// # Errors
    /// `too_large` when a regular expression reached its step limit (TS-128).
    pub(crate) fn check(
        &self,
        document: &Document,
        max_errors: usize,
    ) -> Result<Outcome, SkillError> {
        if let Some((names, limit)) = &self.stepping {
            names.try_names(document, limit);
        }
        self.within_steps()?;
        self.chains.bear(document)?;
        let outcome = check(&self.validator, document, max_errors);
        self.within_steps()?;
        outcome
    }

    fn within_steps(&self) -> Result<(), SkillError> {
        match &self.stepping {
            Some((_, limit)) if limit.is_reached() => Err(too_many_steps()),
            _ => Ok(()),
        }
    }
}

/// A validator, and what it needs when its patterns do not run in linear time.
type Compiled = (Validator<Table>, Option<(NamePatterns, StepLimit)>);

fn compile(
    schema: &Value,
    options: Options,
    limit: &StepLimit,
) -> Result<Compiled, ValidationError<'static>> {
    let linear = options.clone().with_pattern_options(pattern::linear());
    match linear.build(schema) {
        Ok(validator) => Ok((validator, None)),
        Err(error) if matches!(error.kind(), ValidationErrorKind::Referencing(_)) => Err(error),
        Err(_) => stepping(schema, options, limit),
    }
}

fn stepping(
    schema: &Value,
    options: Options,
    limit: &StepLimit,
) -> Result<Compiled, ValidationError<'static>> {
    let of_keyword = limit.clone();
    let validator = options
        .with_pattern_options(pattern::stepping(limit))
        .with_keyword("pattern", move |_, pattern, _| {
            pattern::keyword(pattern, &of_keyword)
        })
        .build(schema)?;
    let names = NamePatterns::of(schema, limit);
    Ok((validator, Some((names, limit.clone()))))
}

fn check(
    validator: &Validator<Table>,
    document: &Document,
    max_errors: usize,
) -> Result<Outcome, SkillError> {
    let root = TableNode::root(document)
        .ok_or_else(|| SkillError::new("internal", "the instance has no value"))?;
    if validator.is_valid(root.clone()) {
        return Ok(Outcome::Valid);
    }
    let mut unfinished = false;
    let errors = validator
        .iter_errors(root)
        .inspect(|error| unfinished |= pattern::is_unfinished(error));
    let mut findings = Findings::collect(errors, max_errors);
    if unfinished {
        return Err(too_many_steps());
    }
    if findings.list.is_empty() {
        // The errors of branches took all the room (TS-126).
        findings.list.push(Finding::of_text(UNLISTED));
        findings.truncated = true;
    }
    findings.truncated |= document.is_exhausted();
    Ok(Outcome::Invalid(findings))
}

type Options = ValidationOptions<'static, std::sync::Arc<dyn jsonschema::Retrieve>, Table>;

fn refers_to_metaschema(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. })
            if metaschemas::knows(uri)
    )
}

fn options(dialect: Dialect, assert_formats: bool) -> Options {
    let options = jsonschema::options_for::<Table>()
        .with_draft(dialect.draft())
        .with_retriever(metaschemas::Nothing)
        .should_validate_formats(assert_formats)
        .should_ignore_unknown_formats(true)
        .without_content_media_type_support("application/json");
    // TS-127: annotations, though drafts 6 and 7 let them be checked.
    ["base64", "base64url", "base32", "base32hex", "base16"]
        .into_iter()
        .fold(options, ValidationOptions::without_content_encoding_support)
}

/// What a metaschema finds wrong with a schema, which is its instance.
fn metaschema_errors(dialect: Dialect, schema: &Value) -> Result<Vec<Finding>, SkillError> {
    let internal = |what: &str| SkillError::new("internal", what);
    let document = Document::read(schema.to_string())
        .map_err(|_| internal("the schema cannot be read again"))?;
    let validator = jsonschema::options_for::<Table>()
        .with_draft(dialect.draft())
        .with_retriever(metaschemas::Nothing)
        .build(&json!({ "$ref": dialect.metaschema() }))
        .map_err(|error| internal(&format!("the metaschema is not usable: {error}")))?;
    match check(&validator, &document, SCHEMA_ERRORS)? {
        Outcome::Valid => Err(internal("the metaschema accepts and refuses the schema")),
        Outcome::Invalid(findings) => Ok(findings.list),
    }
}

/// Why a schema cannot be used. The crate checks it against its metaschema, and tells the first error; only where it
/// refuses, all of them are collected, because a metaschema takes most of the time of a small call.
fn refused(dialect: Dialect, schema: &Value, error: &ValidationError<'_>) -> SkillError {
    if dialect.accepts(schema) {
        return build_error(error);
    }
    match metaschema_errors(dialect, schema) {
        Ok(errors) => not_a_schema(&errors),
        Err(error) => error,
    }
}

/// Why a schema that its metaschema accepts cannot be used.
fn build_error(error: &ValidationError<'_>) -> SkillError {
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

fn too_many_steps() -> SkillError {
    SkillError::new(
        "too_large",
        "a regular expression of the schema takes too many steps",
    )
    .with_details(json!({"reason": "regex"}).to_string())
}

/// TS-122: as many errors as the details have room for.
fn not_a_schema(errors: &[Finding]) -> SkillError {
    let mut bytes = 0_usize;
    let listed: Vec<Value> = errors
        .iter()
        .take(SCHEMA_ERRORS)
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
