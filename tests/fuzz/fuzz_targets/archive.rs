//! Any bytes as an archive, and as the tar within one: no panic, no unbounded memory, and what is accepted makes the same
//! package when it is written and read again.

#![no_main]

use hydrant_trust::archive::{archive, read_archive};
use libfuzzer_sys::fuzz_target;

fn check(bytes: &[u8]) {
    if let Ok(package) = read_archive(bytes) {
        // The files need not belong together; the writer says so then.
        if let Ok(written) = archive(&package) {
            assert_eq!(read_archive(&written).expect("what was written can be read"), package);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    check(data);
    // Compressed here, so that mutations reach the entries.
    if let Ok(compressed) = zstd::bulk::compress(data, 1) {
        check(&compressed);
    }
});
