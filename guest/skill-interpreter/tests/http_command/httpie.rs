//! httpie, by the rows of 9.2. Bodies and headers are those that httpie 3.2 shows with `--offline`.

use super::*;
use serde_json::{Value, json};
use skill_interpreter::draft::{AuthDraft, JsonDraft, PartContent, Schemeless};

/// A JSON body as a value; `$NAME` for what is a variable.
fn json_body(draft: &HttpDraft) -> Value {
    fn value(draft: &JsonDraft) -> Value {
        match draft {
            JsonDraft::Value(value) => value.clone(),
            JsonDraft::Text(text) => Value::String(text.display()),
            JsonDraft::Any(text) => json!({ "any": text.display() }),
            JsonDraft::Array(items) => items.iter().map(value).collect(),
            JsonDraft::Object(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), value(member)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            JsonDraft::TextOfFile(name) => json!({ "text of": name.display() }),
            JsonDraft::JsonOfFile(name) => json!({ "json of": name.display() }),
        }
    }
    match &draft.body {
        Some(BodyDraft::Json(json)) => value(json),
        other => panic!("{other:?}"),
    }
}

const JSON_HEADERS: [&str; 2] = [
    "Accept: application/json, */*;q=0.5",
    "Content-Type: application/json",
];

#[test]
fn k_160_method_and_address() {
    let draft = request(&["http", "h.example/p"]);
    assert_eq!(
        (draft.method.as_str(), draft.schemeless, url(&draft)),
        ("GET", Schemeless::Http, "h.example/p".to_owned())
    );
    assert_eq!(
        request(&["https", "h.example"]).schemeless,
        Schemeless::Https
    );
    assert_eq!(request(&["http", "h.example", "a=b"]).method, "POST");
    assert_eq!(request(&["http", "put", "h.example", "a=b"]).method, "PUT");
    assert_eq!(request(&["http", "h.example", "q==1", "X:y"]).method, "GET");
    for (short, long) in [
        (":8080/x", "localhost:8080/x"),
        (":/x", "localhost/x"),
        (":", "localhost"),
        ("://h.example/x", "h.example/x"),
    ] {
        assert_eq!(url(&request(&["http", short])), long);
    }
    assert_eq!(
        refusal(&["http", "ftp://h.example"]),
        Code::HttpieOptionRefused
    );
    assert_eq!(
        refusal(&["http", "http://u:p@h.example"]),
        Code::UrlUserinfo
    );
    assert_eq!(
        refusal(&["http", "TRACE", "h.example"]),
        Code::HttpieOptionRefused
    );
    assert_eq!(read(&["http"]).unwrap()[0].url, None);
}

