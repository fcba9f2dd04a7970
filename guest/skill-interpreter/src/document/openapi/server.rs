//! Where an operation's requests go: servers and the path.

use url::Url;

use super::reference::{Api, Version};
use super::schema::malformed;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{Quoting, Spelling, Template};
use crate::failure::{Code, Failure};
use crate::identifier::fold;
use kit::yaml::Node;

/// The server of an operation, without a slash at its end; empty where there is none, so that the path is relative.
///
/// # Errors
///
/// `openapi` where a server is malformed, `url-invalid`, `no-base-url`.
pub(super) fn base(
    api: Api<'_>,
    levels: [Node<'_>; 2],
    source: &Source<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<String, Failure> {
    if let Some(base) = source
        .context
        .base_url
        .as_ref()
        .filter(|_| source.requested)
    {
        return Ok(base.as_str().trim_end_matches('/').to_owned());
    }
    let server = match api.version {
        Version::Two => host_and_base_path(api.root, source)?,
        _ => {
            let [operation, item] = levels;
            let levels = [operation, item, api.root];
            let first = levels.into_iter().find_map(|level| {
                let servers = level.get("servers")?;
                servers.items().next()
            });
            first
                .map(|server| substituted(server, source.context))
                .transpose()?
        }
    };
    let Some(server) = server else {
        diagnostics.info(
            Code::NoServers,
            api.root.line(),
            "no servers: requests go to the base of the skill",
        );
        return Ok(String::new());
    };
    let absolute = match (Url::parse(&server), source.url()) {
        (Ok(url), _) => Ok(url),
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(source)) => source.join(&server),
        (Err(url::ParseError::RelativeUrlWithoutBase), None) => {
            return Err(Failure::new(
                Code::NoBaseUrl,
                "the server is relative, and the document has no address",
            ));
        }
        (Err(error), _) => Err(error),
    };
    let absolute = absolute
        .map_err(|error| Failure::new(Code::UrlInvalid, format!("the server's URL: {error}")))?;
    if !matches!(absolute.scheme(), "http" | "https") {
        return Err(Failure::new(
            Code::UrlInvalid,
            "the server's scheme is neither http nor https",
        ));
    }
    Ok(absolute.as_str().trim_end_matches('/').to_owned())
}

/// Where the document came from, and what the request says of bases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) address: &'a str,
    /// Whether the request gives the base, which then goes before every server.
    pub(super) requested: bool,
    pub(super) context: &'a Context,
}

impl Source<'_> {
    /// What a relative server is relative to: the address of the document, or the base of the skill.
    fn url(&self) -> Option<Url> {
        Url::parse(self.address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .or_else(|| self.context.base_url.clone())
    }
}

/// The URL of a server with its variables at their defaults, or at what the request's constants say.
fn substituted(server: Node<'_>, context: &Context) -> Result<String, Failure> {
    let url = server.get("url");
    let url = url.ok_or_else(|| malformed(server, "servers[0]", "map with url"))?;
    let text = url
        .as_text()
        .ok_or_else(|| malformed(url, "servers[0].url", "string"))?;
    let mut substituted = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        substituted.push_str(before);
        substituted.push_str(&variable(server, name, context)?);
        rest = after;
    }
    substituted.push_str(rest);
    Ok(substituted)
}

fn variable(server: Node<'_>, name: &str, context: &Context) -> Result<String, Failure> {
    let variable = server
        .get("variables")
        .and_then(|variables| variables.get(name));
    let default = variable.and_then(|variable| variable.get("default"));
    let default = default.and_then(|default| scalar(default));
    let permitted = |value: &String| {
        let values = variable.and_then(|variable| variable.get("enum"));
        values.is_none_or(|values| {
            values
                .items()
                .any(|item| scalar(item).as_ref() == Some(value))
        })
    };
    let set = context
        .constants
        .iter()
        .find(|(constant, _)| constant.as_str() == name || fold(constant) == fold(name))
        .map(|(_, value)| value.clone());
    set.filter(permitted).or(default).ok_or_else(|| {
        let message = "a variable of the server has no default";
        Failure::new(Code::HostVariable, message).at_line(server.line())
    })
}

/// The text of a scalar: a version or a port may be written without quotes.
fn scalar(node: Node<'_>) -> Option<String> {
    use kit::yaml::Value;
    match node.value() {
        Value::Text(text) | Value::Integer(text) | Value::Number(text) => Some(text.to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The server of 2.0. Without `host` it is that of the document; without `schemes` its scheme is, too.
fn host_and_base_path(root: Node<'_>, source: &Source<'_>) -> Result<Option<String>, Failure> {
    let text = |key: &str| match root.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match value.as_text() {
            Some(text) => Ok(Some(text)),
            None => Err(malformed(value, key, "string")),
        },
    };
    let (host, path) = (text("host")?, text("basePath")?.unwrap_or_default());
    let schemes: Vec<&str> = root
        .get("schemes")
        .into_iter()
        .flat_map(|schemes| schemes.items())
        .filter_map(|scheme| scheme.as_text())
        .collect();
    let Some(host) = host else {
        return Ok(root.get("basePath").map(|_| path.to_owned()));
    };
    let preferred = ["https", "http"];
    let of_source = source.url().map(|url| url.scheme().to_owned());
    let scheme = preferred
        .into_iter()
        .find(|scheme| schemes.contains(scheme))
        .map(str::to_owned)
        .or_else(|| schemes.first().map(|scheme| (*scheme).to_owned()))
        .or(of_source)
        .unwrap_or_else(|| "https".to_owned());
    let slash = if path.is_empty() || path.starts_with('/') {
        ""
    } else {
        "/"
    };
    Ok(Some(format!("{scheme}://{host}{slash}{path}")))
}

/// The URL of an operation: exact text, and the inputs that stand for the path's parameters.
pub(super) fn url(base: &str, path: &str, input_of: impl Fn(&str) -> String) -> Template {
    let mut url = Template::default();
    url.push_literal(base, Quoting::Exact);
    if !path.starts_with('/') {
        url.push_literal("/", Quoting::Exact);
    }
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        url.push_literal(before, Quoting::Exact);
        url.append(Template::variable(input_of(name), Spelling::Declared));
        rest = after;
    }
    url.push_literal(rest, Quoting::Exact);
    url
}

/// The names in a path, in order.
pub(super) fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| name)
}
