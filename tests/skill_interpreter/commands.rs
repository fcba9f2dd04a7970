//! The commands of 2.2, each with its options, and the limits of the interpreter behind them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, capability, code, error_of, list, string};
use crate::program::Run;
use crate::recorder::{Recorder, Reply};

#[test]
fn a_program_that_takes_too_much_ends_with_its_interpreter() {
    let house = House::new();
    let programs = [
        ("time", "def f: f; f"),
        ("memory", "\\\"xxxxxxxxxx\\\" * 10000000 | length"),
        ("depth", "def f: 1 + f; f"),
    ];
    let operations: String = programs
        .iter()
        .map(|(name, program)| format!("- name: {name}\n  command: \"echo 1 | jq '{program}'\"\n"))
        .collect();
    house.load(
        "one.yaml",
        &format!("name: one\noperations:\n{operations}- {{name: good, command: echo 1 | jq .}}\n"),
    );
    house.approve_all();
    for (name, _) in programs {
        let begin = Instant::now();
        let error = house.denied("one", name, &json!({}));
        assert_eq!(code(&error), "interpreter-limit", "{name}: {error}");
        // 2 s, and what a busy machine adds.
        assert!(begin.elapsed() < Duration::from_secs(20), "{name}");
    }
    house.execute("one", "good", &json!({}));
    house.assert_whole_chain();
}

/// 2.2: what cannot be read of the command line is an error as every other.
#[test]
fn params_that_are_no_json_are_an_error_in_json() {
    let house = House::new();
    house.load(
        "one.yaml",
        "name: one\noperations:\n- {name: say, command: echo hello}\n",
    );
    for params in ["{bad", "", "@none.json"] {
        let error = house.error(&["skill", "execute", "one", "say", params]);
        assert_eq!(code(&error), "invalid-request", "{params}: {error}");
        assert!(string(&error["message"]).contains("params"), "{error}");
    }
    let error = house.error(&["skill", "onboard", "one", "--input", "{bad"]);
    assert!(string(&error["message"]).contains("--input"), "{error}");
    let error = house.error(&["approvals", "approve", "ap-0", "--response", "{bad"]);
    assert!(string(&error["message"]).contains("--response"), "{error}");
    let error = house.error(&["skill", "load", "one.yaml", "--set", "X"]);
    assert!(string(&error["message"]).contains("NAME=VALUE"), "{error}");
}

/// The hints lead on.
#[test]
fn a_missing_secret_is_asked_for_where_it_is_looked_for() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let text = format!(
        "name: one\noperations:\n- name: read\n  endpoint: {}\n  auth: {{type: bearer, env_var: TOKEN}}\n",
        server.url("/read")
    );
    house.load("one.yaml", &text);
    house.approve_all();
    let error = house.denied("one", "read", &json!({}));
    assert!(
        string(&error["hint"]).contains("secrets set TOKEN --skill one"),
        "{error}"
    );
    house.secret("TOKEN", "one", "t-112233445566");
    house.execute("one", "read", &json!({}));
    let wrong = house.error(&["skill", "load", "one.yaml", "--expect-digest", "xyz"]);
    assert_eq!(code(&wrong), "invalid-request");
}

#[test]
fn the_options_of_a_load() {
    let house = House::new();
    let text = "name: one\noperations:\n- name: rel\n  endpoint: /v1/x\n- name: var\n  endpoint: https://${WHERE}/x\n- name: run\n  \
        command: python3 main.py\n";
    house.folder().put("skill.yaml", text);
    house.folder().put("code.py", "print('of the load')\n");
    let loaded = house.ok(&[
        "skill",
        "load",
        "skill.yaml",
        "--as",
        "mine",
        "--base-url",
        "https://base.example.org/v2/",
        "--set",
        "WHERE=var.example.org",
        "--file",
        "main.py=code.py",
    ]);
    assert_eq!(loaded["skill-id"], "mine");
    let hosts = |id: &str| {
        let shown = house.ok(&["skill", "show", "mine"]);
        capability(&shown, id)["manifest"]["hosts"].clone()
    };
    assert_eq!(hosts("mine.rel"), json!(["base.example.org:443"]));
    assert_eq!(hosts("mine.var"), json!(["var.example.org:443"]));
    assert_eq!(capability(&loaded, "mine.run")["status"], "pending");
    // The bytes of the load are what runs, and nothing of the working directory.
    house.approve_all();
    house.folder().put("code.py", "print('changed')\n");
    house.folder().put("main.py", "print('beside')\n");
    let result = house.execute("mine", "run", &json!({}));
    assert_eq!(result["output"]["stdout"], "of the load\n", "{result}");
    // The digest may be expected from the command line.
    let digest = string(&loaded["skill-digest"]);
    house.ok(&[
        "skill",
        "load",
        "skill.yaml",
        "--as",
        "other",
        "--expect-digest",
        &digest,
    ]);
    let wrong = digest.replace(
        &digest[7..9],
        if &digest[7..9] == "00" { "11" } else { "00" },
    );
    let error = house.error(&[
        "skill",
        "load",
        "skill.yaml",
        "--as",
        "third",
        "--expect-digest",
        &wrong,
    ]);
    assert_eq!(code(&error), "digest-mismatch");
    // A code file that was not given.
    let loaded = house.ok(&["skill", "load", "skill.yaml", "--as", "fourth"]);
    let run = capability(&loaded, "fourth.run");
    assert_eq!(
        (&run["available"], &run["missing"]),
        (&json!(false), &json!(["file:main.py"]))
    );
}

