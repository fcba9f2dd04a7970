//! `-d` and its kin: pieces of a body, or of a query with `-G`.

use super::table::Data;
use super::{Reading, refused};
use crate::draft::{FileUse, Piece, QueryDraft, Template};
use crate::failure::{Code, Failure};
use crate::http_command::Stdin;

/// What one option gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Datum {
    /// What stands before the content of `--data-urlencode name=content`, without the `=`. Never encoded.
    name: Option<Template>,
    /// The content.
    content: Piece,
    /// Whether `&` stands before it if something else does; `--json` is put on without.
    joined: bool,
}

/// Reads the value of an option.
///
/// # Errors
///
/// `curl-option-refused` for a file without a name, and for standard input where there is none.
pub(super) fn read(
    option: &str,
    kind: Data,
    value: Template,
    reading: &Reading<'_>,
) -> Result<Datum, Failure> {
    let joined = kind != Data::Json;
    if kind == Data::Encoded {
        let (name, content) = encoded(option, &value, reading)?;
        return Ok(Datum {
            name,
            content,
            joined,
        });
    }
    let content = match value.strip_prefix('@') {
        Some(file) if kind != Data::Raw => {
            let how = match kind {
                Data::Plain => FileUse::Stripped,
                _ => FileUse::Verbatim,
            };
            from_file(option, file, how, reading)?
        }
        _ => Piece::Text(value),
    };
    Ok(Datum {
        name: None,
        content,
        joined,
    })
}

/// `content`, `=content`, `name=content`, `@file`, `name@file`.
fn encoded(
    option: &str,
    value: &Template,
    reading: &Reading<'_>,
) -> Result<(Option<Template>, Piece), Failure> {
    let named = |name: Template| (!name.is_empty()).then_some(name);
    if let Some((name, content)) = value.split_once('=') {
        return Ok((named(name), Piece::Encoded(content)));
    }
    match value.split_once('@') {
        Some((name, file)) => Ok((
            named(name),
            from_file(option, file, FileUse::Encoded, reading)?,
        )),
        None => Ok((None, Piece::Encoded(value.clone()))),
    }
}

fn from_file(
    option: &str,
    name: Template,
    how: FileUse,
    reading: &Reading<'_>,
) -> Result<Piece, Failure> {
    if name.is_empty() {
        return Err(refused(option, "names no file after @"));
    }
    if name.as_literal().as_deref() != Some("-") {
        return Ok(Piece::File { name, how });
    }
    match reading.stdin(option)? {
        Stdin::Previous => Ok(Piece::Previous(how)),
        Stdin::Text(text) => Ok(match how {
            FileUse::Verbatim => Piece::Text(text.clone()),
            FileUse::Stripped => Piece::Text(stripped(text)),
            FileUse::Encoded => Piece::Encoded(text.clone()),
        }),
        Stdin::Nothing => Err(refused(
            option,
            "reads standard input, and nothing is there",
        )),
    }
}

/// Without CR, LF and NUL.
fn stripped(text: &Template) -> Template {
    text.map_literals(|text| text.replace(['\r', '\n', '\0'], ""))
}

/// The pieces of a body, `&` between them.
///
/// # Errors
///
/// `curl-option-conflict` for `--json` behind an encoded value, which it would become a part of.
pub(super) fn body(data: &[Datum]) -> Result<Vec<Piece>, Failure> {
    let mut pieces = Vec::new();
    for (index, datum) in data.iter().enumerate() {
        if index > 0 && datum.joined {
            push_text(&mut pieces, Template::literal("&"));
        }
        if let Some(name) = &datum.name {
            push_text(&mut pieces, name.clone());
            push_text(&mut pieces, Template::literal("="));
        }
        match (&datum.content, pieces.last()) {
            (Piece::Text(_), Some(Piece::Encoded(_))) => {
                return Err(conflict("--json after --data-urlencode"));
            }
            (Piece::Text(text), _) => push_text(&mut pieces, text.clone()),
            (piece, _) => pieces.push(piece.clone()),
        }
    }
    Ok(pieces)
}

/// Neighbouring texts are one, so that `assemble` sees a whole JSON text or form.
fn push_text(pieces: &mut Vec<Piece>, text: Template) {
    if let Some(Piece::Text(last)) = pieces.last_mut() {
        last.append(text);
    } else {
        pieces.push(Piece::Text(text));
    }
}

/// The same as pieces of a query.
///
/// # Errors
///
/// `curl-option-conflict` for what a query cannot hold: a file, and `--json` after an encoded piece; `url-invalid` for
/// text that would not be one.
pub(super) fn query(data: &[Datum]) -> Result<Vec<QueryDraft>, Failure> {
    let mut query: Vec<QueryDraft> = Vec::new();
    for datum in data {
        match &datum.content {
            Piece::Text(text) => {
                check_raw(text)?;
                match query.last_mut() {
                    Some(QueryDraft::Raw(last)) if !datum.joined => last.append(text.clone()),
                    Some(QueryDraft::Pair { .. }) if !datum.joined => {
                        return Err(conflict("--json after --data-urlencode, with -G,"));
                    }
                    _ => query.push(QueryDraft::Raw(text.clone())),
                }
            }
            Piece::Encoded(text) => query.push(pair(datum.name.as_ref(), text)?),
            Piece::File { .. } | Piece::Previous(_) => {
                return Err(conflict("-G with the content of a file"));
            }
        }
    }
    Ok(query)
}

/// `--url-query`, which is as `--data-urlencode`, and raw after a `+`.
///
/// # Errors
///
/// As [`query`].
pub(super) fn url_query(
    option: &str,
    value: Template,
    reading: &Reading<'_>,
) -> Result<QueryDraft, Failure> {
    if let Some(raw) = value.strip_prefix('+') {
        check_raw(&raw)?;
        return Ok(QueryDraft::Raw(raw));
    }
    match encoded(option, &value, reading)? {
        (name, Piece::Encoded(text)) => pair(name.as_ref(), &text),
        _ => Err(conflict("--url-query with the content of a file")),
    }
}

/// curl does not encode the name, `assemble` does: it is decoded first, which a second encoding undoes.
fn pair(name: Option<&Template>, value: &Template) -> Result<QueryDraft, Failure> {
    let name = match name {
        None => String::new(),
        Some(name) => {
            check_raw(name)?;
            let name = name
                .as_literal()
                .ok_or_else(|| refused("--data-urlencode", "has a variable as a name"))?;
            if name.contains('&') {
                return Err(refused("--data-urlencode", "has a name with & in it"));
            }
            decoded(&name)
        }
    };
    Ok(QueryDraft::Pair {
        name,
        value: value.clone(),
    })
}

fn decoded(name: &str) -> String {
    url::form_urlencoded::parse(name.as_bytes())
        .next()
        .map(|(name, _)| name.into_owned())
        .unwrap_or_default()
}

/// Text that becomes part of an address as it is.
fn check_raw(text: &Template) -> Result<(), Failure> {
    let unfit = |c: char| c.is_whitespace() || c.is_control() || c == '#';
    if text.literals().any(|literal| literal.contains(unfit)) {
        return Err(Failure::new(
            Code::UrlInvalid,
            "the query would hold a blank, a control character or #; --data-urlencode encodes them",
        ));
    }
    Ok(())
}

fn conflict(what: &str) -> Failure {
    Failure::new(
        Code::CurlOptionConflict,
        format!("{what} makes no request that could be mapped"),
    )
}
