//! The component `fs.read_text`: reads a text file, or a part of it.
//!
//! It reads once, decides which encoding the bytes are in, and answers them as Unicode or says where they are
//! not what they should be. Nothing is replaced and nothing guessed: what cannot be read is an error.

mod decode;
mod encoding;
mod lines;
mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::charset::End;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, Overflow, ReadRequest, Symlinks};
use kit::json::write_string;
use kit::members::invalid;
use kit::path::{Path, fs_error, wrong_type};

use decode::{Decoded, Fault};
use encoding::{Bom, Encoding};
use lines::Lines;
use request::{MAX_OFFSET, Range, Request};

/// Bytes that the host reads of a file.
const MAX_READ: usize = 16 * 1024 * 1024;

/// Bytes that a byte order mark is told by. So many are read even where the window is smaller.
const BOM_BYTES: usize = 4;

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and
/// `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call.
///
/// # Errors
/// `invalid_request`; `unsupported` for an encoding that is not read; `wrong_type` for what is no text file;
/// `malformed` with the offset of the first byte that is not of the encoding; and what reading fails with.
pub fn run(host: &mut impl ReadFiles, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let file = read(host, &request)?;
    let fail = |fault| at(&request.path, fault);
    let bom = Bom::of(&file.bytes, request.encoding).map_err(fail)?;
    let (begin, end, total_lines) = match request.range {
        Range::From(offset) => (offset.min(file.bytes.len()), file.bytes.len(), None),
        Range::Lines { first, last } => {
            let lines = Lines::find(&file.bytes, bom, first, last);
            // Of a file that is longer nobody knows.
            let total = (!file.truncated).then_some(lines.total);
            (lines.begin, lines.end, total)
        }
    };
    let end = begin.saturating_add(request.max_bytes).min(end);
    let is_whole = end == file.bytes.len() && !file.truncated;
    let text_begin = begin.max(bom.length);
    let (decoded, position) = match file.bytes.get(text_begin..end) {
        Some(text) => {
            let text_end = if is_whole { End::Whole } else { End::Cut };
            let bytes = file.bytes.get(..end).unwrap_or_default();
            if decode::begins_within_character(bytes, text_begin, bom.encoding, text_end) {
                return Err(invalid("offset", "is within a character"));
            }
            let decoded = decode::decode(text, bom.encoding, text_end)
                .map_err(|fault| fail(fault.after(text_begin)))?;
            let position = text_begin.saturating_add(decoded.bytes);
            (decoded, position)
        }
        // The window ends within the byte order mark.
        None => (
            Decoded::nothing(bom.encoding.unwrap_or(Encoding::Utf8)),
            begin,
        ),
    };
    let answer = Answer {
        path: &request.path,
        decoded: &decoded,
        begin,
        position,
        truncated: file.truncated || position < file.bytes.len(),
        total_lines,
    };
    Ok(answer.write())
}

fn read(host: &mut impl ReadFiles, request: &Request) -> Result<File, SkillError> {
    let most = match request.range {
        Range::From(offset) => offset.saturating_add(request.max_bytes),
        Range::Lines { .. } => MAX_READ,
    };
    let asked = ReadRequest {
        path: request.path.absolute().to_owned(),
        max_bytes: u32::try_from(most.max(BOM_BYTES)).unwrap_or(u32::MAX),
        overflow: Overflow::Cut,
        symlinks: Symlinks::Follow,
    };
    host.read_file(asked)
        .map_err(|error| fs_error("fs.read", &request.path, error))
}

/// The error of a file that holds something else than text of the encoding.
fn at(path: &Path, fault: Fault) -> SkillError {
    match fault {
        Fault::Binary => wrong_type(path, "binary"),
        Fault::Utf32 => SkillError::new(
            "unsupported",
            &format!("{}: UTF-32 is not read", path.shown()),
        )
        .with_details(r#"{"encoding":"utf-32"}"#.to_owned()),
        Fault::Malformed { encoding, offset } => {
            let name = encoding.name();
            SkillError::new(
                "malformed",
                &format!("{}: not {name} at byte {offset}", path.shown()),
            )
            .with_details(format!("{{\"encoding\":\"{name}\",\"offset\":{offset}}}"))
        }
    }
}

/// What is answered.
struct Answer<'a> {
    path: &'a Path,
    decoded: &'a Decoded<'a>,
    /// Where in the file the text begins, and where it ends.
    begin: usize,
    position: usize,
    truncated: bool,
    total_lines: Option<u32>,
}

impl Answer<'_> {
    /// The response, written by hand: the text is most of it, and is copied once.
    fn write(&self) -> Vec<u8> {
        let text = self.decoded.text.as_ref();
        let path = self.path.shown();
        // Room for the other members, and for the escapes of an ordinary text.
        let room = text.len().saturating_add(text.len() / 8);
        let mut out = Vec::with_capacity(room.saturating_add(path.len()).saturating_add(224));
        out.extend_from_slice(b"{\"path\":");
        write_string(&mut out, path);
        out.extend_from_slice(b",\"text\":");
        write_string(&mut out, text);
        let bytes_read = self.position.saturating_sub(self.begin);
        let (truncated, encoding) = (self.truncated, self.decoded.encoding.name());
        let mut rest = format!(
            ",\"bytes_read\":{bytes_read},\"truncated\":{truncated},\"normalized_encoding\":\"{encoding}\""
        );
        if let Some(total) = self.total_lines {
            rest.push_str(&format!(",\"total_lines\":{total}"));
        }
        let next = u32::try_from(self.position).ok();
        if let Some(next) = next.filter(|next| truncated && bytes_read > 0 && *next <= MAX_OFFSET) {
            rest.push_str(&format!(",\"next\":{{\"offset\":{next}}}"));
        }
        rest.push('}');
        out.extend_from_slice(rest.as_bytes());
        out
    }
}

kit::component!(crate::describe, crate::run);
