//! Values that an author computes, looks up or makes depend on a variable, through the component's entry: they are inputs or
//! secrets of the request, and nothing is run for them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use serde_json::{Value, json};

const U: &str = "https://api.example.org";

fn map(command: &str) -> Value {
    let request = json!({"op": "map", "command": command});
    let answer = skill_interpreter::run(request.to_string().as_bytes()).unwrap();
    requests::judged::judged(serde_json::from_slice(&answer).unwrap(), &request)
}

fn codes(command: &str) -> Vec<String> {
    let answer = map(command);
    let diagnostics = answer["diagnostics"].as_array().unwrap();
    let code = |diagnostic: &Value| diagnostic["code"].as_str().unwrap().to_owned();
    diagnostics.iter().map(code).collect()
}

/// The names of the inputs of a text that is one request.
fn inputs(text: &str) -> Vec<String> {
    let operation = map(text);
    assert_eq!(operation["tier"], 1, "{text}: {operation}");
    let inputs = operation["input-schema"]["properties"].as_object().unwrap();
    let mut names: Vec<String> = inputs.keys().cloned().collect();
    names.sort();
    names
}

#[test]
fn a_number_that_is_computed_is_given_by_the_caller() {
    let since = "NOW=$(($(date +%s) * 1000))\nSINCE=$(( NOW - 3600 ))";
    assert_eq!(
        inputs(&format!("{since}\ncurl -s \"{U}/boxes/$SINCE/$NOW\"")),
        ["NOW", "SINCE"]
    );
    assert_eq!(
        inputs(&format!("STAMP=$(date +%s)000\ncurl -s {U}/boxes/$STAMP")),
        ["DATE"]
    );
    // Two expressions are two inputs.
    let found = inputs(&format!(
        "curl -s {U}/boxes/$((DAY - 1))/$((DAY + 1))/$(( (DAY + 1) * 2 ))"
    ));
    assert_eq!(
        found,
        ["DAY_MINUS_1", "DAY_PLUS_1", "OF_DAY_PLUS_1_END_TIMES_2"]
    );
}

#[test]
fn words_that_need_a_variable_are_read_as_if_it_were_given() {
    let command =
        format!("curl -s {U}/boxes ${{BOX_KEY:+-H \"Authorization: Bearer $BOX_KEY\"}} -d a=1");
    let operation = map(&command);
    assert_eq!(operation["maps-to"], "ccos.network.http-fetch");
    assert_eq!(operation["secrets"], json!(["BOX_KEY"]), "{operation}");
    assert_eq!(codes(&command), ["shell-syntax"]);
    // They are checked as all others are.
    let answer = map(&format!("curl -s {U}/boxes ${{X:+--config a$X}}"));
    assert_eq!(answer["error"]["code"], "curl-option-refused", "{answer}");
}

#[test]
fn what_a_client_is_asked_for_is_given_by_the_caller() {
    for value in [
        "oc get route boxes -o jsonpath='{.spec.host}'",
        "gcloud run services describe boxes --format 'value(status.url)'",
        "aws ssm get-parameter --name box",
        "npm view boxes version",
        "date | sed -E 's/-o/i/' | sort -r",
        "boxctl --version 2>/dev/null || echo none",
    ] {
        let text = format!("BOX=$({value})\ncurl -s {U}/boxes/$BOX");
        assert_eq!(inputs(&text), ["BOX"], "{value}");
    }
    for value in [
        "oc delete route boxes",
        "gcloud run deploy boxes",
        "aws ssm put-parameter --name get-box",
        "npm install view",
        "sed -ni s/a/b/ notes.txt",
        "sed --in-place=.bak s/a/b/ notes.txt",
        "date | sort -uo notes.txt",
        "boxctl --version; rm x",
        "oc get route > x",
    ] {
        let text = format!("BOX=$({value})\ncurl -s {U}/boxes/$BOX");
        let answer = map(&text);
        assert_eq!(answer["tier"], 3, "{value}: {answer}");
        assert_eq!(answer["params"]["script"], text, "{value}: {answer}");
    }
}

#[test]
fn a_name_ends_where_the_line_goes_on_with_no_name() {
    let text = format!("curl -s \"{U}/boxes?a=$FIRST\\\n&b=$SECOND\\\n\"");
    assert_eq!(inputs(&text), ["a", "b"]);
}

#[test]
fn a_pager_at_the_end_of_a_pipe_changes_nothing() {
    assert!(inputs(&format!("curl -s {U}/boxes | less")).is_empty());
    for pager in ["less -o log", "less a.txt", "more +!rm"] {
        let answer = map(&format!("curl -s {U}/boxes | {pager}"));
        assert_eq!(answer["tier"], 3, "{pager}: {answer}");
    }
}

