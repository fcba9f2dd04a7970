//! From a reference and the document it stands in to one canonical URI.
//!
//! `os://` is resolved here and never by a generic URL library, which takes the first segment for an
//! authority and resolves `..` wrongly; https is the `url` crate's. Nothing here touches a file.

mod os;
mod web;

#[cfg(test)]
mod tests;

/// Bytes of a reference at most.
const MAX_REFERENCE_BYTES: usize = 2_048;

/// A canonical URI: resolving its text gives itself again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uri(String);

/// Why a reference has no canonical URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// It is no reference that is allowed.
    #[error("not a reference")]
    Failed,
    /// `..` above the root.
    #[error("above the root")]
    Escape,
    /// Neither os nor https.
    #[error("unsupported scheme")]
    Scheme,
}

/// Where the bytes of a URI are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A virtual path below `/os`.
    File(String),
    /// To be fetched from the URI itself.
    Web,
    /// Escapes that are not UTF-8: no file has such a name.
    Nowhere,
}

/// Resolves references, as the options of the request say.
#[derive(Debug, Clone, Copy)]
pub struct Resolver {
    /// Whether `http://` URIs of this machine are resolved.
    pub allow_http_loopback: bool,
}

impl Resolver {
    /// Resolves a reference that stands in the document `base`, or in the request if there is none.
    ///
    /// # Errors
    ///
    /// See [`Unresolved`].
    pub fn resolve(self, reference: &str, base: Option<&Uri>) -> Result<Uri, Unresolved> {
        // Rule 1
        if reference.is_empty()
            || reference.len() > MAX_REFERENCE_BYTES
            || reference.starts_with(char::is_whitespace)
            || reference.ends_with(char::is_whitespace)
        {
            return Err(Unresolved::Failed);
        }
        // Rule 2
        let reference = reference
            .split_once('#')
            .map_or(reference, |(before, _)| before);
        if reference.is_empty() {
            return Err(Unresolved::Failed);
        }
        // Rule 3
        if let Some((scheme, rest)) = split_scheme(reference) {
            if scheme.eq_ignore_ascii_case("os") {
                let path = rest.strip_prefix("//").ok_or(Unresolved::Failed)?;
                return os::canonical("", path).map(Uri);
            }
            return web::absolute(scheme, reference, self).map(Uri);
        }
        // Rule 4
        let base_path = match base.map(|base| (base, base.os_path())) {
            Some((base, None)) => return web::relative(reference, &base.0, self).map(Uri),
            Some((_, Some(path))) => path,
            None => "",
        };
        // Rules 5 and 6; `?` is refused with the other characters that no os path has.
        if reference.starts_with("//") {
            return Err(Unresolved::Failed);
        }
        if reference.starts_with('/') {
            return os::canonical("", reference).map(Uri);
        }
        let folder = base_path.rsplit_once('/').map_or("", |(folder, _)| folder);
        os::canonical(folder, reference).map(Uri)
    }
}

impl Uri {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Where its bytes are.
    #[must_use]
    pub fn place(&self) -> Place {
        match self.os_path() {
            None => Place::Web,
            Some(path) => os::virtual_path(path).map_or(Place::Nowhere, Place::File),
        }
    }

    /// Whether its file's name ends in `.wasm`.
    #[must_use]
    pub fn names_a_component(&self) -> bool {
        match self.place() {
            Place::File(path) => path.ends_with(".wasm"),
            Place::Web => web::path(&self.0).is_some_and(|path| path.ends_with(".wasm")),
            Place::Nowhere => false,
        }
    }

    /// The escaped path of an os URI.
    fn os_path(&self) -> Option<&str> {
        self.0.strip_prefix("os://")
    }
}

/// `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) ":"`: what stands before the colon and after it.
fn split_scheme(reference: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = reference.split_once(':')?;
    let mut bytes = scheme.bytes();
    let is_scheme = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some((scheme, rest))
}
