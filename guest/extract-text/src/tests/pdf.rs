use serde_json::json;

use super::writer::{page, pages, pdf, stream};
use super::{COLUMNS, ENCRYPTED, LINEAR, OBJECT_STREAMS, REPORT, call};

fn text(file: &[u8]) -> String {
    super::text("application/pdf", file)
}

#[test]
fn places_become_spaces_and_lines() {
    for (content, expected) in [
        ("BT /F 10 Tf (a) Tj (b) Tj ET", "ab"),
        ("BT /F 10 Tf (a) Tj 0 -12 Td (b) Tj ET", "a\nb"),
        (
            "BT /F 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' 0 0 (d) \" ET",
            "a\nb\nc\nd",
        ),
        ("BT /F 10 Tf [(a) -20 (b) -600 (c) 30 (d)] TJ ET", "ab cd"),
        (
            "BT /F 10 Tf 1 0 0 1 9 700 Tm (a) Tj 1 0 0 1 50 700 Tm (b) Tj ET",
            "a b",
        ),
        (
            "q 2 0 0 2 0 0 cm BT /F 5 Tf (a) Tj ET Q BT /F 10 Tf 5.6 0 Td (b) Tj ET",
            "ab",
        ),
        ("BT /F 10 Tf (x) Tj 6 Tf 4 Ts (2) Tj ET", "x2"),
        ("BT /F 10 Tf (x) Tj /F 6 Tf 4 Ts (2) Tj ET", "x2"),
        (
            "BT /F 10 Tf (\\101\\(\\)\\\n(x)) Tj <4a4B4> Tj ET",
            "A()(x)JK@",
        ),
        ("BT /F 10 Tf (\\200\\223\\255\\240q) Tj ET", "€“- q"),
        ("BT /F 10 Tf 3 Tc (HEADING) Tj ET", "HEADING"),
        (
            "BT /F 10 Tf 3 Tc (A) Tj (BC D) Tj [-300 (E)] TJ ET",
            "ABC D E",
        ),
        (
            "BT /F 10 Tf 4 Tc [(2)400(,)400(2)400(4)400(8)] TJ ET",
            "2,248",
        ),
        ("BI /W 1 /H 1 ID (x) Tj EI \nBT /F 1 Tf (a) Tj ET", "a"),
        ("BT (a) Tj /Missing 10 Tf (a) Tj", ""),
        (
            "0 1 -1 0 0 0 cm BT /F 10 Tf (a) Tj 0 -12 Td (b) Tj ET",
            "a\nb",
        ),
    ] {
        assert_eq!(text(&page(content)), expected, "{content}");
    }
}

#[test]
fn pages_stand_apart_by_an_empty_line() {
    let show = |what: &str| format!("BT /F 10 Tf 0 700 Td ({what}) Tj ET");
    let (one, three) = (show("one"), show("three"));
    let objects = pages(&[&one, "", &three], "", &[]);
    let response = call("application/pdf", &pdf(&objects, ""), None).unwrap();
    assert_eq!(response["text"], "one\n\nthree");
    assert_eq!(
        response["hints"],
        json!({"title": null, "sections": [], "pages": 3})
    );
}

