//! What an answer of the interpreter cannot do, whoever wrote it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use hydrant_plan::{
    Body, Encoding, Fetches, HeaderOut, HttpStage, JsonNode, Pair, Program, Segment, Segments,
};

#[test]
fn every_answer_is_judged() {
    for text in [MOLTBOOK, KIT, RARER, BOOKS, NOTEBOOK] {
        let skill = checked(text);
        assert!(!skill.operations.is_empty());
        assert!(skill.skill.operations.is_empty());
        for checked in &skill.operations {
            let is_usable = checked.operation.status == Status::Ok;
            assert_eq!(checked.manifest.is_some(), is_usable);
            assert!(is_usable || checked.operation.tier == 3);
            assert!(digest::is_digest(&checked.operation.digest));
        }
    }
}

#[test]
fn what_an_answer_says_of_its_own_danger_is_not_read() {
    let claims = json!({
        "tier": 1, "effects": [], "reasons": [], "requires": [], "hosts": ["harmless.example:443"],
        "policy": {"network": {"egress": ["evil.example:443"]}, "filesystem": {"read": ["/"], "write": ["/"]},
            "resources": {"memory-mb": 1_000_000}, "secrets": ["OTHER_KEY"], "shell": true},
        "policy-sources": [], "secret-names": {"/a": "OTHER"}, "digest": format!("sha256:{}", "0".repeat(64)),
    });
    for text in [MOLTBOOK, KIT, RARER, BOOKS, NOTEBOOK] {
        let mut lying: Value = serde_json::from_str(text).unwrap();
        for operation in lying["operations"].as_array_mut().unwrap() {
            operation
                .as_object_mut()
                .unwrap()
                .extend(claims.as_object().unwrap().clone());
            for secret in operation["secrets"].as_array_mut().unwrap() {
                secret["hosts"] = json!(["evil.example:443"]);
            }
        }
        let lying = checked(&lying.to_string());
        for (honest, lying) in checked(text).operations.iter().zip(&lying.operations) {
            assert_eq!(honest.operation, lying.operation);
            assert_eq!(honest.policy_digest, lying.policy_digest);
            assert_eq!(honest.manifest, lying.manifest);
        }
    }
}

