//! What comes over the socket of a jail, and what a hostile program does with it.

use serde_json::{Value, json};

use crate::cell::Cell;

#[test]
fn the_socket_speaks_both_dialects_of_syscall() {
    let cell = Cell::new();
    let run = cell.python(
        &[],
        r#"
s = connect()
for request in [
    {'type': 'query', 'name': 'Content.Hydrate', 'payload': {'uri': 'os://crew/cook.md'}, 'metadata': {'id': 'e1'}},
    {'kind': 'query', 'type': 'Content.Ingest', 'data': {'uri': 'os://crew/cook.md'}, 'metadata': {'id': 'm1'}},
    {'type': 'event', 'name': 'Nothing.Happens'},
    {'kind': 'command', 'type': 'Shell.Run', 'data': ['ls']},
    {'type': 'query', 'name': 'Capability.Call', 'payload': {'capability': 'fs.read_text', 'input': {'path': 'a.txt'}}},
]:
    s.sendall(json.dumps(request).encode() + b'\n')
s.shutdown(socket.SHUT_WR)
while True:
    data = line(s)
    if not data: break
    for one in data.splitlines():
        answer = json.loads(one); answer.pop('metadata'); print(json.dumps(answer))
"#,
    );
    let answers: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4, "{run:?}");
    assert_eq!(answers[0]["payload"]["content"], "Cook.");
    assert_eq!(
        answers[1]["data"]["content"],
        "---\ntype: Agent\n---\nCook."
    );
    assert_eq!(answers[2]["data"]["code"], 404);
    assert_eq!(answers[3]["payload"]["text"], "of the workspace\n");
}

#[test]
fn every_call_over_the_socket_is_recorded() {
    let cell = Cell::new();
    let run = cell.python(
        &[],
        "call('fs.read_text', path='a.txt'); call('fs.read_text', path='/os/../etc/passwd'); call('no.such')",
    );
    assert_eq!(run.status, 0, "{run:?}");
    let audited = cell.audited();
    assert_eq!(audited.len(), 2, "{audited:?}");
    assert_ne!(audited[0]["request_id"], audited[1]["request_id"]);
}

#[test]
fn a_request_changes_neither_policy_nor_mounts() {
    let cell = Cell::new();
    cell.folder().put("secret/s.txt", "not granted\n");
    let secret = cell.folder().argument("secret");
    let run = cell.python(
        &[],
        &format!(
            r#"
s = connect()
for extra in [{{}}, {{'policy': '/workspace/p'}}, {{'mounts': [{{'at': '/secret', 'dir': '{secret}'}}]}}, {{'root': '{secret}'}}]:
    for path in ['/secret/s.txt', '{secret}/s.txt', '/workspace/../secret/s.txt']:
        payload = {{'capability': 'fs.read_text', 'input': {{'path': path, **extra}}, **extra}}
        s.sendall(json.dumps({{'type': 'query', 'name': 'Capability.Call', 'payload': payload, **extra}}).encode() + b'\n')
        print(json.loads(line(s))['type'])
"#
        ),
    );
    assert_eq!(run.stdout, "error\n".repeat(12), "{run:?}");
}

#[test]
fn more_than_sixteen_connections_are_told_and_others_go_on() {
    let cell = Cell::new();
    let run = cell.python(
        &[],
        r#"
held = [connect() for _ in range(16)]
# Each of them is served.
for s in held:
    s.sendall(b'{"type":"query","name":"No.Such"}\n'); line(s)
for _ in range(100):
    refused = json.loads(line(connect()))
    assert refused['payload']['code'] == 'limit', refused
held.pop().close()
for _ in range(500):
    answer = call('fs.read_text', path='a.txt')
    if answer.get('code') != 'limit': break
    time.sleep(0.01)
print(answer['bytes_read'])
"#,
    );
    assert_eq!(run.stdout, "17\n", "{run:?}");
}

#[test]
fn half_lines_long_lines_and_no_lines_disturb_nobody() {
    let cell = Cell::new();
    let run = cell.python(
        &[],
        r#"
half = connect(); half.sendall(b'{"type":"query","name"')
silent = connect()
long = connect()
for _ in range(40): long.sendall(b'x' * 100000)
long.sendall(b'\n\xff\xfe\n' + b'[' * 100000 + b'\n')
lines = long.makefile()
print([json.loads(lines.readline())['payload']['code'] for _ in range(3)])
greedy = connect()
greedy.setblocking(False)
try:
    while True: greedy.send(b'{"type":"query","name":"No.Such"}\n' * 100)
except BlockingIOError: pass
print(call('fs.read_text', path='a.txt')['bytes_read'])
half.close()
"#,
    );
    assert_eq!(
        run.stdout, "['LINE_TOO_LONG', 'INVALID_JSON', 'INVALID_JSON']\n17\n",
        "{run:?}"
    );
}

#[test]
fn descriptors_that_are_sent_along_are_of_no_account() {
    let cell = Cell::new();
    let run = cell.python(
        &[],
        r#"
s = connect()
for _ in range(300):
    with open('/workspace/a.txt') as file:
        socket.send_fds(s, [b'{"type":"query","name":"No.Such"}\n'], [file.fileno()] * 200)
    line(s)
print(call('fs.read_text', path='a.txt')['bytes_read'])
"#,
    );
    assert_eq!(run.stdout, "17\n", "{run:?}");
}

#[test]
fn no_exec_holds_for_every_call_of_the_jail() {
    let cell = Cell::new();
    cell.policy(
        &json!({"fs": {"read": ["/workspace"]}, "exec": true}),
        &json!({"process": [{"program": "git", "args": [["..."]], "cwd": ["/workspace"]}]}),
    );
    let mut git = std::process::Command::new("git");
    git.args(["init", "-q"])
        .current_dir(cell.folder().path("ws"));
    assert!(git.output().unwrap().status.success());
    let answer = |options: &[&str]| -> Value {
        let run = cell.python(options, "print(json.dumps(call('git.status')))");
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    };
    assert!(answer(&[]).to_string().contains("a.txt"), "{}", answer(&[]));
    assert_eq!(answer(&["--no-exec"])["code"], "denied");
}

#[test]
fn a_stream_of_calls_is_answered_in_order() {
    let cell = Cell::new();
    let requests: String = (0..50)
        .map(|number| {
            let request =
                json!({"type": "query", "name": "No.Such", "metadata": {"id": number.to_string()}});
            format!("{request}\n")
        })
        .collect();
    cell.folder().put("ws/requests", requests);
    let run = cell.sh("hydrant syscall < requests; echo $?");
    let mut lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.pop(), Some("1"), "{run:?}");
    let ids: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["metadata"]["causation"].take())
        .collect();
    let expected: Vec<Value> = (0..50).map(|number| number.to_string().into()).collect();
    assert_eq!(ids, expected);
}
