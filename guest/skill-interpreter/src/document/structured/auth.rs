//! `auth` of an operation (K-83).

use super::field::Field;
use crate::context::Context;
use crate::draft::{AuthDraft, Spelling, Template};
use crate::failure::{Code, Failure};
use crate::identifier::upper_snake;

/// K-83: the header of `api_key`.
const API_KEY_HEADER: &str = "X-API-Key";

/// Reads it.
///
/// # Errors
///
/// `schema`, `unknown-op-key`, with path.
pub(super) fn read(field: &Field<'_, '_>, context: &Context) -> Result<AuthDraft, Failure> {
    const KEYS: [&str; 7] = [
        "type", "env_var", "secret", "env_vars", "name", "in", "prefix",
    ];
    let field = field.map()?;
    if let Some((_, unknown)) = field.entries().find(|(key, _)| !KEYS.contains(key)) {
        return Err(unknown.failure(Code::UnknownOpKey, "unknown key of auth"));
    }
    let kind = field.get("type").ok_or_else(|| missing(&field, "type"))?;
    let prefix = field
        .get("prefix")
        .map(|prefix| prefix.text())
        .transpose()?;
    // `Token` means `Token `: without the blank it would run into the value.
    let prefix = prefix.map(|prefix| match prefix.chars().last() {
        Some(last) if last.is_alphanumeric() => format!("{prefix} "),
        _ => prefix.to_owned(),
    });
    let names = names(&field)?;
    let value = || names.first().cloned().unwrap_or_else(|| assumed(context));
    let place = field.get("in").map(|place| place.text()).transpose()?;
    Ok(match kind.text()? {
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
            name: header_name(&field, None)?,
            prefix,
            value: value(),
        },
        "query" => AuthDraft::Query {
            name: name(&field)?,
            value: value(),
        },
        "cookie" => AuthDraft::Cookie {
            name: name(&field)?,
            value: value(),
        },
        "api_key" => match place {
            None | Some("header") => AuthDraft::Header {
                name: header_name(&field, Some(API_KEY_HEADER))?,
                prefix,
                value: value(),
            },
            Some("query") => AuthDraft::Query {
                name: name(&field)?,
                value: value(),
            },
            Some("cookie") => AuthDraft::Cookie {
                name: name(&field)?,
                value: value(),
            },
            Some(_) => {
                let place = field.get("in");
                let wrong = place.map(|place| place.wrong("header, query or cookie"));
                return Err(wrong.unwrap_or_else(|| missing(&field, "in")));
            }
        },
        _ => {
            return Err(kind.wrong("bearer, basic, header, api_key, query, cookie or none"));
        }
    })
}

/// The secrets it names: `env_vars`, or one by `env_var` or `secret`.
fn names(field: &Field<'_, '_>) -> Result<Vec<Template>, Failure> {
    let variable = |name: &str| Template::variable(name, Spelling::Declared);
    if let Some(list) = field.get("env_vars") {
        let list = list.list()?;
        return list.items().map(|item| item.name().map(variable)).collect();
    }
    for key in ["env_var", "secret"] {
        if let Some(name) = field.get(key) {
            return Ok(vec![variable(name.name()?)]);
        }
    }
    Ok(Vec::new())
}

/// Without a name: the only secret of the skill, else the name of K-192.
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

fn header_name(field: &Field<'_, '_>, default: Option<&str>) -> Result<String, Failure> {
    match (field.get("name"), default) {
        (None, Some(default)) => Ok(default.to_owned()),
        _ => name(field),
    }
}

fn name(field: &Field<'_, '_>) -> Result<String, Failure> {
    let name = field.get("name").ok_or_else(|| missing(field, "name"))?;
    Ok(name.name()?.to_owned())
}

/// A key that has to be there.
fn missing(field: &Field<'_, '_>, key: &str) -> Failure {
    let path = format!("{}.{key}", field.path);
    Failure::new(Code::Schema, format!("{path}: expected string, got null"))
        .at_path(path)
        .at_line(field.node.line())
}
