//! K-114 to K-132, case by case.

use super::{Lowered, lowered, lowered_as, texts};
use crate::draft::{DraftStage, Part, Program, Spelling, Template, Trust};
use crate::failure::Code;
use crate::shell::{Constants, Statements};

fn sandbox(lowered: &Lowered) -> &crate::draft::SandboxDraft {
    match lowered.stages() {
        [DraftStage::Sandbox(stage)] => stage,
        other => panic!("no sandbox: {other:?}"),
    }
}

fn argv(lowered: &Lowered) -> Vec<String> {
    match &sandbox(lowered).program {
        Program::Argv(words) => texts(words),
        other => panic!("no argv: {other:?}"),
    }
}

#[test]
fn k_114_comments_settings_and_printing_are_dropped() {
    let text = "# a\nset -euo pipefail\necho starting\n# what it does\njq .a file.json\nprintf 'done\\n'\n";
    let lowered = lowered(text);
    assert_eq!(lowered.kinds(), ["read-file", "json-filter"]);
    assert_eq!(lowered.one().comment.as_deref(), Some("what it does"));
    assert_eq!(lowered.one().line, 5);
    assert_eq!(lowered.one().text, "jq .a file.json");
}

#[test]
fn k_114_printing_stays_when_nothing_else_does() {
    let lowered = lowered("set -e\necho hello world");
    assert!(
        matches!(lowered.stages(), [DraftStage::Println { text }] if text.display() == "hello world")
    );
}

#[test]
fn k_114_only_settings_and_constants_are_no_operation() {
    assert!(
        lowered("# nothing\nset -e\nBASE=https://example.org\n")
            .drafts
            .is_empty()
    );
}

#[test]
fn k_117_two_statements_are_one_script_verbatim() {
    let text = "git clone https://example.org/x.git\ncd x\nmake install\n";
    let lowered = lowered(text);
    let (script, constructs) = lowered.script().expect("a script");
    assert_eq!(script, text);
    assert!(!constructs.is_empty());
}

#[test]
fn k_117_a_structured_command_of_two_statements_is_a_script() {
    let text = "set -e\njq . a.json";
    let lowered = lowered_as(text, Statements::Command, Constants::default());
    assert_eq!(lowered.script().expect("a script").0, text);
}

#[test]
fn k_118_what_is_no_shell_text_is_unusable_with_its_line() {
    for (text, line) in [
        ("jq . a\necho 'b\n", 2),
        ("jq . a\n\nfi\n", 3),
        ("a\nb | | c", 2),
        ("a $(b", 1),
        ("if a; then b; fi }", 1),
        ("cat <<EOF\nx\n", 2),
    ] {
        let lowered = lowered(text);
        assert_eq!(lowered.code(), Code::ShellSyntax, "{text}");
        let failure = lowered.one().plan.as_ref().expect_err("unusable");
        assert_eq!(failure.line, Some(line), "{text}");
    }
}

#[test]
fn k_119_placeholders_become_words_outside_of_single_quotes() {
    let found = lowered("ffmpeg -i <in.mp4> \"<name>/x\" '<raw>' a<b>/c");
    assert_eq!(
        argv(&found),
        ["ffmpeg", "-i", "{in.mp4}", "{name}/x", "<raw>", "a{b}/c"]
    );
}

#[test]
fn k_119_a_redirection_stays_one() {
    for text in [
        "a <in >out",
        "a 2<in>",
        "a <in>out",
        "a <1x>",
        "a <in file>",
    ] {
        assert!(lowered(text).drafts.iter().all(|draft| {
            draft.plan.is_err() || super::script_of(draft).is_some() || !draft.text.contains('{')
        }));
        let found = lowered(text);
        let unusable_or_script = found.one().plan.is_err() || found.script().is_some();
        assert!(unusable_or_script, "{text}: {:?}", found.drafts);
    }
}

