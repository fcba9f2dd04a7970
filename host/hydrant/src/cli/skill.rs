//! `hydrant skill`: foreign skills.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hydrant::base::read_bounded;
use hydrant::govern::governor::LoadRequest;
use hydrant::trust::limits;
use hydrant_canonical::Json;
use serde_json::{Value, json};

use super::govern::{Options, caller, given};
use super::inside::Inside;
use super::output::Exit;

/// Load, execute, list and unload skills that somebody else wrote
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Load(LoadArguments),
    Execute(ExecuteArguments),
    Onboard(OnboardArguments),
    List(ListArguments),
    Show(ShowArguments),
    Unload(UnloadArguments),
}

/// Read a skill.md, YAML, JSON or OpenAPI document and register its operations; nothing of it is run
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant skill load examples/skills/library.yaml
  hydrant skill load https://moltbook.com/skill.md --expect-digest sha256:…
  hydrant skill load tools.md --file report.py=./report.py --as reports

A path must lie below one of `skill_roots` of [govern] (the current directory unless configured); a host that is not in
`source_hosts` needs an approval. Each operation is pending until `hydrant approvals approve`.")]
struct LoadArguments {
    /// URL, or path of a file
    source: String,

    /// Load an address that does not look like a skill's
    #[arg(long)]
    force: bool,

    /// Base of relative endpoints
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Value of a variable of the document, such as a host; may be given more than once
    #[arg(long = "set", value_name = "NAME=VALUE")]
    constants: Vec<String>,

    /// Bytes of a code file that the document names; may be given more than once
    #[arg(long = "file", value_name = "NAME=PATH")]
    files: Vec<String>,

    /// Id of the skill, whatever the document says
    #[arg(long = "as", value_name = "ID")]
    id: Option<String>,

    /// Load only a part of an OpenAPI description: a tag, a path or an operation id; may be given more than once
    #[arg(long, value_name = "TAG|PATH|ID")]
    only: Vec<String>,

    /// Refuse a document of another digest
    #[arg(long, value_name = "DIGEST")]
    expect_digest: Option<String>,

    /// Only check the address: fetch and register nothing
    #[arg(long)]
    check_only: bool,

    #[command(flatten)]
    options: Options,
}

/// Execute an approved operation
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant skill execute library search '{\"query\":\"whales\"}'
  hydrant skill execute library search @params.json
  echo '{\"query\":\"whales\"}' | hydrant skill execute library search -")]
struct ExecuteArguments {
    /// Id of the skill
    skill: String,

    /// Id or alias of the operation
    operation: String,

    /// One JSON object, @FILE, or - for stdin
    #[arg(default_value = "{}")]
    params: String,

    /// Join a session, whose budget and grants for a session count
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    #[command(flatten)]
    options: Options,
}

/// Do what can be done now of the steps that a skill wants done first, and tell what each waits for
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant skill onboard library
  hydrant skill onboard library --input '\"reading-room\"'

A step's operation needs its approval like any other; what a person has to do, and whether a secret is kept that a service
gives, are approvals too (`hydrant approvals list --status pending`).")]
struct OnboardArguments {
    /// Id of the skill
    skill: String,

    /// What `{{user_input}}` of a step stands for: JSON, @FILE, or - for stdin
    #[arg(long, value_name = "JSON")]
    input: Option<String>,

    /// Join a session, whose budget and grants for a session count
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    #[command(flatten)]
    options: Options,
}

/// List the loaded skills and their capabilities
#[derive(Args)]
struct ListArguments {
    /// Only what changed since this generation
    #[arg(long, value_name = "N")]
    since: Option<u64>,

    #[command(flatten)]
    options: Options,
}

/// Show a skill: its text, manifests, diagnostics, and where each entry of a policy comes from
#[derive(Args)]
struct ShowArguments {
    /// Id of the skill
    skill: String,

    #[command(flatten)]
    options: Options,
}

/// Remove a skill's operations; its secrets and the chain stay
#[derive(Args)]
struct UnloadArguments {
    /// Id of the skill
    skill: String,

    /// Let grants live again when the same document is loaded from the same source
    #[arg(long)]
    keep_approvals: bool,

    #[command(flatten)]
    options: Options,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Load(arguments) => load(arguments),
        Command::Execute(arguments) => {
            let params = match arguments.options.read(arguments.params()) {
                Ok(params) => params,
                Err(exit) => return Ok(exit),
            };
            arguments.options.answer(|governor| {
                let caller = caller(arguments.session.as_deref())?;
                governor.execute(&caller, &arguments.skill, &arguments.operation, params)
            })
        }
        Command::Onboard(arguments) => {
            let input = match arguments.options.read(arguments.input()) {
                Ok(input) => input,
                Err(exit) => return Ok(exit),
            };
            arguments.options.answer(|governor| {
                let caller = caller(arguments.session.as_deref())?;
                governor.onboard(&caller, &arguments.skill, input.as_ref())
            })
        }
        Command::List(arguments) => arguments
            .options
            .answer(|governor| governor.list(&caller(None)?, arguments.since)),
        Command::Show(arguments) => arguments
            .options
            .answer(|governor| governor.show(&caller(None)?, &arguments.skill)),
        Command::Unload(arguments) => arguments.options.answer(|governor| {
            governor.unload(&caller(None)?, &arguments.skill, arguments.keep_approvals)
        }),
    }
}

