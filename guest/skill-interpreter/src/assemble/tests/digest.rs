//! K-216: what the digest of an operation covers.

use super::{curl, http, nameless, skill};
use crate::assemble;
use crate::context::Context;
use crate::draft::Declaration;
use crate::model::Operation;

fn sealed(url: &str, declaration: &Declaration, context: &Context) -> Operation {
    let mut operation = http(curl("GET", url), declaration, context).operation;
    assemble::seal(&mut operation);
    operation
}

#[test]
fn k_216_names_and_words_are_not_covered() {
    let plain = sealed("https://a.example/{x}", &nameless(), &skill("s"));
    assert_eq!(plain.digest.len(), "sha256:".len() + 64);
    let mut worded = sealed(
        "https://a.example/{x}",
        &Declaration {
            title: "A".to_owned(),
            description: "B".to_owned(),
            aliases: vec!["c".to_owned()],
            ..nameless()
        },
        &skill("s"),
    );
    worded.id = "named".to_owned();
    worded.line = 99;
    worded.confidence = 0.1;
    worded.examples.push(crate::draft::Example::default());
    assemble::seal(&mut worded);
    assert_eq!(worded.digest, plain.digest);
}

#[test]
fn k_216_everything_else_is_covered() {
    let url = "https://a.example/{x}";
    let plain = sealed(url, &nameless(), &skill("s")).digest;
    let mut digests = vec![plain];
    let mut differs = |operation: Operation| {
        assert!(!digests.contains(&operation.digest), "{operation:?}");
        digests.push(operation.digest);
    };
    differs(sealed("https://a.example/{y}", &nameless(), &skill("s")));
    differs(sealed("https://b.example/{x}", &nameless(), &skill("s")));
    let declaration = |change: fn(&mut Declaration)| {
        let mut declaration = nameless();
        change(&mut declaration);
        declaration
    };
    differs(sealed(url, &declaration(|d| d.tier = Some(2)), &skill("s")));
    differs(sealed(
        url,
        &declaration(|d| d.effects.push("mail".into())),
        &skill("s"),
    ));
    differs(sealed(
        url,
        &declaration(|d| d.data_classifications.push("pii".into())),
        &skill("s"),
    ));
    differs(sealed(
        url,
        &declaration(|d| d.secrets.push("x".into())),
        &skill("s"),
    ));
    let mut context = skill("s");
    context
        .constants
        .insert("UNUSED".to_owned(), "1".to_owned());
    differs(sealed(url, &nameless(), &context));
    let mut context = skill("s");
    context.base_url = Some(url::Url::parse("https://c.example/").unwrap());
    differs(sealed(url, &nameless(), &context));
}

/// The digest is what grants are tied to: it changes only with `mapping-version`.
#[test]
fn k_216_a_frozen_digest() {
    let mut operation = http(
        curl("POST", "https://api.moltbook.com/v1/search?lang=en")
            .header("Authorization", "Bearer $MOLTBOOK_API_KEY")
            .data(r#"{"query": "machine learning", "limit": 10}"#),
        &nameless(),
        &skill("moltbook"),
    )
    .operation;
    assemble::seal(&mut operation);
    assert_eq!(crate::mapping::registry::VERSION, "1");
    assert_eq!(
        operation.digest,
        "sha256:06f86a481244435b6d34bb65977361f8e3670372c7831a295d9cad3e338e1112"
    );
}
