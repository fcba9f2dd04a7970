//! Text that is made to exhaust: an answer within the bound of K-03, whatever it is.

use std::time::Duration;

use proptest::prelude::*;

use super::lowered;
use crate::failure::Code;
use crate::limits;
use crate::processor_time::Stopwatch;

/// Far above what it takes, far below what exponential time takes.
const SOON: Duration = Duration::from_secs(5);

fn is_answered(text: &str) {
    let began = Stopwatch::started();
    let shown: String = text.chars().take(60).collect();
    let _ = lowered(text);
    assert!(began.elapsed() < SOON, "{shown}: {:?}", began.elapsed());
}

#[test]
fn nesting_of_every_kind_ends_soon_and_without_recursion() {
    let openers = [
        "(",
        "( ",
        "((",
        "{ ",
        "if ",
        "if a; then ",
        "while ",
        "while a; do ",
        "for i in a; do ",
        "case x in x) ",
        "case x in (x) ",
        "f() { ",
        "f() ",
        "function f { ",
        "coproc ",
        "! ",
        "time ",
        "[[ ",
        "[[ ! ",
        "[[ ( ",
        "$(",
        "$( ",
        "$((",
        "`",
        "${",
        "${a:-",
        "${a[",
        "x[${a[",
        "\"$(",
        "\"${a-",
        "<(",
        "< <(",
        ">(",
        "a=(",
        "a=( (",
        "@(",
        "a && ( ",
        "$[",
        "<<E ",
        "<<<",
        "'",
        "\"",
        "\\",
        "<a",
        "<a>",
        "{a,",
        "~",
        "*",
        "&",
        "|",
        ";",
        ";;",
        "\n",
        "a\n",
        "#",
        "a=b ",
        "a;",
        "a|",
        "a&&",
        ">a ",
        "9>",
        "select x in a; do ",
        "until a; do ",
        "(( a;",
        "((a)",
        "coproc a { ",
        "case x in esac) ",
        "$'",
        "case ",
        "for ",
        "function ",
        "in ",
        "esac ",
    ];
    let closers = [
        "", ")", "))", "}", ";}", "; fi", "fi ", "; done", " esac", ";; esac", "]]", " ]]", ") ]]",
        "}\"", ")\"", "]}", "`", "; ) ;", ") b ", "; b )", "\nE\n", "'",
    ];
    for opener in openers {
        for closer in closers {
            for count in [3, 12, 24, 60, 64, 65, 500] {
                is_answered(&format!(
                    "{}a{}",
                    opener.repeat(count),
                    closer.repeat(count)
                ));
            }
        }
        let most = limits::COMMAND_BYTES / opener.len();
        is_answered(&opener.repeat(most));
        is_answered(&format!("echo {}", opener.repeat(most - 5)));
    }
}

#[test]
fn k_05_nesting_beyond_the_limit_is_said() {
    for text in [
        format!("{}a{}", "( ".repeat(65), ")".repeat(65)),
        format!("{}a{}", "{ ".repeat(65), ";}".repeat(65)),
        format!("a {}b{}", "$(".repeat(65), ")".repeat(65)),
        format!("{}a{}", "if a; then ".repeat(65), "; fi".repeat(65)),
    ] {
        assert_eq!(lowered(&text).code(), Code::Limit);
    }
    let most = format!("{}a{}", "if a; then ".repeat(64), "; fi".repeat(64));
    assert!(lowered(&most).script().is_some());
}

/// Half of what a component has of stack by default.
const STACK: usize = 256 << 10;

#[test]
fn k_05_the_deepest_nesting_fits_a_small_stack() {
    for (opener, closer) in [
        ("if a; then ", "; fi"),
        ("if ", "; then b; fi"),
        ("{ ", ";}"),
        ("( ", ")"),
        ("while a; do ", "; done"),
        ("until ", "; do b; done"),
        ("for i in 1; do ", "; done"),
        ("case x in x) ", ";; esac"),
        ("f() { ", ";}"),
        ("function f { ", ";}"),
        ("a $(", ")"),
        ("a \"$(", ")\""),
        ("a <(", ")"),
        ("a | { ", ";}"),
        ("! { ", ";}"),
        ("a && ( ", ")"),
        ("coproc { ", ";}"),
        ("[[ ! ( ", ") ]]"),
    ] {
        let text = format!("{}b{}", opener.repeat(64), closer.repeat(64));
        let thread = std::thread::Builder::new().stack_size(STACK);
        let lowering = thread
            .spawn(move || lowered(&text).drafts.len())
            .expect("a thread");
        assert_eq!(lowering.join().expect("no overflow"), 1, "{opener}");
    }
}

