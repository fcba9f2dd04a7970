//! Nothing dangerous maps to a benign capability: every construct of K-124, put into benign pipelines at every kind of place,
//! gives a script of the whole text or nothing usable, and never a request.

use proptest::prelude::*;

use super::{kind, lowered, script_of};
use crate::draft::DraftStage;
use crate::failure::Code;

/// A script of the whole text, or nothing that can be used.
fn is_harmless(text: &str) -> Result<(), String> {
    let found = lowered(text);
    if found.drafts.is_empty() {
        return Err(format!("{text:?}: nothing"));
    }
    for draft in &found.drafts {
        match (&draft.plan, script_of(draft)) {
            (Err(_), _) => {}
            (_, Some((script, constructs))) if script == text && !constructs.is_empty() => {}
            (Ok(stages), _) => {
                return Err(format!(
                    "{text:?}: {:?}",
                    stages.iter().map(kind).collect::<Vec<_>>()
                ));
            }
        }
    }
    Ok(())
}

fn request() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec![
        "-s",
        "-sS",
        "-L",
        "-X POST",
        "--request PUT",
        "-H 'Accept: application/json'",
        "-H \"X-A: b\"",
        "-d a=1",
        "--data 'x=y&z=1'",
        "-d '{\"a\":[1,2]}'",
        "-G",
        "-A agent",
    ]);
    let url = prop::sample::select(vec![
        "https://example.org/v1/items",
        "'https://example.org/a?b=c&d=e'",
        "\"https://example.org/{id}?q=x\"",
        "\"https://example.org/$ID\"",
        "https://example.org/${ID}/x",
    ]);
    (prop::collection::vec(word, 0..3), url).prop_map(|(words, url)| {
        let mut all = vec!["curl".to_owned()];
        all.extend(words.iter().flat_map(|word| split(word)));
        all.push(url.to_owned());
        all
    })
}

/// At blanks that no quote holds.
fn split(word: &str) -> Vec<String> {
    match word.split_once(' ') {
        Some((option, value)) => vec![option.to_owned(), value.to_owned()],
        None => vec![word.to_owned()],
    }
}

fn pure() -> impl Strategy<Value = Vec<String>> {
    prop::sample::select(vec![
        vec!["jq", "."],
        vec!["jq", "-r", "'.[] | .a'"],
        vec!["jq", "-c", "\".a\""],
        vec!["head", "-3"],
        vec!["tail", "-n", "2"],
        vec!["sort", "-u"],
        vec!["grep", "-i", "'x'"],
        vec!["wc", "-l"],
        vec!["cut", "-d,", "-f1"],
        vec!["sed", "'s/a/b/g'"],
        vec!["awk", "'{print $1}'"],
        vec!["python3", "-m", "json.tool"],
    ])
    .prop_map(|words| words.into_iter().map(str::to_owned).collect())
}

/// Commands of words; the first is a request.
fn pipeline() -> impl Strategy<Value = Vec<Vec<String>>> {
    (request(), prop::collection::vec(pure(), 0..3)).prop_map(|(first, rest)| {
        let mut all = vec![first];
        all.extend(rest);
        all
    })
}

fn text(pipeline: &[Vec<String>]) -> String {
    let commands: Vec<String> = pipeline.iter().map(|words| words.join(" ")).collect();
    commands.join(" | ")
}

