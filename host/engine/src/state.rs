//! What a store holds while a guest runs.

use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::budget::{Budgets, Limiter};
use super::wasi::{self, GuestLog};
use hydrant_capability::Call;

/// WASI handles that a guest may hold at a time.
const HANDLES: usize = 1000;

pub(super) struct State {
    pub(super) call: Arc<Call>,
    pub(super) limiter: Limiter,
    pub(super) log: GuestLog,
    wasi: WasiCtx,
    table: ResourceTable,
}

impl State {
    pub(super) fn new(call: Arc<Call>, budgets: &Budgets) -> Self {
        let (wasi, log) = wasi::context();
        let mut table = ResourceTable::new();
        // Else a guest could fill the host's memory with handles, one cheap call at a time.
        table.set_max_capacity(HANDLES);
        Self {
            call,
            limiter: Limiter::new(budgets.memory_bytes),
            log,
            wasi,
            table,
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
