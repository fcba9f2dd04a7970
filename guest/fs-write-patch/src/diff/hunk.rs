//! Hunks: their header, and the lines below it.
//!
//! Where the counts of a header fit the lines below, they decide which lines belong to the hunk. Where they do not, or
//! are absent, the lines decide: all that begin with a blank, `+` or `-`, up to something that cannot belong to a hunk.

use kit::SkillError;

use super::lines::Lines;
use super::malformed;

/// Lines that may be missing at the end of a text before it counts as cut off.
const MAX_MISSING: usize = 3;

/// One hunk.
#[derive(Debug, Clone)]
pub(crate) struct Hunk<'a> {
    /// Lines of the old file before it, if its header says so.
    pub(crate) position: Option<usize>,
    pub(crate) lines: Vec<Line<'a>>,
    /// One of its sides ends without a newline, so it stands at the end of the file.
    pub(crate) ends_file: bool,
    /// Lines above it that its header names in place of numbers, from the top of the file down.
    pub(crate) anchors: Vec<&'a str>,
    /// What was read otherwise than it is written.
    pub(crate) note: Option<String>,
}

/// On which sides a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Context,
    Removed,
    Added,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) kind: LineKind,
    /// Without line end.
    pub(crate) text: &'a str,
    /// It has a line end; the file ends with it otherwise.
    pub(crate) ended: bool,
    /// The line of the diff, from 1.
    pub(crate) number: usize,
}

/// What a header says: the first old line, and the lines of both sides.
type Ranges = (usize, (usize, usize));

impl<'a> Hunk<'a> {
    /// The lines that the file has to hold.
    pub(crate) fn old(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines
            .iter()
            .filter(|line| line.kind != LineKind::Added)
    }

    /// How many context lines stand before its first change and behind its last.
    pub(crate) fn context(&self) -> (usize, usize) {
        let is_context = |line: &&Line<'_>| line.kind == LineKind::Context;
        let leading = self.lines.iter().take_while(is_context).count();
        let trailing = self.lines.iter().rev().take_while(is_context).count();
        (leading, trailing)
    }

    /// Whether any of its lines ends in a CR, so that none can have lost it.
    pub(crate) fn has_carriage_returns(&self) -> bool {
        self.lines.iter().any(|line| line.text.ends_with('\r'))
    }

    /// Whether it is what the difference to a file that is not there would be.
    pub(crate) fn adds_to_nothing(&self) -> bool {
        self.position == Some(0) && self.old().next().is_none()
    }
}

/// Reads the hunks of one section, at least one; `creates`: there is no old file, so every line is an added one.
pub(super) fn read_all<'a>(
    lines: &mut Lines<'a>,
    creates: bool,
) -> Result<Vec<Hunk<'a>>, SkillError> {
    let mut hunks = Vec::new();
    while lines.at("@@") {
        hunks.push(read(lines, creates)?);
    }
    if hunks.is_empty() {
        let what = "a hunk header `@@ -l,n +l,n @@` must follow the --- and +++ lines";
        return Err(malformed(lines.number(), what));
    }
    Ok(hunks)
}

/// Reads one hunk with its header.
fn read<'a>(lines: &mut Lines<'a>, creates: bool) -> Result<Hunk<'a>, SkillError> {
    let line = lines.number();
    let header = lines.next().unwrap_or_default();
    if header.starts_with("@@@") {
        let what = "a combined diff of several parents cannot be applied";
        return Err(malformed(line, what));
    }
    let Some((start, stated)) = ranges(header) else {
        let mut hunk = without_header(lines, line, creates)?;
        hunk.anchors.extend(anchor(header));
        hunk.note = Some(format!(
            "the hunk at line {line} of the diff has no line numbers: its place was found by its lines"
        ));
        return Ok(hunk);
    };
    let body = match counted(lines, stated) {
        Some(body) => {
            refuse_rest(lines, true)?;
            body
        }
        None => uncounted(lines)?,
    };
    let mut hunk = checked(line, body, creates)?;
    let count = |other| hunk.lines.iter().filter(|line| line.kind != other).count();
    let counts = (count(LineKind::Added), count(LineKind::Removed));
    if stated != counts {
        let missing = |stated: usize, found: usize| stated.saturating_sub(found) > MAX_MISSING;
        let cut = missing(stated.0, counts.0) || missing(stated.1, counts.1);
        let note = format!(
            "the header of the hunk at line {line} of the diff says {} old and {} new lines, it has {} and {}",
            stated.0, stated.1, counts.0, counts.1
        );
        if lines.peek().is_none() && cut {
            let what = format!("the text ends here, and {note}");
            return Err(malformed(lines.number(), &what));
        }
        if counts.0 == 0 && stated.0 > 0 && !creates {
            let what = "the header says where old lines stand and the hunk has none";
            return Err(malformed(line, what));
        }
        hunk.note = Some(note);
    }
    // A side without lines names the line that it follows.
    hunk.position = Some(start.saturating_sub(usize::from(counts.0 > 0)));
    Ok(hunk)
}

/// Reads the lines of a hunk that begins at `line` and has no numbers.
pub(super) fn without_header<'a>(
    lines: &mut Lines<'a>,
    line: usize,
    creates: bool,
) -> Result<Hunk<'a>, SkillError> {
    checked(line, uncounted(lines)?, creates)
}

/// What a header names in place of numbers.
pub(super) fn anchor(header: &str) -> Option<&str> {
    let text = header.trim_start_matches('@').trim_end_matches('@').trim();
    (!text.is_empty()).then_some(text)
}

