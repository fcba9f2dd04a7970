//! What this program brings to the verification of pins: its anchor, its world, and an engine to start components in.

use std::cell::OnceCell;

use anyhow::anyhow;
use hydrant::engine::EngineOptions;
use hydrant::pins::{ComponentProbe, ProbeError};
use hydrant::trust::{Carried, Wasm};
use hydrant::{Host, HostError, carried_components, host_world_id, keys_digest};

use super::pins::BuiltIn;

/// Calls `command` with it. A machine that cannot run WebAssembly is an error of its own (exit 1), not one of the pins.
pub(super) fn with_built_in<R>(
    command: impl FnOnce(&BuiltIn<'_>) -> anyhow::Result<R>,
) -> anyhow::Result<R> {
    let probe = LazyHost::default();
    let result = command(&BuiltIn {
        keys_digest: keys_digest().clone(),
        world: host_world_id().to_owned(),
        probe: &probe,
    })?;
    match probe.host.into_inner() {
        Some(Err(error)) => Err(anyhow!(error)),
        _ => Ok(result),
    }
}

/// A host that is made when the first component has to be started.
#[derive(Default)]
struct LazyHost {
    host: OnceCell<Result<Host, HostError>>,
}

impl ComponentProbe for LazyHost {
    fn instantiate_and_describe(&self, component: &Wasm) -> Result<String, ProbeError> {
        let host = self.host.get_or_init(|| {
            let options = EngineOptions {
                slots: 1,
                ..EngineOptions::default()
            };
            // Without mounts, so that nothing depends on the working directory.
            Host::builder().engine(options).without_mounts().build()
        });
        match host {
            Ok(host) => host.instantiate_and_describe(component),
            Err(error) => Err(ProbeError::DoesNotInstantiate(error.to_string())),
        }
    }

    fn carried(&self) -> &'static [Carried] {
        carried_components()
    }
}
