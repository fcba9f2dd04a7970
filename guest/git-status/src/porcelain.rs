//! The format `git status --porcelain=v2 --branch -z`: records that end with NUL, fields that end with a space.
//!
//! A path is the last field, byte for byte, so it may hold spaces, line feeds and bytes that are no text. A rename
//! has a second path, as a record of its own. Headers and kinds of records that are not known are skipped, as git's
//! manual asks for.

use kit::SkillError;

/// What git says; paths and names are bytes of its answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Status<'a> {
    /// The commit; none on an unborn branch.
    pub(crate) head: Option<&'a [u8]>,
    /// The branch; none when detached.
    pub(crate) branch: Option<&'a [u8]>,
    pub(crate) upstream: Option<&'a [u8]>,
    /// Commits ahead and behind; none without an upstream that exists.
    pub(crate) ahead_behind: Option<(u64, u64)>,
    pub(crate) staged: Vec<&'a [u8]>,
    pub(crate) unstaged: Vec<&'a [u8]>,
    pub(crate) untracked: Vec<&'a [u8]>,
    pub(crate) conflicted: Vec<Conflict<'a>>,
    pub(crate) renames: Vec<Rename<'a>>,
}

/// An unmerged path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Conflict<'a> {
    pub(crate) path: &'a [u8],
    /// Two letters: what each side did.
    pub(crate) code: &'a [u8],
}

/// A path that was renamed or copied; ordered by the new one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rename<'a> {
    pub(crate) to: &'a [u8],
    pub(crate) from: &'a [u8],
    /// In the index, not in the work tree alone.
    pub(crate) staged: bool,
}

/// Reads git's answer. Where it was `cut`, the record at its end is left out.
///
/// # Errors
/// `malformed`, with the number of the record that is not what git writes.
pub(crate) fn read(bytes: &[u8], cut: bool) -> Result<Status<'_>, SkillError> {
    let mut status = Status::default();
    // What follows the last NUL is nothing, or a record that was cut.
    let (whole, rest) = match bytes.iter().rposition(|byte| *byte == 0) {
        Some(last) => bytes
            .split_at_checked(last.saturating_add(1))
            .unwrap_or_default(),
        None => (&[][..], bytes),
    };
    if !rest.is_empty() && !cut {
        return Err(malformed(0));
    }
    let mut records = whole
        .strip_suffix(&[0])
        .into_iter()
        .flat_map(|whole| whole.split(|byte| *byte == 0));
    let mut number = 0_usize;
    while let Some(record) = records.next() {
        number = number.saturating_add(1);
        let Some((kind, fields)) = split(record) else {
            return Err(malformed(number));
        };
        let read = match kind {
            b"#" => status.header(fields),
            b"1" => status.changed(fields),
            b"2" => match records.next() {
                Some(from) => status.renamed(fields, from),
                // The other path was cut off.
                None if cut => Some(()),
                None => None,
            },
            b"u" => status.unmerged(fields),
            b"?" => {
                status.untracked.push(fields);
                Some(())
            }
            _ => Some(()),
        };
        read.ok_or_else(|| malformed(number))?;
    }
    Ok(status)
}

fn malformed(record: usize) -> SkillError {
    let message = format!("git's answer is not understood at record {record}");
    SkillError::new("malformed", &message)
}

/// The first field and what follows it.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b' ')?;
    let (field, rest) = bytes.split_at_checked(end)?;
    Some((field, rest.strip_prefix(b" ")?))
}

/// What follows `count` fields: a path.
fn after(fields: &[u8], count: usize) -> Option<&[u8]> {
    let path = (0..count).try_fold(fields, |rest, _| Some(split(rest)?.1))?;
    (!path.is_empty()).then_some(path)
}

impl<'a> Status<'a> {
    /// `branch.oid`, `branch.head`, `branch.upstream` and `branch.ab`; other headers are skipped.
    fn header(&mut self, fields: &'a [u8]) -> Option<()> {
        let (name, value) = split(fields).unwrap_or((fields, &[]));
        match name {
            b"branch.oid" => self.head = (value != b"(initial)").then_some(value),
            b"branch.head" => self.branch = (value != b"(detached)").then_some(value),
            b"branch.upstream" => self.upstream = Some(value),
            b"branch.ab" => {
                let (ahead, behind) = split(value)?;
                self.ahead_behind = Some((count(ahead, b"+")?, count(behind, b"-")?));
            }
            _ => {}
        }
        Some(())
    }

    /// `XY sub mH mI mW hH hI path`.
    fn changed(&mut self, fields: &'a [u8]) -> Option<()> {
        let (index, work_tree) = codes(fields)?;
        self.listed(index, work_tree, after(fields, 7)?);
        Some(())
    }

    /// `XY sub mH mI mW hH hI score path`, and the old path.
    fn renamed(&mut self, fields: &'a [u8], from: &'a [u8]) -> Option<()> {
        let (index, work_tree) = codes(fields)?;
        let to = after(fields, 8)?;
        self.listed(index, work_tree, to);
        let staged = matches!(index, b'R' | b'C');
        self.renames.push(Rename { to, from, staged });
        (!from.is_empty()).then_some(())
    }

    /// `XY sub m1 m2 m3 mW h1 h2 h3 path`.
    fn unmerged(&mut self, fields: &'a [u8]) -> Option<()> {
        codes(fields)?;
        let (code, _) = split(fields)?;
        let path = after(fields, 9)?;
        self.conflicted.push(Conflict { path, code });
        Some(())
    }

    /// Lists a changed path; a dot means unchanged.
    fn listed(&mut self, index: u8, work_tree: u8, path: &'a [u8]) {
        if index != b'.' {
            self.staged.push(path);
        }
        if work_tree != b'.' {
            self.unstaged.push(path);
        }
    }
}

/// The two letters about the index and the work tree.
fn codes(fields: &[u8]) -> Option<(u8, u8)> {
    match split(fields)?.0 {
        [index, work_tree] => Some((*index, *work_tree)),
        _ => None,
    }
}

/// `+2`, `-0`; `?` where git did not count.
fn count(field: &[u8], sign: &[u8]) -> Option<u64> {
    match field.strip_prefix(sign)? {
        b"?" => Some(0),
        digits => std::str::from_utf8(digits).ok()?.parse().ok(),
    }
}
