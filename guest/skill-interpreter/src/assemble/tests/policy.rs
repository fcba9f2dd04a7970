//! Section 21: policies of sandbox stages.

use serde_json::json;

use super::{nameless, sandbox, skill, text};
use crate::draft::{Declaration, Package, Program, SandboxDeclaration, SandboxDraft};
use crate::model::Runtime;

fn python(code: &str) -> SandboxDraft {
    SandboxDraft::new(Runtime::Python, Program::Code(code.to_owned()), 10)
}

#[test]
fn the_policy_of_a_command_that_names_nothing() {
    let argv = vec![text("ffmpeg"), text("-i"), text("input.mp4")];
    let draft = SandboxDraft::of_tool("ffmpeg", Program::Argv(argv), 1);
    let assembled = sandbox(draft, &nameless(), &skill("skill"));
    assert_eq!(
        serde_json::to_string(&assembled.operation.policy).unwrap(),
        r#"{"network":{"egress":"none"},"filesystem":{"read":["/input"],"write":["/output"]},"#
            .to_owned()
            + r#""resources":{"cpu-seconds":60,"memory-mb":512,"wall-clock-ms":30000,"pids":64,"output-bytes":52428800},"#
            + r#""secrets":[],"shell":false}"#
    );
}

#[test]
fn egress_is_what_literal_urls_and_declarations_name() {
    let code = "get('https://b.example/x')\nget('HTTP://A.example:81')\nget(f'https://{h}/')\nget('https://$H/')\nftp://c.example";
    let mut context = skill("s");
    context.domains = vec!["d.example".to_owned()];
    let declaration = Declaration {
        egress: vec!["e.example:8443".to_owned(), "*.x.example".to_owned()],
        sandbox: Some(SandboxDeclaration {
            egress: vec!["f.example".to_owned(), "none".to_owned()],
            line: 4,
            ..SandboxDeclaration::default()
        }),
        ..nameless()
    };
    let assembled = sandbox(python(code), &declaration, &context);
    let policy = assembled.operation.policy.as_ref().unwrap();
    assert_eq!(
        policy.network,
        json!({"egress": ["a.example:81", "b.example:443", "d.example:443", "e.example:8443", "f.example:443"]})
    );
    let sources = assembled.json()["policy-sources"].clone();
    assert_eq!(
        sources[0],
        json!({"entry": "egress a.example:81", "line": 11})
    );
    assert_eq!(
        sources[1],
        json!({"entry": "egress b.example:443", "line": 10})
    );
    assert_eq!(
        sources[4],
        json!({"entry": "egress f.example:443", "line": 4})
    );
    assert!(
        assembled
            .operation
            .requires
            .contains(&"egress:a.example:81".to_owned())
    );
    assert_eq!(assembled.operation.effects, ["network-egress", "process"]);
}

#[test]
fn files_and_resources() {
    let declaration = Declaration {
        sandbox: Some(SandboxDeclaration {
            read: vec![
                "/input/a".to_owned(),
                "/srv/x".to_owned(),
                "/input/../etc".to_owned(),
            ],
            write: vec!["relative".to_owned()],
            resources: vec![("memory-mb".to_owned(), 64), ("unknown".to_owned(), 1)],
            ..SandboxDeclaration::default()
        }),
        ..nameless()
    };
    let assembled = sandbox(python("1"), &declaration, &skill("s"));
    let policy = assembled.operation.policy.as_ref().unwrap();
    assert_eq!(
        policy.filesystem,
        json!({"read": ["/input", "/input/../etc", "/srv/x"], "write": ["/output"]})
    );
    assert_eq!(policy.resources["memory-mb"], 64);
    assert_eq!(policy.resources.len(), 5);
}

#[test]
fn secrets_that_code_mentions() {
    let mut context = skill("s");
    context.secrets = vec!["plain".to_owned()];
    let code = "import os\nos.environ['MY_API_KEY']; sort_key; PRIMARY_KEY; plain; MONKEY";
    let assembled = sandbox(python(code), &nameless(), &context);
    assert_eq!(assembled.secrets(), ["MY_API_KEY", "plain"]);
    assert_eq!(
        assembled.operation.policy.as_ref().unwrap().secrets,
        ["MY_API_KEY", "plain"]
    );
    assert!(
        assembled
            .operation
            .reasons
            .contains(&"secret-in-sandbox".to_owned())
    );
    assert!(
        assembled
            .operation
            .secrets
            .iter()
            .all(|secret| secret.hosts.is_empty())
    );
}

#[test]
fn free_variables_of_a_script() {
    let script = "echo $CITY $PATH $LD_PRELOAD $https_proxy $MY_TOKEN".to_owned();
    let mut draft = SandboxDraft::new(Runtime::Shell, Program::Script(script), 1);
    draft.stage.env_inputs = ["CITY", "PATH", "LD_PRELOAD", "https_proxy", "MY_TOKEN"]
        .map(str::to_owned)
        .to_vec();
    let assembled = sandbox(draft, &nameless(), &skill("s"));
    assert_eq!(assembled.http()["env-inputs"], json!(["CITY"]));
    assert_eq!(assembled.required(), json!(["CITY"]));
    assert_eq!(assembled.secrets(), ["MY_TOKEN"]);
    assert!(assembled.operation.policy.as_ref().unwrap().shell);
}

#[test]
fn inputs_are_elements_of_the_argument_vector() {
    let argv = ["convert", "-x{a}", "{size}", "$B; rm"].map(text).to_vec();
    let mut draft = SandboxDraft::of_tool("convert", Program::Argv(argv), 1);
    draft.stage.packages.push(Package {
        runtime: "system".to_owned(),
        name: "imagemagick".to_owned(),
    });
    let assembled = sandbox(draft, &nameless(), &skill("s"));
    assert_eq!(
        assembled.http()["program"]["argv"],
        json!([
            [{"lit": "convert"}],
            [{"lit": "-x"}, {"input": "a", "enc": "argv"}],
            [{"input": "size", "enc": "argv"}],
            [{"input": "B", "enc": "argv"}, {"lit": "; rm"}],
        ])
    );
}
