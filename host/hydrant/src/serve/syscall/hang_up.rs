//! Work that ends when nobody can read its answer any more.

use std::io;
use std::os::fd::BorrowedFd;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};

use crate::capability::Cancellation;

/// Does `work`, whose calls are cancelled once whoever reads `output`, a pipe or a socket, has closed it.
///
/// # Errors
/// There is no pipe or no thread to watch with.
pub fn until_hang_up<T>(output: BorrowedFd<'_>, work: impl FnOnce() -> T) -> io::Result<T> {
    let cancellation = Cancellation::new();
    let (done, open) = io::pipe()?;
    thread::scope(|scope| {
        // Closed when the work is done, also where it panics, so that nobody watches any more.
        let _open = open;
        let watching = cancellation.clone();
        let watch = move || {
            // That somebody hung up is told unasked.
            let mut watched = [
                PollFd::from_borrowed_fd(output, PollFlags::empty()),
                PollFd::new(&done, PollFlags::empty()),
            ];
            while matches!(poll(&mut watched, None), Err(rustix::io::Errno::INTR)) {}
            watching.cancel();
        };
        let thread = thread::Builder::new().name("hydrant-hang-up".to_owned());
        thread.spawn_scoped(scope, watch)?;
        Ok(cancellation.during(work))
    })
}
