//! Who asks, and what: the bearer token, and the body of a request within its limits.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hydrant_canonical::Json;
use serde::de::DeserializeOwned;

use super::App;
use super::connection::Connection;
use crate::govern::client::Frontend;
use crate::serve::service::{Identity, Problem};

/// A session that calls share, and its budget with it.
const SESSION: &str = "hydrant-session";

/// The identity behind the token of a request.
pub(super) struct Who(pub(super) Identity);

impl FromRequestParts<App> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let connection = parts.extensions.get::<Arc<Connection>>();
        let identity = identify(
            app,
            &parts.headers,
            connection.map(Arc::as_ref),
            Frontend::Http,
        )?;
        Ok(Self(identity))
    }
}

/// Headers that decide something: of two, servers and proxies do not believe the same one.
const DECIDING: [&str; 6] = [
    "host",
    "authorization",
    "content-type",
    "origin",
    SESSION,
    "mcp-session-id",
];

/// Refuses a request that says twice what only one can be true of.
pub(super) fn unambiguous(headers: &HeaderMap) -> Result<(), Problem> {
    let is_twice = |name: &&&str| headers.get_all(**name).iter().nth(1).is_some();
    match DECIDING.iter().find(is_twice) {
        Some(name) => Err(Problem::invalid(format!(
            "the header {name} is there more than once"
        ))),
        None => Ok(()),
    }
}

/// Who holds the token of a request, on a connection that is then his. Each request comes by here once, and is counted.
pub(crate) fn identify(
    app: &App,
    headers: &HeaderMap,
    connection: Option<&Connection>,
    frontend: Frontend,
) -> Result<Identity, Problem> {
    let table = &app.service.config().table;
    same_origin(headers, &table.hosts, &table.origins)?;
    let token = bearer(headers).ok_or_else(Problem::unauthenticated)?;
    let mut identity = app
        .service
        .authenticate(token, frontend)
        .inspect_err(|_| tracing::info!("a token that nobody has"))?;
    if let Some(connection) = connection {
        connection.belongs_to(&identity.tenant)?;
    }
    // Before anything is done for it: a body read, a session begun, an answer of a refusal written.
    identity
        .tenant
        .requests
        .take()
        .map_err(|after| Problem::too_many("the tenant asks more often than it may", after))?;
    identity.session = match headers.get(SESSION) {
        None => None,
        Some(name) => {
            let name = name.to_str().ok();
            let name = name.ok_or_else(|| Problem::invalid("Hydrant-Session: it is no name"))?;
            Some(name.to_owned())
        }
    };
    Ok(identity)
}

/// The token of `Authorization: Bearer …`.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// A page of another site asks nothing here, whatever token it has, unless the configuration names the site; nor does whoever
/// calls the service by a name that is not its own.
fn same_origin(headers: &HeaderMap, hosts: &[String], origins: &[String]) -> Result<(), Problem> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_ours = |name: &str| hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name));
    if !hosts.is_empty()
        && !host
            .map(name_of)
            .is_some_and(|name| is_ours(name) || is_local(name))
    {
        return Err(Problem::new(
            421,
            "foreign-host",
            "the service has another name",
            "the request is for a host that this service is not",
        ));
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or_default();
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    if authority.is_some_and(|authority| Some(authority) == host || is_ours(name_of(authority)))
        || origins.iter().any(|named| named == origin)
    {
        Ok(())
    } else {
        Err(Problem::new(
            403,
            "foreign-origin",
            "the page is of another site",
            "requests of pages of other sites are refused",
        ))
    }
}

/// An authority without its port.
fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// An address, which nobody can point elsewhere, or this machine by its own name.
fn is_local(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<std::net::IpAddr>().is_ok()
}

/// The bytes of a body.
pub(super) struct Bytewise(pub(super) Bytes);

