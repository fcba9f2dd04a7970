//! A cheap test that spares most words of the catalogue a closer look: which pairs of first letters a prompt has.

/// First two letters of words, as a set.
#[derive(Default)]
pub(super) struct Prefixes([u64; 16]);

/// The bit of a word; words that do not start with two plain letters share one.
fn bit(word: &str) -> usize {
    let mut letters = word
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| usize::from(byte.to_ascii_lowercase() & 31));
    match (letters.next(), letters.next()) {
        (Some(one), Some(two)) if word.is_ascii() => one * 32 + two,
        _ => 0,
    }
}

impl Prefixes {
    /// Of these words.
    #[must_use]
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut set = Self::default();
        for word in words {
            let bit = bit(word);
            if let Some(part) = set.0.get_mut(bit / 64) {
                *part |= 1 << (bit % 64);
            }
        }
        set
    }

    /// Whether a word with the same first letters is among them; true for a word of odd letters.
    #[must_use]
    pub(super) fn may_have(&self, word: &str) -> bool {
        let bit = bit(word);
        bit == 0
            || self
                .0
                .get(bit / 64)
                .is_some_and(|part| part & (1 << (bit % 64)) != 0)
    }

    /// Whether all long plain words of a phrase may be among them.
    #[must_use]
    pub(super) fn may_say(&self, phrase: &str) -> bool {
        phrase
            .split_whitespace()
            .filter(|word| word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
            .all(|word| self.may_have(word))
    }
}
