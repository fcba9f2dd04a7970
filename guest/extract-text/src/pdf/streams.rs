//! Streams of the file: where their bytes end, and what they decode to.

use super::filter::{self, Failure, Filter};
use super::lexer::{Lexer, Place};
use super::object::{Dict, Object, Stream};

/// Filters of one stream at most.
const MAX_FILTERS: usize = 8;

/// White space before `endstream` at most.
const MAX_SPACE: usize = 64;

/// Values of a dictionary that is read without a document.
const MAX_NODES: usize = 100_000;

/// The stream that begins with its number at a place of the file, by itself: its length stands in it.
pub(super) fn read_at(file: &[u8], at: usize) -> Option<Stream> {
    let mut lexer = Lexer::new(file, at, Place::File, MAX_NODES);
    lexer.unsigned()?;
    lexer.unsigned()?;
    if !lexer.eat(b"obj") {
        return None;
    }
    match lexer.object()? {
        Object::Dict(dict) => {
            let length = dict.get("Length").and_then(Object::integer);
            read_behind(file, &mut lexer, dict, length)
        }
        _ => None,
    }
}

/// The stream whose dictionary was just read; none if no stream follows.
pub(super) fn read_behind(
    file: &[u8],
    lexer: &mut Lexer<'_>,
    dict: Dict,
    length: Option<i64>,
) -> Option<Stream> {
    if !lexer.eat(b"stream") {
        return None;
    }
    if lexer.peek() == Some(b'\r') {
        lexer.advance(1);
    }
    if lexer.peek() == Some(b'\n') {
        lexer.advance(1);
    }
    let begin = lexer.position();
    let end = length
        .and_then(|length| begin.checked_add(usize::try_from(length).ok()?))
        .filter(|end| {
            let behind = end.saturating_add(MAX_SPACE).min(file.len());
            file.get(*end..behind)
                .is_some_and(|rest| Lexer::new(rest, 0, Place::File, 0).eat(b"endstream"))
        });
    let end = end.unwrap_or_else(|| find_end(file, begin));
    Some(Stream {
        dict,
        bytes: begin..end,
    })
}

/// Where `endstream` stands, or the file ends.
fn find_end(file: &[u8], begin: usize) -> usize {
    let rest = file.get(begin..).unwrap_or_default();
    let word = b"endstream";
    let mut from = 0_usize;
    while let Some(at) = rest
        .get(from..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'e'))
    {
        from = from.saturating_add(at);
        if rest.get(from..).is_some_and(|rest| rest.starts_with(word)) {
            let line = rest.get(..from).unwrap_or_default();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            return begin.saturating_add(line.len());
        }
        from = from.saturating_add(1);
    }
    file.len()
}

/// The bytes of a stream without its filters, within a budget of which every step takes its bytes.
pub(super) fn decode(
    file: &[u8],
    stream: &Stream,
    resolve: impl Fn(&Object) -> Object,
    budget: &mut usize,
) -> Result<Vec<u8>, Failure> {
    let get = |long, short| stream.dict.get(long).or_else(|| stream.dict.get(short));
    let list = |object: Option<&Object>| match object.map(&resolve) {
        None | Some(Object::Null) => Vec::new(),
        Some(Object::Array(array)) => array.iter().map(&resolve).collect(),
        Some(object) => vec![object],
    };
    let names = list(get("Filter", "F"));
    let parameters = list(get("DecodeParms", "DP"));
    let known = |name: &Object| name.name().is_some_and(filter::is_known);
    if names.len() > MAX_FILTERS || !names.iter().all(known) {
        return Err(Failure::Unknown);
    }
    let raw = file.get(stream.bytes.clone()).unwrap_or_default();
    let mut decoded: Option<Vec<u8>> = None;
    for (position, name) in names.iter().enumerate() {
        let filter = Filter {
            name: name.name().ok_or(Failure::Unknown)?,
            parameters: parameters.get(position).and_then(Object::dict),
        };
        let bytes = filter::decode(&filter, decoded.as_deref().unwrap_or(raw), *budget)?;
        *budget = budget.saturating_sub(bytes.len());
        decoded = Some(bytes);
    }
    match decoded {
        Some(decoded) => Ok(decoded),
        None => {
            *budget = budget.checked_sub(raw.len()).ok_or(Failure::TooLarge)?;
            Ok(raw.to_vec())
        }
    }
}
