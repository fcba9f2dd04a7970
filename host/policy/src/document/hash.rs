//! `policy_hash`: one digest for what a document says, however it is laid out.
//!
//! Without `host` it is the value that the original computes; so omitted members of the ceiling count as `null`, and
//! `host`, which the original does not know, appears only where a document has it.

use serde_json::{Map, Value as Json};

use crate::text::{Node, Value};
use hydrant_base::{Digest, canonical_digest};

/// The members of the ceiling, and those of its mappings.
const CEILING: [(&str, &[&str]); 8] = [
    ("fs", &["read", "write"]),
    ("net", &[]),
    ("kv", &["read", "write"]),
    ("queue", &["publish", "consume"]),
    ("env", &[]),
    ("exec", &[]),
    ("time", &[]),
    ("random", &[]),
];

/// The hash of a document that was found valid; of anything else a digest that means nothing.
pub(super) fn policy_hash(document: &Node) -> Digest {
    canonical_digest(&preimage(document))
}

/// The digest of a document that is not hashed yet.
pub(super) fn of_nothing() -> Digest {
    Digest::of(b"")
}

fn preimage(document: &Node) -> Json {
    let ceiling = member(document, "capability_ceiling");
    let ceiling: Map<_, _> = CEILING
        .iter()
        .map(|&(name, own)| {
            let found = ceiling.and_then(|ceiling| member(ceiling, name));
            let filled = match found {
                Some(mapping) if !own.is_empty() => Json::Object(with_nulls(mapping, own)),
                found => found.map_or(Json::Null, as_parsed),
            };
            (name.to_owned(), filled)
        })
        .collect();
    let mut whole = with_nulls(document, &["version", "trusted_signers"]);
    whole.insert("capability_ceiling".to_owned(), Json::Object(ceiling));
    if let Some(host) = member(document, "host") {
        whole.insert("host".to_owned(), as_parsed(host));
    }
    Json::Object(whole)
}

/// These members of a mapping, `null` for those it omits.
fn with_nulls(mapping: &Node, names: &[&str]) -> Map<String, Json> {
    let value = |name| member(mapping, name).map_or(Json::Null, as_parsed);
    let members = names.iter().map(|&name| (name.to_owned(), value(name)));
    members.collect()
}

/// The value of a member that is there and not `null`.
fn member<'a>(mapping: &'a Node, name: &str) -> Option<&'a Node> {
    mapping.member(name).map(|member| &member.value)
}

