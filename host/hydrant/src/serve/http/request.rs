//! Reads a request: the identity behind its bearer token, its body within the limits of the service, and the request of an
//! operation from path, query and body.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequestParts, Path};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Version};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hydrant_base::escaped;
use hydrant_canonical::Json;
use serde_json::Value;

use super::App;
use super::connection::Connection;
use crate::govern::client::Frontend;
use crate::serve::config::Table;
use crate::serve::operations::{BodyKind, Call, Input, Operation, Route};
use crate::serve::service::{Identity, Problem};

/// The header that names a session, whose calls share a budget.
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

/// Headers that decide something. Where one is sent twice, servers and proxies disagree about which one counts.
const DECIDING: [&str; 6] = [
    "host",
    "authorization",
    "content-type",
    "origin",
    SESSION,
    "mcp-session-id",
];

/// Refuses a request that sends a deciding header more than once.
pub(super) fn unambiguous(headers: &HeaderMap) -> Result<(), Problem> {
    let is_twice = |name: &&&str| headers.get_all(**name).iter().nth(1).is_some();
    match DECIDING.iter().find(is_twice) {
        Some(name) => Err(Problem::invalid(format!(
            "the header {name} is there more than once"
        ))),
        None => Ok(()),
    }
}

/// Returns the identity behind the token of a request, to whose tenant the connection then belongs. Every request passes here
/// once, and is counted.
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

/// Refuses a request for a host name that is not the service's own: somebody who points a name to this machine could have a
/// browser ask the service as if it belonged to a page of that name (DNS rebinding). Names are checked where the configuration
/// has any, and where the service listens on loopback.
pub(super) fn check_host(
    version: Version,
    headers: &HeaderMap,
    table: &Table,
) -> Result<(), Problem> {
    let hosts = &table.hosts;
    if hosts.is_empty() && !table.listen.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let host = headers.get(HOST);
    // Only HTTP/1.0 may leave it out (RFC 9112, section 3.2), as probes of balancers do.
    if host.is_none() && version == Version::HTTP_10 {
        return Ok(());
    }
    let host = host.map_or("", |host| host.to_str().unwrap_or_default());
    let name = name_of(host);
    if is_local(name) || hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    tracing::warn!(host = %escaped(host), "a request for a host that this service is not");
    Err(Problem::new(
        421,
        "foreign-host",
        "the service has another name",
        "the request is for a host that this service is not; `hosts` of its configuration names those that it is",
    ))
}

/// Refuses the request of a page of another site, whatever token it has, unless the configuration names the site.
fn same_origin(headers: &HeaderMap, hosts: &[String], origins: &[String]) -> Result<(), Problem> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_ours = |name: &str| hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name));
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

