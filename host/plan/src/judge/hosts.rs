//! The hosts of a request, from its URL template.

use std::collections::BTreeSet;

use url::{Host, Url};

use crate::{HttpStage, Segment};

/// The pairs that a request may go to; none where the template leaves it open.
pub(super) fn of(stage: &HttpStage) -> Option<BTreeSet<String>> {
    if stage.url_input.is_some() {
        // `https` and a host of `domains`.
        let domains = stage.domains.iter();
        let hosts: BTreeSet<String> = domains
            .map(|domain| format!("{}:443", domain.to_ascii_lowercase()))
            .collect();
        return (stage.url.0.is_empty() && !hosts.is_empty()).then_some(hosts);
    }
    let Some(Segment::Literal { lit: lead }) = stage.url.0.first() else {
        return None;
    };
    let behind = lead.find("://")?.checked_add(3)?;
    let end = lead.get(behind..)?.find(['/', '?', '#', '\\']);
    let end = match end {
        Some(end) => behind.checked_add(end)?,
        // What follows would belong to the host.
        None if stage.url.0.len() > 1 => return None,
        None => lead.len(),
    };
    let origin = plain(&format!("{}/", lead.get(..end)?))?;
    // As it is parsed at the call: nothing behind may change what is before.
    let whole = plain(&stage.url.display())?;
    (origin == whole).then(|| BTreeSet::from([origin]))
}

fn plain(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none();
    if is_plain { pair_of(&url) } else { None }
}

/// `host:port` of a URL as it is compared: IDNA and lower-case, the default port made explicit.
///
/// None of a URL without host or without a known port.
#[must_use]
pub fn pair_of(url: &Url) -> Option<String> {
    Some(format!(
        "{}:{}",
        url.host_str()?,
        url.port_or_known_default()?
    ))
}

/// Whether a text is a pair as [`pair_of`] writes it.
pub(super) fn is_pair(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| {
        let port = port
            .parse::<u16>()
            .ok()
            .filter(|number| number.to_string() == port);
        port.is_some_and(|port| port != 0)
            // The host of a URL may have one; here it would look like a pattern.
            && !host.contains('*')
            && Host::parse(host).is_ok_and(|parsed| parsed.to_string() == host)
    })
}
