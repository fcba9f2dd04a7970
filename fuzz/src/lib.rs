//! The readers of files that others wrote, as the host compiles them, without the engine: fuzzing then needs no
//! instrumented build of wasmtime.

#![allow(dead_code, unused_imports, reason = "some parts serve the rest of the host only")]

#[path = "../../host/src/policy/mod.rs"]
pub mod policy;
#[path = "../../host/src/trust/mod.rs"]
pub mod trust;
