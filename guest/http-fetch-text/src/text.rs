//! What the body of a response is as text.

use std::borrow::Cow;

use kit::SkillError;
use kit::charset::{Charset, End, Hint, is_utf8};
use kit::host::fetch::HttpResponse;
use kit::media::MediaType;
use serde_json::json;

/// The type of a body that has none and reads as text.
const PLAIN: &str = "text/plain";

/// A body that is text.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    pub(crate) content: Cow<'a, str>,
    /// `type/subtype`, in lower case.
    pub(crate) mime: String,
    /// Bytes of the body that `content` and a byte order mark stand for.
    pub(crate) bytes: usize,
    /// The body has more than these.
    pub(crate) truncated: bool,
}

/// Reads the body of `response`.
///
/// # Errors
/// `unsupported` for a type that is no text, for a body without a type that does not read as text, and for a
/// charset that cannot be read.
pub(crate) fn of(response: &HttpResponse) -> Result<Text<'_>, SkillError> {
    let media = media_type(response);
    let (body, end) = (response.body.as_slice(), end_of(response));
    let mime = match &media {
        Some(media) if response.unread => return Err(no_text(response, Some(media.essence()))),
        Some(media) => media.essence(),
        None if reads_as_text(body, end) && !response.unread => PLAIN,
        None => return Err(no_text(response, None)),
    };
    let parameter = media.as_ref().and_then(MediaType::charset);
    let charset = Charset::detect(body, end, parameter, hint(mime))?;
    let decoded = charset.decode(body, end);
    Ok(Text {
        content: decoded.text,
        mime: mime.to_owned(),
        bytes: decoded.bytes,
        truncated: response.truncated || decoded.bytes < body.len(),
    })
}

/// The one type that a response gives; several may disagree, and then there is none.
fn media_type(response: &HttpResponse) -> Option<MediaType> {
    let headers = response.headers.iter();
    let mut types = headers.filter(|(name, _)| name == "content-type");
    match (types.next(), types.next()) {
        (Some((_, value)), None) => MediaType::parse(value),
        _ => None,
    }
}

fn end_of(response: &HttpResponse) -> End {
    if response.truncated {
        End::Cut
    } else {
        End::Whole
    }
}

fn reads_as_text(body: &[u8], end: End) -> bool {
    is_utf8(body, end) && !body.contains(&0)
}

/// Where a text of this type may name its encoding.
fn hint(mime: &str) -> Hint {
    match mime {
        "text/html" => Hint::Html,
        "text/xml" | "application/xml" => Hint::Xml,
        mime if mime.ends_with("+xml") => Hint::Xml,
        _ => Hint::None,
    }
}

fn no_text(response: &HttpResponse, mime: Option<&str>) -> SkillError {
    let shown = mime.unwrap_or("a body without a type");
    let status = response.status;
    let error = SkillError::new(
        "unsupported",
        &format!("{shown} is no text: {} (status {status})", response.url),
    );
    error.with_details(json!({ "mime": mime, "status": status }).to_string())
}