#[test]
fn k_161_the_first_separator_decides() {
    let draft = request(&[
        "http",
        "PUT",
        "h.example",
        "a=b",
        "n:=3",
        "X-A:1",
        "Y:",
        "Z;",
        "q==1",
        "q==2 3",
        "k\\:x=v",
        "x=a\\=b",
        "y\\=z=1",
        "t=c:d",
        "v:=$V",
        "w=$W!",
        "e=",
        "o:={\"z\":[1,\"s\"],\"y\":null}",
        "c:={count}",
        "f=@a.txt",
        "g:=@b.json",
    ]);
    assert_eq!(
        json_body(&draft),
        json!({
            "a": "b", "n": 3, "k:x": "v", "x": "a=b", "y=z": "1", "t": "c:d", "v": {"any": "{V}"}, "w": "{W}!", "e": "",
            "o": {"z": [1, "s"], "y": null}, "c": {"any": "{count}"}, "f": {"text of": "a.txt"}, "g": {"json of": "b.json"},
        })
    );
    assert_eq!(query(&draft), ["q=[1]", "q=[2 3]"]);
    assert_eq!(
        headers(&draft),
        [JSON_HEADERS[0], JSON_HEADERS[1], "X-A: 1", "Y:", "Z;"]
    );
    let keys: Vec<String> = match &draft.body {
        Some(BodyDraft::Json(JsonDraft::Object(members))) => {
            members.iter().map(|(key, _)| key.clone()).collect()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(keys[..4], ["a", "n", "k:x", "x"]);
    assert_eq!(
        json_body(&request(&["http", "h.example", "a=1", "b=2", "a=3"])).to_string(),
        r#"{"a":"3","b":"2"}"#
    );
    for bad in [
        "word", "n:=nope", "n:=a$V", "a[b]=1", "a[]=1", "Z;x", "@f", "a==@f", "A:@f", "$K=v",
        "a=@", "a@f", "a@-",
    ] {
        assert_eq!(
            refusal(&["http", "h.example", bad]),
            Code::HttpieOptionRefused,
            "{bad}"
        );
    }
    assert_eq!(
        refusal(&["http", "h.example", "A B:c"]),
        Code::HeaderRefused
    );
}

#[test]
fn k_162_bodies() {
    assert_eq!(
        headers(&request(&["http", "-j", "h.example"])),
        JSON_HEADERS
    );
    let draft = request(&["http", "h.example", "a=b", "Accept:", "content-type:x/y"]);
    assert_eq!(headers(&draft), ["Accept:", "content-type: x/y"]);
    let draft = request(&["http", "-f", "h.example", "a=b c", "n:=1"]);
    assert_eq!(
        draft.body,
        Some(BodyDraft::Form(vec![
            ("a".to_owned(), word("b c")),
            ("n".to_owned(), word("1").bare())
        ]))
    );
    assert_eq!(
        headers(&draft),
        ["Content-Type: application/x-www-form-urlencoded; charset=utf-8"]
    );
    for argv in [
        &["http", "-f", "h.example", "a=b", "d@f.pdf;type=x/y"][..],
        &[
            "http",
            "--multipart",
            "h.example",
            "a=b",
            "d@f.pdf;type=x/y",
        ],
    ] {
        let draft = request(argv);
        let Some(BodyDraft::Multipart(parts)) = &draft.body else {
            panic!("{draft:?}");
        };
        assert_eq!(parts[0].content, PartContent::Text(word("b")));
        assert_eq!(
            (&parts[1].content, parts[1].content_type.as_deref()),
            (&PartContent::File(word("f.pdf")), Some("x/y"))
        );
        assert_eq!(headers(&draft), [""; 0]);
    }
    assert_eq!(
        refusal(&["http", "-f", "h.example", "a:={\"b\":1}"]),
        Code::HttpieOptionRefused
    );
}

#[test]
fn k_163_options() {
    let draft = request(&[
        "http",
        "-F",
        "--timeout",
        "2.5",
        "-a",
        "u:$P",
        "-bhv",
        "-p",
        "b",
        "--pretty=all",
        "--check-status",
        "h.example",
    ]);
    assert_eq!(
        (draft.follow, draft.limits.total_ms, draft.output.is_some()),
        (true, Some(2_500), false)
    );
    assert_eq!(
        draft.auth,
        [AuthDraft::Basic {
            user: Some(word("u")),
            password: Some(word("$P"))
        }]
    );
    let draft = request(&[
        "http",
        "-A",
        "bearer",
        "-a",
        "$T",
        "h.example",
        "Authorization:x",
    ]);
    assert_eq!(
        draft.auth,
        [AuthDraft::Bearer {
            prefix: None,
            token: word("$T")
        }]
    );
    assert_eq!(headers(&draft), [""; 0]);
    let draft = request(&["http", "h.example", "--raw", "{\"a\":$A}"]);
    assert_eq!(
        (draft.method.as_str(), body(&draft).as_deref()),
        ("POST", Some("{\"a\":{A}}"))
    );
    assert_eq!(headers(&draft), JSON_HEADERS);
    assert_eq!(
        request(&["http", "-d", "h.example/f"]).output.unwrap().name,
        None
    );
    assert_eq!(
        request(&["http", "-o", "f", "h.example"])
            .output
            .unwrap()
            .name,
        Some(word("f"))
    );
    for options in [
        &["--verify=no"][..],
        &["--cert", "f"],
        &["--cert-key=f"],
        &["--proxy", "x"],
        &["--session=s"],
        &["--session-read-only=s"],
        &["--path-as-is"],
        &["--bogus"],
        &["-A", "digest", "-a", "u:p"],
        &["-a", "user"],
        &["--raw", "x", "a=b"],
        &["-o", ""],
        &["--timeout", "soon"],
        &["--follow=x"],
    ] {
        let argv: Vec<&str> = ["http", "h.example"]
            .iter()
            .chain(options)
            .copied()
            .collect();
        assert_eq!(refusal(&argv), Code::HttpieOptionRefused, "{options:?}");
    }
    let failure = read(&["http", "--verify=no", "h.example"]).unwrap_err();
    assert_eq!(failure.message, "httpie: --verify is refused");
}

#[test]
fn k_123_standard_input_is_the_body_unless_ignored() {
    let of = |argv: &[&str]| read_with(argv, Stdin::Previous).0;
    let draft = of(&["http", "h.example"]).unwrap().remove(0);
    assert_eq!(
        (draft.method.as_str(), body(&draft).as_deref()),
        ("POST", Some("@-(Verbatim)"))
    );
    assert_eq!(headers(&draft), JSON_HEADERS);
    assert_eq!(of(&["http", "-I", "h.example"]).unwrap()[0].body, None);
    assert_eq!(
        of(&["http", "h.example", "a=b"]).unwrap_err().code,
        Code::HttpieOptionRefused
    );
}

trait Bare {
    fn bare(self) -> Template;
}

impl Bare for Template {
    /// The same text as no shell quoted it.
    fn bare(self) -> Template {
        Template::literal(self.as_literal().unwrap())
    }
}
