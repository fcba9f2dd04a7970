//! Machine code that travels in this program ([`hydrant_precompiled`]): run where it lies, in the program's read-only data.
//!
//! It is as trusted as the program's own code, which lies beside it: nobody who can change the one could not change the
//! other. wasmtime still compares its version, its settings and the processor's features with those of the engine; code that
//! does not fit is not used, and the component is compiled.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hydrant_precompiled::Precompiled;
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

use hydrant_base::Digest;

/// `off` in this variable of the environment: components are compiled, as on a processor that the code does not fit.
const OFF: &str = "HYDRANT_PRECOMPILED";

/// The components of one engine that were made of machine code in this program. They stay for as long as the engine: all
/// hosts that share it share them.
#[derive(Default)]
pub(super) struct Components {
    loaded: Mutex<BTreeMap<&'static str, Option<Component>>>,
}

impl Components {
    /// The component with this digest. None if this program has no machine code for it, or code that does not fit, which is
    /// said once.
    pub(super) fn get(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let carried = hydrant_precompiled::find(digest.as_str())?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded
            .entry(carried.path)
            .or_insert_with(|| load(engine, carried))
            .clone()
    }
}

fn load(engine: &Engine, carried: &'static Precompiled) -> Option<Component> {
    // The build had no compiler for this target, or somebody wants none of it.
    if carried.machine_code.is_empty() || std::env::var_os(OFF).is_some_and(|value| value == "off")
    {
        return None;
    }
    let loaded = if carried.is_intact() {
        deserialize(engine, carried).map_err(|error| format!("{error:#}"))
    } else {
        Err("it is damaged: the file of the program has changed".to_owned())
    };
    loaded
        .inspect_err(|reason| {
            tracing::warn!(
                component = carried.path,
                %reason,
                "the machine code in this program cannot be used, so the component is compiled"
            );
        })
        .ok()
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn deserialize(engine: &Engine, carried: &'static Precompiled) -> wasmtime::Result<Component> {
    use std::ptr::NonNull;

    if !in_place::claim(carried) {
        return copy(engine, carried);
    }
    // SAFETY: the code was written by wasmtime when this program was built, with the settings of this engine, which
    // wasmtime compares again. It is read-only data of the program: it lives for ever, and nobody writes to it. No other
    // engine runs it in place.
    unsafe { Component::deserialize_raw(engine, NonNull::from(carried.machine_code)) }
}

/// Elsewhere instruction caches have to be told of new code, which wasmtime does for memory of its own.
#[cfg(not(target_arch = "x86_64"))]
fn deserialize(engine: &Engine, carried: &'static Precompiled) -> wasmtime::Result<Component> {
    copy(engine, carried)
}

#[allow(unsafe_code)]
fn copy(engine: &Engine, carried: &'static Precompiled) -> wasmtime::Result<Component> {
    // SAFETY: the code was written by wasmtime when this program was built, with the settings of this engine, which
    // wasmtime compares again.
    unsafe { Component::deserialize(engine, carried.machine_code) }
}

/// Lets engines of this configuration run code that wasmtime has not mapped itself.
#[cfg(target_arch = "x86_64")]
pub(super) fn run_in_place(config: &mut Config) {
    config.with_custom_code_memory(Some(std::sync::Arc::new(in_place::Pages)));
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn run_in_place(_: &mut Config) {}

#[cfg(target_arch = "x86_64")]
mod in_place {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use hydrant_precompiled::Precompiled;
    use rustix::mm::{MprotectFlags, mprotect};
    use wasmtime::CustomCodeMemory;

    /// Bytes of a page: this processor has no other size for small ones.
    const PAGE: usize = 4096;

    /// Components whose code some engine of this process runs in place. wasmtime finds code by its address, so that two
    /// engines cannot do so with the same.
    static CLAIMED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

    /// Whether the caller is the first to ask for the code of this component, and so may run it where it lies.
    pub(super) fn claim(carried: &'static Precompiled) -> bool {
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.insert(carried.path)
    }

    /// Makes pages of machine code executable, and no longer writable.
    pub(super) struct Pages;

    impl CustomCodeMemory for Pages {
        fn required_alignment(&self) -> usize {
            PAGE
        }

        #[allow(unsafe_code)]
        fn publish_executable(&self, start: *const u8, length: usize) -> wasmtime::Result<()> {
            let flags = MprotectFlags::READ | MprotectFlags::EXEC;
            // SAFETY: wasmtime names whole pages of machine code that it owns or was given to run. They are complete, and
            // nobody writes to them any more.
            unsafe { mprotect(start.cast_mut().cast(), length, flags) }?;
            Ok(())
        }

        /// Memory of wasmtime's own is unmapped next; code of this program stays as it is.
        fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any() -> &'static Precompiled {
        hydrant_precompiled::COMPONENTS.first().unwrap()
    }

    #[test]
    fn every_component_is_carried_whole() {
        for carried in hydrant_precompiled::COMPONENTS {
            let file = std::path::Path::new("../..").join(carried.path);
            let digest = Digest::of(&std::fs::read(file).unwrap());
            assert_eq!(digest.as_str(), carried.digest, "{}", carried.path);
            assert!(carried.is_intact(), "{}", carried.path);
        }
    }

    #[test]
    fn code_for_another_processor_is_not_run() {
        let mut config = hydrant_precompiled::config();
        run_in_place(&mut config);
        #[allow(unsafe_code)]
        // SAFETY: to say that a feature is missing makes wasmtime run less, not more.
        unsafe {
            config.detect_host_feature(|feature| Some(feature != "avx2"));
        }
        let engine = Engine::new(&config).unwrap();
        let digest: Digest = any().digest.parse().unwrap();
        let found = Components::default().get(&engine, &digest);
        assert!(found.is_none() || cfg!(not(target_arch = "x86_64")));
    }

    #[test]
    fn engines_of_one_process_do_not_disturb_each_other() {
        let digest: Digest = any().digest.parse().unwrap();
        let engine = || {
            let mut config = hydrant_precompiled::config();
            run_in_place(&mut config);
            Engine::new(&config).unwrap()
        };
        let (first, second) = (Components::default(), Components::default());
        let (first_engine, second_engine) = (engine(), engine());
        assert!(first.get(&first_engine, &digest).is_some());
        assert!(second.get(&second_engine, &digest).is_some());
        drop((first, first_engine));
        assert!(second.get(&second_engine, &digest).is_some());
        let third = Components::default();
        assert!(third.get(&engine(), &digest).is_some());
    }
}
