//! `search.ripgrep`. The comparison with `rg` itself is in `search_differential`.

use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;

pub(crate) const ID: &str = "search.ripgrep";

fn search(desk: &Desk, pattern: &str, more: &Value) -> Value {
    let mut request = json!({ "pattern": pattern });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    desk.ok(ID, &request)
}

/// `file:line:column:match` of each match.
fn found(response: &Value) -> Vec<String> {
    let matches = response["matches"].as_array().unwrap();
    let one = |found: &Value| {
        let names: Vec<&String> = found.as_object().unwrap().keys().collect();
        let members = [
            "file",
            "line",
            "column",
            "match",
            "context_before",
            "context_after",
            "text",
        ];
        assert_eq!(names, members);
        let text = |name: &str| found[name].as_str().unwrap().to_owned();
        format!(
            "{}:{}:{}:{}",
            text("file"),
            found["line"],
            found["column"],
            text("match")
        )
    };
    matches.iter().map(one).collect()
}

/// The names of the files with a match.
fn files(response: &Value) -> Vec<&str> {
    let matches = response["matches"].as_array().unwrap();
    let mut files: Vec<&str> = matches
        .iter()
        .map(|found| found["file"].as_str().unwrap())
        .collect();
    files.dedup();
    files
}

#[test]
fn patterns_match_within_lines() {
    let desk = Desk::reading();
    desk.write("f", "fn one() {\r\n  two\n\nÉtude\nlast");
    let none = json!({"case_sensitive": true});
    #[rustfmt::skip]
    let rows: [(&str, &[&str]); 10] = [
        ("^fn", &["f:1:1:fn"]),
        (r"\{$", &["f:1:10:{"]),
        ("^$", &["f:3:1:"]),
        ("t$", &["f:5:4:t"]),
        ("two.*last", &[]),
        (r"\w+tude", &["f:4:1:Étude"]),
        (r"\p{Lu}", &["f:4:1:É"]),
        ("(?i)ÉTUDE", &["f:4:1:Étude"]),
        ("tu", &["f:4:3:tu"]),
        (r"o(ne|$)", &["f:1:4:one", "f:2:5:o"]),
    ];
    for (pattern, expected) in rows {
        assert_eq!(found(&search(&desk, pattern, &none)), expected, "{pattern}");
    }
}

#[test]
fn patterns_that_are_refused() {
    let desk = Desk::reading();
    desk.write("f", "x\n");
    let backreference = r"(a)\1";
    for pattern in [
        "(",
        "a{2,1}",
        "[z-a]",
        "*",
        "a\nb",
        r"a\nb",
        "(?=x)",
        backreference,
        r"\p{Nope}",
        "(?P<n>x",
    ] {
        desk.invalid(ID, &json!({ "pattern": pattern }), "pattern");
    }
    for pattern in [r"(\w{1000}){1000}", "((a{100}){100}){100}", r"\pL{5000}"] {
        desk.invalid(ID, &json!({ "pattern": pattern }), "pattern");
    }
}

#[test]
fn case_is_ignored_unless_asked_for() {
    let desk = Desk::reading();
    desk.write("f", "todo\nTODO\nTodo\nÄ\nä\n");
    for pattern in ["todo", "TODO", "ToDo"] {
        assert_eq!(
            found(&search(&desk, pattern, &json!({}))).len(),
            3,
            "no smart case: {pattern}"
        );
    }
    let exact = search(&desk, "TODO", &json!({"case_sensitive": true}));
    assert_eq!(found(&exact), ["f:2:1:TODO"]);
    assert_eq!(
        found(&search(&desk, "ä", &json!({}))),
        ["f:4:1:Ä", "f:5:1:ä"]
    );
}

