//! Two bytes that every match holds side by side, and the quick search for them (TS-72).
//!
//! Case-insensitive words are the most frequent patterns, and the ones that the vector instructions of WebAssembly
//! have no ready-made search for. Two neighbouring letters of the word, each in both its cases, are looked for
//! with plain comparisons of whole blocks, which the compiler turns into vectors.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Bytes that are compared before looking at the outcome.
const BLOCK: usize = 64;

/// Two neighbouring bytes of every match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Required {
    first: Letter,
    second: Letter,
}

/// One byte, or an ASCII letter in both its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Letter {
    /// Set before comparing: the bit that tells the cases of a letter apart, or nothing.
    fold: u8,
    /// What the byte then is.
    byte: u8,
}

impl Letter {
    fn is(self, byte: u8) -> bool {
        byte | self.fold == self.byte
    }

    /// How seldom it is in source text: larger is rarer.
    fn rarity(self) -> usize {
        // By frequency in source code and prose; what is not here is rarer still.
        const FREQUENT: &[u8] = b" etaionrslcdpum_fhgb.vy,()w=;:\"-/k01x'2";
        FREQUENT
            .iter()
            .position(|byte| *byte == self.byte)
            .unwrap_or(FREQUENT.len())
    }
}

impl Required {
    /// The rarest two neighbouring bytes that every match of the pattern holds.
    pub(crate) fn of(pattern: &Hir) -> Option<Self> {
        let mut pattern = pattern;
        while let HirKind::Capture(capture) = pattern.kind() {
            pattern = &capture.sub;
        }
        let parts = match pattern.kind() {
            HirKind::Concat(parts) => parts.as_slice(),
            _ => std::slice::from_ref(pattern),
        };
        let mut letters = Vec::new();
        for part in parts {
            match part.kind() {
                HirKind::Literal(literal) => {
                    let plain = |byte: &u8| {
                        Some(Letter {
                            fold: 0,
                            byte: *byte,
                        })
                    };
                    letters.extend(literal.0.iter().map(plain));
                }
                HirKind::Class(class) => letters.push(both_cases(class)),
                // It has no width, so that its neighbours are neighbours.
                HirKind::Look(_) => {}
                _ => letters.push(None),
            }
        }
        let pairs = letters.windows(2).filter_map(|pair| match pair {
            [Some(first), Some(second)] => Some(Self {
                first: *first,
                second: *second,
            }),
            _ => None,
        });
        pairs.max_by_key(|pair| pair.first.rarity().saturating_add(pair.second.rarity()))
    }

    /// The offset of the first of them in `text`.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let (firsts, seconds) = (text, text.get(1..)?);
        let blocks = firsts.chunks_exact(BLOCK).zip(seconds.chunks_exact(BLOCK));
        let passed = blocks
            .take_while(|(firsts, seconds)| !self.is_in_block(firsts, seconds))
            .count()
            .saturating_mul(BLOCK);
        let rest = text.get(passed..)?;
        let pairs = rest.iter().zip(rest.get(1..)?);
        let found = pairs
            .map(|(first, second)| self.first.is(*first) && self.second.is(*second))
            .position(|both| both);
        found.map(|at| passed.saturating_add(at))
    }

    /// Without a branch for each byte, so that a block is a few vector instructions.
    fn is_in_block(&self, firsts: &[u8], seconds: &[u8]) -> bool {
        firsts
            .iter()
            .zip(seconds)
            .map(|(first, second)| self.first.is(*first) & self.second.is(*second))
            .fold(false, |any, both| any | both)
    }
}

/// The letter whose two cases a class is. With Unicode, `k` and `s` have more: those are none.
fn both_cases(class: &Class) -> Option<Letter> {
    let bytes: Vec<u8> = match class {
        Class::Unicode(class) => {
            let ends = class
                .ranges()
                .iter()
                .map(|range| (range.start(), range.end()));
            ends.map(|(start, end)| {
                (start == end && start.is_ascii()).then(|| u8::try_from(start).ok())?
            })
            .collect::<Option<_>>()?
        }
        Class::Bytes(class) => {
            let ends = class
                .ranges()
                .iter()
                .map(|range| (range.start(), range.end()));
            ends.map(|(start, end)| (start == end).then_some(start))
                .collect::<Option<_>>()?
        }
    };
    match bytes.as_slice() {
        [upper, lower] if upper.is_ascii_uppercase() && upper.to_ascii_lowercase() == *lower => {
            Some(Letter {
                fold: 0x20,
                byte: *lower,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_syntax::ParserBuilder;

    fn required(pattern: &str, case_sensitive: bool) -> Option<Required> {
        let mut parser = ParserBuilder::new();
        let parser = parser
            .utf8(false)
            .multi_line(true)
            .case_insensitive(!case_sensitive);
        Required::of(&parser.build().parse(pattern).unwrap())
    }

    fn shown(pattern: &str, case_sensitive: bool) -> Option<String> {
        required(pattern, case_sensitive).map(|pair| {
            let bytes = [pair.first.byte, pair.second.byte];
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    #[test]
    fn the_rarest_pair_of_every_match_is_chosen() {
        for (pattern, pair) in [
            ("TODO", Some("do")),
            ("quiz", Some("qu")),
            (r"fn\s+main", Some("fn")),
            (r"^\bgo\b", Some("go")),
            ("(a(bc))", None),
            ("(zq)", Some("zq")),
            ("ab|cd", None),
            ("a+b", None),
            ("k", None),
            ("ask", None),
            ("", None),
            ("[ab]c", None),
        ] {
            assert_eq!(shown(pattern, false).as_deref(), pair, "{pattern}");
        }
        assert_eq!(shown("a[Bb]c", true).as_deref(), Some("bc"));
        assert_eq!(shown("As", true).as_deref(), Some("As"));
    }

    #[test]
    fn a_byte_that_differs_only_in_the_case_bit_of_no_letter_is_not_a_match() {
        let pair = required(r"@\[", false).unwrap();
        assert_eq!(pair.find(b"`{ @["), Some(3));
    }

    proptest! {
        #[test]
        fn the_quick_search_finds_what_the_slow_one_finds(
            text in proptest::collection::vec(prop_oneof![Just(b'q'), Just(b'Z'), Just(b'z'), Just(b'.'), Just(0xFF)], 0..300),
            padding in 0..200_usize,
        ) {
            let pair = required("qz", false).unwrap();
            let mut padded = vec![b'.'; padding];
            padded.extend_from_slice(&text);
            let slow = padded.windows(2).position(|two| two.eq_ignore_ascii_case(b"qz"));
            prop_assert_eq!(pair.find(&padded), slow);
        }
    }
}
