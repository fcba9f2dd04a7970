//! The default catalogue: every file of `examples/catalog/`, by value, its front matter parsed by the build script.

use super::File;
use super::load::Text;

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// Its files, packs included, as they are loaded.
pub(super) fn texts() -> Vec<Text<'static>> {
    FILES
        .iter()
        .map(|(path, text, front)| Text {
            path,
            text,
            front: (!front.is_empty()).then_some(*front),
        })
        .collect()
}

/// Its paths and texts, packs included.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().map(|(path, text, _)| (*path, *text))
}

/// Its files, packs included.
#[must_use]
pub fn files() -> Vec<File> {
    all()
        .map(|(path, text)| File {
            path: path.to_owned(),
            text: text.to_owned(),
        })
        .collect()
}
