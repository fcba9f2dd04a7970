//! Which of the files a prompt is about, by name alone.

use std::collections::BTreeMap;

use kit::host::ReadFiles;
use kit::host::fs_read::FsError;

use super::is_secret;
use super::walk::{Seen, request};
use super::words::{Words, each_part, says_something};
use crate::document::is_printable;
use crate::request::RelevantFile;
use crate::text::Prompt;

///
const MAX_FILES: usize = 8;

/// Paths of a prompt that are looked for.
const MAX_PATHS: usize = 20;

/// Points for what a file has in common with the prompt; pasted text gives half.
const NAMED: u32 = 200;
const NAMED_END: u32 = 160;
const NAME: u32 = 120;
const STEM: u32 = 80;

/// Points for a part of a name, by how many files have it: what many have tells little.
const PART: [(usize, u32); 3] = [(3, 24), (20, 12), (usize::MAX, 4)];

/// Points below which a file is not worth a line.
const LEAST: u32 = 12;

/// How many files have a part of the prompt's words in their names.
type Commonness<'a> = BTreeMap<&'a str, usize>;

/// What a prompt names.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Of the main text and of pasted text; relative, without `./` and line numbers.
    paths: [Vec<String>; 2],
    words: [Words; 2],
}

impl Named {
    pub(super) fn of(prompt: &Prompt) -> Self {
        let mut named = Self {
            paths: [relative(&prompt.paths), relative(&prompt.pasted_paths)],
            words: Default::default(),
        };
        let [main, pasted] = &mut named.words;
        main.add(&prompt.main);
        for (_, text) in &prompt.pasted {
            pasted.add(text);
        }
        named
    }

    /// Paths, those of the main text first.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().flatten().map(String::as_str)
    }
}

/// absolute paths and those that climb are not looked for.
fn relative(paths: &[String]) -> Vec<String> {
    let clean = |path: &String| {
        let mut path = path.trim_start_matches("./");
        // `src/a.rs:12:5`
        while let Some((rest, number)) = path.rsplit_once(':')
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            path = rest;
        }
        let path = path.trim_end_matches('/');
        let is_segment = |segment: &str| !["", ".", ".."].contains(&segment);
        let fits = path.len() <= 1_024 && path.split('/').all(is_segment) && is_printable(path);
        fits.then(|| path.to_owned())
    };
    paths.iter().filter_map(clean).take(MAX_PATHS).collect()
}

