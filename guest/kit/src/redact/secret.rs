//! Secrets in text, found by their form and replaced by `[REDACTED:<kind>]`.
//!
//! One pass from left to right, without regular expressions: compiling them would cost more than all the rest of a call.
//! Too much is taken rather than too little; `password: unset` loses its value too.

/// Beginnings of provider tokens, by how many characters of `[A-Za-z0-9_.-]` must follow at least.
const TOKENS: &[(usize, &[&str])] = &[
    (
        10,
        &[
            "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xapp-",
        ],
    ),
    (
        16,
        &[
            "AKIA", "ASIA", "ABIA", "ACCA", "glpat-", "gldt-", "glrt-", "glcbt-", "sk_live_",
            "sk_test_", "rk_live_", "rk_test_", "whsec_",
        ],
    ),
    (
        20,
        &[
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "crates-io_",
            "ya29.",
            "hvs.",
            "AGE-SECRET-KEY-1",
            "sk-",
            "gsk_",
            "hf_",
            "xai-",
            "pplx-",
            "r8_",
            "SG.",
            "shpat_",
            "shpss_",
            "lin_api_",
        ],
    ),
    (30, &["AIza", "npm_", "pypi-"]),
    (32, &["dop_v1_", "doo_v1_", "dor_v1_", "dapi"]),
    (40, &["ops_"]),
];

/// Ends of names whose value is a secret, in lower case without `_` and `-`, and the kind.
const NAMES: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("pwd", "password"),
    ("secret", "secret"),
    ("secretkey", "secret"),
    ("privatekey", "secret"),
    ("token", "token"),
    ("apikey", "api-key"),
    ("accesskey", "api-key"),
    ("authkey", "api-key"),
];

/// Characters of a name that are looked at.
const MAX_NAME: usize = 64;

