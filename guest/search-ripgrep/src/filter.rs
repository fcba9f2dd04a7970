//! Which names below a directory are searched: not hidden, not ignored, not left out by the globs.

use ignore::overrides::{Override, OverrideBuilder};
use kit::SkillError;
use kit::members::invalid;

use crate::ignore_file::is_bounded;
use crate::item::Directory;
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

    /// Whether a name below a directory is hidden.
    pub(crate) fn hides(&self, name: &str) -> bool {
        name == GIT || (name.starts_with('.') && !self.include_hidden)
    }

    /// Whether what has this virtual path, in `directory`, is searched or entered. Globs see the path from the one of
    /// the request that leads to it.
    pub(crate) fn passes(&self, directory: &Directory, path: &str, is_directory: bool) -> bool {
        let below = path.get(directory.glob_prefix..).unwrap_or_default();
        !directory.rules.exclude(path, is_directory)
            && !self.globs.matched(below, is_directory).is_ignore()
    }
}
