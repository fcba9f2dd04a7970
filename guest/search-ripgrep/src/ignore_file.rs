//! Ignore files: what they are called, what they hold, and which of them decides.
//!
//! A repository is a stranger's. An ignore file is read up to a bound, a line of it that no path can need is left
//! out as a glob with a mistake is, and all of one call together are bounded too: compiled globs cost far more
//! memory than their text.

use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{FsError, Overflow, ReadRequest, Symlinks};
use kit::path::Path;

/// Bytes of one ignore file.
const MAX_FILE_BYTES: u32 = 256 * 1024;

/// Ignore files that are read in one hostcall.
const READ_AT_ONCE: usize = 64;

/// Bytes of all ignore files of a call.
const MAX_ALL_BYTES: usize = 4 * 1024 * 1024;

/// Globs of one ignore file, and of all of a call, that become regular expressions: those are slow to compile and
/// to match. Names, paths and extensions do not.
const MAX_REGEXES: usize = 512;
const MAX_ALL_REGEXES: usize = 2_048;

/// Regular expressions that are matched at once. The states of many together are too many to keep.
const MAX_REGEXES_OF_SET: usize = 4;

/// Ignore files that hold for one directory.
const MAX_LEVELS: usize = 256;

/// Bytes of one glob, which is what a path may have.
const MAX_GLOB_BYTES: usize = 4_096;

/// Alternatives (`{a,b}`) within each other.
const MAX_NESTING: u32 = 16;

/// The ignore files of a directory, those that win first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Rgignore,
    Ignore,
    Gitignore,
    Exclude,
}

impl Rank {
    /// All of them.
    pub(crate) const ALL: [Self; 4] =
        [Self::Rgignore, Self::Ignore, Self::Gitignore, Self::Exclude];

    /// Where it is, from its directory.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Rgignore => ".rgignore",
            Self::Ignore => ".ignore",
            Self::Gitignore => ".gitignore",
            Self::Exclude => ".git/info/exclude",
        }
    }
}

/// An ignore file, compiled.
#[derive(Debug, Clone)]
pub(crate) struct IgnoreFile {
    rank: Rank,
    /// Bytes of the virtual path of its directory and the `/` behind it: its globs see what follows.
    prefix: usize,
    /// The last of them first: the last glob that matches decides.
    globs: Rc<[Gitignore]>,
}

/// The ignore files that hold for the names of one directory, in the order in which they decide.
#[derive(Debug, Clone)]
pub(crate) struct Rules(Rc<[IgnoreFile]>);

impl Default for Rules {
    fn default() -> Self {
        Self(Rc::new([]))
    }
}

impl Rules {
    /// These, and those of a directory one level deeper: they win over all of their own rank.
    ///
    /// # Errors
    /// `too_large` for more than 256 of them.
    pub(crate) fn with(
        &self,
        deeper: Vec<IgnoreFile>,
        directory: &Path,
    ) -> Result<Self, SkillError> {
        if deeper.is_empty() {
            return Ok(self.clone());
        }
        let mut files = deeper;
        files.extend(self.0.iter().cloned());
        if files.len() > MAX_LEVELS {
            return Err(too_large(directory, "too many ignore files hold for it"));
        }
        files.sort_by_key(|file| file.rank);
        Ok(Self(files.into()))
    }

    /// Whether they exclude what has this virtual path.
    pub(crate) fn exclude(&self, path: &str, is_directory: bool) -> bool {
        let decide = |file: &IgnoreFile| {
            let below = path.get(file.prefix..)?;
            file.globs
                .iter()
                .find_map(|globs| match globs.matched(below, is_directory) {
                    Match::None => None,
                    Match::Ignore(_) => Some(true),
                    Match::Whitelist(_) => Some(false),
                })
        };
        self.0.iter().find_map(decide).unwrap_or(false)
    }
}

/// Where an ignore file is.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) directory: Path,
    pub(crate) rank: Rank,
    pub(crate) symlinks: Symlinks,
}

impl Located {
    fn path(&self) -> Path {
        self.directory.join(self.rank.path())
    }
}

/// Reads and compiles ignore files, and bounds all of them together.
#[derive(Debug)]
pub(crate) struct Reader {
    bytes_left: usize,
    regexes_left: usize,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            bytes_left: MAX_ALL_BYTES,
            regexes_left: MAX_ALL_REGEXES,
        }
    }
}

impl Reader {
    /// Reads ignore files; one that is not there, cannot be read or says nothing is none.
    ///
    /// # Errors
    /// `too_large` when one is over 256 KiB, all of the call are over 4 MiB, or globs that become regular
    /// expressions are over 512 in one or over 2,048 in all of the call.
    pub(crate) fn read(
        &mut self,
        host: &mut impl ReadFiles,
        files: &[Located],
    ) -> Result<Vec<Option<IgnoreFile>>, SkillError> {
        let mut compiled = Vec::with_capacity(files.len());
        for files in files.chunks(READ_AT_ONCE) {
            let requests: Vec<_> = files
                .iter()
                .map(|file| ReadRequest {
                    path: file.path().absolute().to_owned(),
                    max_bytes: MAX_FILE_BYTES,
                    overflow: Overflow::Refuse,
                    symlinks: file.symlinks,
                })
                .collect();
            for (file, answer) in files.iter().zip(host.read(&requests)) {
                compiled.push(match answer {
                    Ok(contents) => self.compile(file, &contents.bytes)?,
                    Err(FsError::TooLarge) => {
                        return Err(too_large(
                            &file.path(),
                            "the ignore file is over 262144 bytes",
                        ));
                    }
                    Err(_) => None,
                });
            }
        }
        Ok(compiled)
    }

