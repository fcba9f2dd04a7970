//! Archives for tests: good ones, and the parts to make bad ones of.

use std::collections::BTreeMap;

use super::write::write_tar;
use super::{Package, PackageFile};
use crate::vectors;

/// Headers, bodies and the end of a tar stream come in blocks of this many bytes.
pub(super) const BLOCK: usize = 512;

/// A package of these files.
pub fn package(files: &[(PackageFile, &[u8])]) -> Package {
    let files = files.iter().map(|(file, bytes)| (*file, bytes.to_vec()));
    Package::new(files.collect()).unwrap()
}

/// The worked bundle, signed by both of its signers.
pub(crate) fn signed_package() -> Package {
    package(&[
        (PackageFile::Manifest, vectors::MANIFEST.as_bytes()),
        (PackageFile::Wasm, &vectors::WASM),
        (
            PackageFile::Signatures,
            vectors::signatures_json().as_bytes(),
        ),
    ])
}

/// `package` with a file changed, or removed where `change` gives none.
pub fn with(
    package: &Package,
    file: PackageFile,
    change: impl FnOnce(&str) -> Option<String>,
) -> Package {
    let mut files: BTreeMap<_, _> = package
        .files()
        .map(|(file, bytes)| (file, bytes.to_vec()))
        .collect();
    let old = String::from_utf8(files.remove(&file).unwrap_or_default()).unwrap();
    if let Some(new) = change(&old) {
        assert_ne!(new, old);
        files.insert(file, new.into_bytes());
    }
    Package::new(files).unwrap()
}

/// The tar bytes of a package.
pub(super) fn tar_of(package: &Package) -> Vec<u8> {
    write_tar(package, Vec::new()).unwrap()
}

/// A frame around tar bytes.
pub(super) fn compressed(tar: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(tar, 1).unwrap()
}

/// One entry of a hostile archive.
pub(super) struct Raw {
    pub(super) header: [u8; BLOCK],
    pub(super) body: Vec<u8>,
}

impl Raw {
    /// A regular entry, as any tar program writes it.
    pub(super) fn new(name: &str, body: &[u8]) -> Self {
        let mut raw = Self {
            header: [0; BLOCK],
            body: body.to_vec(),
        };
        raw.set(0, name.as_bytes());
        raw.set(100, b"0000644\0");
        raw.set(124, format!("{:011o}\0", body.len()).as_bytes());
        raw.set(156, b"0");
        raw.set(257, b"ustar\x0000");
        raw
    }

    /// A PAX header with these records.
    pub(super) fn pax(kind: u8, records: &[(&str, &str)]) -> Self {
        let mut body = String::new();
        for (key, value) in records {
            let rest = key.len() + value.len() + 3;
            let length = (rest..).find(|n| *n == rest + n.to_string().len()).unwrap();
            body.push_str(&format!("{length} {key}={value}\n"));
        }
        Self::new("PaxHeaders/x", body.as_bytes()).kind(kind)
    }

    pub(super) fn kind(mut self, kind: u8) -> Self {
        self.set(156, &[kind]);
        self
    }

    pub(super) fn size(mut self, field: &[u8]) -> Self {
        self.set(124, field);
        self
    }

    /// Overwrites a field and makes the checksum fit again.
    pub(super) fn set(&mut self, offset: usize, bytes: &[u8]) {
        self.header[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.header[148..156].fill(b' ');
        let sum: u32 = self.header.iter().map(|byte| u32::from(*byte)).sum();
        self.header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
}

/// The tar bytes of these entries, with padding and end blocks.
pub(super) fn tar_with(entries: &[Raw]) -> Vec<u8> {
    let mut tar = Vec::new();
    for entry in entries {
        tar.extend_from_slice(&entry.header);
        tar.extend_from_slice(&entry.body);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    tar
}
