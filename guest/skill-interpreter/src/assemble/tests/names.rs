//! Names and looks of secrets.

use super::{curl, endpoint, http, nameless, request, skill};
use crate::assemble::looks_like_credential;
use crate::assemble::secrets::{
    is_excluded, is_secret_field, is_secret_header, looks_secret, refuse_secret_constants,
};
use crate::draft::Declaration;
use crate::failure::Code;

#[test]
fn names_that_look_secret() {
    for name in [
        "API_KEY",
        "apikey",
        "MOLTBOOK_API_KEY",
        "key",
        "GITHUB_TOKEN",
        "client_secret",
        "db_password",
        "PASSWD",
        "my_pass",
        "JWT",
        "AWS_CREDENTIALS",
        "credential",
        "AUTH",
        "auth_header",
    ] {
        assert!(looks_secret(name), "{name}");
    }
    for name in [
        "KEYWORD", "monkey", "TOKENS", "author", "PASSAGE", "query", "",
    ] {
        assert!(!looks_secret(name), "{name}");
    }
}

#[test]
fn names_that_are_inputs_all_the_same() {
    for name in [
        "page_token",
        "nextToken",
        "CURSOR_TOKEN",
        "sync_token",
        "continuation_token",
        "idempotency_key",
        "sortKey",
        "public_key",
        "my_project_key",
        "cache_key",
    ] {
        assert!(is_excluded(name), "{name}");
    }
    for name in ["token", "access_token", "api_key", "page_token_secret"] {
        assert!(!is_excluded(name), "{name}");
    }
}

#[test]
fn headers_and_fields_of_credentials() {
    for name in [
        "Authorization",
        "cookie",
        "X-Api-Key",
        "x-auth",
        "X-My-Token-2",
    ] {
        assert!(is_secret_header(name), "{name}");
    }
    for name in ["X-Request-Id", "Accept", "Api-Version"] {
        assert!(!is_secret_header(name), "{name}");
    }
    assert!(is_secret_field("Access_Token"));
    assert!(!is_secret_field("keyword"));
}

