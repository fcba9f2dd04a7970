//! A call against one file in memory.

use kit::host::fs_read::{FsError, Listing, TreeRequest};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A file, or why there is none; it keeps what was asked.
struct Disk {
    file: Result<Vec<u8>, FsError>,
    asked: Vec<ReadRequest>,
}

impl ReadFiles for Disk {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        self.asked.extend_from_slice(requests);
        requests
            .iter()
            .map(|request| {
                let bytes = self.file.clone()?;
                let most = usize::try_from(request.max_bytes).unwrap();
                Ok(File {
                    truncated: bytes.len() > most,
                    bytes: bytes.into_iter().take(most).collect(),
                    executable: false,
                })
            })
            .collect()
    }

    fn tree(&mut self, _: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        panic!("a text is read, not a tree")
    }
}

fn disk(bytes: &[u8]) -> Disk {
    Disk {
        file: Ok(bytes.to_vec()),
        asked: Vec::new(),
    }
}

fn read_as(bytes: &[u8], encoding: &str, max_bytes: usize) -> Result<Value, SkillError> {
    let request = json!({ "path": "a", "encoding": encoding, "max_bytes": max_bytes }).to_string();
    let answer = run(&mut disk(bytes), request.as_bytes())?;
    Ok(serde_json::from_slice(&answer).unwrap())
}

/// Text, bytes read, truncated, encoding.
fn parts(bytes: &[u8], encoding: &str, max_bytes: usize) -> (String, u64, bool, String) {
    let answer = read_as(bytes, encoding, max_bytes).unwrap();
    (
        answer["text"].as_str().unwrap().to_owned(),
        answer["bytes_read"].as_u64().unwrap(),
        answer["truncated"].as_bool().unwrap(),
        answer["normalized_encoding"].as_str().unwrap().to_owned(),
    )
}

fn expect(bytes: &[u8], encoding: &str, max_bytes: usize, answer: (&str, u64, bool, &str)) {
    let (text, bytes_read, truncated, normalized) = answer;
    let expected = (
        text.to_owned(),
        bytes_read,
        truncated,
        normalized.to_owned(),
    );
    let context = format!("{bytes:?} as {encoding} within {max_bytes}");
    assert_eq!(parts(bytes, encoding, max_bytes), expected, "{context}");
}

fn refused(bytes: &[u8], encoding: &str, max_bytes: usize) -> (&'static str, Value) {
    let error = read_as(bytes, encoding, max_bytes).unwrap_err();
    let details = serde_json::from_str(error.details().unwrap()).unwrap();
    (error.code(), details)
}

