//! `hydrant skill`: foreign skills.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hydrant::base::read_bounded;
use hydrant::govern::governor::LoadRequest;
use hydrant::serve::operations::{Execute, ListLoaded, Load, Onboard, Show, Unload};
use hydrant::trust::limits;
use hydrant_canonical::Json;
use serde_json::{Value, json};

use super::govern::{Options, given};
use super::inside::Transport;
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

pub(super) fn run(arguments: &Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Load(arguments) => load(arguments, transport),
        Command::Execute(arguments) => {
            let options = &arguments.options;
            let params = match options.read(arguments.params()) {
                Ok(params) => params,
                Err(exit) => return Ok(exit),
            };
            let member = |name: &str, value: Json| (name.to_owned(), value);
            let members = Json::Object(vec![
                member("skill", Json::String(arguments.skill.clone())),
                member("operation", Json::String(arguments.operation.clone())),
                member("params", params),
            ]);
            options.ask::<Execute>(transport, arguments.session.as_deref(), members)
        }
        Command::Onboard(arguments) => {
            let options = &arguments.options;
            let input = match options.read(arguments.input()) {
                Ok(input) => input,
                Err(exit) => return Ok(exit),
            };
            let members = json!({ "skill": arguments.skill, "user_input": input });
            options.ask::<Onboard>(transport, arguments.session.as_deref(), members)
        }
        Command::List(arguments) => {
            let members = json!({ "since": arguments.since });
            arguments
                .options
                .ask::<ListLoaded>(transport, None, members)
        }
        Command::Show(arguments) => {
            let members = json!({ "skill": arguments.skill });
            arguments.options.ask::<Show>(transport, None, members)
        }
        Command::Unload(arguments) => {
            transport.socket([Some("skill unload")])?;
            let keep_approvals = arguments.keep_approvals;
            let members = json!({ "skill": arguments.skill, "keep_approvals": keep_approvals });
            arguments.options.ask::<Unload>(transport, None, members)
        }
    }
}

fn load(arguments: &LoadArguments, transport: &Transport) -> anyhow::Result<Exit> {
    transport.socket([
        (!arguments.files.is_empty()).then_some("--file"),
        arguments.check_only.then_some("--check-only"),
    ])?;
    let options = &arguments.options;
    let read = arguments
        .members()
        .and_then(|members| Ok((members, arguments.files()?)));
    let (members, files) = match options.read(read) {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    if arguments.check_only {
        let request = LoadRequest {
            source: arguments.source.clone(),
            force: arguments.force,
            ..LoadRequest::default()
        };
        return options.answer(|governor| governor.check_address(&request));
    }
    options.ask_with::<Load>(transport, None, members, |load| load.files = files)
}

impl LoadArguments {
    fn members(&self) -> anyhow::Result<Value> {
        Ok(json!({
            "source": self.source,
            "force": self.force,
            "base_url": self.base_url,
            "constants": pairs(&self.constants, "--set")?,
            "id": self.id,
            "only": self.only,
            "expect_digest": self.expect_digest,
        }))
    }

    fn files(&self) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let read = |(name, path): (String, String)| {
            let path = PathBuf::from(path);
            let bytes = read_bounded(&path, limits::MAX_JSON_BYTES)
                .with_context(|| format!("--file {}", path.display()))?;
            Ok((name, bytes))
        };
        pairs(&self.files, "--file")?
            .into_iter()
            .map(read)
            .collect()
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
        match Json::parse(&text).context("params")? {
            params @ Json::Object(_) => Ok(params),
            _ => bail!("params is one JSON object"),
        }
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
