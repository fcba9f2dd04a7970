//! What people write in shell fences, through the component's entry: alternatives, secrets from files, answers that are kept in
//! variables, slips that are mended; and that whatever the reader of shell text does not know is a script as a whole.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use serde_json::{Value, json};

fn map(command: &str) -> Value {
    let request = json!({"op": "map", "command": command});
    let answer = skill_interpreter::run(request.to_string().as_bytes()).unwrap();
    requests::judged::judged(serde_json::from_slice(&answer).unwrap(), &request)
}

/// The operations of a text, of which there may be one.
fn operations(command: &str) -> Vec<Value> {
    let answer = map(command);
    assert_eq!(answer["ok"], true, "{command}: {answer}");
    match answer["operations"].as_array() {
        Some(several) => several.clone(),
        None => vec![answer],
    }
}

fn only(command: &str) -> Value {
    let operations = operations(command);
    let [one] = operations.as_slice() else {
        panic!("{command}: {operations:?}");
    };
    one.clone()
}

fn capabilities(command: &str) -> Vec<String> {
    operations(command)
        .iter()
        .map(|operation| match &operation["maps-to"] {
            Value::String(one) => one.clone(),
            several => several.to_string(),
        })
        .collect()
}

fn codes(command: &str) -> Vec<String> {
    let answer = map(command);
    answer["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|diagnostic| diagnostic["code"].as_str().unwrap().to_owned())
        .collect()
}

fn is_whole_script(command: &str) -> bool {
    let answer = map(command);
    match answer["error"]["code"].as_str() {
        Some(code) => {
            assert_eq!(code, "shell-syntax", "{command}: {answer}");
            true
        }
        None => {
            answer["maps-to"] == "ccos.sandbox.shell"
                && answer["tier"] == 3
                && answer["requires-approval"] == true
                && answer["params"]["script"] == command
        }
    }
}

const U: &str = "https://api.example.org";

#[test]
fn commands_under_comments_are_operations_of_their_own() {
    let text = "# Show the queue\nqueuectl list --all\n\n# Drop an entry\nqueuectl drop 7\n\n# Health\ncurl https://api.example.org/health\n";
    assert_eq!(
        capabilities(text),
        [
            "ccos.sandbox.shell",
            "ccos.sandbox.shell",
            "ccos.network.http-fetch"
        ]
    );
    for operation in operations(text).iter().take(2) {
        assert_eq!(
            operation["stages"][0]["program"]["argv"][0][0]["lit"],
            "queuectl"
        );
    }
    let text =
        "python3 tools/plan.py week   # this week\npython3 tools/plan.py month  # this month\n";
    assert_eq!(capabilities(text), ["ccos.sandbox.python"; 2]);
}

#[test]
fn a_script_among_alternatives_is_only_its_own_statement() {
    let text = "# Status\nboxctl status\n\n# Keep a copy\nboxctl dump > dump.txt\n";
    let found = operations(text);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0]["params"]["script"], Value::Null);
    assert_eq!(found[1]["params"]["script"], "boxctl dump > dump.txt");
    assert_eq!(found[1]["tier"], 3);
}

#[test]
fn statements_that_depend_on_each_other_stay_one_script() {
    for text in [
        "boxctl init\nboxctl start\n",
        "# Get it\nboxctl dump > dump.txt\n\n# Look at it\nreader dump.txt\n",
        "# Go there\ncd work\n\n# Build\nbuilder all\n",
        "# Set\nMODE=$(boxctl mode)\n\n# Use\nboxctl run $MODE\n",
        "boxctl init && boxctl start\n",
    ] {
        assert!(is_whole_script(text), "{text}: {}", map(text));
    }
}

#[test]
fn a_token_read_from_a_file_is_a_secret() {
    let operation = only(&format!(
        "curl -H \"Authorization: Bearer $(cat ~/.config/boxes/token)\" {U}/boxes"
    ));
    assert_eq!(operation["maps-to"], "ccos.network.http-fetch");
    assert_eq!(
        operation["secrets"].as_array().unwrap().len(),
        1,
        "{operation}"
    );
    // Where a request goes is not computed.
    for command in [
        "curl $(cat url)",
        "curl -s \"$(cat url)/boxes\"",
        "curl \"$1\"",
    ] {
        assert!(is_whole_script(command), "{command}");
    }
    // What is read is not run.
    let command = format!("boxctl --token \"$(cat ~/.config/boxes/token)\" {U}");
    assert!(is_whole_script(&command));
}

