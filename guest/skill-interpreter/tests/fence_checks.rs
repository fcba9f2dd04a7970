//! Checks in shell fences that only print or stop: they are left out, and nothing that does more is taken for one.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{is_whole_script, operations_of_fence as operations};
use serde_json::Value;

const CURL: &str = "curl -s https://api.example.org/boxes";

#[test]
fn a_check_that_only_prints_or_stops_is_left_out() {
    for (fence, count) in [
        (
            "if [ -z \"$BOXES_KEY\" ]; then\n  echo 'no key' >&2\n  exit 1\nfi",
            0,
        ),
        (
            "if [ -n \"$A\" ]; then echo a; elif [[ -f b ]]; then echo b; else echo none; fi",
            0,
        ),
        (
            "[ -n \"$BOXES_KEY\" ] || echo missing\ntest -f x && echo found || echo none",
            0,
        ),
        (
            "if ! grep -q boxes log.txt; then\n  # It is not there\n  printf none\nfi",
            0,
        ),
        (
            "if [ ! -d node_modules ]; then\n  cd boxes && npm install boxes\nfi",
            0,
        ),
        (
            "[ -d ~/boxes/node_modules ] || (cd ~/boxes && npm install)",
            0,
        ),
        (
            &format!("if [ -z \"$BOX\" ]; then exit 1; fi\n{CURL}/$BOX"),
            1,
        ),
        (
            &format!(
                "R=$({CURL} -w '\\n%{{http_code}}')\nCODE=$(echo \"$R\" | tail -n1)\n\
                 if [ \"$CODE\" -ne 200 ]; then\n  echo \"$R\" | jq -r .error\n  exit 1\nfi"
            ),
            1,
        ),
    ] {
        let skill = requests::skill_of_fence(fence);
        let operations = skill["operations"].as_array().unwrap();
        assert_eq!(operations.len(), count + 1, "{fence}: {skill}");
        assert!(operations.iter().all(|one| one["tier"] == 1), "{fence}");
        assert!(
            requests::codes(&skill).contains(&"not-an-operation"),
            "{fence}"
        );
    }
}

#[test]
fn what_does_more_than_check_stays_a_script() {
    for fence in [
        "if [ -z \"$A\" ]; then rm -rf x; fi",
        "if [ -z \"$A\" ]; then echo a; else rm -rf x; fi",
        "if [ -z \"$A\" ]; then echo a; elif rm -rf x; then echo b; fi",
        "if [ -z \"$A\" ]; then echo a | sh; fi",
        "if [ -z \"$A\" ]; then echo a > ~/.bashrc; fi",
        "if [ -z \"$A\" ]; then echo $(rm x); fi",
        "if [ -z \"$(rm x)\" ]; then echo a; fi",
        "if [ -z \"`rm x`\" ]; then echo a; fi",
        "if [ -z \"$A\" ]; then echo a; fi > ~/.bashrc",
        "if [ -z \"$A\" ]; then echo a; fi | sh",
        "if [ -z \"$A\" ]; then echo a; fi && rm x",
        "if [ -z \"$A\" ]; then echo a; fi; rm x",
        "if [ -z \"$A\" ]; then \"rm\" x; fi",
        "if [ -z \"$A\" ]; then $A x; fi",
        "if [ -z \"$A\" ]; then echo() { rm x; }; fi",
        "if rm x | grep -q y; then echo a; fi",
        "if curl -s https://a.example/x; then echo a; fi",
        "if [ -f x ]; then source x; fi",
        "[ -n \"$A\" ] || rm x",
        "[ -d a ] || (cd a && rm -rf x)",
        "[ -d a ] || (cd a && npm install) | sh",
        "[ -d a ] || (cd a && npm install) && rm x",
        "[ -d a ] || (cd a; rm x)",
        "if [ ! -d a ]; then cd a && npm install && rm x; fi",
        "if [ ! -d a ]; then cd a || npm install; fi",
        "if [ ! -d a ]; then npm install \"$(rm x)\"; fi",
        "if [ ! -d a ]; then npm install | sh; fi",
        "if [ ! -d a ]; then \"npm\" install; fi",
        "if [ ! -d a ]; then cd \"$(rm x)\"; fi",
        "[ -n \"$A\" ] && curl -s https://a.example/x",
        "[ -n \"$A\" ] || echo a | xargs rm",
        "while [ -n \"$A\" ]; do echo a; done",
        // What such a check guards is not run without it.
        "if [ \"$SURE\" != yes ]; then exit 1; fi\nrm -rf build",
        "if [ -z \"$BOX\" ]; then exit 1; fi\npython3 drop.py \"$BOX\"",
        "[ \"$SURE\" = yes ] || exit 1\ncurl -s -X DELETE https://api.example.org/boxes",
    ] {
        assert!(is_whole_script(fence), "{fence}: {:?}", operations(fence));
    }
}

#[test]
fn the_text_of_map_is_never_read_as_a_check() {
    let request = serde_json::json!({"op": "map", "command": "if [ -z \"$A\" ]; then echo a; fi"});
    let answer = skill_interpreter::run(request.to_string().as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let program = &answer["operations"][0]["stages"][0]["program"];
    assert_eq!(program["script"], request["command"], "{answer}");
}
