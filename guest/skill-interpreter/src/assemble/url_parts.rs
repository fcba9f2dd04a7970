//! The parts of a URL template, before its variables are looked at: scheme, authority, path, query; and what is refused
//! (K-154, K-195).

use ::url::Url;

use crate::draft::{HttpDraft, Origin, Part, Template, WrittenAs};
use crate::failure::{Code, Failure};

/// Last words of names that stand for the base of an API: `API_URL`, `base-url`, `GITLAB_HOST`.
const BASE_WORDS: [&str; 13] = [
    "URL", "URI", "BASE", "HOST", "ENDPOINT", "SERVER", "ORIGIN", "DOMAIN", "API", "GATEWAY",
    "BASEURL", "APIURL", "APIBASE",
];
/// Words of names that end so and stand for something else.
const OTHER_WORDS: [&str; 16] = [
    "WEBHOOK", "CALLBACK", "REDIRECT", "IMAGE", "FILE", "VIDEO", "AUDIO", "MEDIA", "PHOTO",
    "UPLOAD", "DOWNLOAD", "PAGE", "TARGET", "PROXY", "DATABASE", "AUTH",
];

/// Bytes of host and port at most: a name has 253, in Unicode perhaps more. Parsing longer ones takes very long.
const AUTHORITY_BYTES: usize = 1_024;

/// Whether a variable of this name stands for the base of an API. Alone it is an address of any kind (`curl "$URL"`),
/// unless it says that it is a base.
#[must_use]
pub fn is_base_name(name: &str, is_alone: bool) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    let mut words = name.rsplit('_');
    let last = words.next().unwrap_or_default();
    let known =
        BASE_WORDS.contains(&last) && !name.split('_').any(|word| OTHER_WORDS.contains(&word));
    let is_said = last == "HOST"
        || words
            .next()
            .is_some_and(|word| matches!(word, "API" | "BASE"))
        || last.len() > 4;
    known && (is_said || !is_alone)
}

