//! LLM mode, against servers on the loopback that play a model.

use serde_json::{Value, json};

use crate::desk::{Desk, Hydrated};
use crate::grammar;
use crate::program::Run;
use crate::server::{Answer, Server};

/// A change, about which the planner is certain.
const PROMPT: &str = "shorten the tooltip on the archive button to one line";
const KEY: &str = "sesame-0123456789-sesame";

/// A desk whose model is this server, asked always, and allowed by the policy.
fn desk(server: &Server, dialect: &str, more: &str) -> Desk {
    let desk = Desk::new();
    let policy = desk.folder().path("../policy.yaml");
    desk.folder().put("../policy.yaml", server.policy("POST"));
    desk.configure(&format!(
        "policy = {policy:?}\n[hydrate.llm]\nenabled = true\nwhen = \"always\"\ndialect = \"{dialect}\"\n\
         base_url = \"{}\"\nmodel = \"m-1\"\napi_key_env = \"TEST_KEY\"\n{more}",
        server.url("")
    ));
    desk
}

fn run(desk: &Desk, input: &Value) -> Run {
    let mut command = desk.command(&[]);
    command.env("TEST_KEY", KEY);
    crate::desk::feed(&mut command, input.to_string().as_bytes())
}

fn hydrated(desk: &Desk, prompt: &str) -> Hydrated {
    let before = desk.files();
    let run = run(desk, &desk.input(prompt));
    let instruction = crate::desk::context(&run);
    let new = desk.files().into_iter().find(|name| !before.contains(name));
    let path = desk.tmp().join(new.unwrap_or_else(|| panic!("{run:?}")));
    Hydrated {
        text: std::fs::read_to_string(&path).unwrap(),
        instruction,
        path,
        stderr: run.stderr,
    }
}

/// A reply that is as good as the planner's own plan for the prompt, but for its words.
fn good(desk: &Desk, prompt: &str) -> Value {
    let plan: Value = {
        let run = desk
            .folder()
            .run(&["plan", "--format", "json", "--no-context", prompt]);
        run.json()
    };
    let mut todos = plan["todos"].clone();
    for todo in todos.as_array_mut().unwrap() {
        let content = todo["content"].as_str().unwrap();
        if content.starts_with("CHECKPOINT: ") {
            todo["content"] = json!(format!("{content}, and show it"));
        }
    }
    json!({
        "intent": "Shorten the archive button's tooltip to one line",
        "workflow": plan["workflow"], "guardrails": plan["guardrails"],
        "relevant_context": ["(none found)"], "todos": todos
    })
}

fn wrapped(dialect: &str, text: &str) -> String {
    match dialect {
        "openai" => json!({"choices": [{"message": {"role": "assistant", "content": text}}]}),
        _ => json!({"content": [{"type": "text", "text": text}]}),
    }
    .to_string()
}

fn replying(dialect: &'static str, reply: &str) -> Server {
    Server::answering(Answer::With("200 OK", wrapped(dialect, reply)))
}

#[test]
fn a_good_reply_is_the_plan() {
    for dialect in ["openai", "anthropic"] {
        let reply = good(&Desk::new(), PROMPT).to_string();
        let server = replying(dialect, &format!("```json\n{reply}\n```"));
        let desk = desk(&server, dialect, "");
        let hydrated = hydrated(&desk, PROMPT);
        assert_eq!(hydrated.stderr, "");
        let plan = grammar::read(&hydrated.draft());
        assert_eq!(
            plan.intent,
            "Shorten the archive button's tooltip to one line"
        );
        assert!(hydrated.section("## Draft Plan").contains("planner: llm; "));
        assert!(hydrated.text.contains("abstained: no"));
        let asked = server.asked();
        assert_eq!(asked.len(), 1);
        let (path, header, value) = match dialect {
            "openai" => (
                "POST /chat/completions ",
                "authorization",
                format!("Bearer {KEY}"),
            ),
            _ => ("POST /v1/messages ", "x-api-key", KEY.to_owned()),
        };
        assert!(asked[0].line.starts_with(path), "{}", asked[0].line);
        assert_eq!(asked[0].header(header), Some(value.as_str()));
        if dialect == "anthropic" {
            assert_eq!(asked[0].header("anthropic-version"), Some("2023-06-01"));
        }
        let body: Value = serde_json::from_str(&asked[0].body).unwrap();
        assert_eq!(body["model"], "m-1");
        assert!(asked[0].body.contains("archive button"));
        assert!(!asked[0].body.contains(KEY) && !hydrated.text.contains(KEY));
    }
}

