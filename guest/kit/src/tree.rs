//! Listing directories, many in one hostcall, with the ignore files that hold for what they contain.

use std::rc::Rc;

use crate::SkillError;
use crate::glob::Globs;
use crate::host::ReadFiles;
use crate::host::fs_read::{
    EntryKind, FsError, Listing, Overflow, ReadRequest, Symlinks, TreeRequest,
};
use crate::path::Path;

/// The ignore files of a directory, those that win first.
const IGNORE_FILES: [&str; 4] = [".rgignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// Bytes of one ignore file.
const MAX_IGNORE_BYTES: u32 = 256 * 1024;

/// Ignore files that are read in one hostcall.
const READ_AT_ONCE: usize = 64;

/// The ignore files that hold for the names of one directory, in the order in which they decide.
#[derive(Debug, Clone, Default)]
pub struct Rules(Rc<[IgnoreFile]>);

#[derive(Debug, Clone)]
struct IgnoreFile {
    /// Its index in [`IGNORE_FILES`].
    rank: usize,
    /// Bytes of the virtual path of its directory and the `/` behind it: its globs see what follows.
    prefix: usize,
    globs: Rc<Globs>,
}

impl Rules {
    /// Whether they exclude what has this virtual path.
    #[must_use]
    pub fn exclude(&self, path: &str, is_directory: bool) -> bool {
        let decide = |file: &IgnoreFile| {
            let below = path.get(file.prefix..)?;
            file.globs.matched(below, is_directory)
        };
        self.0.iter().find_map(decide).unwrap_or(false)
    }

    /// These, and those of a directory one level deeper, which win over all of their own rank.
    fn with(&self, mut deeper: Vec<IgnoreFile>) -> Self {
        if deeper.is_empty() {
            return self.clone();
        }
        deeper.extend(self.0.iter().cloned());
        deeper.sort_by_key(|file| file.rank);
        Self(deeper.into())
    }
}

/// A directory to list.
#[derive(Debug, Clone)]
pub struct Directory {
    /// Its path.
    pub path: Path,
    /// The rules of the directories above it.
    pub rules: Rules,
    /// Whether its ignore files may be reached through a link.
    pub symlinks: Symlinks,
}

/// How directories are listed.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Names of each directory.
    pub max_entries: usize,
    /// Whether hidden names are listed.
    pub include_hidden: bool,
    /// Whether ignore files are read. They are hidden names, so that these are listed as well.
    pub use_ignore: bool,
}

/// What a directory contains, ignored or not, and the rules for it.
pub type Contents = (Listing, Rules);

/// What directories contain.
#[derive(Debug)]
pub struct Listed {
    /// As many answers as directories, in their order.
    pub answers: Vec<Result<Contents, FsError>>,
    /// How many ignore files the host was asked for.
    pub ignore_files: usize,
}

/// Lists directories in one hostcall, and reads their ignore files in others.
///
/// # Errors
/// `too_large` for an ignore file over 256 KiB.
pub fn list(
    host: &mut impl ReadFiles,
    directories: &[Directory],
    options: Options,
) -> Result<Listed, SkillError> {
    let requests: Vec<_> = directories
        .iter()
        .map(|directory| TreeRequest {
            root: directory.path.absolute().to_owned(),
            max_entries: u32::try_from(options.max_entries).unwrap_or(u32::MAX),
            max_depth: 1,
            include_hidden: options.include_hidden || options.use_ignore,
        })
        .collect();
    let listings = host.tree(&requests);
    let mut wanted = Vec::new();
    if options.use_ignore {
        for (at, (directory, listing)) in directories.iter().zip(&listings).enumerate() {
            let entries = listing.iter().flat_map(|listing| &listing.entries);
            let ranks = entries.filter_map(|entry| rank(&entry.path, entry.kind));
            wanted.extend(ranks.map(|rank| Wanted {
                owner: at,
                directory: &directory.path,
                rank,
                symlinks: directory.symlinks,
            }));
        }
    }
    let mut rules: Vec<Vec<IgnoreFile>> = vec![Vec::new(); directories.len()];
    for (at, file) in read_ignore_files(host, &wanted)? {
        if let Some(rules) = rules.get_mut(at) {
            rules.push(file);
        }
    }
    let contents = directories.iter().zip(rules).zip(listings);
    let answers = contents
        .map(|((directory, own), listing)| Ok((listing?, directory.rules.with(own))))
        .collect();
    Ok(Listed {
        answers,
        ignore_files: wanted.len(),
    })
}

