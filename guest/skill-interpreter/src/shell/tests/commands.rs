//! Commands of sections 28 and 29, as they are lowered.

use super::lowered;
use crate::draft::{DraftStage, HttpDraft};
use crate::failure::Code;

fn http(text: &str) -> HttpDraft {
    match lowered(text).stages() {
        [DraftStage::Http(request)] => (**request).clone(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn k_390_data_alone_is_a_post() {
    assert_eq!(http("curl https://example.org/ -d a=1").method, "POST");
}

#[test]
fn k_392_a_comment_is_a_name() {
    let found = lowered("# list the books\ncurl https://example.org/books");
    assert_eq!(found.kinds(), ["http"]);
    assert_eq!(found.one().comment.as_deref(), Some("list the books"));
}

#[test]
fn k_115_one_operation_for_each_request() {
    let found = lowered(
        "set -e\n# first\ncurl https://example.org/a | jq .x\n\n# second\ncurl https://example.org/b\necho done\n",
    );
    assert_eq!(found.drafts.len(), 2);
    let comments: Vec<_> = found
        .drafts
        .iter()
        .map(|draft| draft.comment.as_deref())
        .collect();
    assert_eq!(comments, [Some("first"), Some("second")]);
    assert_eq!(
        found
            .drafts
            .iter()
            .map(|draft| draft.line)
            .collect::<Vec<_>>(),
        [3, 6]
    );
}

#[test]
fn k_115_a_statement_of_another_kind_makes_a_script_of_all() {
    let text = "curl https://example.org/a -o x.tgz\ntar xf x.tgz\n";
    assert_eq!(lowered(text).script().expect("a script").0, text);
}

#[test]
fn k_246_and_k_395_a_quoted_bar_is_part_of_the_program() {
    let found =
        lowered("curl -s https://books.example.org/v2/items | jq -r '.[] | .title' | head -3");
    assert_eq!(found.kinds(), ["http", "json-filter", "text-transform"]);
    match &found.stages()[1..] {
        [
            DraftStage::JsonFilter(filter),
            DraftStage::TextTransform { tool, args },
        ] => {
            assert_eq!(
                (filter.program.as_str(), filter.raw),
                (".[] | .title", true)
            );
            assert_eq!(tool, "head");
            assert_eq!(super::texts(args), ["-n", "3"]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn k_247_a_constant_stands_in_an_address() {
    let found = lowered("BASE=https://books.example.org\ncurl \"$BASE/v2/ping\"");
    match found.stages() {
        [DraftStage::Http(request)] => {
            assert_eq!(
                request.url.as_ref().expect("a URL").display(),
                "https://books.example.org/v2/ping"
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(found.says(Code::Constant));
}

#[test]
fn k_249_a_loop_is_a_script() {
    let text = "for i in 1 2; do curl https://books.example.org/v2/items/$i; done";
    let found = lowered(text);
    let (script, constructs) = found.script().expect("a script");
    assert_eq!(script, text);
    assert!(constructs.contains(&"loop `for`".to_owned()));
}

#[test]
fn k_251_a_refused_option_is_unusable() {
    let found = lowered("curl --insecure https://books.example.org/");
    assert_eq!(found.code(), Code::CurlOptionRefused);
}

#[test]
fn k_396_what_is_joined_to_a_request_is_a_script_as_a_whole() {
    for text in [
        "curl https://example.org/ && rm x",
        "curl https://example.org/ | bash",
        "curl https://example.org/ > file",
        "curl https://example.org/ ; cmd",
        "curl https://example.org/\nrm x",
    ] {
        assert_eq!(lowered(text).script().expect("a script").0, text);
    }
}

#[test]
fn k_120_a_secret_is_never_put_in() {
    for text in [
        "API_KEY=abcdef\ncurl -H \"Authorization: Bearer $API_KEY\" https://example.org/",
        "WHO=abcdef\ncurl -H \"Authorization: Bearer $WHO\" https://example.org/",
        "WHO=abcdef\ncurl -u \"me:$WHO\" https://example.org/",
        "WHO=abcdef\ncurl \"https://example.org/?api_key=$WHO\"",
    ] {
        let found = lowered(text);
        assert_eq!(found.kinds(), ["http"]);
        assert!(
            !format!("{:?}", found.stages()).contains("abcdef"),
            "{text}"
        );
    }
}

#[test]
fn k_123_a_request_reads_what_comes_before() {
    let found = lowered("jq -c .a in.json | curl -d @- https://example.org/");
    assert_eq!(found.kinds(), ["read-file", "json-filter", "http"]);
    assert!(
        lowered("jq . in.json | curl https://example.org/")
            .script()
            .is_some()
    );
    assert!(
        lowered("jq . in.json | wget -O - https://example.org/")
            .script()
            .is_some()
    );
}

#[test]
fn k_126_globs_in_addresses_are_literal() {
    assert_eq!(lowered("curl https://example.org/?a=[1]*").drafts.len(), 1);
    assert!(lowered("curl https://example.org/?a=1").script().is_none());
    assert!(
        lowered("curl -d {a,b} https://example.org/")
            .script()
            .is_some()
    );
}

#[test]
fn k_05_operations_of_a_fence_are_bounded() {
    let text = "curl https://example.org/\n".repeat(65);
    assert_eq!(lowered(&text).code(), Code::Limit);
    assert_eq!(
        lowered(&"curl https://example.org/\n".repeat(64))
            .drafts
            .len(),
        64
    );
    assert_eq!(
        lowered(&format!("curl {}", "https://example.org/ ".repeat(65))).code(),
        Code::Limit
    );
}
