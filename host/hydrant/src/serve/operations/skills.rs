//! Pinned skills: listing, describing and running them.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BodyKind, Declaration, Effect, Input, Method, Operation, Request, Roles, Tag};
use crate::audit::ReceiptFormat;
use crate::host::{self, HostError, SkillCall};
use crate::serve::service::{Answer, Event, Identity, Problem, ReceiptId};

/// A skill that the tenant may not use is as unknown to it as one that does not exist.
pub(super) fn may_use(who: &Identity, id: &str) -> Result<(), Problem> {
    if who.tenant.may_use(id) {
        Ok(())
    } else {
        Err(Problem::not_found("skill"))
    }
}

/// Splits `id@version`, unless the version is said apart.
fn parts<'a>(id: &'a str, version: Option<&'a str>) -> (&'a str, Option<&'a str>) {
    match (version, id.split_once('@')) {
        (None, Some((id, version))) => (id, Some(version)),
        _ => (id, version),
    }
}

/// A pinned skill.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
struct Skill(#[schemars(with = "SkillMembers")] Value);

/// The members that every skill has.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "a schema")]
struct SkillMembers {
    id: String,
    version: String,
    capabilities: Vec<String>,
}

/// The pinned skills.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListSkills {}

/// The pinned skills.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Skills")]
struct SkillList {
    skills: Vec<Skill>,
}

impl Request for ListSkills {
    type Response = SkillList;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "skills",
        Roles::All,
        Effect::READS,
    )
    .get("/v1/skills", Tag::Skills, "skills");

    fn perform(self, who: &Identity) -> Result<SkillList, Problem> {
        let host = who.tenant.host();
        let mut skills = Vec::new();
        for (id, version) in host.pinned_entries()? {
            if who.tenant.may_use(&id) {
                skills.push(Skill(host.describe(&id, Some(&version))?.summary()));
            }
        }
        Ok(SkillList { skills })
    }
}

/// What a pinned skill says of itself, with the schemas of its request and response.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Describe {
    /// Such as `content.hydrate`
    id: String,
    /// The highest unless said
    version: Option<String>,
}

impl Request for Describe {
    type Response = Skill;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "describe",
        Roles::All,
        Effect::READS,
    )
    .get("/v1/skills/{id}", Tag::Skills, "describeSkill");

    fn perform(self, who: &Identity) -> Result<Skill, Problem> {
        let (id, version) = parts(&self.id, self.version.as_deref());
        may_use(who, id)?;
        let info = who.tenant.host().describe(id, version)?;
        let mut shown = info
            .described()
            .map_err(|error| Problem::internal(&error))?;
        if let (Value::Object(shown), Value::Object(summary)) = (&mut shown, info.summary()) {
            for name in ["id", "capabilities"] {
                if let Some(value) = summary.get(name) {
                    shown.insert(name.to_owned(), value.clone());
                }
            }
        }
        Ok(Skill(shown))
    }
}

/// Runs a pinned skill; the answer is its response.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Such as `json.validate`
    pub id: String,
    /// The highest unless said
    pub version: Option<String>,
    /// The request of the skill, which alone reads it.
    #[serde(skip)]
    pub request: Bytes,
}

impl Request for Run {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        has_receipt: true,
        ..Declaration::new("run", Roles::Agents, Effect::ACTS).at(
            Method::Post,
            "/v1/skills/{id}/run",
            Tag::Skills,
            "runSkill",
            BodyKind::Bytes,
        )
    };

    fn read(Input { members, body }: Input) -> serde_json::Result<Self> {
        let request: Self = serde_json::from_value(members.nearest())?;
        Ok(Self {
            request: if body.is_empty() {
                Bytes::from_static(b"{}")
            } else {
                body
            },
            ..request
        })
    }

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let skill = match &self.version {
            Some(version) => format!("{}@{version}", self.id),
            None => self.id,
        };
        let (id, _) = parts(&skill, None);
        may_use(who, id)?;
        let receipts = &who.tenant.receipts;
        let mut written: Option<ReceiptId> = None;
        let mut deliver = |run: &host::Run| {
            // The older form knows no run that failed.
            let receipt = run
                .receipt(ReceiptFormat::V0)
                .or_else(|| run.receipt(ReceiptFormat::V1Draft));
            let Some(receipt) = receipt else {
                return Ok(None);
            };
            written = Some(receipts.write(&receipt.to_bytes())?);
            Ok(Some(receipt.hash().clone()))
        };
        let call = SkillCall::new(&skill, &self.request).delivering(&mut deliver);
        let run = who.tenant.host().call(call);
        let run = run.inspect_err(|_| {
            if let Some(id) = written {
                receipts.remove(id);
            }
        })?;
        if let Some(id) = written {
            who.tell([Event::Receipt { id: id.to_string() }]);
        }
        let response = run.result.map_err(|failure| {
            let problem = Problem::from(failure);
            match written {
                Some(id) => problem.with("receipt", id.to_string().into()),
                None => problem,
            }
        })?;
        Ok(Answer {
            receipt: written,
            ..Answer::json_bytes(response)
        })
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        HostError::Delivery(Box::new(error)).into()
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new::<ListSkills>(),
        Operation::new::<Describe>(),
        Operation::new::<Run>(),
    ]
}
