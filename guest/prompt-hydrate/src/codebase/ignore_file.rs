//! `.gitignore` and `.ignore`.
//!
//! Globs are matched as they stand; compiling regular expressions of them, as search.ripgrep does, would cost more than the
//! whole walk, and twice the component's size.

use std::rc::Rc;

use fast_glob::glob_match;

/// Globs of all ignore files of a walk, and bytes and wildcards of one: a repository is a stranger's, and a prompt is
/// planned without its files rather than not at all.
const MAX_GLOBS: usize = 1_000;
const MAX_GLOB_BYTES: usize = 256;
const MAX_WILDCARDS: usize = 8;

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
    pattern: String,
    /// It is matched against the path; else against the name, anywhere below.
    is_path: bool,
    /// `!`
    includes: bool,
    only_directories: bool,
}

impl IgnoreFile {
    pub(super) const NAMES: [&'static str; 2] = [".gitignore", ".ignore"];
}

/// A reader of the ignore files of one walk.
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
    pub(super) fn read(&mut self, directory: &str, name: &str, text: &str) -> Option<IgnoreFile> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let globs = text.lines().filter_map(Glob::parse);
        let globs: Vec<Glob> = globs.take(self.globs_left).collect();
        self.globs_left = self.globs_left.saturating_sub(globs.len());
        (!globs.is_empty()).then_some(IgnoreFile {
            wins: name == ".ignore",
            prefix: match directory.len() {
                0 => 0,
                length => length.saturating_add(1),
            },
            globs,
        })
    }
}

impl Glob {
    fn parse(line: &str) -> Option<Self> {
        let line = without_spaces(line);
        let wildcards = line.matches('*').count();
        if line.starts_with('#') || line.len() > MAX_GLOB_BYTES || wildcards > MAX_WILDCARDS {
            return None;
        }
        let (line, includes) = without(line, line.strip_prefix('!'));
        let (line, only_directories) = without(line, line.strip_suffix('/'));
        let (line, is_rooted) = without(line, line.strip_prefix('/'));
        let anywhere = line.strip_prefix("**/").filter(|rest| !rest.contains('/'));
        let pattern = anywhere.unwrap_or(line);
        (!pattern.is_empty()).then(|| Self {
            pattern: escaped(pattern),
            is_path: anywhere.is_none() && (is_rooted || pattern.contains('/')),
            includes,
            only_directories,
        })
    }

    fn matches(&self, path: &str, name: &str, is_directory: bool) -> bool {
        let subject = if self.is_path { path } else { name };
        (is_directory || !self.only_directories) && glob_match(&self.pattern, subject)
    }
}

/// What is left of a line without a mark, and whether it had the mark.
fn without<'l>(line: &'l str, rest: Option<&'l str>) -> (&'l str, bool) {
    (rest.unwrap_or(line), rest.is_some())
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
fn escaped(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    let mut is_escaped = false;
    for c in pattern.chars() {
        if !is_escaped && (matches!(c, '{' | '}') || (glob.is_empty() && c == '!')) {
            glob.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
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
        let file = Reader::default().read("", ".gitignore", lines);
        let rules = Rules::default().with(file.into_iter().map(Rc::new).collect());
        match path.strip_suffix('/') {
            Some(path) => rules.exclude(path, true),
            None => rules.exclude(path, false),
        }
    }

    #[test]
    fn lines_mean_what_git_says() {
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
    fn deeper_files_win_and_ignore_wins_over_gitignore() {
        let mut reader = Reader::default();
        let mut file = |directory, name, text| Rc::new(reader.read(directory, name, text).unwrap());
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
    fn a_hostile_ignore_file_costs_no_more_than_its_bounds() {
        let mut reader = Reader::default();
        let many = "a*b?c\n".repeat(200_000);
        let file = reader.read("", ".gitignore", &many).unwrap();
        assert_eq!(file.globs.len(), MAX_GLOBS);
        assert!(reader.read("x", ".gitignore", "b").is_none());
        assert!(Glob::parse(&"*a".repeat(9)).is_none());
        assert!(Glob::parse(&"a".repeat(257)).is_none());
        let slow = Glob::parse(&"*a".repeat(8)).unwrap();
        assert!(!slow.matches("", &"a".repeat(250).replace("aa", "ab"), false));
    }
}
