//! The rules that start processes: `host.process` and `host.discovery`.

use std::collections::BTreeMap;

use super::field::Field;
use super::host::listed;
use super::shape::{List, Member, Shape};
use super::{Ceiling, Lined, Listed, environment_name};
use crate::VirtualPath;
use crate::error::PolicyError;
use crate::program::{Arguments, Program};

/// A rule of `process`.
#[derive(Clone, Debug)]
pub(crate) struct ProcessRule {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<Arguments>,
    pub(crate) directories: Vec<VirtualPath>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) network: bool,
    pub(crate) writable: Vec<VirtualPath>,
}

/// What tool discovery may start.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    pub(crate) run: Listed<VirtualPath>,
    pub(crate) remote: Lined<bool>,
    /// By ending (`.py`), with the line of the rule.
    pub(crate) runners: BTreeMap<String, Lined<RunnerRule>>,
    pub(crate) env: BTreeMap<String, String>,
}

/// A program that runs tools of one ending, and the arguments before the tool's path.
#[derive(Clone, Debug)]
pub(crate) struct RunnerRule {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<String>,
}

/// What a rule of `process` may have.
pub(super) const PROCESS: [Member; 6] = [
    Member::required(
        "program",
        Shape::Text,
        "A bare name, looked up in /usr/local/bin, /usr/bin and /bin when the policy is loaded, or an absolute path.",
    ),
    Member::required(
        "args",
        Shape::List(List::of(&TEXTS).filled()),
        "Lists of arguments, one of which must match. `*` stands for any characters of that argument, `\\*` for a star, a \
         last `...` for any further arguments. `[]`: no arguments.",
    ),
    Member::required(
        "cwd",
        Shape::List(List::of(&Shape::AbsolutePath).filled()),
        "Virtual directories; the working directory is one of them or lies below.",
    ),
    Member::optional("env", Shape::Environment, ADDED),
    Member::optional(
        "network",
        Shape::Boolean,
        "Whether the program reaches the hosts of `host.net`. Default: false.",
    ),
    Member::optional(
        "writable",
        Shape::List(List::of(&Shape::AbsolutePath)),
        "Directories in mounts with `mode: rw` that it may write below. Default: none.",
    ),
];

/// What `discovery` may have.
pub(super) const DISCOVERY: [Member; 4] = [
    Member::optional(
        "run",
        Shape::List(List::of(&Shape::AbsolutePath)),
        "Virtual directories at or below `/os`. Tools in them are run to ask what they do. Needs `exec: true` in the \
         ceiling.",
    ),
    Member::optional(
        "runners",
        Shape::Map(&RUNNERS),
        "Programs that run tools which are not executable, by the ending of the tool's name.",
    ),
    Member::optional(
        "remote",
        Shape::Boolean,
        "Whether tools that were fetched over HTTP are asked too. Default: false.",
    ),
    Member::optional("env", Shape::Environment, ADDED),
];

const RUNNERS: [Member; 4] = [
    Member::optional(".ts", RUNNER, RUNNER_ABOUT),
    Member::optional(".js", RUNNER, RUNNER_ABOUT),
    Member::optional(".py", RUNNER, RUNNER_ABOUT),
    Member::optional(".sh", RUNNER, RUNNER_ABOUT),
];

const RUNNER: Shape = Shape::List(List::of(&Shape::Text).filled());
const RUNNER_ABOUT: &str = "The program, and the arguments before the path of the tool.";
const TEXTS: Shape = Shape::List(List::of(&Shape::Text));
const ADDED: &str = "Variables that are added to the fixed environment; nothing is inherited.";