#[test]
fn a_computed_value_of_a_request_is_an_input() {
    let operation = only(&format!("NOW=$(date +%s)\ncurl \"{U}/events?since=$NOW\""));
    assert!(
        operation["input-schema"]["properties"]
            .get("since")
            .is_some(),
        "{operation}"
    );
    let operation = only(&format!("curl \"{U}/search?q=$1\""));
    assert!(
        operation["input-schema"]["properties"].get("q").is_some(),
        "{operation}"
    );
    assert!(is_whole_script("boxctl find $1"));
}

#[test]
fn a_kept_answer_is_the_answer_of_its_request() {
    let text = format!(
        "BOX=$(curl -s -X POST {U}/boxes -d name=a)\necho \"$BOX\" | jq .\nBOX_ID=$(echo $BOX | jq -r .id)\ncurl {U}/boxes/$BOX_ID\n"
    );
    let found = operations(&text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0]["params"]["method"], "POST");
    assert_eq!(found[1]["params"]["url"], format!("{U}/boxes/{{BOX_ID}}"));
}

#[test]
fn a_header_in_a_constant_is_a_header() {
    let operation = only(&format!(
        "AUTH=\"Authorization: Bearer $BOX_TOKEN\"; curl -H \"$AUTH\" {U}/boxes"
    ));
    assert_eq!(operation["secrets"], json!(["BOX_TOKEN"]), "{operation}");
    let operation = only(&format!("curl -u \"$LOGIN\" {U}/boxes"));
    assert_eq!(
        operation["secrets"].as_array().unwrap().len(),
        2,
        "{operation}"
    );
}

#[test]
fn an_answer_that_code_reads_is_two_stages() {
    let text = format!(
        "curl -s {U}/boxes | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'"
    );
    assert_eq!(
        only(&text)["maps-to"],
        json!(["ccos.network.http-fetch", "ccos.sandbox.python"])
    );
    for end in [
        "python3",
        "python3 -",
        "node",
        "bash",
        "perl -e 'print'",
        "boxctl read",
    ] {
        assert!(
            is_whole_script(&format!("curl -s {U}/boxes | {end}")),
            "{end}"
        );
    }
}

#[test]
fn brackets_of_a_key_are_no_range() {
    for query in ["ids[]=1&ids[]=2", "filter[name]=a", "page[size][max]=5"] {
        let operation = only(&format!("curl \"{U}/boxes?{query}\""));
        assert_eq!(operation["maps-to"], "ccos.network.http-fetch");
    }
    assert_eq!(
        map(&format!("curl '{U}/boxes?id=[1-9]'"))["error"]["code"],
        "url-glob"
    );
    assert_eq!(
        only(&format!("curl -g '{U}/boxes?id=[1-9]'"))["maps-to"],
        "ccos.network.http-fetch"
    );
}

#[test]
fn a_word_in_brackets_is_a_placeholder() {
    let operation = only(&format!("curl \"{U}/[kind]/list?q=[words]\""));
    for name in ["kind", "q"] {
        assert!(
            operation["input-schema"]["properties"].get(name).is_some(),
            "{operation}"
        );
    }
}

#[test]
fn requests_joined_by_next_are_several() {
    let text = format!("curl -X DELETE {U}/a --next -H 'A: b' {U}/b");
    let found = operations(&text);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0]["params"]["method"], "DELETE");
    assert_eq!(found[1]["params"]["method"], "GET");
    let text = format!("curl {U}/a --next -s");
    assert_eq!(map(&text)["error"]["code"], "curl-option-refused");
}

