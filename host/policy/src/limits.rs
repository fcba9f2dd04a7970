//! The limits a call runs under: the defaults and maxima of the host, and what a policy may make of them.
//!
//! A limit that is not in the table does not exist. A policy may raise a default up to its maximum and never beyond it.

use super::document::{Member, Shape};

/// The effective limits of a call: of each row the policy's value, else the default.
///
/// Names end in their unit: `_bytes`, `_ms` (milliseconds); the others count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Units of fuel a component may burn.
    pub fuel: u64,
    /// Linear memory of a component, all its memories together.
    pub memory_bytes: u64,
    /// Wall-clock time of the call, hostcalls included.
    pub wall_ms: u64,
    /// Bytes a component may answer.
    pub output_bytes: u64,
    /// Bytes of one HTTP body after decoding.
    pub http_bytes: u64,
    /// Time of one HTTP request, redirects included.
    pub http_ms: u64,
    /// Time of one process.
    pub process_ms: u64,
    /// Bytes kept of each stream of a process.
    pub process_output_bytes: u64,
    /// Processes at once.
    pub process_count: u64,
    /// Hostcalls of a call, each item of a list counting.
    pub hostcalls: u64,
    /// Bytes sent and received by `fetch` in a call.
    pub egress_bytes: u64,
    /// Memory of a child in the jail.
    pub process_memory_bytes: u64,
    /// Processes and threads of a child in the jail.
    pub process_pids: u64,
}

/// The defaults of section 14.
pub(super) const DEFAULTS: Limits = Limits {
    fuel: 20_000_000_000,
    memory_bytes: 268_435_456,
    wall_ms: 130_000,
    output_bytes: 16_777_216,
    http_bytes: 4_194_304,
    http_ms: 30_000,
    process_ms: 600_000,
    process_output_bytes: 1_048_576,
    process_count: 10,
    hostcalls: 500_000,
    egress_bytes: 134_217_728,
    process_memory_bytes: 2_147_483_648,
    process_pids: 256,
};

/// The maxima of section 14: no policy is valid that asks for more.
pub(super) const MAXIMA: Limits = Limits {
    fuel: 200_000_000_000,
    memory_bytes: 1_073_741_824,
    wall_ms: 660_000,
    output_bytes: 16_777_216,
    http_bytes: 8_388_608,
    http_ms: 120_000,
    process_ms: 600_000,
    process_output_bytes: 8_388_608,
    process_count: 10,
    hostcalls: 5_000_000,
    egress_bytes: 1_073_741_824,
    process_memory_bytes: 17_179_869_184,
    process_pids: 4096,
};

impl Default for Limits {
    fn default() -> Self {
        DEFAULTS
    }
}

impl Limits {
    /// Of each row the smaller value: limits only narrow.
    #[must_use]
    pub fn at_most(mut self, mut bound: Self) -> Self {
        for Member { name, .. } in &Self::MEMBERS {
            if let (Some(limit), Some(bound)) = (self.named(name), bound.named(name)) {
                *limit = (*limit).min(*bound);
            }
        }
        self
    }

    /// The members of `host.limits`, from 1 to their maxima.
    pub(super) const MEMBERS: [Member; 13] = [
        limit(
            "fuel",
            DEFAULTS.fuel,
            MAXIMA.fuel,
            "Instructions of WebAssembly that a component may execute, in units of fuel.",
        ),
        limit(
            "memory_bytes",
            DEFAULTS.memory_bytes,
            MAXIMA.memory_bytes,
            "Memory of a component in bytes, all its memories together.",
        ),
        limit(
            "wall_ms",
            DEFAULTS.wall_ms,
            MAXIMA.wall_ms,
            "Time of a call in milliseconds, from its start to its answer.",
        ),
        limit(
            "output_bytes",
            DEFAULTS.output_bytes,
            MAXIMA.output_bytes,
            "Bytes of a component's answer.",
        ),
        limit(
            "http_bytes",
            DEFAULTS.http_bytes,
            MAXIMA.http_bytes,
            "Bytes of the body of one HTTP response, after decompression.",
        ),
        limit(
            "http_ms",
            DEFAULTS.http_ms,
            MAXIMA.http_ms,
            "Time of one HTTP request in milliseconds, redirects included.",
        ),
        limit(
            "process_ms",
            DEFAULTS.process_ms,
            MAXIMA.process_ms,
            "Time of one process in milliseconds.",
        ),
        limit(
            "process_output_bytes",
            DEFAULTS.process_output_bytes,
            MAXIMA.process_output_bytes,
            "Bytes that are kept of each output stream of a process.",
        ),
        limit(
            "process_count",
            DEFAULTS.process_count,
            MAXIMA.process_count,
            "Processes that run at once in a call.",
        ),
        limit(
            "process_memory_bytes",
            DEFAULTS.process_memory_bytes,
            MAXIMA.process_memory_bytes,
            "Memory of a process in the jail, in bytes.",
        ),
        limit(
            "process_pids",
            DEFAULTS.process_pids,
            MAXIMA.process_pids,
            "Processes and threads in one jail.",
        ),
        limit(
            "hostcalls",
            DEFAULTS.hostcalls,
            MAXIMA.hostcalls,
            "Calls of a component to the host; each item of a list counts.",
        ),
        limit(
            "egress_bytes",
            DEFAULTS.egress_bytes,
            MAXIMA.egress_bytes,
            "Bytes that a call sends and receives over HTTP.",
        ),
    ];

    /// The limit of that name, to read or to set; none for a name outside [`Limits::MEMBERS`].
    pub(super) fn named(&mut self, name: &str) -> Option<&mut u64> {
        Some(match name {
            "fuel" => &mut self.fuel,
            "memory_bytes" => &mut self.memory_bytes,
            "wall_ms" => &mut self.wall_ms,
            "output_bytes" => &mut self.output_bytes,
            "http_bytes" => &mut self.http_bytes,
            "http_ms" => &mut self.http_ms,
            "process_ms" => &mut self.process_ms,
            "process_output_bytes" => &mut self.process_output_bytes,
            "process_count" => &mut self.process_count,
            "process_memory_bytes" => &mut self.process_memory_bytes,
            "process_pids" => &mut self.process_pids,
            "hostcalls" => &mut self.hostcalls,
            "egress_bytes" => &mut self.egress_bytes,
            _ => return None,
        })
    }
}

const fn limit(name: &'static str, default: u64, maximum: u64, about: &'static str) -> Member {
    Member::optional(name, Shape::Count { default, maximum }, about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tp_34_every_name_has_a_default_that_its_maximum_covers() {
        let (mut defaults, mut maxima) = (DEFAULTS, MAXIMA);
        for Member { name, .. } in &Limits::MEMBERS {
            let default = *defaults.named(name).unwrap();
            let maximum = *maxima.named(name).unwrap();
            assert!(0 < default && default <= maximum, "{name}");
        }
        assert_eq!(defaults.named("fule"), None);
    }

    #[test]
    fn tp_42_the_smaller_limit_of_each_row_holds() {
        for Member { name, .. } in &Limits::MEMBERS {
            let mut low = DEFAULTS;
            *low.named(name).unwrap() = 1;
            assert_eq!(DEFAULTS.at_most(low), low, "{name}");
            assert_eq!(low.at_most(DEFAULTS), low, "{name}");
            assert_ne!(low, DEFAULTS, "{name}");
        }
        assert_eq!(DEFAULTS.at_most(MAXIMA), DEFAULTS);
    }
}
