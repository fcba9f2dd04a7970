//! Where the hunks of a section apply in a file, and what becomes of its bytes.
//!
//! The old lines of a hunk must stand where its header says, or else in exactly one place behind the hunk before. They
//! are compared byte for byte first. Lines that lost their CR or the white space at their end match too, if no line
//! of the hunk has a CR; what the file has then stays in it.

use std::cell::OnceCell;
use std::ops::Range;

use crate::diff::{Hunk, Line, LineKind};
use crate::response::Reason;
use crate::text::{Form, Found, Text};

/// Hunks that do not fit and are explained.
const MAX_MISFITS: usize = 101;

/// Bytes of a line that a message shows.
const MAX_SHOWN: usize = 60;

/// The index of a hunk that does not fit in its section, and why.
pub(crate) type Misfit = (usize, Reason, String);

/// The bytes that a hunk replaces, and the new ones.
type Edit = (Range<usize>, Vec<u8>);

/// Returns the content with all hunks applied, or those that do not fit. Adds to `notes` what was read loosely.
pub(crate) fn apply(
    content: &[u8],
    hunks: &[Hunk<'_>],
    fuzz: usize,
    notes: &mut Vec<String>,
) -> Result<Vec<u8>, Vec<Misfit>> {
    let mut placer = Placer::new(content, fuzz);
    let (mut edits, mut misfits) = (Vec::new(), Vec::new());
    for (index, hunk) in hunks.iter().enumerate() {
        match placer.place(hunk) {
            Ok(edit) => edits.push(edit),
            Err((reason, message)) => misfits.push((index, reason, message)),
        }
        if misfits.len() == MAX_MISFITS {
            break;
        }
    }
    if !misfits.is_empty() {
        return Err(misfits);
    }
    if placer.loosely {
        notes.push("white space at the ends of lines (blanks, CR or the last newline) differs: lines that stay keep theirs, new lines end in LF or CR LF as they do".to_owned());
    }
    if placer.fuzzily {
        notes.push(
            "context lines at the ends of a hunk differ, as `fuzz` allows: those of the file stay"
                .to_owned(),
        );
    }
    let mut new = Vec::with_capacity(content.len());
    let mut copied = 0;
    for (replaced, bytes) in edits {
        new.extend_from_slice(content.get(copied..replaced.start).unwrap_or_default());
        new.extend_from_slice(&bytes);
        copied = replaced.end;
    }
    new.extend_from_slice(content.get(copied..).unwrap_or_default());
    Ok(new)
}

/// A file whose hunks are being placed, in order.
struct Placer<'a> {
    content: &'a [u8],
    exact: Text<'a>,
    /// The other forms, made when they are first needed.
    loose: [OnceCell<Text<'a>>; 2],
    /// A hunk was found by lines that differ at their ends.
    loosely: bool,
    /// A hunk was found without all of its context lines.
    fuzzily: bool,
    fuzz: usize,
    /// The line behind the hunk before.
    behind: usize,
    /// How many lines further down than stated the hunk before was.
    shift: i64,
}

/// Old lines of a hunk without the context that a level of fuzz drops, and how they are compared.
struct Side<'h, 'a> {
    lines: &'h [&'h Line<'a>],
    /// Context lines dropped before them.
    dropped: usize,
    ends_file: bool,
    form: Form,
}

impl Side<'_, '_> {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in self.lines {
            bytes.extend_from_slice(&self.form.compared(line.text.as_bytes()));
            if line.ended || self.form != Form::Exact {
                bytes.push(b'\n');
            }
        }
        bytes
    }
}

impl<'a> Placer<'a> {
    fn new(content: &'a [u8], fuzz: usize) -> Self {
        Self {
            content,
            exact: Text::new(content, Form::Exact),
            loose: Default::default(),
            loosely: false,
            fuzzily: false,
            fuzz,
            behind: 0,
            shift: 0,
        }
    }

