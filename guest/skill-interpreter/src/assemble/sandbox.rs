//! Sandbox stages (K-127 to K-131, K-172 to K-178, K-211).

use super::data_files;
use super::inputs::Need;
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use super::secrets;
use crate::draft::{Package, Part, Program, SandboxDraft, Spelling, Template, Trust, Variable};
use crate::failure::Code;
use crate::model::{Encoding, Fetches, ProgramOut, SandboxStage, SecretKind, Segments};

/// K-131: names that steer the shell or the loader.
const STEERING: [&str; 8] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "IFS",
    "ENV",
    "CDPATH",
    "SHELLOPTS",
    "PS4",
];
/// K-131
const STEERING_BEGINNINGS: [&str; 6] = ["LD_", "BASH", "PYTHON", "NODE", "GO", "GIT"];

impl Assembly<'_> {
    pub(super) fn sandbox(&mut self, draft: &SandboxDraft) -> SandboxStage {
        let program = match &draft.program {
            Program::Argv(argv) => {
                ProgramOut::Argv(argv.iter().map(|word| self.argument(word)).collect())
            }
            Program::Code(code) => ProgramOut::Code(code.text.clone()),
            Program::File(file) => ProgramOut::File {
                name: file.name.clone(),
                digest: self.context.files.get(&file.name).cloned(),
            },
            Program::Module(name) => ProgramOut::Module(name.clone()),
            Program::Script(code) => ProgramOut::Script(code.text.clone()),
        };
        let args = draft.args.iter().map(|word| self.argument(word)).collect();
        let stdin = draft.stdin.as_ref().map(|text| {
            let text = self.with_constants(&scan(text, Place::Value));
            self.segments(&text, Encoding::None, Position::Argument, None, as_it_is)
        });
        for name in &draft.files {
            self.file(&Template::literal(name.clone()));
        }
        self.operands(draft);
        let env_inputs = self.environment(&draft.free_variables);
        self.mentioned_secrets(&draft.program);
        let mut packages: Vec<Package> = draft.packages.clone();
        packages.extend(self.declaration.packages.iter().map(|name| Package {
            runtime: draft.runtime.as_str().to_owned(),
            name: name.clone(),
        }));
        let tools = match &draft.trust {
            Trust::Tool { name } | Trust::Download { name } => vec![name.clone()],
            Trust::Installer => match &draft.program {
                Program::Argv(argv) => argv.first().map(Template::display).into_iter().collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        SandboxStage {
            runtime: draft.runtime,
            program,
            args,
            stdin,
            env_inputs,
            packages,
            fetches: match &draft.trust {
                Trust::Installer => Fetches::Installs,
                Trust::Download { .. } => Fetches::RunsDownloaded,
                _ => Fetches::Nothing,
            },
            constructs: match &draft.trust {
                Trust::Script { constructs } => constructs.clone(),
                _ => Vec::new(),
            },
            tools,
            declared_runtime: draft.declared_runtime.clone(),
        }
    }

    /// K-207, K-331: words that name a file of data may be files of the caller, found in the working directory then. They may
    /// as well be what the command makes, so none is required. Nothing that would be run is among them (K-178).
    fn operands(&mut self, draft: &SandboxDraft) {
        if !matches!(
            draft.trust,
            Trust::KnownRuntime | Trust::Tool { .. } | Trust::Download { .. }
        ) {
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

    /// K-131: free variables are secrets, or inputs that arrive in the environment.
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
                // K-341: never in the environment, where the author looks for it.
                self.diagnostics.warn(
                    Code::ScriptPlaceholder,
                    self.line,
                    format!(
                        "`${name}` is a secret and stays unset in the script; with the grant `secret-in-sandbox` its value \
                         is in the file /run/secrets/{name}"
                    ),
                );
            } else if !steers(name) {
                let template = Template {
                    parts: vec![Part::Variable(variable)],
                };
                let segments = self.segments(
                    &template,
                    Encoding::None,
                    Position::Argument,
                    None,
                    as_it_is,
                );
                inputs.extend(segments.inputs().map(str::to_owned));
            }
        }
        inputs
    }

    /// K-324: names that code mentions and section 11 calls secret. Of a script its free variables are known.
    fn mentioned_secrets(&mut self, program: &Program) {
        let (text, any) = match program {
            Program::Code(code) => (code.text.as_str(), true),
            Program::Script(code) => (code.text.as_str(), false),
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

/// K-131: `PATH`, `LD_PRELOAD`, `HTTPS_PROXY`, …
fn steers(name: &str) -> bool {
    STEERING.contains(&name)
        || STEERING_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
        || name.to_ascii_uppercase().ends_with("_PROXY")
}
