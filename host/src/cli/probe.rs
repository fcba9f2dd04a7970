//! What this program brings to the verification of pins: its anchor, its world, and an engine to start components in.

use hydrant::engine::EngineOptions;
use hydrant::{Host, host_world_id, keys_digest};

use super::pins::BuiltIn;

/// Calls `command` with it. A machine that cannot run WebAssembly is an error of its own (exit 1), not one of the pins.
pub(super) fn with_built_in<R>(
    command: impl FnOnce(&BuiltIn<'_>) -> anyhow::Result<R>,
) -> anyhow::Result<R> {
    let options = EngineOptions {
        slots: 1,
        ..EngineOptions::default()
    };
    // Without mounts, so that nothing depends on the working directory.
    let probe = Host::builder().engine(options).without_mounts().build()?;
    command(&BuiltIn {
        keys_digest: keys_digest().clone(),
        world: host_world_id().to_owned(),
        probe: &probe,
    })
}
