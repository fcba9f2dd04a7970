//! The parameters of a core capability, for people. Execution uses segments, never these.

use serde_json::{Map, Value, json};

use crate::model::{ProgramOut, SandboxStage, Segments, Stage};

/// The parameters of a stage; what is empty is left out.
pub(super) fn of(stage: &Stage) -> Map<String, Value> {
    let mut params = Map::new();
    let mut put = |name: &str, value: Value| {
        params.insert(name.to_owned(), value);
    };
    match stage {
        Stage::Http(stage) => return stage.readable.clone(),
        Stage::JsonFilter {
            program,
            options,
            args,
            json_args,
            ..
        } => {
            put("path", program.as_str().into());
            for option in options {
                put(option, true.into());
            }
            let mut named: Map<String, Value> = args
                .iter()
                .map(|(name, value)| (name.clone(), value.display().into()))
                .collect();
            named.extend(json_args.clone());
            if !named.is_empty() {
                put("args", named.into());
            }
        }
        Stage::TextTransform { tool, args, .. } => {
            put("tool", tool.as_str().into());
            put("args", list(args));
        }
        Stage::Println { text } => put("text", text.display().into()),
        Stage::ReadFile(stage) => {
            match stage.paths.as_slice() {
                [path] => put("path", path.as_str().into()),
                paths => put("paths", json!(paths)),
            }
            if let Some(excerpt) = &stage.excerpt {
                let mut range = Map::new();
                range.insert(excerpt.unit.clone(), excerpt.count.into());
                if excerpt.mode != "only" {
                    range.insert("mode".to_owned(), excerpt.mode.as_str().into());
                }
                put(&excerpt.tool, range.into());
            }
        }
        Stage::Sandbox(stage) => return sandbox(stage),
    }
    params
}

fn sandbox(stage: &SandboxStage) -> Map<String, Value> {
    let mut params = Map::new();
    let mut put = |name: &str, value: Value| {
        params.insert(name.to_owned(), value);
    };
    let with_args = !matches!(&stage.program, ProgramOut::Argv(_) | ProgramOut::Script(_));
    match &stage.program {
        ProgramOut::Argv(argv) => put("command", list(argv)),
        ProgramOut::Code(code) => put("code", code.as_str().into()),
        ProgramOut::File { name, .. } => put("script", name.as_str().into()),
        ProgramOut::Module(name) => put("module", name.as_str().into()),
        ProgramOut::Script(text) => put("script", text.as_str().into()),
    }
    if with_args && !stage.args.is_empty() {
        put("args", list(&stage.args));
    }
    if let Some(stdin) = &stage.stdin {
        put("stdin", stdin.display().into());
    }
    params
}

fn list(words: &[Segments]) -> Value {
    words.iter().map(Segments::display).collect()
}
