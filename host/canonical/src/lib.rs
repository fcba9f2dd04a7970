//! Canonical JSON (JCS, RFC 8785): what digests and signatures cover.
//!
//! Each record of the chain, each operation of a skill and each bundle has a digest, so this is written in one pass: members
//! are put in order where their object ends. `serde_json_canonicalizer`, against which it is tested, keeps every member in
//! buffers of its own and reads each name again: it takes 5.6 times the instructions, which were a fifth more of reading a
//! skill.

mod exact;
mod writer;

use std::io;

use serde::Serialize;

pub use self::exact::{Json, Numeral};
use self::writer::{Members, Writer};

/// How whole numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integers {
    /// As the double that is nearest, which RFC 8785 says: above 2^53 the last digits may be others.
    AsDoubles,
    /// With all their digits.
    Exact,
}

/// A value in canonical JSON: members ordered by the UTF-16 units of their names, no space, the shortest digits of fractions.
/// Not-a-number and the infinities, which RFC 8785 refuses, are `null`, as `serde_json` has them.
///
/// # Errors
///
/// Of a value that JSON cannot express: a map whose keys are no strings, an object with two members of one name.
pub fn to_vec<T: Serialize + ?Sized>(
    value: &T,
    integers: Integers,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut members = Members::new(integers);
    let writer = Writer(&mut members);
    value.serialize(&mut serde_json::Serializer::with_formatter(
        io::sink(),
        writer,
    ))?;
    Ok(members.into_bytes())
}

#[cfg(test)]
mod tests;
