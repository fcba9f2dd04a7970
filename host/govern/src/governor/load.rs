//! A document becomes registered operations.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Caller, Governor};
use crate::chain::{Entry, Event, Outcome};
use crate::check::{self, CheckedOperation, CheckedSkill, Load};
use crate::client::Frontend;
use crate::digest;
use crate::execute;
use crate::failure::{Code, Failure};
use crate::guard::{self, Address, Document, Fetch};
use crate::ports::{Component, invalid};
use crate::registry::approvals::permit_source_host;
use crate::registry::{self, NewSkill};
use hydrant_plan::{Diagnostic, MAPPING_VERSION, Operation, Severity, Skill, Stage, Status};

/// Bytes of a code file, and of all of a load together.
const CODE_BYTES: usize = 1024 * 1024;

/// A skill to load.
#[derive(Debug, Clone, Default)]
pub struct LoadRequest {
    /// An address; from the command line also a path.
    pub source: String,
    /// The document itself, which is then not fetched from `source`; from the command line only.
    pub text: Option<String>,
    /// Load the document whatever its address looks like: a tweet's, or one without a skill suffix.
    pub force: bool,
    /// The base URL of relative endpoints, in place of the document's own.
    pub base_url: Option<String>,
    /// Values of variables, by name.
    pub constants: BTreeMap<String, String>,
    /// Bytes of code files, by name; from the command line only.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The skill id, in place of the document's own.
    pub as_id: Option<String>,
    /// Of an OpenAPI description only the operations with one of these tags, paths or ids.
    pub only: Vec<String>,
    /// The SHA-256 that the document's bytes must have.
    pub expect_digest: Option<String>,
}

/// What the interpreter answers to `load`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Answer {
    ok: bool,
    #[serde(default)]
    error: Option<Failure>,
    /// The version of the mapping registry, which digests cover.
    #[serde(default)]
    mapping_version: Option<String>,
    #[serde(default)]
    skill: Option<Skill>,
}

impl Governor {
    /// `--check-only`: steps 1 to 7 for what is named, without any grant; nothing is fetched.
    ///
    /// # Errors
    ///
    /// As [`guard::address`].
    pub fn check_address(&self, request: &LoadRequest) -> Result<Value, Failure> {
        guard::address(
            &request.source,
            request.force,
            guard::Frontend::CommandLine,
            &self.config,
        )?;
        Ok(json!({ "ok": true }))
    }

    /// Loads a skill. Nothing that the document names is executed, fetched or written.
    ///
    /// # Errors
    ///
    /// Those of the URL guard, of the document, and of the registry. Each is recorded as `skill-rejected`.
    pub fn load(&self, caller: &Caller, request: &LoadRequest) -> Result<Value, Failure> {
        let mut source = None;
        let loaded = self
            .try_load(caller, request, &mut source)
            .inspect_err(|failure| {
                let entry = Entry {
                    derived_from: source,
                    outcome: Outcome::Denied,
                    code: Some(failure.code),
                    ..caller.who().entry(Event::SkillRejected)
                };
                // The load is refused all the same.
                if let Err(error) = self.state.append(vec![entry]) {
                    tracing::warn!(%error, "a refused load is not recorded");
                }
            });
        self.redacted(loaded)
    }

    fn try_load(
        &self,
        caller: &Caller,
        request: &LoadRequest,
        source: &mut Option<String>,
    ) -> Result<Value, Failure> {
        let frontend = match caller.client() {
            client if client.frontend == Frontend::Cli && !client.jailed => {
                guard::Frontend::CommandLine
            }
            _ => guard::Frontend::Other,
        };
        let who = caller.who();
        let expected = request.expect_digest.as_deref();
        let (address, document) = match &request.text {
            Some(text) => guard::given(text, expected)?,
            None => {
                let address =
                    guard::address(&request.source, request.force, frontend, &self.config)?;
                *source = Some(address.identity());
                let permit = |pair: &str| permit_source_host(&self.state, pair, &who, self);
                let fetch = Fetch {
                    wire: self.wire.as_ref(),
                    config: &self.config,
                    permit: &permit,
                };
                let document = guard::fetch(&address, expected, &fetch)?;
                (address, document)
            }
        };
        *source = Some(address.identity());
        let checked = self.read(request, &address, &document)?;
        let new = NewSkill {
            checked,
            document: &document.bytes,
            files: &request.files,
        };
        let loaded = self
            .state
            .write(|change| registry::load(change, new, &who, self))?;
        Ok(json!(loaded))
    }