#[test]
fn the_response_is_compact_and_in_order() {
    let mut disk = disk("a\"\n\té".as_bytes());
    let answer = run(&mut disk, br#"{"path":"./x/../a b.txt"}"#).unwrap();
    let expected = r#"{"path":"a b.txt","text":"a\"\n\té","bytes_read":6,"truncated":false,"normalized_encoding":"utf-8"}"#;
    assert_eq!(String::from_utf8(answer).unwrap(), expected);
    assert_eq!(
        disk.asked,
        [ReadRequest {
            path: "/workspace/a b.txt".to_owned(),
            max_bytes: 65_536,
            overflow: Overflow::Cut,
            symlinks: Symlinks::Follow,
        }]
    );
    let answer = run(&mut disk, br#"{"path":"/os/a"}"#).unwrap();
    assert!(answer.starts_with(b"{\"path\":\"/os/a\","));
}

#[test]
fn a_request_is_checked_before_anything_is_read() {
    for (request, code) in [
        ("{}", "invalid_request"),
        (r#"{"path":null}"#, "invalid_request"),
        (r#"{"path":"a\u0000"}"#, "invalid_request"),
        (r#"{"path":"a","max_bytes":0}"#, "invalid_request"),
        (r#"{"path":"a","max_bytes":2097153}"#, "invalid_request"),
        (r#"{"path":"a","max_bytes":1.5}"#, "invalid_request"),
        (r#"{"path":"a","encoding":8}"#, "invalid_request"),
        (r#"{"path":"a","offset":-1}"#, "invalid_request"),
        (r#"{"path":"a","offset":14680065}"#, "invalid_request"),
        (r#"{"path":"a","start_line":0}"#, "invalid_request"),
        (
            r#"{"path":"a","start_line":3,"end_line":2}"#,
            "invalid_request",
        ),
        (
            r#"{"path":"a","start_line":3,"offset":2}"#,
            "invalid_request",
        ),
        (r#"{"path":"../a"}"#, "denied"),
        (r#"{"path":"a","encoding":"utf-32"}"#, "unsupported"),
        (r#"{"path":"a","encoding":"utf8"}"#, "unsupported"),
        (r#"{"path":"a","encoding":""}"#, "unsupported"),
    ] {
        let mut disk = disk(b"x");
        let error = run(&mut disk, request.as_bytes()).unwrap_err();
        assert_eq!(error.code(), code, "{request}");
        assert!(error.details().is_some(), "{request}");
        assert!(disk.asked.is_empty(), "{request}");
    }
}

#[test]
fn names_of_encodings_ignore_ascii_case() {
    for (name, normalized) in [
        ("UTF-8", "utf-8"),
        ("Auto", "utf-8"),
        ("UTF-16", "utf-16le"),
        ("utf-16LE", "utf-16le"),
        ("Utf-16bE", "utf-16be"),
        ("ISO-8859-1", "iso-8859-1"),
        ("Latin-1", "iso-8859-1"),
        ("LATIN1", "iso-8859-1"),
    ] {
        // an empty file is text of any of them.
        expect(b"", name, 1, ("", 0, false, normalized));
    }
}

#[test]
fn the_window_is_cut_between_characters() {
    for (max_bytes, text, bytes_read, truncated) in [
        (1, "a", 1, true),
        (2, "a", 1, true),
        (3, "a", 1, true),
        (4, "a€", 4, true),
        (7, "a€", 4, true),
        (8, "a€🧗", 8, false),
        (9, "a€🧗", 8, false),
    ] {
        let bytes = "a€🧗".as_bytes();
        expect(
            bytes,
            "utf-8",
            max_bytes,
            (text, bytes_read, truncated, "utf-8"),
        );
        expect(
            bytes,
            "auto",
            max_bytes,
            (text, bytes_read, truncated, "utf-8"),
        );
    }
    expect("€".as_bytes(), "utf-8", 2, ("", 0, true, "utf-8"));
    let little = b"a\0\x3e\xd8\xd7\xdd";
    for (max_bytes, text, bytes_read) in [
        (1, "", 0),
        (2, "a", 2),
        (3, "a", 2),
        (4, "a", 2),
        (5, "a", 2),
    ] {
        expect(
            little,
            "utf-16",
            max_bytes,
            (text, bytes_read, true, "utf-16le"),
        );
    }
    expect(little, "utf-16", 6, ("a🧗", 6, false, "utf-16le"));
    expect(b"\xe9\xe8", "latin1", 1, ("é", 1, true, "iso-8859-1"));
}

#[test]
fn utf_8_and_auto_obey_a_byte_order_mark() {
    for name in ["utf-8", "auto"] {
        let marked = b"\xEF\xBB\xBFa";
        expect(marked, name, 9, ("a", 4, false, "utf-8"));
        expect(marked, name, 4, ("a", 4, false, "utf-8"));
        expect(marked, name, 3, ("", 3, true, "utf-8"));
        // The mark does not fit either.
        expect(marked, name, 2, ("", 0, true, "utf-8"));
        expect(marked, name, 1, ("", 0, true, "utf-8"));
        expect(b"\xEF\xBB\xBF", name, 3, ("", 3, false, "utf-8"));
        // Only the first is a mark.
        let twice = b"\xEF\xBB\xBF\xEF\xBB\xBF";
        expect(twice, name, 9, ("\u{FEFF}", 6, false, "utf-8"));
        expect(b"\xFF\xFEa\0", name, 9, ("a", 4, false, "utf-16le"));
        expect(b"\xFF\xFEa\0", name, 3, ("", 2, true, "utf-16le"));
        expect(b"\xFF\xFEa\0", name, 1, ("", 0, true, "utf-16le"));
        expect(b"\xFE\xFF\0a", name, 9, ("a", 4, false, "utf-16be"));
        for utf32 in [&b"\xFF\xFE\0\0a\0\0\0"[..], b"\0\0\xFE\xFF\0\0\0a"] {
            let details = json!({ "encoding": "utf-32" });
            assert_eq!(refused(utf32, name, 9), ("unsupported", details));
        }
    }
}

#[test]
fn auto_is_utf_8_if_it_can_be() {
    expect("é".as_bytes(), "auto", 9, ("é", 2, false, "utf-8"));
    expect(b"\xe9", "auto", 9, ("é", 1, false, "iso-8859-1"));
    expect(b"\xc3", "auto", 1, ("Ã", 1, false, "iso-8859-1"));
    expect(b"\xc3x", "auto", 1, ("", 0, true, "utf-8"));
    expect(b"\xc3x", "auto", 2, ("Ãx", 2, false, "iso-8859-1"));
}

#[test]
fn utf_16_and_byte_order_marks() {
    expect(b"\xFF\xFEa\0", "utf-16", 9, ("a", 4, false, "utf-16le"));
    expect(b"\xFE\xFF\0a", "utf-16", 9, ("a", 4, false, "utf-16be"));
    expect(b"a\0", "utf-16", 9, ("a", 2, false, "utf-16le"));
    expect(b"\xFF\xFEa\0", "utf-16le", 9, ("a", 4, false, "utf-16le"));
    expect(b"\xFE\xFF\0a", "utf-16be", 9, ("a", 4, false, "utf-16be"));
    for (bytes, name) in [(b"\xFE\xFF\0a", "utf-16le"), (b"\xFF\xFEa\0", "utf-16be")] {
        let details = json!({ "encoding": name, "offset": 0 });
        assert_eq!(refused(bytes, name, 9), ("malformed", details));
    }
    // U+0000 is text of UTF-16.
    expect(b"\xFF\xFE\0\0", "utf-16", 9, ("\0", 4, false, "utf-16le"));
    let latin = "\u{ef}\u{bb}\u{bf}\u{80}";
    expect(
        b"\xEF\xBB\xBF\x80",
        "iso-8859-1",
        9,
        (latin, 4, false, "iso-8859-1"),
    );
    expect(b"ab", "iso-8859-1", 9, ("ab", 2, false, "iso-8859-1"));
}

#[test]
fn the_first_malformed_byte_is_named() {
    for (bytes, name, max_bytes, encoding, offset) in [
        (&b"a\xffb\xff"[..], "utf-8", 9, "utf-8", 1),
        (b"ab\xe2\x82", "utf-8", 9, "utf-8", 2),
        (b"a\xed\xa0\x80", "utf-8", 9, "utf-8", 1),
        (b"\xc0\x80", "utf-8", 9, "utf-8", 0),
        (b"\xEF\xBB\xBFa\xff", "utf-8", 9, "utf-8", 4),
        // The cut excuses no byte that could never begin or go on.
        (b"a\xe2\x28x", "utf-8", 3, "utf-8", 1),
        (b"a\xffxx", "utf-8", 2, "utf-8", 1),
        (b"a\0\0\xdcb\0", "utf-16", 9, "utf-16le", 2),
        (b"\0a\xd8\0\0b", "utf-16be", 9, "utf-16be", 2),
        (b"a\0\0\xd8", "utf-16", 4, "utf-16le", 2),
        (b"\xFF\xFEa\0b", "auto", 9, "utf-16le", 4),
        (b"\0\xdcb", "utf-16le", 9, "utf-16le", 0),
        (b"\0\xd8\0\xd8x", "utf-16le", 4, "utf-16le", 0),
    ] {
        let details = json!({ "encoding": encoding, "offset": offset });
        let context = format!("{bytes:?} as {name} within {max_bytes}");
        assert_eq!(
            refused(bytes, name, max_bytes),
            ("malformed", details),
            "{context}"
        );
    }
}

#[test]
fn a_nul_in_the_window_is_no_text() {
    let binary = || ("wrong_type", json!({ "reason": "binary" }));
    for name in ["utf-8", "auto", "latin1"] {
        assert_eq!(refused(b"\xff\0", name, 9), binary(), "{name}");
        assert_eq!(refused(b"\xEF\xBB\xBFa\0", name, 9), binary(), "{name}");
        expect(
            b"ab\0",
            name,
            2,
            (
                "ab",
                2,
                true,
                if name == "latin1" {
                    "iso-8859-1"
                } else {
                    "utf-8"
                },
            ),
        );
    }
    let mut late = vec![b'a'; 10_000];
    late.push(0);
    assert_eq!(refused(&late, "utf-8", 65_536), binary());
}

#[test]
fn what_cannot_be_read() {
    for (error, code, details) in [
        (
            FsError::IsDirectory,
            "wrong_type",
            Some(json!({ "reason": "directory" })),
        ),
        (
            FsError::Special,
            "wrong_type",
            Some(json!({ "reason": "special" })),
        ),
        (
            FsError::Denied,
            "denied",
            Some(json!({ "capability": "fs.read:/workspace/a" })),
        ),
        (
            FsError::LeavesMount,
            "denied",
            Some(json!({ "capability": "fs.read:/workspace/a" })),
        ),
        (FsError::NotFound, "not_found", None),
        (FsError::Io, "io", None),
    ] {
        let mut disk = Disk {
            file: Err(error),
            asked: Vec::new(),
        };
        let refused = run(&mut disk, br#"{"path":"a"}"#).unwrap_err();
        let given = refused
            .details()
            .map(|text| serde_json::from_str(text).unwrap());
        assert_eq!((refused.code(), given), (code, details));
    }
}

fn read_part(bytes: &[u8], more: Value) -> Value {
    let mut request = json!({"path": "a"});
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    let answer = run(&mut disk(bytes), request.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn lines_are_counted_from_1_and_include_the_last() {
    let text = "\u{feff}1\r\n2\n\n4é\n5";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [text.as_bytes(), &utf16] {
        for (first, last, expected, truncated) in [
            (1, 1, "1\r\n", true),
            (1, 2, "1\r\n2\n", true),
            (2, 4, "2\n\n4é\n", true),
            (3, 3, "\n", true),
            (4, 5, "4é\n5", false),
            (5, 99, "5", false),
            (6, 99, "", false),
        ] {
            let range = json!({"start_line": first, "end_line": last, "encoding": "auto"});
            let answer = read_part(bytes, range);
            assert_eq!(answer["text"], expected, "{first} to {last}");
            assert_eq!(answer["truncated"], truncated, "{first} to {last}");
            assert_eq!(answer["total_lines"], 5);
        }
    }
    assert_eq!(
        read_part(b"a\nb\nc", json!({"start_line": 2}))["text"],
        "b\nc"
    );
    assert_eq!(
        read_part(b"a\nb\nc", json!({"end_line": 2}))["text"],
        "a\nb\n"
    );
    assert_eq!(read_part(b"a\n", json!({"end_line": 2}))["total_lines"], 1);
    assert_eq!(read_part(b"", json!({"start_line": 1}))["total_lines"], 0);
}

#[test]
fn what_is_truncated_goes_on_at_next() {
    let text = "één\ntwee\ndrie\n".repeat(20);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, encoding) in [(text.as_bytes(), "utf-8"), (&utf16, "utf-16")] {
        let mut more = json!({"start_line": 2, "end_line": 9, "max_bytes": 17});
        let mut read = String::new();
        loop {
            more["encoding"] = json!(encoding);
            let answer = read_part(bytes, more.clone());
            read.push_str(answer["text"].as_str().unwrap());
            if answer["truncated"] == false {
                assert_eq!(answer.get("next"), None);
                break;
            }
            more = answer["next"].clone();
            more["max_bytes"] = json!(17);
        }
        let (_, from_second) = text.split_once('\n').unwrap();
        assert_eq!(read, from_second);
    }
    let beyond = read_part(b"ab", json!({"offset": 9}));
    assert_eq!(
        (&beyond["text"], &beyond["truncated"]),
        (&json!(""), &json!(false))
    );
    let within = json!({"path": "a", "offset": 1}).to_string();
    let error = run(&mut disk("é".as_bytes()), within.as_bytes()).unwrap_err();
    assert_eq!(error.code(), "malformed");
}

#[test]
fn an_offset_within_a_character_is_refused() {
    let at = |bytes: &[u8], encoding: &str, offset: usize, max_bytes: usize| {
        let request =
            json!({"path": "a", "encoding": encoding, "offset": offset, "max_bytes": max_bytes});
        run(&mut disk(bytes), request.to_string().as_bytes())
            .map(|answer| serde_json::from_slice::<Value>(&answer).unwrap()["text"].clone())
            .map_err(|error| error.details().unwrap().to_owned())
    };
    let refused = Err(r#"{"member":"offset"}"#.to_owned());
    let marked = b"\xff\xfea\0b\0c\0";
    for encoding in ["utf-8", "auto", "utf-16", "utf-16le"] {
        assert_eq!(at(marked, encoding, 3, 4), refused, "{encoding}");
        assert_eq!(at(marked, encoding, 4, 4), Ok(json!("bc")), "{encoding}");
        assert_eq!(at(marked, encoding, 1, 3), Ok(json!("a")), "{encoding}");
    }
    assert_eq!(at(b"\0a\0b", "utf-16be", 1, 9), refused);
    assert_eq!(at(b"\0a\0b", "utf-16be", 9, 9), Ok(json!("")));
    for text in ["é", "x€y", "😀!", "Ã©é"] {
        for (offset, max_bytes) in (1..text.len()).flat_map(|at| [(at, 1), (at, 99)]) {
            if !text.is_char_boundary(offset) {
                assert_eq!(at(text.as_bytes(), "auto", offset, max_bytes), refused);
            }
        }
    }
    // ISO-8859-1, said or seen.
    assert_eq!(at("é".as_bytes(), "latin1", 1, 9), Ok(json!("©")));
    assert_eq!(at(b"a\xA9 \xE9", "auto", 1, 9), Ok(json!("© é")));
    assert_eq!(at(b"\xC3\xA9 \xE9", "auto", 1, 9), Ok(json!("© é")));
}

#[test]
fn windows_1252_is_read_where_it_is_said() {
    let bytes = b"\x93a\x94 \x80 \xE9 \x81";
    let text = "“a” € é \u{81}";
    for name in ["windows-1252", "CP1252"] {
        expect(bytes, name, 99, (text, 9, false, "windows-1252"));
    }
    let auto = parts(bytes, "auto", 99);
    assert_eq!(auto.3, "iso-8859-1");
}

#[test]
fn it_describes_itself() {
    let described: Value = serde_json::from_str(describe()).unwrap();
    assert_eq!(described["name"], "fs.read_text");
    assert_eq!(described.to_string(), describe());
    assert!((1..=1024).contains(&described["description"].as_str().unwrap().chars().count()));
    let answer = read_as(b"a", "auto", 1).unwrap();
    let members: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
    assert_eq!(json!(members), described["output_schema"]["required"]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..24),
        encoding in prop_oneof![
            Just("utf-8"), Just("utf-16"), Just("utf-16le"), Just("utf-16be"), Just("latin1"), Just("auto"),
        ],
        max_bytes in 1_usize..32,
    ) {
        match read_as(&bytes, encoding, max_bytes) {
            Ok(answer) => {
                let used = usize::try_from(answer["bytes_read"].as_u64().unwrap()).unwrap();
                prop_assert!(used <= max_bytes.min(bytes.len()));
                // true exactly when something was left out.
                prop_assert_eq!(answer["truncated"].as_bool().unwrap(), used < bytes.len());
            }
            Err(error) => prop_assert!(["malformed", "wrong_type", "unsupported"].contains(&error.code())),
        }
    }

    /// what was left out begins where the text ended.
    #[test]
    fn two_windows_are_the_file(text in "[a-cé€🧗\n\"]{0,12}", max_bytes in 4_usize..40) {
        for (name, bytes) in [
            ("utf-8", text.as_bytes().to_vec()),
            ("utf-16le", text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            ("utf-16be", text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        ] {
            let (first, used, _, _) = parts(&bytes, name, max_bytes);
            let used = usize::try_from(used).unwrap();
            let (second, _, truncated, _) = parts(&bytes[used..], name, 2_097_152);
            prop_assert!(!truncated);
            prop_assert_eq!(&(first + &second), &text);
            // As much as fits: the next character would not.
            prop_assert!(used == bytes.len() || used + 4 > max_bytes);
        }
    }
}
