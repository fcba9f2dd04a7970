//! The URL guard: from what a caller named to the bytes of a document, or to nothing.
//!
//! One path for every frontend, and one order of checks; the first failure ends the load. [`address`] looks at the text
//! alone, [`fetch()`] contacts a server or opens a file. Neither reads the document.

mod address;
mod fetch;

#[cfg(test)]
mod tests;

pub use address::{Address, Frontend, Place, address};
pub use fetch::{Document, Fetch, fetch, given};
