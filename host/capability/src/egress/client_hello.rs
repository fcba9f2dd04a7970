//! The server name in the first message of TLS (RFC 8446 §4.1.2; RFC 6066 §3).
//!
//! Nothing is decided here but what a client says in clear. The message may come in any number of records and reads;
//! it must end with a record, name one server at most, and hold nothing that hides the name (ESNI, ECH). What a reader
//! could take in two ways is refused. Only the first message is read: a name that a client sends after a
//! `HelloRetryRequest`, in a renegotiation or inside TLS is not seen.

use super::pair::Fault;

/// Bytes of all records that hold the message, at most.
pub(super) const MAX_BYTES: usize = 16 * 1024;

/// The record that tells a client it may not go on: a fatal alert, `access_denied`.
pub(super) const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];

/// Of a record: handshake.
const HANDSHAKE: u8 = 22;
/// Bytes of a record, at most.
const MAX_RECORD: usize = 1 << 14;
/// Of a handshake message: ClientHello.
const CLIENT_HELLO: u8 = 1;
/// Extensions: the server name, and those that hide it, drafts included.
const SERVER_NAME: u16 = 0;
const ESNI: u16 = 0xffce;
const ECH_FIRST: u16 = 0xfe08;
const ECH_LAST: u16 = 0xfe0d;

/// What the first bytes of a connection say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hello {
    /// The message is not there yet, and nothing is wrong so far.
    Incomplete,
    /// It is, and names this server, or none.
    Complete(Option<String>),
}

/// Reads the first bytes that a client sends.
///
/// # Errors
/// The fault: no TLS, no readable message, or one of more than [`MAX_BYTES`].
pub(super) fn read(bytes: &[u8]) -> Result<Hello, Fault> {
    match message(bytes)? {
        Some(message) => server_name(&message).map(Hello::Complete),
        None if bytes.len() >= MAX_BYTES => Err("its first message of TLS is too long"),
        None => Ok(Hello::Incomplete),
    }
}

/// The body of the message, once all of its records are there.
fn message(bytes: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
    let mut records = Reader(bytes);
    let mut message = Vec::new();
    loop {
        match records.0.first() {
            Some(&HANDSHAKE) => {}
            Some(_) => return Err("it does not begin with a handshake of TLS"),
            None => return Ok(None),
        }
        let Some([_, major, _, high, low]) = records.array() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if major != 3 || length == 0 || length > MAX_RECORD {
            return Err("it does not begin with a record of TLS");
        }
        let Some(fragment) = records.take(length) else {
            return Ok(None);
        };
        message.extend_from_slice(fragment);
        let mut whole = Reader(&message);
        if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Err("its first message of TLS is no ClientHello");
        }
        let Some([_, a, b, c]) = whole.array() else {
            continue;
        };
        let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap_or(usize::MAX);
        if length > MAX_BYTES {
            return Err("its first message of TLS is too long");
        }
        let body = whole.0;
        if body.len() > length {
            return Err("something follows its ClientHello in the same record");
        }
        if body.len() == length {
            return Ok(Some(body.to_owned()));
        }
    }
}

fn server_name(message: &[u8]) -> Result<Option<String>, Fault> {
    const BROKEN: Fault = "its ClientHello cannot be read";
    let mut hello = Reader(message);
    // Version and random; then session, cipher suites and compression.
    hello.take(2 + 32).ok_or(BROKEN)?;
    hello.short_vector().ok_or(BROKEN)?;
    hello.vector().ok_or(BROKEN)?;
    hello.short_vector().ok_or(BROKEN)?;
    if hello.is_empty() {
        return Ok(None);
    }
    let mut extensions = hello.vector().ok_or(BROKEN)?;
    if !hello.is_empty() {
        return Err(BROKEN);
    }
    let mut name = None;
    while !extensions.is_empty() {
        let kind = extensions.number().ok_or(BROKEN)?;
        let content = extensions.vector().ok_or(BROKEN)?;
        match kind {
            SERVER_NAME if name.is_some() => return Err("it names a server twice"),
            SERVER_NAME => name = Some(only_name(content)?),
            ESNI | ECH_FIRST..=ECH_LAST => return Err("it hides the name of its server"),
            _ => {}
        }
    }
    Ok(name)
}

/// The one host name of the extension.
fn only_name(mut content: Reader<'_>) -> Result<String, Fault> {
    const BROKEN: Fault = "its server name cannot be read";
    let mut list = content.vector().ok_or(BROKEN)?;
    let Some([0]) = list.array() else {
        return Err(BROKEN);
    };
    let name = list.vector().ok_or(BROKEN)?;
    if !list.is_empty() || !content.is_empty() || name.is_empty() {
        return Err(BROKEN);
    }
    String::from_utf8(name.0.to_owned()).map_err(|_| BROKEN)
}

/// Takes from the front, or answers none where there is not enough.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// What is preceded by its length in two bytes.
    fn vector(&mut self) -> Option<Reader<'a>> {
        let length = self.number()?;
        self.take(usize::from(length)).map(Reader)
    }

    /// What is preceded by its length in one byte.
    fn short_vector(&mut self) -> Option<Reader<'a>> {
        let [length] = self.array()?;
        self.take(usize::from(length)).map(Reader)
    }
}
