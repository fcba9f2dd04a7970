//! What the digest of an operation covers.

use super::{curl, http, nameless, skill};
use crate::context::Context;
use crate::draft::Declaration;
use crate::model::JudgedOperation;

fn sealed(url: &str, declaration: &Declaration, context: &Context) -> JudgedOperation {
    http(curl("GET", url), declaration, context).operation
}

#[test]
fn names_and_words_are_not_covered() {
    let plain = sealed("https://a.example/{x}", &nameless(), &skill("s"));
    assert_eq!(plain.digest.len(), "sha256:".len() + 64);
    let worded = sealed(
        "https://a.example/{x}",
        &Declaration {
            title: "A".to_owned(),
            description: "B".to_owned(),
            aliases: vec!["c".to_owned()],
            ..nameless()
        },
        &skill("s"),
    );
    assert_eq!(worded.digest, plain.digest);
}

#[test]
fn everything_else_is_covered() {
    let url = "https://a.example/{x}";
    let plain = sealed(url, &nameless(), &skill("s")).digest;
    let mut digests = vec![plain];
    let mut differs = |operation: JudgedOperation| {
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
fn a_frozen_digest() {
    let operation = http(
        curl("POST", "https://api.moltbook.com/v1/search?lang=en")
            .header("Authorization", "Bearer $MOLTBOOK_API_KEY")
            .data(r#"{"query": "machine learning", "limit": 10}"#),
        &nameless(),
        &skill("moltbook"),
    )
    .operation;
    assert_eq!(crate::mapping::registry::VERSION, "2");
    assert_eq!(
        operation.digest,
        "sha256:3416ff67b99bb989a39ff8e1ebe8f3d3a91d1b8db15e07218facc4f8f2a8abd2"
    );
}
