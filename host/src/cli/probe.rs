//! What this program brings to the verification of pins: its anchor, its world, and an engine once a component is asked.

use std::sync::OnceLock;

use hydrant::engine::EngineOptions;
use hydrant::pins::{ComponentProbe, ProbeError};
use hydrant::trust::Digest;
use hydrant::{Host, host_world_id, keys_digest};

use super::pins::BuiltIn;

/// Calls `command` with it.
pub(super) fn with_built_in<R>(command: impl FnOnce(&BuiltIn<'_>) -> R) -> R {
    let probe = LazyProbe::default();
    command(&BuiltIn {
        keys_digest: keys_digest().clone(),
        world: host_world_id().to_owned(),
        probe: &probe,
    })
}

/// A host that is made for the first component: signing a lock needs none.
#[derive(Default)]
struct LazyProbe(OnceLock<Result<Host, String>>);

impl ComponentProbe for LazyProbe {
    fn instantiate_and_describe(
        &self,
        component: &[u8],
        artifact: &Digest,
    ) -> Result<String, ProbeError> {
        let host = self.0.get_or_init(|| {
            let options = EngineOptions {
                slots: 1,
                ..EngineOptions::default()
            };
            let host = Host::builder().engine(options).build();
            host.map_err(|error| error.to_string())
        });
        match host {
            Ok(host) => host.instantiate_and_describe(component, artifact),
            Err(error) => Err(ProbeError::DoesNotInstantiate(error.clone())),
        }
    }
}
