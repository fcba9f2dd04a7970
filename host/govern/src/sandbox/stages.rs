//! Runs sandbox stages, and says beforehand whether one could run.

use std::sync::{Mutex, OnceLock};

use hydrant_jail::Launcher;

use super::resources::Allowed;
use super::{
    Caps, SandboxEnd, SandboxRun, Settings, plan, required, supervise, text_tool, unavailable, view,
};
use crate::budget::Dimension;
use crate::chain::Used;
use crate::failure::Failure;
use crate::locked;
use hydrant_plan::{Policy, SandboxStage};

/// Runs sandbox stages.
pub struct Sandbox {
    launcher: Launcher,
    settings: Settings,
    /// What came of the first jail of this process.
    ready: OnceLock<Result<(), Failure>>,
    /// Versions that runtimes gave when they were asked.
    versions: Mutex<required::Versions>,
}

impl Sandbox {
    /// Sandboxes of this host. The launcher should be [`Launcher::checked`].
    #[must_use]
    pub fn new(launcher: Launcher, settings: Settings) -> Self {
        Self {
            launcher,
            settings,
            ready: OnceLock::new(),
            versions: Mutex::default(),
        }
    }

    /// Whether this stage could run now. Starts nothing that a skill names; the first call of a process
    /// makes a jail to see that there is one, and a runtime whose version matters may be asked for it, in a jail.
    ///
    /// # Errors
    ///
    /// `tool-unavailable` with what is missing; `jail-unavailable`, from then on always; `path-not-allowed` for
    /// directories of the policy; `limit` for a resource of which the policy allows none; `secret-unbound` for a
    /// secret that would be an argument.
    pub fn check(&self, stage: &SandboxStage, policy: &Policy) -> Result<(), Failure> {
        required::require(stage)?;
        plan::require_plain_arguments(stage)?;
        Allowed::new(&policy.resources, Caps::default())?;
        view::mounts(policy, &self.settings)?;
        view::egress(policy)?;
        self.ready()?;
        self.require_version(stage)
    }

    /// Says that a stage will be run soon: half of the work of making a jail begins.
    pub fn prepare(&self) {
        self.launcher.prepare();
    }

    /// Runs a stage to its end.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::check`]; `digest-mismatch` for a code file that is not the approved one; `secret-unbound` for a
    /// secret that the policy does not list; `invalid-input` for names of files and arguments that cannot be. Nothing
    /// ran then. With `executed: true`: `jail-unavailable` where the jail was lost, and `store-unavailable` where the
    /// output directory cannot be written.
    pub fn run(&self, run: &SandboxRun<'_>) -> Result<SandboxEnd, Failure> {
        self.ready()?;
        self.require_version(run.stage)?;
        let allowed = Allowed::new(&run.policy.resources, run.caps)?;
        let pairs = view::egress(run.policy)?;
        if pairs.is_empty() {
            let plan = plan::of(run, &allowed, &self.settings, None)?;
            return supervise::run(&self.launcher, plan, run, &allowed);
        }
        let mut ended = None;
        let report = run.egress.during(
            &pairs,
            run.allow_private,
            allowed.network_bytes,
            &mut |socket| {
                ended = Some(
                    view::reference(socket)
                        .map_err(|error| unavailable(format_args!("the proxy: {error}")))
                        .and_then(|proxy| plan::of(run, &allowed, &self.settings, Some(proxy)))
                        .and_then(|plan| supervise::run(&self.launcher, plan, run, &allowed)),
                );
            },
        )?;
        let mut ended =
            ended.unwrap_or_else(|| Err(unavailable(format_args!("the proxy did nothing"))))?;
        ended.used.network_bytes = report.bytes;
        if report.exhausted {
            ended.exhausted.get_or_insert(Dimension::NetworkBytes);
        }
        ended.egress = Some(report);
        Ok(ended)
    }

    /// A text tool that the interpreter does not have: standard input to standard output, in a jail without
    /// files, network and secrets; `sed` and `awk` with their own sandbox.
    ///
    /// # Errors
    ///
    /// `tool-unavailable`, `jail-unavailable`; `transform` with what it wrote to standard error where it did not exit
    /// with 0 (1 is no failure of `grep`); `timeout`; `budget-exhausted`; `limit` where it wrote more than 10 MiB.
    pub fn text_tool(
        &self,
        tool: &str,
        args: &[String],
        stdin: &[u8],
        caps: Caps,
    ) -> Result<(Vec<u8>, Used), Failure> {
        self.ready()?;
        text_tool::run(&self.launcher, &self.settings, tool, args, stdin, caps)
    }

    /// Whether [`Sandbox::text_tool`] could be run.
    ///
    /// # Errors
    ///
    /// `tool-unavailable`, `jail-unavailable`.
    pub fn check_text_tool(&self, tool: &str) -> Result<(), Failure> {
        text_tool::require(tool)?;
        self.ready()
    }

    /// The first jail of this process; what came of it holds until restart.
    fn ready(&self) -> Result<(), Failure> {
        self.ready
            .get_or_init(|| supervise::probe(&self.launcher, &self.settings))
            .clone()
    }

    fn require_version(&self, stage: &SandboxStage) -> Result<(), Failure> {
        let mut versions = locked(&self.versions);
        required::require_version(stage, &mut versions, |path| {
            supervise::version(&self.launcher, &self.settings, path)
        })
    }
}
