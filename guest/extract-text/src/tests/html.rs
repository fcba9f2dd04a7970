use super::{call, text};
use serde_json::json;

fn html(input: &str) -> String {
    text("text/html", input.as_bytes())
}

#[test]
fn blocks_break_lines_and_white_space_collapses() {
    for (input, expected) in [
        ("<p>a\n  b</p><p>c</p>", "a b\n\nc"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("a<br>b<br><br><br>c", "a\nb\n\nc"),
        ("a <b> b</b> <i>c</i>", "a b c"),
        ("a&nbsp;&nbsp;b&shy;c\u{0}\u{7}", "a bc"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>d", "- a\n- b\n- c\n\nd"),
        ("<ol><li><p>a</p><li></ol>", "- a"),
        ("<pre>\n  x  y \n\n\n z</pre>t", "  x  y\n\n z\n\nt"),
        (
            "<table><tr><th>a<th>b<tr><td>c<td><p>d</p><p>e</p></table>x",
            "a | b\nc | d e\n\nx",
        ),
        (
            "<table><tr><td><h1>T</h1><td><ul><li>i</ul></table>",
            "T\n\n- i",
        ),
        (
            "x<img src=a alt=' a  cat '>y <a href=b>l</a>",
            "x a cat y l",
        ),
        ("<p>a<svg><text>s</text><title>t</title></svg>b", "ab"),
        (
            "<p hidden>a</p><p>b<!-- c --><span hidden=until-found>d</span>",
            "b",
        ),
        (
            "<script>s</script><style>s</style><noscript>s</noscript><template>s</template><iframe>s</iframe><object>s</object>x",
            "x",
        ),
        ("<title>t</title>", ""),
        ("", ""),
        (
            "<!DOCTYPE html><p>a<table><b>f<tr><td>c</table>",
            "a\n\nf\n\nc",
        ),
    ] {
        assert_eq!(html(input), expected, "{input}");
    }
}

#[test]
fn title_and_sections() {
    let response = call(
        "text/html",
        "<title> A \n b</title><h2>One <b>two</b></h2>x<h1>H<br>1</h1><ul><li><h3>é</h3></ul><h4> </h4>".as_bytes(),
        None,
    )
    .unwrap();
    assert_eq!(
        response,
        json!({
            "text": "One two\n\nx\n\nH\n1\n\n- é",
            "hints": {
                "title": "A b",
                "sections": [
                    {"level": 2, "title": "One two", "start": 0, "page": null},
                    {"level": 1, "title": "H 1", "start": 12, "page": null},
                    {"level": 3, "title": "é", "start": 17, "page": null},
                ],
                "pages": null,
            },
            "bytes": 21,
            "truncated": false,
        })
    );
    let title = |input: &str| {
        let response = call("text/html", input.as_bytes(), Some(1)).unwrap();
        response["hints"]["title"].clone()
    };
    assert_eq!(
        title("<p>long text<h2>no</h2><h1></h1><h1>a <i>b</i></h1><h1>c"),
        "a b"
    );
    assert_eq!(
        title("<title> </title><svg><title>no</title></svg>"),
        json!(null)
    );
}
