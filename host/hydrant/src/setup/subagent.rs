//! The subagent that improves a plan, where the hook says that one does: a file among those of Claude Code.

use std::path::{Path, PathBuf};

use super::{Change, Edit, SetupError};

/// The file. What the hook tells the agent names this subagent.
const TEXT: &str = include_str!("prompt-hydrator.md");

/// The subagent's file beside a settings file.
#[must_use]
pub fn beside(settings: &Path) -> PathBuf {
    settings.with_file_name("agents").join("prompt-hydrator.md")
}

/// The change that writes the subagent to `file`; none if it is there.
///
/// # Errors
/// [`SetupError`]
pub fn install(file: &Path) -> Result<Option<Change>, SetupError> {
    Change::of(file, |text| {
        Ok(match text {
            None => Edit::Text(TEXT.to_owned()),
            Some(TEXT) => Edit::Nothing,
            Some(_) => Edit::Replacing(TEXT.to_owned()),
        })
    })
}

/// The change that removes the subagent, or brings back what it took the place of; none if it is not as setup wrote it.
///
/// # Errors
/// [`SetupError`]
pub fn uninstall(file: &Path) -> Result<Option<Change>, SetupError> {
    Change::undoing(
        file,
        |text| Ok((text == TEXT).then(String::new)),
        |_, text| Some(text.to_owned()),
    )
}
