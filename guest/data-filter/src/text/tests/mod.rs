//! Tests of the built-in text tools, against those of the machine where they are GNU's.

use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::run;

fn built_in(tool: &str, args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    run(tool, &args, input)
}

fn is_gnu(tool: &str) -> bool {
    Command::new(tool)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| {
            output
                .stdout
                .windows(9)
                .any(|window| window == b"coreutils")
        })
}

fn theirs(tool: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(tool)
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool");
    // head may close its input early.
    let _ = child.stdin.take().expect("stdin").write_all(input);
    child.wait_with_output().expect("output").stdout
}

const CASES: [(&str, &[&str]); 21] = [
    ("cat", &[]),
    ("head", &[]),
    ("head", &["-n", "2"]),
    ("head", &["-n", "0"]),
    ("head", &["-n", "-1"]),
    ("head", &["-n", "-0"]),
    ("head", &["-c", "3"]),
    ("head", &["-c", "-2"]),
    ("tail", &[]),
    ("tail", &["-n", "2"]),
    ("tail", &["-n", "0"]),
    ("tail", &["-n", "+2"]),
    ("tail", &["-n", "+0"]),
    ("tail", &["-c", "3"]),
    ("tail", &["-c", "+3"]),
    ("wc", &[]),
    ("wc", &["-l"]),
    ("wc", &["-w"]),
    ("wc", &["-c"]),
    ("wc", &["-lc"]),
    ("wc", &["-c", "-l"]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn built_in_tools_do_what_gnus_do(
        case in prop::sample::select(&CASES[..]),
        input in prop::collection::vec(prop::sample::select(b"\n\nab,A \t.-0129x\xe9".to_vec()), 0..40),
    ) {
        let (tool, args) = &case;
        let ours = built_in(tool, args, &input).expect("built in");
        // What is a word was changed in GNU's wc.
        if is_gnu(tool) && !(*tool == "wc" && input.contains(&0xe9)) {
            prop_assert_eq!(
                String::from_utf8_lossy(&ours).into_owned(),
                String::from_utf8_lossy(&theirs(tool, args, &input)).into_owned(),
                "{} {:?} of {:?}", tool, args, String::from_utf8_lossy(&input)
            );
        }
    }
}

#[test]
fn what_is_not_built_in_is_said() {
    for (tool, args) in [
        ("sed", &["s/a/b/"][..]),
        ("tr", &["a", "b"]),
        ("grep", &["a"]),
        ("awk", &["1"]),
        ("sort", &[]),
        ("uniq", &[]),
        ("cut", &["-f", "1"]),
        ("cat", &["file"]),
        ("head", &["file"]),
        ("head", &["-n", "x"]),
        ("wc", &["--files0-from=x"]),
        ("rm", &[]),
    ] {
        assert_eq!(built_in(tool, args, b"a\n"), None, "{tool} {args:?}");
    }
}

#[test]
fn counts_and_excerpts() {
    assert_eq!(
        built_in("wc", &[], b"a b\nc").expect("built in"),
        b"      1       3       5\n"
    );
    assert_eq!(
        built_in("wc", &["-l"], b"a\nb\n").expect("built in"),
        b"2\n"
    );
    assert_eq!(
        built_in("head", &["-n", "3"], b"1\n2\n3\n4\n").expect("built in"),
        b"1\n2\n3\n"
    );
    assert_eq!(
        built_in("tail", &["-n", "1"], b"1\n2").expect("built in"),
        b"2"
    );
}
