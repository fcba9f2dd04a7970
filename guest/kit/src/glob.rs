//! Globs in the syntax of ignore files, as ripgrep reads them: braces hold alternatives.

use fast_glob::{glob_match, validate};

/// Ways to choose one alternative in each group of a glob: the matcher tries every one of them.
const MAX_WAYS: usize = 1_024;

/// Globs, of which the last that matches decides.
#[derive(Debug, Default)]
pub struct Globs(Vec<Glob>);

/// One glob.
#[derive(Debug)]
struct Glob {
    pattern: String,
    /// It is matched against the whole path, not the name alone.
    is_path: bool,
    /// It began with `!`.
    is_negated: bool,
    only_directories: bool,
}

/// A glob that cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidGlob;

impl Globs {
    /// Reads an ignore file. A line that is no valid glob, or not UTF-8, matches nothing.
    #[must_use]
    pub fn from_file(text: &[u8]) -> Self {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
        Self(lines.filter_map(|line| Glob::parse(line).ok()?).collect())
    }

    /// Adds a glob.
    ///
    /// # Errors
    /// For a glob that cannot be parsed.
    pub fn add(&mut self, glob: &str) -> Result<(), InvalidGlob> {
        self.0.extend(Glob::parse(glob)?);
        Ok(())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the last glob that matches a path is one without `!`; `None` if no glob does.
    #[must_use]
    pub fn matched(&self, path: &str, is_directory: bool) -> Option<bool> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut globs = self.0.iter().rev();
        let glob = globs.find(|glob| {
            let subject = if glob.is_path { path } else { name };
            (is_directory || !glob.only_directories) && glob_match(&glob.pattern, subject)
        })?;
        Some(!glob.is_negated)
    }

    /// Returns whether these globs of a request choose a path: the last that matches decides, and where one is without `!`,
    /// a file that none matches is not chosen.
    #[must_use]
    pub fn choose(&self, path: &str, is_directory: bool) -> bool {
        self.matched(path, is_directory)
            .unwrap_or_else(|| is_directory || self.0.iter().all(|glob| glob.is_negated))
    }
}

impl Glob {
    /// Returns the glob of a line; `None` for an empty line and a comment.
    fn parse(line: &str) -> Result<Option<Self>, InvalidGlob> {
        let line = match line.trim_end() {
            // An escaped space stays.
            trimmed if trimmed.ends_with('\\') && trimmed.len() < line.len() => {
                line.get(..trimmed.len().saturating_add(1)).unwrap_or(line)
            }
            trimmed => trimmed,
        };
        if line.starts_with('#') {
            return Ok(None);
        }
        let without = |line, rest: Option<_>| (rest.unwrap_or(line), rest.is_some());
        let (line, is_negated) = without(line, line.strip_prefix('!'));
        let (line, only_directories) = without(line, line.strip_suffix('/'));
        let (line, is_rooted) = without(line, line.strip_prefix('/'));
        let anywhere = line
            .strip_prefix("**/")
            .filter(|rest| !is_rooted && !rest.contains('/'));
        let glob = anywhere.unwrap_or(line);
        let pattern = escaped(glob);
        if validate(&pattern).is_err() || has_reversed_range(glob) || ways(glob) > MAX_WAYS {
            return Err(InvalidGlob);
        }
        Ok((!pattern.is_empty()).then_some(Self {
            is_path: is_rooted || (anywhere.is_none() && glob.contains('/')),
            pattern,
            is_negated,
            only_directories,
        }))
    }
}

/// Returns a glob as the matcher takes it: for that, `!` at the beginning negates, and a letter with a backslash may be a
/// control character.
fn escaped(glob: &str) -> String {
    let mut pattern = String::with_capacity(glob.len());
    if glob.starts_with('!') {
        pattern.push('\\');
    }
    let mut characters = glob.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\\' {
            pattern.push(c);
            continue;
        }
        let next = characters.next();
        if !next.is_some_and(char::is_alphanumeric) {
            pattern.push(c);
        }
        pattern.extend(next);
    }
    pattern
}

/// Returns at least how many ways there are to choose one alternative in each group of a glob: as many as there are
/// where the commas are spread evenly over the groups, which is the most.
fn ways(glob: &str) -> usize {
    let count = |mark| glob.bytes().filter(|byte| *byte == mark).count();
    let groups = count(b'{');
    let commas = count(b',').checked_next_multiple_of(groups.max(1));
    let branches = commas.map_or(usize::MAX, |commas| {
        (commas / groups.max(1)).saturating_add(1)
    });
    branches.saturating_pow(u32::try_from(groups).unwrap_or(u32::MAX))
}

/// Whether a class holds a range from a later to an earlier character, such as `[z-a]`.
fn has_reversed_range(glob: &str) -> bool {
    let mut rest = glob;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\\' => {
                let mut characters = rest.chars();
                characters.next();
                rest = characters.as_str();
            }
            '[' if !in_class => {
                in_class = true;
                rest = rest.strip_prefix(['!', '^']).unwrap_or(rest);
                rest = rest.strip_prefix(']').unwrap_or(rest);
            }
            ']' => in_class = false,
            first if in_class => {
                let last = rest.strip_prefix('-').and_then(|rest| rest.chars().next());
                if last.is_some_and(|last| last != ']' && last != '\\' && last < first) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(lines: &str, path: &str) -> bool {
        let globs = Globs::from_file(lines.as_bytes());
        let (path, is_directory) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        globs.matched(path, is_directory) == Some(true)
    }

    #[test]
    fn lines_of_ignore_files() {
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
            // A byte, as in git.
            ("?", "é", false),
            ("??", "é", true),
            ("# a", "# a", false),
            (r"\#a", "#a", true),
            (r"\!a", "!a", true),
            (r"\a\b", "ab", true),
            ("*.{rs,md}", "x/a.md", true),
            ("a}", "a}", true),
            ("a  ", "a", true),
            ("a\\ ", "a ", true),
            ("a\r\n", "a", true),
            ("\u{feff}a", "a", true),
            ("*", "anything", true),
            ("*\n!*/", "dir/", false),
            ("", "a", false),
            ("/", "a", false),
            ("[", "[", false),
            ("[]-]x", "]x", true),
        ] {
            assert_eq!(ignores(lines, path), expected, "{lines:?} {path}");
        }
    }

    #[test]
    fn groups_have_up_to_1024_ways() {
        for (glob, is_valid) in [
            ("{a,b}".repeat(10), true),
            ("{a,b}".repeat(11), false),
            (format!("{{a{}}}", ",a".repeat(1_023)), true),
            (format!("{{a{}}}", ",a".repeat(1_024)), false),
            (",".repeat(4_000), true),
        ] {
            assert_eq!(Globs::default().add(&glob).is_ok(), is_valid, "{glob}");
        }
        let lines = format!("{}\nb", "{*,*,*,*,*,*,*,*}".repeat(10));
        assert!(!ignores(&lines, "a") && ignores(&lines, "b"));
    }

    #[test]
    fn a_glob_with_a_mistake_is_invalid() {
        let deep = format!("{}a{}", "{".repeat(2_000), "}".repeat(2_000));
        let many = "{*,*,*,*,*,*,*,*}".repeat(10);
        for glob in ["[", "[a", "{a", "a\\", "[z-a]", "[!b-a]x", &deep, &many] {
            assert_eq!(Globs::default().add(glob), Err(InvalidGlob), "{glob}");
        }
        for glob in ["[a-z]", "[]a]", "[a-]", r"[\]-a]", "a}", "!!b", "//", "{,}"] {
            assert_eq!(Globs::default().add(glob), Ok(()), "{glob}");
        }
    }
}