#[test]
fn fonts_say_what_their_codes_are() {
    let fonts = [
        "<</Type/Font/Subtype/Type1/BaseFont/X/Encoding<</Differences[65/fi/uni20AC/f_f_l/Omega/a.alt/zzz]>>>>".to_owned(),
        "<</Type/Font/Subtype/Type0/BaseFont/Y/Encoding/Identity-H/ToUnicode 8 0 R/DescendantFonts[<</DW 500/W[1[600 600]3 9 700]>>]>>".to_owned(),
        stream("", "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0001> <00480069> endbfchar 2 beginbfrange <0010> <0020> <0041> <0030> <0031> [<D83DDE00> <FB00>] endbfrange"),
        "<</Type/Font/Subtype/Type1/BaseFont/Symbol>>".to_owned(),
        "<</Type/Font/Subtype/Type0/BaseFont/Z/Encoding/UniJIS-UTF16-H/DescendantFonts[<<>>]>>".to_owned(),
        "<</Type/Font/Subtype/Type0/BaseFont/Z/Encoding/90ms-RKSJ-H/DescendantFonts[<<>>]>>".to_owned(),
        "<</Type/Font/Subtype/Type0/BaseFont/Z/Encoding/Identity-H/DescendantFonts[<<>>]>>".to_owned(),
        "<</Type/Font/Subtype/Type1/BaseFont/T/Encoding/MacRomanEncoding>>".to_owned(),
        "<</Type/Font/Subtype/Type1/BaseFont/T>>".to_owned(),
    ];
    let show = |font: u32, string: &str| {
        let content = format!("BT /X{font} 10 Tf {string} Tj ET");
        let resources = "/Font<</X6 6 0 R/X7 7 0 R/X9 9 0 R/X10 10 0 R/X11 11 0 R/X12 12 0 R/X13 13 0 R/X14 14 0 R>>";
        let objects = pages(&[&content], "", &fonts);
        let objects: Vec<String> = objects
            .into_iter()
            .map(|object| object.replace("/Font<</F 3 0 R>>", resources))
            .collect();
        text(&pdf(&objects, ""))
    };
    assert_eq!(show(6, "(ABCDEFGa)"), "fi€ffl\u{2126}a\u{FFFD}Ga");
    assert_eq!(show(7, "<0001001000110030003100FF>"), "HiAB😀ff\u{FFFD}");
    assert_eq!(show(9, "(ab\\345)"), "αβ∑");
    assert_eq!(show(10, "<65E5672C>"), "日本");
    assert_eq!(show(11, "<93FA967B41>"), "日本A");
    // Neither a map nor a known encoding: nobody knows what the codes say.
    assert_eq!(show(12, "<00010002>"), "\u{FFFD}");
    assert_eq!(show(13, "(\\216\\312x)"), "é x");
    assert_eq!(show(14, "(`\\256')"), "‘fi’");
}

#[test]
fn text_that_is_written_from_right_to_left_is_in_the_order_of_reading() {
    let utf_16 =
        "<</Type/Font/Subtype/Type0/BaseFont/Z/Encoding/UniJIS-UTF16-H/DescendantFonts[<<>>]>>";
    let show = |content: &str| {
        let mut objects = pages(&[&format!("BT /F 10 Tf {content} ET")], "", &[]);
        objects[2] = utf_16.to_owned();
        text(&pdf(&objects, ""))
    };
    let string = |line: &str| -> String {
        let units = line.encode_utf16().map(|unit| format!("{unit:04X}"));
        format!("<{}>", units.collect::<String>())
    };
    // On the left as a page looks, on the right as it is read.
    for (looks, read) in [
        ("םולש", "שלום"),
        ("2012 תנש", "שנת 2012"),
        ("12,500 3 ףיעס", "סעיף 3 12,500"),
        ("טסקט my file בשחמ", "מחשב my file טקסט"),
        ("the word םולש stands here", "the word שלום stands here"),
        ("Say in Hebrew: םלוע םולש.", "Say in Hebrew: שלום עולם."),
        ("\u{FEE1}\u{FEFC}\u{FEB3}", "سلام"),
    ] {
        assert_eq!(show(&format!("{} Tj", string(looks))), read, "{looks}");
    }
    // Drawn in the order of reading, each letter on the left of the one before.
    let letters: String = (0..)
        .zip("שלום עולם".chars())
        .map(|(at, c)| {
            format!(
                "1 0 0 1 {} 9 Tm {} Tj ",
                200 - 10 * at,
                string(&c.to_string())
            )
        })
        .collect();
    assert_eq!(show(&letters), "שלום עולם");
}

#[test]
fn a_glyph_of_both_directions_keeps_its_letters_beside_their_neighbours() {
    let string = |text: &str| -> String {
        let units = text.encode_utf16().map(|unit| format!("{unit:04X}"));
        units.collect()
    };
    let map = format!(
        "1 begincodespacerange <0000> <FFFF> endcodespacerange 3 beginbfchar <0001> <{}> <0002> <{}> <0003> <{}> endbfchar",
        string("حَبيبي h"),
        string("i"),
        string("لا")
    );
    let show = |codes: &str| {
        let content = format!("BT /F 10 Tf <{codes}> Tj ET");
        let mut objects = pages(&[&content], "", &[stream("", &map)]);
        objects[2] =
            "<</Type/Font/Subtype/Type0/BaseFont/Y/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</DW 500>>]>>"
                .to_owned();
        text(&pdf(&objects, ""))
    };
    assert_eq!(show("00010002"), "hi حَبيبي");
    assert_eq!(show("0003"), "لا");
}

