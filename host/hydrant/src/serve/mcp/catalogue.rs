//! The tools of a tenant: the pinned skills that it may use, and the built-in ones.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hydrant_canonical::Json;
use rmcp::model::{JsonObject, MetaObject, Tool};
use serde_json::Value;

use super::built_in::{BuiltIn, annotations};
use super::{names, schema};
use crate::host::{HostError, PinnedSkillInfo};
use crate::serve::operations::{self, Call, Request, Run};
use crate::serve::service::Problem;
use crate::serve::tenants::{Role, Tenant};
use crate::trust::Capability;

/// Skills that other tools are made of: `hydrate`, `plan`, `skill_load` and `skill_execute` call them in the form that people want. They are
/// listed where a selection names them, and can be called anywhere.
const PLUMBING: [&str; 5] = [
    "content.hydrate",
    "data.filter",
    "prompt.hydrate",
    "prompt.hydrate.llm",
    "skill.interpret",
];

/// The tools that are offered: those of the tenant, or fewer.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only tools that change nothing.
    pub read_only: bool,
    /// Only these: names of tools or ids of skills; one that ends with `*` is the beginning of such. None: all.
    pub tools: Option<Vec<String>>,
}

/// A selection names what is not there.
#[derive(Debug, thiserror::Error)]
#[error("no tool is called {name:?}; there are: {}", .there.join(", "))]
pub struct UnknownTool {
    /// What was named.
    pub name: String,
    /// All that could have been.
    pub there: Vec<String>,
}

impl Selection {
    fn has(&self, name: &str, id: &str, is_read_only: bool) -> bool {
        if self.read_only && !is_read_only {
            return false;
        }
        let Some(tools) = &self.tools else {
            return true;
        };
        tools.iter().any(|tool| matches(tool, name, id))
    }

    /// Whether `tools/list` names the tool, given that it can be called.
    fn lists(&self, name: &str, id: &str) -> bool {
        let is_named = |tool: &String| tool == name || tool == id;
        !PLUMBING.contains(&id) || self.tools.iter().flatten().any(is_named)
    }

    /// Refuses a selection that names a tool which is not there.
    ///
    /// # Errors
    ///
    /// The first such name.
    pub(super) fn check(&self, catalogue: &Catalogue) -> Result<(), UnknownTool> {
        let there = || {
            catalogue
                .tools
                .iter()
                .map(|(name, tool)| (name.as_str(), tool.id()))
        };
        for tool in self.tools.iter().flatten() {
            if !there().any(|(name, id)| matches(tool, name, id)) {
                return Err(UnknownTool {
                    name: tool.clone(),
                    there: there().map(|(name, _)| name.to_owned()).collect(),
                });
            }
        }
        Ok(())
    }
}

fn matches(pattern: &str, name: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning) || id.starts_with(beginning),
        None => name == pattern || id == pattern,
    }
}

/// The tool behind a name.
pub(super) enum Named {
    BuiltIn(BuiltIn),
    Skill(Box<SkillTool>),
}

/// A pinned skill as a tool.
pub(super) struct SkillTool {
    id: String,
    /// Of its requests, as the skill has it.
    schema: Value,
    tool: Tool,
    is_read_only: bool,
}

impl Named {
    fn id(&self) -> &str {
        match self {
            Self::BuiltIn(tool) => tool.name(),
            Self::Skill(skill) => &skill.id,
        }
    }

    /// The call that these arguments ask for.
    pub(super) fn call(&self, mut arguments: Json) -> Result<Call, Problem> {
        let skill = match self {
            Self::BuiltIn(tool) => return tool.call(arguments),
            Self::Skill(skill) => skill,
        };
        schema::fit(&skill.schema, &mut arguments);
        Ok(Call::new(Run {
            id: skill.id.clone(),
            version: None,
            request: arguments.to_string().into(),
        }))
    }

    fn is_read_only(&self) -> bool {
        match self {
            Self::BuiltIn(tool) => tool.declaration().effect.is_read_only,
            Self::Skill(skill) => skill.is_read_only,
        }
    }

    fn is_for(&self, role: Role) -> bool {
        match self {
            Self::BuiltIn(tool) => tool.declaration().roles.include(role),
            Self::Skill(_) => Run::DECLARATION.roles.include(role),
        }
    }

    fn tool(&self) -> Tool {
        match self {
            Self::Skill(skill) => skill.tool.clone(),
            Self::BuiltIn(tool) => tool.tool(),
        }
    }
}

/// All tools of a tenant, by name.
pub(super) struct Catalogue {
    tools: BTreeMap<String, Named>,
}

