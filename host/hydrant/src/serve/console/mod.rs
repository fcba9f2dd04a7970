//! The console: a page for people who decide, served by the same binary below `/console/`.
//!
//! Its files are part of the program; nothing is built, fetched or written. They hold no data, so they need no token: the
//! page asks for one and speaks to the HTTP routes like every other client. The policy of each answer lets the page load
//! these files and speak to this server, and do nothing else: no inline script or style, no frame, no form that is sent
//! somewhere, and no text that is taken for markup (Trusted Types).

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};

/// What the page may do.
pub const CONTENT_SECURITY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Headers of every answer, beside those of the file. The last two keep other origins from holding a window or a resource.
const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, CONTENT_SECURITY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    // Asked for again each time, and answered with 304: after an update nobody sees half of the old page.
    (CACHE_CONTROL, "no-cache"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

struct File {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    tag: String,
}

macro_rules! files {
    ($($path:literal: $content_type:ident),* $(,)?) => {
        static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
            vec![$(File::new($path, $content_type, include_bytes!(concat!("static/", $path)))),*]
        });
    };
}

files! {
    "index.html": HTML,
    "console.css": CSS,
    "icon.svg": SVG,
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "diff.js": SCRIPT,
    "dom.js": SCRIPT,
    "live.js": SCRIPT,
    "parts.js": SCRIPT,
    "text.js": SCRIPT,
    "views/approvals.js": SCRIPT,
    "views/chain.js": SCRIPT,
    "views/decide.js": SCRIPT,
    "views/grant.js": SCRIPT,
    "views/graph.js": SCRIPT,
    "views/layout.js": SCRIPT,
    "views/receipts.js": SCRIPT,
    "views/signin.js": SCRIPT,
    "views/skills.js": SCRIPT,
    "views/split.js": SCRIPT,
}

/// `GET /console/` and the files below it.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        // Relative, for what stands before the service may put it below another path.
        .route(
            "/console",
            get(async || (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "console/")])),
        )
        .route(
            "/console/",
            get(async |headers: HeaderMap| answer("index.html", &headers)),
        )
        .route(
            "/console/{*path}",
            get(async |Path(path): Path<String>, headers: HeaderMap| answer(&path, &headers)),
        )
}

/// The file with this path, 304 if the client has it already, or 404.
fn answer(path: &str, request: &HeaderMap) -> Response {
    let mut response = match FILES.iter().find(|file| file.path == path) {
        Some(file) => file.answer(request),
        None => (
            StatusCode::NOT_FOUND,
            "there is no such file of the console\n",
        )
            .into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

impl File {
    fn new(path: &'static str, content_type: &'static str, bytes: &'static [u8]) -> Self {
        Self {
            path,
            content_type,
            bytes,
            tag: tag(bytes),
        }
    }

    fn answer(&self, request: &HeaderMap) -> Response {
        let tag = self.tag.as_str();
        let known = request
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|one| matches!(one.trim().trim_start_matches("W/"), one if one == tag || one == "*"));
        let fields = [(ETAG, tag), (CONTENT_TYPE, self.content_type)];
        if known {
            (StatusCode::NOT_MODIFIED, fields).into_response()
        } else {
            (fields, self.bytes).into_response()
        }
    }
}

fn tag(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("\"");
    for byte in Sha256::digest(bytes).iter().take(16) {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests;
