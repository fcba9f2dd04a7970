//! What kind of document it is.

use url::Url;

use crate::failure::{Code, Failure};
use crate::model::Format;
use kit::yaml::{self, Node, Tree};

/// A document's text, and what kind it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detected<'a> {
    /// Without a byte order mark.
    pub text: &'a str,
    /// What kind.
    pub format: Format,
    /// Of OpenAPI: whether it is written in JSON.
    pub is_json: bool,
}

/// Decides by what the text is, else by its suffix, else by its content type, else by how it begins.
///
/// # Errors
///
/// Those of `text_of`, `openapi-version` and `format-unknown`. Whether the text is what it was taken for, its reader finds.
pub fn detect<'a>(
    bytes: &'a [u8],
    source_url: &str,
    content_type: Option<&str>,
) -> Result<Detected<'a>, Failure> {
    let text = text_of(bytes)?;
    let suffix = suffix(source_url);
    let has_front_matter = has_front_matter(text);
    let of = |format| Detected {
        text,
        format,
        is_json: format == Format::Json,
    };
    let parsed = if suffix == Some(Format::Markdown) || has_front_matter {
        None
    } else {
        parse(text)
    };
    let root = parsed.as_ref().and_then(|(tree, _)| tree.root());
    let root = root.filter(Node::is_map);
    if let (Some(root), Some((_, is_json))) = (root, &parsed)
        && is_openapi(root)?
    {
        let is_json = *is_json;
        return Ok(Detected {
            is_json,
            ..of(Format::Openapi)
        });
    }
    if let Some(format) = suffix.or_else(|| content_type.and_then(of_content_type)) {
        return Ok(of(format));
    }
    let format = if text.trim_start().starts_with(['{', '[']) {
        Format::Json
    } else if has_front_matter {
        Format::Markdown
    } else if text.lines().next().is_some_and(is_delimiter) || root.is_some_and(is_skill) {
        Format::Yaml
    } else if text.lines().any(is_heading_or_fence) {
        Format::Markdown
    } else {
        return Err(Failure::new(
            Code::FormatUnknown,
            "neither address nor content type nor text says what the document is",
        ));
    };
    Ok(of(format))
}

/// The document as text.
fn text_of(bytes: &[u8]) -> Result<&str, Failure> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Failure::new(Code::NotUtf8, format!("not UTF-8 at byte {at}"))
    })?;
    if let Some(at) = text.find('\0') {
        return Err(Failure::new(Code::NotText, format!("a NUL at byte {at}")));
    }
    let begins = |start: &str| {
        let beginning = text.trim_start().get(..start.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
    };
    if begins("<!doctype") || begins("<html") {
        return Err(Failure::new(Code::Html, "the document is a web page"));
    }
    Ok(text)
}

/// What the suffix of the path says; query and fragment do not count.
fn suffix(source_url: &str) -> Option<Format> {
    let path = match Url::parse(source_url) {
        Ok(url) => url.path().to_owned(),
        // A path of a file system, in which `?` and `#` are characters.
        Err(_) => source_url.to_owned(),
    };
    let name = path.rsplit('/').next()?.to_ascii_lowercase();
    let (_, suffix) = name.rsplit_once('.')?;
    match suffix {
        "yaml" | "yml" => Some(Format::Yaml),
        "json" => Some(Format::Json),
        "md" | "markdown" => Some(Format::Markdown),
        _ => None,
    }
}

/// What a content type says.
fn of_content_type(content_type: &str) -> Option<Format> {
    let essence = content_type.split(';').next()?.trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Some(Format::Json),
        "application/yaml" | "application/x-yaml" | "text/yaml" => Some(Format::Yaml),
        "text/markdown" => Some(Format::Markdown),
        _ => None,
    }
}

/// A line `---`; blanks behind it do not count.
fn is_delimiter(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim_matches([' ', '\t', '\r']).is_empty())
}

/// A first line `---` with a later one, and text after that.
fn has_front_matter(text: &str) -> bool {
    let mut lines = text.lines();
    lines.next().is_some_and(is_delimiter)
        && lines.by_ref().any(is_delimiter)
        && lines.any(|line| !line.trim().is_empty())
}

/// The text as a tree, and whether it is JSON.
fn parse(text: &str) -> Option<(Tree<'_>, bool)> {
    let json = text
        .trim_start()
        .starts_with('{')
        .then(|| yaml::read_json(text, 1));
    match json {
        Some(Ok(tree)) => Some((tree, true)),
        _ => yaml::read_yaml(text, 1).ok().map(|tree| (tree, false)),
    }
}

/// Whether it is an OpenAPI description.
fn is_openapi(root: Node<'_>) -> Result<bool, Failure> {
    let (openapi, swagger) = (root.get("openapi"), root.get("swagger"));
    let Some(key) = openapi.or(swagger) else {
        return Ok(false);
    };
    let is_three =
        openapi.is_some_and(|version| version.as_text().is_some_and(|v| v.starts_with("3.")));
    let is_two = swagger.is_some_and(|version| version.as_text() == Some("2.0"));
    if is_three || (openapi.is_none() && is_two) {
        return Ok(true);
    }
    Err(Failure::new(
        Code::OpenapiVersion,
        "expected openapi: 3.x or swagger: \"2.0\", as a string",
    )
    .at_line(key.line()))
}

/// Whether it has the keys of a skill.
fn is_skill(root: Node<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| root.get(key).is_some());
    has(&["skill"]) || has(&["name", "id"]) && has(&["operations", "capabilities", "instructions"])
}

/// Whether a line is an ATX heading or begins a fence (CommonMark, 4.2 and 4.5).
fn is_heading_or_fence(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    if line.len().saturating_sub(rest.len()) > 3 {
        return false;
    }
    let level = rest.bytes().take_while(|byte| *byte == b'#').count();
    let after = rest.trim_start_matches('#');
    let is_heading =
        (1..=6).contains(&level) && (after.is_empty() || after.starts_with([' ', '\t']));
    is_heading || rest.starts_with("```") || rest.starts_with("~~~")
}