#[test]
fn one_entry_for_each_matching_line() {
    let desk = Desk::reading();
    desk.write("f", "é x x\n\nx\n");
    let response = search(&desk, "x", &json!({"context_lines": 0}));
    assert_eq!(
        found(&response),
        ["f:1:4:x", "f:3:1:x"],
        "the first match; columns count bytes"
    );
    assert_eq!(response["matches"][0]["text"], "é x x");
    let long = format!("{}é{}\n", "a".repeat(1023), "b".repeat(9000));
    desk.write("f", format!("{long}needle\n{long}"));
    let response = search(&desk, "a+é?b*|needle", &json!({"context_lines": 1}));
    let cut = "a".repeat(1023);
    let first = &response["matches"][0];
    assert_eq!(
        (&first["match"], &first["text"]),
        (&json!(cut), &json!(cut)),
        "1023 bytes"
    );
    assert_eq!(first["context_after"], "needle");
    let second = &response["matches"][1];
    assert_eq!(
        (&second["context_before"], &second["context_after"]),
        (&json!(cut), &json!(cut))
    );
}

#[test]
fn context_lines_are_joined() {
    let desk = Desk::reading();
    desk.write("f", "1\n2 x\n3\r\n4 x\n\n6\n7");
    let context = |more: Value| -> Vec<(String, String)> {
        let response = search(&desk, "x", &more);
        let matches = response["matches"].as_array().unwrap();
        let text = |found: &Value, name: &str| found[name].as_str().unwrap().to_owned();
        matches
            .iter()
            .map(|found| (text(found, "context_before"), text(found, "context_after")))
            .collect()
    };
    let pairs = |rows: [(&str, &str); 2]| rows.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
    assert_eq!(
        context(json!({"context_lines": 0})),
        pairs([("", ""), ("", "")])
    );
    assert_eq!(
        context(json!({"context_lines": 1})),
        pairs([("1", "3"), ("3", "")])
    );
    let two = pairs([("1", "3\n4 x"), ("2 x\n3", "\n6")]);
    assert_eq!(context(json!({"context_lines": 2})), two);
    assert_eq!(context(json!({})), two, "the default is 2");
    let ten = pairs([("1", "3\n4 x\n\n6\n7"), ("1\n2 x\n3", "\n6\n7")]);
    assert_eq!(context(json!({"context_lines": 10})), ten);
}

#[test]
fn globs_choose_files() {
    let desk = Desk::reading();
    for path in [
        "a.rs",
        "a.md",
        "src/b.rs",
        "src/deep/c.rs",
        "src/deep/c.md",
        "target/d.rs",
        "[x].rs",
    ] {
        desk.write(path, "x\n");
    }
    #[rustfmt::skip]
    let rows: [(&[&str], &[&str]); 10] = [
        (&["*.md"], &["a.md", "src/deep/c.md"]),
        (&["/*.rs"], &["[x].rs", "a.rs"]),
        (&["src/*.rs"], &["src/b.rs"]),
        (&["src/**"], &["src/b.rs", "src/deep/c.md", "src/deep/c.rs"]),
        (&["**/deep/*"], &["src/deep/c.md", "src/deep/c.rs"]),
        (&["!*.rs"], &["a.md", "src/deep/c.md"]),
        (&["!target", "!*.md"], &["[x].rs", "a.rs", "src/b.rs", "src/deep/c.rs"]),
        (&["*.rs", "!src/**"], &["[x].rs", "a.rs", "target/d.rs"]),
        (&["!*.md", "a.md"], &["a.md"]),
        (&["*.{md,txt}"], &["a.md", "src/deep/c.md"]),
    ];
    for (globs, expected) in rows {
        let response = search(&desk, "x", &json!({ "glob": globs }));
        assert_eq!(files(&response), expected, "{globs:?}");
    }
    // Relative to the path that leads to a file.
    let below = search(
        &desk,
        "x",
        &json!({"glob": ["deep/*.rs"], "paths": ["src"]}),
    );
    assert_eq!(files(&below), ["src/deep/c.rs"]);
    let below = search(&desk, "x", &json!({"glob": ["/*.rs"], "paths": ["src"]}));
    assert_eq!(files(&below), ["src/b.rs"]);
    let absolute = search(
        &desk,
        "x",
        &json!({"glob": ["/src/b.rs"], "paths": ["/workspace"]}),
    );
    assert_eq!(files(&absolute), ["/workspace/src/b.rs"]);
    fs::write(desk.beside("os/o.rs"), "x\n").unwrap();
    let os = search(&desk, "x", &json!({"glob": ["/o.rs"], "paths": ["/os"]}));
    assert_eq!(files(&os), ["/os/o.rs"]);
    for bad in ["[", "a{b", "[z-a]"] {
        desk.invalid(ID, &json!({"pattern": "x", "glob": [bad]}), "glob");
    }
}

