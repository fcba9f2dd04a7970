//! Any bytes as a lock and as its signatures: no panic, and a lock without faults is its own canonical form.

#![no_main]

use hydrant_trust::{Lock, LockSignatures};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(lock) = Lock::parse(data) {
        let written = lock.to_bytes();
        let again = Lock::parse(&written).expect("what was written can be read");
        assert_eq!(again.to_bytes(), written);
        if lock.check_form(data).is_empty() {
            assert_eq!(written, data, "a lock without faults has one form");
        }
    }
    if let Ok(signatures) = LockSignatures::parse(data) {
        assert_eq!(signatures.to_bytes(), data, "signatures have one form");
    }
});