#[test]
fn a_constant_may_be_a_file_of_the_home_directory() {
    let text =
        format!("CONFIG=~/.boxes/config.json\nBOX=$(jq -r .box $CONFIG)\ncurl -s {U}/boxes/$BOX");
    assert_eq!(inputs(&text), ["BOX"]);
    let answer = map(&format!("CONFIG=~root/x\ncurl -s {U}/boxes/$CONFIG"));
    assert_eq!(answer["tier"], 3, "{answer}");
}

#[test]
fn an_assignment_before_a_request_is_none_for_words_and_ends_with_it() {
    let one = map(&format!("BOX=b curl -s {U}/boxes/$LID"));
    assert_eq!(one["tier"], 1, "{one}");
    for text in [
        format!("BOX=b curl -s {U}/boxes/$BOX"),
        format!("BOX=a\nBOX=b curl -s {U}/boxes/$BOX"),
        format!("BOX=b curl -s {U}/boxes\ncurl -s {U}/boxes/${{BOX}}"),
        format!("BOX=$(boxctl make) curl -s {U}/boxes"),
    ] {
        let answer = map(&text);
        assert_eq!(answer["tier"], 3, "{text}: {answer}");
        assert_eq!(answer["params"]["script"], text, "{answer}");
    }
    // It does not replace what was set before.
    let text = format!("BOX=a\ncurl -s {U}/boxes/$BOX\nBOX=b curl -s {U}/lids");
    let answer = map(&text);
    assert!(answer.to_string().contains("/boxes/a"), "{answer}");
}

#[test]
fn only_what_acts_on_nothing_shows_an_answer() {
    let text = |shown: &str| format!("BOX=$(curl -s {U}/boxes)\n{shown}\ncurl -s {U}/lids\n");
    for shown in [
        "echo \"$BOX\" | jq -r '.[].id' | sort -rn | uniq -c | head -n 3",
        "printf '%s\\n' \"$BOX\"",
        "echo $BOX | grep -c lid | wc -l",
    ] {
        let answer = map(&text(shown));
        assert_eq!(
            answer["operations"].as_array().unwrap().len(),
            2,
            "{shown}: {answer}"
        );
    }
    for shown in [
        "echo \"$BOX\" | sed -i s/a/b/ notes.txt",
        "echo \"$BOX\" | sed 1e",
        "echo \"$BOX\" | python3 -c 'import os'",
        "echo \"$BOX\" | keep_box",
        "echo \"$BOX\" | sort -o notes.txt",
        "echo \"$BOX\" | sort --compress-program=run",
        "echo \"$BOX\" | uniq - notes.txt",
        "echo \"$BOX\" | awk '{system($0)}'",
        "printf -v BOX %s https://other.example",
        "printf ''-v BOX %s https://other.example",
        "printf \"$OPTION\" BOX %s",
    ] {
        let answer = map(&text(shown));
        assert_eq!(answer["tier"], 3, "{shown}: {answer}");
        assert_eq!(answer["params"]["script"], text(shown), "{shown}: {answer}");
    }
}

#[test]
fn only_settings_that_change_no_request_are_dropped() {
    for setting in [
        "-e",
        "-eux",
        "+x",
        "-euo pipefail",
        "-e -u -o pipefail",
        "+o xtrace",
    ] {
        assert!(
            inputs(&format!("set {setting}\ncurl -s {U}/boxes")).is_empty(),
            "{setting}"
        );
    }
    for setting in [
        "-n",
        "-en",
        "-o noexec",
        "-f",
        "-o",
        "-",
        "-- a b",
        "-e a",
        "-k",
        "$X",
        "-e $X",
    ] {
        let text = format!("set {setting}\ncurl -s {U}/boxes");
        let answer = map(&text);
        assert_eq!(answer["tier"], 3, "{setting}: {answer}");
        assert_eq!(answer["params"]["script"], text, "{setting}: {answer}");
    }
}

#[test]
fn members_of_two_files_are_two_secrets() {
    for (one, other, names) in [
        (
            "jq -r .token ~/.crates.json",
            "jq -r .token ~/.lids.json",
            ["CRATES_TOKEN", "LIDS_TOKEN"],
        ),
        (
            "cat ~/.config/crates/keys.json | jq -r .api.token",
            "jq -r .token < ~/.config/lids/keys.json",
            ["CRATES_KEYS_TOKEN", "LIDS_KEYS_TOKEN"],
        ),
    ] {
        let text = format!(
            "curl -s {U}/boxes -H \"Authorization: Bearer $({one})\"\ncurl -s https://lids.example/x -H \"Authorization: Bearer $({other})\""
        );
        let answer = map(&text);
        let operations = answer["operations"].as_array().unwrap();
        let secrets: Vec<&Value> = operations.iter().map(|one| &one["secrets"][0]).collect();
        assert_eq!(secrets, names, "{answer}");
    }
}
