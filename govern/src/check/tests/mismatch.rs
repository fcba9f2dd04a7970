//! What is refused: answers that are not what their stages say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use hydrant_plan::{Encoding, HeaderOut, Segment, Segments};

#[test]
fn k_04_honest_answers_pass() {
    for text in [MOLTBOOK, KIT, RARER, BOOKS, NOTEBOOK] {
        let skill = checked(text);
        assert!(!skill.operations.is_empty());
        assert!(skill.skill.operations.is_empty());
        for checked in &skill.operations {
            assert!(checked.tier >= checked.operation.tier);
            assert_eq!(
                checked.manifest.is_some(),
                checked.operation.status == Status::Ok
            );
        }
    }
}

#[test]
fn k_04_a_digest_that_is_not_its_subjects_is_a_mismatch() {
    let alterations: [fn(&mut Operation); 6] = [
        |operation| operation.digest = format!("sha256:{}", "0".repeat(64)),
        |operation| request(operation).method = "DELETE".to_owned(),
        |operation| operation.tier = 2,
        |operation| operation.effects.clear(),
        |operation| operation.data_classifications.clear(),
        |operation| operation.input_schema = Value::Bool(true),
    ];
    for (index, alter) in alterations.into_iter().enumerate() {
        let mut skill = skill(MOLTBOOK);
        alter(&mut skill.operations[0]);
        let failure = checked_with(skill, &Config::default()).unwrap_err();
        assert_eq!(failure.code, Code::InterpreterMismatch, "{index}");
        assert_eq!(failure.path.as_deref(), Some("operations[0]"));
    }
    let mut skill = skill(MOLTBOOK);
    skill.base_url = Some("https://evil.example/".to_owned());
    assert_eq!(
        code(checked_with(skill, &Config::default())),
        Code::InterpreterMismatch
    );
}

#[test]
fn k_216_constants_and_mapping_version_are_covered_and_names_are_not() {
    let mut skill = skill(MOLTBOOK);
    let operation = &mut skill.operations[0];
    let digest = |operation: &Operation, constants: &BTreeMap<String, String>, version: &str| {
        operation_digest(operation, Some("https://moltbook.com/"), constants, version).unwrap()
    };
    let none = BTreeMap::new();
    assert_eq!(digest(operation, &none, "1"), operation.digest);
    assert_ne!(digest(operation, &none, "2"), operation.digest);
    let some = BTreeMap::from([("A".to_owned(), "b".to_owned())]);
    assert_ne!(digest(operation, &some, "1"), operation.digest);
    operation.title = "other".to_owned();
    operation.description = "other".to_owned();
    operation.line = 99;
    operation.confidence = 0.1;
    operation.examples.clear();
    operation.aliases.push("other".to_owned());
    assert_eq!(digest(operation, &none, "1"), operation.digest);
}

#[test]
fn k_04_hosts_are_derived_again_from_the_templates() {
    let lists: [fn(&mut Operation); 3] = [
        |operation| operation.hosts.clear(),
        |operation| operation.hosts.push("b.example.org:443".to_owned()),
        |operation| operation.hosts = vec!["api.moltbook.com:80".to_owned()],
    ];
    for alter in lists {
        assert_eq!(
            code(forged(MOLTBOOK, "create_notebook", alter)),
            Code::InterpreterMismatch
        );
    }
    for url in [
        "https://evil.example/v1",
        "https://api.moltbook.com@evil.example/",
        "https://api.moltbook.com.evil.example/",
        "http://api.moltbook.com/",
        "https://api.moltbook.com:8443/",
        "https://u:p@api.moltbook.com/",
        "ftp://api.moltbook.com:443/",
        "//api.moltbook.com/",
        "/v1",
        "",
    ] {
        let altered = forged(MOLTBOOK, "create_notebook", |operation| {
            request(operation).url = Segments::literal(url);
        });
        assert_eq!(code(altered), Code::InterpreterMismatch, "{url}");
    }
    for same in [
        "HTTPS://API.moltbook.COM/v1",
        "https://api.moltbook.com:443",
        "https://api.moltbook.com?x",
        // A backslash ends the host, as every client reads it.
        "https://api.moltbook.com\\@evil.example/",
    ] {
        let altered = forged(MOLTBOOK, "create_notebook", |operation| {
            request(operation).url = Segments::literal(same);
        });
        assert!(altered.is_ok(), "{same}");
    }
}

