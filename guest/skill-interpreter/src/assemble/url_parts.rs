//! The parts of a URL template, before its variables are looked at: scheme, authority, path, query; and what is refused.

use ::url::Url;

use super::placeholder::{Place, scan};
use crate::draft::{HttpDraft, Origin, Part, Schemeless, Template, WrittenAs};
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

/// The scheme, if `://` follows it.
pub(super) fn scheme_of(lead: &str) -> Option<&str> {
    let (scheme, _) = lead.split_once("://")?;
    is_scheme(scheme).then_some(scheme)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
}

/// Whether what stands before the path comes from a constant.
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
pub(super) fn split_authority(template: &Template) -> Result<(Url, Template), Failure> {
    let lead = template.leading_text();
    let start = scheme_of(&lead).map_or(0, |scheme| scheme.len().saturating_add(3));
    let behind = lead.get(start..).unwrap_or_default();
    let length = match behind.find(['/', '?', '#']) {
        Some(end) => end,
        None if template.as_literal().is_some() => behind.len(),
        // What follows belongs to scheme, user info, host or port.
        None => return Err(host_variable(template)),
    };
    if length > AUTHORITY_BYTES {
        return Err(invalid("the host is longer than any name"));
    }
    let end = start.saturating_add(length);
    let authority = lead.get(start..end).unwrap_or_default();
    check_authority(authority)?;
    let origin = Url::parse(&format!("{}/", lead.get(..end).unwrap_or_default()))
        .map_err(|error| invalid(&error.to_string()))?;
    if !origin.username().is_empty() || origin.password().is_some() || origin.host_str().is_none() {
        return Err(invalid("the URL has no plain host"));
    }
    Ok((origin, template.without_leading(end)))
}

/// Refuses an authority that programs read differently: curl and a WHATWG parser must contact one host.
fn check_authority(authority: &str) -> Result<(), Failure> {
    if authority.contains('@') {
        return Err(Failure::new(
            Code::UrlUserinfo,
            "the URL holds a user name or a password",
        ));
    }
    if authority.contains('%') {
        return Err(invalid("the host is percent-encoded"));
    }
    Ok(())
}

/// Splits at the first `?`; what follows `#` is dropped.
pub(super) fn path_and_query(template: &Template) -> (Template, Option<Template>) {
    let (template, _) = template.break_at(|c| c == '#');
    match template.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (template, None),
    }
}

/// Stands for a variable while an address is looked at as text; no address holds it.
const VARIABLE: char = '\u{FFFC}';
/// Schemes that curl takes from the first label of a host where none stands.
const GUESSED_SCHEMES: [&str; 6] = ["ftp", "dict", "ldap", "imap", "smtp", "pop3"];

/// Refuses the address of a request as its reader has it, so that a command of which one address is bad is none at all.
///
/// # Errors
///
/// Those of `check` but `url-glob`.
pub fn check_address(draft: &HttpDraft) -> Result<(), Failure> {
    let url = draft.url.as_ref().map(Template::trimmed);
    url.map_or(Ok(()), |url| check(&scan(&url, Place::Url), draft))
}

/// Refuses an address that could be read in two ways. curl and wget guess schemes, take one slash or three for two, and keep a
/// backslash where a WHATWG parser sees a slash: what is left names one host for all of them.
///
/// # Errors
///
/// `url-invalid`, `url-userinfo`, and the code of the program for a scheme that is neither `http` nor `https`.
pub(super) fn check(template: &Template, draft: &HttpDraft) -> Result<(), Failure> {
    let text = template.display_with(|_| VARIABLE.to_string());
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Err(invalid(
            "the URL holds a blank, a control character or a backslash",
        ));
    }
    check_beginning(&text, draft)?;
    let hides_dots =
        |segment: &str| segment.to_ascii_lowercase().contains("%2e") && dots(segment) > 0;
    let path = text.split(['?', '#']).next().unwrap_or_default();
    if path.split('/').any(hides_dots) {
        return Err(invalid("`.` or `..` stands percent-encoded in its path"));
    }
    Ok(())
}

/// Checks scheme and authority.
fn check_beginning(text: &str, draft: &HttpDraft) -> Result<(), Failure> {
    let scheme_refused = |scheme: &str| {
        let code = match draft.written_as {
            WrittenAs::Curl => Code::CurlOptionRefused,
            WrittenAs::Wget => Code::WgetOptionRefused,
            _ => Code::UrlInvalid,
        };
        let scheme = crate::diagnostic::excerpt(scheme);
        let message = format!("the scheme {scheme} is neither http nor https");
        Err(Failure::new(code, message))
    };
    let authority = |text: &str| {
        let end = text.find(['/', '?', '#']).unwrap_or(text.len());
        text.get(..end).unwrap_or_default().to_owned()
    };
    if let Some((scheme, rest)) = text.split_once(':')
        && is_scheme(scheme)
        && rest.starts_with('/')
    {
        if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
            return scheme_refused(scheme);
        }
        return match rest.strip_prefix("//") {
            Some(rest) if !authority(rest).is_empty() => check_authority(&authority(rest)),
            _ => Err(invalid("the scheme is not followed by `//` and a host")),
        };
    }
    if text.starts_with("//") {
        return Err(invalid("a URL without scheme cannot begin with //"));
    }
    if text.starts_with('/') || draft.schemeless == Schemeless::Relative {
        return Ok(());
    }
    let authority = authority(text);
    let label = authority
        .split_once('.')
        .map(|(label, _)| label.to_ascii_lowercase());
    let guessed = label.filter(|label| GUESSED_SCHEMES.contains(&label.as_str()));
    if let (Schemeless::Http, WrittenAs::Curl, Some(scheme)) =
        (draft.schemeless, draft.written_as, guessed)
    {
        return scheme_refused(&scheme);
    }
    // wget reads `host:/path` as an address of ftp.
    if authority.is_empty() || authority.ends_with(':') && !authority.contains(VARIABLE) {
        return Err(invalid("the URL has no host, or an empty port"));
    }
    check_authority(&authority)
}

/// Refuses what would make several addresses of one.
///
/// # Errors
///
/// `url-glob`.
pub(super) fn check_globs(template: &Template, draft: &HttpDraft) -> Result<(), Failure> {
    let text = template.display_with(|_| VARIABLE.to_string());
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

/// How many dots a segment of a path is, in any spelling of the URL standard: 1, 2, or 0 for another segment.
pub(super) fn dots(segment: &str) -> u8 {
    match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
        "." => 1,
        ".." => 2,
        _ => 0,
    }
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