/// Reads the ignore files of the directories above a path; returns also how many the host was asked for.
///
/// # Errors
/// As [`list`].
pub fn rules_above(host: &mut impl ReadFiles, path: &Path) -> Result<(Rules, usize), SkillError> {
    let text = path.absolute();
    let ends = text.match_indices('/').map(|(at, _)| at).skip(1);
    let above: Vec<Path> = ends
        .filter_map(|end| Path::parse("paths", text.get(..end)?).ok())
        .collect();
    let all_of = |directory| {
        (0..IGNORE_FILES.len()).map(move |rank| Wanted {
            owner: 0,
            directory,
            rank,
            // The path may have been reached through a link.
            symlinks: Symlinks::Follow,
        })
    };
    let wanted: Vec<_> = above.iter().flat_map(all_of).collect();
    let mut files = read_ignore_files(host, &wanted)?;
    files.reverse();
    let rules = Rules::default().with(files.into_iter().map(|(_, file)| file).collect());
    Ok((rules, wanted.len()))
}

/// An ignore file to read.
struct Wanted<'a> {
    /// The index of its directory among those that are asked for.
    owner: usize,
    directory: &'a Path,
    /// Its index in [`IGNORE_FILES`].
    rank: usize,
    symlinks: Symlinks,
}

impl Wanted<'_> {
    fn path(&self) -> Path {
        let name = IGNORE_FILES.get(self.rank).copied();
        self.directory.join(name.unwrap_or_default())
    }
}

/// Bytes of a directory's virtual path and the `/` behind it.
fn prefix(directory: &Path) -> usize {
    let path = directory.absolute();
    path.strip_suffix('/')
        .unwrap_or(path)
        .len()
        .saturating_add(1)
}

/// The rank of the ignore file that a name is or leads to.
fn rank(name: &str, kind: EntryKind) -> Option<usize> {
    let path = match kind {
        EntryKind::Directory if name == ".git" => ".git/info/exclude",
        EntryKind::File => name,
        _ => return None,
    };
    IGNORE_FILES.iter().position(|known| *known == path)
}

/// Reads ignore files, and returns each with its owner. One that is not there, or cannot be read, is left out.
fn read_ignore_files(
    host: &mut impl ReadFiles,
    wanted: &[Wanted<'_>],
) -> Result<Vec<(usize, IgnoreFile)>, SkillError> {
    let mut files = Vec::new();
    for wanted in wanted.chunks(READ_AT_ONCE) {
        let requests: Vec<_> = wanted
            .iter()
            .map(|wanted| ReadRequest {
                path: wanted.path().absolute().to_owned(),
                max_bytes: MAX_IGNORE_BYTES,
                overflow: Overflow::Refuse,
                symlinks: wanted.symlinks,
            })
            .collect();
        for (wanted, answer) in wanted.iter().zip(host.read(&requests)) {
            let globs = match answer {
                Ok(file) => Globs::from_file(&file.bytes),
                Err(FsError::TooLarge) => return Err(too_large(&wanted.path())),
                Err(_) => continue,
            };
            if !globs.is_empty() {
                let file = IgnoreFile {
                    rank: wanted.rank,
                    prefix: prefix(wanted.directory),
                    globs: Rc::new(globs),
                };
                files.push((wanted.owner, file));
            }
        }
    }
    Ok(files)
}

/// `too_large` because of an ignore file: obeyed in part, it would be another one.
fn too_large(path: &Path) -> SkillError {
    let path = path.shown();
    SkillError::new(
        "too_large",
        &format!("{path}: the ignore file is over {MAX_IGNORE_BYTES} bytes"),
    )
    .with_details(serde_json::json!({ "path": path }).to_string())
}
