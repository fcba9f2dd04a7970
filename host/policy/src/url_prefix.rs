//! URL prefixes, the one grammar for every allowlist of URLs.
//!
//! | prefix | matches | does not match |
//! |---|---|---|
//! | `https://a.example/` | everything on port 443 of that host | `http://a.example/`, `https://a.example:444/`, `https://b.a.example/` |
//! | `https://a.example/docs/` | `/docs`, `/docs/x?y=1` | `/docs2`, `/docs/%2e%2e/x`, `/docs/../x`, `/docs/..;/x` |
//! | `https://127.0.0.1:8080/` | that literal address and port | `https://localhost:8080/` |
//!
//! Both sides are parsed as WHATWG URLs. Nothing is resolved, and no wildcard exists.

use schemars::JsonSchema;
use serde::Deserialize;
use url::{Host, Url};

/// A checked prefix: an absolute URL with an authority, without query and fragment, whose path says one thing only.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(super) struct UrlPrefix {
    #[schemars(with = "String")]
    url: Url,
}

/// Why a text is no prefix; continues a sentence that begins with the member.
pub(super) type Fault = &'static str;

/// What the path of a request may hold beyond the plain text of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// None: the rule for values that are compared when a policy or a manifest is read.
    None,
    /// `%XX`, except those that another parser could read as structure.
    Harmless,
}

impl UrlPrefix {
    /// Reads an absolute URI with authority, without query, fragment, `\` or escapes in its path.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        if text.contains('\\') {
            return Err("must not hold `\\`");
        }
        let url = Url::parse(text).map_err(|_| "must be an absolute URL")?;
        if !url.has_authority() || url.host().is_none() {
            return Err("must have a host");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("must have no query and no fragment");
        }
        // Parsing has encoded what a URL may not hold, so this refuses blanks and non-ASCII characters as well.
        if url.path().contains('%') {
            return Err(
                "must have a path without `%` escapes and without characters that need one",
            );
        }
        if has_parameters(url.path()) {
            return Err("must have a path without parameters (`;`)");
        }
        if normal_segments(url.path(), Escapes::None).is_none() {
            return Err("must have a path that begins with `/` and has no segment `.` or `..`");
        }
        Ok(Self { url })
    }

    pub(super) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// `host:port` of a prefix that covers all of a host, and whether it is plain http.
    pub(super) fn whole_host(&self) -> Option<(String, bool)> {
        let (host, port) = (self.url.host_str()?, self.url.port_or_known_default()?);
        (self.url.path() == "/").then(|| (format!("{host}:{port}"), self.scheme() == "http"))
    }

    pub(super) fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// Whether everything below `other` is also below this prefix.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.matches(&other.url, Escapes::None)
    }

    /// Whether `request` is this prefix or lies below it at a `/` boundary.
    pub(super) fn matches(&self, request: &Url, escapes: Escapes) -> bool {
        let same_origin = self.url.scheme() == request.scheme()
            && self.url.host() == request.host()
            && self.url.port_or_known_default() == request.port_or_known_default()
            && self.url.username() == request.username()
            && self.url.password() == request.password();
        if !same_origin || !request.has_authority() || request.fragment().is_some() {
            return false;
        }
        if self.url.path() != "/" && has_parameters(request.path()) {
            return false;
        }
        let prefix = normal_segments(self.url.path(), Escapes::None);
        let (Some(prefix), Some(mut request)) = (prefix, normal_segments(request.path(), escapes))
        else {
            return false;
        };
        prefix
            .into_iter()
            .all(|segment| request.next() == Some(segment))
    }
}

/// The segments of a path, empty ones dropped; none if the path can match nothing.
fn normal_segments(path: &str, escapes: Escapes) -> Option<impl Iterator<Item = &str>> {
    let rest = path.strip_prefix('/')?;
    let plain = match escapes {
        Escapes::None => !path.contains('%'),
        Escapes::Harmless => has_harmless_escapes(path),
    };
    let segments = || rest.split('/').filter(|segment| !segment.is_empty());
    let normal =
        plain && !path.contains('\\') && !segments().any(|segment| matches!(segment, "." | ".."));
    normal.then(segments)
}

/// Whether each `%` begins an escape, and none of `%25 %2E %2F %5C %7F`, `%00`–`%1F`.
pub(super) fn has_harmless_escapes(path: &str) -> bool {
    path.split('%').skip(1).all(|after| {
        let byte = after
            .get(..2)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        byte.is_some_and(|byte| byte > 0x1F && !matches!(byte, b'%' | b'.' | b'/' | b'\\' | 0x7F))
    })
}

/// Whether a path has parameters (RFC 3986, section 3.3), which some servers take out before they resolve its segments: of
/// `/docs/..;/x` they answer `/x`.
pub(super) fn has_parameters(path: &str) -> bool {
    path.contains(';') || path.to_ascii_uppercase().contains("%3B")
}

