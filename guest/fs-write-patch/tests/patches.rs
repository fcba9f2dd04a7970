//! What a patch says and what becomes of files, rule by rule.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::expect_used,
    missing_docs
)]

#[path = "patches/loose.rs"]
mod loose;
#[path = "patches/places.rs"]
mod places;
mod support;
#[path = "patches/text.rs"]
mod text;

const ABC: &str = "a\nb\nc\n";
/// Changes `b` of [`ABC`] in a file `f`.
const EDIT_F: &str = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";

fn reject(file: &str, hunk: u64, reason: &str) -> (String, u64, String) {
    (file.to_owned(), hunk, reason.to_owned())
}
