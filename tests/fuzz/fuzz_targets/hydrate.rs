//! Hydration of arbitrary files, natively: no input may panic or hang, JSON answers always parse, and a
//! second run answers the same bytes.
//!
//! The input is split at the byte FF, which no valid file holds: one part for each file that is read, the first
//! byte of it chooses the options.

#![no_main]

use content_hydrate::host::fetch::{FetchError, FetchFailure, HttpRequest, HttpResponse};
use content_hydrate::host::fs_read::{File, FsError, Listing, ReadRequest, TreeRequest};
use content_hydrate::host::process::{Command, Exit, ProcessError};
use content_hydrate::host::{Fetch, ReadFiles, RunCommands};
use libfuzzer_sys::fuzz_target;

struct Files<'a>(Vec<&'a [u8]>, usize);

impl ReadFiles for Files<'_> {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        let mut next = |_| {
            let bytes = self.0.get(self.1).ok_or(FsError::NotFound)?;
            self.1 += 1;
            Ok(File { bytes: bytes.to_vec(), truncated: false, executable: false })
        };
        requests.iter().map(&mut next).collect()
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        requests.iter().map(|_| Err(FsError::Denied)).collect()
    }
}

impl Fetch for Files<'_> {
    fn send(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchFailure>> {
        let denied = |_| Err(FetchFailure { reason: FetchError::Denied, url: String::new() });
        requests.iter().map(denied).collect()
    }
}

impl RunCommands for Files<'_> {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        commands.iter().map(|_| Err(ProcessError::Denied)).collect()
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&options, data)) = data.split_first() else { return };
    let format = ["json", "link", "v2"][usize::from(options % 3)];
    let request = serde_json::json!({
        "uri": "os://one.md", "format": format, "depth": 1 + (options >> 2) % 4,
        "checksums": options & 0x40 != 0, "lenient": options & 0x80 != 0,
    });
    let request = serde_json::from_value(request).unwrap();
    let run = || {
        let files: Vec<&[u8]> = data.split(|byte| *byte == 0xff).collect();
        content_hydrate::hydrate(&mut Files(files, 0), &request)
    };
    let first = run();
    if let (Ok(bytes), "json") = (&first, format) {
        serde_json::from_slice::<serde_json::Value>(bytes).expect("an answer in JSON");
    }
    assert_eq!(first, run(), "the same files give the same answer");
});