/// Whether a URL names a literal address or `localhost`, and so may reach an address that is not public.
///
/// A prefix matches its own host only, so what the request names is what every matched prefix names.
pub(super) fn names_its_address(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Whether a URL names this machine by `127.0.0.1`, `[::1]` or `localhost`.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// The narrowest prefix that matches `url`, to be proposed to an operator: its path up to the first escape.
pub(super) fn proposal(url: &Url) -> String {
    let mut proposal = url.clone();
    proposal.set_query(None);
    proposal.set_fragment(None);
    let plain = url.path().split('%').next().unwrap_or("/");
    let whole = plain.len() == url.path().len();
    let path = if whole {
        plain
    } else {
        plain.rsplit_once('/').map_or("/", |(parent, _)| parent)
    };
    proposal.set_path(if path.is_empty() { "/" } else { path });
    without_credentials(&proposal)
}

/// The URL for a message or a record: without user name and password.
pub(super) fn without_credentials(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for URLs without a host, which have no credentials.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(prefix: &str, request: &str, escapes: Escapes) -> bool {
        UrlPrefix::parse(prefix)
            .unwrap()
            .matches(&Url::parse(request).unwrap(), escapes)
    }

    #[test]
    fn a_prefix_is_an_absolute_plain_url() {
        for good in [
            "https://a.example",
            "https://a.example/x/",
            "http://[::1]:80/",
            "ftp://a.example/x",
            "HTTPS://A.Example/X",
        ] {
            assert!(UrlPrefix::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.example",
            "/x",
            "https:",
            "mailto:a@b",
            "file:///x",
            "data:x",
            "https://a.example/?q",
            "https://a.example/#f",
            "https://a.example/a\\b",
            "https://a.example/%41",
            "https://a.example/a b",
            "https://a.example/a;b",
            "https://a.example/é",
            "x://h",
        ] {
            assert!(UrlPrefix::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_prefix_ends_at_a_slash() {
        let prefix = "https://a.example/docs";
        for inside in [
            "https://a.example/docs",
            "https://a.example/docs/",
            "https://a.example/docs//x?q=%2F",
            "https://A.EXAMPLE:443/docs/x",
        ] {
            assert!(matches(prefix, inside, Escapes::None), "{inside}");
        }
        for outside in [
            "https://a.example/docs2",
            "https://a.example/",
            "https://a.example/docs/../x",
            "https://a.example/docs/%2e%2e/x",
            "http://a.example/docs",
            "https://a.example:444/docs",
            "https://b.example/docs",
            "https://x.a.example/docs",
            "https://a.example./docs",
            "https://me@a.example/docs",
            "https://me:pw@a.example/docs",
            "https://a.example/docs#x",
            "https://a.example/docs/a%41",
            "https://a.example\\docs@b.example/docs",
            "https://a.example/docs/x/..;/",
            "https://a.example/docs/x/..%3B/",
            "https://a.example/docs/;v=1/x",
        ] {
            assert!(!matches(prefix, outside, Escapes::None), "{outside}");
        }
        assert!(matches(
            "https://a.example",
            "https://a.example/anything",
            Escapes::None
        ));
    }

    #[test]
    fn a_request_may_hold_harmless_escapes_only() {
        let prefix = "https://a.example/docs/";
        for good in ["rope%20ladder.md", "%C3%A9t%c3%a9.md", "a%3Fv=1", "%24"] {
            assert!(
                matches(prefix, &format!("{prefix}{good}"), Escapes::Harmless),
                "{good}"
            );
            assert!(
                !matches(prefix, &format!("{prefix}{good}"), Escapes::None),
                "{good}"
            );
        }
        for bad in [
            "100%25.md",
            "a%2Eb",
            "a%2eb",
            "a%2Fb",
            "a%5Cb",
            "a%5cb",
            "a%7F",
            "a%00",
            "a%0a",
            "a%1F",
            "100%",
            "a%2",
            "a%zz",
            "a%+1",
        ] {
            assert!(
                !matches(prefix, &format!("{prefix}{bad}"), Escapes::Harmless),
                "{bad}"
            );
        }
    }

    #[test]
    fn only_literal_addresses_and_localhost_are_named() {
        for named in [
            "http://127.0.0.1/",
            "http://[::ffff:10.0.0.1]/",
            "https://localhost:1/",
            "http://0x7f.1/",
        ] {
            assert!(names_its_address(&Url::parse(named).unwrap()), "{named}");
        }
        for other in [
            "https://a.example/",
            "https://localhost./",
            "https://x.localhost/",
            "https://127.0.0.1.example/",
        ] {
            assert!(!names_its_address(&Url::parse(other).unwrap()), "{other}");
        }
        assert!(is_loopback(&Url::parse("http://[::1]:8/").unwrap()));
        assert!(!is_loopback(&Url::parse("http://127.0.0.2/").unwrap()));
    }

    proptest! {
        #[test]
        fn nothing_outside_a_prefix_matches(rest in "[a-z0-9./%@:?#\\\\ -]{0,24}", directory in "[a-z]{1,3}(/[a-z]{1,2})?") {
            let prefix = UrlPrefix::parse(&format!("https://a.example/{directory}")).unwrap();
            for text in [format!("https://a.example/{directory}{rest}"), format!("https://a.example{rest}"), format!("https://a.example/{rest}")] {
                let Ok(url) = Url::parse(&text) else { continue };
                if prefix.matches(&url, Escapes::Harmless) {
                    prop_assert_eq!(url.host_str(), Some("a.example"));
                    prop_assert_eq!((url.username(), url.password(), url.port()), ("", None, None));
                    let collapsed: Vec<_> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
                    let wanted: Vec<_> = directory.split('/').collect();
                    prop_assert!(collapsed.starts_with(&wanted), "{} {}", directory, url);
                    prop_assert!(!collapsed.contains(&"..") && !url.path().to_ascii_lowercase().contains("%2e"));
                }
            }
        }

        #[test]
        fn a_proposal_matches_what_it_was_made_for(path in "[a-z/%2041]{0,12}") {
            let url = Url::parse(&format!("https://a.example/{path}?q=1")).unwrap();
            let prefix = UrlPrefix::parse(&proposal(&url)).unwrap();
            if has_harmless_escapes(url.path()) {
                prop_assert!(prefix.matches(&url, Escapes::Harmless), "{} {}", prefix.as_str(), url);
            }
        }
    }
}
