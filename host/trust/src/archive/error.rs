//! Why there is no archive, or an archive is refused.

use hydrant_base::{FileError, escaped_path};
use std::io;
use std::path::PathBuf;

use super::PackageFile;
use crate::{BundleError, ManifestError, SignaturesError};

/// What is wrong with an archive, or with the bundle that was to become one.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file of the bundle directory cannot be read, or the archive cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The directory for the archive cannot be made.
    #[error("failed to create output directory {}: {source}", escaped_path(.path))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The manifest of the bundle cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The signatures of the bundle cannot be read.
    #[error(transparent)]
    Signatures(#[from] SignaturesError),
    /// Manifest, signatures and wasm do not belong together.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The compressor failed.
    #[error("zstd encoding failed: {0}")]
    Compress(io::Error),
    /// Not a zstd frame, a damaged one, or one with a window above 8 MiB.
    #[error("artifact is not a valid zstd stream: {0}")]
    NotZstd(io::Error),
    /// The tar stream ends before its end blocks.
    #[error("artifact is truncated")]
    Truncated,
    /// A header that does not say what a header must say.
    #[error("invalid archive header: {0}")]
    Header(&'static str),
    /// An entry name that no file of a bundle can have.
    #[error("invalid archive path: {0}")]
    Path(String),
    /// An entry that no bundle has.
    #[error("unexpected archive entry: {0} (expected top-level skill package files only)")]
    Unexpected(String),
    /// A link, a directory, a device, a sparse file, a GNU extension.
    #[error("unsupported archive entry type: {kind} ({name})")]
    EntryType {
        /// The entry's name, escaped.
        name: String,
        /// The type flag, or what stands in its place.
        kind: String,
    },
    /// A name that occurs twice.
    #[error("duplicate archive entry: {0}")]
    Duplicate(PackageFile),
    /// Something other than zeros after the end blocks, or anything after the frame.
    #[error("trailing data in archive")]
    Trailing,
    /// An archive, or an entry of it, above its limit.
    #[error("{what} exceeds maximum size ({size} bytes > {maximum} bytes)")]
    TooLarge {
        /// `artifact`, or the entry.
        what: String,
        /// What it has, or claims to have.
        size: u64,
        /// The limit.
        maximum: u64,
    },
    /// The archive decompresses to more than all entries together may have.
    #[error("artifact exceeds maximum unpacked size (more than {0} bytes)")]
    Unpacked(u64),
    /// A file that every bundle has is missing or empty.
    #[error("artifact missing required file {0}")]
    Missing(PackageFile),
}
