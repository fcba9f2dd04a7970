//! Detection and decoding, and what a cut leaves.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, GB18030, ISO_2022_JP, ISO_8859_2, KOI8_R, SHIFT_JIS, UTF_16BE, UTF_16LE,
    X_USER_DEFINED,
};
use proptest::prelude::*;

use super::*;

fn detected(bytes: &[u8], parameter: Option<&str>, hint: Hint) -> &'static Encoding {
    Charset::detect(bytes, End::Whole, parameter, hint)
        .unwrap()
        .encoding
}

#[test]
fn a_byte_order_mark_decides_first() {
    for (bytes, encoding, bom) in [
        (&b"\xEF\xBB\xBFa"[..], UTF_8, 3),
        (b"\xFF\xFEa\0", UTF_16LE, 2),
        (b"\xFE\xFF\0a", UTF_16BE, 2),
    ] {
        let charset = Charset::detect(bytes, End::Whole, Some("shift_jis"), Hint::Html).unwrap();
        assert_eq!((charset.encoding, charset.bom), (encoding, bom));
        let decoded = charset.decode(bytes, End::Whole);
        assert_eq!((&*decoded.text, decoded.bytes), ("a", bytes.len()));
    }
}

#[test]
fn the_parameter_is_a_label_of_the_standard() {
    for (label, encoding) in [
        ("UTF-8", UTF_8),
        (" latin1\t", WINDOWS_1252),
        ("iso-8859-2", ISO_8859_2),
        ("utf-16", UTF_16LE),
        ("sjis", SHIFT_JIS),
        ("x-user-defined", X_USER_DEFINED),
    ] {
        let html = b"<meta charset=koi8-r>";
        assert_eq!(detected(html, Some(label), Hint::Html), encoding, "{label}");
    }
    for label in ["klingon", "", "iso-2022-kr", "replacement", "utf-7"] {
        let error = Charset::detect(b"a", End::Whole, Some(label), Hint::None).unwrap_err();
        assert_eq!(error.code(), "unsupported", "{label}");
        let details = format!("{{\"charset\":\"{label}\"}}");
        assert_eq!(error.details(), Some(details.as_str()));
    }
}

#[test]
fn html_names_its_encoding_in_a_meta() {
    for (html, encoding) in [
        ("<meta charset=koi8-r>", KOI8_R),
        ("<META\tCHARSET = 'KOI8-R' >", KOI8_R),
        ("<meta/charset=\"koi8-r\"/>", KOI8_R),
        (
            "<!doctype html><html lang=a><head><title>x</title><meta charset=koi8-r>",
            KOI8_R,
        ),
        (
            "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>",
            KOI8_R,
        ),
        (
            "<meta content=\"charset charset = 'koi8-r' ;\" http-equiv=\"content-type\">",
            KOI8_R,
        ),
        ("<!--><meta charset=koi8-r>", KOI8_R),
        ("<!-- <meta charset=sjis> --><meta charset=koi8-r>", KOI8_R),
        ("<? <meta charset=koi8-r>", UTF_8),
        (
            "<a title='<meta charset=sjis>'><meta charset=koi8-r>",
            KOI8_R,
        ),
        (
            "</a title='<meta charset=sjis>'><meta charset=koi8-r>",
            KOI8_R,
        ),
        ("< meta charset=sjis>1<2<meta charset=koi8-r>", KOI8_R),
        ("<meta name=title content='About charset=sjis'>", UTF_8),
        ("<meta charset=klingon><meta charset=koi8-r>", KOI8_R),
        ("<meta charset=utf-16be>", UTF_8),
        ("<meta charset=x-user-defined>", WINDOWS_1252),
        ("<?xml version='1.0' encoding='koi8-r'?><html>", KOI8_R),
        // What names nothing.
        ("<meta content='text/html; charset=koi8-r'>", UTF_8),
        ("<meta http-equiv=refresh content='charset=koi8-r'>", UTF_8),
        ("<metal charset=koi8-r>", UTF_8),
        ("<meta charset=koi8-r", UTF_8),
        ("<meta charset='koi8-r>", UTF_8),
        ("<!-- <meta charset=koi8-r>", UTF_8),
        ("<meta charset>", UTF_8),
        ("<meta", UTF_8),
        ("<", UTF_8),
    ] {
        assert_eq!(
            detected(html.as_bytes(), None, Hint::Html),
            encoding,
            "{html}"
        );
        assert_eq!(detected(html.as_bytes(), None, Hint::None), UTF_8, "{html}");
    }
    let meta = "<meta charset=koi8-r>";
    for (before, encoding) in [(1_024 - meta.len(), KOI8_R), (1_025 - meta.len(), UTF_8)] {
        let html = format!("{}{meta}", " ".repeat(before));
        assert_eq!(detected(html.as_bytes(), None, Hint::Html), encoding);
    }
    let replaced = Charset::detect(b"<meta charset=hz-gb-2312>", End::Whole, None, Hint::Html);
    assert_eq!(replaced.unwrap_err().code(), "unsupported");
}