/// A secret in a text: the bytes from `start` to `end` become `[REDACTED:kind]`.
struct Secret {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// Returns a text with its secrets replaced.
#[must_use]
pub fn secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let in_word = out.ends_with(|b: char| b.is_ascii_alphanumeric() || b == '_');
        let secret = match c {
            '-' => private_key(rest),
            '=' | ':' => after_name(&out, rest).or_else(|| user_information(rest)),
            ' ' => after_scheme(&out, rest).or_else(|| after_flag(&out, rest)),
            c if c.is_ascii_alphabetic() && !in_word => token(rest).or_else(|| web_token(rest)),
            _ => None,
        };
        let taken = match secret {
            Some(Secret { start, end, kind }) => {
                out.push_str(rest.get(..start).unwrap_or_default());
                out.push_str("[REDACTED:");
                out.push_str(kind);
                out.push(']');
                end
            }
            None => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// `-----BEGIN … PRIVATE KEY-----` to its end line, or to the end of the text.
fn private_key(rest: &str) -> Option<Secret> {
    let (label, body) = rest.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if label.len() > MAX_NAME || !label.contains("PRIVATE KEY") {
        return None;
    }
    let after_end = body
        .split_once("-----END ")
        .and_then(|(_, end)| end.split_once("-----"))
        .map_or("", |(_, after)| after);
    Some(Secret {
        start: 0,
        end: rest.len().saturating_sub(after_end.len()),
        kind: "private-key",
    })
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The run of characters at the beginning.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

fn token(rest: &str) -> Option<Secret> {
    // A full stop at the end is the sentence's.
    let word = run(rest, is_token).trim_end_matches('.');
    let is_secret = TOKENS.iter().any(|(least, prefixes)| {
        let tail = prefixes.iter().find_map(|prefix| word.strip_prefix(prefix));
        tail.is_some_and(|tail| tail.len() >= *least)
    });
    is_secret.then_some(Secret {
        start: 0,
        end: word.len(),
        kind: "token",
    })
}

/// A JSON web token: `eyJ….….…`.
fn web_token(rest: &str) -> Option<Secret> {
    let word = run(rest, is_token).trim_end_matches('.');
    let mut parts = word.strip_prefix("eyJ")?.split('.');
    let enough = |part: Option<&str>| part.is_some_and(|part| part.len() >= 8);
    (enough(parts.next()) && enough(parts.next())).then_some(Secret {
        start: 0,
        end: word.len(),
        kind: "jwt",
    })
}

/// The value after `name=`, `name: `, `"name": "` and the like.
fn after_name(before: &str, rest: &str) -> Option<Secret> {
    let kind = secret_name(before.trim_end_matches([' ', '"', '\'']))?;
    let value = ["=>", ":=", "=", ":"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))?;
    // `==` compares, `::` is a path.
    if value.starts_with(['=', ':']) {
        return None;
    }
    assigned(rest, value.trim_start_matches(' '), kind)
}

/// `--password hunter2`
fn after_flag(before: &str, rest: &str) -> Option<Secret> {
    let name = before.rsplit([' ', '\n']).next()?;
    let kind = secret_name(name.strip_prefix("--")?)?;
    let value = rest.trim_start_matches(' ');
    (!value.starts_with(['-', '='])).then_some(())?;
    assigned(rest, value, kind)
}

/// A value at the end of `rest`, with or without quotes.
fn assigned(rest: &str, value: &str, kind: &'static str) -> Option<Secret> {
    let quote = value.chars().next().filter(|c| "\"'`".contains(*c));
    let value = quote
        .and_then(|quote| value.strip_prefix(quote))
        .unwrap_or(value);
    let secret = match quote {
        Some(quote) => run(value, |c| c != quote && c != '\n'),
        None => run(value, |c| !c.is_whitespace() && !",;)}]\"'`".contains(c)),
    };
    suffix(rest, value, secret, kind)
}

/// A secret at the beginning of `value`, with which `rest` ends, unless it was replaced already.
fn suffix(rest: &str, value: &str, secret: &str, kind: &'static str) -> Option<Secret> {
    let start = rest.len().saturating_sub(value.len());
    let is_new = !secret.is_empty() && !value.starts_with("[REDACTED:");
    is_new.then(|| Secret {
        start,
        end: start.saturating_add(secret.len()),
        kind,
    })
}

/// The kind of secret that a name at the end of the text stands for.
fn secret_name(text: &str) -> Option<&'static str> {
    let name: String = text
        .chars()
        .rev()
        .take(MAX_NAME)
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    NAMES.iter().find_map(|(end, kind)| {
        let matches = end.chars().rev().eq(name.chars().take(end.len()));
        matches.then_some(*kind)
    })
}

/// The value after `Bearer` or `Basic`: always behind `Authorization:`, elsewhere when it looks random.
fn after_scheme(before: &str, rest: &str) -> Option<Secret> {
    let scheme = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next()?;
    let is = |known: &&str| scheme.eq_ignore_ascii_case(known);
    if !["bearer", "basic", "token"].iter().any(is) {
        return None;
    }
    let value = rest.trim_start_matches(' ');
    let word = run(value, |c| is_token(c) || "~+/=".contains(c));
    let head = before
        .get(..before.len().saturating_sub(scheme.len()))?
        .trim_end_matches([' ', ':', '=', '"', '\'']);
    let start = head.len().saturating_sub("authorization".len());
    let is_header = head
        .get(start..)
        .is_some_and(|name| name.eq_ignore_ascii_case("authorization"));
    let mixes_cases = word.contains(|c: char| c.is_ascii_lowercase())
        && word.chars().skip(1).any(|c| c.is_ascii_uppercase());
    let looks_random = word.len() >= 8
        && !is(&"token")
        && (mixes_cases || word.contains(|c: char| c.is_ascii_digit() || "=+_".contains(c)));
    (is_header || looks_random).then_some(())?;
    suffix(rest, value, word, "authorization")
}

/// `://user:password@host`
fn user_information(rest: &str) -> Option<Secret> {
    let value = rest.strip_prefix("://")?;
    let authority = run(value, |c| !c.is_whitespace() && !"/?#\"'`<>".contains(c));
    let (user, _) = authority.rsplit_once('@')?;
    suffix(rest, value, user, "userinfo")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_kind_is_replaced_and_its_surroundings_stay() {
        let random = "a1B2".repeat(10);
        for (text, expected) in [
            (
                format!(
                    "x -----BEGIN RSA PRIVATE KEY-----\n{random}\n-----END RSA PRIVATE KEY----- y"
                ),
                "x [REDACTED:private-key] y",
            ),
            (
                format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n{random}"),
                "[REDACTED:private-key]",
            ),
            (format!("(ghp_{random})."), "([REDACTED:token])."),
            (format!("github_pat_{random}."), "[REDACTED:token]."),
            (
                "AKIAABCDEFGHIJKLMNOP is it".into(),
                "[REDACTED:token] is it",
            ),
            (format!("sk-ant-{random}"), "[REDACTED:token]"),
            (format!("xoxb-12345-{random}"), "[REDACTED:token]"),
            (
                format!("eyJ{random}.{random}.{random}, ok"),
                "[REDACTED:jwt], ok",
            ),
            (
                "Authorization: Bearer abc".into(),
                "Authorization: Bearer [REDACTED:authorization]",
            ),
            (
                "-H 'authorization: basic dTpw'".into(),
                "-H 'authorization: basic [REDACTED:authorization]'",
            ),
            (
                "send bearer abcdef123456 along".into(),
                "send bearer [REDACTED:authorization] along",
            ),
            (
                "DB_PASSWORD=hunter2 next".into(),
                "DB_PASSWORD=[REDACTED:password] next",
            ),
            (
                r#"{"client_secret": "a b\c", "x": 1}"#.into(),
                r#"{"client_secret": "[REDACTED:secret]", "x": 1}"#,
            ),
            (
                "api_key: 'k'; apiKey=k;".into(),
                "api_key: '[REDACTED:api-key]'; apiKey=[REDACTED:api-key];",
            ),
            (
                "--token abc --verbose".into(),
                "--token [REDACTED:token] --verbose",
            ),
            ("token := x".into(), "token := [REDACTED:token]"),
            (
                "postgres://me:pw@host/db".into(),
                "postgres://[REDACTED:userinfo]@host/db",
            ),
            (
                "https://tok@host and a@b".into(),
                "https://[REDACTED:userinfo]@host and a@b",
            ),
        ] {
            assert_eq!(secrets(&text), expected, "{text}");
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "use basic authentication and bearer tokens",
            "Basic Authentication of the secret service",
            "max_tokens: 100, tokens = 5",
            "if token == other { secret::walk() }",
            "the mask-layout of desk-top task-list-items-and-more",
            "https://example.com/a@b?x=1",
            "src/secret.rs: reads the password",
            "-----BEGIN CERTIFICATE-----",
            "skip-this ghp_short eyJ.a.b",
            "täglich 漢字 :// = :",
        ] {
            assert_eq!(secrets(text), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_redacted_once_and_for_all(
            parts in proptest::collection::vec(
                prop_oneof![
                    "[ -~é\n]{0,12}",
                    Just("password=".to_owned()), Just("://u:p@".to_owned()), Just("Bearer ".to_owned()),
                    Just("--token ".to_owned()), Just(" ghp_aaaaaaaaaaaaaaaaaaaaaaa".to_owned()),
                    Just("-----BEGIN PRIVATE KEY-----".to_owned()), Just("\"".to_owned()),
                ],
                0..12,
            ),
        ) {
            let once = secrets(&parts.concat());
            prop_assert!(!once.contains("ghp_aaaaaaaaaaaaaaaaaaaaaaa"));
            prop_assert_eq!(secrets(&once), once);
        }
    }
}
