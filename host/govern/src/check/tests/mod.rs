//! The fixtures are answers of the interpreter itself, without the text of their documents.

mod forged;
mod judged;
mod manifest;

use std::collections::BTreeMap;

use hydrant_plan::Stage;

use super::*;
use crate::digest;

const MOLTBOOK: &str = include_str!("../fixtures/moltbook.json");
const KIT: &str = include_str!("../fixtures/kit.json");
const RARER: &str = include_str!("../fixtures/rarer.json");
const BOOKS: &str = include_str!("../fixtures/books.json");
const NOTEBOOK: &str = include_str!("../fixtures/notebook.json");

fn skill(text: &str) -> Skill {
    serde_json::from_str(text).unwrap()
}

/// Of the document that a fixture is the answer to.
fn files() -> BTreeMap<String, String> {
    BTreeMap::from([(
        "script.py".to_owned(),
        format!("sha256:{}", "ab".repeat(32)),
    )])
}

fn checked_with(skill: Skill, config: &Config) -> Result<CheckedSkill, Failure> {
    let load = Load {
        source: "https://moltbook.com/skill.yaml",
        digest: "sha256:00",
        constants: &BTreeMap::new(),
        files: &files(),
        mapping_version: "1",
        judge: Judge {
            config,
            lacks_sandbox: &|_| false,
        },
    };
    check(skill, load)
}

fn checked(text: &str) -> CheckedSkill {
    checked_with(skill(text), &Config::default()).unwrap()
}

fn config(text: &str) -> Config {
    Config::from_toml(&format!("[govern]\n{text}\n")).unwrap()
}

/// An answer of which one operation was altered.
fn altered_with(
    text: &str,
    id: &str,
    config: &Config,
    alter: impl FnOnce(&mut Operation),
) -> CheckedOperation {
    let mut skill = skill(text);
    let operations = skill.operations.iter_mut();
    alter(
        operations
            .into_iter()
            .find(|operation| operation.id == id)
            .unwrap(),
    );
    let checked = checked_with(skill, config).unwrap();
    operation(&checked, id).clone()
}

fn altered(text: &str, id: &str, alter: impl FnOnce(&mut Operation)) -> CheckedOperation {
    altered_with(text, id, &Config::default(), alter)
}

/// The code of an operation that cannot be used.
fn refused(operation: &CheckedOperation) -> Option<Code> {
    match &operation.operation.status {
        Status::Ok => None,
        Status::Unusable { code, .. } => Some(*code),
    }
}

fn operation<'a>(skill: &'a CheckedSkill, id: &str) -> &'a CheckedOperation {
    skill
        .operations
        .iter()
        .find(|checked| checked.operation.id == id)
        .unwrap()
}

fn request(operation: &mut Operation) -> &mut hydrant_plan::HttpStage {
    match operation.stages.first_mut() {
        Some(Stage::Http(stage)) => stage,
        _ => panic!("no request"),
    }
}
