//! https, and http of this machine where the request allows it.

use url::{Host, Url};

use super::{Resolver, Unresolved};

/// The canonical URI of an absolute reference with this scheme.
pub(super) fn absolute(
    scheme: &str,
    reference: &str,
    resolver: Resolver,
) -> Result<String, Unresolved> {
    if !is_served(scheme, resolver) {
        return Err(Unresolved::Scheme);
    }
    check(reference)?;
    // The standard lets slashes be left out or added; here there are two, and then a host.
    let host = reference
        .get(scheme.len()..)
        .and_then(|rest| rest.strip_prefix("://"))
        .ok_or(Unresolved::Failed)?;
    if host.is_empty() || host.starts_with(['/', '?']) {
        return Err(Unresolved::Failed);
    }
    let url = Url::parse(reference).map_err(|_| Unresolved::Failed)?;
    canonical(url, resolver)
}

/// The canonical URI of a reference without a scheme under a base that is a URL.
pub(super) fn relative(
    reference: &str,
    base: &str,
    resolver: Resolver,
) -> Result<String, Unresolved> {
    check(reference)?;
    let base = Url::parse(base).map_err(|_| Unresolved::Failed)?;
    let url = base.join(reference).map_err(|_| Unresolved::Failed)?;
    canonical(url, resolver)
}

/// The path of a canonical URL.
pub(super) fn path(url: &str) -> Option<String> {
    Url::parse(url).ok().map(|url| url.path().to_owned())
}

fn check(reference: &str) -> Result<(), Unresolved> {
    let refused = |byte: u8| byte == b'\\' || byte.is_ascii_control();
    if reference.bytes().any(refused) {
        return Err(Unresolved::Failed);
    }
    Ok(())
}

fn is_served(scheme: &str, resolver: Resolver) -> bool {
    scheme.eq_ignore_ascii_case("https")
        || (resolver.allow_http_loopback && scheme.eq_ignore_ascii_case("http"))
}

fn canonical(mut url: Url, resolver: Resolver) -> Result<String, Unresolved> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Unresolved::Failed);
    }
    // Any other http stays a scheme that is not served.
    let served = is_served(url.scheme(), resolver) && (url.scheme() != "http" || is_loopback(&url));
    if !served {
        return Err(Unresolved::Scheme);
    }
    url.set_fragment(None);
    Ok(url.into())
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => domain == "localhost",
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        None => false,
    }
}
