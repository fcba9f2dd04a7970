//! Greetings, thanks and address at the ends of a prompt.

use super::lexicon::phrases;

/// Words that greet, alone or before an address.
static GREETINGS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hiya",
    "heya",
    "howdy",
    "greetings",
    "dear",
    "yo",
    "hallo",
];
phrases! {
    /// Whom a greeting may address.
    ADDRESSED =
    "|there|claude|team|all|folks|everyone|everybody|bot|assistant|agent|buddy|mate|guys|friend|again|copilot\
     |codex|dear|pal"
}
/// Last words that thank or part.
static THANKS: &[&str] = &[
    "thanks",
    "thank",
    "thx",
    "thanx",
    "ty",
    "cheers",
    "tia",
    "appreciated",
    "appreciate",
    "regards",
    "best",
    "ta",
    "tysm",
];
phrases! {
    /// Words beside them.
    BESIDE_THANKS =
    "|you|so|very|much|a|lot|in|advance|many|lots|tons|for|your|help|kind|that|it|be|would|i|i'd|really\
     |million|again|bunch|claude|mate|and|all|the|of|please|bye"
}

fn bare(word: &str) -> String {
    word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .to_lowercase()
}

/// Byte range of the text without its greeting and thanks. Never empty for text that has words.
#[must_use]
pub fn without(text: &str) -> (usize, usize) {
    let start = opening(text);
    let rest = text.get(start..).unwrap_or_default();
    let end = start + closing(rest);
    if text
        .get(start..end)
        .is_some_and(|kept| kept.chars().any(char::is_alphanumeric))
    {
        (start, end)
    } else {
        (0, text.len())
    }
}

/// Bytes of the greeting at the start.
fn opening(text: &str) -> usize {
    let mut words = spans(text).take(5).peekable();
    let Some((_, end, first)) = words.next() else {
        return 0;
    };
    let word = bare(first);
    let mut taken = if GREETINGS.contains(&word.as_str()) {
        end
    } else if word == "good" {
        match words.next() {
            Some((_, end, second))
                if ["morning", "afternoon", "evening", "day"].contains(&bare(second).as_str()) =>
            {
                end
            }
            _ => return 0,
        }
    } else if matches!(word.as_str(), "claude" | "assistant") && first.ends_with([',', ':', '-']) {
        return end;
    } else {
        return 0;
    };
    if ends_sentence(text.get(..taken).unwrap_or_default())
        && !text.get(..taken).unwrap_or_default().ends_with(',')
    {
        return taken;
    }
    while let Some((_, end, word)) =
        words.next_if(|(_, _, word)| ADDRESSED.contains(&bare(word).as_str()))
    {
        taken = end;
        if ends_sentence(word) {
            break;
        }
    }
    taken
}

/// Bytes up to the thanks at the end.
fn closing(text: &str) -> usize {
    let all: Vec<(usize, usize, &str)> = spans(text).collect();
    let mut from = all.len();
    // Backwards over words that may stand in thanks; the last one that opens thanks after a pause counts.
    for (place, (_, _, word)) in all.iter().enumerate().rev().take(9) {
        let word = bare(word);
        if THANKS.contains(&word.as_str()) {
            let paused = place == 0
                || all
                    .get(place - 1)
                    .is_some_and(|(_, _, before)| ends_sentence(before) || before.ends_with('-'));
            if paused
                || (place >= 2
                    && place + 1 == all.len()
                    && matches!(word.as_str(), "thanks" | "thx" | "cheers" | "ty"))
            {
                from = place;
            }
        } else if !BESIDE_THANKS.contains(&word.as_str()) && place + 2 < all.len() {
            break;
        }
    }
    match all.get(from) {
        Some((start, _, _)) if from < all.len() => *start,
        _ => text.len(),
    }
}

fn ends_sentence(word: &str) -> bool {
    word.ends_with(['.', ',', '!', '?', ';', ':', '—', '–', ')'])
}

/// The words of a text with their byte ranges.
fn spans(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    text.split_whitespace().map(move |word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        (start, start + word.len(), word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_117_greetings_thanks_and_address_at_the_ends_go() {
        for (text, kept) in [
            ("hi there, fix the typo. Thanks!", "fix the typo."),
            ("Hello! what is this", "what is this"),
            ("good morning claude, rename it thanks", "rename it"),
            ("rename it. Thank you so much in advance", "rename it."),
            ("add a thanks page", "add a thanks page"),
            ("hey", "hey"),
            ("thanks", "thanks"),
            ("hello world prints twice", "world prints twice"),
        ] {
            let (start, end) = without(text);
            assert_eq!(text.get(start..end).unwrap().trim(), kept);
        }
    }
}