/// The value as JSON. Recursion is bounded: a tree is at most 32 deep.
pub(super) fn as_parsed(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Boolean(value) => Json::Bool(*value),
        Value::Integer(number) => Json::from(*number),
        // No member of a valid document is such a number.
        Value::Number(text) | Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(as_parsed).collect(),
        Value::Map(members) => Json::Object(
            members
                .iter()
                .map(|member| (member.name.clone(), as_parsed(&member.value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use hydrant_base::Digest;

    fn hash(text: &str) -> String {
        Document::parse("policy.yaml", text.as_bytes())
            .unwrap()
            .hash
            .to_string()
    }

    const EXAMPLE: &str = r#"{"version":1,"trusted_signers":["example.a"],"capability_ceiling":{"fs":{"read":["/workspace"]},"exec":true}}"#;

    #[test]
    fn the_worked_value() {
        let preimage = r#"{"capability_ceiling":{"env":null,"exec":true,"fs":{"read":["/workspace"],"write":null},"kv":null,"net":null,"queue":null,"random":null,"time":null},"trusted_signers":["example.a"],"version":1}"#;
        let expected = "sha256:bbb19d00b13e9b607ac57f41c7a62ca0958c10de0820c0ab5db856edb6ca3066";
        assert_eq!(Digest::of(preimage.as_bytes()).as_str(), expected);
        assert_eq!(hash(EXAMPLE), expected);
    }

    #[test]
    fn layout_syntax_order_and_null_do_not_count() {
        let expected = hash(EXAMPLE);
        for same in [
            "version: 1\ntrusted_signers: [example.a]\ncapability_ceiling: {exec: true, fs: {read: [/workspace]}}\n",
            "# a policy\ncapability_ceiling:\n  exec: true\n  net: ~\n  kv: null\n  fs:\n    write:\n    read:\n      - '/workspace'\ntrusted_signers: [\"example.a\"]\nversion: 0x1\n",
            "{\"version\":1, \"trusted_signers\":[\"example\\u002ea\"], \"capability_ceiling\":{\"exec\":true,\"fs\":{\"read\":[\"\\/workspace\"]}}}",
        ] {
            assert_eq!(hash(same), expected, "{same}");
        }
    }

    #[test]
    fn everything_a_document_says_counts() {
        let mut seen = std::collections::HashSet::from([hash(EXAMPLE)]);
        for (from, to) in [
            ("example.a", "example.b"),
            ("[\"example.a\"]", "[\"example.a\",\"b\"]"),
            ("[\"example.a\"]", "[\"b\",\"example.a\"]"),
            ("/workspace", "/workspace/"),
            ("true", "false"),
            ("\"exec\":true", "\"exec\":true,\"net\":[]"),
            ("\"exec\":true", "\"exec\":true,\"time\":false"),
            ("\"exec\":true", "\"exec\":true,\"random\":false"),
            ("\"exec\":true", "\"exec\":true,\"env\":[]"),
            ("\"exec\":true", "\"exec\":true,\"kv\":{}"),
            ("\"exec\":true", "\"exec\":true,\"kv\":{\"read\":[]}"),
            ("\"exec\":true", "\"exec\":true,\"queue\":{}"),
            ("\"read\"", "\"write\""),
            ("\"exec\":true}", "\"exec\":true},\"host\":{}"),
            ("\"exec\":true}", "\"exec\":true},\"host\":{\"mounts\":[]}"),
            ("\"exec\":true}", "\"exec\":true},\"host\":{\"limits\":{}}"),
            (
                "\"exec\":true}",
                "\"exec\":true},\"host\":{\"limits\":{\"fuel\":20000000000}}",
            ),
        ] {
            let changed = EXAMPLE.replacen(from, to, 1);
            assert_ne!(changed, EXAMPLE, "{from}");
            assert!(seen.insert(hash(&changed)), "{changed}");
        }
    }

    /// Computed with another implementation of JCS over the preimage that is written out here.
    #[test]
    fn host_counts_as_parsed_without_defaults_and_nulls() {
        let text = "version: 1\ntrusted_signers: [b, a]\ncapability_ceiling:\n  fs: {read: [/workspace, /os], write: [/workspace]}\n  \
                    net: [\"https://docs.example.org/\"]\n  kv: {read: [\"*\"]}\n  queue: {publish: [é]}\n  env: [HOME]\n  exec: true\n  time: true\n  random: false\n\
                    host:\n  mounts:\n    - {at: /workspace, dir: \".\", mode: rw}\n  process:\n    \
                    - {program: git, args: [[status, \"...\"], []], cwd: [/workspace], env: {LANG: C, CI: \"1\"}}\n  limits: {wall_ms: 0xEA60}\n  tools: describe\n";
        let preimage = r#"{"capability_ceiling":{"env":["HOME"],"exec":true,"fs":{"read":["/workspace","/os"],"write":["/workspace"]},"kv":{"read":["*"],"write":null},"net":["https://docs.example.org/"],"queue":{"consume":null,"publish":["é"]},"random":false,"time":true},"host":{"limits":{"wall_ms":60000},"mounts":[{"at":"/workspace","dir":".","mode":"rw"}],"process":[{"args":[["status","..."],[]],"cwd":["/workspace"],"env":{"CI":"1","LANG":"C"},"program":"git"}],"tools":"describe"},"trusted_signers":["b","a"],"version":1}"#;
        assert_eq!(hash(text), Digest::of(preimage.as_bytes()).to_string());
        assert_eq!(
            hash(text),
            "sha256:3727ee1fcfa4ba35df45c87606d4be59dd8c0e8c7b54abfebae3da563e6f1ae4"
        );
    }
}
