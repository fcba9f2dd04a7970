//! The process jail: a program that can do only what its plan names.
//!
//! A jail is three processes. The *launcher* is forked from a fresh image of this binary, the *zygote*, of which a host
//! has one; it makes the namespaces and waits. Its
//! child *init* is process 1 of the jail: it reads the plan, builds the root, gives up all privileges, starts the program,
//! keeps the wall clock, collects what the program leaves behind, kills everything at the end and reports. Its child
//! becomes the *program*: it enters Landlock, the resource limits and the system call filter, then executes.
//!
//! A jail in which nothing of the host can be written can run several programs in turn ([`Launcher::start_several`]).
//! Between two of them nothing of the first is left: init kills and collects all, asks the kernel whether that is true,
//! and makes what could be written anew.
//!
//! | file | subject |
//! |---|---|
//! | `plan`, `path`, `outcome` | what goes in, what comes out |
//! | `pipes` | a program's standard streams, fed and collected within limits |
//! | `launcher`, `prepared`, `zygote`, `launched`, `jailed`, `sample` | the parent's side |
//! | `attached` | a program that has this process's own streams |
//! | `order`, `bytes`, `wire` | what the two sides say to each other |
//! | `inside` | everything that runs in the launcher's image |
//! | `layers` | the self-test |
//! | `cancel` | whether somebody still waits for what runs |
//! | `slice` | turns of threads on a processor, which no jail needs but this crate may ask the system for |
//! | `unsupported` | other systems than Linux: always refused |
//!
//! Every layer is required: what cannot be made is [`Refused`] before anything is executed, and there is no weaker
//! form to fall back to.

mod bytes;
mod cancel;
mod outcome;
mod path;
mod pipes;
mod plan;

#[cfg(target_os = "linux")]
mod attached;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod jailed;
#[cfg(target_os = "linux")]
mod launched;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod layers;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod prepared;
#[cfg(target_os = "linux")]
mod sample;
#[cfg(target_os = "linux")]
mod slice;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
mod weakening;
#[cfg(target_os = "linux")]
mod wire;
#[cfg(target_os = "linux")]
mod zygote;

pub use cancel::{Cancellation, LOOK};
pub use outcome::{Ended, Error, How, Layer, LayerState, Refused, StartError, Step, Usage};
pub use path::{InsidePath, NotInside};
pub use pipes::{Captured, Pipes};
pub use plan::{
    Access, EGRESS_PORT, EGRESS_SOCKET, File, LANDLOCK_MIN_ABI, Limits, Link, Mount, Network, Pin,
    Plan, Program, Scratch, Socket, Streams, Turn, base_environment, is_of_the_system,
};

#[cfg(not(target_os = "linux"))]
pub use unsupported::{Finished, Idle, Jailed, Launcher, enter_if_asked, layers};
#[cfg(all(target_os = "linux", feature = "jail-weakening"))]
pub use weakening::Removed;
#[cfg(target_os = "linux")]
pub use {
    attached::{Attached, CallerStreams, Signals},
    inside::enter_if_asked,
    jailed::{Finished, Idle, Jailed},
    launcher::Launcher,
    layers::layers,
    slice::set_slice,
};
