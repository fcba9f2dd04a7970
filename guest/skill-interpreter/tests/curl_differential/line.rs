//! Options and URLs as one line: clusters, glued values, `--option=value`, `--`, any order and quoting.

use super::command::{Command, Word, quoted};
use super::random::Random;

/// One option with its value, in the order of the command line.
pub(crate) struct Group {
    /// A letter that may join a cluster.
    pub(crate) letter: Option<char>,
    pub(crate) short: Option<&'static str>,
    pub(crate) long: &'static str,
    pub(crate) value: Option<Word>,
}

/// Puts all into one line.
pub(crate) fn written(
    mut command: Command,
    mut groups: Vec<Group>,
    urls: Vec<Word>,
    random: &mut Random,
) -> Command {
    command.requests = urls.len();
    random.shuffle(&mut groups);
    let mut words: Vec<(Word, Word)> = Vec::new();
    let mut cluster = String::new();
    let same = |words: &mut Vec<(Word, Word)>, word: Word| words.push((word.clone(), word));
    for group in groups {
        if let Some(letter) = group.letter
            && random.chance(2, 3)
        {
            cluster.push(letter);
            if random.chance(1, 2) {
                same(
                    &mut words,
                    Word::text(format!("-{}", std::mem::take(&mut cluster))),
                );
            }
            continue;
        }
        let Some(value) = group.value else {
            let name = match group.short {
                Some(short) if random.chance(1, 2) => short,
                _ => group.long,
            };
            same(&mut words, Word::text(name));
            continue;
        };
        let letter = group.short.and_then(|short| short.chars().nth(1));
        match (random.below(4), letter) {
            (0 | 1, Some(letter)) => {
                let option = format!("-{}{letter}", std::mem::take(&mut cluster));
                if value.is_empty() || random.chance(1, 2) {
                    same(&mut words, Word::text(option));
                    same(&mut words, value);
                } else {
                    same(&mut words, Word::text(option).then(value));
                }
            }
            (2, _) => {
                let glued = Word::text(format!("{}=", group.long)).then(value.clone());
                words.push((glued, Word::text(group.long)));
                // The real one needs two words.
                words.push((Word(Vec::new()), value));
            }
            _ => {
                same(&mut words, Word::text(group.long));
                same(&mut words, value);
            }
        }
    }
    if !cluster.is_empty() {
        same(&mut words, Word::text(format!("-{cluster}")));
    }
    place_urls(&mut words, urls, random);
    command.text = line(
        words
            .iter()
            .map(|(ours, _)| ours)
            .filter(|word| !word.0.is_empty()),
        random,
    );
    command.words = words
        .iter()
        .map(|(ours, _)| ours.clone())
        .filter(|word| !word.0.is_empty())
        .collect();
    command.real = line(words.iter().map(|(_, real)| real), random);
    command
}

/// At the end, perhaps after `--`, in front, or by `--url`.
fn place_urls(words: &mut Vec<(Word, Word)>, urls: Vec<Word>, random: &mut Random) {
    let mut after_dashes = false;
    for url in urls {
        match random.below(6) {
            0 if !after_dashes => words.insert(0, (url.clone(), url)),
            1 if !after_dashes => {
                words.push((Word::text("--url"), Word::text("--url")));
                words.push((url.clone(), url));
            }
            2 if !after_dashes => {
                words.push((Word::text("--"), Word::text("--")));
                words.push((url.clone(), url));
                after_dashes = true;
            }
            _ => words.push((url.clone(), url)),
        }
    }
}

fn line<'a>(words: impl Iterator<Item = &'a Word>, random: &mut Random) -> String {
    let mut line = "curl -q".to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&quoted(word, random));
    }
    line
}
