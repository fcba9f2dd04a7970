//! https bases: what may be one, and where a path behind one is fetched from.

use url::Url;

use crate::url_prefix::is_loopback;

/// Reads the base of an https mount. http is taken for a loopback host only; whether such a mount may be read is
/// decided by the grant.
pub(crate) fn https_base(text: &str) -> Result<Url, String> {
    let fault = |rule: &str| Err(format!("{rule}: {text:?}"));
    let Ok(url) = Url::parse(text) else {
        return fault("must be an https URL");
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
        return fault("must be an https URL");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return fault("must have no user name and no password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return fault("must have no query and no fragment");
    }
    if text.contains('\\') || !text.ends_with('/') {
        return fault("must end with `/` and hold no `\\`");
    }
    Ok(url)
}

/// The URL of a path below a base: the base and the path, canonically encoded; none if that leaves the base.
pub(super) fn below(base: &Url, relative: &str) -> Option<Url> {
    let mut text = String::from(base.as_str());
    encode(relative, &mut text);
    Url::parse(&text)
        .ok()
        .filter(|url| url.path().starts_with(base.path()))
}

/// Writes a path in the canonical encoding of `os://` URIs: what stands literally in a segment stays.
///
/// A guest names files decoded, so a character that may be written either way is sent literally.
pub(crate) fn encode(path: &str, text: &mut String) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let digit = |value: u8| HEX.get(usize::from(value)).copied().unwrap_or('0');
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>`{}^|%?#\\".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.extend(['%', digit(byte >> 4), digit(byte & 0xF)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_base_is_https_and_ends_with_a_slash() {
        for good in [
            "https://cdn.example/",
            "https://cdn.example/v3/",
            "HTTPS://cdn.example:8443/",
            "http://127.0.0.1:80/x/",
            "http://localhost:1/",
            "http://[::1]/",
        ] {
            assert!(https_base(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "cdn.example/",
            "https://cdn.example",
            "https://cdn.example/v3",
            "https://cdn.example/?x=/",
            "https://cdn.example/#/",
            "https://me@cdn.example/",
            "http://cdn.example/",
            "http://127.0.0.2/",
            "ftp://cdn.example/",
            "file:///srv/",
            "https:\\\\cdn.example/",
        ] {
            assert!(https_base(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_rest_is_sent_in_canonical_encoding() {
        let base = https_base("https://cdn.example/v3/").unwrap();
        for (relative, url) in [
            ("rope ladder.md", "https://cdn.example/v3/rope%20ladder.md"),
            ("a+b;c=[1].md", "https://cdn.example/v3/a+b;c=[1].md"),
            ("été.md", "https://cdn.example/v3/%C3%A9t%C3%A9.md"),
            ("rope?v=2#x.md", "https://cdn.example/v3/rope%3Fv=2%23x.md"),
            ("100%.md", "https://cdn.example/v3/100%25.md"),
            ("a\\..\\b", "https://cdn.example/v3/a%5C..%5Cb"),
            ("a\tb\u{7f}", "https://cdn.example/v3/a%09b%7F"),
            ("%2e%2e/x", "https://cdn.example/v3/%252e%252e/x"),
            ("", "https://cdn.example/v3/"),
        ] {
            assert_eq!(below(&base, relative).unwrap().as_str(), url);
        }
    }

    proptest! {
        #[test]
        fn no_path_leaves_its_base(relative in "[^/]{1,8}(/[^/]{1,8}){0,2}") {
            let base = https_base("https://cdn.example/v3/").unwrap();
            prop_assume!(relative.split('/').all(|segment| segment != "." && segment != ".."));
            let url = below(&base, &relative).unwrap();
            prop_assert!(url.as_str().starts_with(base.as_str()));
            prop_assert_eq!((url.query(), url.fragment()), (None, None));
        }
    }
}
