//! The committed model is what training gives.
#![expect(
    dead_code,
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    reason = "a test that shares the trainer's code"
)]

#[path = "../examples/train/mod.rs"]
mod training;

use prompt_hydrate::catalogue::Catalogue;

#[test]
fn q_136_training_again_gives_the_committed_weights() {
    let trained = training::trained(&Catalogue::embedded(&[])).bytes();
    let committed = include_bytes!("../src/route/model.bin");
    assert!(committed.len() <= 640 * 1024);
    assert!(
        trained == committed,
        "run `cargo run --release -p prompt-hydrate --example train`"
    );
}
