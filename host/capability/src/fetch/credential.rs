//! A key that the host adds to the requests of one call, for one server.
//!
//! The guest neither gives it nor sees it: it is added after the guest's request was checked, only where scheme, host and
//! port are those it is for, and taken out again of whatever that server answers.

use std::fmt;

use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderName, HeaderValue};
use url::{Origin, Url};
use zeroize::Zeroizing;

/// What stands in an answer in the place of the key.
const TAKEN_OUT: &[u8] = b"[REDACTED:key]";
/// Shorter keys are no secrets, and taking them out of a text would only spoil it.
const SHORTEST: usize = 8;

/// The key for one server.
pub struct Credential {
    origin: Origin,
    name: HeaderName,
    value: HeaderValue,
    key: Zeroizing<String>,
}

/// Prints no key.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("origin", &self.origin)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A key that no header can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key is empty, or holds characters that no header can hold")]
pub struct UnusableKey;

impl Credential {
    /// `Authorization: Bearer KEY`, for the server of `url`.
    ///
    /// # Errors
    /// [`UnusableKey`]
    pub fn bearer(url: &Url, key: &str) -> Result<Self, UnusableKey> {
        let value = Zeroizing::new(format!("Bearer {key}"));
        Self::new(url, AUTHORIZATION, &value, key)
    }

    /// `x-api-key: KEY`, for the server of `url`.
    ///
    /// # Errors
    /// [`UnusableKey`]
    pub fn api_key(url: &Url, key: &str) -> Result<Self, UnusableKey> {
        Self::new(url, HeaderName::from_static("x-api-key"), key, key)
    }

    fn new(url: &Url, name: HeaderName, value: &str, key: &str) -> Result<Self, UnusableKey> {
        let is_visible = |character: char| character.is_ascii_graphic();
        if key.is_empty() || !key.chars().all(is_visible) {
            return Err(UnusableKey);
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| UnusableKey)?;
        value.set_sensitive(true);
        Ok(Self {
            origin: url.origin(),
            name,
            value,
            key: Zeroizing::new(key.to_owned()),
        })
    }

    /// The header for a request to `url`; none for another server.
    pub(super) fn header_for(&self, url: &Url) -> Option<(&HeaderName, &HeaderValue)> {
        (url.origin() == self.origin).then_some((&self.name, &self.value))
    }

    /// Without the key: a server may repeat what it was sent.
    pub(super) fn taken_out_of(&self, bytes: Vec<u8>) -> Vec<u8> {
        let key = self.key.as_bytes();
        if key.len() < SHORTEST || memchr::memmem::find(&bytes, key).is_none() {
            return bytes;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some(at) = memchr::memmem::find(rest, key) {
            let (before, from) = rest.split_at(at);
            clean.extend_from_slice(before);
            clean.extend_from_slice(TAKEN_OUT);
            rest = from.get(key.len()..).unwrap_or_default();
        }
        clean.extend_from_slice(rest);
        clean
    }

    /// The same of a text.
    pub(super) fn taken_out_of_text(&self, text: String) -> String {
        String::from_utf8_lossy(&self.taken_out_of(text.into_bytes())).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_key_goes_to_its_own_server_only() {
        let credential =
            Credential::bearer(&url("https://llm.example/v1"), "sesame-sesame").unwrap();
        for own in ["https://llm.example/", "https://llm.example:443/x?y"] {
            let (name, value) = credential.header_for(&url(own)).unwrap();
            assert_eq!(name, "authorization");
            assert_eq!(value.as_bytes(), b"Bearer sesame-sesame");
        }
        for other in [
            "http://llm.example/",
            "https://llm.example:444/",
            "https://x.llm.example/",
            "https://llm.example.evil/",
            "data:text/plain,x",
        ] {
            assert!(credential.header_for(&url(other)).is_none(), "{other}");
        }
    }

    #[test]
    fn a_key_is_never_printed_and_never_comes_back() {
        let credential = Credential::api_key(&url("http://127.0.0.1:1/"), "sesame-sesame").unwrap();
        assert!(!format!("{credential:?}").contains("sesame"));
        let echo = b"a sesame-sesame b sesame-sesamesesame-sesame".to_vec();
        let clean = String::from_utf8(credential.taken_out_of(echo)).unwrap();
        assert_eq!(clean, "a [REDACTED:key] b [REDACTED:key][REDACTED:key]");
        assert_eq!(credential.taken_out_of(b"x".to_vec()), b"x");
    }

    #[test]
    fn a_key_that_no_header_can_hold_is_refused() {
        for key in ["", "a b", "a\nb", "é"] {
            assert!(Credential::bearer(&url("https://llm.example/"), key).is_err());
        }
    }
}
