//! Answers and problems as HTTP responses.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;

use crate::serve::service::{Answer, Problem, seconds};

/// The receipt of a run.
const RECEIPT: HeaderName = HeaderName::from_static("hydrant-receipt");
/// RFC 9457
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Nothing that is answered is kept by what lies between, or taken for something else.
pub(super) fn response(content_type: HeaderValue, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response<Body> {
        let mut response = response(HeaderValue::from_static(self.content_type), self.body);
        if let Some(id) = self.receipt
            && let Ok(value) = HeaderValue::from_str(&id.to_string())
        {
            response.headers_mut().insert(RECEIPT, value);
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let mut response = response(PROBLEM_JSON, self.to_json().to_string());
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if let Some(after) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds(after)));
        }
        match self.status {
            401 => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // What is left of the body is not read.
            408 | 413 => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}
