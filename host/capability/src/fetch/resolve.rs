//! From a host name to the addresses that may be connected to.
//!
//! Every address of a name is checked before one of them is used, and the connection goes to what was
//! checked: nothing resolves the name again. A lookup that takes too long is left behind
//! on its own thread, of which there are only so many.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use hydrant_base::address::is_public;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::connect::Obstacle;
use crate::Cancellation;
use hydrant_policy::Reach;

/// Lookups that may hang at a time; beyond that, names are not resolved until one ends.
const MAX_LOOKUPS: usize = 64;

/// Addresses of one name that are kept to try.
const MAX_ADDRESSES: usize = 16;

/// Looks a name up. The system does; tests have their own.
pub(crate) trait Lookup: fmt::Debug + Send + Sync {
    /// All addresses of `host`, a name and never a literal address, within the given time.
    ///
    /// # Errors
    /// [`ureq::Error::HostNotFound`], or [`Obstacle::Slow`].
    fn lookup(&self, host: &str, within: Duration) -> Result<Vec<IpAddr>, ureq::Error>;
}

/// The resolver of one kind of reach. The two kinds share no connection either.
#[derive(Debug)]
pub(super) struct CheckedResolver {
    /// Which addresses may be connected to.
    pub(super) reach: Reach,
    /// Where names are looked up.
    pub(super) lookup: Arc<dyn Lookup>,
}

impl CheckedResolver {
    /// The addresses of `host`, each of them checked: one at least, and at most [`MAX_ADDRESSES`].
    pub(super) fn addresses(
        &self,
        host: &str,
        within: Duration,
    ) -> Result<Vec<IpAddr>, ureq::Error> {
        let literal = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
            .parse::<IpAddr>();
        let (mut addresses, allowed): (Vec<IpAddr>, fn(IpAddr) -> bool) =
            match (literal, self.reach) {
                // The policy names this very address.
                (Ok(address), Reach::Named | Reach::Any) => (vec![address], |_| true),
                (Err(_), Reach::Any) => (self.lookup.lookup(host, within)?, |_| true),
                (Ok(address), Reach::Public) => (vec![address], is_public),
                (Err(_), Reach::Public) => (self.lookup.lookup(host, within)?, is_public),
                (Err(_), Reach::Named) if host.eq_ignore_ascii_case("localhost") => {
                    (self.lookup.lookup(host, within)?, is_loopback)
                }
                (Err(_), Reach::Named) => return Err(Obstacle::AddressRefused.into()),
            };
        // One refused address among several refuses the host.
        if !addresses.iter().copied().all(allowed) {
            return Err(Obstacle::AddressRefused.into());
        }
        if addresses.is_empty() {
            return Err(ureq::Error::HostNotFound);
        }
        addresses.truncate(MAX_ADDRESSES);
        Ok(addresses)
    }
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().ok_or(ureq::Error::HostNotFound)?;
        let port = match (uri.port_u16(), uri.scheme_str()) {
            (Some(port), _) => port,
            (None, Some("https")) => 443,
            (None, _) => 80,
        };
        let addresses = self.addresses(host, *timeout.after)?;
        let mut resolved = self.empty();
        for address in addresses {
            resolved.push(SocketAddr::new(address, port));
        }
        Ok(resolved)
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The system's resolver.
#[derive(Debug, Default)]
pub(super) struct SystemLookup {
    at_work: Arc<AtomicUsize>,
}

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str, within: Duration) -> Result<Vec<IpAddr>, ureq::Error> {
        let place = Place::take(&self.at_work).ok_or(ureq::Error::HostNotFound)?;
        let (sender, receiver) = sync_channel(1);
        // The port matters to nobody: only the addresses are taken.
        let query = (host.to_owned(), 0_u16);
        thread::Builder::new()
            .name("hydrant-lookup".to_owned())
            .spawn(move || {
                let _place = place;
                // The receiver may have stopped waiting; then nobody needs the answer.
                let _ = sender.send(query.to_socket_addrs());
            })
            .map_err(|_| ureq::Error::HostNotFound)?;
        match Cancellation::current().receive(&receiver, within) {
            Ok(Ok(addresses)) => Ok(addresses.map(|address| address.ip()).collect()),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(ureq::Error::HostNotFound),
            Err(RecvTimeoutError::Timeout) => Err(Obstacle::Slow.into()),
        }
    }
}

/// One of the places for lookups, given back when the lookup ends.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(at_work: &Arc<AtomicUsize>) -> Option<Place> {
        at_work
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                (count < MAX_LOOKUPS).then_some(count.saturating_add(1))
            })
            .is_ok()
            .then(|| Place(Arc::clone(at_work)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
