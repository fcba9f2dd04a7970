//! `hydrant approve`: asks an operator about what is pending, one request after the other.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use hydrant::govern::failure::{Code, Failure};
use hydrant::govern::governor::{Approve, Governor};
use hydrant::govern::registry::approvals::Scope;
use hydrant::govern::registry::fold;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::Value;

use super::approval_text::{subject, summary, text};
use super::govern::{Options, caller};
use super::output::Exit;

/// Decide what is pending, one request after the other, at a terminal
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant approve
  hydrant approve library

Each request is shown with all that it would allow. It is answered with a letter and Enter: once, for a session, always (until
the operation changes), deny, next, quit; Enter alone passes it over. Nothing is granted that was not shown.
Without a terminal: `hydrant approvals list --status pending`, `show`, `approve` and `deny`.")]
pub(super) struct Arguments {
    /// Only what is about this skill
    #[arg(value_name = "SKILL")]
    skill: Option<String>,

    #[command(flatten)]
    options: Options,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let options = &arguments.options;
    if !is_at_terminal() {
        let message = "there is no terminal to ask at";
        let hint = "`hydrant approvals list --status pending` shows what waits; `hydrant approvals approve ID` and \
                    `hydrant approvals deny ID` decide";
        return Ok(options.refuse(&Failure::new(Code::InvalidRequest, message).with_hint(hint)));
    }
    match options.tenant()?.governor() {
        Ok(governor) => decide_all(governor, arguments.skill.as_deref()),
        Err(failure) => Ok(options.refuse(&failure)),
    }
}

/// Whether somebody can read a question and answer it.
pub(super) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn decide_all(governor: &Governor, skill: Option<&str>) -> anyhow::Result<Exit> {
    let mut seen: Vec<String> = Vec::new();
    let mut decided = 0_usize;
    // A decision may open another request: what waits is asked for each time.
    while let Some((approval, left)) = next(governor, skill, &seen)? {
        let id = text(&approval, "id").to_owned();
        tell(&format!("\n{}", summary(&approval)))?;
        match decision(governor, &approval, left)? {
            Some(Done::Decided) => decided = decided.saturating_add(1),
            Some(Done::Passed) => {}
            None => break,
        }
        seen.push(id);
    }
    let left = pending(governor, skill)?.len();
    tell(&format!("{decided} decided, {left} pending\n"))?;
    Ok(Exit::Done)
}

/// The first that was not asked about yet, and how many there are.
fn next(
    governor: &Governor,
    skill: Option<&str>,
    seen: &[String],
) -> anyhow::Result<Option<(Value, usize)>> {
    let mut open = pending(governor, skill)?;
    open.retain(|approval| !seen.iter().any(|id| id == text(approval, "id")));
    let left = open.len();
    let Some(first) = open.first() else {
        return Ok(None);
    };
    let shown = governor.approval(text(first, "id"));
    Ok(Some((shown.map_err(anyhow::Error::new)?, left)))
}

fn pending(governor: &Governor, skill: Option<&str>) -> anyhow::Result<Vec<Value>> {
    let list = governor
        .approvals(Some("pending"))
        .map_err(anyhow::Error::new)?;
    let Value::Array(mut list) = list else {
        return Ok(Vec::new());
    };
    let is_of = |skill: &str, approval: &Value| fold(text(approval, "skill-id")) == fold(skill);
    list.retain(|approval| skill.is_none_or(|skill| is_of(skill, approval)));
    Ok(list)
}

/// What became of a question.
enum Done {
    Decided,
    Passed,
}

/// Asks until there is an answer; none: the operator wants no more questions.
fn decision(governor: &Governor, approval: &Value, left: usize) -> anyhow::Result<Option<Done>> {
    let choices = match text(approval, "kind") {
        "capability" | "source-host" => {
            "once (o), session (s), always (a), deny (d), next (n), quit (q)"
        }
        "human-action" => "deny (d), next (n), quit (q)",
        _ => "yes (y), deny (d), next (n), quit (q)",
    };
    if text(approval, "kind") == "human-action" {
        let id = text(approval, "id");
        tell(&format!(
            "it is answered with `hydrant approvals approve {id} --response JSON`\n"
        ))?;
    }
    let offered = |letter: char| choices.contains(&format!("({letter})"));
    loop {
        let Some(answer) = ask(&format!("{choices}; {left} pending? "))? else {
            return Ok(None);
        };
        let scope = match answer.as_str() {
            "" | "n" | "next" => return Ok(Some(Done::Passed)),
            "q" | "quit" => return Ok(None),
            "d" | "deny" => return denied(governor, approval).map(Some),
            "o" | "once" if offered('o') => Some(Scope::Once),
            "s" | "session" if offered('s') => Some(Scope::Session),
            "a" | "always" if offered('a') => Some(Scope::UntilChanged),
            "y" | "yes" if offered('y') => None,
            _ => continue,
        };
        return granted(governor, approval, scope).map(Some);
    }
}

fn granted(governor: &Governor, approval: &Value, scope: Option<Scope>) -> anyhow::Result<Done> {
    let approve = Approve {
        scope,
        ..Approve::default()
    };
    let caller = caller(None).map_err(anyhow::Error::new)?;
    let answer = governor.approve(&caller, text(approval, "id"), approve);
    let scope = scope.map_or(String::new(), |scope| format!(", {}", scope.as_str()));
    told(approval, &format!("approved{scope}"), &answer)
}

fn denied(governor: &Governor, approval: &Value) -> anyhow::Result<Done> {
    let caller = caller(None).map_err(anyhow::Error::new)?;
    let answer = governor.deny(&caller, text(approval, "id"), None);
    told(approval, "denied", &answer)
}

/// A request that cannot be decided any more, because the operation changed meanwhile, is no reason to stop.
fn told(approval: &Value, done: &str, answer: &Result<Value, Failure>) -> anyhow::Result<Done> {
    match answer {
        Ok(_) => {
            tell(&format!("{done}: {}\n", subject(approval)))?;
            Ok(Done::Decided)
        }
        Err(failure) => {
            let failure = hydrant::base::escaped(&failure.to_string());
            tell(&format!("not decided: {failure}\n"))?;
            Ok(Done::Passed)
        }
    }
}

/// Writes a question, which holds nothing of a document, and reads a line; none at the end of the input. What was typed
/// before the question was there is thrown away: it answers none.
pub(super) fn ask(question: &str) -> anyhow::Result<Option<String>> {
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    tell(question)?;
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        tell("\n")?;
        return Ok(None);
    }
    Ok(Some(line.trim().to_lowercase()))
}

/// Writes to the terminal.
pub(super) fn tell(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}
