//! What differs between the subjects of two requests, field by field.

use serde::Serialize;
use serde_json::Value;

use super::Subject;
use crate::failure::Failure;
use crate::registry::store;

/// Fields that differ between any two requests and say nothing, or that follow from others.
const LEFT_OUT: [&str; 4] = ["previous", "asked", "line", "sends"];
/// Below this, a part is compared as a whole.
const DEEPEST: usize = 32;

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Dotted: `manifest.implementation.transform.url`.
    pub path: String,
    /// What was granted last; absent: it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What is asked now; absent: it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What changed from one subject to another. Lists are compared as a whole.
pub(super) fn between(before: &Subject, after: &Subject) -> Result<Vec<Difference>, Failure> {
    let mut old = serde_json::to_value(before).map_err(store)?;
    let mut new = serde_json::to_value(after).map_err(store)?;
    for subject in [&mut old, &mut new] {
        if let Some(fields) = subject.as_object_mut() {
            for name in LEFT_OUT {
                fields.remove(name);
            }
        }
    }
    let mut found = Vec::new();
    compare(String::new(), Some(old), Some(new), 0, &mut found);
    Ok(found)
}

fn compare(
    path: String,
    before: Option<Value>,
    after: Option<Value>,
    depth: usize,
    found: &mut Vec<Difference>,
) {
    match (before, after) {
        (Some(Value::Object(mut before)), Some(Value::Object(after))) if depth < DEEPEST => {
            let below = |name: &str| {
                if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}.{name}")
                }
            };
            for (name, value) in after {
                let old = before.remove(&name);
                compare(below(&name), old, Some(value), depth + 1, found);
            }
            for (name, value) in before {
                compare(below(&name), Some(value), None, depth + 1, found);
            }
        }
        (before, after) => {
            if before != after {
                found.push(Difference {
                    path,
                    before,
                    after,
                });
            }
        }
    }
}