    fn compile(&mut self, file: &Located, bytes: &[u8]) -> Result<Option<IgnoreFile>, SkillError> {
        self.bytes_left = self.bytes_left.checked_sub(bytes.len()).ok_or_else(|| {
            too_large(
                &file.path(),
                "the ignore files up to here are over 4194304 bytes",
            )
        })?;
        let mut sets = Vec::new();
        let mut set = GitignoreBuilder::new("");
        let (mut regexes, mut regexes_of_set) = (0_usize, 0_usize);
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        for line in bytes.split(|byte| *byte == b'\n') {
            // A glob with a mistake matches nothing, as git has it; so does one that is not UTF-8.
            let Ok(line) = std::str::from_utf8(line) else {
                continue;
            };
            if !is_bounded(line) || set.add_line(None, line).is_err() || is_literal(line) {
                continue;
            }
            regexes = regexes.saturating_add(1);
            if regexes > MAX_REGEXES.min(self.regexes_left) {
                return Err(too_large(
                    &file.path(),
                    "more than 512 of its globs, or 2048 of all ignore files, are not plain names",
                ));
            }
            regexes_of_set = regexes_of_set.saturating_add(1);
            if regexes_of_set >= MAX_REGEXES_OF_SET {
                sets.push(build(&set, file)?);
                set = GitignoreBuilder::new("");
                regexes_of_set = 0;
            }
        }
        self.regexes_left = self.regexes_left.saturating_sub(regexes);
        sets.push(build(&set, file)?);
        sets.retain(|set| !set.is_empty());
        sets.reverse();
        Ok((!sets.is_empty()).then(|| IgnoreFile {
            rank: file.rank,
            prefix: file.directory.absolute().len().saturating_add(1),
            globs: sets.into(),
        }))
    }
}

fn build(globs: &GitignoreBuilder, file: &Located) -> Result<Gitignore, SkillError> {
    globs
        .build()
        .map_err(|_| too_large(&file.path(), "its globs are too large"))
}

/// Whether a line is no glob, or one that is looked up without a regular expression: a name, a path or an
/// extension.
fn is_literal(line: &str) -> bool {
    if line.trim_end().is_empty() || line.starts_with('#') {
        return true;
    }
    let glob = line.trim_end();
    let glob = glob.strip_prefix('!').unwrap_or(glob);
    let rooted = glob.strip_prefix('/');
    let glob = rooted.unwrap_or(glob);
    let glob = glob.strip_suffix('/').unwrap_or(glob);
    let below = glob.strip_prefix("**/");
    let anywhere = below.is_some() || (rooted.is_none() && !glob.contains('/'));
    let glob = below.unwrap_or(glob);
    let literal = match glob.strip_prefix("*.") {
        Some(extension) if anywhere && !extension.contains(['.', '/']) => extension,
        _ if glob.is_empty() => return false,
        _ => glob,
    };
    !literal.contains(['*', '?', '[', '{', '\\'])
}

/// `too_large` because of an ignore file, and the way around it.
fn too_large(path: &Path, what: &str) -> SkillError {
    let message = format!(
        "{}: {what}; `use_ignore` false searches without",
        path.shown()
    );
    SkillError::new("too_large", &message)
        .with_details(serde_json::json!({ "path": path.shown() }).to_string())
}

/// Whether a glob can be compiled without much ado: compiling goes as deep as alternatives are nested.
pub(crate) fn is_bounded(glob: &str) -> bool {
    let mut depth = 0_u32;
    let mut deepest = 0;
    for byte in glob.bytes() {
        match byte {
            b'{' => depth = depth.saturating_add(1),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = depth.max(deepest);
    }
    glob.len() <= MAX_GLOB_BYTES && deepest <= MAX_NESTING
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_counts_as_a_literal_needs_no_regular_expression(
            line in r"!?[/]{0,2}(\*\*/)?(\*\.)?[a*.?/\[{},\\! ]{0,6}",
        ) {
            let mut globs = GitignoreBuilder::new("");
            if globs.add_line(None, &line).is_ok() && is_literal(&line) {
                let globs = format!("{:?}", globs.build().unwrap());
                prop_assert!(!globs.contains("Regex("), "{line:?}: {globs}");
                prop_assert!(!globs.contains("RequiredExtension"), "{line:?}: {globs}");
            }
        }
    }

    #[test]
    fn ordinary_globs_count_as_literals() {
        for line in [
            "",
            "  ",
            "# *a*",
            "target/",
            "/dist",
            "node_modules",
            "*.log",
            "!*.md",
            "**/build",
            "**/*.o",
            "docs/_build/",
            "/a/b.c",
            ".env",
            "a]b",
            "*.",
        ] {
            assert!(is_literal(line), "{line}");
        }
        for line in [
            "*a*b", "a?", "[Bb]in/", "*.tar.gz", "/*.c", "a/*.c", "!", "/", "**/", "a/**", r"\#a",
            "*.{a,b}", "*~",
        ] {
            assert!(!is_literal(line), "{line}");
        }
    }
}
