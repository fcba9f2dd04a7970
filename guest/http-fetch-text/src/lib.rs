//! The component `http.fetch_text`: fetches a text from a URL.
//!
//! The host checks the URL, every redirect and every address, and reads no more than is asked for. What comes
//! back is decided here: whether it is text, in which encoding, and where it is cut.

mod request;
#[cfg(test)]
mod tests;
mod text;

use kit::SkillError;
use kit::fetch::fetch_error;
use kit::host::Fetch;
use kit::host::fetch::HttpResponse;
use kit::json::write_string;

use request::Request;
use text::Text;

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and
/// `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call. Every final status is an answer.
///
/// # Errors
/// `invalid_request`; `denied` of the URL or the target of a redirect; `unsupported` for another scheme, a type
/// that is no text, a charset or content encoding that cannot be read; `too_large`, `timeout` and `network`.
pub fn run(host: &mut impl Fetch, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let outcome = host.send_one(request.hostcall())?;
    let response = outcome.map_err(|failure| fetch_error(&failure))?;
    let text = text::of(&response)?;
    Ok(answer(&request.url, &response, &text))
}

/// The response, written by hand: the text is most of it, and is copied once.
fn answer(url: &str, response: &HttpResponse, text: &Text<'_>) -> Vec<u8> {
    let content = text.content.as_ref();
    // Room for the other members, and for the escapes of an ordinary text.
    let room = content.len().saturating_add(content.len() / 8);
    let urls = url.len().saturating_add(response.url.len());
    let mut out = Vec::with_capacity(room.saturating_add(urls).saturating_add(192));
    out.extend_from_slice(b"{\"url\":");
    write_string(&mut out, url);
    out.extend_from_slice(b",\"final_url\":");
    write_string(&mut out, &response.url);
    out.extend_from_slice(format!(",\"status\":{},\"mime\":", response.status).as_bytes());
    write_string(&mut out, &text.mime);
    out.extend_from_slice(b",\"text\":");
    write_string(&mut out, content);
    let rest = format!(
        ",\"bytes\":{},\"truncated\":{}}}",
        text.bytes, text.truncated
    );
    out.extend_from_slice(rest.as_bytes());
    out
}

kit::component!(crate::describe, crate::run);
