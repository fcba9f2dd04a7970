//! Asking a language model for a better plan: when, within which time, and what becomes of its reply.
//!
//! The component `prompt.hydrate.llm` sends and reads; `prompt.hydrate` checks the reply like every plan. Any failure
//! leaves the plan that was there.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::planner::{Answer, Material, Planner};
use super::settings::{Dialect, LlmSettings, Settings, When};
use super::surroundings::Outward;
use crate::capability::fetch::Credential;
use crate::{Host, SkillCall};

/// The skill that asks a language model.
const MODEL: &str = "prompt.hydrate.llm";
/// How long the model may take.
const LONGEST: Duration = Duration::from_secs(10);
/// What is left for planning without it and for writing.
const KEPT: Duration = Duration::from_secs(1);
/// How much time must be left for asking once more.
const FOR_A_RETRY: Duration = Duration::from_secs(3);
/// Less is no use.
const SHORTEST: Duration = Duration::from_millis(200);
/// A plan of less confidence is uncertain.
const LOW: f64 = 0.5;
/// One check of a reply.
const CHECK: Duration = Duration::from_secs(2);

/// What the component answers.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Text(String),
    Failed { reason: String, retry: bool },
}

/// A model that may be asked.
pub(super) struct Model<'a> {
    pub(super) planner: &'a Planner,
    pub(super) material: &'a Material,
    pub(super) settings: &'a Settings,
    /// Of the hook.
    pub(super) file_path: Option<&'a str>,
    /// When the run must have ended.
    pub(super) end: Instant,
}

/// The settings of the model, if it is to be asked about this plan.
pub(super) fn wanted<'a>(settings: &'a Settings, plan: Option<&Value>) -> Option<&'a LlmSettings> {
    let llm = settings.llm.as_ref().filter(|llm| llm.enabled)?;
    let member = |name: &str| plan.and_then(|plan| plan.get(name));
    let is_uncertain = member("abstained").and_then(Value::as_bool) == Some(true)
        || member("confidence")
            .and_then(Value::as_f64)
            .is_none_or(|confidence| confidence < LOW);
    (llm.when == When::Always || is_uncertain).then_some(llm)
}

impl Model<'_> {
    /// The planner's answer with the plan that the model made from this draft.
    ///
    /// # Errors
    /// Why there is none, without anything that the server said.
    pub(super) fn plan(
        &self,
        llm: &LlmSettings,
        draft: &Answer,
        net: &mut Outward,
    ) -> Result<Answer, String> {
        let texts = draft.llm.as_ref().ok_or("the planner gives no texts")?;
        let host = net.host()?;
        let until = Instant::now()
            .checked_add(LONGEST)
            .into_iter()
            .chain(self.end.checked_sub(KEPT))
            .min()
            .unwrap_or(self.end);
        let mut retry = Value::Null;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left < SHORTEST {
                return Err("no time is left for it".to_owned());
            }
            let request = request(llm, texts, &retry, left);
            let is_second = !retry.is_null();
            let may_retry =
                || !is_second && until.saturating_duration_since(Instant::now()) >= FOR_A_RETRY;
            match ask(&host, llm, &request, left)? {
                Reply::Failed {
                    reason,
                    retry: again,
                } => {
                    if !(again && may_retry()) {
                        return Err(reason);
                    }
                    // The same once more: there is no reply that could have failed a check.
                    retry = json!({ "reply": "", "failed": [reason] });
                }
                Reply::Text(reply) => {
                    let answer = self.checked(&reply)?;
                    let Some(failed) = &answer.failed else {
                        return Ok(answer);
                    };
                    if !may_retry() {
                        return Err(format!("its reply fails {} checks", failed.len()));
                    }
                    retry = json!({ "reply": reply, "failed": failed });
                }
            }
        }
    }

    fn checked(&self, reply: &str) -> Result<Answer, String> {
        let left = self.end.saturating_duration_since(Instant::now());
        self.planner
            .validate(
                self.material,
                self.settings,
                self.file_path,
                reply,
                CHECK.min(left),
            )
            .map_err(|error| error.to_string())
    }
}

fn request(llm: &LlmSettings, texts: &Value, retry: &Value, left: Duration) -> Value {
    let text = |name: &str| texts.get(name).cloned().unwrap_or_default();
    // Where nothing was replied the first request is sent again as it was.
    let retry = match retry.get("reply").and_then(Value::as_str) {
        None | Some("") => Value::Null,
        Some(_) => retry.clone(),
    };
    json!({
        "dialect": match llm.dialect {
            Dialect::Openai => "openai",
            Dialect::Anthropic => "anthropic",
        },
        "base_url": llm.base_url.as_str(),
        "model": llm.model,
        "max_output_tokens": llm.max_output_tokens,
        "temperature": llm.temperature,
        "json_schema": llm.json_schema,
        "system": text("system"),
        "user": text("user"),
        "retry": retry,
        "timeout_ms": u64::try_from(left.as_millis()).unwrap_or(u64::MAX).clamp(1, 120_000),
    })
}

fn ask(host: &Host, llm: &LlmSettings, request: &Value, left: Duration) -> Result<Reply, String> {
    let request = request.to_string();
    // It may send what the policy allows, and starts nothing.
    let call = SkillCall::new(MODEL, request.as_bytes())
        .without_processes(true)
        .with_credential(credential(llm)?)
        .within(left);
    let response = host
        .answer(call)
        .map_err(|error| error.to_string())?
        .map_err(|failure| failure.to_string())?;
    serde_json::from_slice(&response)
        .map_err(|_| "the component's answer is not readable".to_owned())
}

/// Read for this one call, and for this one server.
fn credential(llm: &LlmSettings) -> Result<Option<Credential>, String> {
    let Some(variable) = &llm.api_key_env else {
        return Ok(None);
    };
    let key = std::env::var(variable).map_err(|_| format!("{variable} holds no key"))?;
    let credential = match llm.dialect {
        Dialect::Openai => Credential::bearer(&llm.base_url, key.trim()),
        Dialect::Anthropic => Credential::api_key(&llm.base_url, key.trim()),
    };
    credential
        .map(Some)
        .map_err(|error| format!("{variable}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::settings::LlmSettings;

    fn settings(when: When, enabled: bool) -> Settings {
        Settings {
            llm: Some(LlmSettings {
                enabled,
                when,
                dialect: Dialect::Openai,
                base_url: url::Url::parse("https://llm.example/").unwrap(),
                model: "m".to_owned(),
                api_key_env: None,
                max_output_tokens: 1,
                temperature: None,
                json_schema: false,
            }),
            ..Settings::default()
        }
    }

    #[test]
    fn a_model_is_asked_when_the_plan_is_uncertain_or_always() {
        let plan = |confidence: f64, abstained: bool| json!({ "confidence": confidence, "abstained": abstained });
        let asked = |settings: &Settings, plan: &Value| wanted(settings, Some(plan)).is_some();
        let uncertain = settings(When::Uncertain, true);
        assert!(asked(&uncertain, &plan(0.3, true)));
        assert!(asked(&uncertain, &plan(0.49, false)));
        assert!(!asked(&uncertain, &plan(0.5, false)));
        assert!(asked(&settings(When::Always, true), &plan(1.0, false)));
        assert!(!asked(&settings(When::Always, false), &plan(0.1, true)));
        assert!(!asked(&Settings::default(), &plan(0.1, true)));
    }
}
