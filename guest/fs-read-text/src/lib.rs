//! The component `fs.read_text`: reads the beginning of a text file.
//!
//! It reads once, decides which encoding the bytes are in, and answers them as Unicode or says where they are
//! not what they should be. Nothing is replaced and nothing guessed: what cannot be read is an error (TS-27).

mod decode;
mod encoding;
mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::charset::End;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, FsError, Overflow, ReadRequest, Symlinks};
use kit::json::write_string;
use kit::path::{Path, fs_error, wrong_type};

use decode::{Decoded, Fault};
use encoding::{Bom, Encoding};
use request::Request;

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
    let window = file.bytes.get(..request.max_bytes).unwrap_or(&file.bytes);
    let end = if file.truncated || window.len() < file.bytes.len() {
        End::Cut
    } else {
        End::Whole
    };
    let bom = Bom::of(&file.bytes, request.encoding).map_err(|fault| at(&request.path, fault))?;
    let decoded = match window.get(bom.length..) {
        Some(content) => decode::decode(content, bom.encoding, end)
            .map_err(|fault| at(&request.path, fault.after(bom.length)))?,
        None => Decoded::nothing(bom.encoding.unwrap_or(Encoding::Utf8)),
    };
    let bytes_read = match window.get(..bom.length) {
        Some(_) => bom.length.saturating_add(decoded.bytes),
        None => 0,
    };
    let truncated = file.truncated || bytes_read < file.bytes.len();
    Ok(answer(&request.path, &decoded, bytes_read, truncated))
}

fn read(host: &mut impl ReadFiles, request: &Request) -> Result<File, SkillError> {
    let asked = ReadRequest {
        path: request.path.absolute().to_owned(),
        max_bytes: u32::try_from(request.max_bytes.max(BOM_BYTES)).unwrap_or(u32::MAX),
        overflow: Overflow::Cut,
        symlinks: Symlinks::Follow,
    };
    let outcome = host.read(&[asked]).pop().unwrap_or(Err(FsError::Io));
    outcome.map_err(|error| fs_error("fs.read", &request.path, error))
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

/// The response (TS-03), written by hand: the text is most of it, and is copied once.
fn answer(path: &Path, decoded: &Decoded<'_>, bytes_read: usize, truncated: bool) -> Vec<u8> {
    let text = decoded.text.as_ref();
    // Room for the other members, and for the escapes of an ordinary text.
    let room = text.len().saturating_add(text.len() / 8);
    let mut out = Vec::with_capacity(room.saturating_add(path.shown().len()).saturating_add(160));
    out.extend_from_slice(b"{\"path\":");
    write_string(&mut out, path.shown());
    out.extend_from_slice(b",\"text\":");
    write_string(&mut out, text);
    let encoding = decoded.encoding.name();
    let rest = format!(
        ",\"bytes_read\":{bytes_read},\"truncated\":{truncated},\"normalized_encoding\":\"{encoding}\"}}"
    );
    out.extend_from_slice(rest.as_bytes());
    out
}

kit::component!(crate::describe, crate::run);
