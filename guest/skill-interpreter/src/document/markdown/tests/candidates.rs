use serde_json::json;

use crate::diagnostic::{Diagnostics, Severity};
use crate::document::markdown::read;
use crate::document::{Candidate, Document};
use crate::draft::{DraftStage, Identity, Importance, Program, TextIdentity, WrittenAs};
use crate::failure::{Code, Failure};
use crate::model::Runtime;
use crate::request::LoadRequest;

type Noticed = (Code, Severity, u32);

fn load(text: &str) -> (Result<Document, Failure>, Vec<Noticed>) {
    let request = LoadRequest {
        source_url: "https://skills.example/a/skill.md".to_owned(),
        ..LoadRequest::default()
    };
    let mut diagnostics = Diagnostics::default();
    let answer = read(text, &request, &mut diagnostics);
    let noticed = diagnostics.as_slice().iter();
    (
        answer,
        noticed
            .map(|noticed| (noticed.code, noticed.severity, noticed.line))
            .collect(),
    )
}

/// The candidates of a body under `# T`; what is said of lines counts that heading as the first.
fn candidates(body: &str) -> Vec<Candidate> {
    // Front matter with name and description: a document without operations loads too.
    let (answer, _) = load(&format!("---\nname: t\ndescription: t\n---\n{body}"));
    answer.unwrap().candidates
}

fn one(body: &str) -> Candidate {
    let mut found = candidates(body);
    assert_eq!(found.len(), 1, "{body}\n{found:#?}");
    found.remove(0)
}

fn request(candidate: &Candidate) -> String {
    match candidate.draft.plan.as_deref() {
        Ok([DraftStage::Http(http), ..]) => {
            let url = http.url.as_ref().map(crate::draft::Template::display);
            format!("{} {}", http.method, url.unwrap_or_default())
        }
        other => format!("{other:?}"),
    }
}

fn requests(body: &str) -> Vec<String> {
    candidates(body).iter().map(request).collect()
}

