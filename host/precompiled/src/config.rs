//! The settings that decide what machine code a component becomes. The build script compiles with them too.

use wasmtime::Config;

/// Returns the settings of the engine that compiles and runs pinned components, without those of its pool of instances,
/// which make no difference to the code.
#[must_use]
pub fn config() -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true);
    config.consume_fuel(true);
    config.epoch_interruption(true);
    // The same request with the same answers gives the same bytes, on every processor.
    config.cranelift_nan_canonicalization(true);
    config.relaxed_simd_deterministic(true);
    // Smaller machine code: traps are reported by kind, not by address.
    config.native_unwind_info(false);
    config.generate_address_map(false);
    config.wasm_backtrace_max_frames(None);
    config
}
