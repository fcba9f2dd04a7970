//! The same over `hydrant syscall`, and inside `hydrant jail`.

use serde_json::{Value, json};

use crate::house::{House, capability, code, error_of, list, string};
use crate::program::Run;
use crate::recorder::Recorder;

const TOKEN: &str = "t-112233445566";

/// `ping` without and `read` with a secret, both approved.
fn house(server: &Recorder) -> House {
    let house = House::beside(&[server]);
    let text = format!(
        "name: one\noperations:\n- name: ping\n  endpoint: {}\n- name: read\n  endpoint: {}\n  auth: {{type: bearer, env_var: \
         TOKEN}}\n",
        server.url("/ping"),
        server.url("/read")
    );
    house.load("one.yaml", &text);
    house.secret("TOKEN", "one", TOKEN);
    house.approve_all();
    house
}

/// Python with `call` and `shell` in a jail; what it prints, line by line.
fn jailed(house: &House, script: &str) -> Vec<Value> {
    let script = format!("{PYTHON}{script}");
    let mut command = house
        .folder()
        .command(&["jail", "--", "/usr/bin/python3", "-c", &script]);
    let run = Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    run.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const PYTHON: &str = r#"
import json, os, socket, subprocess
def call(capability, **input):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['HYDRANT_SOCKET'])
    request = {'type': 'command', 'name': 'Capability.Call', 'payload': {'capability': capability, 'input': input}}
    s.sendall(json.dumps(request).encode() + b'\n')
    data = b''
    while not data.endswith(b'\n'):
        part = s.recv(65536)
        if not part: break
        data += part
    return json.loads(data)
