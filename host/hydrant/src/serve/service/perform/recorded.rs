//! What was done: receipts and the causal chain.

use serde_json::{Value, json};

use crate::capability::Cancellation;
use crate::govern::governor::{self, Shown};
use crate::serve::service::{Answer, ChainOptions, Identity, Page, Problem, ReceiptId};

pub(super) fn receipts(who: &Identity, page: &Page) -> Result<Answer, Problem> {
    let before = match &page.cursor {
        Some(cursor) => Some(
            cursor
                .parse::<ReceiptId>()
                .map_err(|()| Problem::invalid("cursor: it is none of this list"))?,
        ),
        None => None,
    };
    let (ids, more) = who.tenant.receipts.list(before, page.most())?;
    let cursor = ids.last().filter(|_| more).copied();
    let shown: Vec<Value> = ids
        .into_iter()
        .map(|id| json!({ "id": id, "time": id.time() }))
        .collect();
    Ok(Answer::json(
        &json!({ "receipts": shown, "cursor": cursor }),
    ))
}

pub(super) fn receipt(who: &Identity, id: &str) -> Result<Answer, Problem> {
    let id: ReceiptId = id.parse().map_err(|()| Problem::not_found("receipt"))?;
    match who.tenant.receipts.read(id)? {
        Some(bytes) => Ok(Answer::json_bytes(bytes)),
        None => Err(Problem::not_found("receipt")),
    }
}

/// A chain that is verified is so from its files: what is said of it is what is on the disk now. That reads all of it, so
/// it is done for whoever asks for it, and not for each part of the list; and it ends with who waits for it.
pub(super) fn chain(who: &Identity, options: ChainOptions) -> Result<Answer, Problem> {
    let ChainOptions {
        cursor,
        limit,
        verify,
    } = options;
    let page = Page { cursor, limit };
    let since = match &page.cursor {
        Some(cursor) => Some(
            cursor
                .parse::<u64>()
                .map_err(|_| Problem::invalid("cursor: it is none of this list"))?,
        ),
        None => None,
    };
    let running = Cancellation::current();
    let stop = || running.is_cancelled();
    let report = verify
        .then(|| governor::verify_until(who.tenant.state(), None, &stop))
        .transpose()?;
    let shown = Shown {
        since,
        capability: None,
        // One more says that there are more.
        most: Some(page.most().saturating_add(1)),
    };
    let mut shown = who.tenant.governor()?.chain(&shown, &stop)?;
    let records = shown.get_mut("records").map(Value::take);
    let mut records = match records {
        Some(Value::Array(records)) => records,
        _ => Vec::new(),
    };
    let more = records.len() > page.most();
    records.truncate(page.most());
    let last = records.last().and_then(|record| record.get("seq"));
    let cursor = last.filter(|_| more).map(|seq| seq.to_string());
    Ok(Answer::json(&json!({
        "head": shown.get("anchor"),
        "verified": report.as_ref().and_then(|report| report.get("ok")),
        "report": report,
        "entries": records,
        "cursor": cursor,
    })))
}
