//! The readers of files that others wrote, as the host compiles them, without the engine: fuzzing then needs no
//! instrumented build of wasmtime.

#![allow(dead_code, unused_imports, reason = "some parts serve the rest of the host only")]

#[path = "../../../host/hydrant/src/policy/mod.rs"]
pub mod policy;
#[path = "../../../host/hydrant/src/trust/mod.rs"]
pub mod trust;
