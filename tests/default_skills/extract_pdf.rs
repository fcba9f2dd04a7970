//! `extract.text`: PDF, and documents that are read where they are.

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::extract_text::{ID, extract, request, sections};
use crate::pdf::{Pdf, deflate};

const PDF: &str = "application/pdf";

fn refused(bytes: &[u8], code: &str, reason: &str) {
    Desk::bare().refused(ID, &request(PDF, bytes), code, &json!({ "reason": reason }));
}

fn title(answer: &Value) -> &Value {
    &answer["hints"]["title"]
}

#[test]
fn text_page_by_page() {
    let answer = extract(PDF, &Pdf::of(&["First (page) \\ one", "", "Third"]).bytes());
    assert_eq!(answer["hints"]["pages"], 3);
    assert_eq!(
        answer["text"], "First (page) \\ one\n\nThird",
        "at most one empty line in a row"
    );
    assert_eq!(title(&answer), &json!(null));
    assert_eq!(answer["hints"]["sections"], json!([]));
}

#[test]
fn content_in_several_forms() {
    let mut pdf = Pdf::new();
    let content = pdf.stream(
        "/Filter /FlateDecode",
        &deflate(b"BT /F1 12 Tf 72 720 Td (packed) Tj ET"),
    );
    pdf.page_of(content, 3);
    pdf.page_with(b"BT /F1 12 Tf 72 720 Td <68657861> Tj ET", 3);
    pdf.page_with(b"BT /F1 12 Tf 72 720 Td [(ar) -20 (ray)] TJ ET", 3);
    pdf.page_with(
        b"BT /F1 12 Tf 72 720 Td (one) Tj 0 -14 Td (two) Tj T* (three) ' ET",
        3,
    );
    pdf.page_with(b"BT /F1 12 Tf 72 720 Td (caf\\351 \\200) Tj ET", 3);
    let answer = extract(PDF, &pdf.bytes());
    let text = answer["text"].as_str().unwrap();
    let pages: Vec<Vec<&str>> = text
        .split("\n\n")
        .map(|page| page.split_whitespace().collect())
        .collect();
    let expected: [&[&str]; 5] = [
        &["packed"],
        &["hexa"],
        &["array"],
        &["one", "two", "three"],
        &["café", "€"],
    ];
    assert_eq!(pages, expected, "{text:?}");
}

#[test]
fn ligatures_are_expanded() {
    let mut pdf = Pdf::new();
    let map = b"/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /X def\n/CMapType 2 def\n\
        1 begincodespacerange\n<00> <FF>\nendcodespacerange\n4 beginbfchar\n<01> <FB01>\n<02> <FB00>\n<03> <FB03>\n<04> <FB06>\nendbfchar\n\
        1 beginbfrange\n<61> <7A> <0061>\nendbfrange\nendcmap\nend\nend";
    let map = pdf.stream("", map);
    let font = pdf.add(format!(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode {map} 0 R >>"
    ));
    pdf.page_with(
        b"BT /F1 12 Tf 72 720 Td (\\001ne o\\002er o\\003ce be\\004) Tj ET",
        font,
    );
    let answer = extract(PDF, &pdf.bytes());
    let text: String = answer["text"].as_str().unwrap().split(' ').collect();
    // The map has no space, so whether one is shown is not fixed.
    for word in ["fine", "offer", "office", "best"] {
        assert!(text.contains(word), "{word} in {text:?}");
    }
}

#[test]
fn titles() {
    let xmp = |title: &str| {
        format!(
            "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>\
             <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' \
             xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title><rdf:Alt><rdf:li xml:lang='x-default'>{title}</rdf:li>\
             </rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>"
        )
    };
    // Of the document information, and of XMP.
    #[rustfmt::skip]
    let rows = [
        (Some("(Plain)"), None, json!("Plain")),
        (Some("<FEFF00E900740020D83DDE00>"), None, json!("ét 😀")),
        (Some("(Info)"), Some("XMP"), json!("Info")),
        (Some("()"), Some("A &amp; B"), json!("A & B")),
        (None, Some("XMP"), json!("XMP")),
        (Some("()"), None, json!(null)),
        (None, None, json!(null)),
        (Some("()"), Some(""), json!(null)),
    ];
    for (information, metadata, expected) in rows {
        let mut pdf = Pdf::of(&["x"]);
        if let Some(title) = information {
            pdf.information(&format!("/Title {title}"));
        }
        if let Some(metadata) = metadata {
            let number = pdf.stream("/Type /Metadata /Subtype /XML", xmp(metadata).as_bytes());
            pdf.catalog.push_str(&format!(" /Metadata {number} 0 R"));
        }
        assert_eq!(
            title(&extract(PDF, &pdf.bytes())),
            &expected,
            "{information:?} {metadata:?}"
        );
    }
}

