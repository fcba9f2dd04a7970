//! The title: of the document information, else of the metadata.

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, Stream};
use kit::charset::{Charset, End, Hint};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::strings;
use crate::output::title;

/// Returns the title, if there is one that is not empty.
pub(super) fn read(pdf: &Pdf, catalog: &Dict<'_>) -> Option<String> {
    let own = pdf.metadata().title.as_deref();
    own.and_then(|own| title(&strings::text(own))).or_else(|| {
        let metadata = catalog.get::<Stream<'_>>("Metadata")?;
        let bytes = metadata.decoded_data().ok()?;
        of_metadata(&bytes)
    })
}

/// `dc:title` of XMP: the first alternative with text.
fn of_metadata(bytes: &[u8]) -> Option<String> {
    let charset = Charset::detect(bytes, End::Cut, None, Hint::Xml).ok()?;
    let text = charset.decode(bytes, End::Cut).text;
    let mut reader = Reader::from_str(&text);
    // Elements that are open within `dc:title`.
    let mut depth: Option<u32> = None;
    let mut found = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => match &mut depth {
                Some(depth) => *depth = depth.saturating_add(1),
                None if is_title(&element) => depth = Some(1),
                None => {}
            },
            Event::End(_) => {
                if let Some(open) = &mut depth {
                    if let Some(title) = title(&found) {
                        return Some(title);
                    }
                    // Nothing but space: it is not looked at again.
                    found.clear();
                    *open = open.saturating_sub(1);
                    if *open == 0 {
                        depth = None;
                    }
                }
            }
            Event::Text(text) if depth.is_some() => found.push_str(&text),
            Event::CData(text) if depth.is_some() => found.push_str(&text),
            Event::GeneralRef(reference) if depth.is_some() => {
                let character = reference.resolve_char_ref().ok()?;
                match character {
                    Some(character) => found.push(character),
                    None => {
                        found.push_str(quick_xml::escape::resolve_predefined_entity(&reference)?);
                    }
                }
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

fn is_title(element: &BytesStart<'_>) -> bool {
    element.name().as_ref() == "dc:title"
}
