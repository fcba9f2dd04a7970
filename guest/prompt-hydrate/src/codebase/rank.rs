//! Which of the files a prompt is about, by name alone.

use std::collections::BTreeMap;

use kit::host::ReadFiles;
use kit::host::fs_read::FsError;
use kit::path::Path;

use super::is_secret;
use super::walk::{Seen, request};
use super::words::{Words, each_part, says_something};
use crate::document::is_printable;
use crate::request::RelevantFile;
use crate::text::Prompt;

/// Files that are named.
const MAX_FILES: usize = 8;

/// Paths of a prompt that are looked for.
const MAX_PATHS: usize = 20;

/// Points for what a file has in common with the prompt.
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
#[derive(Debug)]
pub(super) struct Named([Source; 2]);

/// The main text, or the pasted text.
#[derive(Debug)]
struct Source {
    /// Its name in a reason.
    name: &'static str,
    /// What points are divided by.
    divisor: u32,
    /// Relative, without `./` and line numbers.
    paths: Vec<String>,
    words: Words,
}

impl Named {
    pub(super) fn new(prompt: &Prompt) -> Self {
        let mut main = Words::default();
        main.add(&prompt.main);
        let mut pasted = Words::default();
        for (_, text) in &prompt.pasted {
            pasted.add(text);
        }
        Self([
            Source {
                name: "the prompt",
                divisor: 1,
                paths: relative(&prompt.paths),
                words: main,
            },
            Source {
                name: "pasted text",
                divisor: 2,
                paths: relative(&prompt.pasted_paths),
                words: pasted,
            },
        ])
    }

    /// Paths, those of the main text first.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let paths = self.0.iter().flat_map(|source| &source.paths);
        paths.map(String::as_str)
    }
}

/// Paths without `./` and line numbers; absolute ones and those that climb are not looked for.
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

/// A file that has to do with the prompt.
struct Ranked {
    points: u32,
    path: String,
    reason: String,
}

/// Returns the most relevant files, best first.
pub(super) fn rank(
    host: &mut impl ReadFiles,
    root: &Path,
    entries: &[Seen],
    named: &Named,
) -> Vec<RelevantFile> {
    let parts = named.0.iter().flat_map(|source| &source.words.parts);
    let mut commonness: Commonness<'_> = parts.map(|part| (part.as_str(), 0)).collect();
    for entry in entries {
        each_part(name_of(&entry.path), |part| {
            if let Some(count) = commonness.get_mut(part) {
                *count = usize::saturating_add(*count, 1);
            }
        });
    }
    let judged = entries
        .iter()
        .filter_map(|entry| judge(entry, named, &commonness));
    let mut ranked: Vec<Ranked> = judged.chain(unseen(host, root, entries, named)).collect();
    ranked.retain(|file| is_printable(&file.path));
    let depth = |file: &Ranked| file.path.matches('/').count();
    ranked.sort_by(|one, other| {
        (other.points, depth(one), &one.path).cmp(&(one.points, depth(other), &other.path))
    });
    let files = ranked.into_iter().take(MAX_FILES);
    files
        .map(|Ranked { path, reason, .. }| RelevantFile { path, reason })
        .collect()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns an entry that has to do with the prompt, for the better of its reasons.
fn judge(entry: &Seen, named: &Named, commonness: &Commonness<'_>) -> Option<Ranked> {
    let reasons = named.0.iter().filter_map(|source| {
        let (points, reason) = match by_path(&entry.path, &source.paths) {
            Some(points) => (points, format!("named in {}", source.name)),
            None if entry.is_directory => return None,
            None => by_name(&entry.path, source, commonness)?,
        };
        let points = points.checked_div(source.divisor)?;
        (points >= LEAST).then(|| Ranked {
            points,
            path: entry.path.clone(),
            reason,
        })
    });
    // Of equal ones the first.
    reasons.reduce(|best, next| {
        if next.points > best.points {
            next
        } else {
            best
        }
    })
}

/// Points of a path that is named.
fn by_path(path: &str, named: &[String]) -> Option<u32> {
    let is_end = |end: &String| {
        let before = path.strip_suffix(end.as_str());
        end.contains('/') && before.is_some_and(|before| before.ends_with('/'))
    };
    if named.iter().any(|named| named == path) {
        Some(NAMED)
    } else {
        named.iter().any(is_end).then_some(NAMED_END)
    }
}

/// Points of a file whose name, or a part of it, is in the text.
fn by_name(path: &str, source: &Source, commonness: &Commonness<'_>) -> Option<(u32, String)> {
    let Source { name, words, .. } = source;
    let file = name_of(path);
    let lower = file.to_lowercase();
    let is_stem = says_something(stem(&lower)) && words.whole.contains(stem(&lower));
    if words.whole.contains(&lower) || is_stem {
        let points = if words.whole.contains(&lower) {
            NAME
        } else {
            STEM
        };
        return Some((points, format!("its name is in {name}")));
    }
    let mut shared: Vec<String> = Vec::new();
    each_part(stem(file), |part| {
        if words.parts.contains(part) {
            shared.push(part.to_owned());
        }
    });
    shared.dedup();
    let worth = |part: &String| {
        let count = commonness.get(part.as_str()).copied().unwrap_or_default();
        let worth = PART.iter().find(|(most, _)| count <= *most);
        worth.map_or(0, |(_, points)| *points)
    };
    let points = shared.iter().map(worth).sum::<u32>().min(STEM);
    (points > 0).then(|| (points, format!("shares {} with {name}", shared.join(", "))))
}

/// Returns named paths that the walk did not come upon, because they are ignored or too far down.
fn unseen(host: &mut impl ReadFiles, root: &Path, entries: &[Seen], named: &Named) -> Vec<Ranked> {
    let mut wanted: Vec<Ranked> = Vec::new();
    for source in &named.0 {
        for path in &source.paths {
            let is_known = entries.iter().any(|entry| entry.path == *path)
                || wanted.iter().any(|wanted| wanted.path == *path);
            if !is_known && !is_secret(path) {
                wanted.push(Ranked {
                    points: NAMED.checked_div(source.divisor).unwrap_or_default(),
                    path: path.clone(),
                    reason: format!("named in {}", source.name),
                });
            }
        }
    }
    if wanted.is_empty() {
        return wanted;
    }
    // No byte is read: the answer tells whether it is there, and refuses links on the way.
    let requests: Vec<_> = wanted
        .iter()
        .map(|wanted| request(root, &wanted.path, 0))
        .collect();
    let mut answers = host.read(&requests).into_iter();
    wanted.retain(|_| matches!(answers.next(), Some(Ok(_) | Err(FsError::IsDirectory))));
    wanted
}
