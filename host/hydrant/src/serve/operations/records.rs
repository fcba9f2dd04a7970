//! What was done: receipts of runs, and the causal chain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Declaration, Effect, Operation, Page, Request, Roles, Tag, unknown_cursor};
use crate::capability::Cancellation;
use crate::govern::governor::{self, Shown};
use crate::serve::service::{Answer, Identity, Problem, ReceiptId};

/// The receipts of runs, newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct ListReceipts(Page);

/// A part of the list of receipts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Receipts")]
struct ReceiptList {
    receipts: Vec<ListedReceipt>,
    /// For the next part; null where there is none
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListedReceipt {
    id: String,
    #[schemars(extend("format" = "date-time"))]
    time: String,
}

impl Request for ListReceipts {
    type Response = ReceiptList;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "receipts",
        Roles::All,
        Effect::READS,
    )
    .get("/v1/receipts", Tag::Skills, "receipts");

    fn perform(self, who: &Identity) -> Result<ReceiptList, Problem> {
        let Self(page) = self;
        let before = page.cursor.as_deref().map(str::parse::<ReceiptId>);
        let before = before.transpose().map_err(|()| unknown_cursor())?;
        let (ids, more) = who.tenant.receipts.list(before, page.most())?;
        let cursor = ids.last().filter(|_| more).map(ToString::to_string);
        let shown = ids.into_iter().map(|id| ListedReceipt {
            id: id.to_string(),
            time: id.time().to_string(),
        });
        Ok(ReceiptList {
            receipts: shown.collect(),
            cursor,
        })
    }
}

/// A receipt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Receipt {
    /// `rcpt_…`
    id: String,
}

impl Request for Receipt {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "receipt",
        Roles::All,
        Effect::READS,
    )
    .get("/v1/receipts/{id}", Tag::Skills, "receipt");

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let unknown = || Problem::not_found("receipt");
        let id: ReceiptId = self.id.parse().map_err(|()| unknown())?;
        let bytes = who.tenant.receipts.read(id)?;
        bytes.map(Answer::json_bytes).ok_or_else(unknown)
    }
}

/// The causal chain: its head, its records, and, if asked for, whether it is whole.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Chain {
    /// Where the part before ended
    cursor: Option<String>,
    /// Entries of this part; 100 unless said
    #[serde(deserialize_with = "super::page_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u16>,
    /// Verify all of the chain; else `verified` and `report` are null. It takes the longer the longer the chain is.
    verify: bool,
}

/// A part of the causal chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Chain")]
struct ChainPart {
    head: Option<String>,
    verified: Option<bool>,
    #[schemars(extend("type" = ["object", "null"]))]
    report: Option<Value>,
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    entries: Vec<Value>,
    /// For the next part; null where there is none
    cursor: Option<String>,
}

impl Request for Chain {
    type Response = ChainPart;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "chain",
        Roles::Deciders,
        Effect::READS,
    )
    .get("/v1/chain", Tag::Approvals, "chain");

    /// A verification reads the whole chain from its files, so that its answer is about what is on the disk now. It is done
    /// only if it is asked for, and ends when the client does.
    fn perform(self, who: &Identity) -> Result<ChainPart, Problem> {
        let page = Page {
            cursor: self.cursor,
            limit: self.limit,
        };
        let since = page.cursor.as_deref().map(str::parse::<u64>);
        let since = since.transpose().map_err(|_| unknown_cursor())?;
        let running = Cancellation::current();
        let stop = || running.is_cancelled();
        let report = self
            .verify
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
        let mut entries = match records {
            Some(Value::Array(records)) => records,
            _ => Vec::new(),
        };
        let more = entries.len() > page.most();
        entries.truncate(page.most());
        let last = entries.last().and_then(|record| record.get("seq"));
        let head = shown.get("anchor").and_then(Value::as_str);
        Ok(ChainPart {
            cursor: last.filter(|_| more).map(ToString::to_string),
            head: head.map(str::to_owned),
            verified: report
                .as_ref()
                .and_then(|report| report.get("ok")?.as_bool()),
            report,
            entries,
        })
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new::<ListReceipts>(),
        Operation::new::<Receipt>(),
        Operation::new::<Chain>(),
    ]
}