#[test]
fn k_05_a_text_beyond_the_limit_is_said() {
    assert_eq!(
        lowered(&"a".repeat(limits::COMMAND_BYTES + 1)).code(),
        Code::Limit
    );
    assert!(
        lowered(&"a".repeat(limits::COMMAND_BYTES))
            .one()
            .plan
            .is_ok()
    );
}

#[test]
fn a_descriptor_of_many_digits_is_no_panic() {
    for text in [
        "a 99999999999>b",
        "a 2147483648>&1",
        "99999999999<a",
        "a 4294967298>&1",
    ] {
        // Usable or not, it is one draft, and no redirection of that descriptor.
        lowered(text).one();
    }
}

#[test]
fn case_items_without_their_end_are_parsed_once() {
    // Valid, and exponential for a grammar that tries the last item twice.
    let text = format!("{}a{}", "case x in x) ".repeat(60), " ; esac".repeat(60));
    let began = Stopwatch::started();
    assert!(lowered(&text).script().is_some());
    assert!(began.elapsed() < SOON);
}

#[test]
fn valid_scripts_are_scripts() {
    for text in [
        "case $x in\n  a|b) echo a ;;\n  (c) echo c\nesac",
        "case x in esac",
        "for ((i=0; i<3; i++)); do echo $i; done",
        "for x; do echo $x; done",
        "for x\ndo\n echo $x\ndone",
        "select x in a b; do echo $x; done",
        "if [[ $a =~ ^(x|y)$ && ! -f b ]]; then c; elif d; then e; else f; fi",
        "while read -r line; do echo \"$line\"; done < file",
        "f() ( a; b )",
        "function f() { a; }",
        "a=(1 2\n 3)\necho ${a[0]}",
        "( (a) ; (b) )",
        "((a)) && b",
        "cat <<A <<'B'\n$x\nA\n$y\nB\necho",
        "x=$(cat <<EOF\n) ' \"\nEOF\n)",
        "until a; do b; done | c",
        "{ a; b; } > c 2>&1",
        "a | while read b; do c; done",
        "(case x in x) a;; esac)",
        "echo if then fi done esac }; a",
        "if a; then echo fi; fi",
        "for i in in do; do a; done",
        "! a | b",
        "time -p a",
        "a &",
        "a 2>b 3>&1",
        "echo $(case x in (a) b;; esac)",
    ] {
        let found = lowered(text);
        assert!(found.script().is_some(), "{text:?}: {:?}", found.drafts);
    }
}

#[test]
fn what_is_no_program_is_no_script() {
    for text in [
        "fi",
        "a )",
        "( a",
        "if a; then b",
        "do a; done",
        "a;;",
        "{ a",
        "case x in",
        "for i in a; b",
        "| a",
        "a &&",
        "a && && b",
        "a (b)",
        "f( a",
        "[[ a",
    ] {
        assert_eq!(lowered(text).code(), Code::ShellSyntax, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Any text has an answer.
    #[test]
    fn k_445_any_text_is_answered(text in "\\PC{0,80}") {
        is_answered(&text);
    }

    /// Any text of the shell's own pieces has an answer, soon.
    #[test]
    fn k_445_any_shell_text_is_answered(pieces in prop::collection::vec(piece(), 0..60)) {
        is_answered(&pieces.concat());
    }

    /// The same text, the same answer.
    #[test]
    fn k_02_the_answer_depends_on_the_text_alone(pieces in prop::collection::vec(piece(), 0..20)) {
        let text = pieces.concat();
        prop_assert_eq!(lowered(&text).drafts, lowered(&text).drafts);
    }
}

pub(super) fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "jq .",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "&&",
        "||",
        "|",
        "|&",
        "(",
        ")",
        "{ ",
        " }",
        "((",
        "))",
        "<",
        ">",
        ">>",
        "<<E",
        "<<-E\n",
        "E\n",
        "<<<",
        "$",
        "$(",
        "${",
        "}",
        "`",
        "\"",
        "'",
        "\\",
        "#",
        "$x",
        "${x}",
        "${x:-y}",
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        ";;",
        "[[ ",
        " ]]",
        "! ",
        "=",
        "x=",
        "x=(",
        "function f ",
        "f() ",
        "2>&1",
        "/dev/null",
        "<name>",
        "{name}",
        "*",
        "~",
        "$'",
        "$\"",
        "$((",
        "curl ",
        "https://example.org/",
        "echo ",
        "sudo ",
        "bash",
        "é",
        "\r",
        "\u{0}",
        "time ",
        "coproc ",
        "select ",
    ])
}
