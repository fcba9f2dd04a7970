//! What hydration asks of its host: the three hostcalls of `wit/` that this component imports.
//!
//! The records mirror `wit/*.wit`, where units and bounds stand. Each hostcall takes a list and answers each
//! item, in the order asked. In the component the hostcalls are behind this trait; natively it is whatever a
//! test, a benchmark or a fuzzer puts there.

/// The host, as hydration sees it.
pub trait Effects {
    /// `fs-read.read`
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>>;
    /// `fetch.send`
    fn fetch(&mut self, requests: &[HttpRequest]) -> Vec<Result<HttpResponse, FetchError>>;
    /// `process.run`
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>>;
}

/// A file to be read whole; longer than `max_bytes` it is refused (`overflow.refuse`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    /// A virtual path.
    pub path: String,
    /// Bytes.
    pub max_bytes: u32,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// All its bytes.
    pub bytes: Vec<u8>,
}

/// Why a file could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsError {
    /// The policy, the manifest or the lack of a mount forbids it.
    Denied,
    /// Nothing has that name.
    NotFound,
    /// The name is a directory.
    IsDirectory,
    /// A file stands where a directory is needed.
    NotDirectory,
    /// A FIFO, a socket or a device.
    Special,
    /// A link on the way leaves its mount.
    LeavesMount,
    /// The operating system refuses the host itself.
    NotAccessible,
    /// Longer than `max_bytes`.
    TooLarge,
    /// Not a virtual path.
    InvalidPath,
    /// It lies in an https mount and could not be fetched.
    FetchFailed,
    /// Only of changes; never of reads.
    Conflict,
    /// Only where links are refused, which no hydration asks for.
    Symlink,
    /// Any other failure.
    Io,
}

/// A GET request whose body, longer than `max_bytes`, is refused (`overflow.refuse`), unencoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// Absolute, http or https.
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Bytes of the body.
    pub max_bytes: u32,
    /// From the start of the first request to the last byte.
    pub timeout_ms: u32,
    /// Redirects that are followed.
    pub max_redirects: u8,
}

/// A final answer, of any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
}

/// Why there is no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchError {
    /// The policy, the manifest or the address check forbids the URL.
    Denied,
    /// A redirect led to what is forbidden.
    RedirectDenied,
    /// Too many redirects, or one without a target.
    Redirects,
    /// Not a request that can be sent.
    InvalidRequest,
    /// An encoding that was not asked for.
    UnsupportedEncoding,
    /// The body is longer than `max_bytes`.
    TooLarge,
    /// The time was up.
    Timeout,
    /// The name could not be resolved.
    Dns,
    /// No connection.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The answer is no HTTP.
    Protocol,
}

/// A tool, run for its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// A virtual path below `/os`, or a URL.
    pub path: String,
    /// The canonical URI of the document that declares it.
    pub declared_by: String,
    /// The one argument.
    pub flag: Flag,
    /// 1 to 5,000 ms.
    pub timeout_ms: u32,
    /// Of standard output, in bytes; the rest is dropped.
    pub max_output_bytes: u32,
}

/// TD-13: the only two arguments that a tool can get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// `--description`
    Description,
    /// `--help`
    Help,
}

impl Flag {
    /// The argument.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Description => "--description",
            Self::Help => "--help",
        }
    }
}

/// How a command ended, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// What ended it.
    pub ending: Ending,
    /// Standard output, up to `max_output_bytes`.
    pub stdout: Vec<u8>,
    /// There was more of it.
    pub stdout_truncated: bool,
}

/// What ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this status.
    Exited(u8),
    /// This signal ended it.
    Signaled(u8),
    /// It was killed because its time was up.
    TimedOut,
}

/// Why nothing ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessError {
    /// No rule allows it.
    Denied,
    /// A rule allows it, but not these arguments.
    ArgumentsDenied,
    /// A rule allows it, but not in this directory.
    DirectoryDenied,
    /// It must be confined, and this host cannot.
    Unconfined,
    /// No such tool, or no regular file.
    NotFound,
    /// Behind a link that leaves its mount, not accessible, or not executable and without a runner.
    NotPermitted,
    /// The remote tool could not be fetched.
    FetchFailed,
    /// It could not be started, or not be described.
    NotStartable,
    /// The directory does not exist.
    NoDirectory,
    /// Not a command that can be run.
    InvalidRequest,
}
