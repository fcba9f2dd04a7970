//! `.gitignore` and `.ignore` (Q-86).
//!
//! A repository is a stranger's: globs are bounded in length, in wildcards and in number. They are matched as they stand;
//! compiling regular expressions of them, as search.ripgrep does, would cost more than the whole walk, and its size.

use std::rc::Rc;

use fast_glob::glob_match;

/// Bytes and wildcards of one glob.
const MAX_GLOB_BYTES: usize = 256;
const MAX_WILDCARDS: usize = 8;

/// Globs of all ignore files of a walk.
const MAX_GLOBS: usize = 1_000;

/// An ignore file.
#[derive(Debug)]
pub(super) struct IgnoreFile {
    /// `.ignore` wins over every `.gitignore`.
    wins: bool,
    /// Bytes of the path of its directory and the `/` behind it: its globs see what follows.
    prefix: usize,
    /// In order; the last that matches decides.
    globs: Vec<Glob>,
}

/// One line.
#[derive(Debug)]
struct Glob {
    pattern: Pattern,
    /// `!`
    includes: bool,
    only_directories: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Pattern {
    /// A name, anywhere below.
    Name(String),
    /// `*.` and the rest of a name, anywhere below.
    Extension(String),
    /// A path.
    Path(String),
    /// A name with wildcards, anywhere below.
    NameGlob(String),
    /// A path with wildcards.
    PathGlob(String),
}

impl IgnoreFile {
    pub(super) const NAMES: [&'static str; 2] = [".gitignore", ".ignore"];
}

/// Bounds the globs of one walk.
#[derive(Debug)]
pub(super) struct Reader {
    globs_left: usize,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            globs_left: MAX_GLOBS,
        }
    }
}

impl Reader {
    /// Reads the ignore file `name` of a directory; `None` if it says nothing.
    pub(super) fn compile(
        &mut self,
        directory: &str,
        name: &str,
        text: &str,
    ) -> Option<IgnoreFile> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let globs: Vec<Glob> = text
            .lines()
            .filter_map(Glob::parse)
            .take(self.globs_left)
            .collect();
        self.globs_left = self.globs_left.saturating_sub(globs.len());
        (!globs.is_empty()).then_some(IgnoreFile {
            wins: name == ".ignore",
            prefix: if directory.is_empty() {
                0
            } else {
                directory.len().saturating_add(1)
            },
            globs,
        })
    }
}

impl Glob {
    fn parse(line: &str) -> Option<Self> {
        let line = without_spaces(line);
        if line.is_empty() || line.starts_with('#') || line.len() > MAX_GLOB_BYTES {
            return None;
        }
        let (line, includes) = line
            .strip_prefix('!')
            .map_or((line, false), |line| (line, true));
        let (line, only_directories) = line
            .strip_suffix('/')
            .map_or((line, false), |line| (line, true));
        let rooted = line.strip_prefix('/');
        let line = rooted.unwrap_or(line);
        let anywhere = line.strip_prefix("**/").filter(|rest| !rest.contains('/'));
        let is_path = anywhere.is_none() && (rooted.is_some() || line.contains('/'));
        let line = anywhere.unwrap_or(line);
        let is_literal = |text: &str| !text.contains(['*', '?', '[', '\\']);
        let extension = line.strip_prefix("*.").filter(|rest| is_literal(rest));
        let pattern = if line.is_empty() || line.matches('*').count() > MAX_WILDCARDS {
            return None;
        } else if is_literal(line) {
            if is_path {
                Pattern::Path(line.to_owned())
            } else {
                Pattern::Name(line.to_owned())
            }
        } else if let (Some(extension), false) = (extension, is_path) {
            Pattern::Extension(format!(".{extension}"))
        } else if is_path {
            Pattern::PathGlob(glob(line))
        } else {
            Pattern::NameGlob(glob(line))
        };
        Some(Self {
            pattern,
            includes,
            only_directories,
        })
    }

    fn matches(&self, path: &str, name: &str, is_directory: bool) -> bool {
        if self.only_directories && !is_directory {
            return false;
        }
        match &self.pattern {
            Pattern::Name(literal) => literal == name,
            Pattern::Extension(end) => name.ends_with(end.as_str()),
            Pattern::Path(literal) => literal == path,
            Pattern::NameGlob(glob) => glob_match(glob, name),
            Pattern::PathGlob(glob) => glob_match(glob, path),
        }
    }
}

/// Without white space at its end, unless the last is escaped.
fn without_spaces(line: &str) -> &str {
    let trimmed = line.trim_end();
    if trimmed.ends_with('\\') && trimmed.len() < line.len() {
        kit::cut::at_bytes(line, trimmed.len().saturating_add(1))
    } else {
        trimmed
    }
}

