//! Connections that are no tenant's yet: whoever opens many and shows no token leaves room for others.
//!
//! They are half of all connections at most, and those of one address half of that; behind a balancer all of them come from
//! one address, so that is [`LEAST_OF_ADDRESS`] at least. Where there are as many as may be, one more takes the place of the
//! oldest that no request is being answered on, so that whoever keeps connections idle shuts out nobody else, not even
//! from `/healthz`.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// A small server takes so many from one address, if it takes as many without a token at all.
const LEAST_OF_ADDRESS: usize = 64;

/// Nothing is asked on the connection now.
const IDLE: u8 = 0;
/// A request is being answered.
const BUSY: u8 = 1;
/// Another connection has its place.
const REPLACED: u8 = 2;

/// A limiter of the connections that have shown no token. Clones count together.
#[derive(Clone)]
pub(super) struct UnauthenticatedConnections(Arc<Inner>);

struct Inner {
    most: usize,
    most_of_address: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: usize,
    /// Oldest first.
    of_address: HashMap<IpAddr, Vec<Arc<State>>>,
}

#[derive(Default)]
struct State {
    now: AtomicU8,
    replaced: CancellationToken,
}

/// Counts as a connection without a token, until it is dropped: it ended, or belongs to a tenant.
pub(super) struct Unauthenticated {
    all: UnauthenticatedConnections,
    address: IpAddr,
    state: Arc<State>,
}

impl UnauthenticatedConnections {
    /// A limiter for a server that accepts at most `max_connections` connections.
    pub(super) fn new(max_connections: usize) -> Self {
        let most = max_connections.div_ceil(2);
        Self(Arc::new(Inner {
            most,
            most_of_address: most.div_ceil(2).max(LEAST_OF_ADDRESS),
            open: Mutex::default(),
        }))
    }

    /// A connection from this address; none where there are as many as may be, and a request is being answered on each.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Unauthenticated> {
        // The same client, whichever way the listener names it.
        let address = address.to_canonical();
        let mut open = self.open();
        let own = open.of_address.get(&address).map_or(0, Vec::len);
        let has_room = if own >= self.0.most_of_address {
            open.replace_one_of(address)
        } else {
            open.count < self.0.most || open.replace_one()
        };
        if !has_room {
            return None;
        }
        let state = Arc::<State>::default();
        open.count = open.count.saturating_add(1);
        let own = open.of_address.entry(address).or_default();
        own.push(Arc::clone(&state));
        drop(open);
        Some(Unauthenticated {
            all: self.clone(),
            address,
            state,
        })
    }

    /// Closes the oldest idle connection of the address that has the most; false where there is none.
    pub(super) fn replace_one(&self) -> bool {
        self.open().replace_one()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn replace_one(&mut self) -> bool {
        let all = self.of_address.iter();
        let mut addresses: Vec<_> = all.map(|(address, all)| (all.len(), *address)).collect();
        addresses.sort_unstable_by(|one, other| other.cmp(one));
        addresses
            .into_iter()
            .any(|(_, address)| self.replace_one_of(address))
    }

    /// Closes the oldest idle connection of an address.
    fn replace_one_of(&mut self, address: IpAddr) -> bool {
        let mut all = self.of_address.get(&address).into_iter().flatten();
        let Some(replaced) = all.find(|state| state.becomes(IDLE, REPLACED)).cloned() else {
            return false;
        };
        replaced.replaced.cancel();
        self.remove(address, &replaced);
        true
    }

    fn remove(&mut self, address: IpAddr, state: &Arc<State>) {
        let Some(all) = self.of_address.get_mut(&address) else {
            return;
        };
        let before = all.len();
        all.retain(|other| !Arc::ptr_eq(other, state));
        self.count = self.count.saturating_sub(before.saturating_sub(all.len()));
        if all.is_empty() {
            self.of_address.remove(&address);
        }
    }
}

impl State {
    fn becomes(&self, before: u8, after: u8) -> bool {
        let changed = self
            .now
            .compare_exchange(before, after, Ordering::SeqCst, Ordering::SeqCst);
        changed.is_ok()
    }
}

impl Unauthenticated {
    /// Cancelled when another connection takes the place of this one.
    pub(super) fn replaced(&self) -> CancellationToken {
        self.state.replaced.clone()
    }

    /// A request has come; not where the connection has lost its place.
    pub(super) fn begins(&self) -> bool {
        self.state.becomes(IDLE, BUSY)
    }

    /// The request has been answered.
    pub(super) fn is_done(&self) {
        self.state.becomes(BUSY, IDLE);
    }
}

impl Drop for Unauthenticated {
    fn drop(&mut self) {
        self.all.open().remove(self.address, &self.state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn busy(all: &UnauthenticatedConnections, address: IpAddr) -> Option<Unauthenticated> {
        let one = all.admit(address)?;
        assert!(one.begins());
        Some(one)
    }

    #[test]
    fn connections_without_a_token_are_half_of_all_and_fewer_of_one_address() {
        let limiter = UnauthenticatedConnections::new(1024);
        let mut all: Vec<_> = (0..1000)
            .filter_map(|_| busy(&limiter, address(1)))
            .collect();
        assert_eq!(all.len(), 256);
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        assert!(limiter.admit(mapped).is_none());
        for other in 2..200 {
            all.extend((0..100).filter_map(|_| busy(&limiter, address(other))));
        }
        assert_eq!(all.len(), 512);
        // Who is known, or gone, makes room.
        all.remove(0);
        assert!(limiter.admit(address(1)).is_some());
        drop(all);
        assert!(limiter.open().of_address.is_empty());
        assert_eq!(limiter.open().count, 0);
    }

    #[test]
    fn one_more_takes_the_place_of_the_oldest_idle_one() {
        let limiter = UnauthenticatedConnections::new(4);
        let working = busy(&limiter, address(1)).unwrap();
        let idle = limiter.admit(address(1)).unwrap();
        let next = limiter.admit(address(2)).unwrap();
        assert!(idle.replaced().is_cancelled() && !idle.begins());
        assert!(!working.replaced().is_cancelled());
        assert!(next.begins());
        assert!(limiter.admit(address(3)).is_none());
        working.is_done();
        assert!(limiter.admit(address(3)).is_some());
        assert!(working.replaced().is_cancelled());
    }

    #[test]
    fn a_server_of_one_connection_takes_one() {
        let limiter = UnauthenticatedConnections::new(1);
        let one = busy(&limiter, address(1));
        assert!(one.is_some() && limiter.admit(address(2)).is_none());
    }
}
