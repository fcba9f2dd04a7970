//! The plan of the hook, without a hook.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::check::{Unfit, check_plan};
use super::gather::{Sources, gather};
use super::message::{Source, Warning};
use super::model::{Model, wanted};
use super::planner::{Material, Missing, Planner, PlannerError};
use super::surroundings::{Outward, Surroundings, TemplateError, memory, mounts};

/// What a plan is asked for.
#[derive(Debug, Clone, Default)]
pub struct PlanRequest {
    /// What the user typed.
    pub prompt: String,
    /// Where the code is.
    pub working_tree: Option<PathBuf>,
    /// The transcript of the session; only its end is read.
    pub transcript: Option<PathBuf>,
    /// The session, the oldest first, `{role, text}`; in place of a transcript.
    pub turns: Vec<Value>,
    /// The id of a workflow that the plan is to follow.
    pub workflow: Option<String>,
    /// Look at nothing but the prompt.
    pub without_context: bool,
}

/// A plan in both of its forms.
#[derive(Debug, Clone)]
pub struct Planned {
    /// For people: the plan as text.
    pub markdown: String,
    /// For programs: the plan as JSON.
    pub plan: Value,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is no host to run the planner in.
    #[error("{0}")]
    Host(String),
    /// The planner has no answer.
    #[error(transparent)]
    Planner(#[from] PlannerError),
    /// It has one that fails a check.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A template cannot be used.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The answer lacks a part.
    #[error("the planner answers no plan")]
    Incomplete,
}

/// Plans, and says what it had to go without.
pub fn plan(
    surroundings: Surroundings,
    request: PlanRequest,
) -> (Result<Planned, PlanError>, Vec<Warning>) {
    let mut warnings = surroundings.warnings.clone();
    let result = planned(surroundings, request, &mut warnings);
    (result, warnings)
}

fn planned(
    surroundings: Surroundings,
    request: PlanRequest,
    warnings: &mut Vec<Warning>,
) -> Result<Planned, PlanError> {
    let Surroundings {
        settings,
        host,
        net,
        notes,
        started,
        ..
    } = surroundings;
    let host = host().map_err(PlanError::Host)?;
    let planner = Planner::new(host);
    // Compiling for the first time is nobody's share.
    planner.load()?;
    let end = started
        .max(Instant::now())
        .checked_add(Duration::from_millis(settings.budget_ms))
        .unwrap_or(started);
    let share = || end.saturating_duration_since(Instant::now());
    let mut material = Material {
        workflow: request.workflow,
        turns: request.turns,
        slash_is_skill: true,
        ..Material::default()
    };
    let tree = request.working_tree.as_deref();
    let planner = planner.seeing(mounts(&settings, tree, &mut material, warnings));
    let mut net = Outward::new(net);
    if !request.without_context {
        let sources = Sources {
            query: planner.query(&request.prompt, share())?,
            transcript: request.transcript,
            codebase: planner.sees_workspace().then(|| planner.clone()),
            memory: memory(
                &settings,
                notes.as_deref(),
                &mut net,
                &mut material,
                warnings,
            ),
            prompt: request.prompt.clone(),
        };
        gather(sources, end, &mut material, warnings);
    }
    material.prompt = request.prompt;
    let mut answer = planner.plan(&material, &settings, share())?;
    if let Some(llm) = wanted(&settings, answer.plan.as_ref()) {
        let model = Model {
            planner: &planner,
            material: &material,
            settings: &settings,
            file_path: None,
            end,
        };
        match model.plan(llm, &answer, &mut net) {
            Ok(improved) => answer = improved,
            Err(reason) => {
                warnings.push(Warning::new(Source::Llm, reason));
                material.missing.insert(Missing::Llm);
                answer = planner.plan(&material, &settings, share())?;
            }
        }
    }
    warnings.extend(answer.warnings.into_iter().map(Warning::from));
    let (Some(plan), Some(markdown)) = (answer.plan, answer.markdown) else {
        return Err(PlanError::Incomplete);
    };
    check_plan(&plan)?;
    Ok(Planned { markdown, plan })
}
