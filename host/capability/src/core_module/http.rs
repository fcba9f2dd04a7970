//! `http_fetch`: one GET to a declared URL.

use url::Url;

use super::{CoreCall, CoreKind, Ended, denied};
use crate::fetch::{FetchError, get_once, is_plain};

impl CoreCall {
    /// The body of a successful answer, unless it is longer than `room`.
    ///
    /// # Errors
    /// [`Ended`]; also where the host has an address that the declared URL does not name.
    pub fn fetch(&self, url: &[u8], room: usize) -> Result<Option<Vec<u8>>, Ended> {
        let Some((text, url)) = std::str::from_utf8(url)
            .ok()
            .filter(|text| is_plain(text))
            .and_then(|text| Some((text, Url::parse(text).ok()?)))
        else {
            return Ok(None);
        };
        let denial = || denied(CoreKind::NetHttp, &shown(text, &url));
        let Some(reach) = self.declared.reach(&url) else {
            return Err(denial());
        };
        let answer = get_once(&self.fetcher, &self.meter, &url, reach, room)?;
        let outcome = match answer {
            Ok(body) => Ok(Some(body)),
            Err(FetchError::Denied) => Err(denial()),
            Err(_) => Ok(None),
        };
        self.noted(CoreKind::NetHttp, outcome)
    }
}

/// The URL as the module wrote it; credentials are not shown.
fn shown(text: &str, url: &Url) -> String {
    if url.username().is_empty() && url.password().is_none() {
        return text.to_owned();
    }
    let mut shown = url.clone();
    // Both fail only for URLs without a host, which have no credentials.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.into()
}
