use super::{call, text};
use serde_json::json;

fn markdown(input: &str) -> String {
    text("text/markdown", input.as_bytes())
}

#[test]
fn markup_is_dropped() {
    for (input, expected) in [
        ("a *b* **c** ~~d~~ `e  *f*`", "a b c d e  *f*"),
        ("a\nb  \nc\\\nd", "a\nb\nc\nd"),
        (
            "[l](u) ![i *j*](k) <https://a.b> [r]\n\n[r]: x",
            "l i j https://a.b r",
        ),
        ("- a\n- b\n  1. c\n  2. d\n\ne", "- a\n- b\n1. c\n2. d\n\ne"),
        ("7. a\n\n8. b", "7. a\n\n8. b"),
        ("- \n- b", "- b"),
        ("```x\n  code\n\n\n  more \n```\nt", "  code\n\n  more\n\nt"),
        ("    indented\n     code", "indented\n code"),
        (
            "| a | b |\n|---|:-:|\n| *c* |  |\n| d | `e\\|f` |",
            "a | b\nc |\nd | e|f",
        ),
        ("> a\n> > b\n\nc", "a\n\nb\n\nc"),
        ("a <b>x</b> <br>y <!-- z -->", "a x\ny"),
        ("| a |\n|---|\n| b<br/>c |", "a\nb c"),
        ("<div class='a>b'>\nx &amp; y\n</div>\n\nz", "x & y\n\nz"),
        (
            "<table><tr><td>a</td><td><img alt='b'></td></tr></table>\n\n<pre>\n c\n</pre>",
            "a | b\n\n c",
        ),
        ("<script>\nvar a;\n</script>\n\n<!-- c -->\n\nt", "t"),
        ("a\n\n---\n\nb &copy; \\*", "a\n\nb © *"),
        ("", ""),
    ] {
        assert_eq!(markdown(input), expected, "{input}");
    }
}

#[test]
fn title_and_sections() {
    let response = call(
        "text/markdown;charset=utf-8",
        b"---\ntitle: \"The  title\"\n---\nA\n=\n\n## B `c`\ntext\n> ### D",
        None,
    )
    .unwrap();
    assert_eq!(
        response,
        json!({
            "text": "A\n\nB c\n\ntext\n\nD",
            "hints": {
                "title": "The title",
                "sections": [
                    {"level": 1, "title": "A", "start": 0, "page": null},
                    {"level": 2, "title": "B c", "start": 3, "page": null},
                    {"level": 3, "title": "D", "start": 14, "page": null},
                ],
                "pages": null,
            },
            "bytes": 15,
            "truncated": false,
        })
    );
    let title = |input: &str| {
        let response = call("text/markdown", input.as_bytes(), Some(1)).unwrap();
        response["hints"]["title"].clone()
    };
    assert_eq!(title("## a\n\n# *b*\n\n# c"), "b");
    assert_eq!(
        title("<h1 align='center'>\n  A <i>b</i>\n</h1>\n\n# c"),
        "A b"
    );
    assert_eq!(title("---\ntitle: [x]\n---\n# b"), "b");
    assert_eq!(title("---\ntitle: '  '\n---\nb"), json!(null));
    assert_eq!(title("---\n: : broken\n---\n# b"), "b");
}
