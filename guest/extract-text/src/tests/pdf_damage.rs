use miniz_oxide::deflate::compress_to_vec_zlib;

use super::writer::{page, pages, pdf, stream};
use super::{OBJECT_STREAMS, REPORT, call, error, on_small_stack, text};

const PDF: &str = "application/pdf";
const SHOW: &str = "BT /F 10 Tf (shown) Tj ET";

#[test]
fn a_broken_cross_reference_is_made_good_by_a_look_through_the_file() {
    let string = String::from_utf8(page(SHOW)).unwrap();
    let cut = string.find("xref").unwrap();
    for damaged in [
        string[..cut].to_owned(),
        string.replace("startxref\n", "startxref\n9"),
        string.replace("\nxref\n", "\nxxxx\n"),
        string.replace("%PDF-1.7\n", "%PDF-1.7\n% moved by a comment\n"),
        string.replace("/Length 25", "/Length 9999"),
        string.replace("/Length 25", "/Length 3"),
        string.replace("/Length 25", ""),
        string.replace("endobj", ""),
        format!("junk\n{string}"),
    ] {
        assert_eq!(text(PDF, damaged.as_bytes()), "shown", "{damaged}");
    }
    let whole = text(PDF, REPORT);
    // Without its last bytes not even the cross-reference stream is found.
    assert_eq!(
        text(PDF, &OBJECT_STREAMS[..OBJECT_STREAMS.len() - 30]),
        whole
    );
}

#[test]
fn an_update_at_the_end_counts() {
    let mut file = String::from_utf8(page(SHOW)).unwrap();
    let before = file.rfind("startxref\n").unwrap() + 10;
    let previous: usize = file[before..].lines().next().unwrap().parse().unwrap();
    let at = file.len();
    file.push_str(&format!(
        "5 0 obj\n{}\nendobj\n",
        stream("", "BT /F 1 Tf (new) Tj ET")
    ));
    let start = file.len();
    file.push_str(&format!(
        "xref\n5 1\n{at:010} 00000 n \ntrailer\n<</Size 6/Root 1 0 R/Prev {previous}>>\nstartxref\n{start}\n%%EOF"
    ));
    assert_eq!(text(PDF, file.as_bytes()), "new");
    // The sections may lead around in a circle.
    let circle = file.replace(&format!("/Prev {previous}"), &format!("/Prev {start}"));
    assert_eq!(text(PDF, circle.as_bytes()), "new");
}

#[test]
fn what_is_no_pdf_or_damaged_or_encrypted() {
    let reason = |file: &[u8]| error(PDF, file);
    assert_eq!(reason(b"hello"), ("malformed", "not_pdf".into()));
    assert_eq!(
        reason(&[&[b' '; 1_020], &b"%PDF-1.4"[..]].concat()),
        ("malformed", "not_pdf".into())
    );
    assert_eq!(reason(b"%PDF-1.4\n"), ("malformed", "damaged".into()));
    assert_eq!(
        reason(&pdf(&["<</Type/Catalog>>".to_owned()], "")),
        ("malformed", "damaged".into())
    );
    let pages = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[2 0 R]>>",
    ]
    .map(str::to_owned);
    assert_eq!(reason(&pdf(&pages, "")), ("malformed", "damaged".into()));
    // A page is found also where the catalog names no object.
    let lost = String::from_utf8(page(SHOW)).unwrap();
    let lost = lost.replace("/Pages 2 0 R", "/Pages 9 0 R");
    let response = call(PDF, lost.as_bytes(), None).unwrap();
    assert_eq!(response["hints"]["pages"], 1);
    assert_eq!(reason(&page(SHOW)[..60]), ("malformed", "damaged".into()));
    let zeros = "00".repeat(32);
    let encrypt = format!(
        "/Encrypt<</Filter/Standard/V 1/R 2/Length 40/P -4/O<{zeros}>/U<{zeros}>>>/ID[<00><00>]"
    );
    let encrypted = pdf(&super::writer::pages(&[SHOW], "", &[]), &encrypt);
    assert_eq!(reason(&encrypted), ("unsupported", "encrypted".into()));
    // The trailer alone knows, also where the cross-reference is broken.
    let broken = String::from_utf8(encrypted)
        .unwrap()
        .replace("\nxref", "\nxxxx");
    assert_eq!(
        reason(broken.as_bytes()),
        ("unsupported", "encrypted".into())
    );
    assert_eq!(text(PDF, &page("1 0 0 RG 5 5 m 9 9 l S")), "");
}

#[test]
fn all_pages_of_a_long_document_are_counted() {
    let with = |count: usize| {
        let kids = "<</Type/Page>>".repeat(count);
        pdf(
            &[
                "<</Type/Catalog/Pages 2 0 R>>".into(),
                format!("<</Type/Pages/Kids[{kids}]>>"),
            ],
            "",
        )
    };
    assert_eq!(
        call(PDF, &with(3_000), None).unwrap()["hints"]["pages"],
        3_000
    );
}

