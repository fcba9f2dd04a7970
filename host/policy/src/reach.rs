//! Which addresses a core module may reach by a URL prefix that it declares.

use url::Url;

use super::Reach;
use super::url_prefix::{Escapes, UrlPrefix, names_its_address};

/// The addresses that a request to `url` may reach, if the declared prefix covers it.
pub fn reach_of_declared(prefix: &str, url: &Url) -> Option<Reach> {
    let prefix = UrlPrefix::parse(prefix).ok()?;
    let reach = if names_its_address(url) {
        Reach::Named
    } else {
        Reach::Public
    };
    prefix.matches(url, Escapes::None).then_some(reach)
}
