//! `experimental-validate-receipt-v1`: the shape of a v1-draft receipt, not its hash.

use std::path::PathBuf;

use clap::Args;
use hydrant::audit::{Event, ReceiptV1};
use hydrant::base::read_bounded_as;
use hydrant::trust::limits;

use super::line::Line;
use super::observed;

/// Validate the shape of a receipt of the v1 draft
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// The receipt
    #[arg(long, value_name = "FILE")]
    receipt: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    observed(Event::ExperimentalValidateReceiptV1, |observation| {
        let bytes = read_bounded_as(&arguments.receipt, limits::MAX_JSON_BYTES, "receipt.json")?;
        let receipt = ReceiptV1::parse(&bytes)?;
        Line::ok("experimental-validate-receipt-v1")
            .fact("artifact", &receipt.artifact)
            .fact("status", &receipt.result.status)
            .print()?;
        observation.note("artifact", receipt.artifact.as_str());
        Ok(())
    })
}
