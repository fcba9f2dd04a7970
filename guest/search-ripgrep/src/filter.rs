//! Which names below a directory are searched: not hidden, not ignored, not left out by the globs (TS-75 to TS-77).

use ignore::overrides::{Override, OverrideBuilder};
use kit::SkillError;
use kit::members::invalid;

use crate::ignore_file::{Rules, is_bounded};
use crate::request::Request;

/// The name of a repository's own directory, or of the file that leads to it.
pub(crate) const GIT: &str = ".git";

/// What the request says of names.
#[derive(Debug)]
pub(crate) struct Filter {
    globs: Override,
    include_hidden: bool,
}

impl Filter {
    /// Compiles the globs of a request.
    ///
    /// # Errors
    /// `invalid_request` for a glob that cannot be parsed.
    pub(crate) fn of(request: &Request) -> Result<Self, SkillError> {
        let mut globs = OverrideBuilder::new("");
        for glob in &request.globs {
            if !is_bounded(glob) {
                return Err(invalid("glob", &format!("`{glob}` is nested too deeply")));
            }
            globs
                .add(glob)
                .map_err(|error| invalid("glob", &error.to_string()))?;
        }
        let globs = globs
            .build()
            .map_err(|error| invalid("glob", &error.to_string()))?;
        Ok(Self {
            globs,
            include_hidden: request.include_hidden,
        })
    }

    /// Whether hidden names are searched.
    pub(crate) fn includes_hidden(&self) -> bool {
        self.include_hidden
    }

    /// Whether a name below a directory is hidden (TS-77).
    pub(crate) fn hides(&self, name: &str) -> bool {
        name == GIT || (name.starts_with('.') && !self.include_hidden)
    }

    /// Whether what has this virtual path is searched, or entered.
    pub(crate) fn passes(&self, rules: &Rules, path: &str, is_directory: bool) -> bool {
        !rules.exclude(path, is_directory)
            && !self
                .globs
                .matched(below_mount(path), is_directory)
                .is_ignore()
    }
}

/// What follows the first segment of a virtual path, which is its mount (TS-75).
fn below_mount(path: &str) -> &str {
    path.strip_prefix('/')
        .and_then(|path| path.split_once('/'))
        .map_or("", |(_, below)| below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(globs: &str) -> Result<Filter, SkillError> {
        let request = format!(r#"{{"pattern":"x","glob":{globs}}}"#);
        Filter::of(&Request::parse(request.as_bytes()).unwrap())
    }

    #[test]
    fn ts_75_the_last_glob_that_matches_decides() {
        let passing = |globs: &str| {
            let filter = filter(globs).unwrap();
            ["a.rs", "s/a.rs", "s/t/b.rs", "s/c.md"]
                .into_iter()
                .filter(|path| {
                    filter.passes(&Rules::default(), &format!("/workspace/{path}"), false)
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(passing("[]").len(), 4);
        assert_eq!(passing(r#"["*.rs"]"#), ["a.rs", "s/a.rs", "s/t/b.rs"]);
        assert_eq!(passing(r#"["!*.rs"]"#), ["s/c.md"]);
        assert_eq!(passing(r#"["/*.rs"]"#), ["a.rs"]);
        assert_eq!(passing(r#"["s/*.rs"]"#), ["s/a.rs"]);
        assert_eq!(passing(r#"["*.rs","!a.*"]"#), ["s/t/b.rs"]);
        assert_eq!(
            passing(r#"["!a.*","*.rs"]"#),
            ["a.rs", "s/a.rs", "s/t/b.rs"]
        );
        assert_eq!(passing(r#"["**/t/**"]"#), ["s/t/b.rs"]);
        assert_eq!(passing(r#"["*.{md,txt}"]"#), ["s/c.md"]);
    }

    #[test]
    fn ts_75_positive_globs_prune_no_directory_and_negative_ones_do() {
        let passes = |globs: &str| {
            filter(globs)
                .unwrap()
                .passes(&Rules::default(), "/os/s", true)
        };
        assert!(passes(r#"["*.rs"]"#));
        assert!(!passes(r#"["!s"]"#));
        assert!(!passes(r#"["!s/"]"#));
        assert!(passes(r#"["!os"]"#));
    }

    #[test]
    fn ts_75_a_glob_with_a_mistake_is_refused() {
        let deep = format!(r#"["{}a{}"]"#, "{".repeat(2_000), "}".repeat(2_000));
        for globs in [
            r#"["[a"]"#,
            r#"["{a"]"#,
            r#"["a}"]"#,
            r#"["a\\"]"#,
            r#"["[b-a]"]"#,
            deep.as_str(),
        ] {
            let error = filter(globs).unwrap_err();
            assert_eq!(error.code(), "invalid_request", "{globs}");
            assert_eq!(error.details(), Some(r#"{"member":"glob"}"#), "{globs}");
        }
    }

    #[test]
    fn ts_77_hidden_names_begin_with_a_dot_and_git_always_is() {
        let mut filter = filter("[]").unwrap();
        assert!(filter.hides(".env") && filter.hides(".git") && !filter.hides("a.b"));
        filter.include_hidden = true;
        assert!(!filter.hides(".env") && filter.hides(".git") && !filter.hides(".github"));
    }
}
