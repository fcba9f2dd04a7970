//! The 14 functions of the host ABI, under the module names `provenact` and `inactu`.
//!
//! Each looks at the clock first, so that a loop of cheap calls ends with the deadline, then at the numbers
//! it was given, and only then asks [`CoreCall`] for the effect. A hostcall never calls the guest.

use wasmtime::{Caller, Linker};

use super::memory::{self, NO, natural};
use super::state::State;
use hydrant_capability::core_module::{CoreCall, Ended};

/// The names of the import module: the present one, and the one it had before.
pub(super) const MODULES: [&str; 2] = ["provenact", "inactu"];

/// The import by which a module says that it answers with more than its return value.
pub(super) const OUTPUT: &str = "output_write";

/// An effect that is asked with a name and answers bytes that fit into the room given.
type Answering = fn(&CoreCall, &[u8], usize) -> Result<Option<Vec<u8>>, Ended>;

const ANSWERING: [(&str, Answering); 5] = [
    ("fs_read_file", CoreCall::read_file),
    ("fs_read_tree", CoreCall::read_tree),
    ("http_fetch", CoreCall::fetch),
    ("kv_get", CoreCall::get),
    ("queue_consume", CoreCall::consume),
];

/// An effect that is asked with a name and given bytes.
type Taking = fn(&CoreCall, &[u8], &[u8]) -> Result<Option<()>, Ended>;

const TAKING: [(&str, Taking); 3] = [
    ("fs_write_file", CoreCall::write_file),
    ("kv_put", CoreCall::put),
    ("queue_publish", CoreCall::publish),
];

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    for module in MODULES {
        add_input_and_output(linker, module)?;
        add_time_and_random(linker, module)?;
        for (name, effect) in ANSWERING {
            linker.func_wrap(
                module,
                name,
                move |mut caller: Caller<'_, State>,
                      name: i32,
                      name_length: i32,
                      out: i32,
                      out_length: i32| {
                    alive(&caller)?;
                    let Some(name) = memory::copy(&mut caller, name, name_length) else {
                        return Ok(NO);
                    };
                    let Some(room) = memory::room(&mut caller, out, out_length) else {
                        return Ok(NO);
                    };
                    let answer = effect(&caller.data().call, &name, room)?;
                    Ok(answer.map_or(NO, |bytes| memory::write(&mut caller, out, &bytes)))
                },
            )?;
        }
        for (name, effect) in TAKING {
            linker.func_wrap(
                module,
                name,
                move |mut caller: Caller<'_, State>,
                      name: i32,
                      name_length: i32,
                      data: i32,
                      data_length: i32| {
                    alive(&caller)?;
                    let Some(name) = memory::copy(&mut caller, name, name_length) else {
                        return Ok(NO);
                    };
                    let Some((data, state)) = memory::bytes(&mut caller, data, data_length) else {
                        return Ok(NO);
                    };
                    let done = effect(&state.call, &name, data)?;
                    Ok(done.map_or(NO, |()| 0))
                },
            )?;
        }
    }
    Ok(())
}

fn add_input_and_output(linker: &mut Linker<State>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(module, "input_len", |caller: Caller<'_, State>| {
        alive(&caller)?;
        Ok(i32::try_from(caller.data().input.len()).unwrap_or(NO))
    })?;
    linker.func_wrap(
        module,
        "input_read",
        |mut caller: Caller<'_, State>, pointer: i32, offset: i32, length: i32| {
            alive(&caller)?;
            let Some(offset) = natural(offset) else {
                return Ok(NO);
            };
            let Some((target, state)) = memory::bytes(&mut caller, pointer, length) else {
                return Ok(NO);
            };
            let end = offset.checked_add(target.len());
            let Some(part) = end.and_then(|end| state.input.get(offset..end)) else {
                return Ok(NO);
            };
            target.copy_from_slice(part);
            Ok(length)
        },
    )?;
    linker.func_wrap(
        module,
        OUTPUT,
        |mut caller: Caller<'_, State>, pointer: i32, length: i32| {
            alive(&caller)?;
            let Some((bytes, state)) = memory::bytes(&mut caller, pointer, length) else {
                return Ok(NO);
            };
            let output = state.output.get_or_insert_default();
            output.clear();
            output.extend_from_slice(bytes);
            Ok(0)
        },
    )?;
    linker.func_wrap(
        module,
        "sha256_input_hex",
        |mut caller: Caller<'_, State>, pointer: i32, length: i32| {
            alive(&caller)?;
            let hex = caller.data_mut().input_hex().to_owned();
            if natural(length).is_none_or(|length| length < hex.len()) {
                return Ok(NO);
            }
            Ok(memory::write(&mut caller, pointer, hex.as_bytes()))
        },
    )?;
    Ok(())
}

fn add_time_and_random(linker: &mut Linker<State>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(module, "time_now_unix", |caller: Caller<'_, State>| {
        alive(&caller)?;
        Ok(caller.data().call.time_now()?)
    })?;
    linker.func_wrap(
        module,
        "random_fill",
        |mut caller: Caller<'_, State>, pointer: i32, length: i32| {
            alive(&caller)?;
            let Some((target, state)) = memory::bytes(&mut caller, pointer, length) else {
                return Ok(NO);
            };
            let filled = state.call.random(target)?;
            Ok(filled.map_or(NO, |()| length))
        },
    )?;
    Ok(())
}

/// Ends the run where its time is up.
fn alive(caller: &Caller<'_, State>) -> wasmtime::Result<()> {
    caller.data().call.meter().remaining()?;
    Ok(())
}
