//! `fs.read_text`.

use serde_json::{Value, json};

use crate::desk::Desk;

const ID: &str = "fs.read_text";

/// The whole response for a file of these bytes.
fn read(bytes: &[u8], encoding: &str, max_bytes: usize) -> Value {
    let desk = Desk::reading();
    desk.write("f", bytes);
    desk.ok(
        ID,
        &json!({"path": "f", "encoding": encoding, "max_bytes": max_bytes}),
    )
}

/// `text`, `bytes_read`, `truncated`, `normalized_encoding`.
fn parts(response: &Value) -> (&str, u64, bool, &str) {
    (
        response["text"].as_str().unwrap(),
        response["bytes_read"].as_u64().unwrap(),
        response["truncated"].as_bool().unwrap(),
        response["normalized_encoding"].as_str().unwrap(),
    )
}

fn utf_16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn utf_16be(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

#[test]
fn encodings_have_names_in_any_case() {
    #[rustfmt::skip]
    let rows: [(&str, &[u8], &str, &str); 12] = [
        ("utf-8", "é\r\n".as_bytes(), "é\r\n", "utf-8"),
        ("UTF-8", "é".as_bytes(), "é", "utf-8"),
        ("utf-16", b"h\0i\0", "hi", "utf-16le"),
        ("Utf-16LE", b"h\0i\0", "hi", "utf-16le"),
        ("UTF-16be", b"\0h\0i", "hi", "utf-16be"),
        ("iso-8859-1", b"\xe9\r", "é\r", "iso-8859-1"),
        ("latin-1", b"\xe9", "é", "iso-8859-1"),
        ("Latin1", b"\xe9", "é", "iso-8859-1"),
        ("auto", "é".as_bytes(), "é", "utf-8"),
        ("AUTO", b"\xe9", "é", "iso-8859-1"),
        ("windows-1252", b"\x80\xe9", "€é", "windows-1252"),
        ("CP1252", b"\x93", "“", "windows-1252"),
    ];
    for (encoding, bytes, text, normalized) in rows {
        let response = read(bytes, encoding, 100);
        let expected = (text, bytes.len() as u64, false, normalized);
        assert_eq!(parts(&response), expected, "{encoding}");
    }
    let desk = Desk::reading();
    desk.write("f", "x");
    for encoding in ["", "utf8", "utf-32", "windows-1251", "utf-8 ", "ascii"] {
        let request = json!({"path": "f", "encoding": encoding});
        desk.error(ID, &request, "unsupported");
    }
}

#[test]
fn the_window_is_cut_between_characters() {
    // Bytes, encoding, max_bytes; text, bytes_read, truncated.
    #[rustfmt::skip]
    let rows: [(&[u8], &str, usize, &str, u64, bool); 16] = [
        (b"abc", "utf-8", 3, "abc", 3, false),
        (b"abc", "utf-8", 2, "ab", 2, true),
        ("aé".as_bytes(), "utf-8", 2, "a", 1, true),
        ("aé".as_bytes(), "utf-8", 3, "aé", 3, false),
        ("a€b".as_bytes(), "utf-8", 3, "a", 1, true),
        ("a😀".as_bytes(), "utf-8", 4, "a", 1, true),
        ("a😀".as_bytes(), "utf-8", 5, "a😀", 5, false),
        ("é".as_bytes(), "utf-8", 1, "", 0, true),
        ("\u{feff}é".as_bytes(), "utf-8", 4, "", 3, true),
        ("\u{feff}é".as_bytes(), "utf-8", 3, "", 3, true),
        ("\u{feff}é".as_bytes(), "utf-8", 5, "é", 5, false),
        (b"a\0b\0", "utf-16le", 3, "a", 2, true),
        (b"a\0\x3d\xd8\0\xde", "utf-16le", 5, "a", 2, true),
        (b"\x3d\xd8\0\xde", "utf-16le", 2, "", 0, true),
        (b"\xd8\x3d\xde\0", "utf-16be", 4, "😀", 4, false),
        (b"\xe9\xe9", "iso-8859-1", 1, "é", 1, true),
    ];
    for (bytes, encoding, most, text, read_bytes, truncated) in rows {
        let response = read(bytes, encoding, most);
        let (actual, count, cut, _) = parts(&response);
        let case = format!("{bytes:?} {encoding} {most}");
        assert_eq!(
            (actual, count, cut),
            (text, read_bytes, truncated),
            "{case}"
        );
    }
}

/// What lies behind the window is not looked at.
#[test]
fn the_default_window_is_65536_bytes() {
    let desk = Desk::reading();
    let mut bytes = vec![b'a'; 65_536];
    desk.write("whole", &bytes);
    bytes.extend(b"\0\xff");
    desk.write("more", &bytes);
    let whole = desk.ok(ID, &json!({"path": "whole"}));
    assert_eq!(
        (&whole["bytes_read"], &whole["truncated"]),
        (&json!(65_536), &json!(false))
    );
    let more = desk.ok(ID, &json!({"path": "more"}));
    assert_eq!(
        (&more["bytes_read"], &more["truncated"]),
        (&json!(65_536), &json!(true))
    );
    desk.write("large", vec![b'b'; 2_097_153]);
    let large = desk.ok(ID, &json!({"path": "large", "max_bytes": 2_097_152}));
    assert_eq!(
        (&large["bytes_read"], &large["truncated"]),
        (&json!(2_097_152), &json!(true))
    );
}

#[test]
fn lines_are_read_and_what_follows_can_be_asked_for() {
    let desk = Desk::reading();
    desk.write("f", "1\n2\r\n3é\n4");
    let lines = |first: u32, last: u32| {
        desk.ok(
            ID,
            &json!({"path": "f", "start_line": first, "end_line": last}),
        )
    };
    let some = lines(2, 3);
    assert_eq!(parts(&some), ("2\r\n3é\n", 7, true, "utf-8"));
    assert_eq!(
        (&some["total_lines"], &some["next"]),
        (&json!(4), &json!({"offset": 9}))
    );
    let rest = desk.ok(ID, &json!({"path": "f", "offset": 9}));
    assert_eq!(parts(&rest), ("4", 1, false, "utf-8"));
    assert_eq!(parts(&lines(4, 9)), ("4", 1, false, "utf-8"));
    assert_eq!(parts(&lines(9, 9)), ("", 0, false, "utf-8"));
    desk.invalid(
        ID,
        &json!({"path": "f", "start_line": 2, "end_line": 1}),
        "end_line",
    );
    desk.invalid(
        ID,
        &json!({"path": "f", "start_line": 2, "offset": 1}),
        "offset",
    );
}

#[test]
fn a_byte_order_mark_decides_under_utf_8_and_auto() {
    let with = |mark: &[u8], text: Vec<u8>| [mark, &text].concat();
    #[rustfmt::skip]
    let rows = [
        (with(b"\xef\xbb\xbf", "é".into()), "utf-8"),
        (with(b"\xff\xfe", utf_16le("é")), "utf-16le"),
        (with(b"\xfe\xff", utf_16be("é")), "utf-16be"),
    ];
    for (bytes, normalized) in rows {
        for encoding in ["utf-8", "auto"] {
            let response = read(&bytes, encoding, 100);
            let expected = ("é", bytes.len() as u64, false, normalized);
            assert_eq!(parts(&response), expected, "{encoding} {bytes:?}");
        }
    }
    let desk = Desk::reading();
    for utf_32 in [b"\xff\xfe\0\0a\0\0\0", b"\0\0\xfe\xff\0\0\0a"] {
        desk.write("f", utf_32);
        for encoding in ["utf-8", "auto"] {
            desk.error(
                ID,
                &json!({"path": "f", "encoding": encoding}),
                "unsupported",
            );
        }
    }
}

#[test]
fn auto_is_utf_8_where_the_window_is_valid() {
    #[rustfmt::skip]
    let rows: [(&[u8], usize, &str, &str); 5] = [
        ("é€".as_bytes(), 100, "é€", "utf-8"),
        ("é€".as_bytes(), 4, "é", "utf-8"),
        (b"\xc3", 100, "Ã", "iso-8859-1"),
        (b"a\xffb", 100, "aÿb", "iso-8859-1"),
        (b"a\xff", 1, "a", "utf-8"),
    ];
    for (bytes, most, text, normalized) in rows {
        let response = read(bytes, "auto", most);
        let (actual, _, _, encoding) = parts(&response);
        assert_eq!((actual, encoding), (text, normalized), "{bytes:?} {most}");
    }
}

#[test]
fn marks_under_the_fixed_encodings() {
    let marked_le = [b"\xff\xfe".to_vec(), utf_16le("hé")].concat();
    let marked_be = [b"\xfe\xff".to_vec(), utf_16be("hé")].concat();
    #[rustfmt::skip]
    let rows = [
        (&marked_le, "utf-16", "utf-16le"),
        (&marked_be, "utf-16", "utf-16be"),
        (&marked_le, "utf-16le", "utf-16le"),
        (&marked_be, "utf-16be", "utf-16be"),
    ];
    for (bytes, encoding, normalized) in rows {
        let response = read(bytes, encoding, 100);
        assert_eq!(parts(&response), ("hé", 6, false, normalized), "{encoding}");
    }
    let desk = Desk::reading();
    desk.write("le", &marked_le).write("be", &marked_be);
    for (path, encoding) in [("le", "utf-16be"), ("be", "utf-16le")] {
        desk.error(
            ID,
            &json!({"path": path, "encoding": encoding}),
            "malformed",
        );
    }
    let latin = read(b"\xef\xbb\xbf\xff", "iso-8859-1", 100);
    assert_eq!(parts(&latin), ("ï»¿ÿ", 4, false, "iso-8859-1"));
    let all: Vec<u8> = (1..=255).collect();
    let latin = read(&all, "latin1", 255);
    let expected: String = (1..=255_u8).map(char::from).collect();
    assert_eq!(latin["text"], json!(expected), "byte 0xNN is U+00NN");
}

#[test]
fn invalid_bytes_are_malformed_and_located() {
    #[rustfmt::skip]
    let rows: [(&[u8], &str, &str, u64); 11] = [
        (b"ab\xffcd", "utf-8", "utf-8", 2),
        (b"\xc0\x80", "utf-8", "utf-8", 0),
        (b"a\xed\xa0\x80", "utf-8", "utf-8", 1),
        (b"a\xf4\x90\x80\x80", "utf-8", "utf-8", 1),
        (b"ab\xe2\x82", "utf-8", "utf-8", 2),
        (b"\xef\xbb\xbfa\xff", "utf-8", "utf-8", 4),
        (b"a\0\0\xd8b\0", "utf-16le", "utf-16le", 2),
        (b"a\0\0\xdc", "utf-16", "utf-16le", 2),
        (b"a\0\0\xd8", "utf-16le", "utf-16le", 2),
        (b"\0a\xd8\0\0b", "utf-16be", "utf-16be", 2),
        (b"a\0b", "utf-16le", "utf-16le", 2),
    ];
    let desk = Desk::reading();
    for (bytes, encoding, normalized, offset) in rows {
        desk.write("f", bytes);
        let request = json!({"path": "f", "encoding": encoding});
        let details = desk.error(ID, &request, "malformed");
        let expected = json!({"encoding": normalized, "offset": offset});
        assert_eq!(details, expected, "{bytes:?} {encoding}");
    }
}

#[test]
fn what_is_no_text_file_is_the_wrong_type() {
    let desk = Desk::reading();
    desk.write("nul", b"a\0\xff").write("d/x", "");
    let fifo = desk.path("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).unwrap();
    for encoding in ["utf-8", "iso-8859-1", "auto"] {
        let request = json!({"path": "nul", "encoding": encoding});
        desk.refused(ID, &request, "wrong_type", &json!({"reason": "binary"}));
    }
    let rows = [
        ("d", "directory"),
        ("/workspace", "directory"),
        ("fifo", "special"),
    ];
    for (path, reason) in rows {
        let details = desk.error(ID, &json!({"path": path}), "wrong_type");
        assert_eq!(details["reason"], reason, "{path}");
    }
}

#[test]
fn an_empty_file_is_empty_text() {
    #[rustfmt::skip]
    let rows = [
        ("utf-8", "utf-8"), ("auto", "utf-8"), ("utf-16be", "utf-16be"), ("utf-16le", "utf-16le"),
        ("latin1", "iso-8859-1"),
    ];
    for (encoding, normalized) in rows {
        assert_eq!(parts(&read(b"", encoding, 9)), ("", 0, false, normalized));
    }
}

#[test]
fn what_cannot_be_read() {
    let desk = Desk::reading();
    desk.write("f", "x").write("d/x", "");
    for path in ["none", "d/none", "/workspace/none", "/os/none"] {
        desk.error(ID, &json!({ "path": path }), "not_found");
    }
    for path in [
        "/etc/passwd",
        "/etc/none",
        "/",
        "/workspac",
        "/workspace2/f",
    ] {
        desk.denied(ID, &json!({ "path": path }), &format!("fs.read:{path}"));
    }
    desk.link("/etc/passwd", "absolute");
    desk.link("../os", "out");
    desk.link("d/x", "inside");
    assert_eq!(desk.ok(ID, &json!({"path": "inside"}))["text"], "");
    for path in ["absolute", "out/x", "out"] {
        desk.error(ID, &json!({ "path": path }), "denied");
    }
}