    /// The text in a form.
    fn text(&self, form: Form) -> &Text<'a> {
        let [trimmed, squeezed] = &self.loose;
        let cell = match form {
            Form::Exact => return &self.exact,
            Form::Trimmed => trimmed,
            Form::Squeezed => squeezed,
        };
        cell.get_or_init(|| Text::new(self.content, form))
    }

    /// Places the next hunk.
    fn place(&mut self, hunk: &Hunk<'_>) -> Result<Edit, (Reason, String)> {
        let old: Vec<_> = hunk.old().collect();
        let (leading, trailing) = hunk.context();
        let forms: &[_] = match hunk.has_carriage_returns() {
            true => &[Form::Exact],
            false => &[Form::Exact, Form::Trimmed],
        };
        let mut tried = None;
        for level in 0..=self.fuzz {
            let drop = (level.min(leading), level.min(trailing));
            let kept = drop.0..old.len().saturating_sub(drop.1);
            let lines = old.get(kept).unwrap_or_default();
            // A level that drops no more than the one before, or all that says where the hunk belongs.
            if level > 0 && (tried == Some(drop) || lines.is_empty()) {
                break;
            }
            tried = Some(drop);
            for form in forms {
                let side = Side {
                    lines,
                    dropped: drop.0,
                    ends_file: hunk.ends_file && drop.1 == 0,
                    form: *form,
                };
                match self.find(hunk, &side) {
                    Found::Once(at) => {
                        self.check_place(hunk, &side, at, forms)?;
                        self.fuzzily |= lines.len() < old.len();
                        return self.accept(hunk, &side, at);
                    }
                    Found::Ambiguous => return Err((Reason::Ambiguous, self.ambiguity(hunk))),
                    Found::Nowhere => {}
                }
            }
        }
        Err((Reason::ContextMismatch, self.mismatch(hunk, &old)))
    }

    /// Refuses a place that is not the only one a reader may take: byte for byte where the hunk does not say, though it
    /// fits at another but for white space at the ends of lines; as far down as the hunk before was, though it fits
    /// where it says; above a line that its header names.
    fn check_place(
        &self,
        hunk: &Hunk<'_>,
        side: &Side<'_, '_>,
        at: usize,
        forms: &[Form],
    ) -> Result<(), (Reason, String)> {
        let place = at.saturating_add(1);
        let written = hunk.position.map(|line| line.saturating_add(side.dropped));
        if written == Some(at) {
            return Ok(());
        }
        if let Some(other) = written
            && !side.lines.is_empty()
            && self.fits(
                &Side {
                    form: *forms.last().unwrap_or(&side.form),
                    ..*side
                },
                other,
            )
        {
            let other = other.saturating_add(1);
            let what = format!(
                "the old lines match at line {other}, where the hunk says, and also at line {place}"
            );
            return Err((Reason::Ambiguous, what));
        }
        if let [Form::Exact, form] = *forms
            && side.form == Form::Exact
            && self.find(hunk, &Side { form, ..*side }) != Found::Once(at)
        {
            let what = format!(
                "the old lines match at line {place}, and at another but for white space at the ends of lines"
            );
            return Err((Reason::Ambiguous, what));
        }
        let anchor = self.anchor(hunk);
        let end = at.saturating_add(side.lines.len());
        if let Some(above) = anchor.filter(|line| *line >= end) {
            let above = above.saturating_add(1);
            let what = format!(
                "the old lines match at line {place} only, above line {above}, which the hunk names as one above it"
            );
            return Err((Reason::ContextMismatch, what));
        }
        Ok(())
    }

    /// The last of the lines that a hunk names as those above it, each looked for below the one before.
    fn anchor(&self, hunk: &Hunk<'_>) -> Option<usize> {
        let mut lines = self.content.split(|byte| *byte == b'\n').enumerate();
        let mut last = None;
        for anchor in &hunk.anchors {
            let mut rest = lines.clone();
            if let Some((line, _)) = rest.find(|(_, text)| text.trim_ascii() == anchor.as_bytes()) {
                (lines, last) = (rest, Some(line));
            }
        }
        last
    }

    /// Whether the lines stand at line `at`, behind the hunk before.
    fn fits(&self, side: &Side<'_, '_>, at: usize) -> bool {
        let text = self.text(side.form);
        let end = at.saturating_add(side.lines.len());
        at >= self.behind
            && end <= text.len()
            && text.lines(at..end) == side.bytes()
            && (!side.ends_file || end == text.len())
            // Lines are added behind a newline only.
            && (!side.lines.is_empty() || at < text.len() || self.exact.is_ended())
    }

    /// The line where the hunk says it begins, moved as far as the one before was.
    fn stated(&self, hunk: &Hunk<'_>) -> Option<i64> {
        let position = i64::try_from(hunk.position?).unwrap_or(i64::MAX);
        Some(position.saturating_add(self.shift))
    }

    /// The stated place first, then the only one in the rest of the file.
    fn find(&self, hunk: &Hunk<'_>, side: &Side<'_, '_>) -> Found {
        let text = self.text(side.form);
        let (bytes, count) = (side.bytes(), side.lines.len());
        let fits = |at: &usize| self.fits(side, *at);
        let open = side.lines.last().is_some_and(|line| !line.ended);
        if open && self.exact.is_ended() {
            return Found::Nowhere;
        }
        let stated = self.stated(hunk).map(|line| {
            let dropped = i64::try_from(side.dropped).unwrap_or(i64::MAX);
            usize::try_from(line.saturating_add(dropped)).unwrap_or(usize::MAX)
        });
        let stated = if text.len() == 0 { Some(0) } else { stated };
        if let Some(at) = stated.filter(fits) {
            return Found::Once(at);
        }
        if count == 0 {
            return Found::Nowhere;
        }
        if side.ends_file {
            let end = text.len().checked_sub(count).filter(fits);
            return end.map_or(Found::Nowhere, Found::Once);
        }
        text.find(&bytes, self.behind)
    }

    /// What a hunk does whose old lines begin at line `at`.
    fn accept(
        &mut self,
        hunk: &Hunk<'_>,
        side: &Side<'_, '_>,
        at: usize,
    ) -> Result<Edit, (Reason, String)> {
        let matched = at..at.saturating_add(side.lines.len());
        let line_end = self.line_end(hunk, matched.clone())?;
        let (leading, trailing) = hunk.context();
        let first = at.saturating_add(leading).saturating_sub(side.dropped);
        let mut line = first;
        let mut new = Vec::new();
        let end_line = |new: &mut Vec<u8>| new.extend_from_slice(line_end);
        let open = !self.exact.is_ended();
        if open && first == self.exact.len() {
            end_line(&mut new);
        }
        let changes = leading..hunk.lines.len().saturating_sub(trailing);
        for change in hunk.lines.get(changes).unwrap_or_default() {
            let next = line.saturating_add(1);
            match change.kind {
                LineKind::Context => {
                    new.extend_from_slice(self.exact.lines(line..next));
                    if open && next == self.exact.len() {
                        end_line(&mut new);
                    }
                    line = next;
                }
                LineKind::Removed => line = next,
                LineKind::Added => {
                    new.extend_from_slice(change.text.as_bytes());
                    if change.ended {
                        end_line(&mut new);
                    }
                }
            }
        }
        // The last line of the file has no newline and the diff does not say so: it stays so.
        let unsaid = open && side.lines.last().is_some_and(|line| line.ended);
        if unsaid && line == self.exact.len() && new.ends_with(line_end) {
            new.truncate(new.len().saturating_sub(line_end.len()));
        }
        if side.form != Form::Exact && self.exact.lines(first..line) == new {
            let what =
                "the file holds the new lines already, but for white space at the ends of lines";
            return Err((Reason::ContextMismatch, what.to_owned()));
        }
        self.loosely |= side.form != Form::Exact;
        self.behind = matched.end;
        if let Some(position) = hunk.position {
            let signed = |lines: usize| i64::try_from(lines).unwrap_or(i64::MAX);
            self.shift = signed(at)
                .saturating_sub(signed(side.dropped))
                .saturating_sub(signed(position));
        }
        Ok((self.exact.start(first)..self.exact.start(line), new))
    }

    /// What ends the added lines: as the lines do that the hunk was found by, or else all of the file.
    fn line_end(
        &self,
        hunk: &Hunk<'_>,
        matched: Range<usize>,
    ) -> Result<&'static [u8], (Reason, String)> {
        let ends = |lines: Range<usize>| {
            let lines = self
                .exact
                .lines(lines)
                .split_inclusive(|byte| *byte == b'\n');
            let crlf = lines.clone().filter(|line| line.ends_with(b"\r\n")).count();
            let all = lines.filter(|line| line.ends_with(b"\n")).count();
            (crlf, all.saturating_sub(crlf))
        };
        if hunk.has_carriage_returns() {
            return Ok(b"\n");
        }
        let all = 0..self.exact.len();
        match ends(matched.clone()) {
            (0, 0) if matched != all => self.line_end(hunk, all).or(Ok(b"\n")),
            (0, _) => Ok(b"\n"),
            (_, 0) => Ok(b"\r\n"),
            _ => {
                let what = "some of the lines of the file end in LF here and some in CR LF: the diff has to say which";
                Err((Reason::ContextMismatch, what.to_owned()))
            }
        }
    }

    /// A line of the file without its newline.
    fn file_line(&self, line: usize) -> &[u8] {
        let bytes = self.exact.lines(line..line.saturating_add(1));
        bytes.strip_suffix(b"\n").unwrap_or(bytes)
    }

    fn ambiguity(&self, hunk: &Hunk<'_>) -> String {
        match self.stated(hunk) {
            Some(line) => format!(
                "the old lines do not match at line {} and match in several other places",
                line.saturating_add(1)
            ),
            None => {
                "the old lines match in several places, and the hunk has no line numbers".to_owned()
            }
        }
    }

    /// Why a hunk fits nowhere.
    fn mismatch(&self, hunk: &Hunk<'_>, old: &[&Line<'_>]) -> String {
        let side = Side {
            lines: old,
            dropped: 0,
            ends_file: false,
            form: Form::Squeezed,
        };
        let stated = self.stated(hunk);
        if let Found::Once(at) = self.find(hunk, &side)
            && let Some(differs) = self.difference(hunk, old, at)
        {
            let at = at.saturating_add(1);
            return format!("the old lines match at line {at} but for white space: {differs}");
        }
        let Some(line) = stated.map(|line| usize::try_from(line).unwrap_or(0)) else {
            return "the old lines match nowhere below the hunk before".to_owned();
        };
        let number = line.saturating_add(1);
        if old.is_empty() {
            return format!("no lines can be added at line {number} of the file");
        }
        match self.difference(hunk, old, line) {
            Some(differs) => {
                format!("the old lines do not match at line {number}, and nowhere below: {differs}")
            }
            None if line < self.behind => {
                format!("the hunk begins at line {number}, before the end of the one before it")
            }
            None => format!(
                "the old lines stand at line {number}, but the file does not end there as the diff says"
            ),
        }
    }

    /// The first line that differs where the hunk is laid at line `at`.
    fn difference(&self, hunk: &Hunk<'_>, old: &[&Line<'_>], at: usize) -> Option<String> {
        let form = match hunk.has_carriage_returns() {
            true => Form::Exact,
            false => Form::Trimmed,
        };
        let differs = |(wanted, line): &(&&Line<'_>, usize)| {
            *line >= self.exact.len()
                || form.compared(wanted.text.as_bytes()) != form.compared(self.file_line(*line))
        };
        let (wanted, line) = old.iter().zip(at..).find(differs)?;
        let (number, of_file) = (wanted.number, line.saturating_add(1));
        let text = shown(wanted.text.as_bytes());
        if line >= self.exact.len() {
            return Some(format!(
                "line {number} of the diff is {text}, and the file has no line {of_file}"
            ));
        }
        let there = shown(self.file_line(line));
        Some(format!(
            "line {number} of the diff is {text}, line {of_file} of the file is {there}"
        ))
    }
}

/// The beginning of a line, quoted.
fn shown(line: &[u8]) -> String {
    let cut = line.get(..MAX_SHOWN).unwrap_or(line);
    format!("{:?}", String::from_utf8_lossy(cut))
}
