//! What agents may call and what they may not, and the keys of `[govern]` that say so.

use hydrant_govern::client::{Client, Frontend};
use hydrant_govern::config::Config;
use hydrant_govern::failure::Code;
use hydrant_govern::governor::{Caller, Execute, LoadRequest};
use serde_json::{Value, json};

use crate::house::{API, House, SOURCE, agent, document, operator, ready};

/// The code of a call that must be refused.
fn refused(house: &House, capability: &str, input: Value) -> Code {
    house
        .governor
        .call(&agent(), capability, input)
        .unwrap_err()
        .code
}

#[test]
fn what_a_request_to_load_changes_is_loaded() {
    let house = House::new();
    house.load(&document().replace(&format!("{API}/open"), "https://${WHERE}/open"));
    let request = LoadRequest {
        source: SOURCE.to_owned(),
        base_url: Some("https://b.e.org".to_owned()),
        constants: [("WHERE".to_owned(), "w.e.org".to_owned())].into(),
        as_id: Some("two".to_owned()),
        ..LoadRequest::default()
    };
    let loaded = house.governor.load(&agent(), &request).unwrap();
    assert_eq!(loaded["skill-id"], "two");
    assert_eq!(
        loaded["capabilities"][1]["requires"],
        json!(["host:w.e.org:443"])
    );
    for name in [
        "skill-digest",
        "generation",
        "delta",
        "capabilities",
        "pending-approvals",
        "diagnostics",
        "hint",
    ] {
        assert!(!loaded[name].is_null(), "{name}");
    }
    let wrong = LoadRequest {
        expect_digest: Some(format!("sha256:{}", "0".repeat(64))),
        ..request
    };
    let refused = house.governor.load(&agent(), &wrong).unwrap_err();
    assert_eq!(refused.code, Code::DigestMismatch);
}

#[test]
fn an_operation_has_an_id_an_alias_and_a_whole_id() {
    let house = ready("");
    for operation in ["open", "Open", "one.open"] {
        let input = Execute::read(json!({"skill": "one", "operation": operation}).into()).unwrap();
        let result = house
            .governor
            .execute(&agent(), &input.skill, &input.operation, input.params)
            .unwrap();
        assert_eq!(result["capability"], "one.open");
    }
    let mapped = house.governor.map("echo hi").unwrap();
    assert_eq!(mapped["maps-to"], "ccos.io.println");
}

#[test]
fn asking_for_an_approval_answers_the_request_and_grants_nothing() {
    let house = House::new();
    let loaded = house.load(&document());
    let ask = |capability: &str| {
        house
            .governor
            .request_approval(&agent(), capability, Some("to read"))
    };
    let asked = ask("one.open").unwrap();
    assert_eq!(
        asked["approval-id"],
        loaded["capabilities"][1]["approval-id"]
    );
    assert_eq!(asked["status"], "pending");
    assert_eq!(
        asked["expires-at"].as_str().map(str::len),
        Some(24),
        "{asked}"
    );
    let reasons = asked["reasons"].as_array().unwrap();
    assert!(
        reasons.contains(&json!("host:api.example.org:443")),
        "{asked}"
    );
    assert_eq!(house.code("one", "open", json!({})), Code::ApprovalRequired);
    assert_eq!(ask("one.none").unwrap_err().code, Code::UnknownOperation);
    assert_eq!(house.sent().len(), 0);
}

#[test]
fn core_capabilities_are_delegates() {
    let house = ready("");
    for (capability, input) in [
        (
            "ccos.network.http-fetch",
            json!({"url": "https://api.example.org/"}),
        ),
        ("ccos.json.parse", json!({"path": "."})),
        ("ccos.text.transform", json!({"tool": "head"})),
        ("ccos.io.println", json!({"text": "hi"})),
        ("ccos.io.read-file", json!({"path": "/etc/passwd"})),
        ("ccos.sandbox.python", json!({"code": "1"})),
        ("ccos.sandbox.node", json!({"code": "1"})),
        ("ccos.sandbox.go", json!({"script": "a.go"})),
        ("ccos.sandbox.shell", json!({"command": ["id"]})),
    ] {
        assert_eq!(
            refused(&house, capability, input),
            Code::OperatorOnly,
            "{capability}"
        );
    }
    assert_eq!(house.sent().len(), 0);
}

