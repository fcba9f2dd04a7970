//! Reading the names in a directory, with what the system says of their kinds for free.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

/// Room for the names that the system gives at a time; kept for the next directory.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    #[cfg(target_os = "linux")]
    bytes: Vec<u8>,
}

/// Bytes of the buffer: enough for most directories at once, and for any name.
#[cfg(target_os = "linux")]
const BUFFER_BYTES: usize = 32 * 1024;

impl Buffer {
    /// Calls `each` with every name from where the directory stands, but `.` and `..`, until it breaks. The kind is
    /// [`FileType::Unknown`] where only another call tells.
    ///
    /// # Errors
    /// What the system says.
    #[cfg(target_os = "linux")]
    pub(super) fn read<B>(
        &mut self,
        directory: &OwnedFd,
        mut each: impl FnMut(&CStr, FileType) -> ControlFlow<B>,
    ) -> Result<Option<B>, Errno> {
        self.bytes.clear();
        self.bytes.reserve(BUFFER_BYTES);
        let mut names = rustix::fs::RawDir::new(directory, self.bytes.spare_capacity_mut());
        while let Some(entry) = names.next() {
            let entry = match entry {
                // The directory was removed meanwhile: it holds nothing more.
                Err(Errno::NOENT) => break,
                entry => entry?,
            };
            if is_itself(entry.file_name()) {
                continue;
            }
            if let ControlFlow::Break(value) = each(entry.file_name(), entry.file_type()) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// As above.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn read<B>(
        &mut self,
        directory: &OwnedFd,
        mut each: impl FnMut(&CStr, FileType) -> ControlFlow<B>,
    ) -> Result<Option<B>, Errno> {
        for entry in rustix::fs::Dir::read_from(directory)? {
            let entry = entry?;
            if is_itself(entry.file_name()) {
                continue;
            }
            if let ControlFlow::Break(value) = each(entry.file_name(), entry.file_type()) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

fn is_itself(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
