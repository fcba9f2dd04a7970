//! The URLs that a request may name, and where a redirect may lead, by their text.
//!
//! Parsing is that of the WHATWG standard, which repairs a lot: what it would drop or turn silently
//! (control characters, `\`) is refused before, so that what is checked is what was written.

use url::Url;

use super::{FetchError, MAX_URL_BYTES};

/// The URL of a first request, without its fragment.
///
/// # Errors
/// [`FetchError::InvalidRequest`] for what is no http or https URL, has a user name or a password, or is too long.
pub(super) fn first(text: &str) -> Result<Url, FetchError> {
    let url = is_plain(text)
        .then(|| Url::parse(text).ok())
        .flatten()
        .ok_or(FetchError::InvalidRequest)?;
    let url = without_fragment(url);
    if is_http(&url) && !has_user(&url) && url.as_str().len() <= MAX_URL_BYTES {
        Ok(url)
    } else {
        Err(FetchError::InvalidRequest)
    }
}

/// Where the `location` of an answer from `base` leads, without its fragment.
///
/// # Errors
/// [`FetchError::Redirects`] for one that leads nowhere or is too long.
pub(super) fn next(base: &Url, location: &str) -> Result<Url, FetchError> {
    let url = is_plain(location)
        .then(|| base.join(location).ok())
        .flatten()
        .ok_or(FetchError::Redirects)?;
    let url = without_fragment(url);
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(FetchError::Redirects);
    }
    Ok(url)
}

/// Whether a redirect may lead from `base` to `target`, by their texts.
///
/// # Errors
/// [`FetchError::RedirectDenied`] for one to another scheme than http and https, from https to http, or to
/// a user name.
pub(super) fn check(base: &Url, target: &Url) -> Result<(), FetchError> {
    let downgrades = base.scheme() == "https" && target.scheme() != "https";
    if !is_http(target) || downgrades || has_user(target) {
        return Err(FetchError::RedirectDenied);
    }
    Ok(())
}

/// Whether a text is one that the parser of URLs takes as it stands.
pub(crate) fn is_plain(text: &str) -> bool {
    text.len() <= MAX_URL_BYTES
        && !text
            .bytes()
            .any(|byte| byte.is_ascii_control() || byte == b'\\')
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_an_http_url_without_a_user() {
        assert_eq!(
            first("HTTPS://Lib.Example:443/a%2fb?c#d").unwrap().as_str(),
            "https://lib.example/a%2fb?c"
        );
        for refused in [
            "",
            "a/b",
            "file:///etc/passwd",
            "data:,x",
            "ftp://lib.example/",
            "https://me@lib.example/",
            "https://me:pw@lib.example/",
            "https://:pw@lib.example/",
            "https:\\\\lib.example/",
            "https://lib.exa\nmple/",
            "https://lib.example/\0",
            &format!("https://lib.example/{}", "a".repeat(MAX_URL_BYTES)),
        ] {
            assert_eq!(
                first(refused),
                Err(FetchError::InvalidRequest),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_redirect_leads_to_http_only_from_http() {
        let secure = Url::parse("https://lib.example/a/b").unwrap();
        assert_eq!(
            next(&secure, "c#d").unwrap().as_str(),
            "https://lib.example/a/c"
        );
        for denied in [
            "http://lib.example/",
            "ftp://lib.example/",
            "javascript:1",
            "//me@lib.example/",
        ] {
            assert_eq!(
                next(&secure, denied).and_then(|target| check(&secure, &target)),
                Err(FetchError::RedirectDenied),
                "{denied}"
            );
        }
        assert_eq!(next(&secure, "https://"), Err(FetchError::Redirects));
        assert_eq!(next(&secure, "/a\\b"), Err(FetchError::Redirects));
        let plain = Url::parse("http://127.0.0.1:8080/").unwrap();
        for target in ["/x", "https://lib.example/"] {
            let target = next(&plain, target).unwrap();
            assert_eq!(check(&plain, &target), Ok(()), "{target}");
        }
    }
}