/// A page whose content is given in bytes, with a filter.
fn filtered(filter: &str, content: &[u8]) -> Vec<u8> {
    let mark = "@".repeat(content.len());
    let mut objects = pages(&[""], "", &[]);
    objects[4] = stream(&format!("/Filter{filter}"), &mark);
    let file = pdf(&objects, "");
    let at = file
        .windows(mark.len())
        .position(|window| window == mark.as_bytes())
        .unwrap();
    [&file[..at], content, &file[at + mark.len()..]].concat()
}

#[test]
fn filters_are_undone() {
    for (filter, content) in [
        ("/FlateDecode", compress_to_vec_zlib(SHOW.as_bytes(), 6)),
        (
            "[/AHx]",
            b"42 54202F46 2031302054 6620287368 6F776E2920546A2045 54>".to_vec(),
        ),
        (
            "/RunLengthDecode",
            [&[24][..], SHOW.as_bytes(), &[128]].concat(),
        ),
        (
            "[/ASCIIHexDecode/RL]",
            b"FF42 01 54 20 02 2F4620 80".to_vec(),
        ),
    ] {
        let text = text(PDF, &filtered(filter, &content));
        let expected = if content.starts_with(b"FF") {
            ""
        } else {
            "shown"
        };
        assert_eq!(text, expected, "{filter}");
    }
    // What is damaged counts as far as it goes.
    let content = format!("{SHOW}{}", "0 0 m ".repeat(1_000));
    let mut damaged = compress_to_vec_zlib(content.as_bytes(), 0);
    damaged.truncate(100);
    assert_eq!(text(PDF, &filtered("/Fl", &damaged)), "shown");
}