    /// What the interpreter reads in the document, checked.
    fn read(
        &self,
        request: &LoadRequest,
        address: &Address,
        document: &Document,
    ) -> Result<CheckedSkill, Failure> {
        let bytes = request.files.values().map(Vec::len);
        if bytes.fold(0, usize::saturating_add) > CODE_BYTES {
            return Err(Failure::new(
                Code::TooLarge,
                format!("the code files have more than {CODE_BYTES} bytes together"),
            ));
        }
        let files: BTreeMap<String, String> = request
            .files
            .iter()
            .map(|(name, bytes)| (name.clone(), digest::of_bytes(bytes)))
            .collect();
        let mut ask = json!({
            "op": "load",
            "source-url": address.source_url(),
            "content-b64": STANDARD.encode(&document.bytes),
            "constants": request.constants,
            "files": files,
        });
        if let Value::Object(members) = &mut ask {
            let optional = [
                ("content-type", &document.content_type),
                ("base-url", &request.base_url),
                ("as", &request.as_id),
            ];
            for (name, value) in optional {
                if let Some(value) = value {
                    members.insert(name.to_owned(), value.clone().into());
                }
            }
            if !request.only.is_empty() {
                members.insert("only".to_owned(), json!(request.only));
            }
        }
        let (skill, mapping_version) = match self.components.answer(Component::Interpreter, &ask)? {
            Answer {
                ok: true,
                skill: Some(skill),
                mapping_version: Some(version),
                ..
            } => (skill, version),
            Answer {
                ok: false,
                error: Some(failure),
                ..
            } => return Err(failure),
            _ => return Err(invalid("its answer is neither a skill nor a refusal")),
        };
        if mapping_version != MAPPING_VERSION {
            return Err(invalid(&format!(
                "its mapping is of version {mapping_version:?}, not {MAPPING_VERSION}"
            )));
        }
        let identity = address.identity();
        let mut checked = check::check(
            skill,
            Load {
                source: &identity,
                digest: &document.digest,
                constants: &request.constants,
                files: &files,
                mapping_version: &mapping_version,
                judge: self.judge(),
            },
        )?;
        mark_look_alikes(&mut checked);
        for operation in &mut checked.operations {
            let Err(failure) = self.can_run(&operation.operation) else {
                continue;
            };
            if failure.code == Code::StoreUnavailable {
                return Err(failure);
            }
            checked.skill.diagnostics.push(Diagnostic {
                code: failure.code,
                severity: Severity::Error,
                line: operation.operation.line,
                message: failure.message.clone(),
            });
            operation.give_up(failure);
        }
        Ok(checked)
    }

    /// Whether an operation can be run at all: every call reads its schema and its jq programs.
    fn can_run(&self, operation: &Operation) -> Result<(), Failure> {
        if operation.status != Status::Ok {
            return Ok(());
        }
        self.schemas.compiled(&operation.input_schema)?;
        for stage in &operation.stages {
            if let Stage::JsonFilter {
                program,
                args,
                json_args,
                ..
            } = stage
            {
                let variables = args.keys().chain(json_args.keys());
                execute::check_program(self.components.as_ref(), program, variables)?;
            }
        }
        Ok(())
    }
}

/// Says of ids that may look like others what they are: at the load, and to whoever approves.
fn mark_look_alikes(checked: &mut CheckedSkill) {
    const WHAT: &str = "has letters of several scripts, and may look like another one";
    let mut warn = |line, message: &str| {
        checked.skill.diagnostics.push(Diagnostic {
            code: Code::MixedScripts,
            severity: Severity::Warn,
            line,
            message: message.to_owned(),
        });
    };
    let of_skill = registry::mixes_scripts(&checked.skill.id);
    if of_skill {
        warn(1, &format!("the id of the skill {WHAT}"));
    }
    for CheckedOperation { operation, .. } in &mut checked.operations {
        if registry::mixes_scripts(&operation.id) {
            let message = format!("the id of the operation {WHAT}");
            warn(operation.line, &message);
            operation.notes.push(message);
        }
        if of_skill {
            operation.notes.push(format!("the id of the skill {WHAT}"));
        }
    }
}
