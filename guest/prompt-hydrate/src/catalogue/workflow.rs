//! One workflow file: its front matter, its steps, and what is wrong with it, by line.

use super::steps;
use super::yaml::{self, Entry, Node, Value};
use super::{Condition, Modifies, Step, Workflow};
use crate::signals::Signal;

/// bytes of a file.
pub(super) const MAX_BYTES: usize = 64 * 1024;
///
pub(super) const MAX_TRIGGERS: usize = 50;
///
pub(super) const MAX_EXAMPLES: usize = 500;
/// Characters of a gate.
const MAX_GATE: usize = 60;
/// Of a workflow without a gate.
pub(super) const NO_GATE: &str = "Review required";

/// Something wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// Counted from 1.
    pub(super) line: usize,
    /// A row of Q-195.
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// A file that was read.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// `None`: it is passed over.
    pub(super) workflow: Option<Workflow>,
    /// `enabled: false`.
    pub(super) hidden: bool,
    pub(super) problems: Vec<Problem>,
    pub(super) lines: Lines,
}

/// Where things stand, for what can only be judged beside other files.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Guardrails of all lists, with their lines.
    pub(super) guardrails: Vec<(String, usize)>,
    /// As many as triggers.
    pub(super) triggers: Vec<usize>,
    /// As many as examples of the front matter.
    pub(super) examples: Vec<usize>,
    /// As many as steps.
    pub(super) steps: Vec<usize>,
    pub(super) modifies: usize,
}