/// The most relevant files, best first.
pub(super) fn rank(
    host: &mut impl ReadFiles,
    mount: &str,
    entries: &[Seen],
    named: &Named,
) -> Vec<RelevantFile> {
    let mut commonness: Commonness<'_> = named
        .words
        .iter()
        .flat_map(|words| &words.parts)
        .map(|part| (part.as_str(), 0))
        .collect();
    for entry in entries {
        each_part(name_of(&entry.path), |part| {
            if let Some(count) = commonness.get_mut(part) {
                *count = usize::saturating_add(*count, 1);
            }
        });
    }
    let mut ranked: Vec<(u32, &str, String)> = Vec::new();
    for entry in entries {
        if let Some((points, reason)) = judge(entry, named, &commonness) {
            ranked.push((points, &entry.path, reason));
        }
    }
    let unseen = unseen(host, mount, entries, named);
    for (points, path, reason) in &unseen {
        ranked.push((*points, path, reason.clone()));
    }
    let depth = |path: &str| path.matches('/').count();
    ranked.sort_by(|(points, path, _), (others, other, _)| {
        others
            .cmp(points)
            .then_with(|| depth(path).cmp(&depth(other)))
            .then_with(|| path.cmp(other))
    });
    let files = ranked
        .into_iter()
        .filter(|(_, path, _)| is_printable(path))
        .take(MAX_FILES)
        .map(|(_, path, reason)| RelevantFile {
            path: path.to_owned(),
            reason,
        });
    files.collect()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Points and reason of an entry that has to do with the prompt.
fn judge(entry: &Seen, named: &Named, commonness: &Commonness<'_>) -> Option<(u32, String)> {
    let wheres = ["the prompt", "pasted text"];
    let mut best: Option<(u32, String)> = None;
    for (half, ((paths, words), place)) in
        named.paths.iter().zip(&named.words).zip(wheres).enumerate()
    {
        let (points, reason) = match by_path(&entry.path, paths) {
            Some(points) => (points, format!("named in {place}")),
            None if entry.is_directory || words.is_empty() => continue,
            None => match by_name(&entry.path, words, commonness, place) {
                Some(found) => found,
                None => continue,
            },
        };
        let points = if half == 0 { points } else { points / 2 };
        if points >= LEAST && best.as_ref().is_none_or(|(most, _)| points > *most) {
            best = Some((points, reason));
        }
    }
    best
}

/// Q-87 (a)
fn by_path(path: &str, named: &[String]) -> Option<u32> {
    let ends = |end: &String| {
        path.strip_suffix(end.as_str())
            .is_some_and(|rest| rest.ends_with('/'))
    };
    if named.iter().any(|named| named == path) {
        Some(NAMED)
    } else if named.iter().any(|named| named.contains('/') && ends(named)) {
        Some(NAMED_END)
    } else {
        None
    }
}

/// Q-87 (b) and (c)
fn by_name(
    path: &str,
    words: &Words,
    commonness: &Commonness<'_>,
    place: &str,
) -> Option<(u32, String)> {
    let name = name_of(path);
    let lower = name.to_lowercase();
    let stem = lower
        .split_once('.')
        .map_or(lower.as_str(), |(stem, _)| stem);
    if words.whole.contains(&lower) {
        return Some((NAME, format!("its name is in {place}")));
    }
    if says_something(stem) && words.whole.contains(stem) {
        return Some((STEM, format!("its name is in {place}")));
    }
    let mut shared: Vec<String> = Vec::new();
    each_part(
        name.split_once('.').map_or(name, |(stem, _)| stem),
        |part| {
            if words.parts.contains(part) {
                shared.push(part.to_owned());
            }
        },
    );
    shared.dedup();
    let worth = |part: &String| {
        let count = commonness.get(part.as_str()).copied().unwrap_or_default();
        PART.iter()
            .find(|(most, _)| count <= *most)
            .map_or(0, |(_, points)| *points)
    };
    let points = shared.iter().map(worth).sum::<u32>().min(STEM);
    (points > 0).then(|| (points, format!("shares {} with {place}", shared.join(", "))))
}

/// Q-87 (a): named paths that the walk did not come upon, because they are ignored or too far down.
fn unseen(
    host: &mut impl ReadFiles,
    mount: &str,
    entries: &[Seen],
    named: &Named,
) -> Vec<(u32, String, String)> {
    let mut wanted = Vec::new();
    for (paths, (points, place)) in named
        .paths
        .iter()
        .zip([(NAMED, "the prompt"), (NAMED / 2, "pasted text")])
    {
        for path in paths {
            let is_seen = entries.iter().any(|entry| entry.path == *path);
            let is_wanted = wanted.iter().any(|(_, wanted, _)| wanted == path);
            if !is_seen && !is_wanted && !is_secret(path) {
                wanted.push((points, path.clone(), format!("named in {place}")));
            }
        }
    }
    if wanted.is_empty() {
        return wanted;
    }
    // No byte is read: the answer tells whether it is there, and refuses links on the way.
    let requests: Vec<_> = wanted
        .iter()
        .map(|(_, path, _)| request(mount, path, 0))
        .collect();
    let mut answers = host.read(&requests).into_iter();
    wanted.retain(|_| matches!(answers.next(), Some(Ok(_) | Err(FsError::IsDirectory))));
    wanted
}
