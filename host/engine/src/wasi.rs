//! The WASI that guests get: inert and deterministic.
//!
//! No preopened directory, environment, argument, input or network; a frozen clock; a seeded random
//! source; output captured, bounded, for the debug log. `wasi:sockets` and `wasi:http` are not linked at
//! all, so a component that imports them does not load. Two interfaces of wasmtime-wasi are
//! replaced because they would let a guest leave its budget: a timer of the real clock blocks a host
//! thread past the deadline, and `write-zeroes` of a stream allocates what the guest asks for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::cli::{IsTerminal, StdoutStream, WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random, sync};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::p2::{DynPollable, OutputStream, Pollable, StreamResult, subscribe};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{
    Deterministic, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiView,
    async_trait,
};

/// Bytes of standard output and standard error that are kept, both together.
const LOG_BYTES: usize = 64 * 1024;
/// Bytes of one request for random data.
const RANDOM_BYTES: u64 = 64 * 1024;
/// What every guest's clocks say: 2026-01-01T00:00:00Z.
const FROZEN_AT: Duration = Duration::from_secs(1_767_225_600);

/// The context of one call, and where its output goes.
pub(super) fn context() -> (WasiCtx, GuestLog) {
    let log = GuestLog::default();
    let seed: Vec<u8> = (0..=u8::MAX).collect();
    let context = WasiCtxBuilder::new()
        .stdout(log.clone())
        .stderr(log.clone())
        .wall_clock(FrozenClock)
        .monotonic_clock(FrozenClock)
        .secure_random(Deterministic::new(seed.clone()))
        .insecure_random(Deterministic::new(seed))
        .insecure_random_seed(0)
        .max_random_size(RANDOM_BYTES)
        .allow_tcp(false)
        .allow_udp(false)
        .build();
    (context, log)
}

/// Links the interfaces of WASI that a component may import, and no other.
pub(super) fn add_to_linker<T: WasiView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let l = linker;
    cli::environment::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::exit::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::stdin::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::stdout::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::stderr::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_input::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_output::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_stdin::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_stdout::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_stderr::add_to_linker::<T, WasiCli>(l, T::cli)?;
    clocks::wall_clock::add_to_linker::<T, WasiClocks>(l, T::clocks)?;
    clocks::monotonic_clock::add_to_linker::<T, Timers>(l, |t| TimerView(t.ctx().table))?;
    filesystem::preopens::add_to_linker::<T, WasiFilesystem>(l, T::filesystem)?;
    sync::filesystem::types::add_to_linker::<T, WasiFilesystem>(l, T::filesystem)?;
    random::random::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    random::insecure::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<T, Table>(l, |t| t.ctx().table)?;
    sync::io::poll::add_to_linker::<T, Table>(l, |t| t.ctx().table)?;
    sync::io::streams::add_to_linker::<T, Table>(l, |t| t.ctx().table)?;
    Ok(())
}

struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}

struct FrozenClock;

impl HostWallClock for FrozenClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        FROZEN_AT
    }
}

impl HostMonotonicClock for FrozenClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}

struct Timers;

impl HasData for Timers {
    type Data<'a> = TimerView<'a>;
}

/// `wasi:clocks/monotonic-clock` whose timers are all due at once: no time passes for a guest.
struct TimerView<'a>(&'a mut ResourceTable);

struct Due;

#[async_trait]
impl Pollable for Due {
    async fn ready(&mut self) {}
}

impl clocks::monotonic_clock::Host for TimerView<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(HostMonotonicClock::now(&FrozenClock))
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(HostMonotonicClock::resolution(&FrozenClock))
    }

    fn subscribe_instant(&mut self, _when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let due = self.0.push(Due)?;
        subscribe(self.0, due)
    }

    fn subscribe_duration(&mut self, _duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.subscribe_instant(0)
    }
}

/// What a guest printed: the first [`LOG_BYTES`]; the rest is dropped, which is no error.
#[derive(Clone, Default)]
pub(super) struct GuestLog(Arc<Mutex<Vec<u8>>>);

impl GuestLog {
    pub(super) fn text(&self) -> String {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log).into_owned()
    }

    fn append(&self, bytes: &[u8]) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = LOG_BYTES.saturating_sub(log.len());
        log.extend(bytes.iter().take(free));
    }
}

impl IsTerminal for GuestLog {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestLog {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only WASI 0.1 and 0.3 ask for this one, and neither is linked.
        Box::new(MemoryOutputPipe::new(0))
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for GuestLog {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for GuestLog {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(LOG_BYTES)
    }

    fn write_zeroes(&mut self, _count: usize) -> StreamResult<()> {
        Ok(())
    }
}
