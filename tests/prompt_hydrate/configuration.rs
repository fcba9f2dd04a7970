//! `[hydrate]` and templates.

use std::fs;

use serde_json::json;

use crate::desk::{Desk, EMPTY, context};

const PROMPT: &str = "shorten the tooltip on the archive button to one line";

#[test]
fn a_key_that_is_not_known_is_a_warning() {
    let desk = Desk::with("[hydrate]\nmodle = \"x\"\n");
    let hydrated = desk.prompt(PROMPT);
    assert!(
        hydrated.stderr.starts_with("WARN: config: "),
        "{}",
        hydrated.stderr
    );
    assert!(hydrated.stderr.contains("hydrate.modle"));
    let run = desk.folder().ok(&["route", PROMPT]);
    assert!(run.stderr.contains("hydrate.modle"), "{run:?}");
}

#[test]
fn a_wrong_value_ends_a_command_and_not_the_hook() {
    let desk = Desk::with("[hydrate]\nmax_todos = 99\n");
    let hydrated = desk.prompt(PROMPT);
    assert!(
        hydrated.stderr.contains("hydrate.max_todos"),
        "{}",
        hydrated.stderr
    );
    for command in [
        &["plan", PROMPT][..],
        &["route", PROMPT],
        &["catalog", "check"],
    ] {
        let run = desk.folder().run(command);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(
            run.stderr.contains("hydrate.max_todos") && run.stderr.contains("hydrant.toml"),
            "{run:?}"
        );
    }
}

#[test]
fn a_wrong_place_or_template_stops_the_hook() {
    for (configuration, code) in [
        ("[hydrate]\ntmp_dir = \"relative\"\n", "tempfile"),
        ("[hydrate]\ntemplates = { context = 3 }\n", "template"),
    ] {
        let desk = Desk::with(configuration);
        let run = desk.hook(&desk.input(PROMPT));
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains(&format!("ERROR: {code}: ")), "{run:?}");
    }
}

#[test]
fn settings_reach_the_plan() {
    let desk = Desk::with(
        "[hydrate]\nmode = \"subagent\"\nmodel = \"sonnet\"\ntracker = \"jira\"\ntask_tool = \"update_plan\"\n",
    );
    let hydrated = desk.prompt(PROMPT);
    assert!(hydrated.instruction.contains("model=\"sonnet\""));
    assert!(
        hydrated.draft().contains(" jira task"),
        "{}",
        hydrated.draft()
    );
    assert!(hydrated.section("## Return Format").contains("update_plan"));
}

#[test]
fn templates_of_the_user_replace_the_embedded_ones() {
    let desk = Desk::new();
    let folder = desk.folder();
    folder.put(
        "c.md",
        format!(
            "---\ntitle: x\n---\n# Mine {{x}}\n\n{{{{prompt}}}}\n\n{{{{draft_plan}}}}\n{}\n",
            "filler ".repeat(80)
        ),
    );
    folder.put("i.md", "Read {{path}} with {{model}}: {{preview}}");
    desk.configure(&format!(
        "[hydrate]\nmode = \"subagent\"\n[hydrate.templates]\ncontext = {:?}\ninstruction = {:?}\n",
        folder.path("c.md"),
        folder.path("i.md")
    ));
    let hydrated = desk.prompt("shorten {{draft_plan}} it");
    assert!(
        hydrated.text.starts_with("# Mine {x}\n"),
        "{}",
        hydrated.text
    );
    assert!(hydrated.text.contains("shorten {{draft_plan}} it"));
    assert!(
        hydrated.instruction.starts_with("Read /"),
        "{}",
        hydrated.instruction
    );
}

#[test]
fn a_template_that_cannot_be_used_stops_the_prompt() {
    for (name, content) in [
        ("missing", None),
        ("binary", Some(b"\xff{{prompt}}".to_vec())),
        (
            "long",
            Some(format!("{{{{prompt}}}}{}", "x".repeat(65 * 1024)).into_bytes()),
        ),
        ("unknown", Some(b"{{prompt}} {{weather}}".to_vec())),
        ("without", Some(b"no placeholder".to_vec())),
    ] {
        let desk = Desk::new();
        if let Some(content) = content {
            desk.folder().put("c.md", content);
        }
        desk.configure(&format!(
            "[hydrate.templates]\ncontext = {:?}\n",
            desk.folder().path("c.md")
        ));
        let run = desk.hook(&desk.input(PROMPT));
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, ""),
            "{name}: {run:?}"
        );
        assert!(
            run.stderr.starts_with("ERROR: template: "),
            "{name}: {run:?}"
        );
        assert!(desk.files().is_empty(), "{name}");
        let run = desk.raw(
            &["--io-error-exit", "1"],
            desk.input(PROMPT).to_string().as_bytes(),
        );
        assert_eq!(run.status, 1);
        // What is skipped needs no template.
        assert_eq!(context(&desk.hook(&desk.input("/compact"))), "");
    }
}

#[test]
fn a_pack_counts_only_where_it_is_named() {
    let desk = Desk::new();
    let index = |flags: &[&str]| {
        desk.hydrated_with(flags, &desk.input(PROMPT))
            .section("## Workflow Index")
    };
    assert!(!index(&[]).contains("`email-reply`"));
    assert!(index(&["--pack", "extended"]).contains("`email-reply`"));
    desk.configure("[hydrate]\npacks = [\"extended\"]\n");
    assert!(index(&[]).contains("`email-reply`"));
}

