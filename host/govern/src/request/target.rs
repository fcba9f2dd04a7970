//! Where a request goes: the URL of a stage, filled.

use hydrant_canonical::Json;
use url::Url;

use super::text::of_input;
use super::{Fill, style};
use crate::config::pair_of;
use crate::failure::{Code, Failure};
use hydrant_plan::{Encoding, HttpStage, Pair, Segment, Segments};

/// The longest URL that is sent, in bytes.
const URL_BYTES: usize = 64 << 10;

/// A URL, and whether a secret is in it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) secret: bool,
}

/// Scheme, host and port of a URL template: they stand in its first literal, and nothing else does.
///
/// # Errors
///
/// `host-variable` where a variable could change them; `url-invalid` where they are none.
pub(crate) fn origin(template: &Segments) -> Result<Url, Failure> {
    let Some(Segment::Literal { lit }) = template.0.first() else {
        return Err(Failure::new(
            Code::HostVariable,
            "the host of the operation is a variable",
        ));
    };
    let authority = lit
        .find("://")
        .map(|colon| colon.saturating_add(3))
        .and_then(|start| lit.get(start..))
        .ok_or_else(unusable)?;
    if template.0.len() > 1 && !authority.contains(['/', '?', '#', '\\']) {
        return Err(Failure::new(
            Code::HostVariable,
            "the host of the operation could be changed by a variable",
        ));
    }
    let url = Url::parse(lit).map_err(|_| unusable())?;
    if !matches!(url.scheme(), "http" | "https") || has_credentials(&url) {
        return Err(unusable());
    }
    Ok(url)
}

/// Whether a URL holds a user name or a password.
pub(crate) fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The URL with its query. `hosts` are those of the operation.
pub(super) fn target(
    stage: &HttpStage,
    hosts: &[String],
    fill: Fill<'_>,
) -> Result<Target, Failure> {
    let (mut url, mut secret) = match &stage.url_input {
        Some(input) => {
            let url = given(input, stage, fill)?;
            permitted(&url, hosts)?;
            (url, false)
        }
        None => {
            // Before a secret is asked for.
            permitted(&origin(&stage.url)?, hosts)?;
            from_template(&stage.url, fill)?
        }
    };
    let mut query: Vec<String> = url.query().map(str::to_owned).into_iter().collect();
    for pair in &stage.query {
        let (pairs, has_secret) = filled_pairs(pair, Encoding::Query, fill)?;
        secret |= has_secret;
        query.extend(pairs);
    }
    if !query.is_empty() {
        url.set_query(Some(&query.join("&")));
    }
    if url.as_str().len() > URL_BYTES {
        return Err(Failure::new(Code::Limit, "a URL holds at most 64 KiB"));
    }
    Ok(Target { url, secret })
}

/// Refuses a URL whose host and port are none of `hosts`.
fn permitted(url: &Url, hosts: &[String]) -> Result<(), Failure> {
    let pair = pair_of(url).unwrap_or_default();
    if hosts.contains(&pair) {
        return Ok(());
    }
    Err(not_listed(&pair))
}

fn not_listed(host: &str) -> Failure {
    let shown: String = host.chars().take(120).collect();
    Failure::new(
        Code::HostDenied,
        format!("{shown} is not in the HTTP allowlist of this operation"),
    )
}

/// One pair as it is sent, several of an array or object, none of an absent input; and whether a secret is in it.
pub(crate) fn filled_pairs(
    pair: &Pair,
    enc: Encoding,
    fill: Fill<'_>,
) -> Result<(Vec<String>, bool), Failure> {
    let Some(name) = fill.text(&pair.name)? else {
        return Ok((Vec::new(), false));
    };
    let Some(value) = &pair.value else {
        return Ok((vec![name.text.to_string()], name.secret));
    };
    if let [
        Segment::Input {
            input,
            style: Some(style),
            ..
        },
    ] = value.0.as_slice()
        && let Some(many) = fill.inputs.present(input)
        && matches!(many, Json::Array(_) | Json::Object(_))
    {
        let pairs = style::pairs(&name.text, input, many, enc, *style)?;
        return Ok((pairs, name.secret));
    }
    Ok(match fill.text(value)? {
        None => (Vec::new(), false),
        Some(value) => (
            vec![format!("{}={}", *name.text, *value.text)],
            name.secret || value.secret,
        ),
    })
}

/// The caller's URL: `https`, and a host of `domains`.
fn given(input: &str, stage: &HttpStage, fill: Fill<'_>) -> Result<Url, Failure> {
    let text = fill
        .inputs
        .present(input)
        .and_then(Json::as_str)
        .ok_or_else(|| of_input(input, "a URL is wanted there"))?;
    let mut url = Url::parse(text).map_err(|_| of_input(input, "this is not an absolute URL"))?;
    if url.scheme() != "https" {
        return Err(of_input(input, "the URL must begin with https://"));
    }
    if has_credentials(&url) {
        return Err(of_input(
            input,
            "the URL cannot hold a user name or a password",
        ));
    }
    let host = url.host_str().unwrap_or_default();
    if !stage
        .domains
        .iter()
        .any(|domain| domain.eq_ignore_ascii_case(host))
    {
        return Err(not_listed(host).at_path(input));
    }
    url.set_fragment(None);
    Ok(url)
}

fn from_template(template: &Segments, fill: Fill<'_>) -> Result<(Url, bool), Failure> {
    let origin = origin(template)?;
    let filled = fill.required(template, "the path needs this input")?;
    let text = &filled.text;
    let whose = || template.inputs().next().unwrap_or_default().to_owned();
    // What the parser would drop or read otherwise is not in a template; values are encoded.
    if text.contains(|c: char| c.is_control() || matches!(c, ' ' | '\\' | '?' | '#')) {
        return Err(unusable());
    }
    // Without a value a path names something else: `/items/` for `/items/7`.
    let bytes = text.as_bytes();
    let is_empty_segment = filled.values.iter().any(|range| {
        range.is_empty()
            && range
                .start
                .checked_sub(1)
                .is_none_or(|before| bytes.get(before) == Some(&b'/'))
            && bytes.get(range.end).is_none_or(|after| *after == b'/')
    });
    if is_empty_segment {
        return Err(of_input(&whose(), "a segment of a path cannot be empty"));
    }
    let path = text
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or("", |(_, path)| path);
    if path.split('/').any(is_dots) {
        return Err(of_input(&whose(), "a segment of a path cannot be . or .."));
    }
    let url = Url::parse(text).map_err(|_| unusable())?;
    // Whatever was put in, the origin is the template's.
    if url.origin() != origin.origin() || has_credentials(&url) {
        return Err(of_input(
            &whose(),
            "a value cannot change where a request goes",
        ));
    }
    Ok((url, filled.secret))
}

fn unusable() -> Failure {
    Failure::new(Code::UrlInvalid, "the URL of the operation is not usable")
}

/// `.` and `..`, also as the URL standard reads them: `%2e` for a dot.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}