#[test]
fn slips_are_mended_and_told() {
    for (text, code) in [
        (format!("$ curl {U}/boxes"), "shell-syntax"),
        (format!("curl -H “A: b” {U}/boxes"), "shell-syntax"),
        (format!("curl {U}/boxes ^\n  -H \"A: b\"\n"), "shell-syntax"),
        (
            format!("curl {U}/boxes \\\\\n  -H \"A: b\"\n"),
            "shell-syntax",
        ),
        (format!("curl {U}/boxes -d '{{\"a\": 1}}\n"), "shell-syntax"),
        (format!("curl {U}/boxes?a=1&b=2\n"), "suspicious-ampersand"),
    ] {
        assert_eq!(only(&text)["maps-to"], "ccos.network.http-fetch", "{text}");
        assert!(codes(&text).iter().any(|found| found == code), "{text}");
    }
    // Where there is another way to read them they are left.
    for text in [
        format!("curl {U}/boxes?a=1 & b=2"),
        format!("curl {U}/boxes?a=1&b=2 rm -r x"),
        format!("curl {U}/boxes?a=1&rm"),
        format!("curl {U}/boxes ^\nrm -r x"),
        format!("curl {U}/boxes \\\\\nrm -r x"),
    ] {
        assert!(
            map(&text)["maps-to"] != "ccos.network.http-fetch",
            "{text}: {}",
            map(&text)
        );
    }
    assert_eq!(
        map(&format!("curl {U}/boxes 'open"))["error"]["code"],
        "shell-syntax"
    );
}

#[test]
fn a_body_that_is_nearly_json_is_an_input() {
    let text =
        format!("curl {U}/boxes -H 'Content-Type: application/json' -d '{{\"name\": \"a\", ...}}'");
    let operation = only(&text);
    assert!(
        operation["input-schema"]["properties"]
            .get("body")
            .is_some(),
        "{operation}"
    );
    assert!(codes(&text).iter().any(|code| code == "json"));
}

#[test]
fn tools_that_went_are_tools_like_others() {
    for command in [
        "http POST api.example.org/boxes a=b",
        "https api.example.org/boxes",
    ] {
        let operation = only(command);
        assert_eq!(operation["tier"], 3, "{command}");
        assert!(operation["params"]["script"].is_null(), "{operation}");
    }
    assert!(is_whole_script("printf '%s' a"));
    assert_eq!(only("printf plain")["maps-to"], "ccos.io.println");
    assert!(is_whole_script("echo -e 'a\\nb'"));
    assert_eq!(only("echo plain")["maps-to"], "ccos.io.println");
}

#[test]
fn code_in_an_argument_is_exact() {
    let operation = only("ruby -e 'puts {x}'");
    assert_eq!(
        operation["input-schema"]["properties"],
        json!({}),
        "{operation}"
    );
    let operation = only("boxctl show {name}");
    assert!(
        operation["input-schema"]["properties"]
            .get("name")
            .is_some()
    );
    assert!(is_whole_script("ruby -e \"puts $X\""));
}