#[test]
fn numbers_on_a_line_from_right_to_left_are_read_in_linear_time() {
    let line = format!("{}\u{5D0}", "1 ".repeat(200_000));
    let units: String = line
        .encode_utf16()
        .map(|unit| format!("{unit:04X}"))
        .collect();
    let mut objects = pages(&[&format!("BT /F 10 Tf <{units}> Tj ET")], "", &[]);
    objects[2] =
        "<</Type/Font/Subtype/Type0/BaseFont/Z/Encoding/UniJIS-UTF16-H/DescendantFonts[<<>>]>>"
            .to_owned();
    let begin = std::time::Instant::now();
    assert!(text(&pdf(&objects, "")).starts_with("\u{5D0} 1 1"));
    // Looking to the end of the line for each number takes minutes.
    assert!(begin.elapsed().as_secs() < 20);
}

#[test]
fn forms_are_drawn_where_they_are_used() {
    let form = stream(
        "/Type/XObject/Subtype/Form/Matrix[1 0 0 1 0 -20]/Resources<</Font<</G 3 0 R>>/XObject<</Me 6 0 R>>>>",
        "BT /G 10 Tf (inside) Tj ET /Me Do",
    );
    let content = "BT /F 10 Tf (before) Tj ET /A Do";
    let objects = pages(&[content], "/XObject<</A 6 0 R>>", &[form]);
    // A form that draws itself ends.
    assert_eq!(text(&pdf(&objects, "")), "before\ninside");
}

#[test]
fn title_of_information_else_of_metadata() {
    let title = |information: &str, metadata: &str| {
        let more = [stream("/Type/Metadata/Subtype/XML", metadata)];
        let mut objects = pages(&[""], "", &more);
        objects[0] = "<</Type/Catalog/Pages 2 0 R/Metadata 6 0 R>>".to_owned();
        let trailer = format!("/Info<</Title {information}>>");
        call("application/pdf", &pdf(&objects, &trailer), None).unwrap()["hints"]["title"].clone()
    };
    assert_eq!(title("(A \\204 b)", ""), "A — b");
    assert_eq!(title("<FEFF00E9>", ""), "é");
    assert_eq!(title("<EFBBBFC3A9>", ""), "é");
    let xmp = "<x xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:creator>no</dc:creator><dc:title><rdf:Alt><rdf:li xml:lang='x-default'>M &amp; &#233;</rdf:li><rdf:li>second</rdf:li></rdf:Alt></dc:title></x>";
    assert_eq!(title("( )", xmp), "M & é");
    assert_eq!(title("( )", "<dc:title><a>"), json!(null));
    assert_eq!(
        title(
            "7",
            "<!DOCTYPE x [<!ENTITY a 'b'>]><dc:title>&a;</dc:title>"
        ),
        json!(null)
    );
}

#[test]
fn outline_entries_are_sections() {
    let more = [
        // 8: the outline; 9 leads to 10 and down to 11, 10 to 12 and back to 9.
        "<</First 9 0 R>>",
        "<</Title(One)/Dest[4 0 R/Fit]/First 11 0 R/Next 10 0 R>>",
        "<</Title<FEFF00E9>/A<</S/GoTo/D(named)>>/Next 12 0 R>>",
        "<</Title(Deep)/Dest/old>>",
        "<</Title(Nowhere)/A<</S/URI/URI(http://a)>>/Next 9 0 R>>",
        "<</Kids[14 0 R 13 0 R]>>",
        "<</Names[(named)<</D[6 0 R/XYZ 0 0 0]>>]>>",
    ]
    .map(str::to_owned);
    let mut objects = pages(
        &["BT /F 10 Tf (one) Tj ET", "BT /F 10 Tf (two) Tj ET"],
        "",
        &more,
    );
    objects[0] =
        "<</Type/Catalog/Pages 2 0 R/Outlines 8 0 R/Dests<</old[6 0 R]>>/Names<</Dests 13 0 R>>>>"
            .to_owned();
    let response = call("application/pdf", &pdf(&objects, ""), None).unwrap();
    assert_eq!(
        response["hints"]["sections"],
        json!([
            {"level": 1, "title": "One", "start": 0, "page": 1},
            {"level": 2, "title": "Deep", "start": 5, "page": 2},
            {"level": 1, "title": "é", "start": 5, "page": 2},
        ])
    );
    let cut = call("application/pdf", &pdf(&objects, ""), Some(5)).unwrap();
    assert_eq!(cut["hints"]["sections"].as_array().unwrap().len(), 1);
}

