//! The values that a manifest declares, and whether one of them covers what a module asks for.
//!
//! Answers come from text alone. A value that its kind cannot read (`*` as a URL; a relative path) covers
//! nothing.

use url::Url;

use super::CoreKind;
use hydrant_policy::{Reach, VirtualPath, reach_of_declared};
use hydrant_trust::Capability;

/// The declared values, by kind.
#[derive(Debug)]
pub(super) struct Declared(Vec<Capability>);

impl Declared {
    pub(super) fn new(capabilities: &[Capability]) -> Self {
        Self(capabilities.to_vec())
    }

    fn values(&self, kind: CoreKind) -> impl Iterator<Item = &str> {
        let of_kind = self.0.iter().filter(move |held| held.kind == kind.as_str());
        of_kind
            .map(|held| held.value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Whether the kind is declared at all.
    pub(super) fn any(&self, kind: CoreKind) -> bool {
        self.values(kind).next().is_some()
    }

    /// The declared paths that hold `path`, the widest first.
    pub(super) fn roots(&self, kind: CoreKind, path: &VirtualPath) -> Vec<VirtualPath> {
        let mut roots: Vec<_> = self
            .values(kind)
            .filter_map(|value| VirtualPath::normalise(value).ok())
            .filter(|root| path.starts_with(root))
            .collect();
        roots.sort_by_key(|root| root.as_str().len());
        roots.dedup();
        roots
    }

    /// The addresses that a request may reach, if a declared prefix covers its URL.
    pub(super) fn reach(&self, url: &Url) -> Option<Reach> {
        self.values(CoreKind::NetHttp)
            .find_map(|prefix| reach_of_declared(prefix, url))
    }

    /// Whether a key or a topic is declared: `*`, or the exact bytes.
    pub(super) fn names(&self, kind: CoreKind, name: &[u8]) -> bool {
        self.values(kind)
            .any(|value| value == "*" || value.as_bytes() == name)
    }
}

/// The path that a module names; none if it is no path.
pub(super) fn path(bytes: &[u8]) -> Option<VirtualPath> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.chars().any(char::is_control) {
        return None;
    }
    VirtualPath::normalise(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(values: &[(&str, &str)]) -> Declared {
        let capabilities: Vec<_> = values
            .iter()
            .map(|(kind, value)| Capability {
                kind: (*kind).to_owned(),
                value: (*value).to_owned(),
            })
            .collect();
        Declared::new(&capabilities)
    }

    #[test]
    fn a_path_is_absolute_plain_and_collapsed() {
        assert_eq!(path(b"//srv///x/").unwrap().as_str(), "/srv/x");
        for refused in [
            &b""[..],
            b"srv",
            b"/srv/../etc",
            b"/srv/./x",
            b"/srv/\0",
            b"/srv/\n",
            b"/srv/\x7f",
            "/srv/\u{85}".as_bytes(),
            b"/srv/\xff",
        ] {
            assert_eq!(path(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn roots_hold_whole_segments_of_their_own_kind() {
        let declared = declared(&[
            ("fs.read", "/srv/x"),
            ("fs.read", "/srv//"),
            ("fs.read", "srv"),
            ("fs.read", "/srv/../etc"),
            ("fs.write", "/out"),
        ]);
        let roots = |kind, text: &str| {
            let roots = declared.roots(kind, &path(text.as_bytes()).unwrap());
            let texts: Vec<_> = roots.iter().map(|root| root.as_str().to_owned()).collect();
            texts.join(" ")
        };
        assert_eq!(roots(CoreKind::FsRead, "/srv/x/y"), "/srv /srv/x");
        assert_eq!(roots(CoreKind::FsRead, "/srv/x2"), "/srv");
        for outside in ["/srv2", "/etc", "/out"] {
            assert_eq!(roots(CoreKind::FsRead, outside), "", "{outside}");
        }
        assert_eq!(roots(CoreKind::FsWrite, "/out"), "/out");
    }

    #[test]
    fn keys_match_by_bytes_or_by_the_star() {
        let exact = declared(&[("kv.read", "a"), ("kv.write", "*"), ("queue.consume", "")]);
        assert!(exact.names(CoreKind::KvRead, b"a"));
        for other in [&b"b"[..], b"", b"aa", b"*", b"\xff"] {
            assert!(!exact.names(CoreKind::KvRead, other), "{other:?}");
            assert!(exact.names(CoreKind::KvWrite, other), "{other:?}");
        }
        assert!(!exact.names(CoreKind::QueueConsume, b""));
    }

    #[test]
    fn urls_are_covered_by_declared_prefixes_only() {
        let reach = |prefix: &str, url: &str| {
            declared(&[("net.http", prefix)]).reach(&Url::parse(url).unwrap())
        };
        let prefix = "https://a.example/v1/";
        assert_eq!(
            reach(prefix, "https://a.example/v1/x?q"),
            Some(Reach::Public)
        );
        assert_eq!(
            reach("http://127.0.0.1:8/", "http://127.0.0.1:8/x"),
            Some(Reach::Named)
        );
        for (prefix, url) in [
            ("*", "https://a.example/v1/x"),
            (prefix, "https://a.example/v2"),
            (prefix, "http://a.example/v1/"),
            (prefix, "https://a.example/v1/%20"),
            (prefix, "https://a.example/v1/#x"),
            (prefix, "https://u@a.example/v1/"),
            ("https://a.example/v1/?q", "https://a.example/v1/?q"),
        ] {
            assert_eq!(reach(prefix, url), None, "{prefix} {url}");
        }
    }
}
