//! What the component is asked: one JSON object with `schema`, `op` and the members of that `op`.
//!
//! A member that the `op` does not take, a name given twice, or a missing or wrong-typed required one refuses the request
//! by its name; nothing is ignored. Missing options have the defaults of section 26.

mod read;

use serde::Deserialize;

/// `schema` of every request.
pub const SCHEMA: &str = "hydrant.hydrate.request/1";

/// A request, by its `op`.
#[derive(Debug, Clone)]
pub enum Request {
    /// `parse`: the JSON of the hook.
    Parse(ParseRequest),
    /// `codebase`: the walk and ranking alone, so that the host can give them a deadline of their own.
    Codebase(CodebaseRequest),
    /// `hook`: plan, file and instruction.
    Hook(PlanRequest),
    /// `plan`: the plan and its context.
    Plan(PlanRequest),
    /// `route`: the decision, explained.
    Route(RouteRequest),
    /// `catalog-check`.
    CatalogCheck(CatalogCheckRequest),
    /// `validate`: a plan that a language model wrote.
    Validate(PlanRequest),
}

/// `parse`.
#[derive(Debug, Clone)]
pub struct ParseRequest {
    /// All of stdin, as text.
    pub hook_stdin: String,
    /// `enabled` alone matters.
    pub options: Options,
}

/// `codebase`.
#[derive(Debug, Clone)]
pub struct CodebaseRequest {
    /// Where to look.
    pub workspace: Tree,
    /// What the user typed.
    pub prompt: String,
    /// Nothing of it matters.
    pub options: Options,
}

/// `hook`, `plan`, and with `plan` (the text of a reply) `validate`.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// What the user typed.
    pub prompt: String,
    /// Path of the file that will be written; `hook` needs it, `plan` refuses it, `validate` may have it.
    pub file_path: Option<String>,
    /// Replacements of the default templates.
    pub templates: Templates,
    /// The end of the transcript, whole lines. Not with `turns`.
    pub transcript_tail: Option<String>,
    /// The session in place of a transcript, oldest first.
    pub turns: Option<Vec<Turn>>,
    /// Absent: the embedded catalogue.
    pub catalog: Option<Tree>,
    /// What `codebase` answered. Not with `workspace`.
    pub codebase: Option<Codebase>,
    /// The tree to look through in this call.
    pub workspace: Option<Tree>,
    /// Passages, best first.
    pub memory: Vec<Memory>,
    /// Installed skills; absent: nobody knows which there are.
    pub skills: Option<Vec<SkillEntry>>,
    /// Settings of the run.
    pub options: Options,
    /// `validate`: what the model replied.
    pub plan: Option<String>,
}

/// `route`.
#[derive(Debug, Clone)]
pub struct RouteRequest {
    /// What the user typed. Not with `rows`.
    pub prompt: Option<String>,
    /// Many prompts at once, at most 1,000, for `eval`.
    pub rows: Option<Vec<Row>>,
    /// As in [`PlanRequest`]; of `prompt`.
    pub transcript_tail: Option<String>,
    /// As in [`PlanRequest`]; of `prompt`.
    pub turns: Option<Vec<Turn>>,
    /// As in [`PlanRequest`].
    pub catalog: Option<Tree>,
    /// As in [`PlanRequest`]; rows may have their own.
    pub skills: Option<Vec<SkillEntry>>,
    /// Settings of the run.
    pub options: Options,
}

/// One prompt of `rows`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the user typed.
    pub prompt: String,
    /// The session, oldest first.
    #[serde(default)]
    pub turns: Option<Vec<Turn>>,
    /// Installed skills of this row.
    #[serde(default)]
    pub skills: Option<Vec<SkillEntry>>,
}

/// `catalog-check`.
#[derive(Debug, Clone)]
pub struct CatalogCheckRequest {
    /// Absent: the embedded catalogue.
    pub catalog: Option<Tree>,
    /// `packs` alone matters.
    pub options: Options,
}