impl ProcessRule {
    pub(super) fn read(field: &Field<'_>, ceiling: &Ceiling) -> Result<Self, PolicyError> {
        let members = field.members()?;
        needs_exec(field, ceiling)?;
        let name = members.required("program")?;
        let program = program(name)?;
        let mut arguments = Vec::new();
        for vector in members.required("args")?.filled_list()? {
            let elements = vector.list()?;
            let elements: Result<Vec<_>, _> = elements.iter().map(Field::text).collect();
            let pattern = Arguments::parse(&elements?);
            // A pattern for an interpreter is leave to run anything.
            if program.is_interpreter() && !pattern.is_literal() {
                return Err(vector.constraint(format!(
                    "must be literal, without `*` and `...`, because {} runs what its arguments say",
                    program.name()
                )));
            }
            arguments.push(pattern);
        }
        Ok(Self {
            program,
            arguments,
            directories: paths(&members.required("cwd")?.filled_list()?)?,
            env: members
                .get("env")
                .map_or_else(|| Ok(BTreeMap::new()), environment)?,
            network: members.get("network").map_or(Ok(false), Field::boolean)?,
            writable: members
                .get("writable")
                .map_or_else(|| Ok(Vec::new()), |list| paths(&list.list()?))?,
        })
    }
}

impl Discovery {
    pub(super) fn omitted(line: u64) -> Self {
        Self {
            run: Listed::omitted(line),
            remote: Lined { line, value: false },
            runners: BTreeMap::new(),
            env: BTreeMap::new(),
        }
    }

    pub(super) fn read(field: &Field<'_>, ceiling: &Ceiling) -> Result<Self, PolicyError> {
        let members = field.members()?;
        let mut discovery = Self::omitted(field.line);
        if let Some(field) = members.get("run") {
            needs_exec(field, ceiling)?;
            discovery.run = listed(field, |item| {
                path(item, |path| path.segments().next() == Some("os"))
                    .ok_or_else(|| item.constraint("must be a virtual directory at or below `/os`"))
            })?;
        }
        if let Some(field) = members.get("runners") {
            let members = field.members()?;
            for Member { name: ending, .. } in &RUNNERS {
                if let Some(field) = members.get(ending) {
                    let runner = RunnerRule::read(field)?;
                    let lined = Lined {
                        line: field.line,
                        value: runner,
                    };
                    discovery.runners.insert((*ending).to_owned(), lined);
                }
            }
        }
        if let Some(field) = members.get("remote") {
            discovery.remote = Lined {
                line: field.line,
                value: field.boolean()?,
            };
        }
        if let Some(field) = members.get("env") {
            discovery.env = environment(field)?;
        }
        Ok(discovery)
    }
}

impl RunnerRule {
    fn read(field: &Field<'_>) -> Result<Self, PolicyError> {
        let items = field.filled_list()?;
        let (first, rest) = items
            .split_first()
            .ok_or_else(|| field.constraint("must be non-empty"))?;
        let arguments: Result<_, _> = rest
            .iter()
            .map(|item| item.text().map(str::to_owned))
            .collect();
        Ok(Self {
            program: program(first)?,
            arguments: arguments?,
        })
    }
}

/// Nothing starts processes while the ceiling says it may not.
fn needs_exec(field: &Field<'_>, ceiling: &Ceiling) -> Result<(), PolicyError> {
    if ceiling.exec.value {
        Ok(())
    } else {
        Err(field.constraint("needs `exec: true` in capability_ceiling"))
    }
}

fn program(field: &Field<'_>) -> Result<Program, PolicyError> {
    let text = field.text()?;
    Program::parse(text).map_err(|rule| field.constraint(format!("{rule}, not {text:?}")))
}

fn paths(items: &[Field<'_>]) -> Result<Vec<VirtualPath>, PolicyError> {
    let rule = "must be a virtual directory such as `/workspace`";
    items
        .iter()
        .map(|item| path(item, |_| true).ok_or_else(|| item.constraint(rule)))
        .collect()
}

fn path(field: &Field<'_>, fits: impl Fn(&VirtualPath) -> bool) -> Option<VirtualPath> {
    field
        .text()
        .ok()
        .and_then(|text| VirtualPath::parse(text).ok())
        .filter(fits)
}

/// Reads environment variables: capital names and their values.
fn environment(field: &Field<'_>) -> Result<BTreeMap<String, String>, PolicyError> {
    let mut variables = BTreeMap::new();
    for (name, item) in field.entries()? {
        environment_name(name, &item)?;
        let value = item.text()?;
        if value.contains('\0') {
            return Err(item.constraint("must not hold a NUL"));
        }
        variables.insert(name.to_owned(), value.to_owned());
    }
    Ok(variables)
}
