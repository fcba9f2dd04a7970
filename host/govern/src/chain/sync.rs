//! Two files are brought to disk at the same time.
//!
//! A sync costs more than everything else of an append. The segment's always runs on one thread of its own: a journal waits
//! for further writers when the thread that syncs changes.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

pub(crate) struct Syncer {
    worker: Option<Worker>,
}

struct Worker {
    files: SyncSender<Arc<File>>,
    results: Receiver<io::Result<()>>,
}

impl Syncer {
    pub(crate) fn new() -> Self {
        let (files, todo) = sync_channel::<Arc<File>>(1);
        let (done, results) = sync_channel(1);
        let worker = std::thread::Builder::new()
            .name("chain-sync".to_owned())
            .spawn(move || {
                for file in todo {
                    if done.send(file.sync_data()).is_err() {
                        break;
                    }
                }
            })
            .ok()
            .map(|_| Worker { files, results });
        Self { worker }
    }

    /// Syncs `file` while `meanwhile` runs; both have to succeed.
    pub(crate) fn during(
        &self,
        file: &Arc<File>,
        meanwhile: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(worker) = self
            .worker
            .as_ref()
            .filter(|worker| worker.files.send(Arc::clone(file)).is_ok())
        else {
            meanwhile()?;
            return file.sync_data();
        };
        let own = meanwhile();
        // In any case: the next result must be the next file's.
        let synced = worker
            .results
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the syncing thread ended")));
        own.and(synced)
    }
}
