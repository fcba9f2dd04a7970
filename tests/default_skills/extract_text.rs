//! `extract.text`: HTML and Markdown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::desk::Desk;

pub(crate) const ID: &str = "extract.text";

pub(crate) fn request(content_type: &str, bytes: &[u8]) -> Value {
    json!({"content_type": content_type, "bytes_b64": STANDARD.encode(bytes)})
}

/// The response, whose form is checked.
pub(crate) fn extract(content_type: &str, bytes: &[u8]) -> Value {
    let answer = Desk::bare().ok(ID, &request(content_type, bytes));
    checked(&answer);
    answer
}

fn checked(answer: &Value) {
    let names = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&answer["hints"]), ["title", "sections", "pages"]);
    let text = answer["text"].as_str().unwrap();
    assert_eq!(answer["bytes"], text.len());
    for section in answer["hints"]["sections"].as_array().unwrap() {
        assert_eq!(names(section), ["level", "title", "start", "page"]);
        let start = usize::try_from(section["start"].as_u64().unwrap()).unwrap();
        assert!(
            start < text.len() && text.is_char_boundary(start),
            "{section}"
        );
    }
}

fn html(source: &str) -> String {
    extract("text/html", source.as_bytes())["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn markdown(source: &str) -> String {
    extract("text/markdown", source.as_bytes())["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Level, title, and the line of the text where it begins.
pub(crate) fn sections(answer: &Value) -> Vec<(u64, &str, &str)> {
    let text = answer["text"].as_str().unwrap();
    let sections = answer["hints"]["sections"].as_array().unwrap().iter();
    let one = sections.map(|section| {
        let start = usize::try_from(section["start"].as_u64().unwrap()).unwrap();
        let line = text[start..].lines().next().unwrap();
        (
            section["level"].as_u64().unwrap(),
            section["title"].as_str().unwrap(),
            line,
        )
    });
    one.collect()
}

#[test]
fn types_and_payloads() {
    let desk = Desk::bare();
    for content_type in [
        "TEXT/HTML",
        "text/html; charset=utf-8",
        "Text/Markdown;charset=\"utf-8\"",
        "text/markdown",
    ] {
        assert_eq!(
            desk.ok(ID, &request(content_type, b"x"))["text"],
            "x",
            "{content_type}"
        );
    }
    for content_type in [
        "",
        "text/plain",
        "application/msword",
        "text/html5",
        "application/xhtml+xml",
        "text",
    ] {
        desk.error(ID, &request(content_type, b"x"), "unsupported");
    }
    for bad in [
        "eA", "eA=", "eA==\n", " eA==", "e-__", "eB==", "eA==eA==", "=", "é",
    ] {
        let request = json!({"content_type": "text/html", "bytes_b64": bad});
        desk.error(ID, &request, "malformed");
    }
    let mut large = vec![b' '; 10_485_760];
    large[0] = b'x';
    assert_eq!(desk.ok(ID, &request("text/markdown", &large))["text"], "x");
    large.push(b' ');
    desk.error(ID, &request("text/markdown", &large), "too_large");
}

#[test]
fn charsets() {
    #[rustfmt::skip]
    let rows: [(&str, &[u8], &str); 10] = [
        ("text/html", "é".as_bytes(), "é"),
        ("text/html", b"\xe9 \x93", "é “"),
        ("text/html; charset=windows-1251", b"\xcf", "П"),
        ("text/html", b"<meta charset='windows-1251'><p>\xcf", "П"),
        ("text/html; charset=koi8-r", b"<meta charset='windows-1251'><p>\xf0", "П"),
        ("text/html; charset=koi8-r", b"\xef\xbb\xbf\xc3\xa9", "é"),
        ("text/markdown", b"\xff\xfeh\0i\0", "hi"),
        ("text/markdown; charset=utf-8", b"a\xffb", "a\u{fffd}b"),
        ("text/markdown; charset=Shift_JIS", b"\x93\xfa", "日"),
        ("text/markdown", b"\xe9", "é"),
    ];
    for (content_type, bytes, text) in rows {
        assert_eq!(
            extract(content_type, bytes)["text"],
            text,
            "{content_type} {bytes:?}"
        );
    }
}

#[test]
fn text_is_normalised() {
    #[rustfmt::skip]
    let rows = [
        ("<p>a \t b&nbsp;&nbsp;c\r\nd</p>", "a b c d"),
        ("<p>so&shy;ft be\u{7}ll z\u{200b}w</p>", "soft bell z\u{200b}w"),
        ("<p>  a  </p>\n\n\n<div> </div><div></div><p> b </p>", "a\n\nb"),
        ("", ""),
        ("   \n ", ""),
        ("a<br> b <br>\n c", "a\nb\nc"),
        ("<pre>a  b\n\tc\n\n\n\nd  \n</pre>", "a  b\n\tc\n\nd"),
    ];
    for (source, text) in rows {
        // Whether a paragraph leaves an empty line is not fixed; two never follow each other.
        let actual = html(source);
        assert_eq!(
            actual.replace("\n\n", "\n"),
            text.replace("\n\n", "\n"),
            "{source:?}"
        );
        assert!(
            !actual.contains("\n\n\n") && !actual.contains(" \n"),
            "{actual:?}"
        );
        assert_eq!(actual.trim_matches(['\n', ' ']), actual);
    }
    assert_eq!(markdown("a\r\nb\rc"), markdown("a\nb\nc"), "LF line ends");
}

#[test]
fn the_text_is_cut() {
    let desk = Desk::bare();
    let source = "<h1>één</h1><p>twee</p><h2>drie</h2><p>vier</p>";
    let whole = extract("text/html", source.as_bytes());
    let text = whole["text"].as_str().unwrap();
    let drie = text.find("drie").unwrap();
    assert_eq!(whole["truncated"], false);
    for most in 1..=text.len() + 1 {
        let mut request = request("text/html", source.as_bytes());
        request["max_bytes"] = json!(most);
        let answer = desk.ok(ID, &request);
        checked(&answer);
        let end = (0..=most.min(text.len()))
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap();
        assert_eq!(answer["text"], text[..end], "{most}");
        assert_eq!(answer["truncated"], most < text.len(), "{most}");
        let sections = answer["hints"]["sections"].as_array().unwrap().len();
        assert_eq!(
            sections,
            usize::from(end > 0) + usize::from(end > drie),
            "{most}"
        );
        assert_eq!(answer["hints"]["title"], "één", "the title is not cut");
    }
    let many: String = (0..1_100).map(|n| format!("# h{n}\n\n")).collect();
    let answer = extract("text/markdown", many.as_bytes());
    assert_eq!(answer["hints"]["sections"].as_array().unwrap().len(), 1_000);
    let long = extract("text/markdown", &b"word ".repeat(300_000));
    assert_eq!(
        (&long["bytes"], &long["truncated"]),
        (&json!(1_048_576), &json!(true)),
        "the default"
    );
}

#[test]
fn html_as_a_browser_shows_it() {
    let dropped = "<!doctype html><html><head><title>T</title><style>s{}</style><script>j()</script>\
        <meta name=x content=y><link rel=x></head><body>a<script>document.write('j')</script><style>s</style>\
        <noscript>n</noscript><template><p>t</p></template><svg><text>v</text></svg><iframe>i</iframe>\
        <object>o</object><!-- c --><p hidden>h</p><div hidden=until-found><p>h</p></div>b</body></html>";
    // Whether what is dropped breaks a line is not fixed.
    assert_eq!(html(dropped).replace('\n', ""), "ab");
    #[rustfmt::skip]
    let rows = [
        ("a <b>b</b><i>c</i> <span>d</span>", "a bc d"),
        ("<div>a</div>b<section>c</section>", "a\nb\nc"),
        ("<a href='https://x.example/'>link</a>", "link"),
        ("<p>see <img src=x alt='a cat'> here</p>", "see a cat here"),
        ("<img src=x>", ""),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("<ol><li>one</li><li>two</li></ol>", "- one\n- two"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "A | B\n1 | 2"),
        ("<p>a<p>b", "a\nb"),
        ("a &amp; b &lt;c&gt; &eacute; &#x20ac; &notanentity;", "a & b <c> é € ¬anentity;"),
        ("<b><p>x</b>y", "x\ny"),
        ("<pre>\n  a\n    b</pre>", "  a\n    b"),
        ("<textarea>t</textarea>", "t"),
        ("<p>1 < 2 <3", "1 < 2 <3"),
    ];
    for (source, text) in rows {
        let actual = html(source).replace("\n\n", "\n");
        // Misnested markup: only the words count.
        if source.starts_with("<b><p>") {
            assert_eq!(actual.replace('\n', ""), text.replace('\n', ""), "{source}");
        } else if source.starts_with("<pre>") {
            assert_eq!(actual.trim_start(), text.trim_start(), "{source}");
        } else {
            assert_eq!(actual, text, "{source}");
        }
    }
}

#[test]
fn title_and_sections_of_html() {
    let source = "<title> The  title </title><h1>One</h1><p>x</p><h3>Three <b>b</b></h3><div><h2>Two</h2></div><h6>Six</h6>";
    let answer = extract("text/html", source.as_bytes());
    assert_eq!(
        (&answer["hints"]["title"], &answer["hints"]["pages"]),
        (&json!("The title"), &json!(null))
    );
    let expected = [
        (1, "One", "One"),
        (3, "Three b", "Three b"),
        (2, "Two", "Two"),
        (6, "Six", "Six"),
    ];
    assert_eq!(sections(&answer), expected);
    assert!(
        answer["hints"]["sections"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["page"].is_null())
    );
    assert!(
        !answer["text"].as_str().unwrap().contains("The title"),
        "{answer}"
    );
    for (source, title) in [
        (
            "<p>x</p><h2>no</h2><h1>First</h1><h1>Second</h1>",
            json!("First"),
        ),
        ("<title></title><h1>First</h1>", json!("First")),
        ("<p>x</p>", json!(null)),
    ] {
        assert_eq!(
            extract("text/html", source.as_bytes())["hints"]["title"],
            title,
            "{source}"
        );
    }
}

#[test]
fn markdown_is_read_as_text() {
    #[rustfmt::skip]
    let rows = [
        ("*a* **b** _c_ ~~d~~ `e`", "a b c d e"),
        ("[text](https://x.example/ \"t\") <https://y.example/>", "text https://y.example/"),
        ("![a cat](cat.png)", "a cat"),
        ("- one\n- two", "- one\n- two"),
        ("3. one\n4. two", "3. one\n4. two"),
        ("```rust\nfn  a() {\n    *b*\n}\n```", "fn  a() {\n    *b*\n}"),
        ("    indented  code", "indented  code"),
        ("|A|B|\n|-|-|\n|1|2|", "A | B\n1 | 2"),
        ("a <b>bold</b> <!-- c --> d", "a bold d"),
        ("Head\n====\n\nx", "Head\nx"),
        ("> quoted", "quoted"),
        ("a  \nb", "a\nb"),
        ("\\*not\\* &amp; &copy;", "*not* & ©"),
        ("---\ntitle: T\n---\nbody", "body"),
        ("[ref]\n\n[ref]: https://x.example/", "ref"),
    ];
    for (source, text) in rows {
        assert_eq!(markdown(source).replace("\n\n", "\n"), text, "{source:?}");
    }
}

#[test]
fn title_and_sections_of_markdown() {
    let source = "---\ntitle: \"From above\"\nother: x\n---\n# One\n\ntext\n\n### Three *em* `code`\n\n## [Two](u)\n\n```\n# no heading\n```\n";
    let answer = extract("text/markdown", source.as_bytes());
    assert_eq!(
        (&answer["hints"]["title"], &answer["hints"]["pages"]),
        (&json!("From above"), &json!(null))
    );
    let expected = [
        (1, "One", "One"),
        (3, "Three em code", "Three em code"),
        (2, "Two", "Two"),
    ];
    assert_eq!(sections(&answer), expected);
    for (source, title) in [
        ("## no\n\n# First\n\n# Second", json!("First")),
        ("---\nname: x\n---\n# First", json!("First")),
        ("text", json!(null)),
        ("---\ntitle: [broken\n---\n# First", json!("First")),
    ] {
        assert_eq!(
            extract("text/markdown", source.as_bytes())["hints"]["title"],
            title,
            "{source}"
        );
    }
}

/// Whatever the content names, nobody is asked for it, not even with a grant.
#[test]
fn nothing_is_followed() {
    use crate::server::{Answer, Request, Server};
    let server = Server::new(|_: &Request| Answer::Body(b"x".into()));
    let desk = Desk::fetching(&[server.url("/")]);
    let url = server.url("/x");
    let source = format!(
        "<link rel=stylesheet href={url}><script src={url}></script><img src={url} alt=i><iframe src={url}></iframe>\
         <meta http-equiv=refresh content='0;url={url}'><object data={url}></object><p style='background:url({url})'>t"
    );
    desk.ok(ID, &request("text/html", source.as_bytes()));
    desk.ok(
        ID,
        &request(
            "text/markdown",
            format!("![i]({url})\n\n[r]: {url}\n\n<img src={url}>").as_bytes(),
        ),
    );
    let entity = "<!DOCTYPE html [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><p>&e;</p>";
    let answer = desk.ok(ID, &request("text/html", entity.as_bytes()));
    assert!(!answer["text"].as_str().unwrap().contains("root:"));
    assert_eq!(server.connections(), 0);
}
