//! The request of `search.ripgrep`, every member within its bounds.

use kit::SkillError;
use kit::members::{Members, invalid};
use kit::path::{MAX_PATH_BYTES, Path};

/// Bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 4_096;

/// Bytes of one glob.
const MAX_GLOB_BYTES: usize = 4_096;

/// Bytes of an answer that may be asked for: half of what a response may have.
const MAX_ANSWER_BYTES: u32 = 8 * 1024 * 1024;

/// Items of `paths` and of `glob`.
const MAX_ITEMS: usize = 64;

/// What to search for, and where.
#[derive(Debug)]
pub(crate) struct Request {
    /// 1 to 4,096 bytes.
    pub(crate) pattern: String,
    /// 1 to 64. The answer is in the order of paths, whatever the order here.
    pub(crate) paths: Vec<Path>,
    /// 0 to 64.
    pub(crate) globs: Vec<String>,
    pub(crate) case_sensitive: bool,
    /// 1 to 10,000.
    pub(crate) max_matches: u32,
    /// 1,024 to 8 MiB.
    pub(crate) max_bytes: u32,
    /// Matching lines that an earlier answer had.
    pub(crate) skip: u32,
    /// 0 to 10.
    pub(crate) context_lines: u32,
    pub(crate) include_hidden: bool,
    pub(crate) use_ignore: bool,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// `invalid_request` with the member in its details; `denied` for a path that climbs above its first directory.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let request = Self {
            pattern: members.string("pattern", 1..=MAX_PATTERN_BYTES)?,
            paths: paths(&mut members)?,
            globs: members
                .strings("glob", 0..=MAX_ITEMS, 0..=MAX_GLOB_BYTES)?
                .unwrap_or_default(),
            case_sensitive: members.flag("case_sensitive", false)?,
            max_matches: members.integer("max_matches", 1..=10_000, 500)?,
            max_bytes: members.integer("max_bytes", 1_024..=MAX_ANSWER_BYTES, 32 * 1024)?,
            skip: members.integer("skip", 0..=u32::MAX, 0)?,
            context_lines: members.integer("context_lines", 0..=10, 2)?,
            include_hidden: members.flag("include_hidden", false)?,
            use_ignore: members.flag("use_ignore", true)?,
        };
        members.finish()?;
        if request.pattern.contains('\n') {
            return Err(invalid(
                "pattern",
                "holds a line feed; lines are matched one by one",
            ));
        }
        Ok(request)
    }
}

fn paths(members: &mut Members) -> Result<Vec<Path>, SkillError> {
    match members.strings("paths", 1..=MAX_ITEMS, 0..=MAX_PATH_BYTES)? {
        None => Ok(vec![Path::parse("paths", ".")?]),
        Some(paths) => paths
            .iter()
            .map(|path| Path::parse("paths", path))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_and_member(text: &str) -> (&'static str, Option<String>) {
        let error = Request::parse(text.as_bytes()).unwrap_err();
        let member = error.details().and_then(|details| {
            let details: serde_json::Value = serde_json::from_str(details).ok()?;
            Some(details.get("member")?.as_str()?.to_owned())
        });
        (error.code(), member)
    }

    #[test]
    fn what_is_missing_has_its_default() {
        let request = Request::parse(br#"{"pattern":"x"}"#).unwrap();
        assert_eq!(request.paths.len(), 1);
        assert_eq!(request.paths[0].absolute(), "/workspace");
        assert_eq!((request.max_matches, request.context_lines), (500, 2));
        assert!(request.globs.is_empty() && !request.case_sensitive);
        assert!(!request.include_hidden && request.use_ignore);
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let long = "a".repeat(4_097);
        let many = vec!["\"a\""; 65].join(",");
        for (text, member) in [
            ("{}".to_owned(), "pattern"),
            (r#"{"pattern":""}"#.to_owned(), "pattern"),
            (format!(r#"{{"pattern":"{long}"}}"#), "pattern"),
            (r#"{"pattern":"a\nb"}"#.to_owned(), "pattern"),
            (r#"{"pattern":"a\u0000"}"#.to_owned(), "pattern"),
            (r#"{"pattern":"a","paths":[]}"#.to_owned(), "paths"),
            (r#"{"pattern":"a","paths":"."}"#.to_owned(), "paths"),
            (format!(r#"{{"pattern":"a","paths":[{many}]}}"#), "paths"),
            (format!(r#"{{"pattern":"a","glob":[{many}]}}"#), "glob"),
            (r#"{"pattern":"a","glob":null}"#.to_owned(), "glob"),
            (
                r#"{"pattern":"a","max_matches":0}"#.to_owned(),
                "max_matches",
            ),
            (
                r#"{"pattern":"a","max_matches":10001}"#.to_owned(),
                "max_matches",
            ),
            (
                r#"{"pattern":"a","max_bytes":1023}"#.to_owned(),
                "max_bytes",
            ),
            (r#"{"pattern":"a","skip":-1}"#.to_owned(), "skip"),
            (
                r#"{"pattern":"a","context_lines":11}"#.to_owned(),
                "context_lines",
            ),
            (
                r#"{"pattern":"a","case_sensitive":1}"#.to_owned(),
                "case_sensitive",
            ),
            (r#"{"pattern":"a","regex":true}"#.to_owned(), "regex"),
        ] {
            let expected = ("invalid_request", Some(member.to_owned()));
            assert_eq!(code_and_member(&text), expected, "{text}");
        }
        assert_eq!(
            code_and_member(r#"{"pattern":"a","paths":["../b"]}"#).0,
            "denied"
        );
    }
}
