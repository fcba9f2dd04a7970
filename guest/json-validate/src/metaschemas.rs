//! The metaschemas, which a schema of any draft may refer to, and nothing else (TS-123).

use std::error::Error;
use std::sync::{Arc, LazyLock};

use jsonschema::{Registry, Retrieve, Uri};
use referencing::meta;
use serde_json::Value;

/// The metaschemas of the five drafts, and of the vocabularies of the last two.
static METASCHEMAS: [(&str, &LazyLock<Arc<Value>>); 19] = [
    ("http://json-schema.org/draft-04/schema", &meta::DRAFT4),
    ("http://json-schema.org/draft-06/schema", &meta::DRAFT6),
    ("http://json-schema.org/draft-07/schema", &meta::DRAFT7),
    (
        "https://json-schema.org/draft/2019-09/schema",
        &meta::DRAFT201909,
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/core",
        &meta::DRAFT201909_CORE,
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/applicator",
        &meta::DRAFT201909_APPLICATOR,
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/validation",
        &meta::DRAFT201909_VALIDATION,
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/meta-data",
        &meta::DRAFT201909_META_DATA,
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/format",
        &meta::DRAFT201909_FORMAT,
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/content",
        &meta::DRAFT201909_CONTENT,
    ),
    (
        "https://json-schema.org/draft/2020-12/schema",
        &meta::DRAFT202012,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/core",
        &meta::DRAFT202012_CORE,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/applicator",
        &meta::DRAFT202012_APPLICATOR,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        &meta::DRAFT202012_UNEVALUATED,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/validation",
        &meta::DRAFT202012_VALIDATION,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/meta-data",
        &meta::DRAFT202012_META_DATA,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        &meta::DRAFT202012_FORMAT_ANNOTATION,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        &meta::DRAFT202012_FORMAT_ASSERTION,
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/content",
        &meta::DRAFT202012_CONTENT,
    ),
];

/// Refuses everything: nothing is fetched.
pub(crate) struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err("not in the schema".into())
    }
}

/// All of them, for a schema that refers to those of another draft than its own, which the crate knows by itself.
pub(crate) fn registry() -> Option<&'static Registry<'static>> {
    static REGISTRY: LazyLock<Option<Registry<'static>>> = LazyLock::new(|| {
        let empty = Registry::new().retriever(Nothing);
        METASCHEMAS
            .iter()
            .try_fold(empty, |registry, (uri, schema)| {
                registry.add(*uri, Value::clone(schema)).ok()
            })?
            .prepare()
            .ok()
    });
    REGISTRY.as_ref()
}

/// Whether a reference leads to one of them.
pub(crate) fn knows(uri: &str) -> bool {
    let uri = uri.split('#').next().unwrap_or_default();
    METASCHEMAS.iter().any(|(known, _)| *known == uri)
}
