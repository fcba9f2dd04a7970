//! What holds for every document.

#![allow(clippy::string_slice, reason = "a wrong range fails the test")]

use kit::{front_matter, yaml};
use proptest::prelude::*;

use super::*;

/// Text that is YAML often enough.
fn yaml_like() -> impl Strategy<Value = String> {
    "(( {0,2}(- |\\? |: )?(skills|tools|name|description|x|'q'|\"r\")? ?:? ?(&a |\\*a|!!str |\\[|\\]|\\{|\\}|,|[|>]|#|a\\.md|\\./b|os://c|\\.\\./up|~|\"é\"|7)?( ?# c)?\r?\n)|(skills:( \\[a\\.md, b\\.md\\]|\n- a\\.md\n- b\\.md)\n)){0,8}"
}

fn any_document() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<Vec<u8>>(),
        any::<String>().prop_map(String::into_bytes),
        (yaml_like(), any::<String>())
            .prop_map(|(yaml, content)| format!("---\n{yaml}---\n{content}").into_bytes()),
        (yaml_like(), any::<Vec<u8>>()).prop_map(|(yaml, content)| [
            format!("---\n{yaml}\n---\n").into_bytes(),
            content
        ]
        .concat()),
    ]
}

fn any_request() -> impl Strategy<Value = Request> {
    let format = prop_oneof![Just(Format::Json), Just(Format::Link), Just(Format::V2)];
    (format, 1..=4_u8, any::<bool>(), any::<bool>()).prop_map(
        |(format, depth, checksums, lenient)| Request {
            format,
            depth,
            checksums,
            lenient,
            ..Request::new("a.md")
        },
    )
}

/// The values of the keys that stay, as the parser reads them.
fn other_keys(document: &str) -> Option<Vec<String>> {
    let range = front_matter::split(document).front_matter?;
    let yaml = yaml::read_front_matter(&document[range], &["skills", "tools"]).ok()?;
    let keys = ["name", "description", "x", "q", "r"];
    Some(
        keys.iter()
            .map(|key| {
                format!(
                    "{:?}",
                    yaml.root().and_then(|root| root.get(key)).map(outline)
                )
            })
            .collect(),
    )
}

/// A scalar's text, and which items of a list are scalars.
fn outline(value: yaml::Node<'_>) -> (Option<&str>, Vec<bool>) {
    let items = value.items().map(|item| item.scalar().is_some());
    (value.scalar(), items.collect())
}

proptest! {
    #[test]
    fn any_documents_are_answered_the_same_way_twice(
        a in any_document(), b in any_document(), c in any_document(), request in any_request()
    ) {
        let mut host = FakeHost::new(&[("a.md", a), ("b.md", b), ("c", c)]);
        let first = hydrate(&mut host, &request);
        let second = hydrate(&mut host, &request);
        prop_assert_eq!(&first, &second);
        if let (Ok(answer), Format::Json) = (&first, request.format) {
            let payload: serde_json::Value = serde_json::from_slice(answer).unwrap();
            prop_assert!(payload["content"].is_string());
            prop_assert!(payload["metadata"]["uri"].is_string());
            // What a compact writer of the same escapes would write.
            prop_assert_eq!(serde_json::to_vec(&payload).unwrap().len(), answer.len());
        }
    }

    #[test]
    fn the_result_parses_and_its_other_keys_are_unchanged(
        front_matter in yaml_like(), content in "[a-z\n]{0,9}", v2: bool, name in any::<String>()
    ) {
        let file = format!("---\n{front_matter}---\n{content}");
        let skill = format!("---\nname: {}\n---\n", serde_json::json!(name));
        let mut host = FakeHost::new(&[("a.md", file.clone()), ("b.md", skill)]);
        let format = if v2 { Format::V2 } else { Format::Link };
        if let Ok(linked) = host.document("a.md", format) {
            prop_assert!(linked.ends_with(&content));
            if front_matter::split(&file).front_matter.is_some() {
                prop_assert_eq!(other_keys(&linked), other_keys(&file), "{}\n->\n{}", file, linked);
                prop_assert!(other_keys(&linked).is_some(), "{}\n->\n{}", file, linked);
            }
        }
    }

    #[test]
    fn permuted_and_repeated_declarations_give_the_same_payload(
        items in proptest::collection::vec("(a\\.md|\\./b\\.md|os://c|\\.\\./up|ftp://x|\\[y\\]|~|'ERROR: PARSE_ERROR'|d%20e)", 0..12),
        shuffled in any::<proptest::sample::Index>(), depth in 1..=3_u8
    ) {
        let mut other = items.clone();
        if !other.is_empty() {
            let at = shuffled.index(other.len());
            other.rotate_left(at);
            other.reverse();
            other.push(items[at].clone());
        }
        let payload = |items: &[String]| {
            let file = format!("---\nskills: [{0}]\ntools: [{0}]\n---\nHi", items.join(", "));
            let mut host = FakeHost::new(&[("x.md", file), ("a.md", "---\nskills: [b.md]\n---\n".to_owned()), ("b.md", "---\ntools: [c]\n---\n".to_owned())]);
            host.hydrate(&Request { depth, ..Request::new("x.md") })
        };
        prop_assert_eq!(payload(&items), payload(&other));
    }

    #[test]
    fn cycles_are_the_documents_that_lead_to_each_other(
        edges in proptest::collection::vec(proptest::collection::vec(0..7_usize, 0..3), 7)
    ) {
        let uri = |document: &usize| format!("os://{document}.md");
        let mut host = FakeHost::default();
        for (document, declared) in edges.iter().enumerate() {
            let declared = declared.iter().map(uri).collect::<Vec<_>>().join(", ");
            host.file(&format!("{document}.md"), format!("---\nskills: [{declared}]\n---\n"));
        }
        let mut leads = [[false; 7]; 7];
        for (from, declared) in edges.iter().enumerate() {
            for to in declared {
                leads[from][*to] = true;
            }
        }
        for (by, from, to) in (0..343).map(|n| (n / 49, n / 7 % 7, n % 7)) {
            leads[from][to] |= leads[from][by] && leads[by][to];
        }
        let is_read = |document: &usize| *document == 0 || leads[0][*document];
        let mut groups: Vec<Vec<String>> = (0..7)
            .filter(|one| is_read(one) && leads[*one][*one])
            .map(|one| (0..7).filter(|other| leads[one][*other] && leads[*other][one]).map(|other| uri(&other)).collect())
            .collect();
        groups.sort();
        groups.dedup();
        let payload = host.hydrate(&Request { depth: 16, ..Request::new("os://0.md") });
        let payload: serde_json::Value = serde_json::from_str(&payload).unwrap();
        prop_assert_eq!(&payload["metadata"]["cycles"], &serde_json::json!(groups));
    }

    #[test]
    fn any_request_is_answered_or_refused(json in any::<Vec<u8>>()) {
        drop(crate::run(&mut FakeHost::default(), &json));
    }
}
