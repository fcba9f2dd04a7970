//! Black-box tests of bundles, pins, policy layers, receipts and the audit record. One
//! module for each subject.
//!
//! Everything runs the binary in a private folder with an empty environment. What the tests compare
//! with (canonical JSON, signatures, locks, tar headers) is made by code of their own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "bundles_and_trust/bundle.rs"]
mod bundle;
#[path = "bundles_and_trust/canonical.rs"]
mod canonical;
#[path = "bundles_and_trust/execution.rs"]
mod execution;
#[path = "bundles_and_trust/guests.rs"]
mod guests;
#[path = "bundles_and_trust/hostcalls.rs"]
mod hostcalls;
#[path = "bundles_and_trust/key_making.rs"]
mod key_making;
#[path = "bundles_and_trust/keys.rs"]
mod keys;
#[path = "bundles_and_trust/loopback.rs"]
mod loopback;
#[path = "bundles_and_trust/program.rs"]
mod program;
#[path = "bundles_and_trust/root.rs"]
mod root;
#[path = "bundles_and_trust/tarball.rs"]
mod tarball;

#[path = "bundles_and_trust/archive.rs"]
mod archive;
#[path = "bundles_and_trust/audit.rs"]
mod audit;
#[path = "bundles_and_trust/audit_targets.rs"]
mod audit_targets;
#[path = "bundles_and_trust/ceiling.rs"]
mod ceiling;
#[path = "bundles_and_trust/core_modules.rs"]
mod core_modules;
#[path = "bundles_and_trust/core_outcomes.rs"]
mod core_outcomes;
#[path = "bundles_and_trust/core_state.rs"]
mod core_state;
#[path = "bundles_and_trust/cosign.rs"]
mod cosign;
#[path = "bundles_and_trust/defects.rs"]
mod defects;
#[path = "bundles_and_trust/embedding.rs"]
mod embedding;
#[path = "bundles_and_trust/export.rs"]
mod export;
#[path = "bundles_and_trust/formats.rs"]
mod formats;
#[path = "bundles_and_trust/golden.rs"]
mod golden;
#[path = "bundles_and_trust/hostile_archives.rs"]
mod hostile_archives;
#[path = "bundles_and_trust/hostile_code.rs"]
mod hostile_code;
#[path = "bundles_and_trust/layers.rs"]
mod layers;
#[path = "bundles_and_trust/listing.rs"]
mod listing;
#[path = "bundles_and_trust/lock_signing.rs"]
mod lock_signing;
#[path = "bundles_and_trust/lock_update.rs"]
mod lock_update;
#[path = "bundles_and_trust/min_signers.rs"]
mod min_signers;
#[path = "bundles_and_trust/mutation.rs"]
mod mutation;
#[path = "bundles_and_trust/own_pins.rs"]
mod own_pins;
#[path = "bundles_and_trust/packing.rs"]
mod packing;
#[path = "bundles_and_trust/pinned_bundles.rs"]
mod pinned_bundles;
#[path = "bundles_and_trust/pinned_components.rs"]
mod pinned_components;
#[path = "bundles_and_trust/pinned_lock.rs"]
mod pinned_lock;
#[path = "bundles_and_trust/receipts.rs"]
mod receipts;
#[path = "bundles_and_trust/registry.rs"]
mod registry;
#[path = "bundles_and_trust/reports.rs"]
mod reports;
#[path = "bundles_and_trust/run_bundle.rs"]
mod run_bundle;
#[path = "bundles_and_trust/run_paths.rs"]
mod run_paths;
#[path = "bundles_and_trust/run_pinned.rs"]
mod run_pinned;
#[path = "bundles_and_trust/store.rs"]
mod store;
#[path = "bundles_and_trust/usage.rs"]
mod usage;
#[path = "bundles_and_trust/verify_bundle.rs"]
mod verify_bundle;
#[path = "bundles_and_trust/widening.rs"]
mod widening;
