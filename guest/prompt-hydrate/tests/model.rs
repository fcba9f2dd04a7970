//! The committed model is what training gives.
#![expect(
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test that shares the trainer's code"
)]

#[path = "../examples/train/mod.rs"]
mod training;

use prompt_hydrate::catalogue::Catalogue;

#[test]
fn training_again_gives_the_committed_weights() {
    let trained = training::trained(&Catalogue::embedded(&[])).bytes();
    let committed = include_bytes!("../src/route/model.bin");
    assert!(committed.len() <= 256 * 1024);
    assert!(
        trained == committed,
        "run `cargo run --release -p prompt-hydrate --example train`"
    );
}