/// Never another home in its place: that one has other approvals and secrets.
#[test]
fn a_home_is_named_from_the_working_directory_too() {
    let house = House::new();
    house.folder().put(
        "one.yaml",
        "name: one\noperations:\n- {name: say, command: echo a}\n",
    );
    fs::create_dir(house.folder().path("named")).unwrap();
    let mut command = house.folder().command(&["skill", "load", "one.yaml"]);
    let loaded = Run::of(command.env("HYDRANT_HOME", "named"));
    assert_eq!(loaded.status, 0, "{loaded:?}");
    assert!(house.folder().exists("named/state"));
    assert_eq!(house.ok(&["skill", "list"])["skills"], json!([]));
}

#[test]
fn check_only_fetches_and_records_nothing() {
    let server = Recorder::content();
    let house = House::beside(&[&server]);
    let address = server.url("/skill.yaml");
    let run = house
        .folder()
        .ok(&["skill", "load", "--check-only", &address]);
    assert_eq!(run.json(), json!({"ok": true}));
    assert_eq!(server.requests(), []);
    assert_eq!(
        house.code(&["skill", "load", "--check-only", "https://x.com/a"]),
        "url-tweet"
    );
    house.ok(&[
        "skill",
        "load",
        "--check-only",
        "--force",
        "https://x.com/a",
    ]);
    assert_eq!(house.chain(), Vec::<Value>::new());
}

#[test]
fn params_are_empty_an_object_a_file_or_stdin() {
    let house = House::new();
    house.load(
        "one.yaml",
        "name: one\noperations:\n- {name: say, command: 'echo \"<$WHO>\"'}\n",
    );
    house.approve_all();
    let said = |run: &Run| run.json()["output"].clone();
    house.folder().put("params.json", "{\"WHO\": \"file\"}");
    let given = house
        .folder()
        .ok(&["skill", "execute", "one", "say", "{\"WHO\": \"here\"}"]);
    assert!(said(&given).to_string().contains("<here>"), "{given:?}");
    let file = house
        .folder()
        .ok(&["skill", "execute", "one", "say", "@params.json"]);
    assert!(said(&file).to_string().contains("<file>"), "{file:?}");
    let stdin = house.fed(
        &["skill", "execute", "one", "say", "-"],
        "{\"WHO\": \"stdin\"}",
    );
    assert!(said(&stdin).to_string().contains("<stdin>"), "{stdin:?}");
    let nothing = house.error(&["skill", "execute", "one", "say"]);
    assert_eq!(
        (code(&nothing), &nothing["missing"]),
        ("missing-input".into(), &json!(["WHO"]))
    );
    for params in ["{", "@nowhere.json", "{\"WHO\": 1} x"] {
        let run = house
            .folder()
            .run(&["skill", "execute", "one", "say", params]);
        assert!(run.status == 1 || run.status == 2, "{params}: {run:?}");
    }
    // A session is joined by its name.
    let joined = [
        "skill",
        "execute",
        "one",
        "say",
        "{\"WHO\": \"x\"}",
        "--session",
        "work",
    ];
    assert_eq!(house.ok(&joined)["run"], house.ok(&joined)["run"]);
}

#[test]
fn the_commands_of_approvals() {
    let house = House::new();
    house.load(
        "one.yaml",
        "name: one\noperations:\n- {name: a, endpoint: 'https://a.example.org/'}\n- {name: b, endpoint: 'https://b.example.org/'}\n",
    );
    let ids: Vec<String> = list(&house.ok(&["approvals", "list"]))
        .iter()
        .map(|one| string(&one["id"]))
        .collect();
    assert_eq!(ids.len(), 2);
    let by = |status: &str| list(&house.ok(&["approvals", "list", "--status", status])).len();
    let approved = house.ok(&[
        "approvals",
        "approve",
        &ids[0],
        "--scope",
        "session",
        "--ttl",
        "1h",
        "--reason",
        "a trial",
    ]);
    assert_eq!(
        (&approved["scope"], &approved["reason"]),
        (&json!("session"), &json!("a trial")),
        "{approved}"
    );
    assert!(approved["valid-until"].is_string(), "{approved}");
    house.ok(&["approvals", "deny", &ids[1]]);
    assert_eq!((by("pending"), by("approved"), by("denied")), (0, 1, 1));
    house.ok(&["approvals", "revoke", &ids[0]]);
    assert_eq!((by("approved"), by("revoked")), (0, 1));
    assert_eq!(
        house.ok(&["approvals", "show", &ids[0]])["status"],
        "revoked"
    );
    assert_eq!(
        house.code(&["approvals", "list", "--status", "lost"]),
        "invalid-request"
    );
}

