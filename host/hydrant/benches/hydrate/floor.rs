//! The floors: the guest's own code compiled natively, and bare wasmtime on the same component bytes.

use std::fs;
use std::path::Path;

use content_hydrate::host::fetch::{FetchError, FetchFailure, HttpRequest, HttpResponse};
use content_hydrate::host::fs_read::{File, FsError, Listing, ReadRequest, TreeRequest};
use content_hydrate::host::process::{Command, Exit, ProcessError};
use content_hydrate::host::{Fetch, ReadFiles, RunCommands};
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// Hydrates with plain file reads below `os`.
pub(crate) fn native_hydrate(os: &Path, uri: &str) -> Vec<u8> {
    let request = serde_json::from_value(serde_json::json!({ "uri": uri })).unwrap();
    content_hydrate::hydrate(&mut PlainFiles(os), &request).unwrap()
}

struct PlainFiles<'a>(&'a Path);

impl ReadFiles for PlainFiles<'_> {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        let read = |request: &ReadRequest| {
            let relative = request.path.strip_prefix("/os/").ok_or(FsError::Denied)?;
            let bytes = fs::read(self.0.join(relative)).map_err(|_| FsError::NotFound)?;
            Ok(File {
                bytes,
                truncated: false,
                executable: false,
            })
        };
        requests.iter().map(read).collect()
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        requests.iter().map(|_| Err(FsError::Denied)).collect()
    }
}

impl Fetch for PlainFiles<'_> {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        let denied = |request: &HttpRequest| {
            Err(FetchFailure {
                reason: FetchError::Denied,
                url: request.url.clone(),
            })
        };
        requests.iter().map(denied).collect()
    }
}

impl RunCommands for PlainFiles<'_> {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        commands.iter().map(|_| Err(ProcessError::Denied)).collect()
    }
}

/// A fresh pooled instance for each call, without fuel, deadline, limits or hostcalls.
pub(crate) struct BareWasmtime {
    engine: Engine,
    instance: InstancePre<State>,
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl BareWasmtime {
    pub(crate) fn new() -> Self {
        let mut config = Config::new();
        config.wasm_component_model(true);
        let mut pool = PoolingAllocationConfig::new();
        // The same pool as hydrant's, so that what is compared is what hydrant adds to a call.
        pool.total_component_instances(64)
            .total_memories(72)
            .total_tables(272)
            .total_core_instances(320)
            .linear_memory_keep_resident(4 * 1024 * 1024)
            .table_keep_resident(64 * 1024)
            .pagemap_scan(Enabled::Auto);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config).unwrap();
        let bytes = include_bytes!("../../../../skills/content.hydrate/0.1.0/skill.wasm");
        let component = Component::from_binary(&engine, bytes).unwrap();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
        linker.define_unknown_imports_as_traps(&component).unwrap();
        let instance = linker.instantiate_pre(&component).unwrap();
        Self { engine, instance }
    }

    pub(crate) fn describe(&self) -> String {
        self.warm()()
    }

    /// One instance, which is called again and again.
    pub(crate) fn warm(&self) -> impl FnMut() -> String {
        let state = State {
            wasi: WasiCtx::builder().build(),
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&self.engine, state);
        let instance = self.instance.instantiate(&mut store).unwrap();
        let describe = instance
            .get_typed_func::<(), (String,)>(&mut store, "describe")
            .unwrap();
        move || describe.call(&mut store, ()).unwrap().0
    }
}
