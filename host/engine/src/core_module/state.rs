//! What a store holds while a core module runs.

use std::sync::Arc;

use super::limits::{CoreBudgets, Limiter};
use hydrant_base::Digest;
use hydrant_capability::core_module::CoreCall;

pub(super) struct State {
    pub(super) call: Arc<CoreCall>,
    pub(super) limiter: Limiter,
    pub(super) input: Vec<u8>,
    /// What `output_write` was given last.
    pub(super) output: Option<Vec<u8>>,
    pub(super) copy_bytes: usize,
    input_hex: Option<String>,
}

impl State {
    pub(super) fn new(call: Arc<CoreCall>, input: &[u8], budgets: &CoreBudgets) -> Self {
        Self {
            call,
            limiter: Limiter::new(budgets.memory_bytes),
            input: input.to_vec(),
            output: None,
            copy_bytes: budgets.copy_bytes,
            input_hex: None,
        }
    }

    /// sha256 of the input, computed once: asked in a loop, it would cost what the fuel does not show.
    pub(super) fn input_hex(&mut self) -> &str {
        let input = &self.input;
        self.input_hex
            .get_or_insert_with(|| Digest::of(input).hex().to_owned())
    }
}
