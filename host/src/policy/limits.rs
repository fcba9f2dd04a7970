//! The limits a call runs under: the defaults and maxima of the host, and what a policy may make of them (TP-34, TN).
//!
//! A limit that is not in the table does not exist. A policy may raise a default up to its maximum and never beyond it.

/// The effective limits of a call: of each row the policy's value, else the default.
///
/// Names end in their unit: `_bytes`, `_ms` (milliseconds); the others count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Units of fuel a component may burn (TN-01).
    pub fuel: u64,
    /// Linear memory of a component, all its memories together (TN-02).
    pub memory_bytes: u64,
    /// Wall-clock time of the call, hostcalls included (TN-04).
    pub wall_ms: u64,
    /// Bytes a component may answer (TN-06).
    pub output_bytes: u64,
    /// Bytes of one HTTP body after decoding (TN-08).
    pub http_bytes: u64,
    /// Time of one HTTP request, redirects included (TN-08).
    pub http_ms: u64,
    /// Time of one process (TN-09).
    pub process_ms: u64,
    /// Bytes kept of each stream of a process (TN-09).
    pub process_output_bytes: u64,
    /// Processes at once (TN-09).
    pub process_count: u64,
    /// Hostcalls of a call, each item of a list counting (TN-11).
    pub hostcalls: u64,
    /// Bytes sent and received by `fetch` in a call (TN-12).
    pub egress_bytes: u64,
    /// Memory of a child in the jail (TN-13).
    pub process_memory_bytes: u64,
    /// Processes and threads of a child in the jail (TN-13).
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
    /// Of each row the smaller value: limits only narrow (TP-42).
    #[must_use]
    pub fn at_most(mut self, mut bound: Self) -> Self {
        for name in Self::NAMES {
            if let (Some(limit), Some(bound)) = (self.named(name), bound.named(name)) {
                *limit = (*limit).min(*bound);
            }
        }
        self
    }

    /// The names a policy may use, in the order of TP-34.
    pub(super) const NAMES: [&'static str; 13] = [
        "fuel",
        "memory_bytes",
        "wall_ms",
        "output_bytes",
        "http_bytes",
        "http_ms",
        "process_ms",
        "process_output_bytes",
        "process_count",
        "process_memory_bytes",
        "process_pids",
        "hostcalls",
        "egress_bytes",
    ];

    /// The limit of that name, to read or to set; none for a name outside [`Limits::NAMES`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tp_34_every_name_has_a_default_that_its_maximum_covers() {
        let (mut defaults, mut maxima) = (DEFAULTS, MAXIMA);
        for name in Limits::NAMES {
            let default = *defaults.named(name).unwrap();
            let maximum = *maxima.named(name).unwrap();
            assert!(0 < default && default <= maximum, "{name}");
        }
        assert_eq!(defaults.named("fule"), None);
    }

    #[test]
    fn tp_42_the_smaller_limit_of_each_row_holds() {
        for name in Limits::NAMES {
            let mut low = DEFAULTS;
            *low.named(name).unwrap() = 1;
            assert_eq!(DEFAULTS.at_most(low), low, "{name}");
            assert_eq!(low.at_most(DEFAULTS), low, "{name}");
            assert_ne!(low, DEFAULTS, "{name}");
        }
        assert_eq!(DEFAULTS.at_most(MAXIMA), DEFAULTS);
    }
}
