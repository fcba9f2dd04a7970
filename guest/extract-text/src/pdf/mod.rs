//! PDF (TS-138, TS-139).
//!
//! The reader is made for this: objects are read when they are asked for, nothing recurses as deep as the file
//! says, and every budget is counted before it is spent. Of the libraries that were looked at none bounds the
//! memory of a hostile file: they read all objects at once, or decode without a limit.

mod content;
mod document;
mod filter;
mod font;
mod layout;
mod lexer;
mod matrix;
mod object;
mod outline;
mod pages;
mod scan;
mod streams;
mod strings;
mod title;
mod xref;

use std::rc::Rc;

use kit::SkillError;

use self::content::Painter;
use self::document::Document;
use self::object::{Dict, Object};
use self::pages::Pages;
use crate::error::{malformed, unsupported};
use crate::output::{Gap, Output};
use crate::response::{Response, Section};

/// TS-139: where the header is looked for.
const HEADER: usize = 1_024;

/// The text of a document.
///
/// # Errors
/// `malformed`, `unsupported` and `too_large` of TS-139.
pub(crate) fn extract(input: &[u8], max_bytes: usize) -> Result<Response, SkillError> {
    let file = input.get(header(input)?..).unwrap_or_default();
    let document = Document::open(file)?;
    refuse_encrypted(&document)?;
    let (document, catalog, pages) = match read_pages(&document)? {
        Some((catalog, pages)) => (document, catalog, pages),
        None => {
            let document = document.rebuilt();
            document.check()?;
            refuse_encrypted(&document)?;
            let (catalog, pages) = read_pages(&document)?
                .ok_or_else(|| malformed("damaged", "the PDF has no page tree that can be read"))?;
            (document, catalog, pages)
        }
    };
    let empty = Dict::default();
    let catalog = catalog.dict().unwrap_or(&empty);
    let mut output = Output::new(max_bytes);
    let starts = paint(&document, &pages, &mut output);
    document.check()?;
    let start = |page: u32| starts.get(usize::try_from(page.checked_sub(1)?).ok()?);
    // The text ended before other pages: they are behind the limit (TS-134).
    let is_kept = |page| start(page).is_some_and(|start| *start < max_bytes);
    for entry in outline::read(&document, catalog, &pages, is_kept) {
        let start = start(entry.page);
        output.section(Section {
            level: entry.level,
            title: entry.title,
            start: start.copied().unwrap_or(usize::MAX),
            page: Some(entry.page),
        });
    }
    let title = title::read(&document, catalog);
    document.check()?;
    let pages = u32::try_from(pages.pages.len()).ok();
    Ok(output.finish(title, pages))
}

/// Where `%PDF-` stands.
fn header(input: &[u8]) -> Result<usize, SkillError> {
    let word = b"%PDF-";
    let head = input.get(..input.len().min(HEADER)).unwrap_or_default();
    head.windows(word.len())
        .position(|window| window == word)
        .ok_or_else(|| malformed("not_pdf", "there is no %PDF- in the first 1024 bytes"))
}

fn refuse_encrypted(document: &Document<'_>) -> Result<(), SkillError> {
    match document.trailer().get("Encrypt") {
        None | Some(Object::Null) => Ok(()),
        Some(_) => Err(unsupported("encrypted", "the PDF is encrypted")),
    }
}

/// The catalog and its pages; none if there is no page tree.
fn read_pages(document: &Document<'_>) -> Result<Option<(Rc<Object>, Pages)>, SkillError> {
    let catalog = document.get(document.trailer(), "Root").shared();
    let pages = Pages::read(document, &catalog)?;
    Ok((!pages.pages.is_empty()).then_some((catalog, pages)))
}

/// Draws the pages until the text is full; answers where the text of each begins.
fn paint(document: &Document<'_>, pages: &Pages, output: &mut Output) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut painter = Painter::new(document, output);
    for page in &pages.pages {
        painter.output().gap(Gap::EmptyLine);
        starts.push(painter.output().next_start());
        painter.page(page);
        if painter.output().is_full() || document.is_exceeded() {
            break;
        }
    }
    starts
}
