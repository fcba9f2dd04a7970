//! Hunks: their header, and the lines that its counts cover (TS-45, TS-48).

use kit::SkillError;

use super::lines::Lines;
use super::malformed;

/// One hunk, checked: its lines are as many as its header says.
#[derive(Debug, Clone)]
pub struct Hunk<'a> {
    /// The line of the diff where its header stands, from 1.
    pub line: usize,
    /// Lines of the old file before it.
    pub position: u32,
    /// Lines of its old side: context and removed ones.
    pub old_lines: u32,
    /// Lines of its new side: context and added ones.
    new_lines: u32,
    /// One of its sides ends without a newline, so it stands at the end of the file.
    pub ends_file: bool,
    body: Lines<'a>,
}

/// On which sides a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On both.
    Context,
    /// On the old one.
    Removed,
    /// On the new one.
    Added,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// On which sides it stands.
    pub kind: Kind,
    /// Without line end.
    pub text: &'a str,
    /// It has a line end; the file ends with it otherwise.
    pub ended: bool,
}

impl<'a> Hunk<'a> {
    /// Its lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let (mut lines, mut old, mut new) = (self.body.clone(), self.old_lines, self.new_lines);
        std::iter::from_fn(move || {
            if old == 0 && new == 0 {
                return None;
            }
            let line = next_line(&mut lines)?;
            if line.kind != Kind::Added {
                old = old.checked_sub(1)?;
            }
            if line.kind != Kind::Removed {
                new = new.checked_sub(1)?;
            }
            Some(line)
        })
    }

    /// Whether it is what the difference to a file that is not there would be.
    pub(super) fn adds_to_nothing(&self) -> bool {
        self.position == 0 && self.old_lines == 0
    }

    /// Lines of the old file up to its end.
    fn end(&self) -> u64 {
        u64::from(self.position).saturating_add(u64::from(self.old_lines))
    }
}

/// The hunks of one section: at least one, in order, without overlaps.
pub(super) fn read_all<'a>(lines: &mut Lines<'a>) -> Result<Vec<Hunk<'a>>, SkillError> {
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    while lines.at("@@") {
        let hunk = read(lines)?;
        if let Some(before) = hunks.last() {
            if u64::from(hunk.position) < before.end() {
                return Err(malformed(
                    hunk.line,
                    "the hunk begins before the end of the one before it",
                ));
            }
            if before.ends_file {
                return Err(malformed(
                    hunk.line,
                    "a hunk follows the one that ends the file without a newline",
                ));
            }
        }
        hunks.push(hunk);
    }
    if hunks.is_empty() {
        return Err(malformed(
            lines.number(),
            "a hunk header `@@ -l,n +l,n @@` must follow the --- and +++ lines",
        ));
    }
    Ok(hunks)
}

/// One hunk.
fn read<'a>(lines: &mut Lines<'a>) -> Result<Hunk<'a>, SkillError> {
    let line = lines.number();
    let header = lines.next().unwrap_or_default();
    let ((start, old_lines), (_, new_lines)) = ranges(header).ok_or_else(|| {
        let what = if header.starts_with("@@@") {
            "a combined diff of several parents cannot be applied"
        } else {
            "not a hunk header of the form `@@ -l,n +l,n @@`"
        };
        malformed(line, what)
    })?;
    let mut hunk = Hunk {
        line,
        // A side without lines names the line that it follows.
        position: start.saturating_sub(u32::from(old_lines > 0)),
        old_lines,
        new_lines,
        ends_file: false,
        body: lines.clone(),
    };
    read_body(&mut hunk, lines)?;
    check_end(lines)?;
    Ok(hunk)
}

/// Lines that a side still expects.
struct Side {
    left: u32,
    /// Its last line had no line end.
    over: bool,
}

impl Side {
    fn take(&mut self, name: &str, line: Line<'_>, number: usize) -> Result<(), SkillError> {
        if self.over {
            let what = format!("a line of the {name} side after the one without a newline");
            return Err(malformed(number, &what));
        }
        self.over = !line.ended;
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            let what = format!("the hunk has more lines of the {name} side than its header says");
            malformed(number, &what)
        })?;
        Ok(())
    }
}

/// Takes the lines that the counts of the header cover.
fn read_body(hunk: &mut Hunk<'_>, lines: &mut Lines<'_>) -> Result<(), SkillError> {
    let side = |left| Side { left, over: false };
    let (mut old, mut new) = (side(hunk.old_lines), side(hunk.new_lines));
    let mut changes = false;
    while old.left > 0 || new.left > 0 {
        let number = lines.number();
        let line = next_line(lines).ok_or_else(|| {
            let what = "the hunk has fewer lines than its header says";
            malformed(number, what)
        })?;
        changes |= line.kind != Kind::Context;
        if line.kind != Kind::Added {
            old.take("old", line, number)?;
        }
        if line.kind != Kind::Removed {
            new.take("new", line, number)?;
        }
    }
    hunk.ends_file = old.over || new.over;
    if changes {
        Ok(())
    } else {
        Err(malformed(hunk.line, "the hunk changes nothing"))
    }
}

/// Refuses what can only be a line too many: it was meant to be applied.
fn check_end(lines: &Lines<'_>) -> Result<(), SkillError> {
    let Some(next) = lines.peek() else {
        return Ok(());
    };
    // What ends the body of a mail: counts decide, it is no removed line.
    let signature = next == "-- " || next == "--";
    if next.starts_with([' ', '+', '-', '\\']) && !signature && !lines.at_names() {
        return Err(malformed(
            lines.number(),
            "the hunk has more lines than its header says",
        ));
    }
    Ok(())
}

/// The next line of a body; none if this is no such line.
fn next_line<'a>(lines: &mut Lines<'a>) -> Option<Line<'a>> {
    let line = lines.peek()?;
    let (kind, text) = match line.as_bytes().first() {
        // An empty context line that lost its blank.
        None => (Kind::Context, line),
        Some(b' ') => (Kind::Context, line.get(1..)?),
        Some(b'-') => (Kind::Removed, line.get(1..)?),
        Some(b'+') => (Kind::Added, line.get(1..)?),
        Some(_) => return None,
    };
    lines.next();
    // `\ No newline at end of file`, in whatever language.
    let ended = !lines.at("\\");
    if !ended {
        lines.next();
    }
    Some(Line { kind, text, ended })
}

/// First line and number of lines of the old and the new side.
fn ranges(header: &str) -> Option<((u32, u32), (u32, u32))> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(' ')?;
    let (new, rest) = rest.strip_prefix('+')?.split_once(' ')?;
    rest.starts_with("@@")
        .then(|| Some((range(old)?, range(new)?)))?
}

/// `l,n`, or `l` for one line. Only an empty side may begin at line 0.
fn range(text: &str) -> Option<(u32, u32)> {
    let (start, lines) = match text.split_once(',') {
        Some((start, lines)) => (number(start)?, number(lines)?),
        None => (number(text)?, 1),
    };
    (start > 0 || lines == 0).then_some((start, lines))
}

fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}