#[test]
fn sections_are_the_outline() {
    let mut pdf = Pdf::new();
    let pages = ["alpha", "beta", "gamma"].map(|text| pdf.page(text));
    pdf.outline(&[
        (1, "A", pages[0]),
        (2, "B in A", pages[1]),
        (3, "C in B", pages[1]),
        (2, "lost", 9_999),
        (1, "D", pages[2]),
    ]);
    let answer = extract(PDF, &pdf.bytes());
    let expected = [
        (1, "A", "alpha"),
        (2, "B in A", "beta"),
        (3, "C in B", "beta"),
        (1, "D", "gamma"),
    ];
    assert_eq!(sections(&answer), expected);
    let numbers: Vec<u64> = answer["hints"]["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["page"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 2, 3]);
    assert_eq!(
        answer["hints"]["title"],
        json!(null),
        "an outline is no title"
    );
}

#[test]
fn encrypted() {
    let mut pdf = Pdf::of(&["secret"]);
    let zeros = "00".repeat(32);
    let number = pdf.add(format!(
        "<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <{zeros}> /U <{zeros}> >>"
    ));
    pdf.trailer.push_str(&format!(
        " /Encrypt {number} 0 R /ID [<{0}> <{0}>]",
        "00".repeat(16)
    ));
    refused(&pdf.bytes(), "unsupported", "encrypted");
}

#[test]
fn what_is_no_pdf_or_a_damaged_one() {
    let good = Pdf::of(&["x"]).bytes();
    for bytes in [
        &b""[..],
        b"x",
        b"<html>",
        b"%pdf-1.7",
        &[&[b' '; 1024][..], &good].concat(),
    ] {
        refused(bytes, "malformed", "not_pdf");
    }
    let padded = [&b"\n\n"[..], &good].concat();
    let answer = Desk::bare().ask(ID, &request(PDF, &padded));
    match answer {
        Ok(answer) => assert_eq!(answer["text"], "x"),
        Err(error) => assert_eq!(error["details"], json!({"reason": "damaged"})),
    }
    let swapped = |from: &[u8], to: &[u8]| {
        let mut bytes = good.clone();
        let found = bytes
            .windows(from.len())
            .position(|window| window == from)
            .unwrap();
        bytes[found..found + to.len()].copy_from_slice(to);
        bytes
    };
    // Pages are found without their tree.
    for lost in [
        swapped(b"/Kids", b"/Gone"),
        swapped(b"/Pages 2 0 R", b"/Pages 9 0 R"),
    ] {
        assert_eq!(extract(PDF, &lost)["text"], "x");
    }
    for bytes in [
        b"%PDF-1.7\n".to_vec(),
        b"%PDF-1.7\ntrailer << /Root 1 0 R >>\n%%EOF".to_vec(),
        swapped(b"/Pages 2 0 R", b"/Xages 2 0 R"),
        good[..60].to_vec(),
    ] {
        refused(&bytes, "malformed", "damaged");
    }
}

#[test]
fn limits() {
    let desk = Desk::bare();
    // One content for all pages.
    let of = |count: usize| {
        let mut pdf = Pdf::new();
        let content = pdf.stream("", b"BT /F1 12 Tf 72 720 Td (x) Tj ET");
        for _ in 0..count {
            pdf.page_of(content, 3);
        }
        pdf.bytes()
    };
    assert_eq!(
        desk.ok(ID, &request(PDF, &of(3_000)))["hints"]["pages"],
        3_000
    );
    let bomb = |megabytes: usize| {
        let mut pdf = Pdf::new();
        let content = pdf.stream(
            "/Filter /FlateDecode",
            &deflate(&vec![b' '; megabytes << 20]),
        );
        pdf.page_of(content, 3);
        pdf.bytes()
    };
    assert_eq!(desk.ok(ID, &request(PDF, &bomb(16)))["text"], "");
    // One stream of more than all content may have does not fit into the memory of a call.
    let run = desk.send(ID, request(PDF, &bomb(65)).to_string().as_bytes());
    assert_eq!(run.status, 5, "{run:?}");
    assert!(run.stderr.contains("memory_limit"), "{run:?}");
    let mut several = Pdf::new();
    for _ in 0..5 {
        let content = several.stream("/Filter /FlateDecode", &deflate(&vec![b' '; 15 << 20]));
        several.page_of(content, 3);
    }
    let answer = desk.ok(ID, &request(PDF, &several.bytes()));
    let note = answer["hints"]["notes"][0].as_str().unwrap();
    assert!(note.contains("67108864 bytes of content"), "{note}");
    assert_eq!(answer["truncated"], true);
}

/// A document is read where it is, if the policy lets the skill.
#[test]
fn a_path_and_a_url_are_read_under_the_policy() {
    use crate::server::{Answer, Request, Server};
    let pdf = Pdf::of(&["x"]).bytes();
    let desk = Desk::reading();
    desk.write("a.pdf", &pdf);
    assert_eq!(desk.ok(ID, &json!({"path": "a.pdf"}))["text"], "x");
    desk.denied(ID, &json!({"path": "/etc/a.pdf"}), "fs.read:/etc/a.pdf");
    let server = Server::new(move |_: &Request| Answer::Body(pdf.clone()));
    let url = server.url("/a.pdf");
    desk.denied(ID, &json!({ "url": url }), &format!("net.http:{url}"));
    let desk = Desk::fetching(&[server.url("/")]);
    assert_eq!(desk.ok(ID, &json!({ "url": url }))["text"], "x");
    desk.denied(ID, &json!({"path": "a.pdf"}), "fs.read:/workspace/a.pdf");
}

#[test]
fn no_text_layer_is_no_error() {
    let answer = extract(PDF, &Pdf::of(&["", ""]).bytes());
    assert_eq!(
        (
            &answer["text"],
            &answer["hints"]["pages"],
            &answer["truncated"]
        ),
        (&json!(""), &json!(2), &json!(false))
    );
}

/// Actions, links and attachments are bytes like others.
#[test]
fn nothing_is_run_or_followed() {
    use crate::server::{Answer, Request, Server};
    let server = Server::new(|_: &Request| Answer::Body(b"x".into()));
    let desk = Desk::fetching(&[server.url("/")]);
    let mut pdf = Pdf::of(&["x"]);
    let uri = pdf.add(format!("<< /S /URI /URI ({}) >>", server.url("/x")));
    let launch = pdf.add("<< /S /Launch /F (/bin/sh) >>");
    pdf.catalog.push_str(&format!(
        " /OpenAction {uri} 0 R /AA << /WC {launch} 0 R >>"
    ));
    assert_eq!(desk.ok(ID, &request(PDF, &pdf.bytes()))["text"], "x");
    assert_eq!(server.connections(), 0);
}