/// A glob says which of the files are wanted, not that what is ignored or hidden is wanted after all.
#[test]
fn a_glob_does_not_unhide() {
    let desk = Desk::reading();
    desk.write(".gitignore", "ignored.rs\n")
        .write("ignored.rs", "x\n")
        .write(".hidden.rs", "x\n");
    desk.write("seen.rs", "x\n").write(".git/g.rs", "x\n");
    let response = search(&desk, "x", &json!({"glob": ["*.rs"]}));
    assert_eq!(files(&response), ["seen.rs"]);
}

#[test]
fn ignore_files_and_their_precedence() {
    let desk = Desk::reading();
    // A file outside the mount, and one of the user, have no say.
    fs::write(desk.beside(".gitignore"), "*\n").unwrap();
    desk.folder().put("../home/.config/git/ignore", "*\n");
    desk.folder().put("../home/.gitignore", "*\n");
    for path in [
        "a",
        "b",
        "c",
        "d",
        "e",
        "sub/a",
        "sub/f",
        "sub/g",
        "build/x",
        "sub/build/x",
    ] {
        desk.write(path, "x\n");
    }
    desk.write(".gitignore", "a\nb\n/build/\n/sub/g\n");
    desk.write(".ignore", "!b\nc\n");
    desk.write(".rgignore", "!c\nd\n");
    desk.write("sub/.gitignore", "!a\nf\n");
    desk.write(".git/info/exclude", "e\n");
    let response = search(&desk, "x", &json!({}));
    assert_eq!(files(&response), ["b", "c", "sub/a", "sub/build/x"]);
    let below = search(&desk, "x", &json!({"paths": ["sub"]}));
    assert_eq!(
        files(&below),
        ["sub/a", "sub/build/x"],
        "from the mount root down"
    );
    let all = search(&desk, "x", &json!({"use_ignore": false}));
    let expected = [
        "a",
        "b",
        "build/x",
        "c",
        "d",
        "e",
        "sub/a",
        "sub/build/x",
        "sub/f",
        "sub/g",
    ];
    assert_eq!(files(&all), expected);
    fs::remove_dir_all(desk.path(".git")).unwrap();
    let without = search(&desk, "x", &json!({}));
    assert_eq!(
        files(&without),
        ["b", "c", "e", "sub/a", "sub/build/x"],
        "without `.git` as well"
    );
}

#[test]
fn hidden_files_and_named_files() {
    let desk = Desk::reading();
    for path in [
        ".h",
        ".d/x",
        "v",
        "d/.h",
        ".git/config",
        "d/.git/config",
        "n.txt",
    ] {
        desk.write(path, "x\n");
    }
    desk.write(".gitignore", "n.txt\nx_not_x\n");
    assert_eq!(files(&search(&desk, "^x$", &json!({}))), ["v"]);
    let hidden = search(&desk, "^x$", &json!({"include_hidden": true}));
    assert_eq!(files(&hidden), [".d/x", ".h", "d/.h", "v"], "`.git` never");
    let named = search(
        &desk,
        "^x$",
        &json!({"paths": [".h", "n.txt", "v"], "glob": ["*.rs"]}),
    );
    assert_eq!(
        files(&named),
        [".h", "n.txt", "v"],
        "a named file is searched"
    );
}

