//! Skill archives: one bundle as a zstd-compressed tar file, the same bytes every time.
//!
//! The writer gives the same bytes on every machine. The reader believes nothing: it accepts five
//! names, regular files and sizes within limits, and refuses everything else before it keeps a byte of
//! it. Neither touches the file system, except to read a bundle directory. A caller that unpacks an archive
//! gets a [`Package`] in memory and writes it when all checks have passed.
//!
//! Both sides use the `tar` crate. It takes base-256 sizes, stops at the first zero block and, unless asked for raw
//! entries, follows GNU long names and lets a PAX record decide the size; the reader refuses each of these.

mod error;
mod package;
mod pax;
mod read;
mod write;

#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;

pub use error::ArchiveError;
pub use package::{Package, PackageFile};
pub use read::read_archive;
pub use write::{archive, write_archive};

/// The window of an archive, 8 MiB, as a power of two. The reader allows no larger one, which
/// bounds the memory that a hostile frame can ask for.
const WINDOW_LOG: u32 = 23;

/// Everything that an archive may decompress to, headers and padding included.
const MAX_UNPACKED_BYTES: u64 = 536_870_912;