#[test]
fn the_first_rule_that_matches_decides() {
    let cases = [
        // (2) a header of credentials, whatever the name
        (
            curl("GET", "https://a.example/").header("X-Auth", "$WHO"),
            true,
        ),
        (
            curl("GET", "https://a.example/").header("X-Id-Token", "$PAGE_TOKEN"),
            true,
        ),
        // (3) before (4) and (5)
        (curl("GET", "https://a.example/?token=$PAGE_TOKEN"), false),
        // (4) the field
        (curl("GET", "https://a.example/?sig=$WHO"), true),
        (
            curl("POST", "https://a.example/").data("password=$WHO&a=b"),
            true,
        ),
        (
            curl("POST", "https://a.example/").data(r#"{"api_key":"$WHO"}"#),
            true,
        ),
        // (5) the name
        (curl("GET", "https://a.example/$MY_TOKEN/x"), true),
        // (6)
        (curl("GET", "https://a.example/$WHO/x"), false),
    ];
    for (draft, is_secret) in cases {
        let assembled = request(draft);
        assert_eq!(
            assembled.secrets().len(),
            usize::from(is_secret),
            "{}",
            assembled.json()
        );
    }
}

#[test]
fn what_is_declared_is_a_secret_everywhere() {
    let declaration = Declaration {
        secrets: vec!["WHO".to_owned()],
        ..nameless()
    };
    let assembled = http(
        endpoint("GET", "https://a.example/{WHO}"),
        &declaration,
        &skill("s"),
    );
    assert_eq!(assembled.secrets(), ["WHO"]);
    let mut context = skill("s");
    context.secrets = vec!["ME".to_owned()];
    let assembled = http(
        endpoint("GET", "https://a.example/{ME}"),
        &nameless(),
        &context,
    );
    assert_eq!(assembled.secrets(), ["ME"]);
    assert_eq!(assembled.json()["secrets"][0]["hosts"][0], "a.example:443");
}

#[test]
fn nameless_placeholders_are_called_after_the_skill() {
    let draft = || curl("GET", "https://a.example/").header("Authorization", "Bearer YOUR_KEY");
    let cases = [("my.books", "MY_BOOKS_API_KEY"), ("émile", "ÉMILE_API_KEY")];
    for (id, name) in cases {
        assert_eq!(http(draft(), &nameless(), &skill(id)).secrets(), [name]);
    }
    assert_eq!(
        http(draft(), &nameless(), &super::unbased()).secrets(),
        ["API_KEY"]
    );
}

#[test]
fn credentials_by_their_look() {
    for text in [
        "sk_live_abcd1234",
        "token ghp_abcdefgh",
        "xoxb-1234-5678",
        "AKIAIOSFODNN7EXAMPLE",
        "sk-proj-abcdefghijkl0123456789",
    ] {
        assert!(looks_like_credential(text), "{text}");
    }
    for text in ["sk_", "task_name_long", "sk-learn-docs", "xoxo", "Bearer"] {
        assert!(!looks_like_credential(text), "{text}");
    }
}

#[test]
fn a_literal_credential_is_dropped_everywhere() {
    let value = "sk_live_51HqZexampleexample";
    let long = "q7W9e2R4t6Y8u1I3o5P0aSdFgH";
    let drafts = [
        curl("GET", "https://a.example/").header("Authorization", &format!("Bearer {value}")),
        curl("GET", "https://a.example/").header("X-Api-Key", value),
        curl("GET", "https://a.example/").header("X-Other", value),
        curl("GET", "https://a.example/").header("Cookie", &format!("session={value}")),
        curl("GET", &format!("https://a.example/{value}/x")),
        curl("GET", &format!("https://a.example/?q={value}")),
        curl("GET", &format!("https://a.example/?key={long}")),
        curl("POST", "https://a.example/").data(&format!("q={value}&r=1")),
        curl("POST", "https://a.example/").data(&format!("token={long}")),
        curl("POST", "https://a.example/").data(&format!(r#"{{"q":"{value}"}}"#)),
        curl("POST", "https://a.example/").data(&format!(r#"{{"a":{{"b":["x","{value}"]}}}}"#)),
        curl("POST", "https://a.example/").data(&format!(r#"{{"token":"{long}"}}"#)),
        curl("POST", "https://a.example/").data(&format!("free text {value}")),
    ];
    for draft in drafts {
        let assembled = request(draft);
        let everything = format!("{} {}", assembled.json(), assembled.readable());
        assert!(
            !everything.contains("51Hq") && !everything.contains("q7W9"),
            "{everything}"
        );
        let name = assembled.secrets().concat();
        let names = ["BOOKS_API_KEY", "BOOKS_SESSION", "BOOKS_TOKEN"];
        assert!(names.contains(&name.as_str()), "{name}: {everything}");
        assert_eq!(assembled.codes(), [Code::LiteralCredential], "{everything}");
    }
}

#[test]
fn a_placeholder_is_replaced_without_a_diagnostic() {
    for value in ["sk_live_...", "xxxxxxxx", "0000", "****"] {
        let assembled = request(
            curl("GET", "https://a.example/").header("Authorization", &format!("Bearer {value}")),
        );
        assert_eq!(assembled.secrets(), ["BOOKS_API_KEY"], "{value}");
        assert!(assembled.codes().is_empty(), "{value}");
    }
}

#[test]
fn a_constant_that_names_a_secret_is_refused() {
    let mut context = skill("s");
    context
        .constants
        .insert("TENANT".to_owned(), "acme".to_owned());
    assert!(refuse_secret_constants(&context).is_ok());
    context
        .constants
        .insert("MY_TOKEN".to_owned(), "x".to_owned());
    let failure = refuse_secret_constants(&context).unwrap_err();
    assert_eq!(failure.code, Code::InvalidRequest);
    assert_eq!(failure.path.as_deref(), Some("constants.MY_TOKEN"));
}
