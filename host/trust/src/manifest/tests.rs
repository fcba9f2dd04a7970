use super::*;
use crate::vectors;
use hydrant_base::pretty_json;

fn message(text: &str) -> String {
    Manifest::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn reformatting_does_not_change_the_hash() {
    let value: serde_json::Value = serde_json::from_str(vectors::MANIFEST).unwrap();
    let laid_out = format!("\n{value:#}\n\n");
    let manifest = Manifest::parse(laid_out.as_bytes()).unwrap();
    assert_eq!(manifest.hash().as_str(), vectors::MANIFEST_HASH);
}

#[test]
fn any_changed_value_changes_the_hash() {
    for (from, to) in [
        ("/workspace", "/os"),
        ("\"run\"", "\"ran\""),
        ("example.null", "example.nul"),
        ("0.1.0", "0.1.1"),
        ("\"example.b\"", "\"example.c\""),
        ("{\"art", "{\"schema_version\":\"1.0.0-draft\",\"art"),
    ] {
        let changed = vectors::MANIFEST.replacen(from, to, 1);
        let manifest = Manifest::parse(changed.as_bytes()).unwrap();
        assert_ne!(manifest.hash().as_str(), vectors::MANIFEST_HASH, "{from}");
    }
}

#[test]
fn unknown_duplicate_missing_and_mistyped_members_are_refused() {
    for (from, to) in [
        ("{", r#"{"extra":1,"#),
        ("{", r#"{"name":"other","#),
        (r#"{"kind""#, r#"{"extra":1,"kind""#),
        (r#"{"kind""#, r#"{"kind":"x","kind""#),
        (r#","entrypoint":"run""#, ""),
        (r#""run""#, "1"),
        (r#"["example.a","example.b"]"#, "null"),
    ] {
        let error = message(&vectors::MANIFEST.replacen(from, to, 1));
        assert!(error.starts_with("invalid manifest JSON: "), "{error}");
        assert!(error.contains(" at line 1 column "), "{error}");
    }
}

#[test]
fn the_artifact_must_be_a_digest() {
    let error = message(&vectors::MANIFEST.replace("sha256:24", "sha256:2X"));
    assert!(
        error.starts_with("invalid manifest JSON: invalid digest format: sha256:2X"),
        "{error}"
    );
}

#[test]
fn other_strings_of_foreign_bundles_are_free() {
    let foreign = vectors::MANIFEST
        .replace("example.null", "")
        .replace("\"run\"", "\"\u{1f600} \\n\"")
        .replace("/workspace", "");
    let manifest = Manifest::parse(foreign.as_bytes()).unwrap();
    assert_eq!(manifest.name, "");
    assert_eq!(manifest.entrypoint, "\u{1f600} \n");
}

#[test]
fn the_schema_gate() {
    use Experimental::{Allowed, Refused};
    let with = |version: &str| {
        let text = vectors::MANIFEST.replacen('{', &format!("{{\"schema_version\":{version},"), 1);
        Manifest::parse(text.as_bytes()).unwrap()
    };
    let absent = with("null");
    assert_eq!(absent, vectors::manifest());
    assert_eq!(absent.hash().as_str(), vectors::MANIFEST_HASH);
    assert_eq!(absent.check_schema(Refused), Ok(()));
    let draft = with("\"1.0.0-draft\"");
    assert_eq!(draft.check_schema(Allowed), Ok(()));
    let refused = draft.check_schema(Refused).unwrap_err().to_string();
    assert!(
        refused.contains("requires --allow-experimental"),
        "{refused}"
    );
    for allowed in [Allowed, Refused] {
        assert_eq!(
            with("\"1.0.0\\n\"")
                .check_schema(allowed)
                .unwrap_err()
                .to_string(),
            r"unsupported manifest schema version: 1.0.0\u{a}"
        );
    }
}

#[test]
fn what_goes_into_other_files_is_a_plain_name() {
    assert_eq!(vectors::manifest().check_names(), Ok(()));
    let longest = "a".repeat(128);
    for good in ["A", "0", "a.b_c-D", &longest] {
        let mut manifest = vectors::manifest();
        manifest.name = good.to_owned();
        assert_eq!(manifest.check_names(), Ok(()), "{good}");
    }
    let too_long = "a".repeat(129);
    for bad in [
        "", ".a", "-a", "a/b", "a b", "a\nb", "\u{e9}", "a\u{0}", "..", &too_long,
    ] {
        type Change = fn(&mut Manifest, String);
        let members: [(&str, Change); 3] = [
            ("name", |manifest, text| manifest.name = text),
            ("version", |manifest, text| manifest.version = text),
            ("signer", |manifest, text| manifest.signers[1] = text),
        ];
        for (member, change) in members {
            let mut manifest = vectors::manifest();
            change(&mut manifest, bad.to_owned());
            let error = manifest.check_names().unwrap_err().to_string();
            let expected = format!("invalid manifest {member}: ");
            assert!(error.starts_with(&expected), "{error}");
            assert!(error.bytes().all(|b| matches!(b, b' '..=b'~')), "{error}");
        }
    }
}

#[test]
fn members_are_written_in_the_order_of_the_format() {
    let mut manifest = vectors::manifest();
    manifest.schema_version = Some(DRAFT.to_owned());
    let written = String::from_utf8(pretty_json(&manifest)).unwrap();
    let order: Vec<_> = written
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.split('"').next())
        .collect();
    assert_eq!(
        order,
        [
            "schema_version",
            "name",
            "version",
            "entrypoint",
            "artifact",
            "capabilities",
            "signers"
        ]
    );
    manifest.schema_version = None;
    let written = String::from_utf8(pretty_json(&manifest)).unwrap();
    assert!(
        written.starts_with("{\n  \"name\": \"example.null\",\n"),
        "{written}"
    );
    assert_eq!(Manifest::parse(written.as_bytes()).unwrap(), manifest);
}
