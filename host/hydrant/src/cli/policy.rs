//! `hydrant policy`: may this skill do that, which line says so, and what a policy file may say.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hydrant::policy::{self, CliMount, Explanation, Method, Question, VirtualPath};
use hydrant::{Host, schema};
use url::Url;

use super::config::{LayerOptions, PolicyOptions};
use super::output::{Exit, Format, Tone, print, print_line, skill_error};

/// Ask the policy questions
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Explain(Box<ExplainArguments>),
    /// Print the JSON Schema of policy files, for editors
    #[command(after_long_help = "\
Example:
  hydrant policy schema > policy.schema.json

An editor with the YAML language server reads it where the policy file begins with
`# yaml-language-server: $schema=./policy.schema.json`.")]
    Schema,
}

/// Say whether a skill may do something, which line decides, and which line would change it
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant policy explain --skill content.hydrate --path /os/agents/release-captain.md
  hydrant policy explain --skill content.hydrate --url https://docs.example.org/a.md --policy policy.yaml
  hydrant policy explain --skill content.hydrate --policy policy.yaml --program git status

Exit status: 0 allowed, 4 denied, 1 usage or other, 2 not the pinned bytes, 3 not trusted.")]
struct ExplainArguments {
    /// The pinned skill
    #[arg(long, value_name = "ID")]
    skill: String,

    #[command(flatten)]
    question: AskedFor,

    /// Working directory of --program, a virtual path
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/workspace",
        requires = "program"
    )]
    cwd: String,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    layers: LayerOptions,

    /// Directory behind /os [default: ./os]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Map a mount of the policy to a directory, as `run` does; may be given more than once
    #[arg(long = "mount", value_name = "AT=DIR")]
    mounts: Vec<String>,

    /// [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct AskedFor {
    /// GET of this URL
    #[arg(long)]
    url: Option<String>,

    /// Reading this virtual path, such as /os/agents/a.md
    #[arg(long)]
    path: Option<String>,

    /// Starting this program with these arguments; takes the rest of the line. A path at or below /os asks
    /// for the description of that tool
    #[arg(long, num_args = 1.., value_name = "PROGRAM [ARG]", allow_hyphen_values = true)]
    program: Option<Vec<String>>,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    match arguments.command {
        Command::Explain(arguments) => explain(*arguments),
        Command::Schema => {
            print(schema::text(&policy::schema()).as_bytes())?;
            Ok(Exit::Done)
        }
    }
}

fn explain(arguments: ExplainArguments) -> anyhow::Result<Exit> {
    let question = question(&arguments)?;
    let mut builder = arguments.layers.apply(Host::builder());
    builder = arguments.policy.apply(builder)?;
    if let Some(root) = &arguments.root {
        builder = builder.mount(CliMount::root(root));
    }
    for mount in &arguments.mounts {
        builder = builder.mount(CliMount::of_policy(mount)?);
    }
    let grant = builder
        .build()
        .and_then(|host| host.grant_of(&arguments.skill))
        .map_err(skill_error)?;
    let explanation = policy::explain(&grant, &question);
    match Format::or_default(arguments.format) {
        Format::Text => print_line(&text(&explanation))?,
        Format::Json => print_line(&json(&explanation))?,
    }
    Ok(if explanation.allowed {
        Exit::Done
    } else {
        Exit::Denied
    })
}

fn question(arguments: &ExplainArguments) -> anyhow::Result<Question> {
    let asked = &arguments.question;
    Ok(match (&asked.url, &asked.path, &asked.program) {
        (Some(url), _, _) => {
            let url = Url::parse(url).with_context(|| format!("--url {url:?} is no URL"))?;
            Question::Url {
                method: Method::Get,
                url,
            }
        }
        (_, Some(path), _) => {
            Question::Path(VirtualPath::parse(path).with_context(|| format!("--path {path:?}"))?)
        }
        (_, _, Some(argv))
            if argv
                .first()
                .is_some_and(|program| program.starts_with("/os/")) =>
        {
            let tool = argv.first().map_or("", String::as_str);
            Question::Tool(VirtualPath::parse(tool).with_context(|| format!("--program {tool:?}"))?)
        }
        (_, _, Some(argv)) => Question::Program {
            argv: argv.clone(),
            directory: VirtualPath::parse(&arguments.cwd)
                .with_context(|| format!("--cwd {:?}", arguments.cwd))?,
        },
        (None, None, None) => bail!("one of --url, --path and --program is needed"),
    })
}

fn text(explanation: &Explanation) -> String {
    let (tone, verdict) = if explanation.allowed {
        (Tone::Good, "allowed")
    } else {
        (Tone::Bad, "denied")
    };
    let verdict = tone.paint(verdict, &std::io::stdout());
    let line = match explanation.decided_by.text.as_str() {
        "" => String::new(),
        text => format!("\n              {text}"),
    };
    format!(
        "{verdict}  {}\n  decided by  {}{line}\n  to change   {}",
        explanation.capability, explanation.decided_by, explanation.would_change,
    )
}

fn json(explanation: &Explanation) -> String {
    serde_json::json!({
        "allowed": explanation.allowed,
        "capability": explanation.capability,
        "decided_by": explanation.decided_by.to_string(),
        "line": explanation.decided_by.text,
        "would_change": explanation.would_change,
    })
    .to_string()
}
