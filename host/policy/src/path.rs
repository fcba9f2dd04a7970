//! Virtual paths: the only file names that guests, requests and answers know.
//!
//! A `VirtualPath` can only be built valid, so whoever holds one never checks it again. Nothing here touches the file
//! system and nothing here knows which directory a mount stands for.

use std::fmt;

use percent_encoding::percent_decode_str;

use super::mount::encode;

/// Bytes of a virtual path at most.
pub(super) const MAXIMUM_BYTES: usize = 4096;

/// An absolute, normalised virtual path such as `/os/crew/pilot.md`.
///
/// No empty, `.` or `..` segment, no NUL, no trailing slash, at most 4,096 bytes. `/` itself is valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VirtualPath(String);

/// Why a text is not a virtual path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// It does not begin with `/`.
    #[error("a virtual path begins with `/`")]
    Relative,
    /// It has an empty segment or ends with `/`.
    #[error("a virtual path has no empty segment")]
    EmptySegment,
    /// It has a segment `.` or `..`.
    #[error("a virtual path has no segment `.` or `..`")]
    DotSegment,
    /// It holds a NUL.
    #[error("a virtual path holds no NUL")]
    Nul,
    /// It is longer than 4,096 bytes.
    #[error("a virtual path has at most {MAXIMUM_BYTES} bytes")]
    TooLong,
}

impl VirtualPath {
    /// Accepts a path that is already normalised; nothing is repaired.
    ///
    /// # Errors
    /// The first rule of [`VirtualPath`] that `text` breaks.
    pub fn parse(text: &str) -> Result<Self, InvalidPath> {
        if text.len() > MAXIMUM_BYTES {
            return Err(InvalidPath::TooLong);
        }
        let rest = text.strip_prefix('/').ok_or(InvalidPath::Relative)?;
        if text.contains('\0') {
            return Err(InvalidPath::Nul);
        }
        if !rest.is_empty() {
            for segment in rest.split('/') {
                match segment {
                    "" => return Err(InvalidPath::EmptySegment),
                    "." | ".." => return Err(InvalidPath::DotSegment),
                    _ => {}
                }
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// Normalises a value of a manifest or a ceiling: empty segments are dropped, dot segments refused.
    ///
    /// # Errors
    /// As [`VirtualPath::parse`], but never [`InvalidPath::EmptySegment`].
    pub fn normalise(text: &str) -> Result<Self, InvalidPath> {
        let rest = text.strip_prefix('/').ok_or(InvalidPath::Relative)?;
        let mut normal = String::with_capacity(text.len());
        for segment in rest.split('/').filter(|segment| !segment.is_empty()) {
            normal.push('/');
            normal.push_str(segment);
        }
        if normal.is_empty() {
            normal.push('/');
        }
        Self::parse(&normal)
    }

    /// `/workspace`, where the files are that skills work on.
    pub fn workspace() -> Self {
        Self("/workspace".to_owned())
    }

    /// `/os`, where every `os://` URI lies.
    pub fn os() -> Self {
        Self("/os".to_owned())
    }

    /// The path that a reference means from the root of `os://`: a URI, or a path with or without a slash in front.
    ///
    /// None where no file can be meant, as with `..` above the root. Whether a hydration takes the reference
    /// is the component's to say.
    pub fn of_os_reference(reference: &str) -> Option<Self> {
        let path = reference.strip_prefix("os://").unwrap_or(reference);
        let mut segments: Vec<&str> = Vec::new();
        let path = percent_decode_str(path).decode_utf8().ok()?;
        for segment in path.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()?),
                segment => segments.push(segment),
            }
        }
        let below: String = segments.into_iter().flat_map(|name| ["/", name]).collect();
        Self::parse(&format!("/os{below}")).ok()
    }

    /// The canonical `os://` URI of a path at or below `/os`; none for others.
    pub fn os_uri(&self) -> Option<String> {
        let mut uri = "os://".to_owned();
        encode(self.strip_prefix(&Self::os())?, &mut uri);
        Some(uri)
    }

    /// The directory at the top that this path is or lies in: `/os` of `/os/crew/pilot.md`; none for `/`.
    pub(super) fn first_segment(&self) -> Option<Self> {
        let first = self.segments().next()?;
        Some(Self(format!("/{first}")))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments from the left; none for `/`.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// Whether `prefix` is this path or holds it, by whole segments: `/tmp` holds `/tmp/a`, not `/tmp2`.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.strip_prefix(prefix).is_some()
    }

