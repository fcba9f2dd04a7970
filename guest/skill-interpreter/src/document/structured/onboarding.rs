//! Onboarding as data. Whether its steps can be gone through, the host says, which goes through them.

use serde_json::Value;

use super::field::Field;
use crate::failure::{Code, Failure};
use kit::yaml;

/// `onboarding` of a skill.
///
/// # Errors
///
/// `schema`, with path: it is no map, or a secret is a parameter of a step.
pub fn read(field: Field<'_, '_>) -> Result<Value, Failure> {
    let field = field.map()?;
    if let Some(steps) = field.get("steps") {
        for step in steps.items() {
            if let Some(params) = step.get("params") {
                refuse_secrets(&params)?;
            }
        }
    }
    Ok(field.node.to_json())
}

/// A secret never is a parameter.
fn refuse_secrets(field: &Field<'_, '_>) -> Result<(), Failure> {
    match field.node.value() {
        yaml::Value::Text(text) => {
            let mut placeholders = text.split("{{").skip(1);
            if placeholders.any(|inner| inner.trim_start().starts_with("secret:")) {
                return Err(field.failure(Code::Schema, "a secret cannot be a parameter"));
            }
            Ok(())
        }
        yaml::Value::List => field.items().try_for_each(|item| refuse_secrets(&item)),
        yaml::Value::Map => field
            .entries()
            .try_for_each(|(_, value)| refuse_secrets(&value)),
        _ => Ok(()),
    }
}