/// Whatever a shell would do besides what the words say.
#[test]
fn whatever_is_not_read_is_a_script() {
    let curl = format!("curl {U}/boxes");
    for (before, after) in [
        ("", " $(rm $(echo x))"),
        ("", " \"$(rm \"$(echo `x`)\")\""),
        ("X=$(rm x)\n", "/$X"),
        ("X=$(curl a.example; rm x)\n", "/$X"),
        ("X=$(cat <<E\nrm\nE\n)\n", ""),
        ("X=`rm x`\n", "/$X"),
        ("X=$(cat a > b)\n", "/$X"),
        ("eval ", ""),
        ("alias curl=rm\n", ""),
        ("curl() { rm x; }\n", ""),
        ("function curl { rm x; }\n", ""),
        ("", " &"),
        ("", " &\nrm x"),
        ("", " > out"),
        ("", " >> out"),
        ("", " >| out"),
        ("", " &> out"),
        ("", " >& out"),
        ("", " 2> err"),
        ("", " <> f"),
        ("", " 3< f"),
        ("", " > /dev/tcp/10.0.0.1/80"),
        ("exec 3<>/dev/tcp/10.0.0.1/80\n", ""),
        ("", " <(rm x)"),
        ("", " >(rm x)"),
        ("", " -d $((1 + $(rm x)))"),
        ("", " -d $[1]"),
        ("", " -d $((X = 1))"),
        ("", " -d $((X++))"),
        ("", " -d $((--X))"),
        ("", " -d $((A[$(rm x)]))"),
        ("", " -d $((`rm x`))"),
        ("", " -d $((1); rm x)"),
        ("", " -d $((1)"),
        ("X=$((1 + $(rm x)))\n", "/$X"),
        ("X=$(date)$(rm x)\n", "/$X"),
        ("((x = 1))\n", ""),
        ("", " -d {a,b}"),
        ("", " -d ~root"),
        ("", " |\\\n| rm x"),
        ("", " &\\\n& rm x"),
        ("", " -d $\\\n(rm x)"),
        ("", " -d $X\\\nY"),
        ("", " -d $X\\\n\\\nY"),
        ("", " -d $'\\u0041'"),
        ("", " -d $\"a\""),
        ("", " -d ${X:=y}"),
        ("", " ${X:+-d a}"),
        ("", " ${X:+$X}"),
        ("", " ${X:+-H \"$X\"}"),
        ("", " ${X:+-d $X; rm x}"),
        ("", " ${X:+-d $X | rm x}"),
        ("", " ${X:+-d \"$X$(rm x)\"}"),
        ("", " ${X:+-d \"$X`rm x`\"}"),
        ("", " \"${X:+-d $X}\""),
        ("", " ${X:+-d \"a$X\"}b"),
        ("${X:+rm $X} ", ""),
        ("sudo ${X:+-u a$X} ", ""),
        ("", " -d ${X/a/b}"),
        ("", " -d $?"),
        ("", " -d <<E\n$(rm x)\nE"),
        ("", " -d @- <<E\na\\\nE\nrm x\nE"),
        ("", " -d @- <<$X\na\n$X"),
        ("if true; then ", "; fi"),
        ("i\\\nf true; then ", "; fi"),
        ("for i in 1; do ", "; done"),
        ("case a in a) ", ";; esac"),
        ("[[ -f x ]] && ", ""),
        ("{ ", "; }"),
        ("( ", " )"),
        ("A+=b\n", ""),
        ("A=(a b)\n", " \"${A[@]}\""),
        ("A[0]=b\n", ""),
        ("IFS=, read a b\n", ""),
        ("source x\n", ""),
        (". x\n", ""),
        ("unset X\n", ""),
        ("$X ", ""),
        ("{fd}>/dev/null ", ""),
        ("coproc ", ""),
        ("", " ;; rm x"),
        ("", " |& rm x"),
    ] {
        let command = format!("{before}{curl}{after}");
        assert!(is_whole_script(&command), "{command:?}: {}", map(&command));
    }
}

#[test]
fn characters_that_a_shell_takes_for_itself_separate_nothing() {
    for command in [
        format!("curl {U}/a\rrm x"),
        format!("curl {U}/a\u{a0}rm"),
        format!("curl {U}/a\u{2028}rm"),
        format!("curl {U}/a\0rm x"),
    ] {
        let answer = map(&command);
        assert_ne!(
            answer["maps-to"], "ccos.network.http-fetch",
            "{command:?}: {answer}"
        );
    }
}

#[test]
fn a_script_is_given_what_it_does_not_set() {
    let text = "for i in 1 2; do\n  COUNT=$(boxctl count \"$BOX\")\n  read -r line\n  echo \"$i $COUNT $line ${LIMIT:-3} '$QUOTED' $PATH\"\ndone\necho '$NOT'\n";
    let operation = only(text);
    let inputs = &operation["input-schema"]["properties"];
    for name in ["BOX", "LIMIT", "QUOTED"] {
        assert!(inputs.get(name).is_some(), "{name}: {operation}");
    }
    for name in ["i", "COUNT", "line", "PATH", "NOT"] {
        assert!(inputs.get(name).is_none(), "{name}: {operation}");
    }
}

#[test]
fn certificates_are_checked_whatever_the_command_says() {
    let command = "curl -sk https://nas.example/status";
    assert_eq!(capabilities(command), ["ccos.network.http-fetch"]);
    assert_eq!(codes(command), ["insecure-ignored"]);
}
