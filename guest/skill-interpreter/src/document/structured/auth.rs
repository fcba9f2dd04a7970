//! `auth` of an operation.

use super::field::Field;
use crate::context::Context;
use crate::draft::{AuthDraft, Spelling, Template};
use crate::failure::Failure;
use crate::identifier::upper_snake;

/// The header of `api_key`.
const API_KEY_HEADER: &str = "X-API-Key";

/// Reads it.
///
/// # Errors
///
/// `schema`, `unknown-op-key`, with path.
pub(super) fn read(field: Field<'_, '_>, context: &Context) -> Result<AuthDraft, Failure> {
    const KEYS: [&str; 7] = [
        "type", "env_var", "secret", "env_vars", "name", "in", "prefix",
    ];
    let field = field.known_keys(&KEYS, "auth")?;
    let r#type = field.required("type")?;
    let prefix = field.read("prefix", Field::text)?;
    // `Token` means `Token `: without the blank it would run into the value.
    let prefix = prefix.map(|prefix| match prefix.chars().last() {
        Some(last) if last.is_alphanumeric() => format!("{prefix} "),
        _ => prefix.to_owned(),
    });
    let names = names(&field)?;
    let value = || names.first().cloned().unwrap_or_else(|| assumed(context));
    let name = || Ok::<_, Failure>(field.required("name")?.name()?.to_owned());
    let place = field.read("in", |place| match place.text()? {
        "header" | "query" | "cookie" => Ok(place.text()?),
        _ if r#type.text()? != "api_key" => Ok(place.text()?),
        _ => Err(place.wrong("header, query or cookie")),
    });
    let place = place?.unwrap_or("header");
    let is_api_key = r#type.text()? == "api_key";
    let kind = if is_api_key { place } else { r#type.text()? };
    Ok(match kind {
        "none" => AuthDraft::None,
        "bearer" => AuthDraft::Bearer {
            prefix,
            token: value(),
        },
        "basic" => {
            let mut names = names.into_iter();
            match (names.next(), names.next()) {
                (user, Some(password)) => AuthDraft::Basic {
                    user,
                    password: Some(password),
                },
                // One name is that of the password: a user alone authenticates nobody.
                (password, None) => AuthDraft::Basic {
                    user: None,
                    password,
                },
            }
        }
        "header" => AuthDraft::Header {
            name: if is_api_key && field.get("name").is_none() {
                API_KEY_HEADER.to_owned()
            } else {
                name()?
            },
            prefix,
            value: value(),
        },
        "query" => AuthDraft::Query {
            name: name()?,
            value: value(),
        },
        "cookie" => AuthDraft::Cookie {
            name: name()?,
            value: value(),
        },
        _ => return Err(r#type.wrong("bearer, basic, header, api_key, query, cookie or none")),
    })
}

/// The secrets it names: `env_vars`, or one by `env_var` or `secret`.
fn names(field: &Field<'_, '_>) -> Result<Vec<Template>, Failure> {
    let variable = |name: &str| Template::variable(name, Spelling::Declared);
    if let Some(list) = field.read("env_vars", Field::list)? {
        return list.items().map(|item| item.name().map(variable)).collect();
    }
    let one = match field.read("env_var", Field::name)? {
        Some(name) => Some(name),
        None => field.read("secret", Field::name)?,
    };
    Ok(one.map(variable).into_iter().collect())
}

/// Without a name: the only secret of the skill, else a name made of the skill's.
fn assumed(context: &Context) -> Template {
    let name = match context.secrets.as_slice() {
        [only] => only.clone(),
        _ => match context.skill_id.as_deref().map(upper_snake) {
            Some(skill) if !skill.is_empty() => format!("{skill}_API_KEY"),
            _ => "API_KEY".to_owned(),
        },
    };
    Template::variable(name, Spelling::Declared)
}