/// No subagent is needed, unless the configuration or, before it, the flag says otherwise.
#[test]
fn the_mode_is_inline_by_default_and_subagent_where_it_is_asked_for() {
    let desk = Desk::new();
    let inline = |flags: &[&str]| {
        let hydrated = desk.hydrated_with(flags, &desk.input(PROMPT));
        let task = hydrated.instruction.contains("Task(subagent_type=");
        let plan = hydrated.instruction.contains("## Prompt Hydration\n");
        assert_ne!(task, plan, "{}", hydrated.instruction);
        plan
    };
    assert!(inline(&[]));
    assert!(!inline(&["--mode", "subagent"]));
    desk.configure("[hydrate]\nmode = \"subagent\"\n");
    assert!(!inline(&[]));
    assert!(inline(&["--mode", "inline"]));
    let run = desk.raw(
        &["--mode", "quiet"],
        desk.input(PROMPT).to_string().as_bytes(),
    );
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
}

/// Notes by default; `off` looks nowhere, and that is no failure; `http` needs its server.
#[test]
fn memory_comes_from_notes_a_server_or_nowhere() {
    let desk = Desk::new();
    desk.folder().put(
        "../home/.hydrant/notes/ui.md",
        "The tooltip of the archive button comes from a table.\n",
    );
    let memory = |configuration: &str| {
        desk.configure(configuration);
        let hydrated = desk.prompt(PROMPT);
        (
            hydrated.section("## Memory").contains("comes from a table"),
            hydrated.degraded(),
            hydrated.stderr,
        )
    };
    let nothing = Vec::<String>::new();
    for kind in ["", "[hydrate.memory]\nkind = \"notes\"\n"] {
        assert_eq!(memory(kind), (true, nothing.clone(), String::new()));
    }
    let off = memory("[hydrate.memory]\nkind = \"off\"\n");
    assert_eq!(off, (false, nothing, String::new()));
    // The policy allows no server at all.
    let server = "[hydrate.memory]\nkind = \"http\"\nurl = \"http://127.0.0.1:9/\"\n";
    let (found, degraded, stderr) = memory(server);
    assert!(!found && stderr.starts_with("WARN: memory: "), "{stderr}");
    assert_eq!(degraded, ["memory"]);
    let (_, _, stderr) = memory("[hydrate.memory]\nkind = \"oracle\"\n");
    assert!(stderr.contains("hydrate.memory.kind"), "{stderr}");
}

/// Flags go before variables, variables before the configuration.
#[test]
fn the_catalogue_of_a_flag_goes_before_that_of_a_variable_and_of_the_configuration() {
    let desk = Desk::new();
    for name in ["flag", "variable", "configured"] {
        desk.folder().put(
            &format!("{name}/workflows/{name}.md"),
            "---\nquality_gate: Ok\nmodifies_files: no\nsteps: [{name: Go}]\n---\n",
        );
    }
    let place = |name: &str| desk.folder().argument(name);
    desk.configure(&format!("[hydrate]\ncatalog = {:?}\n", place("configured")));
    // Which of the three is in the index of the file.
    let used = |flags: &[&str], variable: Option<&str>| {
        let before = desk.files();
        let mut command = desk.command(flags);
        if let Some(variable) = variable {
            command.env("HYDRANT_CATALOG", variable);
        }
        let run = crate::desk::feed(&mut command, desk.input(PROMPT).to_string().as_bytes());
        context(&run);
        assert_eq!(run.stderr, "");
        let new = desk.files().into_iter().find(|name| !before.contains(name));
        let text = fs::read_to_string(desk.tmp().join(new.unwrap())).unwrap();
        let index = crate::desk::section(&text, "## Workflow Index");
        ["flag", "variable", "configured"]
            .into_iter()
            .filter(|name| index.contains(&format!("- `{name}` (")))
            .collect::<Vec<_>>()
    };
    let (flag, variable) = (place("flag"), place("variable"));
    assert_eq!(used(&["--catalog", &flag], Some(&variable)), ["flag"]);
    assert_eq!(used(&[], Some(&variable)), ["variable"]);
    assert_eq!(used(&[], None), ["configured"]);
}

/// The file of settings and the policy may be named, by the hook and by the commands alike.
#[test]
fn config_and_policy_are_those_that_are_named() {
    let desk =
        Desk::with("[hydrate]\nmode = \"subagent\"\nmodel = \"from-home\"\ntracker = \"bd\"\n");
    desk.folder().put(
        "other.toml",
        "[hydrate]\nmode = \"subagent\"\nmodel = \"from-flag\"\n",
    );
    let other = desk.folder().argument("other.toml");
    let input = desk.input(PROMPT);
    let told = |flags: &[&str]| desk.hydrated_with(flags, &input).instruction;
    assert!(told(&[]).contains("model=\"from-home\""));
    assert!(told(&["--config", &other]).contains("model=\"from-flag\""));
    let tracked = |flags: &[&str]| {
        let plan = desk.plan_with(flags, PROMPT);
        plan["todos"].to_string().contains(" bd task")
    };
    assert!(tracked(&["--no-context"]));
    assert!(!tracked(&["--no-context", "--config", &other]));
    // A policy that gives the planner no fuel.
    desk.folder().put(
        "poor.yaml",
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling: {}\nhost: {limits: {fuel: 1000}}\n",
    );
    let poor = desk.folder().argument("poor.yaml");
    let run = desk.raw(&["--policy", &poor], input.to_string().as_bytes());
    assert_eq!(run.stdout, format!("{EMPTY}\n"), "{run:?}");
    assert!(run.stderr.starts_with("WARN: planner: "), "{run:?}");
    let run = desk.folder().run(&["route", "--policy", &poor, PROMPT]);
    assert_ne!(run.status, 0, "{run:?}");
    // What is skipped asks nobody.
    let skipped = json!({"session_id": "s", "prompt": "/compact"}).to_string();
    assert_eq!(
        context(&desk.raw(&["--policy", &poor], skipped.as_bytes())),
        ""
    );
}
