//! What this system does not have.

use hydrant_govern::failure::Code;
use hydrant_govern::sandbox::missing;
use hydrant_plan::{Program, Runtime};

use crate::support::{Case, policy, python, sandbox, script, stage, tool};

#[test]
fn a_tool_that_is_not_there_is_named() {
    let mut invented = tool(&["no-such-tool-77", "a"]);
    invented.tools = vec![
        "no-such-tool-77".to_owned(),
        "sh".to_owned(),
        "other-tool-77".to_owned(),
    ];
    assert_eq!(
        missing(&invented),
        ["tool:no-such-tool-77", "tool:other-tool-77"]
    );
    let failure = sandbox().check(&invented, &policy()).unwrap_err();
    assert_eq!(failure.code, Code::ToolUnavailable);
    assert_eq!(
        failure.missing,
        ["tool:no-such-tool-77", "tool:other-tool-77"]
    );
    assert_eq!(Case::of(invented).refused().code, Code::ToolUnavailable);
}

#[test]
fn a_tool_with_a_path_is_there_if_the_jail_has_it() {
    assert!(missing(&tool(&["/usr/bin/env"])).is_empty());
    for path in [
        "/etc/passwd",
        "./env",
        "../usr/bin/env",
        env!("CARGO_BIN_EXE_govern-launcher"),
    ] {
        assert_eq!(missing(&tool(&[path])), [format!("tool:{path}")]);
    }
}

#[test]
fn a_version_is_a_dotted_prefix_of_the_one_that_is_there() {
    let version = Case::of(python(
        "import sys; print('%d.%d.%d' % sys.version_info[:3], end='')",
    ))
    .stdout();
    let parts: Vec<_> = version.split('.').collect();
    let check = |wanted: &str| {
        let mut stage = python("print(1)");
        stage.declared_runtime = Some(format!("python:{wanted}"));
        let missing = missing(&stage);
        let checked = sandbox().check(&stage, &policy());
        (
            missing,
            checked.map_err(|failure| (failure.code, failure.missing)),
        )
    };
    for right in [parts[0], &parts[..2].join("."), &version] {
        assert_eq!(check(right), (vec![], Ok(())), "{right}");
    }
    let wrong = [
        "2",
        "3.1",
        "3.999",
        &format!("{}.999", parts[..2].join(".")),
    ];
    for wrong in wrong {
        let missing = vec![format!("sandbox:python:{wrong}")];
        let (_, checked) = check(wrong);
        assert_eq!(checked, Err((Code::ToolUnavailable, missing)), "{wrong}");
    }
    // What the name of the file tells is told at load.
    assert_eq!(check("2").0, ["sandbox:python:2"]);
}

#[test]
fn a_runtime_is_asked_in_a_jail_where_nothing_else_tells() {
    let mut node = stage(Runtime::Node, Program::Code("1".to_owned()));
    if !missing(&node).is_empty() {
        return;
    }
    node.declared_runtime = Some("node:1".to_owned());
    // At load nothing is started.
    assert!(missing(&node).is_empty());
    let sandbox = sandbox();
    let refused = sandbox.check(&node, &policy()).unwrap_err();
    assert_eq!(refused.missing, ["sandbox:node:1"]);
    let shown = Case::of(tool(&["node", "--version"]))
        .limited(serde_json::json!({"memory-mb": 1024}))
        .stdout();
    let major = shown
        .trim_start_matches('v')
        .split('.')
        .next()
        .unwrap()
        .to_owned();
    node.declared_runtime = Some(format!("nodejs:{major}"));
    sandbox.check(&node, &policy()).unwrap();
}

#[test]
fn images_are_recorded_and_shells_have_no_version() {
    let mut image = script("echo ran");
    image.declared_runtime = Some("container:ubuntu:22.04".to_owned());
    assert!(missing(&image).is_empty());
    sandbox().check(&image, &policy()).unwrap();
    let mut shell = script("echo ran");
    shell.declared_runtime = Some("bash".to_owned());
    sandbox().check(&shell, &policy()).unwrap();
    shell.declared_runtime = Some("bash:5".to_owned());
    assert_eq!(missing(&shell), ["sandbox:shell:5"]);
}