/// `host[:port]`
pub(super) fn authority_text(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

pub(super) fn origin_of(url: &Url) -> Option<Url> {
    Url::parse(&format!("{}://{}/", url.scheme(), authority_text(url))).ok()
}

/// The literal text that a template begins with.
pub(super) fn leading_text(template: &Template) -> String {
    template
        .parts
        .iter()
        .map_while(|part| match part {
            Part::Literal(literal) => Some(literal.text.as_str()),
            Part::Variable(_) => None,
        })
        .collect()
}

/// The scheme, if `://` follows it.
pub(super) fn scheme_of(lead: &str) -> Option<&str> {
    let (scheme, _) = lead.split_once("://")?;
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-')))
    .then_some(scheme)
}

/// K-220: whether what stands before the path comes from a constant.
pub(super) fn authority_has_constant(template: &Template) -> bool {
    let mut seen = String::new();
    for part in &template.parts {
        let Part::Literal(literal) = part else {
            return false;
        };
        if literal.origin == Origin::Constant {
            return true;
        }
        seen.push_str(&literal.text);
        let behind = seen
            .split_once("://")
            .map_or(seen.as_str(), |(_, rest)| rest);
        if behind.contains(['/', '?', '#']) {
            return false;
        }
    }
    false
}

/// Splits `scheme://authority` off, which has to be literal.
pub(super) fn split_authority(template: Template) -> Result<(Url, Template), Failure> {
    let lead = leading_text(&template);
    let start = scheme_of(&lead).map_or(0, |scheme| scheme.len().saturating_add(3));
    let behind = lead.get(start..).unwrap_or_default();
    let length = match behind.find(['/', '?', '#']) {
        Some(end) => end,
        None if template.as_literal().is_some() => behind.len(),
        // K-195: what follows belongs to scheme, user info, host or port.
        None => return Err(host_variable(&template)),
    };
    let authority = behind.get(..length).unwrap_or_default();
    if authority.len() > AUTHORITY_BYTES {
        return Err(invalid("the host is longer than any name"));
    }
    if authority.contains('@') {
        return Err(Failure::new(
            Code::UrlUserinfo,
            "the URL holds a user name or a password",
        ));
    }
    let end = start.saturating_add(length);
    let origin = Url::parse(&format!("{}/", lead.get(..end).unwrap_or_default()))
        .map_err(|error| invalid(&error.to_string()))?;
    if !origin.username().is_empty() || origin.password().is_some() || origin.host_str().is_none() {
        return Err(invalid("the URL has no plain host"));
    }
    let mut rest = Template::default();
    let mut skip = end;
    for part in template.parts {
        match part {
            Part::Literal(literal) if skip >= literal.text.len() => {
                skip = skip.saturating_sub(literal.text.len());
            }
            Part::Literal(literal) => {
                rest.push(Part::Literal(literal.with_text(
                    literal.text.get(skip..).unwrap_or_default().to_owned(),
                )));
                skip = 0;
            }
            variable @ Part::Variable(_) => rest.push(variable),
        }
    }
    Ok((origin, rest))
}

/// Splits at the first `?`; what follows `#` is dropped.
pub(super) fn path_and_query(template: Template) -> (Template, Option<Template>) {
    let mut path = Template::default();
    let mut query: Option<Template> = None;
    for part in template.parts {
        let Part::Literal(literal) = part else {
            query.as_mut().unwrap_or(&mut path).push(part);
            continue;
        };
        let (text, ends) = match literal.text.split_once('#') {
            Some((before, _)) => (before, true),
            None => (literal.text.as_str(), false),
        };
        let part = |text: &str| Part::Literal(literal.with_text(text.to_owned()));
        match (&mut query, text.split_once('?')) {
            (Some(query), _) => query.push(part(text)),
            (None, Some((before, after))) => {
                path.push(part(before));
                query.insert(Template::default()).push(part(after));
            }
            (None, None) => path.push(part(text)),
        }
        if ends {
            break;
        }
    }
    (path, query)
}

/// Blanks around a URL belong to the document.
pub(super) fn trimmed(template: &Template) -> Template {
    let mut parts = template.parts.clone();
    if let Some(Part::Literal(first)) = parts.first_mut() {
        first.text = first.text.trim_start().to_owned();
    }
    if let Some(Part::Literal(last)) = parts.last_mut() {
        last.text = last.text.trim_end().to_owned();
    }
    let mut trimmed = Template::default();
    for part in parts {
        trimmed.push(part);
    }
    trimmed
}

/// Refuses what would make several addresses of one, or another one.
///
/// # Errors
///
/// `url-invalid`, `url-glob`.
pub(super) fn check_characters(template: &Template, draft: &HttpDraft) -> Result<(), Failure> {
    // No address holds it, so it can stand for variables.
    const VARIABLE: &str = "\u{FFFC}";
    let text: String = template
        .parts
        .iter()
        .map(|part| match part {
            Part::Literal(literal) => literal.text.as_str(),
            Part::Variable(_) => VARIABLE,
        })
        .collect();
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Err(invalid(
            "the URL holds a blank, a control character or a backslash",
        ));
    }
    // An IPv6 host stands right behind the scheme.
    let outside = match text.split_once("://[") {
        Some((scheme, behind)) if !scheme.contains(VARIABLE) => {
            behind.split_once(']').map_or(behind, |(_, rest)| rest)
        }
        _ => text.as_str(),
    };
    let (path, query) = outside.split_once('?').unwrap_or((outside, ""));
    let is_glob = |text: &str| {
        text.contains(['{', '}'])
            || draft.written_as == WrittenAs::Curl && text.contains(['[', ']'])
    };
    let is_refused = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        !draft.globoff
            && (is_glob(name) && !is_indexed(name) || is_glob(value) && !is_plain_value(value))
    };
    if is_glob(path) || query.split('&').any(is_refused) {
        return Err(Failure::new(
            Code::UrlGlob,
            "the URL holds braces or brackets that are no placeholder",
        ));
    }
    Ok(())
}

/// `ids[]`, `filter[name]`: brackets that are plainly part of a name.
fn is_indexed(name: &str) -> bool {
    let Some((name, indices)) = name.split_once('[') else {
        return false;
    };
    let is_plain = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{FFFC}'))
    };
    !name.is_empty()
        && is_plain(name)
        && indices
            .strip_suffix(']')
            .is_some_and(|indices| indices.split("][").all(is_plain))
}

/// Whether brackets and braces of a query value are text: JSON, or brackets in which curl finds no range (`rate(x[5m])`), so
/// that nothing else was ever sent.
fn is_plain_value(value: &str) -> bool {
    let is_json = value.starts_with(['{', '[']) && value.contains('"');
    let is_no_range = |after: &str| {
        after
            .split_once(']')
            .is_some_and(|(inner, _)| !inner.is_empty() && !inner.contains(['-', '\u{FFFC}']))
    };
    is_json && kit::members::parse(value.as_bytes()).is_ok()
        || !value.contains(['{', '}']) && value.split('[').skip(1).all(is_no_range)
}

pub(super) fn invalid(why: &str) -> Failure {
    Failure::new(Code::UrlInvalid, why.to_owned())
}

/// The failure of a URL whose host is not known, which names the variable that stands for it.
pub(super) fn host_variable(template: &Template) -> Failure {
    let name = template.parts.iter().find_map(|part| match part {
        Part::Variable(variable) => Some(crate::diagnostic::excerpt(&variable.name)),
        Part::Literal(_) => None,
    });
    let name = name.unwrap_or_default();
    Failure::new(
        Code::HostVariable,
        format!("{name} stands in the scheme, the host or the port, and the document does not say what it is"),
    )
    .with_hint(format!("load with --set {name}=VALUE"))
}
