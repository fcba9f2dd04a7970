use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use secrecy::SecretString;

use super::*;
use crate::failure::Code;

fn redactor(values: &[&str]) -> Redactor {
    let values: Vec<SecretString> = values
        .iter()
        .map(|value| SecretString::from(*value))
        .collect();
    Redactor::new(&values)
}

#[test]
fn a_value_is_replaced_in_every_form() {
    let value = "p\"ä/s s+w?0rd";
    let redactor = redactor(&[value]);
    for text in [
        value.to_owned(),
        "p%22%C3%A4%2Fs%20s%2Bw%3F0rd".to_owned(),
        "p%22%c3%a4%2fs%20s%2bw%3f0rd".to_owned(),
        "p%22%C3%A4%2Fs+s%2Bw%3F0rd".to_owned(),
        serde_json::to_string(value).unwrap(),
        "p\\\"\\u00e4\\/s s+w?0rd".to_owned(),
        STANDARD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
    ] {
        let clean = redactor.text(&format!("before {text} after"));
        assert!(clean.contains(REDACTED), "{text}");
        assert!(
            clean.starts_with("before ") && clean.ends_with(" after"),
            "{clean}"
        );
    }
}

#[test]
fn a_value_is_found_whichever_characters_a_writer_escapes() {
    let redactor = redactor(&["tok/en+val=9 ä😀"]);
    for text in [
        // Python's quote(), encodeURI(), mixed case, a form, one character only, all of them.
        "tok/en%2Bval%3D9%20%C3%A4%F0%9F%98%80",
        "tok/en+val=9%20%C3%A4%F0%9F%98%80",
        "tok%2fen%2Bval%3d9%20%c3%A4%F0%9f%98%80",
        "tok%2Fen%2Bval%3D9+%C3%A4%F0%9F%98%80",
        "tok%2Fen+val=9 ä😀",
        "%74%6f%6b%2F%65%6e%2B%76%61%6c%3D%39%20%C3%A4%F0%9F%98%80",
        "\\u0074ok\\/en+val=9 \\u00E4\\ud83d\\uDE00",
        "tok/en+val=9 ä\\uD83D\\uDE00",
        "tok/en\\u002bval\\u003d9 ä😀",
    ] {
        assert_eq!(
            redactor.text(&format!("{{\"a\": \"%{text}%4\"}}")),
            format!("{{\"a\": \"%{REDACTED}%4\"}}"),
            "{text}"
        );
    }
    for kept in [
        "tok/en val=9 ä😀",
        "%zz\\u12 \\ud83d %",
        "tok%2Fen%2Bval%3D8",
    ] {
        assert_eq!(redactor.text(kept), kept);
    }
}

#[test]
fn base64_in_lines_is_found() {
    let value = "correct-horse-battery-staple-".repeat(5);
    let encoded = STANDARD.encode(format!("{value}\n"));
    for end in ["\n", "\r\n"] {
        let lines: Vec<&str> = encoded
            .as_bytes()
            .chunks(76)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        let wrapped = format!("head\n{}{end}tail\n", lines.join(end));
        let clean = redactor(&[&value]).text(&wrapped);
        assert!(clean.contains(REDACTED), "{clean}");
        assert!(clean.starts_with("head\n") && clean.ends_with("tail\n"));
        assert!(
            !lines
                .iter()
                .any(|line| clean.contains(line.get(..40).unwrap())),
            "{clean}"
        );
    }
}

#[test]
fn no_bits_of_a_value_are_left_of_base64() {
    let value = "correct horse battery";
    for (before, after) in [("", ""), ("a:", ""), ("ab:", "!"), ("", "!!"), ("a", "!!")] {
        let echoed = STANDARD.encode(format!("{before}{value}{after}"));
        let clean = redactor(&[value]).text(&echoed);
        let (head, tail) = clean.split_once(REDACTED).unwrap();
        // Whole groups before and behind, each of which is of neighbours alone.
        let own = |text: &str, whole: &str| {
            let bytes = text.trim_end_matches('=').len() * 6 / 8;
            assert!(bytes <= whole.len(), "{clean}");
        };
        own(head, before);
        own(tail, after);
    }
}

#[test]
fn basic_auth_is_found_whatever_stands_before_it() {
    let redactor = redactor(&["correct horse battery"]);
    for user in ["", "a", "ab", "abc", "abcd"] {
        let echoed = STANDARD.encode(format!("{user}:correct horse battery!"));
        let clean = redactor.text(&echoed);
        assert!(clean.contains(REDACTED), "{user}");
        // What is left are the neighbours.
        assert!(clean.len() <= REDACTED.len() + echoed.len() - 27, "{clean}");
    }
}

