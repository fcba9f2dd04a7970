//! A user's desk: a home, a working tree, a folder for temp files, and the hook run in it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Folder, Run};

pub(crate) const EMPTY: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":""}}"#;

pub(crate) struct Desk {
    folder: Folder,
}

/// A hydrated prompt: what the agent is told, and what the file holds.
pub(crate) struct Hydrated {
    pub(crate) instruction: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            folder: Folder::new(),
        }
    }

    /// With this table `[hydrate]`, or any other text of the configuration.
    pub(crate) fn with(configuration: &str) -> Self {
        let desk = Self::new();
        desk.configure(configuration);
        desk
    }

    pub(crate) fn configure(&self, configuration: &str) {
        let home = self.folder.home();
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("hydrant.toml"), configuration).unwrap();
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The folder of the temp files.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.folder.path("../tmp")
    }

    /// The working tree.
    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.path("tree")
    }

    /// What is in the folder of the temp files; none if there is no folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.tmp()) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A hook's input for a prompt, with a working tree if there is one.
    pub(crate) fn input(&self, prompt: &str) -> Value {
        let mut input = json!({
            "session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": prompt,
        });
        if self.tree().is_dir() {
            input["cwd"] = json!(self.tree());
        }
        input
    }

    pub(crate) fn command(&self, flags: &[&str]) -> Command {
        let mut arguments = vec!["hook", "user-prompt-submit"];
        arguments.extend(flags);
        let mut command = self.folder.command(&arguments);
        command.env("HYDRANT_TMPDIR", self.tmp());
        command
    }

    /// The hook with these bytes on stdin.
    pub(crate) fn raw(&self, flags: &[&str], stdin: &[u8]) -> Run {
        feed(&mut self.command(flags), stdin)
    }

    /// The hook with this input.
    pub(crate) fn hook(&self, input: &Value) -> Run {
        self.raw(&[], input.to_string().as_bytes())
    }

    /// The hook with this input, which must be hydrated into one new file.
    pub(crate) fn hydrated(&self, input: &Value) -> Hydrated {
        self.hydrated_with(&[], input)
    }

    pub(crate) fn hydrated_with(&self, flags: &[&str], input: &Value) -> Hydrated {
        let before = self.files();
        let run = self.raw(flags, input.to_string().as_bytes());
        let instruction = context(&run);
        let new: Vec<_> = self
            .files()
            .into_iter()
            .filter(|name| !before.contains(name))
            .collect();
        assert_eq!(new.len(), 1, "{run:?}");
        let path = self.tmp().canonicalize().unwrap().join(&new[0]);
        let named = self.tmp().join(&new[0]);
        assert!(instruction.contains(named.to_str().unwrap()), "{run:?}");
        Hydrated {
            text: fs::read_to_string(&path).unwrap(),
            instruction,
            path,
            stderr: run.stderr,
        }
    }

    /// The hook with this prompt, which must be hydrated.
    pub(crate) fn prompt(&self, prompt: &str) -> Hydrated {
        self.hydrated(&self.input(prompt))
    }

    /// The plan of a prompt as JSON, without any context.
    pub(crate) fn plan(&self, prompt: &str) -> Value {
        self.plan_with(&["--no-context"], prompt)
    }

    pub(crate) fn plan_with(&self, flags: &[&str], prompt: &str) -> Value {
        let mut arguments = vec!["plan", "--format", "json"];
        arguments.extend(flags);
        arguments.extend(["--", prompt]);
        self.folder.ok(&arguments).json()
    }
}

impl Hydrated {
    /// A section of the file, without its heading line.
    pub(crate) fn section(&self, heading: &str) -> String {
        section(&self.text, heading)
    }

    /// The words after `degraded:` in the draft's status line.
    pub(crate) fn degraded(&self) -> Vec<String> {
        let draft = self.section("## Draft Plan");
        let status = draft
            .lines()
            .find(|line| line.starts_with("planner: "))
            .unwrap_or_else(|| panic!("no status line in {draft}"));
        let (_, words) = status.split_once("degraded: ").unwrap();
        let words = words.split(", ").filter(|word| *word != "none");
        words.map(str::to_owned).collect()
    }

    /// The plan in the file, as text.
    pub(crate) fn draft(&self) -> String {
        let draft = self.section("## Draft Plan");
        let (_, rest) = draft.split_once("````markdown\n").unwrap();
        let (plan, _) = rest.split_once("````").unwrap();
        plan.to_owned()
    }

    /// The id of the chosen workflow.
    pub(crate) fn workflow(&self) -> String {
        let draft = self.draft();
        let (_, rest) = draft.split_once("**Workflow**: ").unwrap();
        rest.split_once(' ').unwrap().0.to_owned()
    }
}

/// What stands under a heading that no fence hides.
pub(crate) fn section(text: &str, heading: &str) -> String {
    let (mut inside, mut fence) = (None::<String>, None::<usize>);
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open && line.trim_start_matches('`').is_empty() => fence = None,
            None if ticks >= 3 => fence = Some(ticks),
            None if line.starts_with("## ") => {
                if let Some(inside) = inside {
                    return inside;
                }
                if line == heading || line.starts_with(&format!("{heading}:")) {
                    inside = Some(String::new());
                    continue;
                }
            }
            _ => {}
        }
        if let Some(inside) = &mut inside {
            inside.push_str(line);
            inside.push('\n');
        }
    }
    inside.unwrap_or_else(|| panic!("no {heading} in {text}"))
}

/// The `additionalContext` of an answer that must be the success shape.
pub(crate) fn context(run: &Run) -> String {
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
    let answer = run.json();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&answer), ["hookSpecificOutput"]);
    let output = &answer["hookSpecificOutput"];
    assert_eq!(keys(output), ["hookEventName", "additionalContext"]);
    assert_eq!(output["hookEventName"], "UserPromptSubmit");
    output["additionalContext"].as_str().unwrap().to_owned()
}

/// Runs a command with these bytes on stdin.
pub(crate) fn feed(command: &mut Command, stdin: &[u8]) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Who refuses its arguments does not read.
    let _ = pipe.write_all(stdin);
    drop(pipe);
    child.wait_with_output().unwrap().into()
}
