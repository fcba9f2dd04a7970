//! From bytes to a skill that can be called: compiled or found in the cache, held against the world, linked.

use std::time::Duration;

use wasmtime::component::Component;

use super::apart::{self, NotCompiled};
use super::cache::{CacheError, CodeCache};
use super::contained::Kind;
use super::error::EngineError;
use super::{Engine, Inner, Skill, component, setup, vetting};
use hydrant_base::Digest;
use hydrant_jail::Launcher;
use hydrant_trust::{Capability, Wasm};

/// How long a caller without a deadline waits for the compiler.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// Where the machine code of a component was found, if it was.
enum Cached<'a> {
    /// In this program.
    Precompiled(Component),
    /// Looked for in this cache.
    Folder(&'a CodeCache, Result<Option<Component>, CacheError>),
    /// Not in this program, and there is no cache.
    Nowhere,
}

impl Engine {
    /// Compiles and links a component, or takes its compiled code from the cache.
    ///
    /// # Errors
    ///
    /// [`EngineError`]: it is no component, does not fit the world, imports an interface that none of `capabilities`
    /// declares, or there is no room for one more ([`EngineError::NoRoom`]).
    pub fn load(
        &self,
        component: &Wasm,
        capabilities: &[Capability],
    ) -> Result<Skill, EngineError> {
        self.load_within(component, capabilities, PATIENCE, None)
    }

    /// As [`load`](Self::load), within the time that a call has left, for a component that nobody vouches for: it is
    /// compiled in a process of its own in the `jail`, if there is one.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load), and [`EngineError::CompileTimeout`].
    pub fn load_within(
        &self,
        component: &Wasm,
        capabilities: &[Capability],
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<Skill, EngineError> {
        let component = self.compiled(component, patience, jail)?;
        setup::check_declared(&component, &self.inner.wasmtime, capabilities)?;
        self.link(&component)
    }

    /// Looks for machine code: in this program, then in the cache.
    fn cached(&self, digest: &Digest) -> Cached<'_> {
        let Inner {
            wasmtime,
            precompiled,
            cache,
            ..
        } = &*self.inner;
        if let Some(component) = precompiled.get(wasmtime, digest) {
            return Cached::Precompiled(component);
        }
        match cache {
            Some(cache) => Cached::Folder(cache, cache.load(wasmtime, digest)),
            None => Cached::Nowhere,
        }
    }

    pub(super) fn link(&self, component: &Component) -> Result<Skill, EngineError> {
        // Its code is mapped already, within what is left for the rest of the process; without room it goes again.
        let mapped = self.inner.room.component()?;
        let export = |name: &str| {
            component
                .get_export_index(None, name)
                .ok_or_else(|| EngineError::World(format!("no export {name}")))
        };
        let (describe, run) = (export("describe")?, export("run")?);
        let instance = self
            .inner
            .linker
            .instantiate_pre(component)
            .map_err(|error| EngineError::World(error.root_cause().to_string()))?;
        Ok(Skill {
            instance,
            describe,
            run,
            _mapped: mapped,
        })
    }

    /// A component from the cache, or compiled; in either case one whose imports guests may have.
    pub(super) fn compiled(
        &self,
        wasm: &Wasm,
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<Component, EngineError> {
        let (cache, found) = match self.cached(wasm.digest()) {
            Cached::Precompiled(component) => {
                setup::check_imports(&component, &self.inner.wasmtime)?;
                return Ok(component);
            }
            Cached::Nowhere => return self.compile(wasm.bytes(), patience, jail),
            Cached::Folder(cache, found) => (cache, found),
        };
        match found {
            Ok(Some(component)) => {
                setup::check_imports(&component, &self.inner.wasmtime)?;
                return Ok(component);
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "the compiled-code cache is not used");
                return self.compile(wasm.bytes(), patience, jail);
            }
        }
        let component = self.compile(wasm.bytes(), patience, jail)?;
        let stored = component
            .serialize()
            .map(|code| cache.store(wasm.digest(), code));
        if let Ok(Err(error)) = stored {
            tracing::warn!(%error, "compiled code is not kept");
        }
        Ok(component)
    }

    /// Vets and compiles: a signature says who made a component, not what it costs to compile it.
    fn compile(
        &self,
        bytes: &[u8],
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<Component, EngineError> {
        let (engine, bytes, jail) = (self.inner.wasmtime.clone(), bytes.to_vec(), jail.cloned());
        let work = move || {
            vetting::vet_bundle(&bytes).map_err(|refused| refused.to_string())?;
            component(&engine, Kind::Bundle, &bytes, jail.as_ref(), patience)
        };
        let component = apart::compile(patience, work).map_err(|error| match error {
            NotCompiled::Timeout => EngineError::CompileTimeout,
            NotCompiled::Failed(reason) => EngineError::Compile(reason),
        })?;
        setup::check_imports(&component, &self.inner.wasmtime)?;
        Ok(component)
    }

    /// Compiles a tool that was vetted before, on this thread or in the `jail`, where `time` is a limit.
    pub(super) fn compile_vetted(
        &self,
        bytes: &[u8],
        jail: Option<&Launcher>,
        time: Duration,
    ) -> Result<Component, EngineError> {
        let component = component(&self.inner.wasmtime, Kind::Tool, bytes, jail, time)
            .map_err(EngineError::Compile)?;
        setup::check_imports(&component, &self.inner.wasmtime)?;
        Ok(component)
    }
}