#[test]
fn short_values_are_not_searched_for() {
    assert!(redactor(&["abcde"]).is_empty());
    assert_eq!(
        redactor(&["abcdef"]).text("xabcdefx"),
        format!("x{REDACTED}x")
    );
}

#[test]
fn a_value_within_another_hides_no_part() {
    let redactor = redactor(&["secret", "secret-and-more"]);
    assert_eq!(
        redactor.text("secret-and-more secret"),
        format!("{REDACTED} {REDACTED}")
    );
}

#[test]
fn a_failure_holds_no_value() {
    let failure = Failure::new(Code::Connect, "hunter22 and sk_live_12345678")
        .with_hint("hunter22")
        .at_path("body.hunter22")
        .with_missing(vec!["hunter22".to_owned()]);
    let text = format!("{:?}", redactor(&["hunter22"]).failure(failure));
    assert!(
        !text.contains("hunter22") && !text.contains("12345678"),
        "{text}"
    );
}

#[test]
fn bytes_that_are_no_text() {
    let redactor = redactor(&["hunter22"]);
    let mut bytes = vec![0xff, 0x00];
    assert_eq!(redactor.bytes(&bytes), None);
    bytes.extend_from_slice(b"hunter2hunter22\xfe");
    assert_eq!(
        redactor.bytes(&bytes).unwrap(),
        [b"\xff\x00hunter2".as_slice(), REDACTED.as_bytes(), b"\xfe"].concat()
    );
}

#[test]
fn every_shape_is_there_and_hidden() {
    assert_eq!(shapes::count(), 8);
    for (text, kept) in [
        ("Authorization: Bearer abc def", "Authorization: "),
        ("set-cookie: sid=1; Path=/", "set-cookie: "),
        (r#"{"X-Api-Key":"abc","a":1}"#, r#"","a":1}"#),
        ("proxy-authorization=Basic eA==", "proxy-authorization="),
        ("https://a.org/?q=1&api_key=abc&x=2", "&x=2"),
        ("GET /?token=abc#f", "#f"),
        (r#"{"client_secret" : "a\"b c", "n": 1}"#, r#"", "n": 1}"#),
        (r#"{"password":12345}"#, r#"{"password":"#),
        ("sk_live_12345678", ""),
        ("x ghp_abcdefgh1234.", "."),
        ("AKIAABCDEFGHIJKL", ""),
        ("xoxb-12345678-abc", ""),
        ("eyJhbGciOiJ.eyJzdWIiOiI.c2ln tail", " tail"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\ntail",
            "\ntail",
        ),
        ("-----BEGIN PRIVATE KEY-----\nabc", ""),
        ("https://user:abc@a.org/x", "@a.org/x"),
    ] {
        let hidden = shapes::hide(text);
        assert!(hidden.contains(REDACTED), "{text}");
        assert!(hidden.contains(kept), "{text}: {hidden}");
        for value in ["abc", "12345", "eyJ", "sid=1", "eA==", "AKIA"] {
            assert!(!hidden.contains(value), "{text}: {hidden}");
        }
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "no binding for secret:MOLTBOOK_API_KEY and host api.moltbook.com:443",
        "monkey=1 and turkey: 2",
        "the header Authorization is refused",
        "https://a.org/@user",
        "sk-short",
        "input.key: expected string",
    ] {
        assert_eq!(shapes::hide(text), text);
    }
}

proptest! {
    #[test]
    fn exactly_the_value_is_replaced(value in "[a-z0-9/+]{6,40}", before in "[A-Z ]{0,20}", after in "[A-Z ]{0,20}") {
        let redactor = redactor(&[&value]);
        prop_assert_eq!(
            redactor.text(&format!("{before}{value}{after}{value}")),
            format!("{before}{REDACTED}{after}{REDACTED}")
        );
    }

    #[test]
    fn a_value_is_found_in_base64_at_any_place(value in "[ -~]{8,40}", before in "[ -~]{0,20}", after in "[ -~]{0,20}") {
        let encoded = STANDARD.encode(format!("{before}{value}{after}"));
        prop_assert!(redactor(&[&value]).text(&encoded).contains(REDACTED));
    }

    #[test]
    fn what_is_hidden_stays_hidden(parts in prop::collection::vec(
        prop_oneof![
            Just("Authorization: "), Just("Cookie="), Just("api_key="), Just("\"token\":"), Just("\""), Just("sk_"), Just("abcdefgh12"),
            Just("://"), Just("@"), Just("a:b"), Just("eyJabcdef."), Just("-----BEGIN PRIVATE KEY-----"), Just(" "), Just("\n"), Just("&"), Just("\\"),
        ], 0..12))
    {
        let once = shapes::hide(&parts.concat()).into_owned();
        prop_assert_eq!(shapes::hide(&once).into_owned(), once);
    }
}
