//! Connections that are nobody's yet: whoever opens many and shows no token leaves room for those who do. Behind a balancer
//! all of them come from one address, so one may have many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A small server takes so many from one address, if it takes as many from strangers at all.
const LEAST_OF_ONE: usize = 64;

/// See the module. Clones count together.
#[derive(Clone)]
pub(super) struct Strangers(Arc<Inner>);

struct Inner {
    /// Of all that the server takes, half.
    most: usize,
    /// From one address, half of those, and [`LEAST_OF_ONE`] in any case.
    most_of_one: usize,
    here: Mutex<HashMap<IpAddr, usize>>,
}

/// Counts as a stranger's connection, until it is dropped: it ended, or belongs to a tenant.
pub(super) struct Stranger {
    all: Strangers,
    address: IpAddr,
}

impl Strangers {
    /// Of a server that takes so many connections, 1 or more.
    pub(super) fn of(connections: usize) -> Self {
        let most = connections.div_ceil(2);
        Self(Arc::new(Inner {
            most,
            most_of_one: most.div_ceil(2).max(LEAST_OF_ONE),
            here: Mutex::default(),
        }))
    }

    /// A connection from this address; none where there are as many as may be.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Stranger> {
        // The same client, whichever way the listener names it.
        let address = address.to_canonical();
        let mut here = self.here();
        let all: usize = here.values().sum();
        let own = here.entry(address).or_default();
        if all >= self.0.most || *own >= self.0.most_of_one {
            if *own == 0 {
                here.remove(&address);
            }
            return None;
        }
        *own = own.saturating_add(1);
        Some(Stranger {
            all: self.clone(),
            address,
        })
    }

    fn here(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut here = self.all.here();
        if let Some(own) = here.get_mut(&self.address) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                here.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn strangers_have_half_of_all_and_one_address_less() {
        let strangers = Strangers::of(1024);
        let mut all: Vec<_> = (0..1000)
            .filter_map(|_| strangers.admit(address(1)))
            .collect();
        assert_eq!(all.len(), 256);
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        assert!(strangers.admit(mapped).is_none());
        for other in 2..200 {
            all.extend((0..100).filter_map(|_| strangers.admit(address(other))));
        }
        assert_eq!(all.len(), 512);
        // Who is known, or gone, makes room.
        all.remove(0);
        assert!(strangers.admit(address(1)).is_some());
        drop(all);
        assert!(strangers.here().is_empty());
    }

    #[test]
    fn a_server_of_one_connection_takes_one() {
        let strangers = Strangers::of(1);
        let one = strangers.admit(address(1));
        assert!(one.is_some() && strangers.admit(address(2)).is_none());
    }
}
