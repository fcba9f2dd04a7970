//! The limits a call runs under: the defaults and maxima of the host, and what a policy may make of them.
//!
//! A limit that is not in the table does not exist. A policy may raise a default up to its maximum and never beyond it.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// Makes of each row, its default and its maximum, a member of [`Limits`] and one of [`StatedLimits`].
macro_rules! limits {
    ($($(#[$about:meta])* $name:ident: $default:literal to $maximum:literal;)*) => {
        /// The effective limits of a call: of each row the policy's value, else the default.
        ///
        /// Names end in their unit: `_bytes`, `_ms` (milliseconds); the others count.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits {
            $($(#[$about])* pub $name: u64,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        /// No policy is valid that asks for more.
        pub(super) const MAXIMA: Limits = Limits { $($name: $maximum,)* };

        impl Limits {
            /// Of each row the smaller value: limits only narrow.
            #[must_use]
            pub fn at_most(self, bound: Self) -> Self {
                Self { $($name: self.$name.min(bound.$name),)* }
            }
        }

        /// The limits that a document states.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct StatedLimits {
            $(
                $(#[$about])*
                #[schemars(extend("type" = "integer", "minimum" = 1, "maximum" = MAXIMA.$name, "default" = Limits::default().$name))]
                $name: Limit<$maximum>,
            )*
        }

        impl StatedLimits {
            /// Of each row the stated value, else that of `others`.
            pub(super) fn or(&self, others: Limits) -> Limits {
                Limits { $($name: self.$name.0.unwrap_or(others.$name),)* }
            }
        }
    };
}

limits! {
    /// Instructions of WebAssembly that a component may execute, in units of fuel.
    fuel: 20_000_000_000 to 200_000_000_000;
    /// Memory of a component in bytes, all its memories together.
    memory_bytes: 268_435_456 to 1_073_741_824;
    /// Time of a call in milliseconds, from its start to its answer.
    wall_ms: 130_000 to 660_000;
    /// Bytes of a component's answer.
    output_bytes: 16_777_216 to 16_777_216;
    /// Bytes of the body of one HTTP response, after decompression.
    http_bytes: 4_194_304 to 8_388_608;
    /// Time of one HTTP request in milliseconds, redirects included.
    http_ms: 30_000 to 120_000;
    /// Time of one process in milliseconds.
    process_ms: 600_000 to 600_000;
    /// Bytes that are kept of each output stream of a process.
    process_output_bytes: 1_048_576 to 8_388_608;
    /// Processes that run at once in a call.
    process_count: 10 to 10;
    /// Calls of a component to the host; each item of a list counts.
    hostcalls: 500_000 to 5_000_000;
    /// Bytes that a call sends and receives over HTTP.
    egress_bytes: 134_217_728 to 1_073_741_824;
    /// Memory of a process in the jail, in bytes.
    process_memory_bytes: 2_147_483_648 to 17_179_869_184;
    /// Processes and threads in one jail.
    process_pids: 256 to 4096;
}

/// A limit that a document may state, from 1 to a maximum.
#[derive(Clone, Copy, Debug, Default, JsonSchema)]
struct Limit<const MAXIMUM: u64>(Option<u64>);

impl<'de, const MAXIMUM: u64> Deserialize<'de> for Limit<MAXIMUM> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(Self::default())
    }
}

impl<const MAXIMUM: u64> Visitor<'_> for Limit<MAXIMUM> {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a whole number from 1 to {MAXIMUM}")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self, E> {
        if (1..=MAXIMUM).contains(&number) {
            return Ok(Self(Some(number)));
        }
        let rule = format!("must be from 1 to {MAXIMUM}, not {number}");
        Err(E::custom(rule))
    }

    /// Any other number, as written.
    fn visit_str<E: Error>(self, number: &str) -> Result<Self, E> {
        let rule = format!("must be a whole number from 1 to {MAXIMUM}, not {number}");
        Err(E::custom(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_at_most_its_maximum_and_the_smaller_limit_holds() {
        let defaults = Limits::default();
        assert_eq!(defaults.at_most(MAXIMA), defaults);
        let low = Limits {
            fuel: 1,
            ..defaults
        };
        assert_eq!(defaults.at_most(low), low);
        assert_eq!(low.at_most(defaults), low);
    }
}
