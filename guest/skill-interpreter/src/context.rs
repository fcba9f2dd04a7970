//! What is known of the skill that an operation belongs to: everything that `assemble` and the lowering of shell text need
//! besides the operation itself.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::document::SkillDeclaration;
use crate::draft::ApprovalWish;
use crate::failure::Failure;
use crate::identifier::slug;
use crate::request::{LoadRequest, MapContext};

/// What a relative URL becomes where there is no base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Relative {
    /// The operation is unusable, `no-base-url`.
    #[default]
    Refused,
    /// It is kept as written (`map`).
    Kept,
}

/// Whether an HTTP operation without auth gets that of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AssumedAuth {
    /// Markdown, OpenAPI, `map`.
    #[default]
    Never,
    /// YAML and JSON skills: bearer, if `secrets` has exactly one entry.
    FromSecrets,
}

/// What is known of a skill.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// None in `map` without one.
    pub skill_id: Option<String>,
    /// The base that was chosen.
    pub base_url: Option<Url>,
    /// Addresses that the document gives to variables, by name: where a request goes, and nothing else.
    pub addresses: BTreeMap<String, String>,
    /// What a relative URL becomes without one.
    pub relative: Relative,
    /// Of the request. Those of a document are substituted by `shell`.
    pub constants: BTreeMap<String, String>,
    /// Names of secrets that the skill declares, in its order.
    pub secrets: Vec<String>,
    /// Names among them that say where requests go, unless the request gives them a value.
    pub settings: BTreeSet<String>,
    /// Other names that are secrets somewhere in the skill, and so everywhere.
    pub found_secrets: BTreeSet<String>,
    /// Whether operations without auth get that of the skill.
    pub assumed_auth: AssumedAuth,
    /// Hosts that an input `url` may name.
    pub domains: Vec<String>,
    /// Digests of the code files given, by name.
    pub files: BTreeMap<String, String>,
    /// Those of the skill.
    pub data_classifications: Vec<String>,
    /// Those that the skill declares.
    pub effects: Vec<String>,
    /// What the skill asks for.
    pub approval: ApprovalWish,
}

impl Context {
    /// The context of a load, once it is known what the document says of its skill.
    ///
    /// # Errors
    ///
    /// `invalid-request` for a constant that names a secret or a base that is no `http` or `https` URL.
    pub fn of_load(request: &LoadRequest, skill: &SkillDeclaration) -> Result<Self, Failure> {
        Self::build(
            Self {
                skill_id: request
                    .as_id
                    .clone()
                    .or_else(|| skill.id.clone())
                    .or_else(|| slug(&skill.name)),
                constants: request.constants.clone(),
                secrets: skill.secrets.clone(),
                settings: skill.settings.clone(),
                found_secrets: request.found_secrets.clone(),
                assumed_auth: skill.assumed_auth,
                domains: skill.domains.clone(),
                addresses: skill.addresses.clone(),
                files: request.files.clone(),
                data_classifications: skill.data_classifications.clone(),
                effects: skill.effects.clone(),
                approval: skill.approval_wish,
                ..Self::default()
            },
            request.base_url.as_deref(),
            skill
                .base_url
                .as_deref()
                .or(request.shared_origin.as_deref()),
            Some(&request.source_url),
        )
    }

    /// The context of `map`.
    ///
    /// # Errors
    ///
    /// As [`Context::of_load`].
    pub fn of_map(known: &MapContext) -> Result<Self, Failure> {
        Self::build(
            Self {
                skill_id: known.skill_id.clone(),
                relative: Relative::Kept,
                constants: known.constants.clone(),
                secrets: known.secrets.clone(),
                domains: known.domains.clone(),
                ..Self::default()
            },
            known.base_url.as_deref(),
            None,
            None,
        )
    }

    /// Whether a name is known to be a secret of the skill.
    #[must_use]
    pub fn is_secret(&self, name: &str) -> bool {
        self.secrets.iter().any(|secret| secret == name) || self.found_secrets.contains(name)
    }

    fn build(
        mut context: Self,
        requested: Option<&str>,
        declared: Option<&str>,
        source: Option<&str>,
    ) -> Result<Self, Failure> {
        crate::assemble::secrets::refuse_secret_constants(&context)?;
        context.base_url = crate::assemble::base::choose(requested, declared, source)?;
        Ok(context)
    }
}