/// Reads a body, within the bounds of the service.
pub(super) async fn body(headers: &HeaderMap, body: Body, app: &App) -> Result<Bytes, Problem> {
    json_or_nothing(headers)?;
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
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return too_large();
    }
    let read = Limited::new(body, limit).collect();
    match tokio::time::timeout(table.body_timeout, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
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

/// Refuses a body that is declared to be something else than JSON.
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

/// Reads the request of an operation, whose members come from the path, the query and the body.
pub(super) async fn call(
    operation: &Operation,
    route: &Route,
    parts: &mut Parts,
    content: Body,
    app: &App,
) -> Result<Call, Problem> {
    let mut members: Vec<(String, Json)> = Vec::new();
    if route.segments().next().is_some() {
        // What cannot be a name names nothing.
        let segments = Path::<Vec<(String, String)>>::from_request_parts(parts, app).await;
        let Path(segments) = segments.map_err(|_| Problem::not_found("name"))?;
        let segments = segments.into_iter();
        members.extend(segments.map(|(name, value)| (name, Json::String(value))));
    }
    add_query(&mut members, operation, route, parts)?;
    let bytes = match route.body {
        BodyKind::None => Bytes::new(),
        _ => body(&parts.headers, content, app).await?,
    };
    let place = match route.body {
        BodyKind::Members => {
            let sent = object(&bytes)?;
            // What the path says, the body does not say otherwise.
            if let Some((name, _)) = members.iter().find(|(name, _)| is_in(&sent, name)) {
                return Err(duplicate("body", name));
            }
            members.extend(sent);
            "body"
        }
        BodyKind::Member(name) => {
            members.push((name.to_owned(), Json::Object(object(&bytes)?)));
            "body"
        }
        BodyKind::Bytes | BodyKind::None => "query",
    };
    let input = Input {
        members: Json::Object(members),
        body: bytes,
    };
    let call = operation.read(input);
    call.map_err(|error| Problem::invalid(format!("the {place}: {error}")))
}

/// The members of a body that is an object; an empty one is `{}`.
fn object(bytes: &[u8]) -> Result<Vec<(String, Json)>, Problem> {
    let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { bytes };
    match Json::parse(bytes) {
        Ok(Json::Object(members)) => Ok(members),
        Ok(_) => Err(Problem::invalid("the body: it is no JSON object")),
        Err(error) => Err(Problem::invalid(format!("the body: {error}"))),
    }
}

fn is_in(members: &[(String, Json)], name: &str) -> bool {
    members.iter().any(|(known, _)| known == name)
}

fn duplicate(place: &str, name: &str) -> Problem {
    Problem::invalid(format!("the {place}: duplicate field `{name}`"))
}

/// Adds the members of a query, read as their schemas say. The query of an operation that takes none is not looked at.
fn add_query(
    members: &mut Vec<(String, Json)>,
    operation: &Operation,
    route: &Route,
    parts: &Parts,
) -> Result<(), Problem> {
    let known: Vec<_> = operation.in_query(route).collect();
    let query = parts.uri.query().filter(|_| !known.is_empty());
    for (name, text) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let refused =
            |why: &dyn std::fmt::Display| Problem::invalid(format!("the query: {name}: {why}"));
        let Some((_, schema)) = known.iter().find(|(known, _)| **known == name) else {
            let names: Vec<_> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
            let names = names.join(", ");
            let detail = format!("the query: unknown field `{name}`, expected one of {names}");
            return Err(Problem::invalid(detail));
        };
        let value = match schema.get("type").and_then(Value::as_str) {
            Some("integer") => Value::from(text.parse::<i64>().map_err(|why| refused(&why))?),
            Some("boolean") => Value::from(text.parse::<bool>().map_err(|why| refused(&why))?),
            _ => Value::from(text.as_ref()),
        };
        if is_in(members, &name) {
            return Err(duplicate("query", &name));
        }
        members.push((name.into_owned(), value.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(host: &str, origin: Option<&str>, hosts: &[&str]) -> Option<u16> {
        checked_on("0.0.0.0:7878", host, origin, hosts)
    }

    fn checked_on(listen: &str, host: &str, origin: Option<&str>, hosts: &[&str]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let table = Table {
            hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            listen: listen.parse().unwrap(),
            origins: vec!["http://localhost:6274".to_owned()],
            ..Table::default()
        };
        check_host(Version::HTTP_11, &headers, &table)
            .and_then(|()| same_origin(&headers, &table.hosts, &table.origins))
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

    #[test]
    fn on_loopback_a_name_that_was_pointed_here_is_refused_by_default() {
        for listen in ["127.0.0.1:7878", "[::1]:7878", "[::ffff:127.0.0.1]:7878"] {
            let rebound = Some("http://evil.example:7878");
            assert_eq!(
                checked_on(listen, "evil.example:7878", rebound, &[]),
                Some(421)
            );
            assert_eq!(checked_on(listen, "evil.example", None, &[]), Some(421));
            for own in [
                "localhost:7878",
                "127.0.0.1:7878",
                "[::1]:7878",
                "LOCALHOST",
            ] {
                assert_eq!(checked_on(listen, own, None, &[]), None);
            }
            let proxied = ["hydrant.example.org"];
            assert_eq!(
                checked_on(listen, "hydrant.example.org", None, &proxied),
                None
            );
            let table = Table {
                listen: listen.parse().unwrap(),
                ..Table::default()
            };
            let no_host = |version| check_host(version, &HeaderMap::new(), &table).is_ok();
            assert!(no_host(Version::HTTP_10) && !no_host(Version::HTTP_11));
        }
    }
}
