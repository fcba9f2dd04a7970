//! One run of the hook: its steps in order, and what comes of each failure.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::check::{Asked, check_file, check_instruction, check_plan};
use super::gather::{Sources, gather};
use super::input::{INPUT_PATIENCE, read_input};
use super::message::{Source, Warning};
use super::model::{Model, wanted};
use super::planner::{Answer, Material, Missing, Parsed, Planner, PlannerError};
use super::reply::{Answered, Reply};
use super::settings::{Settings, default_tmp_dir};
use super::surroundings::{MakeHost, Outward, Surroundings, memory, mounts, templates};
use super::temp::{CleanupLimits, TempFolder};
use crate::home;

/// One call of the planner.
const PLANNER: Duration = Duration::from_secs(2);
/// What is kept of the whole time for planning and writing, after gathering.
const RESERVE: Duration = Duration::from_millis(2500);
/// What is kept of it for ending.
const MARGIN: Duration = Duration::from_millis(250);
/// A file that is being written is waited for, that long.
const WRITING: Duration = Duration::from_millis(200);
/// How many names are tried for the file.
const NAMES: usize = 16;

/// Why the prompt is stopped (exit status 2).
struct Halt {
    code: &'static str,
    message: String,
}

/// Where a run is; who changes it first decides who answers.
struct Phase(AtomicU8);

const WORKING: u8 = 0;
const AT_THE_FILE: u8 = 1;
const GIVEN_UP: u8 = 2;

