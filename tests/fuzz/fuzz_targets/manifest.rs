//! Any bytes as a manifest, signatures, a key ring and bundle-meta: no panic, and what is read and written again is the
//! same value with the same hash.

#![no_main]

use hydrant_base::pretty_json;
use hydrant_trust::{BundleMeta, KeyRing, Manifest, ManifestV1, Signatures};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(manifest) = Manifest::parse(data) {
        let again = Manifest::parse(&pretty_json(&manifest)).expect("what was written can be read");
        assert_eq!(again, manifest);
        assert_eq!(again.hash(), manifest.hash());
    }
    if let Ok(signatures) = Signatures::parse(data) {
        let again = Signatures::parse(&pretty_json(&signatures)).expect("what was written can be read");
        assert_eq!(again.hash(), signatures.hash());
    }
    let _ = ManifestV1::parse(data);
    let _ = BundleMeta::parse(data);
    if let Ok(ring) = KeyRing::parse(data) {
        let _ = ring.check_pins_form(2);
    }
});
