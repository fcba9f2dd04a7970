//! Security schemes as credentials.

use super::reference::{Api, Version};
use super::schema::malformed;
use crate::context::Context;
use crate::diagnostic::excerpt;
use crate::draft::{AuthDraft, Spelling, Template};
use crate::failure::{Code, Failure};
use crate::identifier::upper_snake;
use kit::yaml::Node;

/// What a request has to carry, and what the approver is shown of it.
#[derive(Debug, Default)]
pub(super) struct Security {
    pub(super) auth: Vec<AuthDraft>,
    pub(super) notes: Vec<String>,
}

/// The security of an operation: the first alternative of which everything is supported.
///
/// # Errors
///
/// `openapi-security`, `openapi-ref`, `openapi-remote-ref`, `openapi`.
pub(super) fn read(
    api: Api<'_>,
    operation: Node<'_>,
    context: &Context,
) -> Result<Security, Failure> {
    let own = operation.get("security");
    let Some(alternatives) = own
        .or_else(|| api.root.get("security"))
        .filter(|s| !s.is_null())
    else {
        return Ok(Security::default());
    };
    if !alternatives.is_list() {
        return Err(malformed(alternatives, "security", "list"));
    }
    let mut refused = None;
    for alternative in alternatives.items() {
        if !alternative.is_map() {
            return Err(malformed(alternative, "security", "list of maps"));
        }
        match all_of(api, alternative, context) {
            Ok(security) => return Ok(security),
            Err(failure) => refused = refused.or(Some(failure)),
        }
    }
    match refused {
        Some(failure) => Err(failure),
        // `security: []`
        None => Ok(Security::default()),
    }
}

/// Every scheme of one alternative; `{}` is none.
fn all_of(api: Api<'_>, alternative: Node<'_>, context: &Context) -> Result<Security, Failure> {
    let mut security = Security::default();
    for (name, scopes) in alternative.entries() {
        let schemes = match api.version {
            Version::Two => api.root.get("securityDefinitions"),
            _ => api
                .root
                .get("components")
                .and_then(|components| components.get("securitySchemes")),
        };
        let scheme = schemes.and_then(|schemes| schemes.get(name.text));
        let scheme = scheme.ok_or_else(|| {
            let name = excerpt(name.text);
            let message = format!("the security scheme {name} is not defined");
            Failure::new(Code::OpenapiSecurity, message).at_line(scopes.line())
        })?;
        let scheme = api.resolve(scheme)?;
        security.auth.push(credential(scheme, name.text, context)?);
        let scopes: Vec<String> = scopes
            .items()
            .filter_map(|scope| scope.as_text().map(excerpt))
            .collect();
        if !scopes.is_empty() {
            let name = excerpt(name.text);
            security
                .notes
                .push(format!("scopes of {name}: {}", scopes.join(", ")));
        }
    }
    Ok(security)
}

fn credential(scheme: Node<'_>, name: &str, context: &Context) -> Result<AuthDraft, Failure> {
    let text = |key: &str| scheme.get(key).and_then(|value| value.as_text());
    let secret = |suffix: &str| {
        let skill = context.skill_id.as_deref().map(upper_snake);
        let parts = [skill.unwrap_or_default(), upper_snake(name)];
        let parts: Vec<&str> = parts
            .iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        Template::variable(format!("{}{suffix}", parts.join("_")), Spelling::Declared)
    };
    let unsupported = |what: &str| {
        let message = format!("the security scheme {}: {what}", excerpt(name));
        Failure::new(Code::OpenapiSecurity, message).at_line(scheme.line())
    };
    let bearer = || AuthDraft::Bearer {
        prefix: None,
        token: secret(""),
    };
    let basic = || AuthDraft::Basic {
        user: Some(secret("_USER")),
        password: Some(secret("_PASSWORD")),
    };
    match text("type") {
        Some("apiKey") => {
            let name = text("name").filter(|name| !name.is_empty());
            let name = name
                .ok_or_else(|| unsupported("it has no name"))?
                .to_owned();
            let value = secret("");
            match text("in") {
                Some("header") => Ok(AuthDraft::Header {
                    name,
                    prefix: None,
                    value,
                }),
                Some("query") => Ok(AuthDraft::Query { name, value }),
                Some("cookie") => Ok(AuthDraft::Cookie { name, value }),
                _ => Err(unsupported("it is neither in header nor query nor cookie")),
            }
        }
        // 2.0
        Some("basic") => Ok(basic()),
        Some("http") => match text("scheme").map(str::to_ascii_lowercase).as_deref() {
            Some("basic") => Ok(basic()),
            Some("bearer") => Ok(bearer()),
            _ => Err(unsupported("its HTTP scheme is neither basic nor bearer")),
        },
        Some("oauth2" | "openIdConnect") => Ok(bearer()),
        _ => Err(unsupported("its type is not supported")),
    }
}
