//! Regular expressions that a linear engine cannot run: look-around and back-references (TS-128).
//!
//! Schemas without them run on an engine of linear time. With them, each match has a step limit. The crate reports
//! a match that it could not finish among the other errors, if at all; here it ends the call. So `pattern` is
//! checked by a keyword of our own, and the names of an instance are matched with the patterns of
//! `patternProperties` beforehand.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jsonschema::error::ValidationErrorKind;
use jsonschema::json::Node;
use jsonschema::{Draft, Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

use crate::document::{Document, Kind};
use crate::finding;
use crate::node::{Table, TableNode};

/// Steps back of one match, on short texts.
const STEPS: usize = 1_000_000;

/// Steps back of one match, on the longest texts.
const LEAST_STEPS: usize = 100;

/// Bytes that the steps of one match may look at: each may look at all of the text.
const WORK: usize = 500_000_000;

/// Bytes of a compiled expression, and of the tables it makes while it runs.
const SIZE: usize = 4 * 1024 * 1024;
const TABLES: usize = 1024 * 1024;

/// The engine of linear time.
pub(crate) fn linear() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex()
        .size_limit(SIZE)
        .dfa_size_limit(TABLES)
}

/// The engine that knows look-around and back-references.
pub(crate) fn stepping(limit: &StepLimit) -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex()
        .backtrack_limit(limit.steps)
        .size_limit(SIZE)
        .dfa_size_limit(TABLES)
}

/// How many steps a match may take back, and whether one took them all: what the call found then says nothing.
#[derive(Clone)]
pub(crate) struct StepLimit {
    steps: usize,
    reached: Arc<AtomicBool>,
}

impl StepLimit {
    /// The limit for matches with texts of so many bytes at most.
    pub(crate) fn for_texts_of(longest: usize) -> Self {
        Self {
            steps: (WORK / longest.max(1)).clamp(LEAST_STEPS, STEPS),
            reached: Arc::default(),
        }
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }

    fn reach(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }
}

/// One expression, in the crate's dialect.
struct Matcher(Validator);

impl Matcher {
    /// Nothing when it cannot be compiled.
    fn new(pattern: &str, limit: &StepLimit) -> Option<Self> {
        let schema = json!({ "pattern": pattern });
        let options = jsonschema::options().with_draft(Draft::Draft7).offline();
        options
            .clone()
            .with_pattern_options(linear())
            .build(&schema)
            .or_else(|_| options.with_pattern_options(stepping(limit)).build(&schema))
            .ok()
            .map(Self)
    }

    /// Whether it matches somewhere; false too when the limit is reached.
    fn matches(&self, text: &str, limit: &StepLimit) -> bool {
        let text = Value::from(text);
        let Some(error) = self.0.iter_errors(&text).next() else {
            return true;
        };
        if is_unfinished(&error) {
            limit.reach();
        }
        false
    }
}

/// Whether an error says that a match was not finished.
pub(crate) fn is_unfinished(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

/// The keyword `pattern`.
struct Pattern {
    source: String,
    matcher: Matcher,
    limit: StepLimit,
}

impl<'i> Keyword<'i, Table> for Pattern {
    fn validate(&self, instance: TableNode<'i>) -> Result<(), ValidationError<'i>> {
        match instance.as_string() {
            Some(text) if !self.matcher.matches(&text, &self.limit) => {
                let shown = finding::preview_string(&text);
                let message = format!("{shown} does not match \"{}\"", self.source);
                Err(ValidationError::custom(message))
            }
            _ => Ok(()),
        }
    }

    fn is_valid(&self, instance: TableNode<'i>) -> bool {
        instance
            .as_string()
            .is_none_or(|text| self.matcher.matches(&text, &self.limit))
    }
}

/// Makes the keyword `pattern` of a schema.
pub(crate) fn keyword<'a>(
    pattern: &Value,
    limit: &StepLimit,
) -> Result<Box<dyn for<'i> Keyword<'i, Table>>, ValidationError<'a>> {
    let source = pattern.as_str().unwrap_or_default().to_owned();
    let matcher = Matcher::new(&source, limit)
        .ok_or_else(|| ValidationError::custom("is not a regular expression that can be run"))?;
    Ok(Box::new(Pattern {
        source,
        matcher,
        limit: limit.clone(),
    }))
}

/// The expressions for names, of a whole schema.
pub(crate) struct NamePatterns(Vec<Matcher>);

impl NamePatterns {
    /// Every name in an object that is called `patternProperties`, whether it is the keyword or not.
    pub(crate) fn of(schema: &Value, limit: &StepLimit) -> Self {
        let mut patterns = BTreeSet::new();
        let mut pending = vec![schema];
        while let Some(value) = pending.pop() {
            match value {
                Value::Array(items) => pending.extend(items),
                Value::Object(members) => {
                    if let Some(Value::Object(keyed)) = members.get("patternProperties") {
                        patterns.extend(keyed.keys().map(String::as_str));
                    }
                    pending.extend(members.values());
                }
                _ => {}
            }
        }
        let matchers = patterns
            .into_iter()
            .filter_map(|pattern| Matcher::new(pattern, limit));
        Self(matchers.collect())
    }

    /// Matches each name of an instance with each expression, for the step limit alone.
    pub(crate) fn try_names(&self, document: &Document, limit: &StepLimit) {
        if self.0.is_empty() {
            return;
        }
        let names: BTreeSet<_> = document
            .entries()
            .filter(|(_, entry)| entry.kind() == Kind::Name)
            .map(|(_, entry)| document.string(entry))
            .collect();
        for name in names {
            for pattern in &self.0 {
                pattern.matches(&name, limit);
                if limit.is_reached() {
                    return;
                }
            }
        }
    }
}