/// A catalogue or workspace: `{"inline":[{"path","text"}…]}` or `{"mount":"/catalog"}`.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tree {
    /// The files themselves; paths are relative.
    Inline(Vec<InlineFile>),
    /// A directory to read through `fs-read`.
    Mount(Mount),
}

/// The mounts of the component's grant.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
pub enum Mount {
    /// `/catalog`
    #[serde(rename = "/catalog")]
    Catalog,
    /// `/workspace`
    #[serde(rename = "/workspace")]
    Workspace,
}

impl Mount {
    /// Its virtual path.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Catalog => "/catalog",
            Self::Workspace => "/workspace",
        }
    }
}

/// A file by value.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct InlineFile {
    /// Relative, `/`-separated.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// Template texts; absent: the embedded ones.
#[derive(Debug, Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Templates {
    /// Of the file.
    #[serde(default)]
    pub context: Option<String>,
    /// Of the short text.
    #[serde(default)]
    pub instruction: Option<String>,
}

/// One turn of a session.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    #[serde(alias = "agent")]
    Assistant,
}

/// A passage of the memory source.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The passage.
    pub text: String,
    /// File or name it comes from.
    pub source: String,
    /// Higher is better; the list is in that order already.
    #[serde(default)]
    pub score: f64,
}

/// An installed skill.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SkillEntry {
    /// Its name.
    pub name: String,
    /// Phrases that mean it.
    #[serde(default)]
    pub triggers: Vec<String>,
}

/// What `codebase` answers and the host hands back.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Codebase {
    /// At most 8, best first.
    #[serde(default)]
    pub files: Vec<RelevantFile>,
    /// The test command; null: no file tells.
    #[serde(default)]
    pub tests: Option<String>,
}

/// A file that exists, and why it is worth naming.
#[derive(Debug, Clone, Deserialize, serde::Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RelevantFile {
    /// Relative to the root.
    pub path: String,
    /// A few words.
    pub reason: String,
}

/// `options`, with the defaults of section 26.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    ///
    pub enabled: bool,
    ///
    pub mode: Mode,
    ///
    pub model: String,
    /// `none` leaves the task steps out.
    pub tracker: String,
    ///
    pub task_tool: String,
    ///
    pub budgets: Budgets,
    /// 1 to 12.
    pub max_todos: u8,
    ///
    pub packs: Vec<String>,
    /// `--workflow`
    pub workflow: Option<String>,
    /// What the host could not gather or finish.
    pub degraded: Vec<Degraded>,
    /// only outside the hook `/name` is a skill.
    pub slash_is_skill: bool,
    /// The texts for a language model are wanted as well.
    pub llm: bool,
    /// The file lies in the default directory: the instruction is bound to 400 chars, not 500.
    pub directory_is_default: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: Mode::Subagent,
            model: "haiku".to_owned(),
            tracker: "bd".to_owned(),
            task_tool: "TodoWrite".to_owned(),
            budgets: Budgets::default(),
            max_todos: 12,
            packs: Vec::new(),
            workflow: None,
            degraded: Vec::new(),
            slash_is_skill: false,
            llm: false,
            directory_is_default: true,
        }
    }
}

///
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A subagent reads the file.
    Subagent,
    /// The plan stands in the instruction.
    Inline,
}

/// Tokens of each gathered section, 0 to 4,000.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// `## Memory`
    pub memory: u16,
    /// `## Codebase`
    pub codebase: u16,
    /// `## Session Context`
    pub session: u16,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            memory: 200,
            codebase: 150,
            session: 100,
        }
    }
}

/// What a run went on without.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Degraded {
    /// A workflow file or the catalogue.
    Catalog,
    /// The working tree.
    Codebase,
    /// The language model.
    Llm,
    /// The memory source.
    Memory,
    /// The transcript.
    Session,
    /// The time budget was used up.
    Time,
}

impl Degraded {
    /// As it stands in plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Codebase => "codebase",
            Self::Llm => "llm",
            Self::Memory => "memory",
            Self::Session => "session",
            Self::Time => "time",
        }
    }
}
