//! What is executed, and how it is called.

use hydrant_govern::digest;
use hydrant_govern::failure::Code;
use hydrant_govern::sandbox::End;
use hydrant_plan::{Program, Runtime};
use serde_json::json;

use crate::support::{Case, python, script, stage, text, tool};

/// Input of the caller is a file and elements of the argument vector; `$(id)` stays text.
#[test]
fn code_runs_from_a_file_with_params_arguments_and_input() {
    let mut case = Case::of(python(
        "import json, sys\n\
         params = json.load(open('/input/params.json'))\n\
         print(sys.argv, params['n'] + 1, sys.stdin.read())\n",
    ));
    case.params = json!({"n": 41});
    case.args = vec!["--to".to_owned(), "a b $(id)".to_owned()];
    case.stdin = b"given".to_vec();
    assert_eq!(
        case.stdout(),
        "['/run/script/main.py', '--to', 'a b $(id)'] 42 given\n"
    );
}

/// A shell reads its script from a file that it cannot write.
#[test]
fn a_script_runs_by_sh_from_a_file_that_nobody_can_change() {
    let case = Case::of(script(
        "echo $0 $1; stat -c %a $0; echo x >>$0 || echo refused; chmod 755 $0 || echo refused",
    ));
    let mut case = case;
    case.args = vec!["one".to_owned()];
    let end = case.run().unwrap();
    assert_eq!(
        text(&end.stdout),
        "/run/script/main.sh one\n444\nrefused\nrefused\n"
    );
}

#[test]
fn node_runs_a_script() {
    let mut case = Case::of(stage(
        Runtime::Node,
        Program::Code("console.log(process.argv[1], process.argv[2])".to_owned()),
    ));
    if hydrant_govern::sandbox::missing(&case.stage).is_empty() {
        case.args = vec!["x".to_owned()];
        case.policy = crate::support::policy_with(json!({"memory-mb": 1024}));
        assert_eq!(case.stdout(), "/run/script/main.js x\n");
    }
}

#[test]
fn a_module_runs_by_its_name() {
    let mut case = Case::of(stage(Runtime::Python, Program::Module("base64".to_owned())));
    case.args = vec!["-e".to_owned()];
    case.stdin = b"abc".to_vec();
    assert_eq!(case.stdout(), "YWJj\n");
}

#[test]
fn a_tool_runs_without_a_shell() {
    let case = Case::of(tool(&["echo", "$(id)", "`id`", "a;b", "*"]));
    assert_eq!(case.stdout(), "$(id) `id` a;b *\n");
}

#[test]
fn what_runs_is_the_tool_that_was_approved() {
    let mut case = Case::of(tool(&["echo", "a"]));
    case.argv = vec!["sh".to_owned(), "-c".to_owned(), "id".to_owned()];
    assert_eq!(case.refused().code, Code::InvalidPlan);
    case.argv.clear();
    assert_eq!(case.refused().code, Code::EmptyCommand);
}

#[test]
fn a_code_file_runs_if_its_bytes_are_the_approved_ones() {
    let code = b"print('from a file')".to_vec();
    let file = |digest| Program::File {
        name: "run.py".to_owned(),
        digest,
    };
    let mut case = Case::of(stage(Runtime::Python, file(Some(digest::of_bytes(&code)))));
    case.code_file = Some(code.clone());
    assert_eq!(case.stdout(), "from a file\n");

    case.code_file = Some(b"print('another')".to_vec());
    assert_eq!(case.refused().code, Code::DigestMismatch);
    case.code_file = None;
    assert_eq!(case.refused().missing, ["file:run.py"]);

    case.stage.program = file(None);
    case.code_file = Some(code);
    let refused = case.refused();
    assert_eq!(refused.code, Code::ToolUnavailable);
    assert_eq!(refused.missing, ["file:run.py"]);
}

