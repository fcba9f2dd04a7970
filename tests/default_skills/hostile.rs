//! Input made to hurt: whatever comes, there is an answer or a clear error, soon, and nothing outside is touched.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::extract_text;
use crate::fs_write_patch;
use crate::pdf::Pdf;
use crate::seeded::Seeded;

/// An answer or one of the skills' errors within this time; `Desk::ask` refuses every other end, such as a trap.
fn soon(desk: &Desk, skill: &str, request: &Value, what: &str) -> Result<Value, Value> {
    let started = Instant::now();
    let answer = desk.ask(skill, request);
    let took = started.elapsed();
    assert!(took < Duration::from_secs(30), "{what} took {took:?}");
    if let Err(error) = &answer {
        assert_ne!(error["code"], "internal", "{what}: {error}");
    }
    answer
}

#[test]
fn explosive_patterns() {
    let desk = Desk::reading();
    desk.write("a", format!("{}!\n", "a".repeat(100_000)));
    desk.write("lines", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n".repeat(20_000));
    for pattern in [
        "(a+)+$",
        "(a|a)*$",
        "(a*)*b",
        "(.*a){12}",
        "a{0,500}a{500}",
        "((a{1,30}){1,30})b",
        r"(\w+\s?)*!x",
        "(?:a?){200}a{200}",
        r"[^\x00-\x{10FFFF}]",
        "(x+x+)+y",
        "(|a)+b",
        r"\b{start}a",
        "a{1000}{1000}",
    ] {
        let request = json!({"pattern": pattern, "max_matches": 3});
        drop(soon(&desk, "search.ripgrep", &request, pattern));
    }
    let nested = format!("{}a{}", "(".repeat(2_000), ")".repeat(2_000));
    desk.invalid("search.ripgrep", &json!({ "pattern": nested }), "pattern");
}

#[test]
fn hostile_globs() {
    let desk = Desk::reading();
    desk.write(&format!("{}/x", "a".repeat(200)), "x\n")
        .write("b", "x\n");
    for glob in [
        "*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "{a,{b,{c,{d,e}}}}",
        "**/**/**/**/**/**/x",
        "[!]a-]*",
        "\\",
        "a\\",
        "!",
        "!!b",
        "//",
        "{,}",
    ] {
        let request = json!({"pattern": "x", "glob": [glob]});
        drop(soon(&desk, "search.ripgrep", &request, glob));
    }
    let braces = json!({"pattern": "x", "glob": ["{a,b}".repeat(800)]});
    drop(soon(&desk, "search.ripgrep", &braces, "braces"));
    let many = json!({"pattern": "x", "glob": vec!["**/*{a,b,c}*"; 64]});
    drop(soon(&desk, "search.ripgrep", &many, "many globs"));
}

#[test]
fn hostile_ignore_files() {
    let desk = Desk::reading();
    desk.write(
        ".gitignore",
        b"\xff\xfe[\n!\n\\\n{a\n**\\\n[z-a]\n/\n\0\nb\n",
    );
    desk.write("a", "x\n").write("b", "x\n");
    let glob = "*a*a*a*a*a*a*a*a*c\n";
    desk.write(".ignore", glob.repeat(20_000));
    let many = soon(&desk, "search.ripgrep", &json!({"pattern": "x"}), "many");
    assert_eq!(many.unwrap_err()["code"], "too_large");
    desk.write(".ignore", glob.repeat(400));
    let answer = soon(
        &desk,
        "search.ripgrep",
        &json!({"pattern": "x"}),
        "ignore files",
    )
    .unwrap();
    let files: Vec<&Value> = answer["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["file"])
        .collect();
    assert_eq!(files, ["a"], "what can be read of an ignore file counts");
    // An ignore file that is a link out of the mount is not read.
    fs::write(desk.beside("rules"), "a\n").unwrap();
    fs::remove_file(desk.path(".ignore")).unwrap();
    desk.link("../rules", ".ignore");
    let answer = desk.ok("search.ripgrep", &json!({"pattern": "x"}));
    assert_eq!(answer["matches"].as_array().unwrap().len(), 1);
}

#[test]
fn deep_and_wide_directories() {
    let desk = Desk::reading();
    fs::create_dir_all(desk.path(&"d/".repeat(300))).unwrap();
    desk.write(&format!("{}f", "d/".repeat(300)), "x\n");
    let tree = soon(&desk, "fs.read_tree", &json!({"max_depth": 64}), "deep").unwrap();
    assert_eq!(
        (
            tree["entries"].as_array().unwrap().len(),
            &tree["truncated"]
        ),
        (64, &json!(true))
    );
    let found = soon(&desk, "search.ripgrep", &json!({"pattern": "x"}), "deep").unwrap();
    let matches = found["matches"].as_array().unwrap().len();
    assert!(
        matches == 1 || found["truncated"] == true,
        "found, or said to be left out: {found}"
    );
}

#[test]
fn recursive_schemas() {
    let desk = Desk::bare();
    let nested =
        |levels: usize, inner: Value| (0..levels).fold(inner, |schema, _| json!({ "not": schema }));
    let lists = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let mut fan = json!({"type": "string"});
    for _ in 0..20 {
        fan = json!({"anyOf": [fan.clone(), {"$ref": "#"}]});
        if fan.to_string().len() > 20_000 {
            break;
        }
    }
    // Each level asks for the next one twice: 2^30 steps, unless somebody counts.
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d30".into(), json!({"type": "string"}));
    #[rustfmt::skip]
    let rows = [
        ("itself", json!({"$ref": "#"}), "1".to_owned()),
        ("a circle", json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}), "1".into()),
        ("itself in allOf", json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}), "1".into()),
        ("itself by anchor", json!({"$anchor": "x", "not": {"$ref": "#x"}}), "1".into()),
        ("dynamic", json!({"$dynamicAnchor": "x", "$dynamicRef": "#x"}), "1".into()),
        ("deep instance", json!({"items": {"$ref": "#"}}), lists(128)),
        ("deep schema", nested(100, json!(true)), "1".into()),
        ("fan", fan, "1".into()),
        ("doubling", json!({"$defs": definitions, "$ref": "#/$defs/d0"}), "1".into()),
        ("unevaluated", json!({"items": {"$ref": "#"}, "anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}], "unevaluatedItems": false}), lists(20)),
        ("unique", json!({"uniqueItems": true}), format!("[{}]", (0..40_000).map(|n| n.to_string()).collect::<Vec<_>>().join(","))),
        ("contains", json!({"contains": {"type": "string"}, "minContains": 4_000_000_000_u64}), format!("[{}1]", "1,".repeat(100_000))),
        ("multiple", json!({"multipleOf": 1e-300}), "1e300".into()),
        ("long", json!({"minLength": 1e300, "maxLength": 1}), "\"x\"".into()),
    ];
    for (what, schema, instance) in rows {
        let started = Instant::now();
        let run = desk.send(
            "json.validate",
            json!({"json": instance, "schema": schema})
                .to_string()
                .as_bytes(),
        );
        assert!(started.elapsed() < Duration::from_secs(100), "{what}");
        // The fuel of the call ends what no rule ends.
        assert!(run.status == 0 || run.status == 5, "{what}: {run:?}");
        let clear = [
            "invalid_request",
            "too_large",
            "unsupported",
            "fuel_exhausted",
            "memory_limit",
            // The stack ended.
            "trap",
        ];
        let told = run.status == 0 || clear.iter().any(|code| run.stderr.contains(code));
        assert!(told, "{what}: {run:?}");
    }
}

/// A text, or the end of the fuel or memory that the call has.
fn soon_extracted(kind: &str, what: &str, source: &str) {
    let request = extract_text::request(kind, source.as_bytes());
    let started = Instant::now();
    let run = Desk::bare().send(extract_text::ID, request.to_string().as_bytes());
    assert!(started.elapsed() < Duration::from_secs(100), "{what}");
    let ended = ["fuel_exhausted", "memory_limit"];
    let told = run.status == 0 || ended.iter().any(|code| run.stderr.contains(code));
    assert!(told, "{what}: {run:?}");
}

#[test]
fn nested_and_broken_html() {
    let rows = [
        ("deep", "<div>".repeat(200_000)),
        ("deep and inline", "<b><i>".repeat(100_000)),
        ("deep lists", "<ul><li>".repeat(50_000)),
        ("deep tables", "<table><tr><td>".repeat(20_000)),
        ("formatting", "<a><b><p>".repeat(20_000)),
        ("attributes", format!("<p {}>x", "a=b ".repeat(200_000))),
        (
            "one attribute",
            format!("<p a='{}'>x", "b".repeat(2_000_000)),
        ),
        ("unclosed", "<".repeat(500_000)),
        ("comments", "<!--".repeat(200_000)),
        ("entities", "&amp".repeat(300_000)),
        (
            "cells",
            format!("<table><tr>{}</table>", "<td>x".repeat(100_000)),
        ),
        ("nul", "a\0b<p\0>c".repeat(1_000)),
        ("scripts", "<script><!--<script>".repeat(50_000)),
        ("headings", "<h1>".repeat(50_000)),
    ];
    for (what, source) in rows {
        soon_extracted("text/html", what, &source);
    }
}

#[test]
fn nested_and_broken_markdown() {
    let rows = [
        ("quotes", format!("{}x", "> ".repeat(50_000))),
        (
            "lists",
            (0..2_000)
                .map(|n| format!("{}- x\n", " ".repeat(n * 2)))
                .collect(),
        ),
        ("brackets", "[".repeat(200_000)),
        ("links", "[a](".repeat(100_000)),
        ("images", "![".repeat(100_000)),
        ("emphasis", "*a _b ".repeat(100_000)),
        ("stars", "*".repeat(200_000)),
        (
            "ticks",
            (1..1_200).map(|n| format!("{} ", "`".repeat(n))).collect(),
        ),
        (
            "references",
            (0..20_000)
                .map(|n| format!("[r{n}]: x\n[r{n}]\n\n"))
                .collect(),
        ),
        (
            "table",
            format!(
                "|{}\n|{}\n{}",
                "a|".repeat(2_000),
                "-|".repeat(2_000),
                "|x\n".repeat(2_000)
            ),
        ),
        ("front matter", format!("---\n{}\n", "a: [".repeat(50_000))),
        ("html", "<a <b ".repeat(100_000)),
    ];
    for (what, source) in rows {
        soon_extracted("text/markdown", what, &source);
    }
}

#[test]
fn hostile_pdf() {
    let desk = Desk::bare();
    let good = Pdf::of(&["page"]).bytes();
    let swapped = |from: &str, to: &str| {
        let at = good
            .windows(from.len())
            .position(|window| window == from.as_bytes())
            .unwrap();
        [&good[..at], to.as_bytes(), &good[at + from.len()..]].concat()
    };
    let arrays = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dictionaries = format!("{}1{}", "<</A ".repeat(50_000), ">>".repeat(50_000));
    let with = |object: &str| {
        let mut pdf = Pdf::of(&["page"]);
        pdf.add(object);
        pdf.bytes()
    };
    let mut circle = Pdf::of(&["page"]);
    circle.catalog.push_str(" /Outlines 7 0 R");
    circle.add("<< /First 8 0 R /Last 8 0 R >>");
    circle.add("<< /Title (x) /Next 8 0 R /First 8 0 R /Parent 7 0 R /Dest [5 0 R /Fit] >>");
    let mut content = Pdf::new();
    content.page_with(&b"q ".repeat(500_000), 3);
    content.page_with(&b"(".repeat(200_000), 3);
    content.page_with(&b"[".repeat(200_000), 3);
    content.page_with(&b"BT 1 0 0 1 0 0 Tm /F1 1e308 Tf (x) Tj ".repeat(5_000), 3);
    let rows = [
        (
            "kids in a circle",
            swapped("/Kids [5 0 R]", "/Kids [2 0 R]"),
        ),
        (
            "kids twice",
            swapped("/Kids [5 0 R]", "/Kids [5 0 R 5 0 R]"),
        ),
        ("count", swapped("/Count 1", "/Count 2147483647")),
        ("length", swapped("/Length ", "/Length 99999999999")),
        (
            "length by reference",
            swapped("/Length 35", "/Length 4 0 R"),
        ),
        ("arrays", with(&arrays)),
        ("dictionaries", with(&dictionaries)),
        ("string", with(&"(".repeat(100_000))),
        ("xref", swapped("startxref\n", "startxref\n9")),
        ("xref in a circle", swapped("/Size ", "/Prev 9 /Size ")),
        ("outline in a circle", circle.bytes()),
        ("content", content.bytes()),
        (
            "numbers",
            swapped(
                "/MediaBox [0 0 612 792]",
                "/MediaBox [9999999999999999999999 -1e999 . -]",
            ),
        ),
    ];
    for (what, bytes) in rows {
        let request = extract_text::request("application/pdf", &bytes);
        let answer = soon(&desk, extract_text::ID, &request, what);
        if let Err(error) = answer {
            assert!(
                error["code"] == "malformed" || error["code"] == "too_large",
                "{what}: {error}"
            );
        }
    }
    // Any three bytes changed.
    let mut seeded = Seeded::new(4);
    for _ in 0..60 {
        let mut file = good.clone();
        for _ in 0..3 {
            let at = seeded.below(file.len());
            file[at] = u8::try_from(seeded.below(256)).unwrap();
        }
        let request = extract_text::request("application/pdf", &file);
        drop(soon(&desk, extract_text::ID, &request, "changed bytes"));
    }
}

#[test]
fn arbitrary_diffs() {
    let desk = Desk::writing();
    desk.write("f", "1\n2\n3\n");
    let words = [
        "--- a/f\n",
        "+++ b/f\n",
        "@@ -1 +1 @@\n",
        "@@ -1,3 +1,3 @@\n",
        " 1\n",
        "-1\n",
        "+1\n",
        " 2\n",
        " 3\n",
        "diff --git a/f b/f\n",
        "new file mode 100644\n",
        "deleted file mode 100644\n",
        "rename from f\n",
        "rename to g\n",
        "\\ No newline at end of file\n",
        "--- /dev/null\n",
        "+++ /dev/null\n",
        "\n",
        "x",
        "index 1..2\n",
        "GIT binary patch\n",
        "old mode 100644\n",
        "new mode 100755\n",
        "\r",
    ];
    let mut seeded = Seeded::new(5);
    for _ in 0..120 {
        let count = 1 + seeded.below(14);
        let diff: String = (0..count).map(|_| *seeded.pick(&words)).collect();
        let request = fs_write_patch::request(&diff, &json!({"dry_run": true}));
        if let Err(error) = soon(&desk, fs_write_patch::ID, &request, &diff) {
            assert!(
                error["code"] == "malformed" || error["code"] == "denied",
                "{diff}: {error}"
            );
        }
        assert_eq!(desk.read("f"), b"1\n2\n3\n");
    }
}

#[test]
fn patches_that_match_everywhere_and_nowhere() {
    let desk = Desk::writing();
    desk.write("f", "a\n".repeat(500_000));
    let context = " a\n".repeat(20_000);
    let hunk = format!("--- a/f\n+++ b/f\n@@ -9,20001 +9,20001 @@\n{context}-b\n+c\n");
    for fuzz in [0, 2] {
        let request = fs_write_patch::request(&hunk, &json!({ "fuzz": fuzz }));
        let answer = soon(&desk, fs_write_patch::ID, &request, "nowhere").unwrap();
        assert_eq!(answer["rejects"][0]["reason"], "context_mismatch");
    }
    let hunks: String = (0..5_000)
        .map(|n| format!("@@ -{0} +{0} @@\n-b\n+c\n", n * 3 + 1))
        .collect();
    let request = fs_write_patch::request(&format!("--- a/f\n+++ b/f\n{hunks}"), &json!({}));
    let answer = soon(&desk, fs_write_patch::ID, &request, "many hunks").unwrap();
    assert_eq!(answer["applied"], false);
    let numbers = "--- a/f\n+++ b/f\n@@ -4294967295,4294967295 +4294967295,4294967295 @@\n-a\n+b\n";
    desk.error(
        fs_write_patch::ID,
        &fs_write_patch::request(numbers, &json!({})),
        "malformed",
    );
}

/// While patches are written, another thread swaps the directory for a link that leads out of the mount.
#[test]
fn a_directory_becomes_a_link_meanwhile() {
    let desk = Desk::writing();
    fs::write(desk.beside("os/f"), "1\n").unwrap();
    desk.write("d/f", "1\n");
    let stop = AtomicBool::new(false);
    let (mut applied, mut denied) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                fs::rename(desk.path("d"), desk.path("away")).unwrap();
                desk.link("../os", "d");
                std::thread::sleep(Duration::from_micros(300));
                fs::remove_file(desk.path("d")).unwrap();
                fs::rename(desk.path("away"), desk.path("d")).unwrap();
                std::thread::sleep(Duration::from_micros(300));
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut value = 1;
            for round in 0..150 {
                let (old, new) = (value.to_string(), (value + 1).to_string());
                let mut diff = fs_write_patch::section("d/f", &old, &new);
                diff.push_str(&format!(
                    "--- /dev/null\n+++ b/d/new{round}\n@@ -0,0 +1 @@\n+x\n"
                ));
                match desk.ask(
                    fs_write_patch::ID,
                    &fs_write_patch::request(&diff, &json!({})),
                ) {
                    Ok(answer) if answer["applied"] == true => {
                        applied += 1;
                        value += 1;
                    }
                    // Between the two there is no directory.
                    Ok(answer) => {
                        assert_eq!(answer["rejects"][0]["reason"], "target_missing", "{answer}");
                    }
                    Err(error) => {
                        denied += 1;
                        let known = ["denied", "not_found", "conflict", "io"]
                            .iter()
                            .any(|code| error["code"] == *code);
                        assert!(known, "{error}");
                    }
                }
                assert_eq!(
                    crate::program::listing(&desk.beside("os")),
                    ["f"],
                    "written through the link"
                );
                assert_eq!(
                    fs::read(desk.beside("os/f")).unwrap(),
                    b"1\n",
                    "written through the link"
                );
            }
        }));
        stop.store(true, SeqCst);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    assert!(
        applied > 0 && denied > 0,
        "the race had one outcome only: {applied} {denied}"
    );
}