#[test]
fn the_digest_covers_what_is_done_and_no_words() {
    let plain = altered(MOLTBOOK, "search", |_| {}).operation.digest;
    let words = altered(MOLTBOOK, "search", |operation| {
        operation.title = "other".to_owned();
        operation.description = "other".to_owned();
        operation.line = 99;
        operation.confidence = 0.1;
        operation.examples.clear();
        operation.aliases.push("other".to_owned());
    });
    assert_eq!(words.operation.digest, plain);
    let alterations: [fn(&mut Operation); 5] = [
        |operation| request(operation).method = "DELETE".to_owned(),
        |operation| operation.asks.tier = Some(2),
        |operation| operation.asks.effects.push("mail".to_owned()),
        |operation| operation.data_classifications.clear(),
        |operation| operation.input_schema = Value::Bool(true),
    ];
    let mut digests = vec![plain];
    for alter in alterations {
        digests.push(altered(MOLTBOOK, "search", alter).operation.digest);
    }
    let mut skill = skill(MOLTBOOK);
    skill.base_url = Some("https://other.example/".to_owned());
    let based = checked_with(skill, &Config::default()).unwrap();
    digests.push(operation(&based, "search").operation.digest.clone());
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

#[test]
fn constants_and_mapping_version_are_covered_by_the_digest() {
    let digest = |constants: &[(&str, &str)], mapping_version: &str| {
        let constants: BTreeMap<String, String> = constants
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let load = Load {
            source: "https://moltbook.com/skill.yaml",
            digest: "sha256:00",
            constants: &constants,
            files: &BTreeMap::new(),
            mapping_version,
            judge: Judge {
                config: &Config::default(),
                lacks_sandbox: &|_| false,
            },
        };
        let checked = check(skill(MOLTBOOK), load).unwrap();
        operation(&checked, "search").operation.digest.clone()
    };
    let plain = digest(&[], "1");
    assert_eq!(digest(&[], "1"), plain);
    assert_ne!(digest(&[], "2"), plain);
    assert_ne!(digest(&[("A", "b")], "1"), plain);
}

#[test]
fn hosts_are_those_of_the_urls() {
    for (url, host) in [
        ("https://evil.example/v1", "evil.example:443"),
        (
            "https://api.moltbook.com.evil.example/",
            "api.moltbook.com.evil.example:443",
        ),
        ("http://api.moltbook.com/", "api.moltbook.com:80"),
        ("https://api.moltbook.com:8443/", "api.moltbook.com:8443"),
        ("HTTPS://API.moltbook.COM/v1", "api.moltbook.com:443"),
        ("https://api.moltbook.com?x", "api.moltbook.com:443"),
        // A backslash ends the host, as every client reads it.
        (
            "https://api.moltbook.com\\@evil.example/",
            "api.moltbook.com:443",
        ),
    ] {
        let operation = altered(MOLTBOOK, "create_notebook", |operation| {
            request(operation).url = Segments::literal(url);
        });
        assert_eq!(operation.operation.hosts, [host], "{url}");
        let reason = format!("host:{host}");
        assert!(operation.operation.reasons.contains(&reason), "{url}");
    }
}

#[test]
fn a_url_that_leaves_its_host_open_cannot_be_used() {
    for url in [
        "https://api.moltbook.com@evil.example/",
        "https://u:p@api.moltbook.com/",
        "ftp://api.moltbook.com:443/",
        "//api.moltbook.com/",
        "/v1",
        "",
    ] {
        let operation = altered(MOLTBOOK, "create_notebook", |operation| {
            request(operation).url = Segments::literal(url);
        });
        assert_eq!(refused(&operation), Some(Code::HostVariable), "{url}");
        assert!(operation.operation.stages.is_empty(), "{url}");
        assert!(operation.manifest.is_none(), "{url}");
    }
    for lead in [
        "https://api.moltbook.com",
        "https://",
        "https://api.moltbook.com:443",
        "",
    ] {
        let operation = altered(MOLTBOOK, "create_notebook", |operation| {
            let mut url = Segments::literal(lead);
            url.push(Segment::Input {
                input: "x".to_owned(),
                enc: Encoding::None,
                style: None,
            });
            request(operation).url = url;
        });
        assert_eq!(refused(&operation), Some(Code::HostVariable), "{lead}");
    }
}

#[test]
fn an_address_of_the_caller_needs_domains_and_carries_no_secret() {
    let any_address = |id: &str, domains: Vec<String>| {
        altered(MOLTBOOK, id, |operation| {
            let stage = request(operation);
            stage.url = Segments::default();
            stage.url_input = Some("url".to_owned());
            stage.domains = domains;
        })
    };
    let listed = any_address("create_notebook", vec!["API.moltbook.com".to_owned()]);
    assert_eq!(refused(&listed), None);
    assert_eq!(listed.operation.hosts, ["api.moltbook.com:443"]);
    let open = any_address("create_notebook", Vec::new());
    assert_eq!(refused(&open), Some(Code::HostVariable));
    let with_secret = any_address("search", vec!["api.moltbook.com".to_owned()]);
    assert_eq!(refused(&with_secret), Some(Code::UrlInputSecret));
    assert!(with_secret.operation.secrets.is_empty());
}

#[test]
fn a_secret_is_listed_with_the_hosts_of_the_requests_that_carry_it() {
    let hidden = altered(MOLTBOOK, "search", |operation| operation.secrets.clear());
    let [key] = hidden.operation.secrets.as_slice() else {
        panic!("{:?}", hidden.operation.secrets);
    };
    assert_eq!(key.name, "MOLTBOOK_API_KEY");
    assert_eq!(key.hosts, ["api.moltbook.com:443"]);
    let reason = "secret:MOLTBOOK_API_KEY".to_owned();
    assert!(hidden.operation.reasons.contains(&reason));
    let other = altered(MOLTBOOK, "search", |operation| {
        request(operation).headers.push(HeaderOut {
            name: "X-Other".to_owned(),
            value: Segments::secret("OTHER_KEY", Encoding::Header),
        });
    });
    let reason = "secret:OTHER_KEY".to_owned();
    assert!(other.operation.reasons.contains(&reason));
    // Of two requests only the one that carries it.
    let two = altered(MOLTBOOK, "search", |operation| {
        let mut second = operation.stages[0].clone();
        if let Stage::Http(stage) = &mut second {
            stage.url = Segments::literal("https://other.example/");
            stage.headers.clear();
        }
        operation.stages.push(second);
    });
    assert_eq!(two.operation.hosts.len(), 2);
    assert_eq!(two.operation.secrets[0].hosts, ["api.moltbook.com:443"]);
}

#[test]
fn files_and_code_are_what_was_given() {
    let file = altered(KIT, "upload", |operation| operation.files.read.clear());
    assert_eq!(file.operation.files.read, ["a.pdf"]);
    let reason = "file-read:a.pdf".to_owned();
    assert!(file.operation.reasons.contains(&reason));
    let written = altered(MOLTBOOK, "search", |operation| {
        request(operation).output_file = Some(hydrant_plan::OutputFile {
            path: Segments::literal("out.json"),
        });
    });
    assert_eq!(written.operation.files.write, ["out.json"]);
    assert_eq!(written.operation.tier, 2);
    let other = altered(KIT, "code-file", |operation| {
        if let Some(Stage::Sandbox(stage)) = operation.stages.first_mut() {
            stage.program = Program::File {
                name: "script.py".to_owned(),
                digest: Some(format!("sha256:{}", "cd".repeat(32))),
            };
        }
    });
    let honest = altered(KIT, "code-file", |_| {});
    assert_eq!(other.operation, honest.operation);
}

#[test]
fn a_sandbox_gets_what_was_asked_for_in_form_and_nothing_else_has_a_policy() {
    let policy = |alter: fn(&mut hydrant_plan::Asks)| {
        altered(KIT, "convert-video", |operation| alter(&mut operation.asks))
            .operation
            .policy
            .unwrap()
    };
    let upload = altered(KIT, "upload", |operation| {
        operation.asks.read.push("/srv".to_owned());
    });
    assert!(upload.operation.policy.is_none());
    assert!(!policy(|_| {}).shell);
    assert!(
        altered(KIT, "setup", |_| {})
            .operation
            .policy
            .unwrap()
            .shell
    );
    let open = policy(|asks| {
        for host in [
            "any",
            "*",
            "a.org",
            "https://a.org:443",
            "A.org:443",
            "*.a.org:443",
            "a.org:0",
            "a.org:+1",
            ":443",
            "",
            "a.org:443/x",
            "u@a.org:443",
            "a.org:70000",
        ] {
            let host = host.to_owned();
            asks.egress.push(hydrant_plan::EgressWish { host, line: 1 });
        }
    });
    assert_eq!(open.network, json!({"egress": "none"}));
    let wider = policy(|asks| {
        asks.resources.insert("gpus".to_owned(), 1);
        asks.read
            .extend(["relative".to_owned(), "/a\0b".to_owned(), "/srv".to_owned()]);
    });
    assert_eq!(wider.resources.len(), 5);
    assert_eq!(wider.filesystem["read"], json!(["/input", "/srv"]));
}

#[test]
fn what_fetches_its_code_is_tier_3_and_a_script_is_named() {
    for fetches in [Fetches::Installs, Fetches::RunsDownloaded] {
        let fetching = |id: &str, config: &str| {
            altered_with(KIT, id, &super::config(config), |operation| {
                if let Some(Stage::Sandbox(stage)) = operation.stages.first_mut() {
                    stage.fetches = fetches;
                }
            })
            .operation
        };
        for id in ["inline-code", "code-file", "convert-video", "setup"] {
            assert_eq!(fetching(id, "known_tools = ['ffmpeg']").tier, 3, "{id}");
        }
        let reason = "script".to_owned();
        assert!(fetching("setup", "").reasons.contains(&reason));
    }
}

#[test]
fn a_value_that_is_encoded_for_another_place_cannot_be_used() {
    let raw = || {
        Segments(vec![Segment::Input {
            input: "x".to_owned(),
            enc: Encoding::None,
            style: None,
        }])
    };
    let alterations: [fn(&mut HttpStage, Segments); 4] = [
        |stage, raw| stage.url.0.extend(raw.0),
        |stage, raw| {
            stage.query.push(Pair {
                name: Segments::literal("q"),
                value: Some(raw),
            });
        },
        |stage, raw| stage.body = Some(Body::Json(JsonNode::Array(vec![JsonNode::Text(raw)]))),
        |stage, raw| {
            stage.body = Some(Body::Form(vec![Pair {
                name: raw,
                value: None,
            }]));
        },
    ];
    for alter in alterations {
        let operation = altered(MOLTBOOK, "create_notebook", |operation| {
            let stage = request(operation);
            stage.url = Segments::literal("https://api.moltbook.com/v1/");
            alter(stage, raw());
        });
        assert_eq!(refused(&operation), Some(Code::InvalidPlan));
    }
}