/// Whether this may be the id of a workflow: `[a-z][a-z0-9-]{0,39}`.
pub(super) fn is_id(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Reads `workflows/<stem>.md`; `parsed` is its front matter as the build script wrote it.
pub(super) fn read(stem: &str, text: &str, parsed: Option<&str>) -> Source {
    let mut reader = Reader::default();
    let workflow = reader.read(stem, text, parsed);
    let mut source = reader.source;
    source.workflow = workflow;
    source
}

#[derive(Default)]
struct Reader {
    source: Source,
    /// A wrong type, or anything else that makes the file useless, was seen.
    fatal: bool,
}

impl Reader {
    fn problem(&mut self, line: usize, code: &'static str, message: impl Into<String>) {
        self.source.problems.push(Problem {
            line,
            code,
            message: message.into(),
        });
    }

    fn fail(&mut self, line: usize, code: &'static str, message: impl Into<String>) {
        self.problem(line, code, message);
        self.fatal = true;
    }

    fn read(&mut self, stem: &str, text: &str, parsed: Option<&str>) -> Option<Workflow> {
        if !is_id(stem) {
            self.fail(1, "C02", "the file's name is no workflow id");
            return None;
        }
        if text.len() > MAX_BYTES {
            self.fail(1, "C12", format!("the file is over {MAX_BYTES} bytes"));
            return None;
        }
        let document = kit::front_matter::split(text);
        let Some(front) = document.front_matter.and_then(|range| text.get(range)) else {
            self.fail(1, "C01", "there is no front matter");
            return None;
        };
        let parsed = parsed.and_then(|json| serde_json::from_str(json).ok());
        let entries = match parsed.map_or_else(|| yaml::parse(front), Ok) {
            Ok(entries) => entries,
            Err(refused) => {
                // The first line of the file is the delimiter.
                self.fail(refused.line.saturating_add(1), "C01", refused.reason);
                return None;
            }
        };
        let body = text.get(document.content..).unwrap_or_default();
        let before_body = text
            .get(..document.content)
            .unwrap_or_default()
            .matches('\n')
            .count();
        let mut workflow = self.fields(stem, &entries);
        if workflow.steps.is_empty() {
            let found = steps::of_headings(body);
            self.source.lines.steps = found
                .iter()
                .map(|(_, line)| line.saturating_add(before_body))
                .collect();
            workflow.steps = found.into_iter().map(|(step, _)| step).collect();
        }
        if workflow.steps.is_empty() {
            self.fail(1, "C04", "there are no steps");
        }
        if workflow.steps.len() > steps::MAX_STEPS {
            self.fail(1, "C12", format!("more than {} steps", steps::MAX_STEPS));
        }
        workflow.body = body.trim().to_owned();
        (!self.fatal).then_some(workflow)
    }

    fn fields(&mut self, stem: &str, entries: &[Entry]) -> Workflow {
        let mut workflow = Workflow {
            id: stem.to_owned(),
            title: stem.to_owned(),
            description: String::new(),
            category: String::new(),
            quality_gate: NO_GATE.to_owned(),
            guardrails: Vec::new(),
            guardrails_when: Vec::new(),
            modifies: Modifies::Maybe,
            needs_task: true,
            triggers: Vec::new(),
            not_for: Vec::new(),
            signals: Vec::new(),
            examples: Vec::new(),
            priority: 100,
            intent: None,
            summary: None,
            steps: Vec::new(),
            body: String::new(),
        };
        let mut needs_task = None;
        let mut gate = false;
        self.source.lines.modifies = 1;
        for entry in entries {
            let line = entry.line.saturating_add(1);
            let node = &entry.value;
            if node.value == Value::Null {
                continue;
            }
            match entry.key.as_str() {
                "id" => {
                    if self.text(node) != stem {
                        self.fail(line, "C02", "the id is not the file's name");
                    }
                }
                "title" => workflow.title = self.text(node),
                "description" => workflow.description = self.text(node),
                "category" => workflow.category = self.text(node),
                "quality_gate" => {
                    let text = crate::plan::line(&self.text(node), usize::MAX);
                    gate = !text.is_empty();
                    if text.chars().count() > MAX_GATE {
                        self.problem(line, "C12", format!("a gate over {MAX_GATE} characters"));
                    }
                    if gate {
                        workflow.quality_gate = crate::plan::line(&text, MAX_GATE);
                    }
                }
                "guardrails" => {
                    workflow.guardrails = self.guardrails(node);
                }
                "guardrails_when" => workflow.guardrails_when = self.guardrails_when(node),
                "modifies_files" => {
                    self.source.lines.modifies = line;
                    workflow.modifies = self.modifies(node);
                }
                "needs_task" => needs_task = self.boolean(node),
                "triggers" => {
                    let list = self.list(node);
                    if list.len() > MAX_TRIGGERS {
                        self.problem(line, "C12", format!("more than {MAX_TRIGGERS} triggers"));
                    }
                    (workflow.triggers, self.source.lines.triggers) =
                        list.into_iter().take(MAX_TRIGGERS).unzip();
                }
                "not_for" => {
                    let list = self.list(node).into_iter().take(MAX_TRIGGERS);
                    workflow.not_for = list.map(|(text, _)| text).collect();
                }
                "signals" => workflow.signals = self.signals(node),
                "examples" => {
                    let list = self.list(node);
                    if list.len() > MAX_EXAMPLES {
                        self.problem(line, "C12", format!("more than {MAX_EXAMPLES} examples"));
                    }
                    (workflow.examples, self.source.lines.examples) =
                        list.into_iter().take(MAX_EXAMPLES).unzip();
                }
                "priority" => match self.text(node).parse() {
                    Ok(priority) => workflow.priority = priority,
                    Err(_) => self.fail(line, "C01", "priority is no whole number"),
                },
                "enabled" => self.source.hidden = self.boolean(node) == Some(false),
                "intent" => workflow.intent = Some(self.text(node)),
                "summary" => workflow.summary = Some(self.text(node)),
                "steps" => workflow.steps = self.steps(node),
                // `permalink` and the like: allowed, and reported once each (C21).
                _ => self.problem(line, "C21", format!("unknown key {:?}", short(&entry.key))),
            }
        }
        if !gate {
            self.problem(1, "C10", "there is no quality_gate");
        }
        workflow.needs_task = needs_task.unwrap_or(workflow.modifies != Modifies::No);
        workflow
    }

    fn wrong_type(&mut self, node: &Node, expected: &str) {
        self.fail(
            node.line.saturating_add(1),
            "C01",
            format!("expected {expected}"),
        );
    }

    /// A scalar, in one line.
    fn text(&mut self, node: &Node) -> String {
        match &node.value {
            Value::Scalar(text) => one_line(text),
            Value::Null => String::new(),
            Value::List(_) | Value::Map(_) => {
                self.wrong_type(node, "a text");
                String::new()
            }
        }
    }

    fn boolean(&mut self, node: &Node) -> Option<bool> {
        match self.text(node).to_ascii_lowercase().as_str() {
            "yes" | "true" => Some(true),
            "no" | "false" => Some(false),
            _ => {
                self.wrong_type(node, "yes or no");
                None
            }
        }
    }

    fn modifies(&mut self, node: &Node) -> Modifies {
        match self.text(node).to_ascii_lowercase().as_str() {
            "yes" | "true" => Modifies::Yes,
            "no" | "false" => Modifies::No,
            "maybe" => Modifies::Maybe,
            _ => {
                self.wrong_type(node, "no, maybe or yes");
                Modifies::Maybe
            }
        }
    }

    /// Texts with their lines; a lone scalar is a list of one. Empty ones are nothing.
    fn list(&mut self, node: &Node) -> Vec<(String, usize)> {
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            Value::Null => &[],
            Value::Scalar(_) | Value::Map(_) => std::slice::from_ref(node),
        };
        items
            .iter()
            .map(|item| (self.text(item), item.line.saturating_add(1)))
            .filter(|(text, _)| !text.is_empty())
            .collect()
    }

    /// Names of guardrails; `none` is the empty list.
    fn guardrails(&mut self, node: &Node) -> Vec<String> {
        let list: Vec<_> = self
            .list(node)
            .into_iter()
            .filter(|(name, _)| name != "none")
            .collect();
        self.source.lines.guardrails.extend(list.iter().cloned());
        list.into_iter().map(|(name, _)| name).collect()
    }

    fn map<'n>(&mut self, node: &'n Node) -> &'n [Entry] {
        match &node.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            Value::Scalar(_) | Value::List(_) => {
                self.wrong_type(node, "a map");
                &[]
            }
        }
    }

    fn guardrails_when(&mut self, node: &Node) -> Vec<(Condition, Vec<String>)> {
        let mut all = Vec::new();
        for entry in self.map(node) {
            let names = self.guardrails(&entry.value);
            if let Some(condition) = self.condition(&entry.key, entry.line.saturating_add(1)) {
                all.push((condition, names));
            }
        }
        all
    }

    /// `signal` or `!signal`.
    fn condition(&mut self, text: &str, line: usize) -> Option<Condition> {
        let (negated, name) = match text.strip_prefix('!') {
            Some(name) => (true, name),
            None => (false, text),
        };
        match Signal::parse(name.trim()) {
            Some(signal) => Some(Condition { signal, negated }),
            None => {
                self.problem(line, "C11", format!("unknown signal {:?}", short(name)));
                None
            }
        }
    }

    fn signals(&mut self, node: &Node) -> Vec<(Signal, i8)> {
        let mut all = Vec::new();
        for entry in self.map(node) {
            let line = entry.line.saturating_add(1);
            let Ok(weight) = self.text(&entry.value).parse::<i64>() else {
                self.fail(line, "C01", "a weight is a whole number");
                continue;
            };
            let bounded = weight.clamp(-5, 5);
            if bounded != weight {
                self.problem(line, "C12", "a weight is from -5 to 5");
            }
            match Signal::parse(&entry.key) {
                Some(signal) => all.push((signal, i8::try_from(bounded).unwrap_or(0))),
                None => self.problem(
                    line,
                    "C11",
                    format!("unknown signal {:?}", short(&entry.key)),
                ),
            }
        }
        all
    }

    fn steps(&mut self, node: &Node) -> Vec<Step> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, "a list of steps");
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in items {
            if let Some(step) = self.step(item) {
                self.source.lines.steps.push(item.line.saturating_add(1));
                all.push(step);
            }
        }
        all
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        // A list of plain texts is read as a list of names.
        if let Value::Scalar(name) = &node.value {
            return steps::of(&one_line(name), "", None);
        }
        let (mut name, mut id, mut description) = (String::new(), String::new(), String::new());
        let (mut active, mut kind, mut when, mut workflow) = (None, None, None, None);
        let mut known = true;
        for entry in self.map(node) {
            let line = entry.line.saturating_add(1);
            if entry.value.value == Value::Null {
                continue;
            }
            match entry.key.as_str() {
                "name" => name = self.text(&entry.value),
                "id" => id = self.text(&entry.value),
                "description" => description = self.text(&entry.value),
                "active" => active = Some(self.text(&entry.value)),
                "kind" => {
                    kind = steps::kind(&self.text(&entry.value));
                    if kind.is_none() {
                        self.fail(line, "C01", "unknown kind of step");
                    }
                }
                "when" => {
                    let text = self.text(&entry.value);
                    when = self.condition(&text, line);
                    // The condition cannot hold or fail: the step is left out with its signal.
                    known = when.is_some();
                }
                "workflow" => workflow = Some(super::index::target(&self.text(&entry.value))),
                key => self.problem(
                    line,
                    "C21",
                    format!("unknown key of a step {:?}", short(key)),
                ),
            }
        }
        if name.is_empty() {
            name = description;
        }
        if name.is_empty()
            && let Some(target) = &workflow
        {
            name = format!("Follow {target}");
        }
        let mut step = steps::of(&name, &id, kind)?;
        step.active = active.filter(|active| !active.is_empty());
        step.when = when;
        step.workflow = workflow;
        known.then_some(step)
    }
}

/// White space runs become one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most 40 characters, for a message.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
