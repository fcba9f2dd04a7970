use serde_json::json;

use super::{Around, code, events, exited, output};
use crate::budget::Dimension;
use crate::chain::Event;
use crate::failure::{Code, Failure};
use crate::ports::{EgressRefusal, EgressReport};
use crate::request::tests::operation;
use crate::sandbox::End;

fn ending(end: Result<crate::sandbox::SandboxEnd, Failure>) -> Around {
    let around = Around::new([]);
    around.ends.lock().unwrap().push_back(end);
    around
}

#[test]
fn values_stay_single_arguments() {
    let around = ending(Ok(exited("done\n")));
    let source = "a.mp4; rm -rf / $(x)\n";
    let done = around.call("kit", "convert-video", json!({"source": source}));
    assert_eq!(
        output(&done),
        &json!({"exit-code": 0, "end": "exit", "stdout": "done\n", "stderr": "", "files": []})
    );
    let run = around.jailed.lock().unwrap().remove(0);
    assert_eq!(
        run["argv"],
        json!(["ffmpeg", "-i", source, "-c:v", "libx264", "output.mp4"])
    );
    assert_eq!(run["params"], json!({"source": source}));
    assert_eq!(run["secrets"], json!([]));
    assert_eq!(
        events(&done),
        [(Event::JailStarted, ""), (Event::JailFinished, "")]
    );
    assert_eq!(done.used.cpu_ms, 12);
    assert_eq!(done.used.storage_bytes, 34);
    assert_eq!(done.peak_memory_bytes, 5 << 20);
}

#[test]
fn inputs_of_a_script_are_its_environment() {
    let around = ending(Ok(exited("")));
    output(&around.call("kit", "setup", json!({"WHO": 7})));
    let run = around.jailed.lock().unwrap().remove(0);
    assert_eq!(run["environment"], json!([["WHO", "7"]]));
}

#[test]
fn a_code_file_is_that_of_the_load() {
    let around = ending(Ok(exited("")));
    output(&around.call("kit", "code-file", json!({})));
    let run = around.jailed.lock().unwrap().remove(0);
    assert_eq!(run["code"], "print(1)");
    assert_eq!(run["args"], json!(["--n", "3"]));

    let mut missing = operation("kit", "code-file");
    let hydrant_plan::Stage::Sandbox(stage) = &mut missing.stages[0] else {
        panic!()
    };
    stage.program = hydrant_plan::Program::File {
        name: "script.py".to_owned(),
        digest: None,
    };
    let around = Around::new([]);
    let done = around.call_of("kit", &missing, json!({}));
    let failure = done.end.unwrap_err();
    assert_eq!(failure.code, Code::ToolUnavailable);
    assert_eq!(failure.missing, ["file:script.py"]);
}

#[test]
fn what_a_program_says_of_itself_is_a_result() {
    let mut end = exited("{\"a\":1}\n");
    end.exit_code = Some(3);
    end.stderr = b"\xff".to_vec();
    let around = ending(Ok(end));
    let done = around.call("kit", "code-file", json!({}));
    let shown = output(&done);
    assert_eq!(shown["exit-code"], 3);
    assert_eq!(shown["json"], json!({"a": 1}));
    assert_eq!(shown["stderr"], "\u{fffd}");

    let mut end = exited("{\"a\":");
    end.exit_code = None;
    end.signal = Some(9);
    end.end = End::Timeout;
    let around = ending(Ok(end));
    let done = around.call("kit", "code-file", json!({}));
    let shown = output(&done);
    assert_eq!(
        (&shown["exit-code"], &shown["signal"], &shown["end"]),
        (&json!(null), &json!(9), &json!("timeout"))
    );
}

#[test]
fn the_budget_ends_a_run() {
    let mut end = exited("");
    end.exhausted = Some(Dimension::StorageBytes);
    let mut around = ending(Ok(end));
    around.caps.storage_bytes = Some(1234);
    let done = around.call("kit", "code-file", json!({}));
    assert_eq!(code(&done), Code::BudgetExhausted);
    assert_eq!(done.used.cpu_ms, 12, "what it used is charged");
    assert_eq!(
        events(&done).last(),
        Some(&(Event::BudgetExhausted, "storage-bytes"))
    );
    assert_eq!(around.jailed.lock().unwrap()[0]["storage"], 1234);
}

#[test]
fn no_jail_no_run() {
    let around = ending(Err(Failure::new(Code::JailUnavailable, "no namespaces")));
    let done = around.call("kit", "code-file", json!({}));
    assert_eq!(code(&done), Code::JailUnavailable);
}

#[test]
fn refused_connections_are_events() {
    let mut end = exited("");
    end.egress = Some(EgressReport {
        bytes: 10,
        exhausted: false,
        refusals: vec![EgressRefusal {
            target: "evil.example:443".to_owned(),
            code: Code::HostDenied,
        }],
    });
    let around = ending(Ok(end));
    let done = around.call("kit", "code-file", json!({}));
    assert_eq!(
        events(&done),
        [
            (Event::JailStarted, ""),
            (Event::EgressDenied, "evil.example:443"),
            (Event::JailFinished, ""),
        ]
    );
}

#[test]
fn secrets_of_a_policy_are_mounted_and_do_not_come_back() {
    let mut file = operation("kit", "code-file");
    file.policy.as_mut().unwrap().secrets = vec!["K".to_owned()];
    let around = ending(Ok(exited("it is s3cr3t/K+\n")));
    let done = around.call_of("kit", &file, json!({}));
    assert_eq!(output(&done)["stdout"], "it is ***REDACTED***\n");
    let run = around.jailed.lock().unwrap().remove(0);
    assert_eq!(run["secrets"], json!([["K", "s3cr3t/K+"]]));
    assert_eq!(run["redacted"], "a ***REDACTED*** b");
    assert!(events(&done).contains(&(Event::SecretInjected, "K sandbox")));
    assert!(events(&done).contains(&(Event::SecretEcho, "K")));
}

#[test]
fn a_sandbox_stage_without_a_policy_does_not_run() {
    let mut file = operation("kit", "code-file");
    file.policy = None;
    let around = Around::new([]);
    let done = around.call_of("kit", &file, json!({}));
    assert_eq!(code(&done), Code::InvalidPlan);
}

#[test]
fn a_secret_is_never_an_argument() {
    let secret = hydrant_plan::Segments::secret("K", hydrant_plan::Encoding::Argv);
    for place in 0..3 {
        let mut convert = operation("kit", "convert-video");
        let hydrant_plan::Stage::Sandbox(stage) = &mut convert.stages[0] else {
            panic!()
        };
        match place {
            0 => stage.args.push(secret.clone()),
            1 => stage.stdin = Some(secret.clone()),
            _ => stage.program = hydrant_plan::Program::Argv(vec![secret.clone()]),
        }
        let around = Around::new([]);
        let done = around.call_of("kit", &convert, json!({"source": "a"}));
        assert_eq!(code(&done), Code::SecretUnbound, "{place}");
        assert!(done.entries.is_empty());
    }
}
