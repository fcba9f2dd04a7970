//! Secrets in text, found by their form (Q-187) and replaced by `[REDACTED:<kind>]`.
//!
//! One pass from left to right, without regular expressions: compiling them would cost more than all the rest of a call.
//! Too much is taken rather than too little; `password: unset` loses its value too.

/// Beginnings of provider tokens, and how many characters of `[A-Za-z0-9_.-]` must follow at least.
const TOKENS: &[(&str, usize)] = &[
    // Cloud access keys
    ("AKIA", 16),
    ("ASIA", 16),
    ("ABIA", 16),
    ("ACCA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("dop_v1_", 32),
    ("doo_v1_", 32),
    ("dor_v1_", 32),
    ("dapi", 32),
    ("hvs.", 20),
    ("AGE-SECRET-KEY-1", 20),
    // Code hosts and registries
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glrt-", 16),
    ("glcbt-", 16),
    ("npm_", 30),
    ("pypi-", 30),
    ("crates-io_", 20),
    // Chat
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xoxe-", 10),
    ("xoxc-", 10),
    ("xoxd-", 10),
    ("xapp-", 10),
    // Language models
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("gsk_", 20),
    ("hf_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("r8_", 20),
    // Mail, shops, trackers
    ("SG.", 20),
    ("shpat_", 20),
    ("shpss_", 20),
    ("lin_api_", 20),
    ("whsec_", 16),
    ("ops_", 40),
];

/// What a name ends with whose value is a secret, in lower case without `_` and `-`, and the kind.
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

/// What is found at a place: it goes until `end` and becomes `[REDACTED:kind]`.
struct Found {
    end: usize,
    kind: &'static str,
}

/// A text with its secrets replaced.
#[must_use]
pub fn secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut before = None;
    while let Some(rest) = text.get(at..)
        && let Some(c) = rest.chars().next()
    {
        let in_word = before.is_some_and(|b: char| b.is_ascii_alphanumeric() || b == '_');
        let found = match c {
            '-' => private_key(rest),
            _ if in_word => None,
            'A'..='Z' | 'a'..='z' => token(rest).or_else(|| web_token(rest)),
            _ => None,
        };
        if let Some(found) = found {
            redact(&mut out, found.kind);
            at = at.saturating_add(found.end);
            before = Some(']');
            continue;
        }
        let kept = match c {
            '=' | ':' => after_name(&out, rest).or_else(|| user_information(rest)),
            ' ' => after_scheme(&out, rest).or_else(|| after_flag(&out, rest)),
            _ => None,
        };
        if let Some((kept, found)) = kept {
            out.push_str(rest.get(..kept).unwrap_or_default());
            redact(&mut out, found.kind);
            at = at.saturating_add(kept).saturating_add(found.end);
            before = Some(']');
            continue;
        }
        out.push(c);
        at = at.saturating_add(c.len_utf8());
        before = Some(c);
    }
    out
}

fn redact(out: &mut String, kind: &str) {
    out.push_str("[REDACTED:");
    out.push_str(kind);
    out.push(']');
}

/// `-----BEGIN … PRIVATE KEY-----` to its end line, or to the end of the text.
fn private_key(rest: &str) -> Option<Found> {
    let label = rest.strip_prefix("-----BEGIN ")?;
    let (label, body) = label.split_at_checked(label.find("-----")?)?;
    if label.len() > MAX_NAME || !label.contains("PRIVATE KEY") {
        return None;
    }
    let offset = rest.len().saturating_sub(body.len());
    let end = body.find("-----END ").and_then(|end| {
        let mark = end.saturating_add("-----END ".len());
        let close = body.get(mark..)?.find("-----")?;
        Some(mark.saturating_add(close).saturating_add(5))
    });
    Some(Found {
        end: offset.saturating_add(end.unwrap_or(body.len())),
        kind: "private-key",
    })
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Bytes of the run of characters at the beginning.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn token(rest: &str) -> Option<Found> {
    TOKENS.iter().find_map(|(prefix, least)| {
        let tail = rest.strip_prefix(prefix)?;
        // A full stop at the end is the sentence's.
        let length = tail.get(..run(tail, is_token))?.trim_end_matches('.').len();
        (length >= *least).then(|| Found {
            end: prefix.len().saturating_add(length),
            kind: "token",
        })
    })
}

/// A JSON web token: `eyJ….….…`.
fn web_token(rest: &str) -> Option<Found> {
    let whole = rest.get(..run(rest, is_token))?;
    let mut parts = whole.strip_prefix("eyJ")?.split('.');
    let enough = |part: Option<&str>| part.is_some_and(|part| part.len() >= 8);
    (enough(parts.next()) && enough(parts.next())).then(|| Found {
        end: whole.trim_end_matches('.').len(),
        kind: "jwt",
    })
}

/// The value after `name=`, `name: `, `"name": "` and the like; with how much of it stays before the value.
fn after_name(before: &str, rest: &str) -> Option<(usize, Found)> {
    let kind = secret_name(before.trim_end_matches([' ', '"', '\'']))?;
    let assign = ["=>", ":=", "=", ":"]
        .into_iter()
        .find(|mark| rest.starts_with(mark))?;
    let value = rest.strip_prefix(assign)?;
    // `==` compares, `::` is a path.
    if value.starts_with(['=', ':']) {
        return None;
    }
    let value = value.trim_start_matches(' ');
    // After `Authorization: token` comes the scheme's value.
    assigned(rest, value, kind)
}

/// `--password hunter2`
fn after_flag(before: &str, rest: &str) -> Option<(usize, Found)> {
    let name = before.rsplit([' ', '\n']).next()?;
    let kind = secret_name(name.strip_prefix("--")?)?;
    let value = rest.trim_start_matches(' ');
    (!value.starts_with(['-', '='])).then_some(())?;
    assigned(rest, value, kind)
}

fn assigned(rest: &str, value: &str, kind: &'static str) -> Option<(usize, Found)> {
    let quote = value
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'));
    let value = quote
        .and_then(|quote| value.strip_prefix(quote))
        .unwrap_or(value);
    let end = match quote {
        Some(quote) => value.find([quote, '\n']).unwrap_or(value.len()),
        None => run(value, |c| !c.is_whitespace() && !",;)}]\"'`".contains(c)),
    };
    let is_redacted = value.starts_with("[REDACTED:");
    let kept = rest.len().saturating_sub(value.len());
    (end > 0 && !is_redacted).then_some((kept, Found { end, kind }))
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
fn after_scheme(before: &str, rest: &str) -> Option<(usize, Found)> {
    let scheme = before.rsplit(|c: char| !c.is_ascii_alphabetic()).next()?;
    if !["bearer", "basic", "token"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return None;
    }
    let value = rest.trim_start_matches(' ');
    let end = run(value, |c| is_token(c) || matches!(c, '~' | '+' | '/' | '='));
    let word = value.get(..end)?;
    let head = before.get(..before.len().saturating_sub(scheme.len()))?;
    let head = head
        .trim_end_matches([' ', ':', '=', '"', '\''])
        .to_ascii_lowercase();
    let header = head.ends_with("authorization");
    let random = word.len() >= 8
        && !scheme.eq_ignore_ascii_case("token")
        && (word.contains(|c: char| c.is_ascii_digit() || matches!(c, '=' | '+' | '_'))
            || (word.contains(|c: char| c.is_ascii_lowercase())
                && word.chars().skip(1).any(|c| c.is_ascii_uppercase())));
    let kept = rest.len().saturating_sub(value.len());
    let kind = "authorization";
    (end > 0 && (header || random)).then_some((kept, Found { end, kind }))
}

/// `://user:password@host`
fn user_information(rest: &str) -> Option<(usize, Found)> {
    let authority = rest.strip_prefix("://")?;
    let end = run(authority, |c| {
        !c.is_whitespace() && !"/?#\"'`<>".contains(c)
    });
    let end = authority.get(..end)?.rfind('@')?;
    let kind = "userinfo";
    let is_redacted = authority.starts_with("[REDACTED:");
    (end > 0 && !is_redacted).then_some(("://".len(), Found { end, kind }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn q_187_each_kind_is_replaced_and_its_surroundings_stay() {
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
    fn q_187_ordinary_text_stays() {
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
        fn q_187_any_text_is_redacted_once_and_for_all(
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
