//! Tools that are components: asked for their description in an instance that can reach nothing (TD-14).
//!
//! Such a tool is untrusted down to its last byte, and compiling it is the larger risk. It is vetted first
//! ([`super::vetting`]), compiled by an engine of its own, and its compiled code is never kept. Few are worked
//! on at a time and the others wait, so that an answer does not depend on how many ask.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::permits::Permits;
use super::{Budgets, CallError, Engine, vetting};
use crate::capability::fetch::Fetcher;
use crate::capability::{Budget, Call, DescribeComponent, DescribeError};
use crate::policy::{Grant, Limits};
use crate::trust::Digest;

/// Components that are compiled or asked at a time, in a process.
pub(super) const AT_ONCE: u32 = 2;
/// Descriptions that are kept, each at most 64 KiB long.
const KEPT: usize = 256;
/// The name of the threads that compile and ask tools.
pub const THREAD: &str = "hydrant-describe";
/// Bytes of stack of the thread that compiles; what vetting lets through needs far less.
const STACK: usize = 16 * 1024 * 1024;

/// Describes components. Cheap to clone; make one for a process, or for each host.
#[derive(Clone)]
pub struct ComponentDescriber {
    shared: Arc<Shared>,
}

struct Shared {
    /// Made for the first tool: most hydrations have none.
    engine: OnceLock<Option<Engine>>,
    fetcher: Arc<Fetcher>,
    permits: Arc<Permits>,
    known: Mutex<BTreeMap<Digest, Arc<Known>>>,
}

/// The description of one component, and the lock under which it is found out once.
#[derive(Default)]
struct Known(Mutex<Option<String>>);

impl ComponentDescriber {
    /// `fetcher` is never used: a tool is granted nothing.
    #[must_use]
    pub fn new(fetcher: Arc<Fetcher>) -> Self {
        let shared = Shared {
            engine: OnceLock::new(),
            fetcher,
            permits: Arc::new(Permits::new(AT_ONCE)),
            known: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    fn known(&self, component: &[u8]) -> Arc<Known> {
        let mut known = self
            .shared
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.clear();
        }
        Arc::clone(known.entry(Digest::of(component)).or_default())
    }

    /// On a thread of its own, because compiling cannot be interrupted: past `patience` nobody waits any more,
    /// and the thread keeps its permit until the compiler is done.
    fn describe_apart(
        &self,
        component: &[u8],
        time: Duration,
        patience: Duration,
    ) -> Result<String, DescribeError> {
        let started = Instant::now();
        let permit = Permits::take(Arc::clone(&self.shared.permits), patience)
            .ok_or(DescribeError::Timeout)?;
        let (answer, answered) = mpsc::sync_channel(1);
        let (this, component) = (self.clone(), component.to_vec());
        let work = move || {
            // The validator has assertions that a hostile component can fail: an answer like any other.
            let describe = AssertUnwindSafe(|| this.describe_now(&component, time));
            let description = catch_unwind(describe).unwrap_or(Err(DescribeError::NotDescribable));
            drop(permit);
            // Nobody listens any more when patience has ended.
            let _ = answer.send(description);
        };
        thread::Builder::new()
            .name(THREAD.into())
            .stack_size(STACK)
            .spawn(work)
            .map_err(|error| not_describable(&error))?;
        match answered.recv_timeout(patience.saturating_sub(started.elapsed())) {
            Ok(description) => description,
            Err(RecvTimeoutError::Timeout) => Err(DescribeError::Timeout),
            Err(RecvTimeoutError::Disconnected) => Err(DescribeError::NotDescribable),
        }
    }

    fn describe_now(&self, bytes: &[u8], time: Duration) -> Result<String, DescribeError> {
        vetting::vet(bytes).map_err(|error| not_describable(&error))?;
        let engine = self.shared.engine.get_or_init(|| Engine::for_tools().ok());
        let engine = engine
            .as_ref()
            .ok_or_else(|| not_describable(&"no engine for tools"))?;
        let component = engine
            .compiled(bytes, &Digest::of(bytes))
            .map_err(|error| not_describable(&error))?;
        let describe = component
            .get_export_index(None, "describe")
            .ok_or_else(|| not_describable(&"no export describe"))?;
        let instance = engine
            .inner
            .linker
            .instantiate_pre(&component)
            .map_err(|error| not_describable(&error))?;
        let budgets = Budgets::describe_tool(time);
        let call = Arc::new(Call {
            grant: Grant::nothing(),
            meter: budgets.meter_from(Instant::now()),
            limits: Limits::default(),
            fetcher: Arc::clone(&self.shared.fetcher),
            components: Arc::new(self.clone()),
        });
        engine
            .describe_instance(&instance, describe, call, &budgets)
            .map_err(|error| match error {
                CallError::Budget(exceeded) if exceeded.budget == Budget::WallClock => {
                    DescribeError::Timeout
                }
                error => not_describable(&error),
            })
    }
}

impl DescribeComponent for ComponentDescriber {
    fn describe(
        &self,
        component: &[u8],
        time: Duration,
        patience: Duration,
    ) -> Result<String, DescribeError> {
        let known = self.known(component);
        let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(description) = known.as_ref() {
            return Ok(description.clone());
        }
        let description = self.describe_apart(component, time, patience)?;
        // DT-03: errors are never kept.
        *known = Some(description.clone());
        Ok(description)
    }
}

fn not_describable(error: &dyn std::fmt::Display) -> DescribeError {
    tracing::debug!(%error, "a component tool cannot be described");
    DescribeError::NotDescribable
}
