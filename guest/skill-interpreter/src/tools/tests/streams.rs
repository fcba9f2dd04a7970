//! K-167 to K-171, K-453: jq, printing, files and text tools.

use super::{filter, is_script, is_unknown_tool, plan, stages, texts};
use crate::draft::{DraftStage, Excerpt, Range};
use crate::failure::Code;

#[test]
fn k_167_options_of_jq() {
    let found = filter("jq -rcS --arg who \"$WHO\" --argjson n '{\"a\":1}' -- '.[$n]' in.json");
    assert!(found.raw && found.compact && found.sort_keys && !found.slurp);
    assert_eq!(found.program, ".[$n]");
    assert_eq!(found.args[0].0, "who");
    assert_eq!(found.args[0].1.display(), "{WHO}");
    assert_eq!(
        found.json_args,
        [("n".to_owned(), serde_json::json!({"a": 1}))]
    );
    assert_eq!(stages("jq . in.json").len(), 2);
    assert_eq!(filter("jq").program, ".");
    assert!(filter("jq --slurp --null-input --exit-status --join-output .").null_input);
}

#[test]
fn k_167_refused_options_of_jq() {
    for text in [
        "jq -f prog.jq",
        "jq -rf prog.jq .",
        "jq --slurpfile a b .",
        "jq --rawfile a b .",
        "jq -L dir .",
        "jq . --args a",
        "jq --jsonargs . 1",
        "jq --from-file x",
        "jq -R .",
        "jq --seq .",
        "jq --unknown .",
        "jq --argjson a '{' .",
        "jq --arg a",
    ] {
        assert_eq!(plan(text), Err(Code::JqOptionRefused), "{text}");
    }
}

#[test]
fn k_167_a_program_with_a_variable_is_a_script() {
    assert!(is_script("jq \".[] | select(.a == \\\"$A\\\")\" in.json"));
    assert!(is_script("jq $OPTIONS ."));
    assert!(is_script("jq . a b"));
}