/// Reading through the same race never shows what lies outside.
#[test]
fn reading_while_a_file_becomes_a_link() {
    let desk = Desk::reading();
    fs::write(desk.beside("secret"), "secret\n").unwrap();
    desk.write("a", "public\n");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                fs::write(desk.path("b"), "public\n").unwrap();
                fs::rename(desk.path("b"), desk.path("a")).unwrap();
                desk.link("../secret", "b");
                fs::rename(desk.path("b"), desk.path("a")).unwrap();
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..60 {
                for (skill, request) in [
                    ("fs.read_text", json!({"path": "a"})),
                    ("search.ripgrep", json!({"pattern": "^.*$", "paths": ["."]})),
                ] {
                    if let Ok(answer) = desk.ask(skill, &request) {
                        assert!(!answer.to_string().contains("secret\\n"), "{answer}");
                        assert!(!answer.to_string().contains("\"secret"), "{answer}");
                    }
                }
            }
        }));
        stop.store(true, SeqCst);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
}

/// The kernel refuses to read the memory of a process from its beginning.
#[cfg(target_os = "linux")]
#[test]
fn a_device_that_fails_is_io() {
    let mut command = std::process::Command::new("cat");
    let memory = format!("/proc/{}/mem", std::process::id());
    let seen = command.arg(&memory).output().unwrap();
    let desk = Desk::bare();
    let directory = format!("/proc/{}", std::process::id());
    let host = json!({"mounts": [{"at": "/workspace", "dir": directory, "mode": "ro"}]});
    desk.policy(&json!({"fs": {"read": ["/workspace"]}}), &host);
    // Where another process may not even open it, the answer is another one.
    let refused = String::from_utf8_lossy(&seen.stderr).contains("ermission");
    let code = if refused { "denied" } else { "io" };
    desk.error("fs.read_text", &json!({"path": "mem"}), code);
}