#[test]
fn k_119_here_documents_stay_as_they_are() {
    let found = lowered("cat <<EOF\n<name> $X\nEOF\n");
    match found.stages() {
        [DraftStage::Println { text }] => assert_eq!(text.display(), "<name> {X}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn k_120_constants_are_put_in_and_said() {
    let found = lowered(
        "NAME=book\nOPTS=(-a 'b c')\nexport SIZE=\"${NAME}s\"\ntool $NAME \"${OPTS[@]}\" $SIZE",
    );
    assert_eq!(argv(&found), ["tool", "book", "-a", "b c", "books"]);
    assert!(found.says(Code::Constant));
}

#[test]
fn k_120_constants_live_on_in_later_fences() {
    let first = lowered("NAME=book\n");
    let second = lowered_as("tool $NAME", Statements::Fence, first.constants);
    assert_eq!(argv(&second), ["tool", "book"]);
}

#[test]
fn k_120_a_constant_that_is_not_quoted_is_split_as_a_shell_does() {
    assert_eq!(
        argv(&lowered("O='-a  -b'\ntool $O \"$O\"")),
        ["tool", "-a", "-b", "-a  -b"]
    );
}

#[test]
fn k_120_a_value_with_a_variable_is_no_constant() {
    assert!(lowered("A=$B/x\ntool $A").script().is_some());
    assert!(lowered("A=$(cat f)\ntool $A").script().is_some());
}

#[test]
fn k_120_constants_of_constants_do_not_grow_without_bound() {
    let mut text = "A0=xxxxxxxxxxxxxxxx\n".to_owned();
    for index in 0..60 {
        text.push_str(&format!("A{}=$A{index}$A{index}\n", index + 1));
    }
    text.push_str("tool $A60\n");
    assert_eq!(lowered(&text).code(), Code::Limit);
}

#[test]
fn k_124_reasons_quote_no_values() {
    let found = lowered("tool ${KEY:=sk_live_abcdef} ${#x} ${!y} ${z^^}");
    let (_, constructs) = found.script().expect("a script");
    assert_eq!(
        constructs,
        [
            "expansion `${KEY:=…}`",
            "expansion `${#x}`",
            "expansion `${!y}`",
            "expansion `${z^^}`"
        ]
    );
}

#[test]
fn k_121_variables_and_defaults_are_parts_of_words() {
    let found = lowered("tool $A \"x${B}y\" '${C}' \\$D ${E:-7} ${F-g}");
    assert_eq!(
        argv(&found),
        ["tool", "{A}", "x{B}y", "${C}", "$D", "{E}", "{F}"]
    );
    let Program::Argv(words) = &sandbox(&found).program else {
        panic!("no argv");
    };
    let defaults: Vec<_> = words
        .iter()
        .filter_map(Template::as_variable)
        .map(|variable| (variable.spelling, variable.default.as_deref()))
        .collect();
    assert_eq!(
        defaults,
        [
            (Spelling::Dollar, None),
            (Spelling::Dollar, Some("7")),
            (Spelling::Dollar, Some("g"))
        ]
    );
}

#[test]
fn k_122_harmless_redirections_are_dropped() {
    for text in [
        "jq . a 2>&1",
        "jq . a 2>/dev/null",
        "jq . a >/dev/null",
        "jq . a &>/dev/null",
        "jq . a > /dev/null 2>&1",
    ] {
        assert_eq!(
            lowered(text).kinds(),
            ["read-file", "json-filter"],
            "{text}"
        );
    }
}

#[test]
fn k_122_input_from_a_file_or_text_is_a_stage_in_front() {
    assert_eq!(
        lowered("jq .a < in.json").kinds(),
        ["read-file", "json-filter"]
    );
    assert_eq!(
        lowered("jq .a <<< '{}'").kinds(),
        ["println", "json-filter"]
    );
    assert_eq!(
        lowered("cat <<EOF | jq .a\n{\"a\":1}\nEOF\n").kinds(),
        ["println", "json-filter"]
    );
}

#[test]
fn k_123_positions() {
    assert_eq!(
        lowered("jq .a | sort -u | head -n 3").kinds(),
        ["json-filter", "text-transform", "text-transform"]
    );
    assert_eq!(
        lowered("python3 a.py | python -m json.tool").kinds(),
        ["sandbox", "json-filter"]
    );
    assert_eq!(
        lowered("echo hi | wc -c").kinds(),
        ["println", "text-transform"]
    );
    for text in [
        "cat a | cat b",
        "jq . | echo x",
        "ffmpeg -i a | jq .",
        "jq . | python a.py",
        "jq . | node",
        "jq . | mystery",
        "jq . | bash",
    ] {
        assert!(lowered(text).script().is_some(), "{text}");
    }
}

#[test]
fn k_124_reasons_name_what_was_found() {
    for (text, reason) in [
        ("a && b", "`&&`"),
        ("a || b", "`||`"),
        ("a; b", "`;`"),
        ("a &", "`&`"),
        ("for i in 1 2; do a; done", "loop `for`"),
        ("while a; do b; done", "loop `while`"),
        ("if a; then b; fi", "conditional `if`"),
        ("case a in b) c;; esac", "conditional `case`"),
        ("[[ -f a ]]", "conditional `[[`"),
        ("f() { a; }", "function"),
        ("function f { a; }", "function"),
        ("(a)", "subshell"),
        ("{ a; }", "group"),
        ("a $(b)", "command substitution"),
        ("a `b`", "command substitution"),
        ("a <(b)", "process substitution"),
        ("a $((1+1))", "arithmetic"),
        ("((a++))", "arithmetic"),
        ("a $1", "parameter `$1`"),
        ("a $@", "parameter `$@`"),
        ("a $?", "parameter `$?`"),
        ("a ${x//b/c}", "expansion `${x//…}`"),
        ("a > b", "redirection to a file"),
        ("a >> b", "redirection"),
        ("eval a", "`eval`"),
        (". a", "`.`"),
        ("sudo a", "`sudo`"),
        ("env A=b c", "`env`"),
        ("jq . a | xargs b", "`xargs`"),
        ("jq . a | tee b", "`tee`"),
        ("jq . a | bash", "pipe into `bash`"),
        ("jq . a | python", "pipe into `python`"),
        ("jq . a | mystery", "pipe into `mystery`"),
        ("sh -c 'a'", "`sh -c`"),
        ("a |& b", "`|&`"),
        ("! a", "`!`"),
        ("time a", "`time`"),
        ("$A b", "variable as a command"),
        ("A=b c", "assignment before a command"),
        ("cat *.txt", "glob in an operand"),
        ("cat ~/a", "`~` in an operand"),
        ("mystery {a,b}", "brace list"),
        ("cd a", "`cd` of the shell"),
    ] {
        let found = lowered(text);
        let (script, constructs) = found
            .script()
            .unwrap_or_else(|| panic!("{text}: {:?}", found.drafts));
        assert_eq!(script, text);
        assert!(
            constructs.iter().any(|construct| construct == reason),
            "{text}: {constructs:?}"
        );
    }
}

#[test]
fn k_124_a_process_substitution_is_nothing_else() {
    for text in ["python3 <(curl https://x.example)", "a >(b)"] {
        let found = lowered(text);
        let (_, constructs) = found.script().expect("a script");
        assert_eq!(constructs, ["process substitution"], "{text}");
    }
}

#[test]
fn k_124_every_construct_is_named_once() {
    let found = lowered("for i in 1 2; do sudo a $i > b; done && eval c | sh");
    let (_, constructs) = found.script().expect("a script");
    for name in ["loop `for`", "`sudo`", "`&&`", "`eval`", "pipe into `sh`"] {
        assert_eq!(
            constructs.iter().filter(|one| *one == name).count(),
            1,
            "{constructs:?}"
        );
    }
}

#[test]
fn k_125_an_ampersand_in_an_address_is_said_and_not_repaired() {
    let found = lowered("curl https://example.org/?a=1&b=2");
    assert!(found.script().is_some());
    assert!(found.says(Code::SuspiciousAmpersand));
}

#[test]
fn k_127_an_unknown_tool_is_run_from_its_arguments() {
    // K-250
    let found = lowered("convert in.png -resize {size} out.png");
    assert_eq!(
        argv(&found),
        ["convert", "in.png", "-resize", "{size}", "out.png"]
    );
    assert_eq!(
        sandbox(&found).trust,
        Trust::Tool {
            name: "convert".to_owned()
        }
    );
}

#[test]
fn k_128_a_path_is_a_tool_or_a_file_of_code() {
    assert_eq!(argv(&lowered("/usr/bin/thing a")), ["/usr/bin/thing", "a"]);
    let found = lowered("./run.sh a");
    assert!(matches!(&sandbox(&found).program, Program::File(file) if file.name == "./run.sh"));
    assert!(matches!(sandbox(&found).trust, Trust::Tool { .. }));
}

#[test]
fn k_131_free_variables_of_a_script() {
    let found = lowered(
        "X=1\nfor f in $LIST; do read y; tool \"$f\" $y $X ${GOAL} $PATH $LD_PRELOAD $HTTP_PROXY; done > out",
    );
    assert!(found.script().is_some());
    assert_eq!(sandbox(&found).free_variables, ["LIST"]);
}

#[test]
fn k_131_variables_within_substitutions_count() {
    let found = lowered("tool \"$(other \"$A\" `third $B`)\" $((C + $D)) <<E\n$F\nE\n");
    assert_eq!(sandbox(&found).free_variables, ["A", "B", "D", "F"]);
}

#[test]
fn k_131_a_placeholder_in_a_script_is_said() {
    assert!(lowered("tool {name} && b").says(Code::ScriptPlaceholder));
    assert!(lowered("tool <name> && b").says(Code::ScriptPlaceholder));
    assert!(!lowered("tool ${name} && b").says(Code::ScriptPlaceholder));
    assert_eq!(
        lowered("tool <name> && b").script().expect("a script").0,
        "tool <name> && b"
    );
}

#[test]
fn k_132_empty_text_and_labels() {
    assert_eq!(lowered(" \n\t\n").code(), Code::EmptyCommand);
    assert_eq!(
        lowered("Authorization: Bearer x").code(),
        Code::NotAnOperation
    );
    assert_eq!(lowered("# note\nBody: {}").code(), Code::NotAnOperation);
}

#[test]
fn k_397_code_has_no_quotes() {
    let found = lowered("python3 -c 'print(2)'");
    assert!(matches!(&sandbox(&found).program, Program::Code(code) if code.text == "print(2)"));
    assert_eq!(sandbox(&found).trust, Trust::KnownRuntime);
}

#[test]
fn a_line_goes_on_after_a_backslash() {
    let found = lowered("tool \\\n  --a b \\\n  'c'\r\n");
    assert_eq!(argv(&found), ["tool", "--a", "b", "c"]);
}

#[test]
fn what_is_escaped_is_no_variable() {
    let found = lowered(r#"tool "\$A" $'a\tb\'' "a\"b" a\ b"#);
    let Program::Argv(words) = &sandbox(&found).program else {
        panic!("no argv");
    };
    assert_eq!(texts(words), ["tool", "$A", "a\tb'", "a\"b", "a b"]);
    assert!(words.iter().all(|word| {
        word.parts
            .iter()
            .all(|part| matches!(part, Part::Literal(_)))
    }));
}
