//! Landlock: the mounts' rules once more, by another mechanism, and what mounts cannot say: which of the
//! readable files may be executed, and that a descriptor's `/proc` entry opens nothing again with other rights.

use std::path::Path;

use ::landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, fstat};

use super::{layout, system};
use crate::order::Order;
use crate::outcome::{InStep, Refused, Step};
use crate::path::InsidePath;
use crate::plan::{self, EGRESS_PORT};
use crate::weakening::Removed;

const STEP: Step = Step::Landlock;

/// A domain that can be entered, at the best ABI that both the kernel and this program know.
pub(super) struct Domain(RulesetCreated);

impl Domain {
    /// For `program`, in a jail whose root stands.
    pub(super) fn new(order: &Order, program: &InsidePath) -> Result<Self, Refused> {
        let found = system::landlock_abi();
        if found < i32::from(order.landlock_min_abi.max(1)) {
            let reason = format!(
                "the kernel has ABI {found}, and {} is required",
                order.landlock_min_abi.max(1)
            );
            return Err(Refused::new(STEP, reason));
        }
        let abi = ABI::from(found);
        let mut rules = Rules {
            ruleset: ruleset(abi, order.relay)?,
            abi,
        };
        rules.files(order)?;
        rules.executables(order, program)?;
        Ok(Self(rules.ruleset))
    }

    /// Enters it, or refuses.
    pub(super) fn enter(&self) -> Result<(), Refused> {
        let ruleset = self.0.try_clone().step(STEP, "copy the ruleset")?;
        let status = ruleset.restrict_self().step(STEP, "enter the domain")?;
        // Every right that was asked for is one of this ABI, so that anything less is an error and not a compromise.
        if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
            Ok(())
        } else {
            Err(Refused::new(
                STEP,
                format_args!("not fully enforced: {:?}", status.ruleset),
            ))
        }
    }
}

/// Everything that the ABI can deny is denied from here on, but for what the rules allow.
fn ruleset(abi: ABI, relay: bool) -> Result<RulesetCreated, Refused> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .step(STEP, "deny file access")?;
    if abi >= ABI::V4 {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(abi))
            .step(STEP, "deny TCP")?;
    }
    if abi >= ABI::V6 {
        // Signals to relay and init, and abstract sockets, should one be in reach.
        ruleset = ruleset.scope(Scope::from_all(abi)).step(STEP, "scope")?;
    }
    let mut created = ruleset.create().step(STEP, "make the ruleset")?;
    if abi >= ABI::V4 && relay {
        created = created
            .add_rule(NetPort::new(EGRESS_PORT, AccessNet::ConnectTcp))
            .step(STEP, "allow the relay")?;
    }
    Ok(created)
}

struct Rules {
    ruleset: RulesetCreated,
    abi: ABI,
}

impl Rules {
    fn files(&mut self, order: &Order) -> Result<(), Refused> {
        let read = AccessFs::from_read(self.abi) & !AccessFs::Execute;
        // No device nodes, nor control of any; a socket or pipe of one's own may be made.
        let never =
            AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        let write = AccessFs::from_all(self.abi) & !(never | AccessFs::ResolveUnix);
        // Directories can be listed everywhere: all that is mounted may be seen.
        self.allow(Path::new("/"), AccessFs::ReadDir.into())?;
        self.allow(Path::new("/proc"), read)?;
        self.allow(Path::new("/dev"), read | AccessFs::WriteFile)?;
        if order.system {
            self.allow(Path::new("/etc"), read)?;
            // Where nothing is listed, all of it may be executed.
            let mut rights = read;
            if order.execute.is_empty() {
                rights |= AccessFs::Execute;
            }
            for path in layout::system_names().step(STEP, "list /")? {
                self.allow_if_there(&path, rights)?;
            }
        }
        for mount in &order.mounts {
            let rights = if mount.access == plan::Access::ReadWrite {
                write
            } else {
                read
            };
            self.placed(order, mount.at.as_path(), rights)?;
        }
        for scratch in &order.scratch {
            self.placed(order, scratch.at.as_path(), write)?;
        }
        for file in &order.files {
            self.placed(order, file.at.as_path(), AccessFs::ReadFile.into())?;
        }
        if self.abi >= ABI::V9 {
            for socket in &order.sockets {
                self.placed(order, socket.at.as_path(), AccessFs::ResolveUnix.into())?;
            }
        }
        Ok(())
    }

    fn executables(&mut self, order: &Order, program: &InsidePath) -> Result<(), Refused> {
        let execute = AccessFs::Execute.into();
        self.allow_if_there(program.as_path(), execute)?;
        for path in &order.execute {
            self.allow_if_there(path.as_path(), execute)?;
        }
        if !order.execute.is_empty() {
            return Ok(());
        }
        let mounts = order
            .mounts
            .iter()
            .filter(|mount| mount.executable)
            .map(|mount| &mount.at);
        let scratch = order
            .scratch
            .iter()
            .filter(|scratch| scratch.executable)
            .map(|scratch| &scratch.at);
        for at in mounts.chain(scratch) {
            self.placed(order, at.as_path(), execute)?;
        }
        Ok(())
    }

    /// What init has put in its place is there.
    fn placed(
        &mut self,
        order: &Order,
        path: &Path,
        rights: BitFlags<AccessFs>,
    ) -> Result<(), Refused> {
        if order.keeps(Removed::Mount) {
            self.allow(path, rights)
        } else {
            self.allow_if_there(path, rights)
        }
    }

    fn allow_if_there(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), Refused> {
        if path.exists() {
            self.allow(path, rights)
        } else {
            Ok(())
        }
    }

    fn allow(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), Refused> {
        let what = path.display();
        let file = PathFd::new(path).step(STEP, format_args!("open {what}"))?;
        let kind = FileType::from_raw_mode(
            fstat(&file)
                .step(STEP, format_args!("look at {what}"))?
                .st_mode,
        );
        let rights = if kind == FileType::Directory {
            rights
        } else {
            rights & AccessFs::from_file(self.abi)
        };
        (&mut self.ruleset)
            .add_rule(PathBeneath::new(file, rights))
            .step(STEP, format_args!("allow {what}"))
            .map(drop)
    }
}