#[test]
fn what_is_skipped_is_counted() {
    let desk = Desk::reading();
    desk.write("text", "x\n");
    desk.write("nul", b"x\n\0");
    desk.write("late", [b"x\n".repeat(200_000), vec![0]].concat());
    desk.write(
        "wide",
        "x\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
    );
    let mut large = b"x\n".repeat(8_388_608);
    desk.write("fits", &large);
    large.push(b'x');
    desk.write("large", &large);
    desk.link("text", "link");
    let response = search(
        &desk,
        "^x$",
        &json!({"max_matches": 10_000, "context_lines": 0, "max_bytes": 8_388_608}),
    );
    assert_eq!(
        files(&response),
        ["fits"],
        "the first 10000 are in one file"
    );
    let response = search(&desk, "^x$", &json!({"glob": ["!fits"]}));
    assert_eq!(found(&response), ["text:1:1:x"]);
    assert_eq!(
        response["files_skipped"],
        json!({"binary": 3, "too_large": 1, "unreadable": 0})
    );
    assert_eq!(
        (&response["files_searched"], &response["truncated"]),
        (&json!(1), &json!(false))
    );
}

#[test]
fn order_and_the_first_matches() {
    let desk = Desk::reading();
    for path in ["a/x", "a.b", "a-b", "B", "z/1", "z/10", "z/2"] {
        desk.write(path, "hit\nhit\n");
    }
    let order = ["B", "a/x", "a-b", "a.b", "z/1", "z/10", "z/2"];
    let all: Vec<String> = order
        .iter()
        .flat_map(|file| [1, 2].map(|line| format!("{file}:{line}:1:hit")))
        .collect();
    // Paths in another order, and twice.
    for paths in [json!(["."]), json!(["z", "a", "B", ".", "a/x", "./z/2"])] {
        let whole = search(&desk, "hit", &json!({ "paths": paths }));
        assert_eq!(found(&whole), all);
        assert_eq!(
            (&whole["truncated"], &whole["files_searched"]),
            (&json!(false), &json!(7))
        );
    }
    for count in 1..=all.len() {
        let some = search(&desk, "hit", &json!({ "max_matches": count }));
        assert_eq!(found(&some), all[..count]);
        assert_eq!(some["truncated"], count < all.len(), "{count}");
    }
    for skip in 0..all.len() {
        let some = search(&desk, "hit", &json!({ "max_matches": 3, "skip": skip }));
        let end = all.len().min(skip + 3);
        assert_eq!(found(&some), all[skip..end]);
        let next = (end < all.len()).then(|| json!({ "skip": end }));
        assert_eq!(some.get("next"), next.as_ref());
    }
    fs::write(desk.beside("os/o"), "hit\n").unwrap();
    let both = search(&desk, "hit", &json!({"paths": ["z/2", "/os"]}));
    assert_eq!(
        found(&both),
        ["/os/o:1:1:hit", "z/2:1:1:hit", "z/2:2:1:hit"],
        "by absolute path"
    );
}

#[test]
fn lines_that_are_not_utf_8() {
    let desk = Desk::reading();
    desk.write("f", b"\xff\xfehit \xe9\n");
    let response = search(&desk, "hit .?", &json!({}));
    let first = &response["matches"][0];
    assert_eq!(first["column"], 3, "of the original bytes");
    assert_eq!(first["text"], "\u{fffd}\u{fffd}hit \u{fffd}");
    assert!(first["match"].as_str().unwrap().starts_with("hit "));
}

#[test]
fn paths_that_are_not_there() {
    let desk = Desk::reading();
    desk.write("f", "x\n");
    for path in ["none", "f/none", "/os/none"] {
        let request = json!({"pattern": "x", "paths": [".", path]});
        let code = desk.ask(ID, &request).unwrap_err()["code"].clone();
        assert!(
            code == "not_found" || (path == "f/none" && code == "wrong_type"),
            "{path}: {code}"
        );
    }
    let empty = search(&Desk::reading(), "x", &json!({}));
    let none = json!({"binary": 0, "too_large": 0, "unreadable": 0});
    assert_eq!(
        empty,
        json!({"matches": [], "truncated": false, "files_searched": 0, "files_skipped": none})
    );
}
