//! The guest's memory as hostcalls see it: the export `memory`, read and written within its bounds.
//!
//! Pointers and lengths are the guest's and prove nothing: a negative one, one past the end, and one in a module
//! without memory give no answer, which the module sees as -1.

use wasmtime::{Caller, Memory};

use super::state::State;

/// What a hostcall returns for "no".
pub(super) const NO: i32 = -1;

fn exported(caller: &mut Caller<'_, State>) -> Option<Memory> {
    caller.get_export("memory")?.into_memory()
}

/// A number of the guest that is not negative.
pub(super) fn natural(number: i32) -> Option<usize> {
    usize::try_from(number).ok()
}

/// A pointer and a length as bounds; none if one is negative or more would be copied than one host call may.
fn range(state: &State, pointer: i32, length: i32) -> Option<(usize, usize)> {
    let (start, length) = (natural(pointer)?, natural(length)?);
    let end = start.checked_add(length)?;
    (length <= state.copy_bytes).then_some((start, end))
}

/// The bytes at `pointer`, to be read or overwritten, together with the state of the run.
pub(super) fn bytes<'caller>(
    caller: &'caller mut Caller<'_, State>,
    pointer: i32,
    length: i32,
) -> Option<(&'caller mut [u8], &'caller mut State)> {
    let memory = exported(caller)?;
    let (start, end) = range(caller.data(), pointer, length)?;
    let (data, state) = memory.data_and_store_mut(caller);
    Some((data.get_mut(start..end)?, state))
}

/// A copy of the bytes at `pointer`.
pub(super) fn copy(caller: &mut Caller<'_, State>, pointer: i32, length: i32) -> Option<Vec<u8>> {
    Some(bytes(caller, pointer, length)?.0.to_vec())
}

/// How many bytes fit at `pointer`: at most `length`, and no more than there is memory.
pub(super) fn room(caller: &mut Caller<'_, State>, pointer: i32, length: i32) -> Option<usize> {
    let memory = exported(caller)?;
    let (start, end) = range(caller.data(), pointer, length)?;
    let size = memory.data_size(&caller);
    end.min(size).checked_sub(start)
}

/// Writes at `pointer` and answers the number of bytes.
pub(super) fn write(caller: &mut Caller<'_, State>, pointer: i32, answer: &[u8]) -> i32 {
    let Ok(length) = i32::try_from(answer.len()) else {
        return NO;
    };
    match bytes(caller, pointer, length) {
        Some((target, _)) => {
            target.copy_from_slice(answer);
            length
        }
        None => NO,
    }
}