#[test]
fn xml_names_its_encoding_in_its_declaration() {
    for (xml, encoding) in [
        (&b"<?xml version=\"1.0\" encoding=\"koi8-r\"?>"[..], KOI8_R),
        (b"<?xml encoding = 'KOI8-R' ?>", KOI8_R),
        (b"<?xml encoding='utf-16'?>", UTF_8),
        (b"<?xml encoding='klingon'?>\xff", WINDOWS_1252),
        (b"<?xml version='1.0'?><a encoding='koi8-r'/>", UTF_8),
        (b" <?xml encoding='koi8-r'?>", UTF_8),
        (b"<?xml encoding='koi8-r?>", UTF_8),
        (b"<?xml encoding=koi8-r?>", UTF_8),
        (b"<?xml encoding='koi8-r'", UTF_8),
        (b"<meta charset=koi8-r>", UTF_8),
        (b"<\0?\0x\0m\0l\0", UTF_16LE),
        (b"\0<\0?\0x\0m\0l", UTF_16BE),
    ] {
        assert_eq!(detected(xml, None, Hint::Xml), encoding, "{xml:?}");
    }
}

#[test]
fn without_a_name_it_is_utf_8_or_windows_1252() {
    assert_eq!(detected("é".as_bytes(), None, Hint::None), UTF_8);
    assert_eq!(detected(b"\xe9", None, Hint::None), WINDOWS_1252);
    for (bytes, end, encoding) in [
        (&b"a\xe2\x82"[..], End::Cut, UTF_8),
        (b"a\xe2\x82", End::Whole, WINDOWS_1252),
        (b"\x80a\xe2\x82", End::Cut, WINDOWS_1252),
    ] {
        let charset = Charset::detect(bytes, end, None, Hint::None).unwrap();
        assert_eq!(charset.encoding, encoding, "{bytes:?}");
    }
}

#[test]
fn what_is_malformed_is_replaced() {
    for (label, bytes, text) in [
        ("utf-8", &b"a\xffb\xe2\x82"[..], "a\u{FFFD}b\u{FFFD}"),
        ("utf-16le", b"a\0\0\xd8b\0c", "a\u{FFFD}b\u{FFFD}"),
        ("shift_jis", b"a\x81", "a\u{FFFD}"),
        ("windows-1252", b"\x80\x81", "€\u{81}"),
    ] {
        let charset = Charset::detect(bytes, End::Whole, Some(label), Hint::None).unwrap();
        let decoded = charset.decode(bytes, End::Whole);
        assert_eq!((&*decoded.text, decoded.bytes), (text, bytes.len()));
    }
}

