//! Pinned skills: hydrating, running, describing.

use bytes::Bytes;
use serde_json::Value;

use crate::audit::ReceiptFormat;
use crate::host::Run;
use crate::serve::service::{Answer, Event, HydrateOptions, Identity, JSON, Problem, ReceiptId};
use crate::{Format, HostError};

/// The skill behind a hydration.
const HYDRATE: &str = "content.hydrate";

/// A hydration that is known to be as it was, without asking the component; none where it has to be asked.
pub(super) fn hydrate_again(
    who: &Identity,
    options: &HydrateOptions,
) -> Result<Option<Answer>, Problem> {
    check(who, options)?;
    let document = who.tenant.host().hydrate_again(&options.request())?;
    Ok(document.map(|document| answer(options, document)))
}

pub(super) fn hydrate(who: &Identity, options: &HydrateOptions) -> Result<Answer, Problem> {
    check(who, options)?;
    let document = who.tenant.host().hydrate_keeping(&options.request())?;
    Ok(answer(options, document))
}

/// Whether it can be asked at all.
pub(super) fn check(who: &Identity, options: &HydrateOptions) -> Result<(), Problem> {
    may_use(who, HYDRATE)?;
    if options.uri.is_empty() {
        return Err(Problem::invalid("uri: it is empty"));
    }
    if !(1..=16).contains(&options.depth) {
        return Err(Problem::invalid("depth: it must be 1 to 16"));
    }
    Ok(())
}

fn answer(options: &HydrateOptions, document: Bytes) -> Answer {
    let content_type = match options.format {
        Format::Json => JSON,
        Format::Link | Format::V2 => "text/markdown; charset=utf-8",
    };
    Answer::text(content_type, document)
}

pub(super) fn run(who: &Identity, skill: &str, request: &[u8]) -> Result<Answer, Problem> {
    may_use(who, skill)?;
    let receipts = &who.tenant.receipts;
    let mut written: Option<ReceiptId> = None;
    let run = who
        .tenant
        .host()
        .run_delivering(skill, request, &mut |run: &Run| {
            // The older form knows no run that failed.
            let receipt = run
                .receipt(ReceiptFormat::V0)
                .or_else(|| run.receipt(ReceiptFormat::V1Draft));
            let Some(receipt) = receipt else {
                return Ok(None);
            };
            written = Some(receipts.write(&receipt.to_bytes())?);
            Ok(Some(receipt.hash().clone()))
        });
    let run = run.inspect_err(|_| {
        if let Some(id) = written {
            receipts.remove(id);
        }
    })?;
    if let Some(id) = written {
        let _ = who
            .tenant
            .events
            .send(Event::Receipt { id: id.to_string() });
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

pub(super) fn skills(who: &Identity) -> Result<Answer, Problem> {
    let host = who.tenant.host();
    let mut skills = Vec::new();
    for (id, version) in host.pinned_entries()? {
        if who.tenant.may_use(&id) {
            skills.push(host.describe(&id, Some(&version))?.summary());
        }
    }
    Ok(Answer::json(&serde_json::json!({ "skills": skills })))
}

pub(super) fn describe(who: &Identity, skill: &str) -> Result<Answer, Problem> {
    may_use(who, skill)?;
    let (id, version) = parts(skill);
    let info = who.tenant.host().describe(id, version)?;
    let described = info
        .described()
        .map_err(|error| Problem::internal(&error))?;
    let mut shown = described;
    if let (Value::Object(shown), Value::Object(summary)) = (&mut shown, info.summary()) {
        for name in ["id", "capabilities"] {
            if let Some(value) = summary.get(name) {
                shown.insert(name.to_owned(), value.clone());
            }
        }
    }
    Ok(Answer::json(&shown))
}

/// A skill that the tenant may not use is as unknown to it as one that does not exist.
pub(super) fn may_use(who: &Identity, skill: &str) -> Result<(), Problem> {
    let (id, _) = parts(skill);
    if who.tenant.may_use(id) {
        Ok(())
    } else {
        Err(Problem::not_found("skill"))
    }
}

fn parts(skill: &str) -> (&str, Option<&str>) {
    match skill.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (skill, None),
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        HostError::Delivery(Box::new(error)).into()
    }
}