#[test]
fn a_file_of_the_call_never_becomes_code() {
    let mut case = Case::of(tool(&["./run.sh"]));
    case.files = vec![("run.sh".to_owned(), b"#!/bin/sh\necho ran\n".to_vec())];
    assert_eq!(case.refused().code, Code::ToolUnavailable);

    // Nor by way of something that can start programs.
    let mut case = Case::of(script(
        "./run.sh; /input/run.sh; cp run.sh /tmp/x; chmod 755 /tmp/x; /tmp/x",
    ));
    case.files = vec![("run.sh".to_owned(), b"#!/bin/sh\necho ran\n".to_vec())];
    let end = case.run().unwrap();
    assert_eq!((end.end, text(&end.stdout).as_str()), (End::Exit, ""));
    assert_eq!(end.exit_code, Some(126));
}

#[test]
fn files_of_the_call_are_found_by_their_relative_names() {
    let big: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let mut case = Case::of(python(
        "import hashlib, os\n\
         print(os.getcwd(), open('a.txt').read(), open('/input/a.txt').read())\n\
         print(hashlib.sha256(open('sub/deep/big.bin','rb').read()).hexdigest())\n\
         for wrong in ('/input/a.txt', 'a.txt', '/input/new', '/input/sub/new'):\n\
         \x20   try: open(wrong, 'w'); print('written', wrong)\n\
         \x20   except OSError: pass\n",
    ));
    case.files = vec![
        ("a.txt".to_owned(), b"hello".to_vec()),
        ("sub/deep/big.bin".to_owned(), big.clone()),
    ];
    let digest = digest::of_bytes(&big);
    assert_eq!(
        case.stdout(),
        format!(
            "/output hello hello\n{}\n",
            digest.strip_prefix("sha256:").unwrap()
        )
    );
    // The links are no files of the program's.
    assert!(case.run().unwrap().files.is_empty());
}

#[test]
fn names_of_files_that_lead_elsewhere_are_refused() {
    for name in [
        "",
        "..",
        "../a",
        "a/../../b",
        "/etc/x",
        "./a",
        "a/",
        "a//b",
        "a\0b",
        "params.json",
    ] {
        let mut case = Case::of(tool(&["true"]));
        case.files = vec![(name.to_owned(), Vec::new())];
        assert_eq!(case.refused().code, Code::InvalidInput, "{name:?}");
    }
    for names in [["a", "a"], ["a", "a/b"]] {
        let mut case = Case::of(tool(&["true"]));
        case.files = names.map(|name| (name.to_owned(), Vec::new())).to_vec();
        assert_eq!(case.refused().code, Code::InvalidInput, "{names:?}");
    }
}

#[test]
fn the_environment_is_this_and_nothing_is_inherited() {
    let mut case = Case::of(tool(&["env"]));
    case.environment = [
        ("WHO", "me $(id)\nPATH=/x"),
        ("PATH", "/x"),
        ("LD_PRELOAD", "/input/x.so"),
        ("PYTHONPATH", "/input"),
        ("BASH_ENV", "/input/x"),
        ("https_proxy", "http://192.0.2.1"),
        ("IFS", "x"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    assert_eq!(
        case.stdout(),
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n\
         HOME=/tmp\nTMPDIR=/tmp\nLANG=C.UTF-8\nTZ=UTC\nWHO=me $(id)\nPATH=/x\n"
    );
    for name in ["", "1A", "A=B", "A B", "A\0"] {
        case.environment = vec![(name.to_owned(), String::new())];
        assert_eq!(case.refused().code, Code::InvalidInput, "{name:?}");
    }
}

#[test]
fn an_argument_with_a_nul_character_is_refused() {
    let mut case = Case::of(python("print(1)"));
    case.args = vec!["a\0b".to_owned()];
    assert_eq!(case.refused().code, Code::InvalidInput);
}

#[test]
fn streams_of_any_length_pass_at_the_same_time() {
    let mut case = Case::of(tool(&["cat"]));
    case.stdin = vec![b'x'; 5_000_000];
    let end = case.run().unwrap();
    assert_eq!(end.stdout, case.stdin);
    assert!(!end.stdout_cut);
    // A program that does not read what it gets.
    let mut case = Case::of(tool(&["true"]));
    case.stdin = vec![b'x'; 5_000_000];
    assert_eq!(case.run().unwrap().exit_code, Some(0));
}
