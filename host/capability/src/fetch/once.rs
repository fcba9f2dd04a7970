//! One GET on behalf of a core module: no redirect is followed, and only the body of a success counts.
//!
//! The caller has checked the URL; the resolver checks the addresses, as for every request.

use std::time::{Duration, Instant};

use ureq::http::Request;
use ureq::http::header::ACCEPT_ENCODING;
use url::Url;

use super::send::{self, failure, is_unanswered};
use super::{Encodings, FetchError, Fetcher, Overflow, target};
use crate::stop::{Stop, settle};
use crate::{BudgetExceeded, Meter};
use hydrant_policy::Reach;

/// The time for everything together; connecting has the same as elsewhere.
const TOTAL: Duration = Duration::from_secs(10);

/// The body of the answer, at most `max_bytes` long.
///
/// # Errors
/// Outside: the call's time is up. Inside: [`FetchError::Denied`] for an address that `reach` does not hold, and
/// everything else for which there is no body.
pub(crate) fn get_once(
    fetcher: &Fetcher,
    meter: &Meter,
    url: &Url,
    reach: Reach,
    max_bytes: usize,
) -> Result<Result<Vec<u8>, FetchError>, BudgetExceeded> {
    let outcome = settle(get(fetcher, meter, url, reach, max_bytes))?;
    if outcome == Err(FetchError::Timeout) {
        // Where the call's own time was up, that is what ends it.
        meter.remaining()?;
    }
    Ok(outcome)
}

fn get(
    fetcher: &Fetcher,
    meter: &Meter,
    url: &Url,
    reach: Reach,
    max_bytes: usize,
) -> Result<Vec<u8>, Stop<FetchError>> {
    // Credentials are never sent, declared or not.
    let url = target::first(url.as_str())?;
    let agent = fetcher.agent(reach);
    let started = Instant::now();
    let time = TOTAL.min(meter.remaining()?);
    let send = || {
        let request = Request::get(url.as_str()).header(ACCEPT_ENCODING, "identity");
        send::send(agent, request, None, time.saturating_sub(started.elapsed()))
    };
    // A connection that was closed before any answer byte may have idled too long.
    let response = match send() {
        Err(error) if is_unanswered(&error) => send(),
        outcome => outcome,
    };
    let response = response.map_err(|error| failure(&error))?;
    if response.status().is_redirection() {
        return Err(FetchError::Redirects.into());
    }
    if !response.status().is_success() {
        return Err(FetchError::Protocol.into());
    }
    let most = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    let answer = send::read(response, Encodings::Identity, most, Overflow::Refuse, meter)?;
    Ok(answer.body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::resolve::Lookup;
    use crate::testing::{AMPLE, Server, meter, respond};
    use std::net::IpAddr;
    use std::sync::Arc;

    /// Every name has this address.
    #[derive(Debug)]
    struct Always(IpAddr);

    impl Lookup for Always {
        fn lookup(&self, _: &str, _: Duration) -> Result<Vec<IpAddr>, ureq::Error> {
            Ok(vec![self.0])
        }
    }

    #[test]
    fn a_name_with_an_address_that_is_not_public_is_denied() {
        let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b"secret"));
        let lookup = Arc::new(Always("127.0.0.1".parse().unwrap()));
        let fetcher = Fetcher::with_lookup(&[], lookup).unwrap();
        let get = |host: &str, reach| {
            let url = format!("http://{host}:{}/", server.port());
            get_once(
                &fetcher,
                &meter(AMPLE),
                &Url::parse(&url).unwrap(),
                reach,
                16,
            )
            .unwrap()
        };
        let denied = Err(FetchError::Denied);
        assert_eq!(get("lib.example", Reach::Public), denied);
        assert_eq!(get("127.0.0.1", Reach::Public), denied);
        assert_eq!(get("lib.example", Reach::Named), denied);
        assert!(server.asked().is_empty());
        let secret = Ok(b"secret".to_vec());
        assert_eq!(get("localhost", Reach::Named), secret);
        assert_eq!(get("127.0.0.1", Reach::Named), secret);
    }
}
