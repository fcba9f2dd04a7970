//! Hostile documents, and the same answer to the same document.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::house::{House, error_of, list, string};

const MARKDOWN: &str = include_str!("../fixtures/seed/skill.md");
const YAML: &str = include_str!("../fixtures/seed/skill_schema.yaml");

/// Loads it: an answer or a coded error, in time. The interpreter has 2 s; the rest is the start of the program.
fn survives(house: &House, name: &str, bytes: &[u8]) -> Option<Value> {
    house.folder().put(name, bytes);
    let begin = Instant::now();
    let run = house.folder().run(&["skill", "load", name]);
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
    (run.status != 0).then(|| error_of(&run))
}

#[test]
fn truncated_documents() {
    let house = House::new();
    for at in (1..YAML.len()).step_by(YAML.len() / 8) {
        survives(&house, "a.yaml", &YAML.as_bytes()[..at]);
    }
    for at in (1..MARKDOWN.len()).step_by(MARKDOWN.len() / 6) {
        survives(&house, "a.md", &MARKDOWN.as_bytes()[..at]);
    }
    house.assert_whole_chain();
}

#[test]
fn random_bytes() {
    let house = House::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for name in ["a.md", "a.yaml", "a.json"] {
        for printable in [false, true] {
            let bytes: Vec<u8> = (0..20_000)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let byte = state.to_le_bytes()[3];
                    if printable {
                        b" \n#`-:{}[]\"'$|&<>()abc:12,"[usize::from(byte) % 26]
                    } else {
                        byte
                    }
                })
                .collect();
            survives(&house, name, &bytes);
        }
    }
}

#[test]
fn bombs_and_depths() {
    let house = House::new();
    let mut bomb = "name: a\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let one = format!("*a{}", level - 1);
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [one.as_str(); 9].join(",")
        ));
    }
    bomb.push_str("operations: *a11\n");
    let cases = [
        ("bomb.yaml", bomb),
        ("deep.json", "[".repeat(100_000)),
        (
            "deep.yaml",
            format!("name: a\noperations: {}", "[".repeat(50_000)),
        ),
        ("headings.md", "# a\n".repeat(1 << 18)),
        (
            "fences.md",
            format!(
                "# a\n\n{}",
                "```bash\ncurl https://a.example.org/x\n```\n".repeat(2000)
            ),
        ),
        ("quotes.md", format!("# a\n\n{}", ">".repeat(500_000))),
        ("brackets.md", format!("# a\n\n{}", "[".repeat(500_000))),
        (
            "shell.md",
            format!(
                "# a\n\n## x\n\n```bash\necho {}\n```\n",
                "$(".repeat(10_000)
            ),
        ),
    ];
    for (name, text) in cases {
        let error = survives(&house, name, text.as_bytes());
        if name.starts_with("bomb") || name.starts_with("deep") {
            assert!(error.is_some(), "{name}");
        }
        if let Some(error) = error {
            assert!(!string(&error["code"]).is_empty());
            assert!(
                string(&error["message"]).chars().count() < 400,
                "{name}: {error}"
            );
        }
    }
    house.assert_whole_chain();
}

#[test]
fn the_same_document_has_the_same_digests() {
    let digests = || {
        let house = House::new();
        house.load("skill.yaml", YAML);
        list(&house.ok(&["skill", "show", "moltbook"])["capabilities"])
            .iter()
            .map(|one| {
                (
                    one["manifest"]["op-digest"].clone(),
                    one["manifest"]["policy-digest"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    let first = digests();
    assert_eq!(first.len(), 3);
    assert_eq!(digests(), first);
}
