//! The egress proxy of a sandbox stage.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::{Egress as Port, EgressRefusal, EgressReport};

use super::Ports;
use super::wire::denied;
use crate::capability::egress::{Account, Egress, Pair, PlainHttp};
use crate::capability::{BudgetExceeded, Meter, MeterBudgets};

/// What the proxy is told of time; the jail's own limit ends it before.
const LONGEST: Duration = Duration::from_secs(3600);
/// Refusals that are told.
const MAX_REFUSALS: usize = 64;

impl Port for Ports {
    fn during(
        &self,
        pairs: &[String],
        private: &[String],
        byte_limit: u64,
        run: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure> {
        if let Some(layers) = self.0.governed_layers() {
            for text in pairs {
                // It is spoken to without TLS only where it may be private.
                let schemes: &[&str] = if private.contains(text) {
                    &["https", "http"]
                } else {
                    &["https"]
                };
                let refused = schemes
                    .iter()
                    .map(|scheme| layers.allow_tunnel(text, scheme))
                    .find_map(Result::err);
                if let Some(denial) = refused {
                    return Err(denied(text, &denial));
                }
            }
        }
        let pairs = pairs
            .iter()
            .map(|text| pair(text, private.contains(text)))
            .collect::<Result<Vec<_>, _>>()?;
        let account = Counted {
            meter: Meter::new(
                MeterBudgets {
                    hostcalls: u64::MAX,
                    read_bytes: u64::MAX,
                    egress_bytes: byte_limit,
                    wall_clock: LONGEST,
                },
                Instant::now(),
            ),
            refusals: Mutex::default(),
        };
        let exhausted = std::thread::scope(|scope| {
            let proxy = Egress::start(scope, &account, self.0.fetcher(), pairs)
                .map_err(|error| unavailable(&error.to_string()))?;
            run(proxy.socket());
            Ok::<_, Failure>(proxy.exceeded().is_some())
        })?;
        Ok(EgressReport {
            bytes: account.meter.used().egress_bytes,
            exhausted,
            refusals: account
                .refusals
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner),
        })
    }
}

/// Plain http only to a pair of `allow_private`.
fn pair(text: &str, private: bool) -> Result<Pair, Failure> {
    let plain = if private {
        PlainHttp::Allowed
    } else {
        PlainHttp::Refused
    };
    let pair = Pair::parse(text, plain).map_err(|error| unavailable(&error.to_string()))?;
    Ok(if private { pair.reaching_any() } else { pair })
}

fn unavailable(reason: &str) -> Failure {
    Failure::new(Code::JailUnavailable, format!("egress: {reason}"))
}

/// Counts bytes, and keeps what was refused.
struct Counted {
    meter: Meter,
    refusals: Mutex<Vec<EgressRefusal>>,
}

impl Account for Counted {
    fn count(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        self.meter.egress(bytes)
    }

    fn remaining(&self) -> Result<Duration, BudgetExceeded> {
        self.meter.remaining()
    }

    fn denied(&self, asked: Option<&str>, _: &str) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < MAX_REFUSALS {
            refusals.push(EgressRefusal {
                target: asked.unwrap_or("unreadable").to_owned(),
                code: Code::HostDenied,
            });
        }
    }
}
