//! Tools that are components: asked for their description in an instance that can reach nothing (TD-14).

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::{Budgets, CallError, Engine};
use crate::capability::fetch::Fetcher;
use crate::capability::{Budget, Call, DescribeComponent, DescribeError};
use crate::policy::{Grant, Limits};
use crate::trust::Digest;

/// Describes components on an engine.
#[derive(Clone)]
pub struct ComponentDescriber {
    engine: Engine,
    fetcher: Arc<Fetcher>,
}

impl ComponentDescriber {
    /// A describer on `engine`. `fetcher` is never used: the grant denies every fetch.
    #[must_use]
    pub fn new(engine: Engine, fetcher: Arc<Fetcher>) -> Self {
        Self { engine, fetcher }
    }

    fn describe_now(
        &self,
        bytes: &[u8],
        started: Instant,
        time: Duration,
    ) -> Result<String, DescribeError> {
        let not_describable = |error: &dyn std::fmt::Display| {
            tracing::debug!(%error, "a component tool cannot be described");
            DescribeError::NotDescribable
        };
        let component = self
            .engine
            .compiled(bytes, &Digest::of(bytes))
            .map_err(|error| not_describable(&error))?;
        let describe = component
            .get_export_index(None, "describe")
            .ok_or_else(|| not_describable(&"no export describe"))?;
        let instance = self
            .engine
            .inner
            .linker
            .instantiate_pre(&component)
            .map_err(|error| not_describable(&error))?;
        let budgets = Budgets::describe_tool(time);
        let call = Arc::new(Call {
            grant: Grant::nothing(),
            meter: budgets.meter_from(started),
            limits: Limits::default(),
            fetcher: Arc::clone(&self.fetcher),
            components: Arc::new(self.clone()),
        });
        self.engine
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
    /// On a thread of its own, because compiling cannot be interrupted: past `time` the answer is
    /// [`DescribeError::Timeout`], and the thread ends by itself when the compiler is done.
    fn describe(&self, component: &[u8], time: Duration) -> Result<String, DescribeError> {
        let started = Instant::now();
        let (answer, answered) = mpsc::sync_channel(1);
        let (this, bytes) = (self.clone(), component.to_vec());
        let work = move || {
            // Nobody listens any more after a timeout.
            let _ = answer.send(this.describe_now(&bytes, started, time));
        };
        thread::Builder::new()
            .name("hydrant-describe".into())
            .spawn(work)
            .map_err(|_| DescribeError::NotDescribable)?;
        answered
            .recv_timeout(time)
            .unwrap_or(Err(DescribeError::Timeout))
    }
}
