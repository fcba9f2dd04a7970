//! How an attempt ends: escaped, stopped by a named error, or not tried.

use std::ffi::CString;
use std::fmt;
use std::io;

/// What an attempt answers; the text says what the escape got.
pub(crate) type Outcome = Result<String, Failure>;

/// An error number of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    /// The number that the last call left.
    pub(crate) fn last() -> Self {
        Self(
            io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or_default(),
        )
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(number, _)| *number == self.0) {
            Some((_, name)) => to.write_str(name),
            None => write!(to, "errno {}", self.0),
        }
    }
}

/// Why there was no escape.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The system refused.
    Refused(Errno),
    /// Nothing was refused, and nothing was got.
    Clean(String),
    /// The attempt could not be made: usage, or this machine has nothing to try it with.
    Untried(String),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Refused(errno)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(number) => Self::Refused(Errno(number)),
            None => Self::Clean(error.to_string()),
        }
    }
}

impl From<rustix::io::Errno> for Failure {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::Refused(Errno(errno.raw_os_error()))
    }
}

/// An attempt that got nothing without being refused.
pub(crate) fn clean<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Clean(why.into()))
}

/// The refusal seen first, when no way led out; `Clean` when none was refused.
pub(crate) fn any(ways: impl IntoIterator<Item = Outcome>) -> Outcome {
    let mut first = None;
    for way in ways {
        match way {
            Ok(escaped) => return Ok(escaped),
            Err(failure) => first = first.or(Some(failure)),
        }
    }
    Err(first.unwrap_or_else(|| Failure::Clean("no way to try".to_owned())))
}

/// The words after the attempt's name.
pub(crate) struct Arguments(pub(crate) Vec<String>);

impl Arguments {
    /// The argument at `index`.
    pub(crate) fn text(&self, index: usize) -> Result<&str, Failure> {
        self.0
            .get(index)
            .map(String::as_str)
            .ok_or_else(|| Failure::Untried(format!("argument {} is missing", index + 1)))
    }

    /// The argument at `index` as a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, index: usize) -> Result<T, Failure> {
        let text = self.text(index)?;
        text.parse()
            .map_err(|_| Failure::Untried(format!("`{text}` is no number")))
    }

    /// The argument at `index` for the kernel.
    pub(crate) fn c_text(&self, index: usize) -> Result<CString, Failure> {
        CString::new(self.text(index)?).map_err(|error| Failure::Untried(error.to_string()))
    }
}

const NAMES: &[(i32, &str)] = &[
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::ESRCH, "ESRCH"),
    (libc::EIO, "EIO"),
    (libc::ENXIO, "ENXIO"),
    (libc::E2BIG, "E2BIG"),
    (libc::ENOEXEC, "ENOEXEC"),
    (libc::EBADF, "EBADF"),
    (libc::ECHILD, "ECHILD"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::ENFILE, "ENFILE"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENOTTY, "ENOTTY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::EPIPE, "EPIPE"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ELOOP, "ELOOP"),
    (libc::ESTALE, "ESTALE"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::ENOTSOCK, "ENOTSOCK"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
    (libc::ESOCKTNOSUPPORT, "ESOCKTNOSUPPORT"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ENETDOWN, "ENETDOWN"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::EISCONN, "EISCONN"),
    (libc::ENOKEY, "ENOKEY"),
    (libc::EDQUOT, "EDQUOT"),
    (libc::EUSERS, "EUSERS"),
    (libc::ENOPROTOOPT, "ENOPROTOOPT"),
];