/// Who may reach the net does nothing else, and who plans may not reach it.
#[test]
fn only_the_component_that_asks_a_model_may_reach_the_net() {
    let kinds = |id: &str| {
        let manifest =
            crate::program::repository().join(format!("skills/{id}/0.1.0/manifest.json"));
        let manifest: Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
        let grants = manifest["capabilities"].as_array().unwrap();
        let kinds = grants.iter().map(|grant| grant["kind"].as_str().unwrap());
        kinds.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(kinds("prompt.hydrate.llm"), ["net.http"]);
    let planner = kinds("prompt.hydrate");
    assert!(planner.iter().all(|kind| kind == "fs.read"), "{planner:?}");
}

/// A component for the model that is not the signed one is not run, and the planner plans alone.
#[test]
fn a_model_component_that_does_not_verify_degrades_and_no_more() {
    let reply = good(&Desk::new(), PROMPT).to_string();
    let server = replying("openai", &reply);
    let desk = desk(&server, "openai", "");
    let root = desk.folder().path("root");
    for part in ["pins", "skills"] {
        crate::failures::copy(&crate::program::repository().join(part), &root.join(part));
    }
    let hook = || {
        let mut command = desk.command(&["--root", root.to_str().unwrap()]);
        command.env("TEST_KEY", KEY);
        let before = desk.files();
        let run = crate::desk::feed(&mut command, desk.input(PROMPT).to_string().as_bytes());
        crate::desk::context(&run);
        let new = desk.files().into_iter().find(|name| !before.contains(name));
        let text = std::fs::read_to_string(desk.tmp().join(new.unwrap())).unwrap();
        (crate::desk::section(&text, "## Draft Plan"), run.stderr)
    };
    let (draft, stderr) = hook();
    assert!(draft.starts_with("\nplanner: llm; "), "{draft} {stderr}");
    let asked = server.asked().len();
    let file = root.join("skills/prompt.hydrate.llm/0.1.0/skill.wasm");
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::remove_file(&file).unwrap();
    std::fs::write(file, bytes).unwrap();
    let (draft, stderr) = hook();
    assert!(stderr.starts_with("WARN: llm: "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(draft.starts_with("\nplanner: deterministic; "), "{draft}");
    assert!(draft.contains("; degraded: llm\n"), "{draft}");
    assert_eq!(server.asked().len(), asked);
    // Off by default: then nobody looks at it.
    desk.configure("");
    let (draft, stderr) = hook();
    assert_eq!(stderr, "");
    assert!(draft.contains("; degraded: none\n"), "{draft}");
}

/// Whatever the server does, the plan is the deterministic one, but for `degraded`.
fn falls_back(
    answer: impl Fn(usize, &crate::server::Request) -> Answer + Send + Sync + 'static,
    requests: usize,
) {
    let server = Server::start(answer);
    let desk = desk(&server, "openai", "");
    let with = hydrated(&desk, PROMPT);
    assert_eq!(with.degraded(), ["llm"], "{}", with.stderr);
    assert!(with.stderr.starts_with("WARN: llm: "), "{}", with.stderr);
    assert_eq!(with.stderr.lines().count(), 1);
    assert_eq!(server.asked().len(), requests);
    desk.configure("");
    let without = desk.prompt(PROMPT);
    assert_eq!(with.draft(), without.draft());
    assert!(!with.text.contains(KEY) && !with.stderr.contains(KEY));
}

/// What a second try cannot mend is not asked again.
#[test]
fn refusals_are_not_asked_again() {
    for status in [
        "429 Too Many Requests",
        "401 Unauthorized",
        "400 Bad Request",
    ] {
        falls_back(move |_, _| Answer::With(status, "{}".to_owned()), 1);
    }
    falls_back(
        |_, _| {
            Answer::WithHeaders(
                "307 Temporary Redirect",
                vec![("location", "/elsewhere".to_owned())],
                String::new(),
            )
        },
        1,
    );
}

#[test]
fn failures_of_the_server_are_asked_again_once() {
    falls_back(
        |_, _| Answer::With("500 Internal Server Error", "{}".to_owned()),
        2,
    );
    falls_back(
        |_, _| Answer::With("200 OK", "{\"choices\":[{\"mess".to_owned()),
        2,
    );
    falls_back(
        |_, _| Answer::With("200 OK", wrapped("openai", "Here is your plan: fix it.")),
        2,
    );
}

#[test]
fn a_reply_that_breaks_a_row_is_not_taken() {
    let good = good(&Desk::new(), PROMPT);
    let mut replies = Vec::new();
    let mut with = |pointer: &str, value: Value| {
        let mut reply = good.clone();
        *reply.pointer_mut(pointer).unwrap() = value;
        replies.push(reply);
    };
    with("/workflow", json!("no-such-workflow"));
    with("/workflow", json!("simple-question"));
    with("/guardrails", json!([]));
    with("/guardrails", json!(["made_up"]));
    with("/relevant_context", json!(["see src/never_seen.rs"]));
    with(
        "/todos",
        json!([{"content": "Answer it", "status": "pending", "activeForm": "Answering"}]),
    );
    with("/todos/0/status", json!("completed"));
    let items: Vec<_> = (1..=13)
        .map(|number| json!({"content": format!("Step {number}: Do thing {number}"), "status": "pending", "activeForm": "Doing"}))
        .collect();
    with("/todos", json!(items));
    let mut more = good.clone();
    more["quality_gate"] = json!("None");
    replies.push(more);
    for reply in replies {
        let answer = wrapped("openai", &reply.to_string());
        falls_back(move |_, _| Answer::With("200 OK", answer.clone()), 2);
    }
    let prose = wrapped("openai", &format!("Sure! {good}"));
    falls_back(move |_, _| Answer::With("200 OK", prose.clone()), 2);
}

/// The second request says what was wrong, and its reply counts.
#[test]
fn a_reply_may_be_mended_once() {
    let good = good(&Desk::new(), PROMPT);
    let mut bad = good.clone();
    bad["workflow"] = json!("no-such-workflow");
    let (good, bad) = (
        wrapped("openai", &good.to_string()),
        wrapped("openai", &bad.to_string()),
    );
    let server = Server::start(move |number, _| {
        Answer::With(
            "200 OK",
            if number == 0 {
                bad.clone()
            } else {
                good.clone()
            },
        )
    });
    let desk = desk(&server, "openai", "");
    let hydrated = hydrated(&desk, PROMPT);
    assert!(
        hydrated.section("## Draft Plan").contains("planner: llm; "),
        "{}",
        hydrated.stderr
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert!(
        asked[1].body.contains("no-such-workflow"),
        "{}",
        asked[1].body
    );
}

/// A server that repeats the key gets it nowhere.
#[test]
fn a_key_that_comes_back_gets_into_nothing() {
    let mut reply = good(&Desk::new(), PROMPT);
    reply["intent"] = json!(format!("Shorten the tooltip {KEY}"));
    let reply = reply.to_string();
    let server = Server::start(move |_, request| {
        let echo = request
            .header("authorization")
            .unwrap_or_default()
            .to_owned();
        let headers = vec![
            ("x-echo", echo),
            ("content-type", "application/json".to_owned()),
        ];
        Answer::WithHeaders("200 OK", headers, wrapped("openai", &reply))
    });
    let desk = desk(&server, "openai", "");
    let mut command = desk.command(&[]);
    command
        .env("TEST_KEY", KEY)
        .env("HYDRANT_LOG", "hydrant=trace");
    let run = crate::desk::feed(&mut command, desk.input(PROMPT).to_string().as_bytes());
    assert!(!run.stderr.contains(KEY) && !run.stdout.contains(KEY));
    for name in desk.files() {
        assert!(
            !std::fs::read_to_string(desk.tmp().join(name))
                .unwrap()
                .contains(KEY)
        );
    }
    let log = std::fs::read_to_string(desk.folder().home().join("state/audit.jsonl")).unwrap();
    assert!(!log.contains(KEY));
}

#[test]
fn a_server_that_the_policy_does_not_allow_is_not_asked() {
    let server = replying("openai", "{}");
    let desk = desk(&server, "openai", "");
    desk.folder().put("../policy.yaml", server.policy("GET"));
    let with = hydrated(&desk, PROMPT);
    assert_eq!(with.degraded(), ["llm"]);
    assert!(server.asked().is_empty());
}

#[test]
fn a_model_that_never_answers_costs_its_share_and_no_more() {
    let started = std::time::Instant::now();
    let server = Server::answering(Answer::Never);
    let desk = desk(&server, "openai", "");
    let with = hydrated(&desk, PROMPT);
    assert_eq!(with.degraded(), ["llm"], "{}", with.stderr);
    assert!(started.elapsed() < std::time::Duration::from_secs(16));
}

#[test]
fn a_model_is_asked_only_when_it_is_wanted() {
    let server = replying("openai", "{}");
    let desk = desk(&server, "openai", "");
    let configuration = std::fs::read_to_string(desk.folder().home().join("hydrant.toml")).unwrap();
    // Skipped prompts, and certain ones.
    run(&desk, &desk.input("/compact"));
    run(&desk, &desk.input(""));
    desk.configure(&configuration.replace("\"always\"", "\"uncertain\""));
    hydrated(&desk, PROMPT);
    assert!(server.asked().is_empty());
    hydrated(&desk, "blorp the frunk");
    assert!(!server.asked().is_empty());
    // Not enabled, but for the flag.
    let asked = server.asked().len();
    desk.configure(&configuration.replace("enabled = true", "enabled = false"));
    hydrated(&desk, PROMPT);
    assert_eq!(server.asked().len(), asked);
    let mut command = desk.command(&["--llm"]);
    command.env("TEST_KEY", KEY);
    crate::desk::feed(&mut command, desk.input(PROMPT).to_string().as_bytes());
    assert!(server.asked().len() > asked);
}

#[test]
fn no_secret_of_a_prompt_leaves_the_machine() {
    let server = replying("openai", "{}");
    let desk = desk(&server, "openai", "");
    let hydrated = hydrated(&desk, &format!("{PROMPT}, password=hunter2secret"));
    assert!(
        hydrated.text.contains("hunter2secret"),
        "the local file keeps the prompt"
    );
    for request in server.asked() {
        assert!(!request.body.contains("hunter2secret"), "{}", request.body);
        assert!(request.body.contains("REDACTED"), "{}", request.body);
    }
}

/// The variable is empty.
#[test]
fn without_its_key_nobody_is_asked() {
    let server = replying("openai", "{}");
    let desk = desk(&server, "openai", "");
    let with = desk.prompt(PROMPT);
    assert_eq!(with.degraded(), ["llm"]);
    assert!(with.stderr.contains("TEST_KEY"), "{}", with.stderr);
    assert!(server.asked().is_empty());
}

#[test]
fn plan_asks_the_model_as_well() {
    let reply = good(&Desk::new(), PROMPT).to_string();
    let server = replying("openai", &reply);
    let desk = desk(&server, "openai", "");
    let mut command = desk
        .folder()
        .command(&["plan", "--format", "json", "--no-context", PROMPT]);
    command.env("TEST_KEY", KEY);
    let run = Run::of(&mut command);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    let plan = run.json();
    assert_eq!(
        (&plan["planner"], &plan["abstained"]),
        (&json!("llm"), &json!(false))
    );
    assert_eq!(plan["workflow"], "minor-edit");
    let alternatives = plan["alternatives"].as_array().unwrap();
    let is_chosen = |other: &Value| other["workflow"] == "minor-edit";
    assert!(
        !alternatives.is_empty() && !alternatives.iter().any(is_chosen),
        "{plan}"
    );
}