/// As the matcher takes it: braces and a leading `!` are ordinary characters in ignore files.
fn glob(line: &str) -> String {
    let mut glob = String::with_capacity(line.len());
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if !escaped && (matches!(c, '{' | '}') || (at == 0 && c == '!')) {
            glob.push('\\');
        }
        escaped = c == '\\' && !escaped;
        glob.push(c);
    }
    glob
}

/// The ignore files that hold for one directory, in the order in which they decide.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(Rc<[Rc<IgnoreFile>]>);

impl Rules {
    /// These, and those of a directory one level deeper.
    pub(super) fn with(&self, deeper: Vec<Rc<IgnoreFile>>) -> Self {
        if deeper.is_empty() {
            return self.clone();
        }
        let mut files = deeper;
        files.extend(self.0.iter().cloned());
        files.sort_by_key(|file| !file.wins);
        Self(files.into())
    }

    /// Whether they exclude what has this path from the root.
    pub(super) fn exclude(&self, path: &str, is_directory: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let decide = |file: &Rc<IgnoreFile>| {
            let below = path.get(file.prefix..)?;
            let mut globs = file.globs.iter().rev();
            let glob = globs.find(|glob| glob.matches(below, name, is_directory))?;
            Some(!glob.includes)
        };
        self.0.iter().find_map(decide).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(lines: &str, path: &str) -> bool {
        let file = Reader::default().compile("", ".gitignore", lines);
        let rules = Rules::default().with(file.into_iter().map(Rc::new).collect());
        match path.strip_suffix('/') {
            Some(path) => rules.exclude(path, true),
            None => rules.exclude(path, false),
        }
    }

    #[test]
    fn q_86_lines_mean_what_git_says() {
        for (lines, path, expected) in [
            ("a.txt", "x/a.txt", true),
            ("/a.txt", "x/a.txt", false),
            ("/a.txt", "a.txt", true),
            ("x/a", "x/a", true),
            ("x/a", "y/x/a", false),
            ("out/", "out", false),
            ("out/", "out/", true),
            ("out/", "x/out/", true),
            ("*.log", "x/y.log", true),
            ("*.log\n!keep.log", "keep.log", false),
            ("!keep.log\n*.log", "keep.log", true),
            ("**/gen", "a/b/gen", true),
            ("**/gen", "gen", true),
            ("doc/*.txt", "doc/a.txt", true),
            ("doc/*.txt", "doc/x/a.txt", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("abc/**", "abc/x/y", true),
            ("abc/**", "abc/", false),
            ("*.py[co]", "x/a.pyc", true),
            ("*.py[co]", "x/a.py", false),
            ("a?c", "abc", true),
            ("# a", "# a", false),
            (r"\#a", "#a", true),
            (r"\!a", "!a", true),
            ("a{b,c}", "ab", false),
            ("{x}*", "{x}y", true),
            ("a  ", "a", true),
            ("a\\ ", "a ", true),
            ("a\r\n", "a", true),
            ("*", "anything", true),
            ("*\n!*/", "dir/", false),
            ("", "a", false),
            ("/", "a", false),
            ("[", "[", false),
        ] {
            assert_eq!(excluded(lines, path), expected, "{lines:?} {path}");
        }
    }

    #[test]
    fn q_86_deeper_files_win_and_ignore_wins_over_gitignore() {
        let mut reader = Reader::default();
        let mut file =
            |directory, name, text| Rc::new(reader.compile(directory, name, text).unwrap());
        let top = Rules::default().with(vec![file("", ".gitignore", "*.log\n/x/only\n")]);
        let deeper = top.with(vec![file("x", ".gitignore", "!a.log\n/only2")]);
        assert!(top.exclude("x/a.log", false));
        assert!(!deeper.exclude("x/a.log", false));
        assert!(deeper.exclude("x/only", false));
        assert!(deeper.exclude("x/only2", false));
        assert!(!deeper.exclude("x/y/only2", false));
        let with_ignore = top.with(vec![file("", ".ignore", "!*.log")]);
        let deepest = with_ignore.with(vec![file("x", ".gitignore", "*.log")]);
        assert!(!deepest.exclude("x/a.log", false));
    }

    #[test]
    fn q_86_a_hostile_ignore_file_costs_no_more_than_its_bounds() {
        let mut reader = Reader::default();
        let many = "a*b?c\n".repeat(200_000);
        let file = reader.compile("", ".gitignore", &many).unwrap();
        assert_eq!(file.globs.len(), MAX_GLOBS);
        assert!(reader.compile("x", ".gitignore", "b").is_none());
        assert!(Glob::parse(&"*a".repeat(9)).is_none());
        assert!(Glob::parse(&"a".repeat(257)).is_none());
        let slow = Glob::parse(&"*a".repeat(8)).unwrap();
        assert!(!slow.matches("", &"a".repeat(250).replace("aa", "ab"), false));
    }
}
