use crate::assemble::Assembled;
use crate::document::markdown::naming::{Unnamed, name};
use crate::draft::{Identity, Importance, TextIdentity};

fn operation(line: u32) -> Assembled {
    let draft = crate::draft::Draft {
        line,
        comment: None,
        text: String::new(),
        plan: Err(crate::failure::Failure::new(
            crate::failure::Code::ShellSyntax,
            "x",
        )),
    };
    let declaration = crate::draft::Declaration::new(Identity::Nameless);
    let mut diagnostics = crate::diagnostic::Diagnostics::default();
    crate::assemble::operation(
        &draft,
        &declaration,
        &crate::context::Context::default(),
        &mut diagnostics,
    )
}

/// The ids of operations without an endpoint.
fn ids(identities: &[Identity]) -> Vec<String> {
    let unnamed = identities.iter().zip(1..).map(|(identity, line)| Unnamed {
        operation: operation(line),
        identity: identity.clone(),
    });
    name(unnamed.collect())
        .into_iter()
        .map(|operation| operation.id)
        .collect()
}

fn under(heading: &str) -> TextIdentity {
    TextIdentity {
        heading: (!heading.is_empty()).then(|| heading.to_owned()),
        ..TextIdentity::default()
    }
}

fn commented(heading: &str, comment: &str) -> TextIdentity {
    TextIdentity {
        comment: Some(comment.to_owned()),
        ..under(heading)
    }
}

fn several(identity: TextIdentity) -> Identity {
    Identity::Text(TextIdentity {
        one_of_several: true,
        ..identity
    })
}

fn annotated(id: &str, importance: Importance) -> Identity {
    Identity::Text(TextIdentity {
        annotated: Some(id.to_owned()),
        importance,
        ..under("Heading")
    })
}

#[test]
fn the_heading_names_an_operation_and_numbers_tell_the_others() {
    let one = || Identity::Text(under("Search Notebooks"));
    assert_eq!(
        ids(&[one(), one(), one()]),
        [
            "search-notebooks",
            "search-notebooks-2",
            "search-notebooks-3"
        ]
    );
    let numbered = Identity::Text(under("A 2"));
    let a = || Identity::Text(under("A"));
    assert_eq!(ids(&[numbered, a(), a()]), ["a-2", "a", "a-3"]);
}

#[test]
fn a_comment_names_one_of_several_and_one_whose_heading_is_taken() {
    assert_eq!(
        ids(&[
            Identity::Text(commented("Posts", "Make a post")),
            Identity::Text(commented("Posts", "Drop a post")),
            several(commented("Users", "List users")),
            several(under("Users")),
            several(commented("Users", "List users")),
        ]),
        ["posts", "drop-a-post", "list-users", "users", "users-2"]
    );
}

#[test]
fn a_comment_of_more_than_60_characters_is_no_name() {
    let (long, short) = ("x".repeat(61), "y".repeat(60));
    let both = [
        several(commented("A", &long)),
        several(commented("A", &short)),
    ];
    assert_eq!(ids(&both), ["a".to_owned(), short]);
}

#[test]
fn what_has_no_name_at_all_is_numbered() {
    assert_eq!(
        ids(&[
            Identity::Text(under("")),
            Identity::Text(under("!?")),
            Identity::Nameless
        ]),
        ["op-1", "op-2", "op-3"]
    );
}

#[test]
fn an_id_that_is_given_is_never_made_of_something_else() {
    let given = annotated("Search_All", Importance::Fence);
    assert_eq!(
        ids(&[Identity::Text(under("search all")), given]),
        ["search-all-2", "Search_All"]
    );
}

#[test]
fn two_ids_that_are_given_and_equal_are_left_to_be_refused() {
    let given = || annotated("a", Importance::Fence);
    assert_eq!(ids(&[given(), given()]), ["a", "a"]);
}

#[test]
fn requests_that_give_one_id_are_numbered() {
    let listed = || annotated("get-a-b", Importance::Listed);
    assert_eq!(ids(&[listed(), listed()]), ["get-a-b", "get-a-b-2"]);
}

#[test]
fn an_operation_called_as_one_of_front_matter_is_an_example_of_it() {
    let unnamed = [
        Identity::Verbatim("create_post".to_owned()),
        Identity::Text(under("Create Post")),
        Identity::Text(under("Other")),
    ];
    let unnamed = unnamed
        .into_iter()
        .zip(1..)
        .map(|(identity, line)| Unnamed {
            operation: operation(line),
            identity,
        });
    let named = name(unnamed.collect());
    let ids: Vec<&str> = named
        .iter()
        .map(|operation| operation.id.as_str())
        .collect();
    assert_eq!(ids, ["create_post", "other"]);
    let lines: Vec<Option<u32>> = named[0]
        .examples
        .iter()
        .map(|example| example.line)
        .collect();
    assert_eq!(lines, [Some(2)]);
}

#[test]
fn a_numbered_id_is_not_longer_than_an_id() {
    let long = || Identity::Text(under(&"é".repeat(70)));
    for id in ids(&[long(), long()]) {
        assert!(crate::identifier::is_id(&id), "{id}");
    }
}

#[test]
fn many_of_one_name_take_linear_time() {
    let same: Vec<Identity> = (0..2_000).map(|_| Identity::Text(under("Same"))).collect();
    let made = ids(&same);
    assert_eq!(made.last().map(String::as_str), Some("same-2000"));
}
