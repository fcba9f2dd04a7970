//! Giving up all privileges: of the program, and as well of launcher and init once they have done their work.

use rustix::process::DumpableBehavior;
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits, set_no_new_privs, set_thread_res_gid, set_thread_res_uid,
};

use super::namespaces::NOBODY;
use crate::outcome::{InStep, Refused, Step};

/// Drops everything, for ever.
pub(super) fn drop_all() -> Result<(), Refused> {
    drop_all_but(CapabilitySet::empty())
}

/// Drops everything, for ever, but for these in the jail's own user namespace.
pub(super) fn drop_all_but(kept: CapabilitySet) -> Result<(), Refused> {
    let step = Step::Privileges;
    // Real, effective and saved: a host that runs under two users leaves none of them behind.
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    set_thread_res_gid(group, group, group).step(step, "set the group")?;
    set_thread_res_uid(user, user, user).step(step, "set the user")?;
    clear_ambient_capability_set().step(step, "clear the ambient set")?;
    // No file capability can give any of these back.
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The first number that this kernel does not know.
            Err(rustix::io::Errno::INVAL) if number > 0 => break,
            Err(error) => {
                return Err(Refused::new(
                    step,
                    format_args!("drop capability {number}: {error}"),
                ));
            }
        }
    }
    // Being user 0 would mean nothing either, if there were a way to it.
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits).step(step, "lock the secure bits")?;
    keep_only(kept)?;
    set_no_new_privs(true).step(step, "no new privileges")?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).step(step, "not dumpable")
}

/// Drops what [`drop_all_but`] had kept.
pub(super) fn drop_rest() -> Result<(), Refused> {
    keep_only(CapabilitySet::empty())
}

fn keep_only(kept: CapabilitySet) -> Result<(), Refused> {
    let step = Step::Privileges;
    let left = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, left).step(step, "drop capabilities")?;
    if capabilities(None).step(step, "read capabilities")? != left {
        return Err(Refused::new(step, "capabilities are left"));
    }
    Ok(())
}
