//! What holds for every input.

use proptest::prelude::*;
use serde_json::Value;

use super::writer::page;
use super::{COLUMNS, LINEAR, OBJECT_STREAMS, REPORT, call, on_small_stack};

const KINDS: [&str; 3] = ["text/html", "text/markdown", "application/pdf"];

/// What holds of any success.
fn check(response: &Value) {
    let text = response["text"].as_str().unwrap();
    assert_eq!(response["bytes"], text.len());
    assert!(!text.contains("\n\n\n") && !text.starts_with('\n'));
    assert!(!text.chars().any(|c| c == '\u{a0}' || c == '\u{ad}'));
    assert!(
        !text
            .chars()
            .any(|c| c.is_control() && c != '\n' && c != '\t')
    );
    let mut start = 0;
    for section in response["hints"]["sections"].as_array().unwrap() {
        let at = section["start"].as_u64().unwrap() as usize;
        assert!(at < text.len() && text.is_char_boundary(at));
        if section["page"].is_null() {
            assert!(at >= start && (at == 0 || text.as_bytes()[at - 1] == b'\n'));
            start = at;
        }
    }
    if response["truncated"] == false {
        assert!(!text.ends_with(['\n', ' ', '\t']) && !text.contains(" \n"));
    }
}

/// A part of a document that means something.
fn markup() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("<h1>"),
        Just("</h1>"),
        Just("<h2>"),
        Just("<p>"),
        Just("</p>"),
        Just("<ul>"),
        Just("<li>"),
        Just("</li>"),
        Just("</ul>"),
        Just("<table>"),
        Just("<tr>"),
        Just("<td>"),
        Just("</table>"),
        Just("<pre>"),
        Just("</pre>"),
        Just("<br>"),
        Just("<b>"),
        Just("</b>"),
        Just("<i>"),
        Just("</i>"),
        Just("<a>"),
        Just("<title>"),
        Just("</title>"),
        Just("<svg>"),
        Just("<img alt=' x'>"),
        Just("<p hidden>"),
        Just("<template>"),
        Just("<!--"),
        Just("-->"),
        Just("\n"),
        Just("\n\n"),
        Just("  "),
        Just("\t"),
        Just("# "),
        Just("## "),
        Just("- "),
        Just("1. "),
        Just("> "),
        Just("```\n"),
        Just("|a|b|\n|-|-|\n"),
        Just("**"),
        Just("`"),
        Just("---\n"),
        Just("a"),
        Just("é b"),
        Just("&nbsp;"),
        Just("\u{ad}"),
        Just("\u{1}"),
        Just("<div>x\n"),
        Just("\r\n"),
        Just("===\n"),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, max_bytes in 1_usize..99) {
        for kind in KINDS {
            if let Ok(response) = call(kind, &bytes, Some(max_bytes)) {
                check(&response);
            }
        }
        let _ = call(KINDS[2], &[b"%PDF-1.7\n", &bytes[..]].concat(), Some(max_bytes));
        let _ = call(KINDS[2], &page(&String::from_utf8_lossy(&bytes)), Some(max_bytes));
    }

    #[test]
    fn the_text_is_normalised_and_a_limit_cuts_the_same_text(input in markup(), max_bytes in 1_usize..60) {
        for kind in &KINDS[..2] {
            let whole = call(kind, input.as_bytes(), None).unwrap();
            let cut = call(kind, input.as_bytes(), Some(max_bytes)).unwrap();
            check(&whole);
            check(&cut);
            let text = whole["text"].as_str().unwrap();
            prop_assert_eq!(cut["text"].as_str().unwrap(), kit::cut::at_bytes(text, max_bytes));
            prop_assert_eq!(cut["truncated"].as_bool().unwrap(), text.len() > max_bytes);
            prop_assert_eq!(&cut["hints"]["title"], &whole["hints"]["title"]);
        }
    }

    #[test]
    fn mutated_documents_never_panic(
        which in 0_usize..4,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
    ) {
        let mut file = [REPORT, COLUMNS, OBJECT_STREAMS, LINEAR][which].to_vec();
        for (place, byte, kind) in changes {
            let at = place.index(file.len());
            match kind {
                0 => file[at] = byte,
                1 => file.insert(at, byte),
                2 => drop(file.remove(at)),
                // Another digit leads elsewhere.
                _ => {
                    if let Some(digit) = file[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                        *digit = b'0' + byte % 10;
                    }
                }
            }
        }
        if let Ok(response) = on_small_stack(move || call(KINDS[2], &file, None)) {
            check(&response);
        }
    }
}
