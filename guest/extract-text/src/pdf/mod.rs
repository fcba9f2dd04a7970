//! PDF.
//!
//! `hayro-syntax` reads the file: cross-references and their repair, filters, decryption. `skrifa` reads embedded fonts, and
//! knows the Adobe Glyph List. What is here turns content streams into text in the order in which it is drawn. Nothing is followed, run or fetched.
//!
//! A hostile file may make a library use up memory, fuel or stack. The host bounds these, and the call ends with its error.
//! Work that a small valid file can ask for without end (forms that draw forms) is bounded here: the answer then holds what was
//! read so far, and says so.

mod bidi;
mod codes;
mod content;
mod encoding;
mod font;
mod layout;
mod metrics;
mod outline;
mod predefined;
mod strings;
mod title;
mod widths;

use std::collections::HashMap;

use hayro_syntax::object::{Dict, ObjectIdentifier};
use hayro_syntax::page::Page;
use hayro_syntax::{LoadPdfError, Pdf};
use kit::SkillError;

use self::content::Painter;
use crate::error::{malformed, unsupported};
use crate::output::{Gap, Output};
use crate::response::{Response, Section};

/// Bytes at the beginning of a file in which the header may stand.
const HEADER: usize = 1_024;

/// Returns the text of a document.
///
/// # Errors
/// `malformed` for what is no PDF or has no pages, `unsupported` for one that needs a password.
pub(crate) fn extract(mut input: Vec<u8>, max_bytes: usize) -> Result<Response, SkillError> {
    let header = header(&input)
        .ok_or_else(|| malformed("not_pdf", "there is no %PDF- in the first 1024 bytes"))?;
    input.drain(..header);
    let names_encryption = contains(&input, b"/Encrypt");
    let pdf = Pdf::new(input).map_err(|error| match error {
        LoadPdfError::Decryption(_) => encrypted(),
        LoadPdfError::Invalid if names_encryption => encrypted(),
        LoadPdfError::Invalid => damaged(),
    })?;
    let pages = pdf.pages();
    if pages.is_empty() {
        return Err(damaged());
    }
    let catalog: Dict<'_> = pdf.xref().get(pdf.xref().root_id()).unwrap_or_default();
    let mut output = Output::new(max_bytes);
    let starts = paint(pages, &mut output);
    let start = |page: u32| starts.get(usize::try_from(page.checked_sub(1)?).ok()?);
    for entry in outline::read(&catalog, &page_numbers(pages)) {
        output.section(Section {
            level: entry.level,
            title: entry.title,
            // Pages that were not drawn lie behind the limit.
            start: start(entry.page).copied().unwrap_or(usize::MAX),
            page: Some(entry.page),
        });
    }
    let title = title::read(&pdf, &catalog);
    Ok(output.finish(title, u32::try_from(pages.len()).ok()))
}

/// Returns where `%PDF-` stands.
pub(crate) fn header(input: &[u8]) -> Option<usize> {
    let word = b"%PDF-";
    let head = input.get(..HEADER).unwrap_or(input);
    head.windows(word.len()).position(|window| window == word)
}

fn contains(input: &[u8], word: &[u8]) -> bool {
    input.windows(word.len()).any(|window| window == word)
}

fn damaged() -> SkillError {
    malformed("damaged", "the PDF has no page tree that can be read")
}

fn encrypted() -> SkillError {
    unsupported(
        "encrypted",
        "the PDF is encrypted and needs a password, or uses an unknown cipher",
    )
}

/// Numbers of the pages, from 1, by their objects.
fn page_numbers(pages: &[Page<'_>]) -> HashMap<ObjectIdentifier, u32> {
    let ids = pages.iter().map(|page| page.raw().obj_id());
    (1..)
        .zip(ids)
        .filter_map(|(number, id)| Some((id?, number)))
        .collect()
}

/// Draws the pages until the text is full; returns where the text of each begins.
fn paint(pages: &[Page<'_>], output: &mut Output) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut painter = Painter::new(output);
    for page in pages {
        painter.output().gap(Gap::EmptyLine);
        starts.push(painter.output().next_start());
        painter.page(page);
        if painter.is_done() {
            break;
        }
    }
    starts
}
