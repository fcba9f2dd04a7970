//! What the `wit/` package generates for the host side.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::restriction
)] // generated

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "skill",
    imports: { default: trappable },
});
