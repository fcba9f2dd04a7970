//! Archives that are larger than they may be, or would become so.

use super::super::super::PackageFile;
use super::super::super::testing::{BLOCK, Raw, package, tar_of, tar_with};
use super::{MANIFEST, WASM, read_bytes, read_tar, refused, small};
use crate::limits::MAX_ARCHIVE_BYTES;

#[test]
fn sizes_are_refused_by_their_headers_alone() {
    // The bodies are not there: that the message speaks of the size shows that none was read.
    for (name, maximum) in [
        (MANIFEST, 1_048_576_u64),
        ("signatures.json", 1_048_576),
        ("sbom.spdx.json", 1_048_576),
        ("sigstore.bundle.json", 1_048_576),
        (WASM, 16_777_216),
    ] {
        for size in [maximum + 1, 0o77_777_777_777] {
            let entry = Raw::new(name, b"").size(format!("{size:011o}\0").as_bytes());
            let message = format!(
                "artifact entry {name} exceeds maximum size ({size} bytes > {maximum} bytes)"
            );
            refused(&[entry], &message);
        }
    }
    let pax = Raw::new("x", b"").kind(b'x').size(b"00004000001\0");
    refused(
        &[pax],
        "artifact PAX header exceeds maximum size (1048577 bytes",
    );
}

#[test]
fn the_largest_files_are_read() {
    let full = package(&[
        (PackageFile::Manifest, vec![b'm'; 1_048_576].as_slice()),
        (PackageFile::Wasm, &vec![b'w'; 16_777_216]),
    ]);
    assert_eq!(read_tar(&tar_of(&full)).unwrap(), full);
}

#[test]
fn bombs_are_stopped_at_the_limit() {
    let message = "artifact exceeds maximum unpacked size (more than 536870912 bytes)";
    // A gibibyte of zeros after a good archive.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut tar_of(&small()).as_slice(), &mut encoder).unwrap();
    let zeros = std::io::Read::take(std::io::repeat(0), 1 << 30);
    std::io::copy(&mut { zeros }, &mut encoder).unwrap();
    assert_eq!(read_bytes(&encoder.finish().unwrap()).unwrap_err(), message);

    // Global PAX headers without end, each within its own limit.
    let header = Raw::pax(b'g', &[("comment", &"x".repeat(1_000_000))]);
    let block = tar_with(&[header]);
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..600 {
        std::io::Write::write_all(&mut encoder, &block[..block.len() - 2 * BLOCK]).unwrap();
    }
    assert_eq!(read_bytes(&encoder.finish().unwrap()).unwrap_err(), message);
}

#[test]
fn a_frame_that_asks_for_a_larger_window_is_refused() {
    let tar = tar_of(&small());
    let framed = |window: u32| {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window).unwrap();
        std::io::Write::write_all(&mut encoder, &tar).unwrap();
        encoder.finish().unwrap()
    };
    assert_eq!(read_bytes(&framed(23)).unwrap(), small());
    for window in [24, 27] {
        let error = read_bytes(&framed(window)).unwrap_err();
        assert!(error.contains("not a valid zstd stream"), "{error}");
    }
}

#[test]
fn an_archive_above_its_limit_is_not_looked_at() {
    let length = usize::try_from(MAX_ARCHIVE_BYTES).unwrap() + 1;
    assert_eq!(
        read_bytes(&vec![0; length]).unwrap_err(),
        "artifact exceeds maximum size (134217729 bytes > 134217728 bytes)"
    );
}