impl Catalogue {
    /// The catalogue of a tenant. Not for a thread that has others to serve: each skill is asked what it is.
    pub(super) fn new(tenant: &Tenant) -> Result<Self, HostError> {
        let mut skills: BTreeMap<String, PinnedSkillInfo> = BTreeMap::new();
        // Each skill is described by itself, so that one that cannot be does not hide the others.
        for id in tenant.host().pinned_ids()? {
            if !tenant.may_use(&id) || skills.contains_key(&id) {
                continue;
            }
            match tenant.host().describe(&id, None) {
                Ok(skill) => drop(skills.insert(id, skill)),
                Err(error) => tracing::warn!(%id, %error, "the skill is no tool"),
            }
        }
        let built_in: Vec<_> = operations::table()
            .iter()
            .filter_map(BuiltIn::new)
            .collect();
        let taken: Vec<&str> = built_in.iter().map(BuiltIn::name).collect();
        let names = names::of(skills.keys().map(String::as_str), &taken);
        let named = names.into_iter().filter_map(|(name, id)| {
            let skill = skills.remove(&id)?;
            let tool = SkillTool::new(&name, skill);
            Some((name, Named::Skill(Box::new(tool))))
        });
        let built_in = built_in
            .into_iter()
            .map(|tool| (tool.name().to_owned(), Named::BuiltIn(tool)));
        Ok(Self {
            tools: built_in.chain(named).collect(),
        })
    }

    /// The tools of a selection that `tools/list` names, sorted by name.
    pub(super) fn list(&self, selection: &Selection, role: Role) -> Vec<Tool> {
        self.selected(selection, role)
            .filter(|(name, tool)| selection.lists(name, tool.id()))
            .map(|(_, tool)| tool.tool())
            .collect()
    }

    /// One of them.
    pub(super) fn get<'a>(
        &'a self,
        name: &str,
        selection: &'a Selection,
        role: Role,
    ) -> Option<&'a Named> {
        self.selected(selection, role)
            .find(|(called, _)| *called == name)
            .map(|(_, tool)| tool)
    }

    fn selected<'a>(
        &'a self,
        selection: &'a Selection,
        role: Role,
    ) -> impl Iterator<Item = (&'a String, &'a Named)> {
        self.tools.iter().filter(move |(name, tool)| {
            tool.is_for(role) && selection.has(name, tool.id(), tool.is_read_only())
        })
    }
}

impl SkillTool {
    fn new(name: &str, skill: PinnedSkillInfo) -> Self {
        let mut described = skill
            .description
            .as_deref()
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
            .unwrap_or_default();
        let description = described.get("description").and_then(Value::as_str);
        let description = description.unwrap_or(&skill.id).to_owned();
        let output = described.get("output_schema").and_then(schema::of_answer);
        let own = described
            .get_mut("input_schema")
            .map_or(Value::Null, Value::take);
        let input = schema::of_arguments(&own).unwrap_or_else(|| {
            // A skill that does not say what it takes says what is wrong with a request when it is run.
            JsonObject::from_iter([("type".to_owned(), Value::from("object"))])
        });
        let declares = |test: &dyn Fn(&Capability) -> bool| skill.capabilities.iter().any(test);
        let writes = declares(&|declared| declared.kind == "fs.write");
        // The host reads a repository with git and lets it change nothing.
        let executes =
            declares(&|declared| declared.kind == "exec.safe" && declared.value != "git");
        let reaches_out = declares(&|declared| declared.kind == "net.http");
        let is_read_only = !writes && !executes;
        let mut tool = Tool::new(name.to_owned(), description, input);
        tool.title = Some(skill.id.clone());
        tool.output_schema = output.map(Arc::new);
        tool.annotations = Some(annotations(is_read_only, reaches_out || executes));
        tool.meta = Some(MetaObject(JsonObject::from_iter([
            ("hydrant/skill".to_owned(), skill.id.clone().into()),
            ("hydrant/version".to_owned(), skill.version.into()),
            (
                "hydrant/capabilities".to_owned(),
                skill.capabilities.iter().map(ToString::to_string).collect(),
            ),
        ])));
        Self {
            id: skill.id,
            schema: own,
            tool,
            is_read_only,
        }
    }
}

/// One value for each tenant, which goes when the tenant does: a tenant that was read again is another one.
pub(super) struct PerTenant<V, T = Tenant>(Mutex<ByName<V, T>>);

type ByName<V, T> = HashMap<String, (Weak<T>, Arc<V>)>;

impl<V, T> Default for PerTenant<V, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V: Default, T> PerTenant<V, T> {
    /// Returns the value of the tenant of this name.
    pub(super) fn get(&self, name: &str, tenant: &Arc<T>) -> Arc<V> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((owner, value)) = all.get(name)
            && std::ptr::eq(owner.as_ptr(), Arc::as_ptr(tenant))
        {
            return Arc::clone(value);
        }
        all.retain(|_, (owner, _)| owner.strong_count() > 0);
        let value = Arc::<V>::default();
        let entry = (Arc::downgrade(tenant), Arc::clone(&value));
        all.insert(name.to_owned(), entry);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_as_long_as_its_tenant_and_goes_with_it() {
        let all = PerTenant::<Mutex<u8>, ()>::default();
        let (one, other) = (Arc::new(()), Arc::new(()));
        *all.get("one", &one).lock().unwrap() = 1;
        assert_eq!(*all.get("one", &one).lock().unwrap(), 1);
        // A tenant of the same name that was read again.
        assert_eq!(*all.get("one", &other).lock().unwrap(), 0);
        for number in 0..100 {
            all.get(&number.to_string(), &Arc::new(()));
        }
        assert_eq!(all.0.lock().unwrap().len(), 2);
    }
}