#[test]
fn operator_commands_are_no_capabilities() {
    let house = House::new();
    house.load(&document());
    let pending = house.pending();
    let id = pending[0]["id"].as_str().unwrap();
    for capability in [
        "ccos.approval.approve",
        "ccos.approvals.approve",
        "ccos.approval.deny",
        "ccos.approval.revoke",
        "ccos.secrets.set",
        "ccos.secrets.bind",
        "ccos.skill.unload",
        "ccos.audit.verify",
    ] {
        for jailed in [false, true] {
            let caller = Caller::lasting(Client {
                frontend: Frontend::Syscall,
                jailed,
            })
            .unwrap();
            let answer =
                house
                    .governor
                    .call(&caller, capability, json!({"id": id, "skill": "one"}));
            let code = answer.unwrap_err().code;
            assert!(
                matches!(code, Code::OperatorOnly | Code::UnknownSkill),
                "{capability}: {code:?}"
            );
        }
    }
    assert_eq!(house.pending(), pending);
}

#[test]
fn skill_roots_are_directories_of_their_own() {
    let house = House::new();
    let folder = house.folder().to_owned();
    for name in ["inside", "beside"] {
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("skill.yaml"), document()).unwrap();
    }
    std::os::unix::fs::symlink("../beside/skill.yaml", folder.join("inside/link.yaml")).unwrap();
    let house = house.again(&format!("skill_roots = [{:?}]", folder.join("inside")));
    let load = |caller: &Caller, path: &str| {
        let source = folder.join(path).to_str().unwrap().to_owned();
        house
            .governor
            .load(
                caller,
                &LoadRequest {
                    source,
                    ..LoadRequest::default()
                },
            )
            .map_err(|failure| failure.code)
    };
    assert!(load(&operator(), "inside/skill.yaml").is_ok());
    for path in [
        "beside/skill.yaml",
        "inside/link.yaml",
        "inside/../beside/skill.yaml",
        "inside",
    ] {
        assert_eq!(load(&operator(), path), Err(Code::PathNotAllowed), "{path}");
    }
    // Over any other frontend, and from a jail, no file at all.
    assert_eq!(load(&agent(), "inside/skill.yaml"), Err(Code::UrlNotSkill));
    let jailed = Caller::new(Client {
        frontend: Frontend::Cli,
        jailed: true,
    })
    .unwrap();
    assert_eq!(load(&jailed, "inside/skill.yaml"), Err(Code::UrlNotSkill));
}

#[test]
fn known_tools_and_variables_are_what_the_operator_says() {
    let house = House::with("known_tools = ['frobnicate']");
    let tiers = |house: &House| {
        let text = "name: one\noperations:\n- {name: a, command: frobnicate x}\n- {name: b, command: quux x}\n";
        let loaded = house.load(text);
        loaded["capabilities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["tier"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(tiers(&house), [2, 3]);
    assert_eq!(tiers(&House::new()), [3, 3]);
    let config = Config::from_toml("[govern]\nenv_secrets = ['A']\n").unwrap();
    assert_eq!(config.env_secrets, ["A"]);
}

#[test]
fn every_code_that_reaches_a_caller_is_one_of_the_list() {
    // The list of the chapter is the type: a code that is none cannot be read, not even from the interpreter.
    assert!(serde_json::from_value::<Code>(json!("no-such-code")).is_err());
    let house = House::new();
    house.interpreter_says(Ok(
        json!({"ok": false, "error": {"code": "invented", "message": "m"}, "diagnostics": []}),
    ));
    assert_eq!(
        house.try_load(&document()).unwrap_err().code,
        Code::InvalidPlan
    );
    let mut texts: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), Code::ALL.len());
    for text in texts {
        assert_eq!(Code::parse(text).map(Code::as_str), Some(text));
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{text}"
        );
    }
}

#[test]
fn an_error_has_these_members() {
    let house = ready("");
    let error = house.execute("one", "read", json!({})).unwrap_err();
    let error = json!(error);
    assert_eq!(error["code"], "missing-input");
    assert_eq!(error["missing"], json!(["q"]));
    let house = House::new();
    house.load(&document());
    let error = json!(house.execute("one", "open", json!({})).unwrap_err());
    let names: Vec<&String> = error.as_object().unwrap().keys().collect();
    for name in &names {
        let known = [
            "code",
            "message",
            "hint",
            "path",
            "line",
            "approval-id",
            "missing",
        ];
        assert!(known.contains(&name.as_str()), "{name}");
    }
    assert!(
        error["approval-id"].as_str().unwrap().starts_with("ap-"),
        "{error}"
    );
    let error = json!(
        house
            .try_load("name: x\noperations:\n- name: a\n  method: 5\n")
            .unwrap_err()
    );
    assert_eq!(
        (&error["path"], &error["line"]),
        (&json!("operations[0].method"), &json!(4))
    );
}
