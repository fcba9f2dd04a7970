//! The request of `fs.write_patch`.

use kit::SkillError;
use kit::members::{Members, invalid};
use kit::path::{MAX_PATH_BYTES, Path};

/// Bytes of a diff.
const MAX_DIFF_BYTES: usize = 4_194_304;

/// Context lines that may be dropped at each end of a hunk.
const MAX_FUZZ: u32 = 2;

/// How many leading components of a name are not part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strip {
    /// As many as the names of both sides and the files that exist tell.
    Auto,
    None,
    One,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    /// The directory that names are relative to.
    pub(crate) base: Path,
    /// The text of the diff, 1 to 4,194,304 bytes.
    pub(crate) diff: String,
    /// 0 to 2.
    pub(crate) fuzz: usize,
    pub(crate) strip: Strip,
    /// Write the files without rejects although others have some.
    pub(crate) partial: bool,
    /// Compute everything, write nothing.
    pub(crate) dry_run: bool,
}

impl Request {
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let base = members.optional_string("base", 0..=MAX_PATH_BYTES)?;
        let parsed = Self {
            base: Path::parse("base", base.as_deref().unwrap_or("."))?,
            diff: members.string("unified_diff", 1..=MAX_DIFF_BYTES)?,
            fuzz: usize::try_from(members.integer("fuzz", 0..=MAX_FUZZ, 0)?).unwrap_or(0),
            strip: strip(members.value("strip"))?,
            partial: members.flag("partial", false)?,
            dry_run: members.flag("dry_run", false)?,
        };
        members.finish()?;
        Ok(parsed)
    }
}

fn strip(value: Option<serde_json::Value>) -> Result<Strip, SkillError> {
    let Some(value) = value else {
        return Ok(Strip::Auto);
    };
    match (value.as_str(), value.as_u64()) {
        (Some("auto"), _) => Ok(Strip::Auto),
        (_, Some(0)) => Ok(Strip::None),
        (_, Some(1)) => Ok(Strip::One),
        _ => Err(invalid("strip", "is not \"auto\", 0 or 1")),
    }
}
