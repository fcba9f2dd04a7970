//! Any bytes as a policy file: no panic, and the hash of a document does not depend on when it is read.

#![no_main]

use std::io::Write;

use hydrant_policy::Policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let file = std::env::temp_dir().join(format!("hydrant-fuzz-policy-{}", std::process::id()));
    let mut written = std::fs::File::create(&file).expect("a temporary file");
    written.write_all(data).expect("a temporary file");
    drop(written);
    if let Ok(policy) = Policy::load(&file, &[]) {
        let again = Policy::load(&file, &[]).expect("the same file again");
        assert_eq!(policy.hash(), again.hash());
    }
});
