//! Front matter: the keys of a skill, what skills of other tools say below `metadata`, and what is left of broken YAML.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::document::{Candidate, SkillDeclaration, structured};
use crate::failure::{Code, Failure};
use crate::model::Format;
use kit::yaml::{self, Node, Tree, Value};

/// The line of the document that front matter begins on.
const FIRST_LINE: u32 = 2;

/// Keys that front matter has and a structured skill has not, or that are read here.
const OWN_KEYS: [&str; 6] = [
    "metadata",
    "allowed-tools",
    "compatibility",
    "auth_type",
    "runtime",
    "operations",
];

/// Which code fences are operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeFences {
    /// Those with an annotation.
    Annotated,
    /// Those of a language that can be run.
    All,
}

/// What front matter says.
#[derive(Debug)]
pub(crate) struct FrontMatter<'t> {
    /// What it says of the skill; its operations come later, because the rest of the document has a say in how they are read.
    pub(crate) skill: SkillDeclaration,
    pub(crate) code_fences: CodeFences,
    /// Whether the document is at least a description.
    pub(crate) says_name_and_description: bool,
    /// Its YAML, if it is a mapping.
    tree: Option<Tree<'t>>,
}

impl<'t> FrontMatter<'t> {
    /// Reads what stands between the delimiters.
    ///
    /// # Errors
    ///
    /// `schema`, `limit`.
    pub(crate) fn read(
        text: Option<&'t str>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Failure> {
        let mut front = Self {
            skill: SkillDeclaration::new(Format::Markdown),
            code_fences: CodeFences::Annotated,
            says_name_and_description: false,
            tree: None,
        };
        let Some(text) = text else {
            return Ok(front);
        };
        let reason = match yaml::read_yaml(text, FIRST_LINE) {
            Ok(tree) => {
                let Some(root) = tree.root().filter(|root| !root.is_null()) else {
                    return Ok(front);
                };
                if root.is_map() {
                    front.keys(root, diagnostics)?;
                    front.tree = Some(tree);
                    None
                } else {
                    Some((root.line(), format!("it is a {}", root.type_name())))
                }
            }
            Err(error) if error.is_limit() => {
                return Err(Failure::new(Code::Limit, error.to_string()).at_line(error.line()));
            }
            Err(error) => Some((error.line(), error.to_string())),
        };
        if let Some((line, reason)) = reason {
            let message = format!("front matter is no YAML mapping: {reason}");
            diagnostics.warn(Code::FrontmatterYaml, line, message);
            front.recover(text);
        }
        front.says_name_and_description =
            !front.skill.name.trim().is_empty() && !front.skill.description.trim().is_empty();
        Ok(front)
    }

    /// The operations that front matter gives.
    ///
    /// # Errors
    ///
    /// `schema`, `unknown-op-key`.
    pub(crate) fn operations(
        &self,
        context: &Context,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<Candidate>, Failure> {
        let root = self.tree.as_ref().and_then(Tree::root);
        match root.and_then(|root| root.get("operations")) {
            Some(operations) if !operations.is_null() => {
                structured::operations(operations, context, diagnostics)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn keys(&mut self, root: Node<'_>, diagnostics: &mut Diagnostics) -> Result<(), Failure> {
        structured::skill_keys(root, &OWN_KEYS, &mut self.skill, diagnostics)?;
        let runtime = root
            .get("runtime")
            .is_some_and(|runtime| !runtime.is_null());
        if runtime || !self.skill.declared_capabilities.is_empty() {
            self.code_fences = CodeFences::All;
        }
        for key in [
            "metadata",
            "allowed-tools",
            "compatibility",
            "auth_type",
            "runtime",
        ] {
            if let Some(value) = root.get(key).filter(|value| !value.is_null()) {
                self.skill.recorded.insert(key.to_owned(), value.to_json());
            }
        }
        if let Some(metadata) = root.get("metadata") {
            self.metadata(metadata);
        }
        Ok(())
    }

    /// What `metadata` says of secrets and tools. Whatever else stands there, or has another shape, is somebody else's.
    fn metadata(&mut self, metadata: Node<'_>) {
        // Names that are certainly secrets. Which of the others are settings, the rest of the document says.
        let mut declared: BTreeSet<String> = self.skill.secrets.iter().cloned().collect();
        match metadata.value() {
            Value::Map => {
                self.requirements(metadata, &mut declared);
                metadata
                    .entries()
                    .for_each(|(_, value)| self.requirements(value, &mut declared));
            }
            // A JSON object on one line, quoted.
            Value::Text(text) => {
                let line = metadata.line();
                if let Ok(tree) = yaml::read_json(text, line)
                    && let Some(root) = tree.root().filter(Node::is_map)
                {
                    self.requirements(root, &mut declared);
                    root.entries()
                        .for_each(|(_, value)| self.requirements(value, &mut declared));
                    self.skill
                        .recorded
                        .insert("metadata".to_owned(), root.to_json());
                }
            }
            _ => {}
        }
        self.skill.settings.retain(|name| !declared.contains(name));
    }

    fn requirements(&mut self, value: Node<'_>, declared: &mut BTreeSet<String>) {
        let requires = value.get("requires");
        let env = requires.and_then(|requires| requires.get("env"));
        let primary = value.get("primaryEnv");
        let primary: Vec<String> = primary.iter().flat_map(texts).collect();
        let names: Vec<String> = env.iter().flat_map(texts).collect();
        self.skill.settings.extend(names.iter().cloned());
        declared.extend(primary.iter().cloned());
        super::add_new(&mut self.skill.secrets, names.into_iter().chain(primary));
        let tools = requires.and_then(|requires| requires.get("bins"));
        super::add_new(&mut self.skill.tools, tools.iter().flat_map(texts));
    }

    /// Of broken YAML: `name:` and `description:`, each with the rest of its line.
    fn recover(&mut self, text: &str) {
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let target = match key {
                "name" => &mut self.skill.name,
                "description" => &mut self.skill.description,
                _ => continue,
            };
            if target.is_empty() {
                unquoted(value.trim()).clone_into(target);
            }
        }
    }
}

/// The texts of a list, or one text.
fn texts<'t>(node: &Node<'t>) -> impl Iterator<Item = String> + use<'t> {
    let one = node.as_text().map(str::to_owned);
    let items = node
        .items()
        .filter_map(|item| item.as_text().map(str::to_owned));
    one.into_iter().chain(items).filter(|text| !text.is_empty())
}

/// A value without the quotes around the whole of it.
fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}
