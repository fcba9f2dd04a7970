//! What the commands about prompts share: `hook`, `plan`, `route` and `catalog`.

use std::path::{Path, PathBuf};

use clap::Args;
use hydrant::Host;
use hydrant::home;
use hydrant::hook::{
    MakeHost, Mode, Planner, PlannerError, PlannerMounts, Settings, Source, Surroundings, Warning,
};
use hydrant::policy::{CliMount, VirtualPath};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::config::{AuditOptions, PinOptions, PolicyOptions};
use super::output::tell;

/// Where workflows come from.
#[derive(Args)]
pub(super) struct CatalogOptions {
    /// Directory of the catalogue of workflows [default: $HYDRANT_CATALOG, else `catalog` of [hydrate], else the embedded
    /// one]
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,

    /// Also use this optional pack of workflows; may be given more than once
    #[arg(long = "pack", value_name = "NAME")]
    packs: Vec<String>,
}

/// Under what a planner is asked.
#[derive(Args)]
pub(super) struct PlannerOptions {
    #[command(flatten)]
    pub(super) catalog: CatalogOptions,

    #[command(flatten)]
    pub(super) policy: PolicyOptions,

    #[command(flatten)]
    pins: PinOptions,

    #[command(flatten)]
    audit: AuditOptions,
}

/// Why one of these commands ends with exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(String);

/// Exit status 2, whatever it is.
pub(super) fn usage(error: impl std::error::Error) -> anyhow::Error {
    usage_error(error.to_string())
}

/// The same of a text.
pub(super) fn usage_error(message: impl Into<String>) -> anyhow::Error {
    UsageError(message.into()).into()
}

impl CatalogOptions {
    fn apply(&self, settings: &mut Settings) -> Result<(), String> {
        if let Some(catalog) = named_path(self.catalog.as_deref(), "HYDRANT_CATALOG") {
            settings.catalog = Some(catalog);
        }
        for pack in &self.packs {
            if !Settings::is_pack(pack) {
                return Err(format!("--pack {pack:?} is no name of a pack"));
            }
            if !settings.packs.contains(pack) {
                settings.packs.push(pack.clone());
            }
        }
        Ok(())
    }
}

impl PlannerOptions {
    /// Settings for a command: what is wrong in the configuration ends it.
    pub(super) fn settings(&self, warnings: &mut Vec<Warning>) -> anyhow::Result<Settings> {
        let read = self.policy.hydrate();
        let (mut settings, problems) =
            read.map_err(|error| usage_error(super::output::in_one_line(&error)))?;
        for problem in problems {
            if !problem.unknown {
                return Err(usage_error(problem.message));
            }
            warnings.push(Warning::new(Source::Config, problem.message));
        }
        self.catalog.apply(&mut settings).map_err(usage_error)?;
        Ok(settings)
    }

    /// Settings for the hook, which goes on without what it cannot use; the error stops the prompt.
    pub(super) fn hook_settings(
        &self,
        warnings: &mut Vec<Warning>,
    ) -> anyhow::Result<Result<Settings, (&'static str, String)>> {
        let (mut settings, problems) = self.policy.hydrate()?;
        for problem in problems {
            if problem.stops_the_hook() {
                let code = if problem.key == "hydrate.tmp_dir" {
                    "tempfile"
                } else {
                    "template"
                };
                return Ok(Err((code, problem.message)));
            }
            warnings.push(Warning::new(Source::Config, problem.message));
        }
        if let Err(message) = self.catalog.apply(&mut settings) {
            warnings.push(Warning::new(Source::Config, message));
        }
        Ok(Ok(settings))
    }

    /// The hosts of a run. The planner's opens no mount of the policy and reaches nothing; that of what goes out is made
    /// only where something does.
    pub(super) fn hosts(&self) -> anyhow::Result<(MakeHost, MakeHost)> {
        let audit = self.audit.target(&self.policy)?;
        let context = self.audit.context();
        let begin = || -> anyhow::Result<hydrant::HostBuilder> {
            let builder = self.pins.apply(self.policy.apply(Host::builder())?)?;
            let builder = builder.audit(audit.clone());
            Ok(match &context {
                Some(context) => builder.context(context.clone()),
                None => builder,
            })
        };
        let planner = begin()?.without_mounts();
        let net = begin()?.mount(CliMount::nothing(VirtualPath::workspace()));
        Ok((
            Box::new(move || shared(planner)),
            Box::new(move || shared(net)),
        ))
    }

    /// Everything that a run of the hook or of `plan` needs.
    pub(super) fn surroundings(
        &self,
        settings: Settings,
        warnings: Vec<Warning>,
        started: Instant,
    ) -> anyhow::Result<Surroundings> {
        let (host, net) = self.hosts()?;
        Ok(Surroundings {
            settings,
            warnings,
            host,
            net,
            notes: home::folder().map(|home| home.join("notes")),
            started,
        })
    }

    /// A planner that sees the catalogue and nothing else.
    pub(super) fn planner(&self, settings: &Settings) -> anyhow::Result<Planner> {
        let (host, _) = self.hosts()?;
        let host = host().map_err(usage_error)?;
        let planner = Planner::new(host);
        Ok(match &settings.catalog {
            None => planner,
            Some(catalog) => {
                let mounts = PlannerMounts::default().with_catalog(catalog);
                let mounts = mounts
                    .map_err(|error| usage_error(format!("{}: {error}", catalog.display())))?;
                planner.seeing(mounts)
            }
        })
    }
}

fn shared(builder: hydrant::HostBuilder) -> Result<Arc<Host>, String> {
    builder
        .build()
        .map(Arc::new)
        .map_err(|error| error.to_string())
}

/// The time of one call of the planner by a command, which nobody waits for as for the hook.
pub(super) const CALL: Duration = Duration::from_secs(60);

/// A planner that has no answer ends the command with exit status 2.
pub(super) fn answered<T>(result: Result<T, PlannerError>) -> anyhow::Result<T> {
    result.map_err(usage)
}

/// The prompt of an argument, or of stdin for `-`.
pub(super) fn prompt(argument: &str) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let read = hydrant::hook::read_input(std::io::stdin(), Duration::from_secs(3600));
    read.map_err(|error| usage_error(format!("stdin: {error}")))
}

/// A path of a flag, else of a variable; an empty one counts as none.
pub(super) fn named_path(flag: Option<&Path>, variable: &str) -> Option<PathBuf> {
    flag.map(Path::to_owned)
        .or_else(|| std::env::var_os(variable).map(PathBuf::from))
        .filter(|path| !path.as_os_str().is_empty())
}

/// Warnings of a command, to stderr.
pub(super) fn warn(warnings: &[Warning]) {
    for warning in warnings {
        tell(&warning.to_string());
    }
}

/// `--mode`
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum ModeArgument {
    /// A subagent reads the file and plans
    Subagent,
    /// The plan itself is the context
    Inline,
}

impl From<ModeArgument> for Mode {
    fn from(mode: ModeArgument) -> Self {
        match mode {
            ModeArgument::Subagent => Self::Subagent,
            ModeArgument::Inline => Self::Inline,
        }
    }
}