#[test]
fn k_168_echo_and_printf() {
    for (text, printed) in [
        ("echo hello world", "hello world"),
        ("echo -n a", "a"),
        ("echo -e 'a\\tb\\n'", "a\tb\n"),
        ("echo 'a\\tb'", "a\\tb"),
        ("echo -x", "-x"),
        ("echo -ne 'a\\cb' c", "a"),
        ("echo \"hi $NAME\"", "hi {NAME}"),
        ("echo", ""),
        ("printf 'a\\n'", "a"),
        ("printf '%s-%d%%\\n' a 07 b 2", "a-7%\nb-2%"),
        ("printf '%s' \"$X\"", "{X}"),
        ("printf x y", "x"),
    ] {
        match stages(text).as_slice() {
            [DraftStage::Println { text: found }] => assert_eq!(found.display(), printed, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    for text in [
        "printf '%x' 1",
        "printf -v a b",
        "printf \"$F\" a",
        "printf '%d' x",
        "echo {a,b}",
        "echo ~",
    ] {
        assert!(is_script(text), "{text}");
    }
}

#[test]
fn k_168_a_format_used_for_many_arguments_is_bounded() {
    let text = format!("printf '{}%s' {}", "x".repeat(20_000), "a ".repeat(10_000));
    assert_eq!(plan(&text), Err(Code::Limit));
}

#[test]
fn k_169_files_are_read() {
    for (text, names, excerpt) in [
        ("cat file", vec!["file"], None),
        ("cat a b", vec!["a", "b"], None),
        ("head file", vec!["file"], Some((false, Range::Lines(10)))),
        (
            "head -n 3 file",
            vec!["file"],
            Some((false, Range::Lines(3))),
        ),
        ("head -5 file", vec!["file"], Some((false, Range::Lines(5)))),
        (
            "head -c20 file",
            vec!["file"],
            Some((false, Range::Bytes(20))),
        ),
        (
            "tail -n +2 file",
            vec!["file"],
            Some((true, Range::FromLine(2))),
        ),
        (
            "tail --lines=4 file",
            vec!["file"],
            Some((true, Range::Lines(4))),
        ),
        (
            "head -n -1 file",
            vec!["file"],
            Some((false, Range::AllButLines(1))),
        ),
    ] {
        match stages(text).as_slice() {
            [
                DraftStage::ReadFile {
                    paths,
                    excerpt: found,
                },
            ] => {
                assert_eq!(texts(paths), names, "{text}");
                let expected = excerpt.map(|(from_end, range)| Excerpt { from_end, range });
                assert_eq!(*found, expected, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(is_unknown_tool("tail -f log"));
    assert!(is_unknown_tool("head a b"));
    assert!(is_unknown_tool("cat -n a"));
}

#[test]
fn k_170_text_tools_on_a_stream() {
    for (text, args) in [
        ("sort -u", vec!["-u"]),
        ("sort -t, -k 2,2n", vec!["-t,", "-k", "2,2n"]),
        ("uniq -c", vec!["-c"]),
        ("cut -d ' ' -f1", vec!["-d", " ", "-f1"]),
        ("tr -d '\\n'", vec!["-d", "--", "\\n"]),
        ("grep -iE 'a|b'", vec!["-iE", "-e", "a|b"]),
        ("grep \"$PATTERN\"", vec!["-e", "{PATTERN}"]),
        ("sed -n 's/a/b/gp'", vec!["-n", "-e", "s/a/b/gp"]),
        ("awk -F: '{print $1}'", vec!["-F:", "--", "{print $1}"]),
        ("head -3", vec!["-n", "3"]),
        ("wc -l", vec!["-l"]),
    ] {
        match stages(text).as_slice() {
            [DraftStage::TextTransform { args: found, .. }] => {
                assert_eq!(texts(found), args, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn k_171_sed_and_awk_of_one_file() {
    assert!(matches!(
        stages("sed 's/a/b/' f").as_slice(),
        [
            DraftStage::ReadFile { .. },
            DraftStage::TextTransform { .. }
        ]
    ));
    assert!(matches!(
        stages("awk '{print}' f").as_slice(),
        [
            DraftStage::ReadFile { .. },
            DraftStage::TextTransform { .. }
        ]
    ));
    for text in [
        "sed -i s/a/b/ f",
        "sed -f prog f",
        "sed -s p a",
        "sed p a b",
        "awk -f prog",
        "awk 1 a b",
        "awk 1 x=1",
    ] {
        assert!(is_unknown_tool(text), "{text}");
    }
}

#[test]
fn k_170_options_that_reach_files_or_programs_are_no_transform() {
    for text in [
        "sort -o out",
        "sort --output=out",
        "sort --compress-program=sh",
        "sort -T /tmp",
        "sort --files0-from=x",
        "uniq in out",
        "grep -f patterns",
        "grep -r x",
        "grep x file",
        "wc --files0-from=x",
        "wc file",
        "sort file",
        "sort -uo out",
        "sort -ru -o out",
        "grep --file=x",
        "cut -f1 file",
        "tr a b c",
        "awk -i inplace 1",
        "awk --include x 1",
        "awk -l x 1",
        "sed --in-place p",
        "sed -ni p",
        "sed -nE -i p",
        "grep -Rl x",
    ] {
        assert!(is_unknown_tool(text), "{text}");
        assert!(is_script(&format!("jq . | {text}")), "{text}");
    }
}

#[test]
fn k_453_programs_that_do_more_than_edit_a_stream_are_scripts() {
    for program in [
        "w out",
        "s/a/b/w out",
        "s/a/b/e",
        "1e date",
        "r file",
        "R file",
        "W file",
        "p;w out",
        "{p;w out\n}",
        "1,2w out",
        "/a/w out",
        "$!w x",
        "s/a/b/gw x",
        "y/a/b/;e",
        "a\\\ntext",
        "s/[/]/x/;w out/",
        "p\nw out",
        "s|a|b|;w x",
        "F",
        "v",
        "s/a/b/ge",
        "s/a/\\\n/;e",
        "}",
        "{",
        "b",
        "#w x\nw out",
    ] {
        assert!(is_script(&format!("sed '{program}'")), "{program}");
    }
    for program in [
        "s/a/b/g",
        "/x/d",
        "1,3p",
        "$d",
        "s#a#b#",
        "y/abc/xyz/",
        "1!G;h;$!d",
        "/a/{p;d}",
        "s/[a-z]*/x/2",
        "0,/a/d",
        "s/\\//-/",
        "2q",
        "n;d",
        "/[^,]*/p",
    ] {
        assert!(
            !matches!(
                stages(&format!("sed '{program}'")).as_slice(),
                [DraftStage::Sandbox(_)]
            ),
            "{program}"
        );
    }
    for program in [
        "{system(\"x\")}",
        "{print > \"f\"}",
        "{print >> \"f\"}",
        "{print | \"sh\"}",
        "{\"x\" | getline}",
        "{while ((getline l < \"f\") > 0) print l}",
        "{printf \"%s\", $1 > \"f\"}",
        "BEGIN{x=/\"/; print > \"f\" #\"\n}",
        "{close(\"x\")}",
        "@include \"x\"",
        "{print $1,$2>\"f\"}",
        "{ print(1)>\"f\" }",
        "{x = 1 / 2; print > \"f\" /1}",
        "{print \"a\" |& \"x\"}",
        "{ print ENVIRON[\"A\"] }",
        "# \"\n{print > \"f\"}",
        "{print a[1 > 2] > \"f\"}",
        "{print /a/ > \"f\"}",
        "{if (1) print > \"f\"}",
        "{ pr\\\nint > \"f\" }",
        "{getl\\\nine}",
    ] {
        let quoted = program.replace('\'', "'\\''");
        assert!(is_script(&format!("awk '{quoted}'")), "{program}");
    }
    for program in [
        "{print $1}",
        "NR==1",
        "$3 > 100",
        "$1 > 5 {print $2}",
        "/a|b/ {n++} END {print n}",
        "{s+=$1} END {print s}",
        "length($0) > 10 || /x/",
        "{print ($1 > 2)}",
        "BEGIN {FS=\",\"} {printf \"%s\\n\", $2}",
    ] {
        assert!(
            !matches!(
                stages(&format!("awk '{program}'")).as_slice(),
                [DraftStage::Sandbox(_)]
            ),
            "{program}"
        );
    }
}

#[test]
fn k_170_a_variable_cannot_become_an_option() {
    for text in [
        "sort $X",
        "sort -$X",
        "uniq \"$X\"",
        "wc $X",
        "cut $X -f1",
        "sed $X",
        "sed -n $X",
        "awk \"$X\"",
        "head $X -n 2 -$Y",
        "grep -$X a",
    ] {
        let found = stages(text);
        assert!(
            matches!(found.as_slice(), [DraftStage::Sandbox(_)])
                || !matches!(found.last(), Some(DraftStage::TextTransform { .. })),
            "{text}: {found:?}"
        );
    }
}
