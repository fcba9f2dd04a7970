//! K-04: the hosts of a request, from its URL template.

use std::collections::BTreeSet;

use url::Url;

use crate::config::pair_of;
use hydrant_plan::{HttpStage, Segment};

/// The pairs that a request may go to; none where the template leaves it open.
pub(super) fn of(stage: &HttpStage) -> Option<BTreeSet<String>> {
    if stage.url_input.is_some() {
        // K-196: `https` and a host of `domains`.
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
        // K-195: what follows would belong to the host.
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