#[test]
fn content_that_cannot_be_decoded_is_noted() {
    let notes = |filter: &str, content: &[u8]| {
        let response = call(PDF, &filtered(filter, content), None).unwrap();
        assert_eq!(response["text"], "");
        response["hints"]["notes"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(notes("/FlateDecode", &[0xFF; 100]), 1);
    assert_eq!(notes("/DCTDecode", SHOW.as_bytes()), 1);
    // An empty page is none.
    for level in [0, 6] {
        assert_eq!(notes("/FlateDecode", &compress_to_vec_zlib(b"", level)), 0);
    }
}

/// The text of a file of which not all content is read.
fn partial(file: &[u8]) -> String {
    let response = call(PDF, file, None).unwrap();
    let note = response["hints"]["notes"][0].as_str().unwrap();
    assert!(note.contains("67108864 bytes of content"), "{note}");
    assert_eq!(response["truncated"], true);
    response["text"].as_str().unwrap().to_owned()
}

#[test]
fn more_than_64_mib_of_content_end_the_text_with_a_note() {
    let bomb = compress_to_vec_zlib(&vec![b' '; 68_000_000], 6);
    assert_eq!(partial(&filtered("/FlateDecode", &bomb)), "");
}

#[test]
fn nothing_recurses_as_deep_as_the_file_says() {
    on_small_stack(|| {
        for open in ["[", "<<", "<</a", "(", "[<<"] {
            assert_eq!(text(PDF, &page(&open.repeat(300_000))), "", "{open}");
            let file = pdf(
                &["<</Type/Catalog/Pages 2 0 R>>".into(), open.repeat(300_000)],
                "",
            );
            assert_eq!(error(PDF, &file), ("malformed", "damaged".into()), "{open}");
        }
        // Pages below pages, and an outline below an outline.
        let mut objects = vec!["<</Type/Catalog/Pages 2 0 R/Outlines 2 0 R>>".to_owned()];
        for number in 3..15_000 {
            objects.push(format!(
                "<</Kids[{number} 0 R]/First {number} 0 R/Title(a)/Dest[0]>>"
            ));
        }
        objects.push("<</Type/Page>>".to_owned());
        let response = call(PDF, &pdf(&objects, ""), None).unwrap();
        assert_eq!(response["hints"]["pages"], 1);
        // A length that is a stream with that length, an object that is itself, and a stream of objects in itself.
        let mut objects = pages(&[""], "", &[]);
        objects[4] = "<</Length 5 0 R>>stream\nBT /F 1 Tf (x) Tj ET\nendstream".to_owned();
        objects[2] = "3 0 R".to_owned();
        assert_eq!(text(PDF, &pdf(&objects, "")), "");
    });
}

#[test]
fn work_that_a_small_file_asks_for_is_bounded() {
    // Each form draws the next ten times.
    let mut forms = Vec::new();
    for number in 6..20 {
        let next = number + 1;
        forms.push(stream(
            &format!("/Subtype/Form/Resources<</XObject<</N {next} 0 R>>>>"),
            &"/N Do ".repeat(10),
        ));
    }
    let content = format!("{SHOW} /N Do");
    let file = pdf(&pages(&[&content], "/XObject<</N 6 0 R>>", &forms), "");
    assert_eq!(partial(&file), "shown");
}

/// A page with more objects from 6 on, whose catalog and contents are given.
fn with(catalog: &str, contents: &str, more: &[String]) -> Vec<u8> {
    let mut objects = pages(&[SHOW], "", more);
    objects[0] = format!("<</Type/Catalog/Pages 2 0 R{catalog}>>");
    objects[3] = format!("<</Type/Page/Parent 2 0 R/Contents {contents}>>");
    pdf(&objects, "")
}

#[test]
fn content_that_is_shared_counts_as_often_as_it_is_drawn() {
    let large = stream("", &" ".repeat(1 << 20));
    let with = |count: usize| {
        let contents = format!("[5 0 R {}]", "6 0 R ".repeat(count));
        with("", &contents, std::slice::from_ref(&large))
    };
    assert_eq!(partial(&with(70)), "");
    assert_eq!(text(PDF, &with(30)), "shown");
}

#[test]
fn metadata_of_many_blank_elements_is_looked_at_once() {
    let blank = "<a> </a>".repeat(100_000);
    let metadata = format!("<x><dc:title>{blank}<li>One</li><li>Two</li></dc:title></x>");
    let file = with("/Metadata 6 0 R", "5 0 R", &[stream("", &metadata)]);
    let begin = std::time::Instant::now();
    assert_eq!(call(PDF, &file, None).unwrap()["hints"]["title"], "One");
    // Looking at all of it again for each element takes minutes.
    assert!(begin.elapsed().as_secs() < 20);
}

#[test]
fn an_outline_that_shares_a_long_title_or_destination_is_read_to_1000_entries() {
    let array = format!("/Dests<</a[0 {}]>>", "0 ".repeat(8_000));
    for (catalog, title, destination) in [
        ("", "x".repeat(10_000), "[0]"),
        (&*array, "a".to_owned(), "/a"),
    ] {
        let mut more = vec!["<</First 8 0 R>>".to_owned(), format!("({title})")];
        more.extend(
            (0..1_100)
                .map(|entry| format!("<</Title 7 0 R/Dest{destination}/Next {} 0 R>>", 9 + entry)),
        );
        let file = with(&format!("/Outlines 6 0 R{catalog}"), "5 0 R", &more);
        let response = call(PDF, &file, None).unwrap();
        let sections = response["hints"]["sections"].as_array().unwrap();
        assert_eq!(
            (sections.len(), &response["truncated"]),
            (1_000, &true.into())
        );
        assert_eq!(
            sections[999]["title"].as_str().unwrap().len(),
            title.len().min(1_024)
        );
    }
}

#[test]
fn a_damaged_file_is_looked_through_in_linear_time() {
    let begin = std::time::Instant::now();
    for unit in ["1 0 obj ", "trailer<<", "1 0 obj<</Type/Catalog("] {
        let file = format!("%PDF-1.7\n{}", unit.repeat(400_000));
        assert!(call(PDF, file.as_bytes(), None).is_err(), "{unit}");
    }
    // Sections that end where the file does.
    let mut file = String::from("%PDF-1.7\n");
    let mut previous = 0;
    for _ in 0..2_000 {
        let at = file.len();
        file.push_str("9 0 obj<<>>stream\n");
        let section = file.len();
        file.push_str(&format!(
            "xref\ntrailer<</XRefStm {at}/Root 1 0 R/Prev {previous}>>\n"
        ));
        previous = section;
    }
    file.push_str(&"e".repeat(1_000_000));
    file.push_str(&format!("\nendstream\nstartxref\n{previous}\n%%EOF"));
    assert!(call(PDF, file.as_bytes(), None).is_err());
    assert!(begin.elapsed().as_secs() < 60);
}

#[test]
fn white_space_that_many_entries_lead_to_is_not_passed_for_each() {
    let begin = std::time::Instant::now();
    let mut file = String::from_utf8(page(SHOW)).unwrap();
    file.truncate(file.find("xref").unwrap());
    let at = file.len();
    file.push_str(&" ".repeat(1_000_000));
    let start = file.len();
    file.push_str("xref\n10 20000\n");
    file.push_str(&format!("{at:010} 00000 n \n").repeat(20_000));
    file.push_str(&format!(
        "trailer\n<</Root 1 0 R>>\nstartxref\n{start}\n%%EOF"
    ));
    assert!(call(PDF, file.as_bytes(), None).is_ok());
    // Passing all of it takes minutes.
    assert!(begin.elapsed().as_secs() < 20);
}
