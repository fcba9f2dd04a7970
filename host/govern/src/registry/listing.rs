//! `skill list` and `skill show`.

use rusqlite::Connection;
use serde::Serialize;

use super::approvals::{View, derivation};
use super::capability_row::{CapabilityRow, CapabilityStatus};
use super::history::generation;
use super::onboarding::{OnboardingState, Progress, plan_of};
use super::sql::Queries;
use super::{Registered, SkillHead, Surroundings, store};
use crate::failure::{Code, Failure};
use crate::manifest::{self, Manifest, Sends, TrustTier};
use crate::time::Time;
use hydrant_plan::{Diagnostic, Example, Format};

/// `skill list`
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct List {
    /// A counter: one step for each transaction that changed the registry.
    pub generation: u64,
    /// By id.
    pub skills: Vec<ListedSkill>,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ListedSkill {
    /// As written.
    pub skill_id: String,
    /// As written.
    pub name: String,
    /// As written.
    pub version: String,
    /// As written.
    pub description: String,
    /// What kind of document.
    pub format: Format,
    /// The source identity: the requested URL without fragment, or the canonical path.
    pub source_url: String,
    /// SHA-256 of the document's bytes.
    pub skill_digest: String,
    /// Of the transaction that changed it last.
    pub generation: u64,
    /// Where the document has an onboarding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onboarding: Option<OnboardingState>,
    /// In the order of the document.
    pub capabilities: Vec<CapabilityRow>,
}

/// `skill show`
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SkillDetails {
    /// As in a list, without its capabilities.
    #[serde(flatten)]
    pub skill: SkillSummary,
    /// In the order of the document.
    pub capabilities: Vec<CapabilityDetails>,
    /// What was noticed at the load.
    pub diagnostics: Vec<Diagnostic>,
    /// What the document says to an agent.
    pub instructions: String,
    /// The document's text.
    pub document: String,
}

/// What `skill show` says of the skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SkillSummary {
    /// As written.
    pub skill_id: String,
    /// As written.
    pub name: String,
    /// As written.
    pub version: String,
    /// As written.
    pub description: String,
    /// What kind of document.
    pub format: Format,
    /// Of OpenAPI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format_version: Option<String>,
    /// The source identity: the requested URL without fragment, or the canonical path.
    pub source_url: String,
    /// SHA-256 of the document's bytes.
    pub skill_digest: String,
    /// Of the transaction that changed it last.
    pub generation: u64,
    /// As the document declares them.
    pub data_classifications: Vec<String>,
    /// Names that are asked for.
    pub secrets: Vec<String>,
    /// The base URL of relative endpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The onboarding that the document asks for, as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onboarding: Option<serde_json::Value>,
    /// Where its onboarding stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onboarding_progress: Option<Progress>,
}

/// An operation, as `skill show` tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CapabilityDetails {
    /// As in a list.
    #[serde(flatten)]
    pub row: CapabilityRow,
    /// Where it stands in the document.
    pub line: u32,
    /// Why it needs an approval, as of now.
    pub reasons: Vec<String>,
    /// What an approver reads, with `trust-tier` and `reasons` as of now; none of an unusable one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
    /// What each stage would send or run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<Sends>,
    /// `egress api.example.net:443: line 12`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy_derivation: Vec<String>,
    /// What the code imports and calls to open sockets, start processes or load native code. It permits nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// As the document shows its use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Of an unusable one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Returns all skills with their capabilities.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list(
    database: &Connection,
    session: Option<&str>,
    around: &dyn Surroundings,
    now: Time,
) -> Result<List, Failure> {
    let view = View::new(database, session, around, now);
    let listed = |head: SkillHead| {
        let operations = Registered::of_skill(database, head.clone())?;
        let rows = operations
            .iter()
            .map(|found| CapabilityRow::read(view, found).map(|(row, _)| row));
        Ok(ListedSkill {
            capabilities: rows.collect::<Result<_, _>>()?,
            onboarding: progress(view, &head)?.map(|progress| progress.state),
            skill_id: head.skill.id,
            name: head.skill.name,
            version: head.skill.version,
            description: head.skill.description,
            format: head.skill.format,
            source_url: head.source,
            skill_digest: head.digest,
            generation: head.generation,
        })
    };
    let skills = SkillHead::all(database)?.into_iter().map(listed);
    Ok(List {
        skills: skills.collect::<Result<_, Failure>>()?,
        generation: generation(database)?,
    })
}

/// Returns where the onboarding of a skill stands; none where it has none, or was registered before its steps were checked.
fn progress(view: View<'_>, head: &SkillHead) -> Result<Option<Progress>, Failure> {
    match plan_of(view.database, head) {
        Ok(Some(plan)) => plan.progress(view).map(Some),
        Ok(None) => Ok(None),
        Err(failure) if failure.code == Code::Schema => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Returns one skill with everything that is known of it, its document too.
///
/// # Errors
///
/// `unknown-skill`, `store-unavailable`.
pub fn show(
    database: &Connection,
    id: &str,
    session: Option<&str>,
    around: &dyn Surroundings,
    now: Time,
) -> Result<SkillDetails, Failure> {
    let head = SkillHead::named(database, id)?;
    let text: Option<(Vec<u8>, String)> = database.first(
        "SELECT document, instructions FROM skills WHERE folded = ?1",
        [&head.folded],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (document, instructions) = text.ok_or_else(|| store("a skill without a document"))?;
    let view = View::new(database, session, around, now);
    let mut capabilities = Vec::new();
    for found in Registered::of_skill(database, head.clone())? {
        let (row, reasons) = CapabilityRow::read(view, &found)?;
        let manifest = found.manifest.clone().map(|mut manifest| {
            if row.status == CapabilityStatus::Approved {
                manifest.trust_tier = TrustTier::Granted;
            }
            manifest.requires_approval = row.requires_approval;
            manifest.reasons.clone_from(&reasons);
            manifest
        });
        capabilities.push(CapabilityDetails {
            line: found.operation.line,
            reasons,
            manifest,
            sends: manifest::sends(&found.operation),
            policy_derivation: derivation(&found.operation.policy_sources),
            notes: found.operation.notes.clone(),
            examples: found.operation.examples.clone(),
            error: found.usable().err(),
            row,
        });
    }
    let onboarding_progress = progress(view, &head)?;
    let skill = head.skill;
    Ok(SkillDetails {
        capabilities,
        diagnostics: skill.diagnostics,
        instructions,
        document: String::from_utf8_lossy(&document).into_owned(),
        skill: SkillSummary {
            skill_id: skill.id,
            name: skill.name,
            version: skill.version,
            description: skill.description,
            format: skill.format,
            format_version: skill.format_version,
            source_url: head.source,
            skill_digest: head.digest,
            generation: head.generation,
            data_classifications: skill.data_classifications,
            secrets: skill.secrets,
            base_url: skill.base_url,
            onboarding: skill.onboarding,
            onboarding_progress,
        },
    })
}
