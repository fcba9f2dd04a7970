//! Which addresses are public: what any request may contact that no policy names an address for. Hosts check by the same list.
//!
//! IPv4 is a list of what is refused: the blocks of the IANA IPv4 Special-Purpose Address Registry (RFC 6890 and what updates
//! it), multicast, and addresses at which clouds answer with credentials. IPv6 is the other way round, because its special
//! blocks grow: public is what lies in global unicast space (`2000::/3`) and is in no block of the IANA IPv6 Special-Purpose
//! Address Registry there. An IPv4 address inside an IPv6 address counts as what it is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Blocks of IPv4 that no request may reach, with their prefix lengths.
const REFUSED_V4: [(Ipv4Addr, u32); 20] = [
    // This network: RFC 791, section 3.2.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private use: RFC 1918.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared address space: RFC 6598. Alibaba Cloud's metadata is at 100.100.100.200.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback: RFC 1122, section 3.2.1.3.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // The platform of Azure: its metadata, its name server, the health of its machines.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Link local: RFC 3927. Most clouds' metadata is at 169.254.169.254.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Private use: RFC 1918.
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // IETF protocol assignments: RFC 6890, section 2.1. Oracle's older cloud has its metadata at 192.0.0.192.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation: RFC 5737.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // AS112, which answers for private names, at whatever server is nearest: RFC 7535.
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    // Automatic multicast tunnelling, at whatever relay is nearest: RFC 7450.
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    // 6to4 and 6a44 relays, at whatever is nearest: RFC 7526, RFC 6751.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Private use: RFC 1918.
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // AS112: RFC 7534.
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    // Benchmarking: RFC 2544.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Documentation: RFC 5737.
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast: RFC 5771.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved: RFC 1112, section 4; limited broadcast: RFC 8190.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::new(255, 255, 255, 255), 32),
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
        // IPv4-mapped (RFC 4291), and the well-known prefix of NAT64 (RFC 6052): the last 32 bits are the IPv4 address.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(embedded(high, low))
        }
        // IETF protocol assignments (RFC 2928): Teredo, benchmarking, AMT, AS112, ORCHID and others.
        [0x2001, 0..=0x1ff, ..]
        // Documentation: RFC 3849, RFC 9637.
        | [0x2001, 0xdb8, ..]
        | [0x3fff, 0..=0xfff, ..]
        // 6to4, which leads to whatever relay is nearest: RFC 3056, RFC 7526.
        | [0x2002, ..]
        // AS112: RFC 7534.
        | [0x2620, 0x4f, 0x8000, ..] => false,
        // Elsewhere are loopback, local NAT64 prefixes (RFC 8215), discarded (RFC 6666) and dummy (RFC 9780) prefixes, SRv6
        // segments (RFC 9602), unique local (RFC 4193, with clouds' metadata at fd00:ec2::254 and the like), link local and
        // multicast addresses, and what is not assigned.
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
    fn every_block_is_refused_from_its_first_to_its_last_address() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.31.196.0", "192.31.196.255"),
            ("192.52.193.0", "192.52.193.255"),
            ("192.88.99.0", "192.88.99.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("192.175.48.0", "192.175.48.255"),
            ("168.63.129.16", "168.63.129.16"),
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
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
            ("100::", "100::1:0:0:0:1"),
            ("fd00:ec2::254", "fd20:ce::254"),
        ] {
            for address in [first, last] {
                assert!(!is_public(address.parse().unwrap()), "{address}");
            }
        }
    }

    #[test]
    fn neighbours_of_the_blocks_are_public() {
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
            "168.63.129.15",
            "168.63.129.17",
            "192.88.98.255",
            "192.88.100.0",
            "2001:200::",
            "2003::",
            "2620:4f:8001::",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn literals_and_localhost_without_looking_names_up() {
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