    /// Of these directories, the widest that holds this path: a rule with all of them allows what lies in that one.
    pub(super) fn widest_of<'d>(
        &self,
        directories: impl IntoIterator<Item = &'d Self>,
    ) -> Option<&'d Self> {
        let holding = directories.into_iter().filter(|one| self.starts_with(one));
        holding.min_by_key(|one| one.0.len())
    }

    /// The last segment; none for `/`.
    pub fn file_name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// What follows `prefix`, without a leading slash (`""` for the prefix itself); none if `prefix` does not hold it.
    pub fn strip_prefix(&self, prefix: &Self) -> Option<&str> {
        if prefix.0 == "/" {
            return self.0.strip_prefix('/');
        }
        let rest = self.0.strip_prefix(prefix.as_str())?;
        if rest.is_empty() {
            return Some(rest);
        }
        rest.strip_prefix('/')
    }
}

impl fmt::Display for VirtualPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> VirtualPath {
        VirtualPath::parse(text).unwrap()
    }

    #[test]
    fn only_normalised_absolute_paths_are_virtual_paths() {
        for (text, fault) in [
            ("", InvalidPath::Relative),
            ("os/a", InvalidPath::Relative),
            ("/os//a", InvalidPath::EmptySegment),
            ("/os/", InvalidPath::EmptySegment),
            ("//", InvalidPath::EmptySegment),
            ("/os/./a", InvalidPath::DotSegment),
            ("/os/..", InvalidPath::DotSegment),
            ("/os/a\0", InvalidPath::Nul),
        ] {
            assert_eq!(VirtualPath::parse(text), Err(fault), "{text:?}");
        }
        assert_eq!(path("/").segments().count(), 0);
        assert_eq!(path("/").file_name(), None);
        assert_eq!(path("/os/a b.md").file_name(), Some("a b.md"));
        assert_eq!(
            path("/os/...").segments().collect::<Vec<_>>(),
            ["os", "..."]
        );
    }

    #[test]
    fn an_os_uri_and_the_path_it_means_lead_to_each_other() {
        for (reference, meant, uri) in [
            (
                "os://crew/pilot.md",
                "/os/crew/pilot.md",
                "os://crew/pilot.md",
            ),
            (
                "/crew/./x/../pilot.md",
                "/os/crew/pilot.md",
                "os://crew/pilot.md",
            ),
            ("a%20b%25.md", "/os/a b%.md", "os://a%20b%25.md"),
            ("\u{e9}+,.md", "/os/\u{e9}+,.md", "os://%C3%A9+,.md"),
            ("100%.md", "/os/100%.md", "os://100%25.md"),
            ("os://", "/os", "os://"),
        ] {
            let found = VirtualPath::of_os_reference(reference).unwrap();
            assert_eq!(found, path(meant));
            assert_eq!(found.os_uri().as_deref(), Some(uri));
            assert_eq!(VirtualPath::of_os_reference(uri), Some(found));
        }
        for nothing in ["../x", "a/../../x", "%ff", "a%00"] {
            assert_eq!(VirtualPath::of_os_reference(nothing), None, "{nothing}");
        }
        assert_eq!(path("/workspace/x").os_uri(), None);
    }

    #[test]
    fn a_path_has_at_most_4096_bytes() {
        assert!(VirtualPath::parse(&format!("/{}", "a".repeat(4095))).is_ok());
        let long = format!("/{}", "a".repeat(4096));
        assert_eq!(VirtualPath::parse(&long), Err(InvalidPath::TooLong));
    }

    #[test]
    fn a_prefix_holds_whole_segments_only() {
        assert!(path("/tmp/a").starts_with(&path("/tmp")));
        assert!(path("/tmp").starts_with(&path("/tmp")));
        assert!(!path("/tmp2").starts_with(&path("/tmp")));
        assert!(!path("/").starts_with(&path("/tmp")));
        assert!(path("/anything").starts_with(&path("/")));
        assert_eq!(path("/os/a/b").strip_prefix(&path("/os")), Some("a/b"));
        assert_eq!(path("/os").strip_prefix(&path("/os")), Some(""));
        assert_eq!(path("/os").strip_prefix(&path("/")), Some("os"));
    }

    #[test]
    fn values_drop_empty_segments_and_refuse_dots() {
        assert_eq!(VirtualPath::normalise("/os//a/").unwrap(), path("/os/a"));
        assert_eq!(VirtualPath::normalise("//").unwrap(), path("/"));
        assert_eq!(
            VirtualPath::normalise("/os/../etc"),
            Err(InvalidPath::DotSegment)
        );
        assert_eq!(VirtualPath::normalise("os"), Err(InvalidPath::Relative));
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_keeps_the_text(text in any::<String>()) {
            if let Ok(path) = VirtualPath::parse(&text) {
                prop_assert_eq!(path.as_str(), text.as_str());
                prop_assert!(path.segments().all(|segment| segment != ".." && segment != "."));
                prop_assert!(path.starts_with(&path));
            }
            let _ = VirtualPath::normalise(&text);
        }
    }
}
