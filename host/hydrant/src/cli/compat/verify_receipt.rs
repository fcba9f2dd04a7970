//! `verify-receipt`: whether a receipt hangs together.

use std::path::PathBuf;

use clap::Args;
use hydrant::audit::{self, Event};
use hydrant::base::read_bounded_as;
use hydrant::trust::limits;

use super::line::Line;
use super::observed;

/// Check that nobody changed a receipt; it is not signed, and says nothing about who wrote it
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// The receipt
    #[arg(long, value_name = "FILE")]
    receipt: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    observed(Event::VerifyReceipt, |observation| {
        let bytes = read_bounded_as(&arguments.receipt, limits::MAX_JSON_BYTES, "receipt.json")?;
        let receipt = audit::verify_receipt(&bytes)?;
        let mut line = Line::ok("verify-receipt")
            .fact("artifact", receipt.artifact())
            .given("receipt", &arguments.receipt);
        if let Some(schema) = receipt.schema_version() {
            line = line.fact("schema", schema);
        }
        line.print()?;
        observation.note("artifact", receipt.artifact().as_str());
        Ok(())
    })
}