/// What may follow a command.
const AFTER: [&str; 39] = [
    " && rm x",
    " || rm x",
    "; rm x",
    ";rm x",
    " & rm x",
    "&rm x",
    " &",
    "&",
    "\nrm x",
    "\n rm x\n",
    " | bash",
    "|sh",
    " | zsh -",
    " | python",
    " | python3 -",
    " | python3 -c 'a'",
    " | node",
    " | perl",
    " | ruby",
    " | mystery",
    " | tee f",
    " | xargs rm",
    " | sudo tee f",
    " | cat f",
    " > file",
    " >file",
    " >> file",
    " 2> file",
    " >| file",
    " &> file",
    " &>> file",
    " 1>&2",
    " <> file",
    " > >(rm x)",
    " < <(rm x)",
    " |& cat",
    " | while read x; do rm; done",
    " | env x",
    " > /dev/null/../x",
];
/// What may stand before the whole.
const BEFORE: [&str; 24] = [
    "sudo ",
    "su ",
    "env ",
    "env A=b ",
    "eval ",
    "exec ",
    "timeout 5 ",
    "nohup ",
    "time ",
    "! ",
    "source ",
    ". ",
    "ssh h ",
    "xargs ",
    "tee ",
    "rm x && ",
    "rm x; ",
    "rm x | ",
    "rm x\n",
    "trap ",
    "A=$(rm x) ",
    "A=`rm x` ",
    "> f ",
    "coproc ",
];
/// What may stand around the whole.
const AROUND: [(&str, &str); 12] = [
    ("( ", " )"),
    ("{ ", "; }"),
    ("if true; then ", "; fi"),
    ("if ", "; then rm; fi"),
    ("for i in 1 2; do ", "; done"),
    ("while true; do ", "; done"),
    ("until ", "; do rm; done"),
    ("case x in x) ", ";; esac"),
    ("f() { ", "; }; f"),
    ("echo $( ", " )"),
    ("x=\"$( ", " )\""),
    ("diff <( ", " ) b"),
];
/// What may stand in a word, or be one.
const WITHIN: [&str; 26] = [
    "$(rm x)",
    "`rm x`",
    "$((1+1))",
    "$1",
    "${1}",
    "$@",
    "\"$@\"",
    "$*",
    "$?",
    "$$",
    "$!",
    "${x//a/b}",
    "${x:=y}",
    "${x:?y}",
    "${x:+y}",
    "${x%y}",
    "${#x}",
    "${!x}",
    "${x:1:2}",
    "$[1+1]",
    "\"$(rm x)\"",
    "\"a`rm x`b\"",
    // A shell joins the lines before it looks for expansions.
    "$\\\n(rm x)",
    "\"$\\\n(rm x)\"",
    "$\\\n{x//a/b}",
    "\"$a\\\nb\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn k_115_benign_pipelines_are_requests(pipeline in pipeline()) {
        let text = text(&pipeline);
        let found = lowered(&text);
        prop_assert_eq!(found.drafts.len(), 1, "{}", &text);
        match &found.drafts[0].plan {
            Ok(stages) => {
                prop_assert_eq!(kind(&stages[0]), "http", "{}", &text);
                prop_assert_eq!(stages.len(), pipeline.len());
            }
            // `-G` with `--json` and alike.
            Err(failure) => prop_assert_eq!(failure.code, Code::CurlOptionConflict, "{}", &text),
        }
    }

    #[test]
    fn k_124_what_follows_a_command_is_never_ignored(
        pipeline in pipeline(), at in any::<prop::sample::Index>(), what in prop::sample::select(&AFTER[..]),
    ) {
        let mut pipeline = pipeline;
        let at = at.index(pipeline.len());
        pipeline[at].push(format!("@@{what}"));
        let text = text(&pipeline).replace(" @@", "");
        prop_assert_eq!(is_harmless(&text), Ok(()));
    }

    #[test]
    fn k_124_what_stands_before_is_never_ignored(pipeline in pipeline(), what in prop::sample::select(&BEFORE[..])) {
        let text = format!("{what}{}", text(&pipeline));
        prop_assert_eq!(is_harmless(&text), Ok(()));
    }

    #[test]
    fn k_124_what_stands_around_is_never_ignored(pipeline in pipeline(), around in prop::sample::select(&AROUND[..])) {
        let text = format!("{}{}{}", around.0, text(&pipeline), around.1);
        prop_assert_eq!(is_harmless(&text), Ok(()));
    }

    #[test]
    fn k_124_what_stands_in_a_word_is_never_ignored(
        pipeline in pipeline(), command in any::<prop::sample::Index>(), word in any::<prop::sample::Index>(),
        what in prop::sample::select(&WITHIN[..]), glued in any::<bool>(),
    ) {
        let mut pipeline = pipeline;
        let command = command.index(pipeline.len());
        let words = &mut pipeline[command];
        let word = word.index(words.len());
        if glued {
            words[word].push_str(what);
        } else {
            words.insert(word + 1, what.to_owned());
        }
        prop_assert_eq!(is_harmless(&text(&pipeline)), Ok(()));
    }

    /// Printing and settings around a request change nothing; with a construct in them they do.
    #[test]
    fn k_114_constructs_in_what_would_be_dropped_count(pipeline in pipeline(), what in prop::sample::select(&WITHIN[..])) {
        for around in [format!("echo {what}\n{}", text(&pipeline)), format!("{}\nset -e {what}", text(&pipeline)), format!("A={what}\n{}", text(&pipeline))] {
            prop_assert_eq!(is_harmless(&around), Ok(()));
        }
    }

    /// Whatever is usable and no script has none of the shell's characters outside of quotes.
    #[test]
    fn k_124_requests_hold_nothing_but_words_and_pipes(pieces in prop::collection::vec(super::hostile::piece(), 0..12)) {
        let text = format!("curl https://example.org/ {}", pieces.concat());
        let found = lowered(&text);
        let request = found.drafts.iter().any(|draft| {
            draft.plan.as_ref().is_ok_and(|stages| stages.iter().any(|stage| matches!(stage, DraftStage::Http(_))))
        });
        // Here-documents hold anything.
        if request && !text.contains("<<") {
            let bare = outside_quotes(&text);
            for allowed in ["2>&1", ">/dev/null", "> /dev/null"] {
                if bare.contains(allowed) {
                    return Ok(());
                }
            }
            // At the end of a line `;` is between no commands.
            let bare: String = bare.lines().map(|line| line.trim_end().trim_end_matches(';')).collect();
            prop_assert!(!bare.contains([';', '&', '(', ')', '`']), "{:?}: {:?}", text, found.drafts);
            prop_assert!(!bare.contains("||"), "{:?}", text);
        }
    }
}

/// The text without what is quoted, escaped or commented; `$( ` and `` ` `` of double quotes stay.
fn outside_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (None, '#')
                if out.is_empty()
                    || out.ends_with([' ', '\t', '\n', '|', ';', '&', '(', ')', '<', '>']) =>
            {
                while characters.peek().is_some_and(|c| *c != '\n') {
                    characters.next();
                }
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => {
                quote = None;
                out.push('q');
            }
            (None, _) | (Some('"'), '`') => out.push(c),
            _ => {}
        }
    }
    out
}
