//! The words the planner knows, by class: general English, no names of projects.
//!
//! Each class is one sorted list, split at compile time; a lookup is a binary search and builds nothing.

pub mod function_words;
pub mod nouns;
pub mod verbs;

/// A class of words.
pub type Words = &'static [&'static str];

/// How many words stand in a text. Only for [`words!`] and [`phrases!`].
#[must_use]
pub(crate) const fn count(text: &str, separator: u8) -> usize {
    let mut count = 0;
    let mut rest = text.as_bytes();
    let mut inside = false;
    while let Some((first, tail)) = rest.split_first() {
        if *first == separator {
            inside = false;
        } else if !inside {
            inside = true;
            count += 1;
        }
        rest = tail;
    }
    count
}

/// The words of a text, without blanks around them. Only for [`words!`] and [`phrases!`].
#[must_use]
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub(crate) const fn split<const N: usize>(text: &'static str, separator: u8) -> [&'static str; N] {
    let mut words = [""; N];
    let mut rest = text;
    let mut next = 0;
    while next < N {
        let bytes = rest.as_bytes();
        let mut start = 0;
        while start < bytes.len() && (bytes[start] == separator || bytes[start] == b' ') {
            start += 1;
        }
        let mut end = start;
        while end < bytes.len() && bytes[end] != separator {
            end += 1;
        }
        let (word, tail) = rest.split_at(end);
        words[next] = word.split_at(start).1;
        rest = tail;
        next += 1;
    }
    words
}

/// Declares a class of words from one text of words parted by blanks, in ascending order.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident = $text:literal) => {
        $(#[$doc])*
        pub static $name: $crate::text::lexicon::Words =
            &$crate::text::lexicon::split::<{ $crate::text::lexicon::count($text, b' ') }>($text, b' ');
    };
}
pub(crate) use words;

/// Declares a list of phrases from one text, each after a bar: `"|one phrase |another"`.
macro_rules! phrases {
    ($(#[$doc:meta])* $name:ident = $text:literal) => {
        $(#[$doc])*
        pub(crate) static $name: $crate::text::lexicon::Words =
            &$crate::text::lexicon::split::<{ $crate::text::lexicon::count($text, b'|') }>($text, b'|');
    };
}
pub(crate) use phrases;

/// Whether a word is of the class.
#[must_use]
pub fn within(words: Words, word: &str) -> bool {
    words.binary_search(&word).is_ok()
}