/// Takes the lines that the counts cover; none if others are there.
fn counted<'a>(lines: &mut Lines<'a>, counts: (usize, usize)) -> Option<Vec<Line<'a>>> {
    let (mut old, mut new) = counts;
    let mut rest = lines.clone();
    let mut body = Vec::new();
    while old > 0 || new > 0 {
        let line = next_line(&mut rest)?;
        if line.kind != LineKind::Added {
            old = old.checked_sub(1)?;
        }
        if line.kind != LineKind::Removed {
            new = new.checked_sub(1)?;
        }
        body.push(line);
    }
    let more = rest
        .peek()
        .is_some_and(|line| line.starts_with([' ', '+', '-', '\\']));
    if more && !rest.at_signature() && !rest.at_names() {
        return None;
    }
    *lines = rest;
    Some(body)
}

/// Takes the lines that can belong to a hunk. Empty lines at its end separate it from what follows.
fn uncounted<'a>(lines: &mut Lines<'a>) -> Result<Vec<Line<'a>>, SkillError> {
    let (mut body, mut end) = (Vec::new(), 0);
    while !lines.at_boundary() {
        let separates = lines.peek() == Some("");
        let Some(line) = next_line(lines) else {
            let what = "a line of a hunk begins with a blank, `+` or `-`, and the counts of its header do not end it before";
            return Err(malformed(lines.number(), what));
        };
        body.push(line);
        if !separates {
            end = body.len();
        }
    }
    body.truncate(end);
    refuse_rest(lines, false)?;
    Ok(body)
}

/// Refuses changes that stand behind the lines taken and outside a section: they may belong to the hunk.
///
/// Where the counts end a hunk, only those count that follow empty lines, lines that lost their mark to a TAB, or one
/// line of text. Where its lines end it, all do up to the next section, but for the lists of a longer text.
fn refuse_rest(lines: &Lines<'_>, counted: bool) -> Result<(), SkillError> {
    let mut rest = lines.clone();
    let mut text = 0_usize;
    while let Some(line) = rest.peek()
        && !(rest.at("@@") || rest.at("diff --git ") || rest.at_mark() || rest.at_names())
    {
        let behind = rest.number() > lines.number() && !rest.at_signature();
        if behind
            && is_change(line)
            && (text < 2 || !(line.starts_with("- ") || line.starts_with("+ ")))
        {
            let what = "this line looks like one of the hunk before it, which ends above by its counts or its lines";
            return Err(malformed(rest.number(), what));
        }
        if line == "~" && text == 0 {
            return Err(malformed(rest.number(), "a word diff cannot be applied"));
        }
        text = text.saturating_add(usize::from(
            !line.is_empty() && !line.starts_with([' ', '\t']),
        ));
        if counted && (text > 1 || text == 1 && line.is_empty()) {
            break;
        }
        rest.next();
    }
    Ok(())
}

/// Whether a line is one that a hunk adds or removes, and no rule or name.
fn is_change(line: &str) -> bool {
    line.starts_with(['+', '-']) && !line.starts_with("---") && !line.starts_with("+++")
}

/// A hunk of these lines; refuses lines behind the end of their side, and a hunk without changes.
fn checked(line: usize, mut body: Vec<Line<'_>>, creates: bool) -> Result<Hunk<'_>, SkillError> {
    let (mut old, mut new) = (false, false);
    for line in &mut body {
        // An empty line cannot be context of a file that is not there.
        if creates && line.kind == LineKind::Context && line.text.is_empty() {
            line.kind = LineKind::Added;
        }
        let sides = (line.kind != LineKind::Added, line.kind != LineKind::Removed);
        if (sides.0 && old) || (sides.1 && new) {
            let what = "a line after the one that ends its side without a newline";
            return Err(malformed(line.number, what));
        }
        old |= sides.0 && !line.ended;
        new |= sides.1 && !line.ended;
    }
    if body.iter().any(|line| line.kind != LineKind::Context) {
        return Ok(Hunk {
            position: None,
            lines: body,
            ends_file: old || new,
            anchors: Vec::new(),
            note: None,
        });
    }
    let is_word = |line: &Line<'_>| line.text.contains("{+") || line.text.contains("[-");
    let what = if body.iter().any(is_word) {
        "the hunk changes no line: a word diff cannot be applied"
    } else {
        "the hunk changes nothing"
    };
    Err(malformed(line, what))
}

/// Takes the next line of a body; none if this is no such line.
fn next_line<'a>(lines: &mut Lines<'a>) -> Option<Line<'a>> {
    let line = lines.peek()?;
    let (kind, text) = match line.as_bytes().first() {
        // An empty context line that lost its blank.
        None => (LineKind::Context, line),
        Some(b' ') => (LineKind::Context, line.get(1..)?),
        Some(b'-') => (LineKind::Removed, line.get(1..)?),
        Some(b'+') => (LineKind::Added, line.get(1..)?),
        Some(_) => return None,
    };
    let number = lines.number();
    lines.next();
    // `\ No newline at end of file`, in whatever language.
    let ended = !lines.at("\\ ");
    if !ended {
        lines.next();
    }
    Some(Line {
        kind,
        text,
        ended,
        number,
    })
}

/// What the header says; none if it has no numbers that can be read.
fn ranges(header: &str) -> Option<Ranges> {
    let mut words = header.strip_prefix("@@")?.split_ascii_whitespace();
    let (start, old) = range(words.next()?.strip_prefix('-')?)?;
    let (_, new) = range(words.next()?.strip_prefix('+')?)?;
    Some((start, (old, new)))
}

/// `l,n`, or `l` for one line.
fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((number(start)?, number(count)?))
}

/// A number of lines; more than any file has are as good as [`u32::MAX`].
fn number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().unwrap_or(u32::MAX))?;
    usize::try_from(number).ok()
}