#[test]
fn the_commands_of_secrets() {
    let house = House::new();
    house.load(
        "one.yaml",
        "name: one\noperations:\n- {name: a, endpoint: 'https://a.example.org/'}\n",
    );
    for arguments in [
        &["secrets", "set", "GLOBAL"][..],
        &["secrets", "set", "OWN", "--skill", "one"],
    ] {
        let run = house.fed(arguments, "v-123456\n");
        assert_eq!(run.status, 0, "{run:?}");
    }
    house.ok(&[
        "secrets",
        "bind",
        "GLOBAL",
        "--skill",
        "one",
        "--host",
        "a.example.org",
        "--as",
        "EXPECTED",
    ]);
    let listed = house.ok(&["secrets", "list"]);
    let text = listed.to_string();
    for part in ["GLOBAL", "OWN", "EXPECTED", "a.example.org:443"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("v-123456"));
    house.ok(&["secrets", "remove", "GLOBAL"]);
    let text = house.ok(&["secrets", "list"]).to_string();
    assert!(!text.contains("GLOBAL") && text.contains("OWN"), "{text}");
    assert_eq!(
        house.code(&["secrets", "remove", "GLOBAL"]),
        "secret-missing"
    );
}

#[test]
fn a_doctor_and_a_jail() {
    let house = House::new();
    let run = house.folder().ok(&["doctor"]);
    let report = run.json().to_string();
    for layer in [
        "userns", "mount", "pid", "net", "landlock", "seccomp", "rlimits", "memory", "egress",
    ] {
        assert!(
            report.contains(&format!("\"jail-{layer}\"")),
            "{layer} is not in {report}"
        );
    }
    let run = house
        .folder()
        .run(&["jail", "--", "/bin/sh", "-c", "echo inside; exit 7"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (7, "inside\n"),
        "{run:?}"
    );
}

#[test]
fn a_key_that_is_gone_is_an_unknown_key() {
    let house = House::with("agent_core = ['ccos.io.println']\n");
    let run = house.folder().run(&["skill", "list"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stderr.contains("agent_core"), "{run:?}");
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    let server = Recorder::content();
    let proxy = Recorder::new(|_| Reply::typed("text/plain", "of the proxy"));
    let house = House::beside(&[&server]);
    house.load(
        "one.yaml",
        &format!(
            "name: one\noperations:\n- name: ping\n  endpoint: {}\n",
            server.url("/ping")
        ),
    );
    house.approve_all();
    let mut command = house.folder().command(&["skill", "execute", "one", "ping"]);
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env(name, proxy.url(""));
    }
    let run = Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.json()["output"]["json"], json!({"ok": true}));
    assert_eq!((server.requests().len(), proxy.requests().len()), (1, 0));
}

#[test]
fn a_certificate_that_nobody_signed_is_refused() {
    use std::net::TcpListener;
    use std::sync::Arc;

    let key = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let certificate = key.cert.der().clone();
    let private = rustls_key(&key.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut session = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        // Until the client goes away, or a request is there: that must not happen.
        while session.is_handshaking() {
            if session.complete_io(&mut stream).is_err() {
                return 0;
            }
        }
        let _ = session.complete_io(&mut stream);
        std::io::Read::read(&mut session.reader(), &mut [0; 16]).unwrap_or(0)
    });
    let pair = address.to_string();
    let house = House::with(&format!("allow_private = [{pair:?}]\n"));
    let text = format!(
        "name: one\noperations:\n- name: ping\n  endpoint: https://{pair}/ping\n  auth: {{type: bearer, env_var: TOKEN}}\n"
    );
    house.load("one.yaml", &text);
    house.secret("TOKEN", "one", "t-112233445566");
    house.approve_all();
    assert_eq!(code(&house.denied("one", "ping", &json!({}))), "tls");
    assert_eq!(served.join().unwrap(), 0, "nothing is sent over it");
}

fn rustls_key(der: &[u8]) -> rustls::pki_types::PrivateKeyDer<'static> {
    rustls::pki_types::PrivateKeyDer::try_from(der.to_vec()).unwrap()
}

#[test]
fn section_2_2_an_error_is_one_object_on_stderr() {
    let house = House::new();
    let run = house.folder().run(&["skill", "show", "none"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert_eq!(code(&error_of(&run)), "unknown-skill");
}
