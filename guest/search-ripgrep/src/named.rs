//! The paths of the request: what they are, and which ignore files lie above them.

use std::collections::BTreeMap;

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, FsError, Overflow, ReadRequest, Symlinks};
use kit::members::invalid;
use kit::path::{Path, fs_error};

use crate::filter::GIT;
use crate::ignore_file::{IgnoreFile, Located, Rank, Reader, Rules};
use crate::item::{Directory, Item, Kind, compare_paths};
use crate::work::Work;

/// Finds out what the paths are; in order, each once.
///
/// A directory that is or lies in a `.git` is left out. None if the ignore files above the paths are more
/// than the work allows.
///
/// # Errors
/// For the first path that does not exist, that is not allowed, or that cannot be fetched; those of the
/// ignore files.
pub(crate) fn resolve(
    host: &mut impl ReadFiles,
    work: &mut Work,
    ignore_files: Option<&mut Reader>,
    paths: &[Path],
) -> Result<Option<Vec<Item>>, SkillError> {
    let mut found = kinds(host, paths)?;
    found.retain(|found| {
        found.kind != Kind::Directory || found.path.absolute().split('/').all(|name| name != GIT)
    });
    found.sort_by(|one, other| compare_paths(one.path.absolute(), other.path.absolute()));
    found.dedup_by(|second, first| second.path.absolute() == first.path.absolute());
    let mut above = BTreeMap::new();
    if let Some(reader) = ignore_files {
        let files = files_above(&found)?;
        if !work.take_lookups(files.len()) {
            return Ok(None);
        }
        for (file, compiled) in files.iter().zip(reader.read(host, &files)?) {
            let own: &mut Vec<_> = above
                .entry(file.directory.absolute().to_owned())
                .or_default();
            own.extend(compiled);
        }
    }
    found
        .into_iter()
        .map(|found| found.into_item(&above))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// A path of the request, and what it is.
struct Found {
    path: Path,
    kind: Kind,
    symlinks: Symlinks,
}

impl Found {
    fn into_item(self, above: &BTreeMap<String, Vec<IgnoreFile>>) -> Result<Item, SkillError> {
        let mut rules = Rules::default();
        if self.kind == Kind::Directory {
            for directory in directories_above(&self.path)? {
                let own = above.get(directory.absolute()).cloned().unwrap_or_default();
                rules = rules.with(own, &directory)?;
            }
        }
        let directory = Directory {
            glob_prefix: self.path.absolute().len().saturating_add(1),
            path: self.path,
            rules,
            symlinks: self.symlinks,
        };
        Ok(Item::named(directory, self.kind))
    }
}

/// Asks the host what the paths are, first without following links.
fn kinds(host: &mut impl ReadFiles, paths: &[Path]) -> Result<Vec<Found>, SkillError> {
    let answers = probe(host, paths, Symlinks::Refuse);
    let linked: Vec<_> = paths
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| matches!(answer, Err(FsError::Symlink)))
        .map(|(path, _)| path.clone())
        .collect();
    let mut followed = probe(host, &linked, Symlinks::Follow).into_iter();
    let answers = answers.into_iter().map(|answer| match answer {
        Err(FsError::Symlink) => (Symlinks::Follow, followed.next().unwrap_or(answer)),
        answer => (Symlinks::Refuse, answer),
    });
    paths
        .iter()
        .zip(answers)
        .map(|(path, (symlinks, answer))| {
            Ok(Found {
                kind: kind(path, answer)?,
                path: path.clone(),
                symlinks,
            })
        })
        .collect()
}

/// Reads nothing of the paths, which is enough to learn what they are.
fn probe(
    host: &mut impl ReadFiles,
    paths: &[Path],
    symlinks: Symlinks,
) -> Vec<Result<File, FsError>> {
    let requests: Vec<_> = paths
        .iter()
        .map(|path| ReadRequest {
            path: path.absolute().to_owned(),
            max_bytes: 0,
            overflow: Overflow::Cut,
            symlinks,
        })
        .collect();
    if requests.is_empty() {
        return Vec::new();
    }
    host.read(&requests)
}

fn kind(path: &Path, answer: Result<File, FsError>) -> Result<Kind, SkillError> {
    match answer {
        Ok(_) => Ok(Kind::File { bytes: None }),
        Err(FsError::IsDirectory) => Ok(Kind::Directory),
        // Skipped, and counted.
        Err(FsError::NotAccessible | FsError::Special | FsError::Io) => Ok(Kind::Unreadable),
        // What would lie below a file does not exist.
        Err(FsError::NotDirectory) => Err(fs_error("fs.read", path, FsError::NotFound)),
        Err(FsError::InvalidPath) => Err(invalid(
            "paths",
            &format!("holds {}, which cannot be searched", path.absolute()),
        )),
        Err(error) => Err(fs_error("fs.read", path, error)),
    }
}

/// The ignore files that may lie above the directories, each once.
fn files_above(found: &[Found]) -> Result<Vec<Located>, SkillError> {
    let mut directories = BTreeMap::new();
    for found in found.iter().filter(|found| found.kind == Kind::Directory) {
        for directory in directories_above(&found.path)? {
            directories.insert(directory.absolute().to_owned(), directory);
        }
    }
    let located = |directory: Path| {
        Rank::ALL.map(|rank| Located {
            directory: directory.clone(),
            rank,
            // The path may have been reached through a link.
            symlinks: Symlinks::Follow,
        })
    };
    Ok(directories.into_values().flat_map(located).collect())
}

/// The directories from the mount to the one that holds `path`.
fn directories_above(path: &Path) -> Result<Vec<Path>, SkillError> {
    let text = path.absolute();
    let ends = text.match_indices('/').map(|(at, _)| at).skip(1);
    ends.filter_map(|end| text.get(..end))
        .map(|directory| Path::parse("paths", directory))
        .collect()
}
