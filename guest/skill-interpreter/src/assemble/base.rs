//! K-103: the base of relative endpoints.

use url::Url;

use crate::failure::{Code, Failure};

/// The base: of the request, of the document, or the origin of the source; none for a local file.
///
/// # Errors
///
/// `invalid-request` for a requested base that is no `http` or `https` URL.
pub fn choose(
    requested: Option<&str>,
    declared: Option<&str>,
    source: Option<&str>,
) -> Result<Option<Url>, Failure> {
    if let Some(requested) = requested {
        return web_url(requested).map(Some).ok_or_else(|| {
            Failure::new(
                Code::InvalidRequest,
                "base-url: expected an http or https URL",
            )
            .at_path("base-url")
        });
    }
    Ok(declared
        .and_then(web_url)
        .or_else(|| source.and_then(web_url).and_then(|url| url.join("/").ok())))
}

/// A URL that a request can be sent to, without user information.
fn web_url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https")
        || !url.username().is_empty()
        || url.password().is_some()
    {
        return None;
    }
    url.set_fragment(None);
    url.set_query(None);
    Some(url)
}