impl FromRequest<App> for Bytewise {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self, Problem> {
        json_or_nothing(request.headers())?;
        let table = &app.service.config().table;
        let limit = table.request_bytes;
        let too_large = || {
            Err(Problem::new(
                413,
                "too-large",
                "the request is too large",
                format!("a request has at most {limit} bytes"),
            ))
        };
        let body = request.into_body();
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > limit {
            return too_large();
        }
        let read = Limited::new(body, limit).collect();
        match tokio::time::timeout(table.body_timeout, read).await {
            Ok(Ok(body)) => Ok(Self(body.to_bytes())),
            Ok(Err(error)) if error.is::<LengthLimitError>() => too_large(),
            Ok(Err(_)) => Err(Problem::invalid("the body is not complete")),
            Err(_) => Err(Problem::new(
                408,
                "timeout",
                "the request came too slowly",
                "the body took longer than a body may",
            )),
        }
    }
}

/// What is said to be something else than JSON is not read as JSON.
fn json_or_nothing(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let essence = value.to_str().unwrap_or_default().split(';').next();
    let essence = essence.unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(Problem::new(
            415,
            "unsupported-media-type",
            "the request is not JSON",
            "the media type of a body is application/json",
        ))
    }
}

/// A body that is an object; an empty one is `{}`.
async fn object<T>(
    request: Request<Body>,
    app: &App,
    read: impl FnOnce(&[u8]) -> serde_json::Result<T>,
) -> Result<T, Problem> {
    let Bytewise(bytes) = Bytewise::from_request(request, app).await?;
    let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    // A list of the members in their order would do as well, and mean something else one day.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Problem::invalid("the body: it is no JSON object"));
    }
    read(bytes).map_err(|error| Problem::invalid(format!("the body: {error}")))
}

/// A body as options.
pub(super) struct Options<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Options<T> {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self, Problem> {
        let options = object(request, app, |bytes| serde_json::from_slice(bytes));
        options.await.map(Self)
    }
}

/// A body as params, whose numbers stay as they were written.
pub(super) struct Params(pub(super) Json);

impl FromRequest<App> for Params {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self, Problem> {
        object(request, app, Json::parse).await.map(Self)
    }
}

/// The members of a query; one that is unknown or there twice is an error.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        match query {
            Ok(axum::extract::Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::invalid(format!(
                "the query: {}",
                error.body_text()
            ))),
        }
    }
}

/// A segment of the path that names something; what cannot be a name names nothing.
pub(super) struct Segment<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Segment<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, app).await;
        match path {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(_) => Err(Problem::not_found("name")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(host: &str, origin: Option<&str>, hosts: &[&str]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        same_origin(&headers, &hosts, &["http://localhost:6274".to_owned()])
            .err()
            .map(|problem| problem.status)
    }

    #[test]
    fn only_ones_own_names_and_pages_ask() {
        let ours = ["hydrant.example.org"];
        assert_eq!(checked("anything", None, &[]), None);
        assert_eq!(checked("hydrant.example.org", None, &ours), None);
        assert_eq!(checked("10.0.0.7:7878", None, &ours), None);
        assert_eq!(checked("[::1]:7878", None, &ours), None);
        assert_eq!(checked("evil.example", None, &ours), Some(421));
        assert_eq!(
            checked("hydrant.example.org.evil.example", None, &ours),
            Some(421)
        );
        assert_eq!(checked("a:1", Some("http://a:1"), &[]), None);
        assert_eq!(checked("a:1", Some("http://a:2"), &[]), Some(403));
        assert_eq!(checked("a:1", Some("null"), &[]), Some(403));
        assert_eq!(checked("a:1", Some("http://localhost:6274"), &[]), None);
        assert_eq!(
            checked("a:1", Some("https://localhost:6274"), &[]),
            Some(403)
        );
        assert_eq!(
            checked("a:1", Some("http://localhost:62740"), &[]),
            Some(403)
        );
        let page = Some("https://hydrant.example.org");
        assert_eq!(checked("127.0.0.1:7878", page, &ours), None);
    }
}