impl Phase {
    fn enter(&self, phase: u8) -> bool {
        self.0
            .compare_exchange(WORKING, phase, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

/// Answers one prompt, read from `input`, within the time of the settings whatever happens.
pub fn answer(surroundings: Surroundings, input: impl Read + Send + 'static) -> Reply {
    let budget = Duration::from_millis(surroundings.settings.budget_ms);
    let end = surroundings
        .started
        .checked_add(budget)
        .unwrap_or(surroundings.started);
    let known = surroundings.warnings.clone();
    let phase = Arc::new(Phase(AtomicU8::new(WORKING)));
    let (sender, receiver) = sync_channel(1);
    let worker = {
        let phase = Arc::clone(&phase);
        thread::Builder::new()
            .name("hook".to_owned())
            .spawn(move || {
                let mut run = Run::new(surroundings, end, phase);
                let result = run.work(input);
                // Where the time was up, somebody else has answered.
                let _ = sender.send(run.reply(result));
            })
    };
    let unable = |source: Source, reason: &str| {
        let mut warnings = known.clone();
        warnings.push(Warning::new(source, reason));
        Reply::empty(&warnings)
    };
    if worker.is_err() {
        return unable(Source::Planner, "no thread can be started");
    }
    let patience = end
        .checked_sub(MARGIN)
        .unwrap_or(end)
        .saturating_duration_since(Instant::now());
    match receiver.recv_timeout(patience) {
        Ok(reply) => reply,
        Err(RecvTimeoutError::Disconnected) => unable(Source::Planner, "the run broke off"),
        Err(RecvTimeoutError::Timeout) => {
            let late = if phase.enter(GIVEN_UP) {
                None
            } else {
                receiver.recv_timeout(WRITING).ok()
            };
            late.unwrap_or_else(|| unable(Source::Planner, "the time was up"))
        }
    }
}

/// A run, as far as it has come.
struct Run {
    settings: Settings,
    warnings: Vec<Warning>,
    hosts: Option<(MakeHost, MakeHost)>,
    notes: Option<std::path::PathBuf>,
    started: Instant,
    end: Instant,
    phase: Arc<Phase>,
}

impl Run {
    fn new(surroundings: Surroundings, end: Instant, phase: Arc<Phase>) -> Self {
        let Surroundings {
            settings,
            warnings,
            host,
            net,
            notes,
            started,
        } = surroundings;
        Self {
            settings,
            warnings,
            hosts: Some((host, net)),
            notes,
            started,
            end,
            phase,
        }
    }

    fn reply(&self, result: Result<Answered, Halt>) -> Reply {
        match result {
            Ok(answered) => Reply::answered(&answered, &self.warnings),
            Err(halt) => Reply::halted(halt.code, &halt.message, &self.warnings),
        }
    }

    fn work(&mut self, input: impl Read + Send + 'static) -> Result<Answered, Halt> {
        let Some((make_host, net)) = self.hosts.take() else {
            return Ok(self.fail("there is no host"));
        };
        // The component is verified and mapped while the agent still writes.
        let loading = thread::Builder::new()
            .name("planner".to_owned())
            .spawn(move || load(make_host));
        let input = read_input(input, INPUT_PATIENCE).map_err(|error| Halt {
            code: "stdin",
            message: error.to_string(),
        })?;
        let planner = match loading.map(thread::JoinHandle::join) {
            Ok(Ok(Ok(planner))) => planner,
            Ok(Ok(Err(error))) => return self.failed(error),
            Ok(Err(_)) => return Ok(self.fail("loading it broke off")),
            Err(error) => return Ok(self.fail(&error.to_string())),
        };
        let parsed = match planner.parse(&input, self.settings.enabled, self.share()) {
            Ok(parsed) => parsed,
            Err(error) => return self.failed(error),
        };
        drop(input);
        self.warnings
            .extend(parsed.warnings.into_iter().map(Warning::from));
        let (Some(fields), skip) = (parsed.parsed, parsed.skip) else {
            return Ok(self.fail("it answers no fields"));
        };
        if let Some(event) = &fields.event_warning {
            self.warnings.push(Warning::new(Source::Event, event));
        }
        // Also on runs that write nothing, and then without making the folder.
        if let Ok(folder) = TempFolder::open(&self.settings.tmp_dir) {
            folder.clean_up(CleanupLimits::default());
        }
        if fields.session_id.is_empty() {
            tracing::debug!("no session");
            return Ok(Answered::Context(String::new()));
        }
        if let Some(skip) = skip {
            tracing::debug!(rule = skip.rule, "skipped");
            return Ok(Answered::Context(String::new()));
        }
        if fields.prompt.is_empty() {
            return Ok(Answered::Nothing);
        }
        self.hydrate(planner, fields, net)
    }

    fn hydrate(
        &mut self,
        planner: Planner,
        fields: Parsed,
        net: MakeHost,
    ) -> Result<Answered, Halt> {
        let templates = templates(&self.settings.templates).map_err(|error| Halt {
            code: "template",
            message: error.to_string(),
        })?;
        let folder = TempFolder::make(&self.settings.tmp_dir).map_err(halted)?;
        let mut material = Material {
            templates,
            directory_is_default: self.settings.tmp_dir == default_tmp_dir(),
            ..Material::default()
        };
        let mut working_tree = fields.cwd.as_deref().map(Path::new);
        if working_tree.is_some_and(home::holds_home) {
            let message =
                "the session's directory is a home directory, or holds one; it is not looked at";
            self.warnings.push(Warning::new(Source::Codebase, message));
            working_tree = None;
        }
        let mounts = mounts(
            &self.settings,
            working_tree,
            &mut material,
            &mut self.warnings,
        );
        let planner = planner.seeing(mounts);
        let mut net = Outward::new(net);
        let sources = Sources {
            query: fields.query,
            transcript: fields.transcript_path.map(Into::into),
            codebase: planner.sees_workspace().then(|| planner.clone()),
            memory: memory(
                &self.settings,
                self.notes.as_deref(),
                &mut net,
                &mut material,
                &mut self.warnings,
            ),
            prompt: fields.prompt.clone(),
        };
        // At least half of what is left is for gathering, as little as that may be.
        let left = self.end.saturating_duration_since(Instant::now());
        let until = self
            .end
            .checked_sub(RESERVE.min(left / 2))
            .unwrap_or(self.end);
        gather(sources, until, &mut material, &mut self.warnings);
        let gathered = self.started.elapsed();
        material.prompt = fields.prompt;
        let result = self.plan_and_write(&planner, &folder, &mut material, &mut net);
        tracing::debug!(
            length = material.prompt.len(),
            ?gathered,
            whole = ?self.started.elapsed(),
            "hydrated"
        );
        result
    }

    /// Renders for a free name, and again if somebody takes it meanwhile.
    fn plan_and_write(
        &mut self,
        planner: &Planner,
        folder: &TempFolder,
        material: &mut Material,
        net: &mut Outward,
    ) -> Result<Answered, Halt> {
        for _ in 0..NAMES {
            let name = folder.free_name().map_err(halted)?;
            let Some(path) = folder.path_of(&name).to_str().map(str::to_owned) else {
                return Err(Halt {
                    code: "tempfile",
                    message: "temp file write failed: the directory's name is not UTF-8".to_owned(),
                });
            };
            let draft = match planner.hook(material, &self.settings, &path, self.share()) {
                Ok(answer) => answer,
                Err(error) => return self.failed(error),
            };
            let answer = match self.improved(planner, material, &path, draft, net) {
                Ok(answer) => answer,
                Err(error) => return self.failed(error),
            };
            let (file, instruction, warnings) = match self.checked(answer, &path, material) {
                Ok(checked) => checked,
                Err(reason) => return Ok(self.fail(&reason)),
            };
            if !self.phase.enter(AT_THE_FILE) {
                return Ok(self.fail("the time was up"));
            }
            if folder.write(&name, file.as_bytes()).map_err(halted)? {
                self.warnings.extend(warnings);
                return Ok(Answered::Context(instruction));
            }
            self.phase.0.store(WORKING, Ordering::SeqCst);
        }
        Err(Halt {
            code: "tempfile",
            message: format!("temp file write failed: {NAMES} names in a row were taken"),
        })
    }

    /// The answer with a language model's plan, if one is to be asked and has a good one; else as it was.
    fn improved(
        &mut self,
        planner: &Planner,
        material: &mut Material,
        path: &str,
        draft: Answer,
        net: &mut Outward,
    ) -> Result<Answer, PlannerError> {
        let Some(llm) = wanted(&self.settings, draft.plan.as_ref()) else {
            return Ok(draft);
        };
        let model = Model {
            planner,
            material,
            settings: &self.settings,
            file_path: Some(path),
            end: self.end,
        };
        match model.plan(llm, &draft, net) {
            Ok(answer) => Ok(answer),
            Err(reason) => {
                self.warnings.push(Warning::new(Source::Llm, reason));
                material.missing.insert(Missing::Llm);
                planner.hook(material, &self.settings, path, self.share())
            }
        }
    }

    /// File, instruction, and what the planner stumbled over.
    fn checked(
        &self,
        answer: Answer,
        path: &str,
        material: &Material,
    ) -> Result<(String, String, Vec<Warning>), String> {
        let (Some(file), Some(instruction), Some(plan)) =
            (answer.file_text, answer.instruction, answer.plan)
        else {
            return Err("it answers no plan".to_owned());
        };
        let asked = Asked {
            path,
            mode: self.settings.mode,
            all_default: material.directory_is_default
                && material.templates.instruction.is_none()
                && self.settings.model == Settings::default().model,
        };
        check_file(&file, &material.prompt)
            .and_then(|()| check_instruction(&instruction, asked))
            .and_then(|()| check_plan(&plan))
            .map_err(|unfit| unfit.to_string())?;
        tracing::debug!(
            workflow = plan.get("workflow").and_then(|id| id.as_str()),
            confidence = plan.get("confidence").and_then(|number| number.as_f64()),
            "planned"
        );
        let warnings = answer.warnings.into_iter().map(Warning::from);
        Ok((file, instruction, warnings.collect()))
    }

    /// The time of one call of the planner.
    fn share(&self) -> Duration {
        let left = self
            .end
            .checked_sub(MARGIN)
            .unwrap_or(self.end)
            .saturating_duration_since(Instant::now());
        PLANNER.min(left)
    }

    fn failed(&mut self, error: PlannerError) -> Result<Answered, Halt> {
        match error {
            PlannerError::Untrusted(message) => Err(Halt {
                code: "signature",
                message,
            }),
            PlannerError::Refused { code, detail } if code == "stdin" => Err(Halt {
                code: "stdin",
                message: detail,
            }),
            PlannerError::Refused { code, detail } if code == "template" => Err(Halt {
                code: "template",
                message: detail,
            }),
            error => Ok(self.fail(&error.to_string())),
        }
    }

    /// A complete failure: the agent goes on without.
    fn fail(&mut self, reason: &str) -> Answered {
        self.warnings.push(Warning::new(Source::Planner, reason));
        Answered::Context(String::new())
    }
}

fn halted(error: super::temp::TempError) -> Halt {
    Halt {
        code: "tempfile",
        message: error.to_string(),
    }
}

fn load(make: MakeHost) -> Result<Planner, PlannerError> {
    let planner = Planner::new(make().map_err(PlannerError::Failed)?);
    planner.load()?;
    Ok(planner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(budget_ms: u64, host: MakeHost) -> Surroundings {
        Surroundings {
            settings: Settings {
                budget_ms,
                tmp_dir: "/nonexistent/hydrant".into(),
                ..Settings::default()
            },
            warnings: Vec::new(),
            host,
            net: Box::new(|| Err("no network here".to_owned())),
            notes: None,
            started: Instant::now(),
        }
    }

    /// Loading takes for ever, and the answer comes all the same.
    #[test]
    fn the_time_of_a_run_holds_whatever_takes_longer() {
        let stuck = Box::new(|| {
            thread::sleep(Duration::from_secs(600));
            Err("late".to_owned())
        });
        let started = Instant::now();
        let reply = answer(surroundings(1000, stuck), &b"{}"[..]);
        assert!(started.elapsed() < Duration::from_secs(60));
        assert_eq!(reply.stdout, Reply::empty(&[]).stdout);
        assert_eq!(reply.stderr, ["WARN: planner: the time was up"]);
    }

    #[test]
    fn a_planner_that_cannot_be_had_is_a_complete_failure() {
        let none = Box::new(|| Err("no engine".to_owned()));
        let reply = answer(surroundings(15_000, none), &b"{}"[..]);
        assert_eq!(reply.stdout, Reply::empty(&[]).stdout);
        assert_eq!(reply.stderr, ["WARN: planner: no engine"]);
    }

    #[test]
    fn a_run_that_panics_still_answers() {
        let panics = Box::new(|| -> Result<Arc<crate::Host>, String> { panic!("secret") });
        let reply = answer(surroundings(15_000, panics), &b"{}"[..]);
        assert_eq!(reply.stdout, Reply::empty(&[]).stdout);
        assert!(reply.stderr.iter().all(|line| !line.contains("secret")));
    }
}