fn load(arguments: &LoadArguments) -> anyhow::Result<Exit> {
    let request = match arguments.options.read(arguments.request()) {
        Ok(request) => request,
        Err(exit) => return Ok(exit),
    };
    arguments.options.answer(|governor| {
        if arguments.check_only {
            governor.check_address(&request)
        } else {
            governor.load(&caller(None)?, &request)
        }
    })
}

impl LoadArguments {
    fn request(&self) -> anyhow::Result<LoadRequest> {
        let files = pairs(&self.files, "--file")?
            .into_iter()
            .map(|(name, path)| {
                let path = PathBuf::from(path);
                let bytes = read_bounded(&path, limits::MAX_JSON_BYTES)
                    .with_context(|| format!("--file {}", path.display()))?;
                Ok((name, bytes))
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(LoadRequest {
            source: self.source.clone(),
            text: None,
            force: self.force,
            base_url: self.base_url.clone(),
            constants: pairs(&self.constants, "--set")?,
            files,
            as_id: self.id.clone(),
            only: self.only.clone(),
            expect_digest: self.expect_digest.clone(),
        })
    }

    /// What an agent may say of it.
    fn input(&self) -> anyhow::Result<Value> {
        let mut input = json!({ "url": self.source, "force": self.force });
        let members = [
            ("base-url", self.base_url.clone().map(Value::String)),
            ("as", self.id.clone().map(Value::String)),
            (
                "expect-digest",
                self.expect_digest.clone().map(Value::String),
            ),
            ("only", (!self.only.is_empty()).then(|| json!(self.only))),
            (
                "constants",
                (!self.constants.is_empty())
                    .then(|| pairs(&self.constants, "--set"))
                    .transpose()?
                    .map(|constants| json!(constants)),
            ),
        ];
        if let Value::Object(input) = &mut input {
            for (name, value) in members {
                if let Some(value) = value {
                    input.insert(name.to_owned(), value);
                }
            }
        }
        Ok(input)
    }
}

fn pairs(texts: &[String], option: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            bail!("{option} {text}: it must be NAME=VALUE");
        };
        if all.insert(name.to_owned(), value.to_owned()).is_some() {
            bail!("{option}: `{name}` is given twice");
        }
    }
    Ok(all)
}

impl ExecuteArguments {
    fn params(&self) -> anyhow::Result<Json> {
        let text = given(&self.params).context("params")?;
        Json::parse(&text).context("params")
    }
}

impl OnboardArguments {
    fn input(&self) -> anyhow::Result<Option<Value>> {
        let Some(input) = &self.input else {
            return Ok(None);
        };
        let text = given(input).context("--input")?;
        serde_json::from_slice(&text)
            .map(Some)
            .context("--input is not JSON; a text is given as '\"text\"'")
    }
}

/// What a jailed agent gets, by way of its socket.
pub(super) fn inside(arguments: &Arguments, hydrant: &mut Inside) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Load(arguments) => {
            hydrant.refuse((!arguments.files.is_empty()).then_some("--file"))?;
            hydrant.refuse(arguments.check_only.then_some("--check-only"))?;
            arguments
                .options
                .ask_outside(hydrant, "ccos.skill.load", arguments.input()?)
        }
        Command::Execute(arguments) => {
            hydrant.refuse(arguments.session.as_deref().map(|_| "--session"))?;
            let member = |name: &str, value: Json| (name.to_owned(), value);
            let input = Json::Object(vec![
                member("skill", Json::String(arguments.skill.clone())),
                member("operation", Json::String(arguments.operation.clone())),
                member("params", arguments.params()?),
            ]);
            arguments
                .options
                .ask_outside(hydrant, "ccos.skill.execute", input)
        }
        Command::Onboard(arguments) => {
            hydrant.refuse(arguments.session.as_deref().map(|_| "--session"))?;
            let mut input = json!({ "skill": arguments.skill });
            if let (Some(given), Value::Object(input)) = (arguments.input()?, &mut input) {
                input.insert("user-input".to_owned(), given);
            }
            arguments
                .options
                .ask_outside(hydrant, "ccos.skill.onboard", input)
        }
        Command::List(arguments) => {
            let input = json!({ "since": arguments.since });
            arguments
                .options
                .ask_outside(hydrant, "ccos.skill.list", input)
        }
        Command::Show(arguments) => {
            let input = json!({ "skill": arguments.skill });
            arguments
                .options
                .ask_outside(hydrant, "ccos.skill.show", input)
        }
        Command::Unload(_) => {
            hydrant.refuse(Some("skill unload"))?;
            Ok(Exit::Error)
        }
    }
}
