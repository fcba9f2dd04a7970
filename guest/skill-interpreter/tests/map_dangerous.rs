//! Nothing dangerous maps to a benign capability, through the component's entry: lists, redirections, substitutions,
//! interpreters at the end of a pipe, and options that are smuggled in.
#![allow(
    clippy::unwrap_used,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use proptest::prelude::*;
use serde_json::{Value, json};

fn answer(command: &str) -> Value {
    let request = json!({"op": "map", "command": command});
    let answer = skill_interpreter::run(request.to_string().as_bytes()).unwrap();
    requests::judged::judged(serde_json::from_slice(&answer).unwrap(), &request)
}

/// Commands of which each part is harmless.
fn harmless() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "curl https://a.example/x",
        "curl -s -X POST 'https://a.example/x' -d '{\"a\": 1}'",
        "curl \"https://a.example/$ID\" | jq .a",
        "cat notes.txt",
        "echo hi",
        "jq -r '.[] | .a'",
        "wget -qO- https://a.example/x | head -3",
    ])
    .prop_map(str::to_owned)
}

/// What makes more of them than that.
fn dangerous() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("", " && rm -rf ~"),
        ("", " || rm -rf ~"),
        ("", "; rm -rf ~"),
        ("", " & rm -rf ~"),
        ("", "\nrm -rf ~"),
        ("", " | bash"),
        ("", " | sh -s"),
        ("", " | python3"),
        ("", " | node -"),
        ("", " | perl"),
        ("", " | tee f"),
        ("", " | xargs rm"),
        ("", " > file"),
        ("", " >> ~/.bashrc"),
        ("", " 2> file"),
        ("", " $(rm x)"),
        ("", " `rm x`"),
        ("", " <(rm x)"),
        ("", " \"$(rm x)\""),
        ("sudo ", ""),
        ("env A=b ", ""),
        ("eval ", ""),
        ("exec ", ""),
        ("rm x; ", ""),
        ("rm x | ", ""),
        ("( ", " )"),
        ("{ ", "; }"),
        ("if true; then ", "; fi"),
        ("f() { ", "; }; f"),
        ("! ", ""),
        ("time ", ""),
    ])
}

/// Options with which curl reads or writes files, trusts or reaches somebody else, or reads more options.
const SMUGGLED: [&str; 24] = [
    "-x http://p.example",
    "--proxy http://p.example",
    "--preproxy http://p.example",
    "-K f",
    "--config f",
    "--resolve a.example:443:10.0.0.1",
    "--connect-to ::b.example:443",
    "--unix-socket /run/s",
    "--cacert f",
    "--cert f",
    "--key f",
    "-n",
    "--netrc-file f",
    "-T f",
    "--upload-file f",
    "-c jar",
    "--cookie-jar jar",
    "--location-trusted",
    "--next",
    "--variable a@f",
    "--trace f",
    "-D f",
    "--stderr f",
    "--doh-url https://d.example",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Nothing dangerous maps to a benign capability: a script as a whole, Tier 3, or an error.
    #[test]
    fn no_construct_hides_behind_a_harmless_command(
        first in harmless(), (before, after) in dangerous(), second in harmless(), twice in any::<bool>()
    ) {
        let one = format!("{before}{first}{after}");
        let command = if twice { format!("{second}\n{one}") } else { one };
        let answer = answer(&command);
        if answer["ok"] == true {
            let results = match answer["operations"].as_array() {
                Some(several) => several.clone(),
                None => vec![answer.clone()],
            };
            for result in results {
                prop_assert_eq!(&result["maps-to"], "ccos.sandbox.shell", "{}: {}", command, &result);
                prop_assert_eq!(&result["tier"], 3, "{}", command);
                prop_assert_eq!(&result["requires-approval"], true, "{}", command);
                prop_assert_eq!(&result["params"]["script"], command.as_str());
            }
        }
    }

    /// An option that is refused is refused at every place, beside every other.
    #[test]
    fn no_option_is_smuggled(
        option in prop::sample::select(SMUGGLED.to_vec()), place in 0..5_usize,
        others in prop::collection::vec(prop::sample::select(vec!["-s", "-X POST", "-H 'A: b'", "-d a=1", "-L"]), 4),
        quoted in any::<bool>(),
    ) {
        let option = match option.split_once(' ') {
            Some((name, value)) if quoted => format!("{name} '{value}'"),
            None if quoted => format!("'{option}'"),
            _ => option.to_owned(),
        };
        let mut words: Vec<String> = others.iter().map(|word| (*word).to_owned()).collect();
        words.insert(place, option);
        let command = format!("curl {} https://a.example/x", words.join(" "));
        let answer = answer(&command);
        prop_assert_eq!(&answer["ok"], false, "{}: {}", command, &answer);
        prop_assert_eq!(&answer["error"]["code"], "curl-option-refused", "{}", command);
    }
}
