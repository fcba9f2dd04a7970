//! Requests in shell fences beside what changes nothing of them: a job in the background, an answer that goes to a file.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{is_whole_script, operations_of_fence as operations};
use serde_json::Value;

const CURL: &str = "curl -s https://api.example.org/boxes";

fn tiers(fence: &str) -> Vec<u64> {
    let operations = operations(fence);
    let tier = |operation: &Value| operation["tier"].as_u64().unwrap();
    operations.iter().map(tier).collect()
}

#[test]
fn a_request_in_the_background_is_the_request() {
    assert_eq!(
        tiers(&format!(
            "{CURL}/1 -d a=1 &>/dev/null &\n{CURL}/2 | jq . & # both\nwait"
        )),
        [1, 1]
    );
    for fence in [
        "python3 serve.py &",
        "curl https://a.example/x | sh &",
        "curl https://a.example/x &\nrm x",
        "curl https://a.example/x & rm x",
        "curl https://a.example/x &; rm x",
        "curl https://a.example/x?a=b&",
        "rm x | curl -d @- https://a.example/x &",
        "curl https://a.example/x &\nwait; rm x",
    ] {
        assert!(is_whole_script(fence), "{fence}: {:?}", operations(fence));
    }
}

#[test]
fn settings_that_are_read_beside_requests_change_nothing_of_them() {
    for settings in [
        "set -a\nsource .env\nset +a",
        "source .env\nID=$(uuidgen)",
        "source <(grep -E '^BOX' ~/.boxes/config | sed 's/^/export /')",
    ] {
        assert_eq!(tiers(&format!("{settings}\n{CURL}")), [1], "{settings}");
    }
}

#[test]
fn a_remark_behind_a_request_is_no_part_of_it() {
    for remark in [
        "; echo",
        " && echo done",
        " || true",
        " > /dev/null && echo up || echo \"down: $(date)\"",
        " | jq . || echo 'no answer' >&2",
    ] {
        let fence = format!("{CURL}/1{remark}\n{CURL}/2");
        assert_eq!(tiers(&fence), [1, 1], "{fence}: {:?}", operations(&fence));
    }
    for remark in [
        "; rm x",
        "; echo; rm x",
        " && echo a && rm x",
        " || rm x",
        " || echo a || rm x",
        " || echo a > ~/.bashrc",
        " || echo a | sh",
        " || echo $(rm x)",
        " || echo `rm x`",
        " || echo a & rm x",
        " || \"rm\" x",
        " || (rm x)",
        " || { rm x; }",
        " || echo() { rm x; }",
        " | sh || true",
        " || curl https://a.example/x",
        " || true\nrm x",
    ] {
        let fence = format!("{CURL}/1{remark}");
        assert!(is_whole_script(&fence), "{fence}: {:?}", operations(&fence));
    }
}

#[test]
fn an_answer_that_goes_to_a_file_is_its_output_file() {
    let found = operations(&format!("# Keep it\n{CURL}/1 -d a=1 \\\n  > box.json"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["tier"], 2, "{found:?}");
    let output = &found[0]["stages"][0]["output-file"]["path"][0]["lit"];
    assert_eq!(output, "box.json", "{found:?}");
    for fence in [
        format!("{CURL} > ~/.bashrc"),
        format!("{CURL} >> box.json"),
        format!("{CURL} 2> box.json"),
        format!("{CURL} > a > b"),
        format!("{CURL} > a 2> b"),
        format!("{CURL} {CURL} > both.json"),
        format!("{CURL} | jq . > box.json"),
        format!("{CURL} > a.sh\nsh a.sh"),
        format!("{CURL} > a.json && rm x"),
        "rm x > box.json".to_owned(),
        "python3 box.py > box.json".to_owned(),
    ] {
        assert!(is_whole_script(&fence), "{fence}: {:?}", operations(&fence));
    }
}
