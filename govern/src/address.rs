//! Which addresses are public, by the list of K-315 (N-06, TC-33). Hosts check by the same list.
//!
//! IPv4 is a list of what is refused. IPv6 is the other way round, because its special blocks grow:
//! public is what lies in global unicast space (2000::/3) and is not set apart there, and an IPv4
//! address inside an IPv6 address counts as what it is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Blocks of IPv4 that no request may reach, with their prefix lengths.
const REFUSED_V4: [(Ipv4Addr, u32); 14] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Whether a pair (`host:port`) is `localhost` or an address that is not public: what is known before a name is resolved.
#[must_use]
pub fn is_private_literal(pair: &str) -> bool {
    let Some((host, _)) = crate::config::parts(pair) else {
        return false;
    };
    match Host::parse(host) {
        Ok(Host::Ipv4(address)) => !is_public(address.into()),
        Ok(Host::Ipv6(address)) => !is_public(address.into()),
        Ok(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Err(_) => false,
    }
}

/// Whether anybody on the Internet may be meant by this address.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !REFUSED_V4.iter().any(|(block, length)| {
        let mask = u32::MAX
            .checked_shl(32_u32.saturating_sub(*length))
            .unwrap_or(0);
        address.to_bits() & mask == block.to_bits()
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // IPv4-mapped, and the well-known NAT64 prefix: the last 32 bits are the IPv4 address.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(embedded(high, low))
        }
        // 6to4: the IPv4 address follows the prefix.
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // IETF protocol assignments (Teredo, ORCHID, benchmarking) and the two documentation blocks.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_315_every_block_is_refused_from_its_first_to_its_last_address() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "239.255.255.255"),
            ("240.0.0.0", "255.255.255.255"),
            ("::", "::1"),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("::ffff:10.0.0.1", "::ffff:127.0.0.1"),
            ("64:ff9b::10.0.0.1", "64:ff9b::192.168.0.1"),
            ("2002:7f00:1::", "2002:a00:1::"),
        ] {
            for address in [first, last] {
                assert!(!is_public(address.parse().unwrap()), "{address}");
            }
        }
    }

    #[test]
    fn k_315_neighbours_of_the_blocks_are_public() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn k_58_literals_and_localhost_without_looking_names_up() {
        for pair in [
            "localhost:80",
            "LOCALHOST:80",
            "a.localhost:80",
            "localhost.:80",
            "127.0.0.1:80",
            "[::1]:443",
            "[::ffff:10.0.0.1]:1",
        ] {
            assert!(is_private_literal(pair), "{pair}");
        }
        for pair in [
            "8.8.8.8:53",
            "[2606:4700::1]:443",
            "localhost.example:80",
            "internal:80",
            "",
            "127.0.0.1",
        ] {
            assert!(!is_private_literal(pair), "{pair}");
        }
    }
}
