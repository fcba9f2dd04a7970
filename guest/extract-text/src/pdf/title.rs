//! The title: of the document information, else of the metadata (TS-138).

use kit::charset::{Charset, End, Hint};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::document::Document;
use super::object::Dict;
use super::strings;
use crate::output::title;

/// Bytes of metadata that are looked through at most.
const MAX_METADATA: usize = 1_048_576;

/// The title, if there is one that is not empty.
pub(super) fn read(document: &Document<'_>, catalog: &Dict) -> Option<String> {
    let information = document.get(document.trailer(), "Info");
    let own = information
        .dict()
        .and_then(|dict| title(&strings::text(document.get(dict, "Title").string()?)));
    own.or_else(|| {
        let metadata = document.get(catalog, "Metadata");
        let bytes = document.bytes(metadata.stream()?)?;
        of_metadata(bytes.get(..MAX_METADATA).unwrap_or(&bytes))
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