#[test]
fn an_incomplete_last_sequence_of_a_cut_text_is_left_out() {
    for (label, bytes, text, used) in [
        ("utf-8", &b"a\xe2\x82"[..], "a", 1),
        ("utf-8", b"a\xf0\x9f\xa7", "a", 1),
        ("utf-8", b"\xf0", "", 0),
        ("utf-8", b"a\xff\xe2", "a\u{FFFD}", 2),
        // What no character begins with is malformed, not incomplete.
        ("utf-8", b"a\xe2\x28", "a\u{FFFD}(", 3),
        ("utf-8", b"a\xed\xa0", "a\u{FFFD}\u{FFFD}", 3),
        ("utf-16le", b"a\0b", "a", 2),
        ("utf-16le", b"a\0\x3e\xd8", "a", 2),
        ("utf-16le", b"a\0\x3e\xd8\xdd", "a", 2),
        ("utf-16be", b"\0a\xd8\x3e", "a", 2),
        ("utf-16be", b"\0a\xd8\x3e\xdd\xd7", "a🧗", 6),
        ("shift_jis", b"a\x82\xa0\x82", "aあ", 3),
        ("euc-jp", b"a\x8f\xb0", "a", 1),
        ("gb18030", b"a\x81\x30\x81", "a", 1),
        ("gb18030", b"a\x81\x30\x81\x30", "a\u{80}", 5),
        ("iso-2022-jp", b"a\x1b\x24", "a", 1),
        ("iso-2022-jp", b"\x1b\x24\x42\x24\x22\x24", "あ", 5),
        ("windows-1252", b"a\xe2", "aâ", 2),
    ] {
        let charset = Charset::detect(bytes, End::Cut, Some(label), Hint::None).unwrap();
        let decoded = charset.decode(bytes, End::Cut);
        assert_eq!(
            (&*decoded.text, decoded.bytes),
            (text, used),
            "{label} {bytes:?}"
        );
    }
}

const LEGACY: [&Encoding; 7] = [
    GB18030,
    BIG5,
    EUC_JP,
    SHIFT_JIS,
    EUC_KR,
    ISO_2022_JP,
    KOI8_R,
];

const MARKUP: [&str; 19] = [
    "<",
    "</",
    "<!--",
    "-->",
    "<meta",
    "<?xml",
    " ",
    "=",
    "'",
    "\"",
    "charset",
    "content",
    "encoding",
    "http-equiv",
    "/",
    ">",
    "a",
    ";",
    "utf-8",
];

proptest! {
    #[test]
    fn nothing_panics_and_no_more_is_used_than_there_is(
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
        label in prop_oneof![
            Just(None),
            proptest::sample::select(&LEGACY[..]).prop_map(|encoding| Some(encoding.name())),
            Just(Some("utf-8")),
            Just(Some("utf-16")),
            Just(Some("utf-16be")),
        ],
    ) {
        for end in [End::Whole, End::Cut] {
            for hint in [Hint::Html, Hint::Xml, Hint::None] {
                let Ok(charset) = Charset::detect(&bytes, end, label, hint) else { continue };
                let used = charset.decode(&bytes, end).bytes;
                prop_assert!(used <= bytes.len() && used + 5 > bytes.len());
                prop_assert!(end == End::Cut || used == bytes.len());
            }
        }
    }

    /// The beginning of a text and what was left out of it are the text.
    #[test]
    fn a_cut_splits_no_character(text in "[a-céöあ漢字кит€🧗]{0,12}", at in 0_usize..48) {
        for encoding in LEGACY.into_iter().chain([UTF_8]) {
            let (bytes, _, lossy) = encoding.encode(&text);
            if lossy {
                continue;
            }
            let cut = &bytes[..at.min(bytes.len())];
            let charset = Charset { encoding, bom: 0 };
            let decoded = charset.decode(cut, End::Cut);
            prop_assert!(text.starts_with(&*decoded.text), "{} {:?}", encoding.name(), decoded);
            let replaced = decoded.text.contains('\u{FFFD}');
            prop_assert!(!replaced);
        }
    }

    #[test]
    fn the_prescan_ends_on_any_markup(
        parts in proptest::collection::vec(proptest::sample::select(&MARKUP[..]), 0..400),
    ) {
        let html = parts.concat();
        for hint in [Hint::Html, Hint::Xml] {
            let detected = Charset::detect(html.as_bytes(), End::Cut, None, hint);
            prop_assert!(detected.is_ok_and(|charset| charset.encoding == UTF_8));
        }
    }
}