def say(value): print(json.dumps(value), flush=True)
def shell(*words):
    run = subprocess.run(['hydrant', *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    say({'status': run.returncode, 'stdout': run.stdout, 'stderr': run.stderr})
"#;

#[test]
fn an_operation_is_called_by_its_id() {
    let server = Recorder::content();
    let house = house(&server);
    let answers = house.syscall(&[
        ("one.ping", json!({})),
        (
            "ccos.skill.execute",
            json!({"skill": "one", "operation": "one.ping"}),
        ),
        ("One.PING", json!({})),
    ]);
    for answer in &answers {
        assert_eq!(answer["type"], "response", "{answer}");
        assert_eq!(answer["payload"]["output"]["json"], json!({"ok": true}));
    }
    // One connection is one session.
    let runs: Vec<&Value> = answers
        .iter()
        .map(|answer| &answer["payload"]["run"])
        .collect();
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
    for record in house.events("capability-executed") {
        assert_eq!(
            record["client"],
            json!({"frontend": "syscall", "jailed": false})
        );
    }
}

#[test]
fn map_and_list_and_show() {
    let server = Recorder::content();
    let house = house(&server);
    let answers = house.syscall(&[
        (
            "ccos.primitive.map",
            json!({"command": "curl https://a.example.org/"}),
        ),
        ("ccos.skill.list", json!({})),
        ("ccos.skill.show", json!({"skill": "one"})),
    ]);
    assert_eq!(
        answers[0]["payload"],
        house.map("curl https://a.example.org/")
    );
    assert_eq!(answers[1]["payload"]["skills"][0]["skill-id"], "one");
    assert_eq!(capability(&answers[2]["payload"], "one.ping")["line"], 3);
}

#[test]
fn codes_and_error_objects() {
    let server = Recorder::content();
    let house = house(&server);
    let cases = [
        ("no.such", json!({}), "unknown-skill"),
        (
            "ccos.skill.execute",
            json!({"skill": "none", "operation": "x"}),
            "unknown-skill",
        ),
        (
            "ccos.skill.execute",
            json!({"skill": "one", "operation": "x"}),
            "unknown-operation",
        ),
        ("ccos.skill.execute", json!({"skill": 1}), "invalid-request"),
        ("one.ping", json!({"url": "x"}), "invalid-input"),
        ("one.read", json!({}), "client-not-jailed"),
        (
            "ccos.network.http-fetch",
            json!({"url": server.url("/")}),
            "operator-only",
        ),
        (
            "ccos.sandbox.shell",
            json!({"command": ["id"]}),
            "operator-only",
        ),
        (
            "ccos.io.read-file",
            json!({"path": "/etc/passwd"}),
            "operator-only",
        ),
    ];
    let calls: Vec<(&str, Value)> = cases
        .iter()
        .map(|(id, input, _)| (*id, input.clone()))
        .collect();
    for (answer, (id, input, expected)) in std::iter::zip(house.syscall(&calls), &cases) {
        assert_eq!(answer["type"], "error", "{id} {input}: {answer}");
        assert_eq!(
            answer["payload"]["code"], *expected,
            "{id} {input}: {answer}"
        );
        assert_eq!(answer["payload"]["details"]["code"], *expected, "{answer}");
    }
    assert_eq!(server.requests(), []);
}

#[test]
fn operator_commands_are_not_served() {
    let server = Recorder::content();
    let house = house(&server);
    for id in [
        "ccos.approval.approve",
        "ccos.approvals.approve",
        "ccos.approval.list",
        "ccos.secrets.set",
        "ccos.skill.unload",
        "hydrant.approvals",
    ] {
        let answer = &house.syscall(&[(id, json!({}))])[0];
        assert_eq!(answer["type"], "error", "{id}: {answer}");
    }
}

#[test]
fn a_secret_needs_a_jail_and_has_one() {
    let server = Recorder::content();
    let house = house(&server);
    let denied = &house.syscall(&[("one.read", json!({}))])[0];
    assert_eq!(denied["payload"]["code"], "client-not-jailed");
    assert_eq!(server.requests(), []);
    let answers = jailed(
        &house,
        "say(call('one.read'))\nsay(call('one.ping', jailed=False))\n",
    );
    assert_eq!(
        answers[0]["payload"]["output"]["json"],
        json!({"ok": true}),
        "{answers:?}"
    );
    assert_eq!(answers[1]["payload"]["code"], "invalid-input");
    assert_eq!(
        server.only().header("authorization"),
        Some(format!("Bearer {TOKEN}").as_str())
    );
    let executed = house.events("capability-executed");
    assert_eq!(executed.len(), 1);
    assert_eq!(executed[0]["client"]["jailed"], true);
    let refused = house.events("capability-denied");
    let jailed: Vec<&Value> = refused.iter().map(|one| &one["client"]["jailed"]).collect();
    assert_eq!(jailed, [&json!(false), &json!(true)]);
}

#[test]
fn modes_of_each_frontend() {
    let server = Recorder::content();
    let house = house(&server);
    let pair = [server.pair()];
    let with = |lines: &str| house.govern(&format!("allow_private = {pair:?}\n{lines}"));
    with("jailed_clients = 'all'\n");
    assert_eq!(
        code(&house.denied("one", "ping", &json!({}))),
        "client-not-jailed"
    );
    let answer = &house.syscall(&[("one.ping", json!({}))])[0];
    assert_eq!(answer["payload"]["code"], "client-not-jailed");
    assert_eq!(server.requests(), []);
    with("jailed_clients = {syscall = 'warn', cli = 'secrets'}\n");
    assert_eq!(
        code(&house.denied("one", "read", &json!({}))),
        "client-not-jailed"
    );
    assert_eq!(
        house.syscall(&[("one.read", json!({}))])[0]["type"],
        "response"
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn commands_inside_go_through_the_socket() {
    let server = Recorder::content();
    let house = house(&server);
    let script = "shell('skill', 'execute', 'one', 'read')\n\
        shell('skill', 'list')\n\
        shell('map', 'curl https://a.example.org/')\n\
        shell('approvals', 'list')\n\
        shell('secrets', 'list')\n\
        shell('audit', 'show')\n\
        shell('skill', 'unload', 'one')\n\
        shell('secrets', 'bind', 'TOKEN', '--skill', 'one', '--host', 'a.example.org')\n";
    let answers = jailed(&house, script);
    for answer in &answers[..3] {
        assert_eq!(answer["status"], 0, "{answer}");
    }
    let executed: Value = serde_json::from_str(&string(&answers[0]["stdout"])).unwrap();
    assert_eq!(executed["output"]["json"], json!({"ok": true}));
    for answer in &answers[3..] {
        assert_eq!(answer["status"], 1, "{answer}");
        assert!(
            string(&answer["stderr"]).contains("operator-only"),
            "{answer}"
        );
    }
    assert!(!format!("{answers:?}").contains(TOKEN));
    assert_eq!(list(&house.ok(&["skill", "list"])["skills"]).len(), 1);
}

#[test]
fn inside_there_is_no_other_way_out() {
    let server = Recorder::content();
    let house = house(&server);
    let (host, port) = server
        .pair()
        .split_once(':')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let script = format!(
        "import urllib.request\n\
         def refused(f):\n    try: f()\n    except Exception as e: return type(e).__name__\n    return None\n\
         say(refused(lambda: socket.create_connection(('{host}', {port}), 2)))\n\
         say(refused(lambda: urllib.request.urlopen('http://{host}:{port}/ping', timeout=2)))\n\
         say(refused(lambda: open('{state}/secrets.toml').read()))\n\
         say(refused(lambda: open('{home}/x', 'w')))\n\
         say(call('one.ping')['type'])\n",
        state = house.state().display(),
        home = house.folder().home().display(),
    );
    let answers = jailed(&house, &script);
    for answer in &answers[..4] {
        assert!(answer.is_string(), "{answers:?}");
    }
    assert_eq!(answers[4], "response");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn params_from_a_file_and_from_stdin() {
    let server = Recorder::content();
    let house = house(&server);
    house.folder().put("params.json", "{}");
    house.ok(&["skill", "execute", "one", "ping", "@params.json"]);
    assert_eq!(
        house
            .fed(&["skill", "execute", "one", "ping", "-"], "{}")
            .status,
        0
    );
    let run = house.fed(&["skill", "execute", "one", "ping", "-"], "{\"x\":1}");
    assert_eq!(code(&error_of(&run)), "invalid-input");
    assert_eq!(server.requests().len(), 2);
}