#[test]
fn k_195_a_variable_never_reaches_the_host() {
    for lead in [
        "https://api.moltbook.com",
        "https://",
        "https://api.moltbook.com:443",
        "",
    ] {
        let altered = forged(MOLTBOOK, "create_notebook", |operation| {
            let mut url = Segments::literal(lead);
            url.push(Segment::Input {
                input: "x".to_owned(),
                enc: Encoding::None,
                style: None,
            });
            request(operation).url = url;
        });
        assert_eq!(code(altered), Code::InterpreterMismatch, "{lead}");
    }
}

#[test]
fn k_196_an_address_of_the_caller_needs_domains_and_carries_no_secret() {
    let any_address = |domains: Vec<String>| {
        forged(MOLTBOOK, "create_notebook", |operation| {
            let stage = request(operation);
            stage.url = Segments::default();
            stage.url_input = Some("url".to_owned());
            stage.domains = domains;
        })
    };
    assert!(any_address(vec!["API.moltbook.com".to_owned()]).is_ok());
    assert_eq!(code(any_address(Vec::new())), Code::InterpreterMismatch);
    assert_eq!(
        code(any_address(vec!["evil.example".to_owned()])),
        Code::InterpreterMismatch
    );
    let with_secret = forged(MOLTBOOK, "search", |operation| {
        let stage = request(operation);
        stage.url = Segments::default();
        stage.url_input = Some("url".to_owned());
        stage.domains = vec!["api.moltbook.com".to_owned()];
    });
    assert_eq!(code(with_secret), Code::InterpreterMismatch);
}

#[test]
fn k_04_a_secret_is_named_and_goes_to_hosts_of_the_operation() {
    let alterations: [fn(&mut Operation); 4] = [
        |operation| operation.secrets.clear(),
        |operation| operation.secrets[0].hosts.clear(),
        |operation| {
            operation.secrets[0]
                .hosts
                .push("evil.example:443".to_owned());
        },
        |operation| {
            request(operation).headers.push(HeaderOut {
                name: "X-Other".to_owned(),
                value: Segments::secret("OTHER_KEY", Encoding::Header),
            });
        },
    ];
    for (index, alter) in alterations.into_iter().enumerate() {
        assert_eq!(
            code(forged(MOLTBOOK, "search", alter)),
            Code::InterpreterMismatch,
            "{index}"
        );
    }
}

#[test]
fn k_04_files_and_code_are_what_was_given() {
    let file = forged(KIT, "upload", |operation| operation.files.read.clear());
    assert_eq!(code(file), Code::InterpreterMismatch);
    let other_digest = forged(KIT, "code-file", |operation| {
        if let Some(Stage::Sandbox(stage)) = operation.stages.first_mut() {
            stage.program = hydrant_plan::ProgramOut::File {
                name: "script.py".to_owned(),
                digest: Some(format!("sha256:{}", "cd".repeat(32))),
            };
        }
    });
    assert_eq!(code(other_digest), Code::InterpreterMismatch);
}

#[test]
fn k_320_a_sandbox_has_a_policy_and_nothing_else_has() {
    let without = forged(KIT, "convert-video", |operation| operation.policy = None);
    assert_eq!(code(without), Code::InterpreterMismatch);
    let mut borrowed = None;
    for operation in skill(KIT).operations {
        borrowed = borrowed.or(operation.policy);
    }
    let with = forged(KIT, "upload", |operation| {
        operation.policy = borrowed.clone();
    });
    assert_eq!(code(with), Code::InterpreterMismatch);
    let shell = forged(KIT, "convert-video", |operation| {
        operation.policy.as_mut().unwrap().shell = true;
    });
    assert_eq!(code(shell), Code::InterpreterMismatch);
    for egress in [
        "\"any\"",
        "[]",
        "[\"*\"]",
        "[\"a.org\"]",
        "[\"https://a.org:443\"]",
        "[1]",
        "{}",
        "[\"A.org:443\"]",
        "[\"*.a.org:443\"]",
    ] {
        let network = serde_json::from_str(&format!("{{\"egress\":{egress}}}")).unwrap();
        let open = forged(KIT, "convert-video", |operation| {
            operation.policy.as_mut().unwrap().network = network;
        });
        assert_eq!(code(open), Code::InterpreterMismatch, "{egress}");
    }
    let unknown = forged(KIT, "convert-video", |operation| {
        operation
            .policy
            .as_mut()
            .unwrap()
            .resources
            .insert("gpus".to_owned(), 1.into());
    });
    assert_eq!(code(unknown), Code::InterpreterMismatch);
}
