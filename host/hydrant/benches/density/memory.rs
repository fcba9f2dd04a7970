//! What the kernel says of this process's memory.

use std::fs;

use serde::{Deserialize, Serialize};

const KIB: u64 = 1024;

/// In bytes, but for counts.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// All that is in memory.
    pub(crate) resident: u64,
    /// Of that, what guests have touched of their memories.
    pub(crate) guests: u64,
    /// Of the rest, what is in memory as part of a file.
    pub(crate) of_files: u64,
    /// What the kernel needs to find it.
    pub(crate) page_tables: u64,
    /// How many mappings there are.
    pub(crate) mappings: u64,
    pub(crate) threads: u64,
}

impl Memory {
    /// As it is; `pool` is where guests have their memories.
    pub(crate) fn now(pool: Option<&Range>) -> Self {
        let mut memory = Self {
            resident: 0,
            guests: 0,
            of_files: 0,
            page_tables: of_status("VmPTE:") * KIB,
            mappings: 0,
            threads: of_status("Threads:"),
        };
        let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
        let (mut of_guest, mut of_file) = (false, false);
        for line in smaps.lines() {
            if let Some(range) = Range::of(line) {
                memory.mappings += 1;
                of_guest = pool.is_some_and(|pool| pool.holds(&range));
                of_file = line.contains(" /");
            } else if let Some(kib) = line.strip_prefix("Rss:") {
                let bytes = number(kib) * KIB;
                memory.resident += bytes;
                if of_guest {
                    memory.guests += bytes;
                } else if of_file {
                    memory.of_files += bytes;
                }
            }
        }
        memory
    }

    /// What guests have not touched.
    pub(crate) fn beyond(&self) -> u64 {
        self.resident - self.guests
    }
}

fn of_status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    number(lines.find_map(|line| line.strip_prefix(name)).unwrap())
}

fn number(text: &str) -> u64 {
    text.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Addresses.
#[derive(Debug)]
pub(crate) struct Range {
    from: u64,
    to: u64,
}

impl Range {
    /// The largest mapping there is.
    pub(crate) fn largest() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let ranges = maps.lines().filter_map(Self::of);
        ranges.max_by_key(Self::length).unwrap()
    }

    pub(crate) fn length(&self) -> u64 {
        self.to - self.from
    }

    /// Of a line that describes a mapping.
    fn of(line: &str) -> Option<Self> {
        let (from, rest) = line.split_once('-')?;
        let (to, _) = rest.split_once(' ')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            from: address(from)?,
            to: address(to)?,
        })
    }

    fn holds(&self, other: &Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }
}