fn text_identity(candidate: &Candidate) -> &TextIdentity {
    match &candidate.declaration.identity {
        Identity::Text(identity) => identity,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_http_fence_is_named_and_described_by_what_is_around_it() {
    let found = one(
        "# T\n\n## Find *things*\n\nNot this.\n\nFind them\nall:\n```http\n\n# By name\nGET /things/{id}\n```\n",
    );
    assert_eq!(request(&found), "GET /things/{id}");
    let expected = TextIdentity {
        annotated: None,
        comment: Some("By name".to_owned()),
        heading: Some("Find things".to_owned()),
        one_of_several: false,
        importance: Importance::Fence,
    };
    assert_eq!(text_identity(&found), &expected);
    assert_eq!(found.declaration.title, "By name");
    assert_eq!(found.declaration.description, "Find them all:");
    assert_eq!(found.draft.line, 16);
}

#[test]
fn a_heading_of_the_first_level_names_no_operation() {
    assert_eq!(text_identity(&one("# T\n```\nGET /x\n```\n")).heading, None);
    let below = "## A\n# T\n```\nGET /x\n```\n";
    assert_eq!(text_identity(&one(below)).heading, None);
    let deep = "## A\n###### B\n```\nGET /x\n```\n";
    assert_eq!(text_identity(&one(deep)).heading.as_deref(), Some("B"));
}

#[test]
fn fences_in_lists_and_quotes_count_and_indented_code_does_not() {
    let body = "1. x\n   ~~~http\n   GET /a\n   ~~~\n> - ````\n>   GET /b\n>   ````\n\n    GET /c\n\n`GET /d`\n\n```http\nGET /e";
    assert_eq!(requests(body), ["GET /a", "GET /b", "GET /d", "GET /e"]);
}

#[test]
fn data_is_never_an_operation() {
    let body = "```json\n{\"GET\": \"/x\"}\n```\n```yaml\nGET /x\n```\n```\nAuthorization: Bearer x\n```\n```bash\n```\n```bash\n\n \n```\n```python\nprint(1)\n```\n";
    assert_eq!(candidates(body), []);
}

#[test]
fn several_requests_of_a_fence_are_told_apart_by_their_comments() {
    let found =
        candidates("## A\n```http\n# First\nGET /a\n\n### Second\nGET /b\n\n###\nGET /c\n```\n");
    let told: Vec<(Option<&str>, bool)> = found
        .iter()
        .map(|found| {
            (
                text_identity(found).comment.as_deref(),
                text_identity(found).one_of_several,
            )
        })
        .collect();
    assert_eq!(
        told,
        [(Some("First"), true), (Some("Second"), true), (None, true)]
    );
    let titles: Vec<&str> = found
        .iter()
        .map(|found| found.declaration.title.as_str())
        .collect();
    assert_eq!(titles, ["First", "Second", "A"]);
}

#[test]
fn a_response_is_an_output_example_of_the_operation_above() {
    for announcement in [
        "Response:\n\n",
        "**Returns**\n",
        "Example response (200):\n\n\n",
        "- Output\n\n",
        "> Result:\n\n",
        "### Response\n\n",
    ] {
        let found = one(&format!(
            "## A\n```http\nGET /x\n```\n{announcement}```json\n{{\"id\": 1}}\n```\n"
        ));
        let outputs: Vec<_> = found
            .declaration
            .examples
            .iter()
            .map(|example| example.output.clone())
            .collect();
        assert_eq!(outputs, [Some(json!({"id": 1}))], "{announcement}");
    }
}

#[test]
fn an_untagged_fence_after_the_label_is_a_result_whatever_it_holds() {
    let found = one("## A\n```http\nGET /x\n```\nReturns:\n```\nGET /y\n```\n");
    assert_eq!(found.declaration.examples[0].output, Some(json!("GET /y")));
    // A tag says what it is.
    assert_eq!(
        requests("## A\n```http\nGET /x\n```\nReturns:\n```http\nGET /y\n```\n"),
        ["GET /x", "GET /y"]
    );
}

#[test]
fn a_fence_that_is_not_announced_or_has_no_operation_above_is_documentation() {
    for body in [
        "## A\n```http\nGET /x\n```\n```json\n{}\n```\n",
        "## A\n```http\nGET /x\n```\nResponse:\n\nas follows\n\n```json\n{}\n```\n",
        "## A\n```http\nGET /x\n```\n## B\nResponse:\n```json\n{}\n```\n",
        "## A\n```http\nGET /x\n```\n## Response\n```json\n{}\n```\n",
        "## B\nResponse:\n```json\n{}\n```\n## A\n```http\nGET /x\n```\n",
        "# T\n## A\n```http\nGET /x\n```\n## Response\n```json\n{}\n```\n",
    ] {
        assert_eq!(one(body).declaration.examples, [], "{body}");
    }
}

#[test]
fn a_response_heading_belongs_to_what_it_is_part_of() {
    let found =
        one("# T\n## A\n### Request\n```http\nGET /x\n```\n### Response\n```json\n[1]\n```\n");
    assert_eq!(found.declaration.examples[0].output, Some(json!([1])));
}

#[test]
fn what_a_verb_fence_says_comes_out_is_an_output_example() {
    let found = one("## A\n```\nPOST /x\nBody: {\"a\": 1}\nReturns: {\"b\": 2}\n```\n");
    assert_eq!(found.declaration.examples[0].output, Some(json!({"b": 2})));
}

#[test]
fn listed_requests_are_operations() {
    let body = "## API\n- `GET /users/{id}` - One user\n- `x`\n\n| Call | What |\n|---|---|\n| `DELETE /users/{id}` | Removes it |\n";
    let found = candidates(body);
    assert_eq!(
        found.iter().map(request).collect::<Vec<_>>(),
        ["GET /users/{id}", "DELETE /users/{id}"]
    );
    let first = &found[0];
    assert_eq!(
        text_identity(first).annotated.as_deref(),
        Some("get-users-id")
    );
    assert_eq!(text_identity(first).importance, Importance::Listed);
    assert_eq!(first.declaration.description, "One user");
    assert_eq!(first.draft.line, 6);
    assert_eq!(found[1].draft.line, 11);
    for candidate in &found {
        let Ok([DraftStage::Http(http)]) = candidate.draft.plan.as_deref() else {
            panic!("{candidate:?}");
        };
        assert_eq!(http.written_as, WrittenAs::Listed);
    }
}

#[test]
fn code_is_an_operation_only_if_annotated_or_capabilities_say_so() {
    let fences = "## A\n```py skill:op=sum\nprint(1)\n```\n```python\nx\n```\n```js\ny\n```\n```ts skill:op=t\nz\n```\n```typescript\nw\n```\n```go\ng\n```\n";
    let runtimes = |front: &str| -> Vec<(Runtime, String)> {
        let (answer, _) = load(&format!(
            "---\n{front}name: t\ndescription: t\n---\n{fences}"
        ));
        let code = |candidate: &Candidate| match candidate.draft.plan.as_deref() {
            Ok([DraftStage::Sandbox(sandbox)]) => match &sandbox.stage.program {
                Program::Code(code) => (sandbox.stage.runtime, code.trim().to_owned()),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        answer.unwrap().candidates.iter().map(code).collect()
    };
    let found = |code: &[(Runtime, &str)]| {
        code.iter()
            .map(|(runtime, code)| (*runtime, (*code).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        runtimes(""),
        found(&[(Runtime::Python, "print(1)"), (Runtime::Node, "z")])
    );
    let all = found(&[
        (Runtime::Python, "print(1)"),
        (Runtime::Python, "x"),
        (Runtime::Node, "y"),
        (Runtime::Node, "z"),
        (Runtime::Go, "g"),
    ]);
    assert_eq!(runtimes("capabilities: [compute]\n"), all);
    assert_eq!(runtimes("runtime: python\n"), all);
    assert_eq!(runtimes("capabilities: []\n").len(), 2);
}

#[test]
fn the_words_of_an_info_string_are_about_its_fence() {
    let found = one(
        "## A\nText.\n\n```http skill:op=find skill:secret=A_REF skill:egress=b.example skill:tier=3 skill:returns-secret=/t\nPOST /find\n```\n",
    );
    assert_eq!(text_identity(&found).annotated.as_deref(), Some("find"));
    let declaration = &found.declaration;
    assert_eq!(declaration.description, "Text.");
    assert_eq!(declaration.secrets, ["A_REF"]);
    assert_eq!(declaration.egress, ["b.example"]);
    assert_eq!(declaration.tier, Some(3));
    assert_eq!(declaration.returns_secret, ["/t"]);
}

#[test]
fn ignore_example_and_output() {
    let body = "## A\n```http skill:ignore\nGET /no\n```\n```http\nPOST /x\n```\n```http skill:example\nPOST /x?again\n```\n```json skill:example\n{\"a\": 1}\n```\n```json skill:output\n{\"b\": 2}\n```\n```bash skill:output\ncurl x\n```\n";
    let found = one(body);
    assert_eq!(request(&found), "POST /x");
    let examples = &found.declaration.examples;
    let told: Vec<_> = examples
        .iter()
        .map(|example| (example.line, example.input.clone(), example.output.clone()))
        .collect();
    assert_eq!(
        told,
        [
            (Some(12), None, None),
            (Some(15), Some(json!({"a": 1})), None),
            (Some(18), None, Some(json!({"b": 2}))),
            (Some(21), None, Some(json!("curl x"))),
        ]
    );
    assert_eq!(candidates("## A\n```http skill:example\nGET /x\n```\n"), []);
}

#[test]
fn an_annotation_that_cannot_be_used_takes_the_fence_with_it() {
    for words in [
        "skill:",
        "skill:op",
        "skill:op=",
        "skill:op=a/b",
        "skill:opp=x",
        "skill:ignore=1",
        "skill:tier=0",
        "skill:tier=4",
        "skill:method=GET",
    ] {
        let (answer, noticed) = load(&format!(
            "# T\n```http {words}\nGET /x\n```\n```\nGET /y\n```\n"
        ));
        let found: Vec<String> = answer.unwrap().candidates.iter().map(request).collect();
        assert_eq!(found, ["GET /y"], "{words}");
        assert_eq!(
            noticed,
            [(Code::AnnotationInvalid, Severity::Error, 2)],
            "{words}"
        );
    }
}

#[test]
fn a_comment_that_would_annotate_is_told() {
    let (_, noticed) =
        load("# T\n<!-- skill: {\"op\":\"a\"} -->\ntext\n<!-- note -->\n```\nGET /x\n```\n");
    assert_eq!(noticed, [(Code::AnnotationInvalid, Severity::Warn, 2)]);
}

#[test]
fn operations_of_front_matter_come_first_and_the_body_is_parsed_as_well() {
    let text = "---\nname: t\noperations:\n  - name: ping\n    endpoint: /ping\n---\n## B\n```\nGET /b\n```\n";
    let (answer, noticed) = load(text);
    let found = answer.unwrap().candidates;
    assert_eq!(
        found[0].declaration.identity,
        Identity::Verbatim("ping".to_owned())
    );
    assert_eq!(found[0].draft.line, 4);
    assert_eq!(request(&found[1]), "GET /b");
    assert_eq!(noticed, []);
    let wrong = load("---\nname: t\noperations: 3\n---\n# A\n")
        .0
        .unwrap_err();
    assert_eq!(
        (wrong.code, wrong.path.as_deref()),
        (Code::Schema, Some("operations"))
    );
}

#[test]
fn keys_of_markdown_alone_are_known() {
    let text = "---\nname: t\ndescription: d\nmetadata: {a: 1}\nallowed-tools: Bash, Read\nauth_type: bearer\nruntime: python\n---\n";
    let (answer, noticed) = load(text);
    let recorded = answer.unwrap().skill.recorded;
    assert_eq!(recorded["allowed-tools"], json!("Bash, Read"));
    assert_eq!(noticed, [(Code::Stub, Severity::Info, 1)]);
}

#[test]
fn a_document_without_a_name_is_refused_unless_as_gives_one() {
    assert_eq!(
        load("## B\n```\nGET /b\n```\n").0.unwrap_err().code,
        Code::NameMissing
    );
    assert_eq!(
        load("# !?\n```\nGET /b\n```\n").0.unwrap_err().code,
        Code::NameMissing
    );
    let request = LoadRequest {
        source_url: "https://skills.example/a/skill.md".to_owned(),
        as_id: Some("mine".to_owned()),
        ..LoadRequest::default()
    };
    let answer = read(
        "## B\n```\nGET /b\n```\n",
        &request,
        &mut Diagnostics::default(),
    )
    .unwrap();
    assert_eq!(answer.context.skill_id.as_deref(), Some("mine"));
}

#[test]
fn a_document_without_operations_is_informational_if_it_describes_itself() {
    let (answer, noticed) = load("---\nname: t\ndescription: d\n---\nShort.\n");
    assert_eq!(answer.unwrap().candidates, []);
    assert_eq!(noticed, [(Code::Stub, Severity::Info, 1)]);

    let long = format!(
        "---\nname: t\ndescription: d\n---\n{}\n",
        "Long. ".repeat(40)
    );
    assert_eq!(load(&long).1, []);
    let onboarding = "# T\n## Onboarding\n1. **Sign up**\n";
    assert!(load(onboarding).0.is_ok());

    let (answer, noticed) = load("---\nname: t\n---\n# T\nSays this.\n");
    let failure = answer.unwrap_err();
    assert_eq!(
        (failure.code, failure.message.as_str()),
        (Code::NoOperations, "no operations found")
    );
    assert_eq!(noticed, [(Code::Stub, Severity::Info, 1)]);
}

#[test]
fn the_base_is_that_of_the_request_the_front_matter_the_label_or_the_source() {
    let base = |text: &str, requested: Option<&str>| {
        let request = LoadRequest {
            source_url: "https://skills.example/a/skill.md".to_owned(),
            base_url: requested.map(str::to_owned),
            ..LoadRequest::default()
        };
        let document = read(text, &request, &mut Diagnostics::default()).unwrap();
        document.context.base_url.map(|url| url.to_string())
    };
    let whole = "---\nname: t\ndescription: t\nbase_url: https://b.example/\n---\nBase URL: https://c.example/\n";
    assert_eq!(
        base(whole, Some("https://a.example/")).as_deref(),
        Some("https://a.example/")
    );
    assert_eq!(base(whole, None).as_deref(), Some("https://b.example/"));
    let labelled = "---\nname: t\ndescription: t\n---\nBase URL: https://c.example/v1\n";
    assert_eq!(
        base(labelled, None).as_deref(),
        Some("https://c.example/v1")
    );
    let none = "---\nname: t\ndescription: t\n---\nx\n";
    assert_eq!(base(none, None).as_deref(), Some("https://skills.example/"));
}

#[test]
fn requested_secrets_are_listed_and_none_is_dropped() {
    let text = "---\nname: t\ndescription: t\nsecrets: [A_KEY]\nmetadata: {x: {requires: {env: [B_KEY, A_KEY]}}}\n---\n## Setup\nSet `C_KEY`.\n\n```http skill:secret=D_REF\nGET /x\n```\n";
    assert_eq!(
        load(text).0.unwrap().context.secrets,
        ["A_KEY", "B_KEY", "C_KEY", "D_REF"]
    );
}

#[test]
fn more_operations_than_a_skill_may_have_are_refused() {
    let many: String = (0..1_100)
        .map(|number| format!("- `GET /a{number}`\n"))
        .collect();
    assert_eq!(
        load(&format!("# T\n{many}")).0.unwrap_err().code,
        Code::Limit
    );
}
