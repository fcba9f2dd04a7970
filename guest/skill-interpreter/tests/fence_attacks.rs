//! Fences that try to hide what they do behind checks, remarks, slips and values that are read.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod processor_time;
mod requests;

use serde_json::Value;

use processor_time::Stopwatch;
use requests::operations_of_fence as operations;

const U: &str = "https://api.example.org";
const KILL: &str = "curl -X DELETE https://api.example.org/boxes";

fn methods(fence: &str) -> Vec<String> {
    let operations = operations(fence);
    let methods = operations
        .iter()
        .map(|one| one["stages"][0]["method"].as_str().unwrap_or("script"));
    methods.map(str::to_owned).collect()
}

fn body(fence: &str) -> String {
    operations(fence)[0]["stages"][0]["body"].to_string()
}

#[test]
fn what_a_comment_says_is_no_command() {
    for fence in [
        format!("curl {U}/a; echo # see; {KILL}"),
        format!("curl {U}/a || echo failed # retry || echo x && {KILL}"),
        format!("[ -n \"$X\" ] || echo no # or; {KILL}\ncurl {U}/a"),
        format!("curl {U}/a || true # it's fine"),
    ] {
        assert_eq!(methods(&fence), ["GET"], "{fence}");
    }
}

#[test]
fn a_check_that_decides_is_not_left_out() {
    for check in [
        "[ -f f ] && grep -q no f && exit 1",
        "[ -f confirm ] && grep -q yes confirm || exit 1",
        "[ -f confirm ] && grep -i yes confirm || exit 1",
        "[ -f confirm ] && jq -e .yes confirm || exit 1",
        "[ -n \"$X\" ] && $ASK echo || exit 1",
        "[ \"$CONFIRM\" = yes -a -n \"$X\" ] || exit 1",
        "[ \"$ENV\" != -n ] || exit 1",
    ] {
        assert_eq!(methods(&format!("{check}\n{KILL}")), ["script"], "{check}");
    }
    let joined = format!("curl -f {U}/check &&\n[ -f ok ] || exit 1\n{KILL}");
    assert_eq!(methods(&joined), ["script"]);
}

#[test]
fn printing_into_a_variable_or_a_file_is_no_printing() {
    for fence in [
        format!("U={U}\ncurl {U}/a; printf -v U https://other.example\ncurl $U/b"),
        format!("U={U}\n[ -n \"$DEV\" ] && printf -v U https://other.example\ncurl $U/b"),
        format!("[ -n \"$DEV\" ] && sort -o ~/.bashrc x\ncurl {U}/b"),
    ] {
        assert_eq!(methods(&fence), ["script"], "{fence}");
    }
}

#[test]
fn what_is_sent_is_not_mended() {
    let document = format!(
        "curl -X POST {U}/notes --data-binary @- <<'EOF'\nI don’t know “it” and won’t say\nEOF"
    );
    assert!(body(&document).contains("I don’t know “it” and won’t say"));
    for slip in ["first \\\\\n- item", "first ^\n- item"] {
        let sent = body(&format!("curl -X POST {U}/notes --data-raw '{slip}'"));
        let whole = Value::from(slip).to_string();
        assert!(sent.contains(whole.trim_matches('"')), "{sent}");
    }
}

#[test]
fn words_that_depend_on_a_variable_are_no_words_where_the_document_gives_it() {
    for fence in [
        format!("X=\ncurl {U}/a ${{X:+-X DELETE -H \"Y: $X\"}}"),
        format!("curl {U}/a ${{X:+https://other.example/$X}}"),
        format!("curl {U}/a ${{X:+-H \"A: $X\" -H 'Q: {{'}} -H B:}}"),
    ] {
        assert_eq!(methods(&fence), ["script"], "{fence}");
    }
}

#[test]
fn an_answer_that_goes_elsewhere_too_makes_a_script() {
    for fence in [
        format!("curl -o /dev/null -w \"%{{http_code}}\" {U}/a > code.txt"),
        format!("curl -sw \"%{{http_code}}\" {U}/a > out.txt"),
        format!("curl -O {U}/a > out.txt"),
        format!("curl {U}/a --next -d a=1 {U}/b > out.txt"),
        format!("curl {U}/a > -"),
    ] {
        assert_eq!(methods(&fence), ["script"], "{fence}");
    }
}

#[test]
fn each_computed_text_is_a_value_of_its_own() {
    for (query, count) in [
        ("$(date +%Y)/$(date +%m)", 2),
        ("$(date +%Y)/$(date +%Y)", 1),
        ("$((n*2))/$((N*2))", 2),
    ] {
        let operation = &operations(&format!("curl \"{U}/{query}\""))[0];
        let inputs = operation["input-schema"]["properties"].as_object().unwrap();
        assert_eq!(inputs.len(), count, "{operation}");
    }
}

#[test]
fn checks_and_arithmetic_within_each_other_take_little_time_and_stack() {
    let deep = format!("X={}1", "$((".repeat(20_000));
    assert_eq!(methods(&deep), ["script"]);
    let checks = |count: usize| "[ -n a ] &&\n".repeat(count) + "ls";
    let time = |count: usize| {
        let begun = Stopwatch::started();
        assert_eq!(methods(&checks(count)), ["script"]);
        begun.elapsed().as_secs_f64()
    };
    // Eight times the text: far less than 64 times the time.
    let (short, long) = (time(600), time(4_800));
    assert!(long < short.max(0.005) * 32.0, "{short} {long}");
}
