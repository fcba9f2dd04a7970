//! Spans for OpenTelemetry: one for each call, sent in batches by OTLP over HTTP, by a thread of their own.
//!
//! A span says which operation, for which tenant, and what came of it; nothing of a request or an answer. The trace that a
//! client began goes on here (`traceparent`).

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::Bytes;
use opentelemetry::trace::{
    Span, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer as _, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

use crate::capability::fetch::{Fetcher, Single, header_map, send_single};
use crate::policy::Reach;

/// How long a batch may take to be sent.
const TIME: Duration = Duration::from_secs(10);

/// Bytes of the collector's answer to a batch, at most.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Spans cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("otlp_endpoint: {0}")]
pub struct TraceError(String);

/// See the module.
pub(super) struct Tracer {
    provider: SdkTracerProvider,
    tracer: opentelemetry_sdk::trace::Tracer,
}

impl Tracer {
    /// Sends spans to this address.
    pub(super) fn new(endpoint: &url::Url) -> Result<Self, TraceError> {
        let fetcher = Fetcher::new(&[]).map_err(|error| TraceError(error.to_string()))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client(fetcher))
            .with_endpoint(endpoint.as_str())
            .with_protocol(Protocol::HttpJson)
            .with_timeout(TIME)
            .build()
            .map_err(|error| TraceError(error.to_string()))?;
        let resource = Resource::builder_empty()
            .with_attributes([
                KeyValue::new("service.name", "hydrant"),
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            ])
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        let tracer = provider.tracer("hydrant");
        Ok(Self { provider, tracer })
    }

    /// Begins the span of a call.
    pub(super) fn begin(
        &self,
        headers: &HeaderMap,
        tenant: &str,
        operation: &'static str,
    ) -> opentelemetry_sdk::trace::Span {
        let builder = self
            .tracer
            .span_builder(operation)
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("hydrant.operation", operation),
                KeyValue::new("hydrant.tenant", tenant.to_owned()),
            ]);
        let parent = match parent(headers) {
            Some(parent) => Context::new().with_remote_span_context(parent),
            None => Context::new(),
        };
        builder.start_with_context(&self.tracer, &parent)
    }

    /// Sends what was not sent yet.
    pub(super) fn flush(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last spans are not sent");
        }
    }
}

/// Ends the span of a call.
pub(super) fn end(mut span: opentelemetry_sdk::trace::Span, outcome: &str, status: u16) {
    span.set_attribute(KeyValue::new(
        "http.response.status_code",
        i64::from(status),
    ));
    span.set_attribute(KeyValue::new("hydrant.outcome", outcome.to_owned()));
    if status >= 500 {
        span.set_status(Status::error(outcome.to_owned()));
    }
    span.end();
}

/// W3C Trace Context, `traceparent`: `00-<32 hex>-<16 hex>-<2 hex>`.
fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let mut parts = text.split('-');
    let (version, trace, span, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if version != "00" || parts.next().is_some() || flags.len() != 2 {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    let context = SpanContext::new(
        TraceId::from_hex(trace).ok()?,
        SpanId::from_hex(span).ok()?,
        TraceFlags::new(flags),
        true,
        TraceState::default(),
    );
    context.is_valid().then_some(context)
}

/// The client of the exporter, which calls it on a thread of its own. The operator has named the address.
#[derive(Debug)]
struct Client(Fetcher);

impl HttpClient for Client {
    fn send_bytes<'agent, 'sent>(
        &'agent self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'agent: 'sent,
        Self: 'sent,
    {
        let sent = self.send(request);
        Box::pin(std::future::ready(sent))
    }
}

impl Client {
    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let single = Single {
            method: parts.method.as_str(),
            url: &url::Url::parse(&parts.uri.to_string())?,
            headers: parts.headers,
            body: Some(&body),
            reach: Reach::Any,
            connect: TIME,
            total: TIME,
            response_bytes: MAX_ANSWER_BYTES,
        };
        let (answer, _) = send_single(&self.0, &single);
        let answer = answer?;
        let headers = answer.headers.iter();
        let headers = header_map(headers.map(|(name, value)| (name.as_str(), &**value)))?;
        let mut response = Response::builder()
            .status(answer.status)
            .body(Bytes::from(answer.body))?;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_goes_on_where_its_header_is_whole() {
        let with = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", text.parse().unwrap());
            parent(&headers)
        };
        let whole = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert!(with(whole).unwrap().is_sampled());
        for broken in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-xbf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert!(with(broken).is_none(), "{broken}");
        }
    }
}
