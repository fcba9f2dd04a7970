//! Sandbox stages.

use super::data_files;
use super::inputs::{Need, scalar};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use super::secrets;
use crate::draft::{Program, Spelling, Template, Variable};
use crate::failure::Code;
use crate::model::{Encoding, Fetches, Package, SandboxStage, SecretKind, Segments, steers};

impl Assembly<'_> {
    pub(super) fn sandbox(&mut self, draft: &SandboxStage<Template>) -> SandboxStage {
        let program = match &draft.program {
            Program::Argv(argv) => {
                Program::Argv(argv.iter().map(|word| self.argument(word)).collect())
            }
            Program::File { name, .. } => Program::File {
                name: name.clone(),
                digest: self.context.files.get(name).cloned(),
            },
            Program::Code(text) => Program::Code(text.clone()),
            Program::Module(name) => Program::Module(name.clone()),
            Program::Script(text) => Program::Script(text.clone()),
        };
        let args = draft.args.iter().map(|word| self.argument(word)).collect();
        let stdin = draft.stdin.as_ref().map(|text| self.text(text));
        self.operands(draft);
        let env_inputs = self.environment(&draft.env_inputs);
        self.mentioned_secrets(&draft.program);
        let runtime = draft.runtime;
        let declared = self.declaration.packages.iter().map(|name| Package {
            runtime: runtime.as_str().to_owned(),
            name: name.clone(),
        });
        SandboxStage {
            runtime,
            program,
            args,
            stdin,
            env_inputs,
            packages: draft.packages.iter().cloned().chain(declared).collect(),
            fetches: draft.fetches,
            constructs: draft.constructs.clone(),
            tools: draft.tools.clone(),
            declared_runtime: draft.declared_runtime.clone(),
        }
    }

    /// Adds the files of the caller that the command's words name as data, which it finds in the working directory then. They
    /// may as well be what the command makes, so none is required. Nothing that would be run is among them.
    fn operands(&mut self, draft: &SandboxStage<Template>) {
        if draft.fetches == Fetches::Installs || draft.is_script() {
            return;
        }
        let words = match &draft.program {
            Program::Argv(argv) => argv.get(1..).unwrap_or_default(),
            _ => &[],
        };
        for word in words.iter().chain(&draft.args) {
            if let Some(name) = word.as_literal().filter(|word| data_files::is_one(word)) {
                self.read_file(&name, Need::Optional);
            }
        }
    }

    fn argument(&mut self, word: &Template) -> Segments {
        let word = self.with_constants(&scan(word, Place::Argument));
        self.segments(&word, Encoding::Argv, Position::Argument, None, as_it_is)
    }

    /// The inputs that arrive in the environment, of these free variables; those that are secrets never do.
    fn environment(&mut self, names: &[String]) -> Vec<String> {
        let mut inputs = Vec::new();
        for name in names {
            let variable = Variable {
                name: name.clone(),
                spelling: Spelling::Dollar,
                default: None,
            };
            if self.is_secret(&variable, Position::Argument) {
                self.need_secret(name, SecretKind::Other);
                self.diagnostics.warn(
                    Code::ScriptPlaceholder,
                    self.line,
                    format!(
                        "`${name}` is a secret and stays unset in the script; with the grant `secret-in-sandbox` its value \
                         is in the file /run/secrets/{name}"
                    ),
                );
            } else if !steers(name) {
                inputs.push(self.input(&variable, Position::Argument, None, scalar()));
            }
        }
        inputs
    }

    /// Notes the secrets whose names the code mentions. Of a script the free variables are known.
    fn mentioned_secrets(&mut self, program: &Program<Template>) {
        let (text, any) = match program {
            Program::Code(code) => (code.as_str(), true),
            Program::Script(code) => (code.as_str(), false),
            _ => return,
        };
        for name in text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|name| name.len() >= 4)
        {
            let declared = self.context.is_secret(name)
                || self.declaration.secrets.iter().any(|secret| secret == name);
            let is_constant_name = name.starts_with(|c: char| c.is_ascii_uppercase())
                && name
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            let looks = any
                && is_constant_name
                && secrets::looks_secret(name)
                && !secrets::is_excluded(name);
            if declared || looks {
                self.need_secret(name, SecretKind::Other);
            }
        }
    }
}
