//! Numbers for Prometheus: calls and their time, by tenant and operation; the queue.
//!
//! They tell of all tenants, so they are for the operator of the server alone.

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::serve::service::Load;

/// Upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 12] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0,
];

type Call = [(&'static str, String); 3];
type Operation = [(&'static str, &'static str); 1];

fn histogram() -> Histogram {
    Histogram::new(BOUNDS)
}

/// See the module.
pub(super) struct Metrics {
    registry: Registry,
    calls: Family<Call, Counter>,
    seconds: Family<Operation, Histogram, fn() -> Histogram>,
    running: Gauge<i64, AtomicI64>,
    waiting: Gauge<i64, AtomicI64>,
}

impl Metrics {
    /// With everything at zero.
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("hydrant");
        let calls = Family::default();
        let constructor: fn() -> Histogram = histogram;
        let seconds = Family::<Operation, _, _>::new_with_constructor(constructor);
        let (running, waiting) = (Gauge::default(), Gauge::default());
        registry.register("calls", "Calls, by what came of them", calls.clone());
        registry.register(
            "call_seconds",
            "Seconds from the request to its answer",
            Family::clone(&seconds),
        );
        registry.register("calls_running", "Calls that run now", running.clone());
        registry.register("calls_waiting", "Calls that wait now", waiting.clone());
        Self {
            registry,
            calls,
            seconds,
            running,
            waiting,
        }
    }

    /// Counts a call.
    pub(super) fn called(
        &self,
        tenant: &str,
        operation: &'static str,
        outcome: &str,
        took: Duration,
    ) {
        let labels = [
            ("tenant", tenant.to_owned()),
            ("operation", operation.to_owned()),
            ("outcome", outcome.to_owned()),
        ];
        self.calls.get_or_create(&labels).inc();
        self.seconds
            .get_or_create(&[("operation", operation)])
            .observe(took.as_secs_f64());
    }

    /// All of it, in the text form of OpenMetrics.
    pub(super) fn text(&self, load: Load) -> Result<String, std::fmt::Error> {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.running.set(count(load.running));
        self.waiting.set(count(load.waiting));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