#[test]
fn documents_of_other_writers() {
    let response = call("application/pdf", REPORT, None).unwrap();
    let report = response["text"].as_str().unwrap();
    assert!(report.starts_with(
        "Arrivals\nThe harbour master keeps one log for every ship that enters. It names the ship"
    ));
    assert!(report.contains("\nBerths\nShip Berth Hour\nAnna 3 07:30\nBertha 12 08:15\n\nDepartures — café\nWind: 5 kn. “All is well”, she said."));
    assert!(report.ends_with("line one\nline two"));
    assert_eq!(response["hints"]["title"], "Harbour log");
    let second = report.find("Departures").unwrap();
    assert_eq!(
        response["hints"]["sections"][2],
        json!({"level": 1, "title": "Departures — café", "start": second, "page": 2})
    );
    for same in [OBJECT_STREAMS, LINEAR] {
        assert_eq!(call("application/pdf", same, None).unwrap(), response);
    }
    let columns = call("application/pdf", COLUMNS, None).unwrap();
    assert!(
        columns["text"]
            .as_str()
            .unwrap()
            .starts_with("left cell right cell\nThe harbour")
    );
    assert_eq!(columns["hints"]["sections"][2]["level"], 2);
    // The user password is empty.
    assert_eq!(call("application/pdf", ENCRYPTED, None).unwrap(), response);
}

/// The text of a page that shows a string in a font; the font's further objects begin with 7.
fn in_font(font: &str, more: &[String], string: &str) -> String {
    let content = format!("BT /X 10 Tf {string} Tj ET");
    let mut objects = pages(&[&content], "", &[]);
    objects.push(font.to_owned());
    objects.extend(more.iter().cloned());
    let objects: Vec<String> = objects
        .into_iter()
        .map(|object| object.replace("/Font<</F 3 0 R>>", "/Font<</X 6 0 R>>"))
        .collect();
    text(&pdf(&objects, ""))
}

#[test]
fn bitmap_fonts_of_tex_say_what_their_codes_are() {
    let font = |codes: &[u8]| {
        let names: String = codes
            .iter()
            .map(|code| format!(" {code}/a{code}"))
            .collect();
        let encoding = format!("/Encoding<</Differences[{names}]>>");
        let widths = format!("/FirstChar 0/Widths[{}]", "500 ".repeat(128));
        format!(
            "<</Type/Font/Subtype/Type3/FontMatrix[.001 0 0 .001 0 0]/CharProcs<<>>{encoding}{widths}>>"
        )
    };
    let letters = font(b"\x0Cacenorst1");
    assert_eq!(in_font(&letters, &[], "(\\014rst1)"), "first1");
    // In a font for symbols the same codes are brackets and arrows.
    assert_eq!(in_font(&font(b"bcde"), &[], "(bcde)"), "\u{FFFD}");
}

#[test]
fn a_map_that_is_broken_around_its_entries_counts() {
    let font =
        "<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R/DescendantFonts[<<>>]>>";
    let map =
        "/CMapName /X> def 3 beginbfchar <0001> <0041> <0002> <> <0003> <0042> endbfchar endcmap";
    let string = "<000100020003>";
    assert_eq!(in_font(font, &[stream("", map)], string), "AB");
    let identity = font.replace("7 0 R", "/Identity-H");
    assert_eq!(in_font(&identity, &[], "<00410416>"), "AЖ");
}

#[test]
fn the_text_of_form_fields_follows_that_of_the_page() {
    let fields = [
        "<</Subtype/Widget/Rect[9 9 99 20]/AP<</N 7 0 R>>>>".to_owned(),
        stream(
            "/Subtype/Form/Resources<</Font<</F 3 0 R>>>>",
            "BT /F 9 Tf (filled) Tj ET",
        ),
        "<</Subtype/Widget/F 2/Rect[9 9 99 20]/AP<</N 7 0 R>>>>".to_owned(),
    ];
    let mut objects = pages(&["BT /F 9 Tf 0 99 Td (page) Tj ET"], "", &fields);
    objects[3] = "<</Type/Page/Parent 2 0 R/Contents 5 0 R/Annots[6 0 R 8 0 R]>>".to_owned();
    assert_eq!(text(&pdf(&objects, "")), "page\nfilled");
}
