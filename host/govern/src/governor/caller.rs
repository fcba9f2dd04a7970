//! Who calls, and in which session.

use crate::client::Client;
use crate::failure::{Code, Failure};
use crate::registry::Who;

/// The name of a caller without one, for what it decides.
const OPERATOR: &str = "operator";

/// Characters of a session id that a caller names.
const MAX_SESSION: usize = 64;

/// Who calls. The host makes it; nothing in a request can change it.
#[derive(Debug, Clone)]
pub struct Caller {
    client: Client,
    session: String,
    pub(super) lifetime: Lifetime,
    /// The session whose budget is charged where this one has none of its own. `s-…`
    pub(super) account: Option<String>,
    /// What `by` says for the decisions of this caller.
    pub(super) name: String,
}

/// When a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// With the command.
    Command,
    /// With the connection.
    Connection,
    /// Never: any caller of this home may join it by its name.
    Named,
}

impl Caller {
    /// One command, in a session of its own.
    ///
    /// # Errors
    ///
    /// `store-unavailable` where the system has no random numbers: callers must not share a session by accident.
    pub fn new(client: Client) -> Result<Self, Failure> {
        let random = hydrant_base::random_hex::<16>().map_err(|error| {
            Failure::new(Code::StoreUnavailable, format!("no random bytes: {error}"))
        })?;
        Ok(Self::in_session(
            client,
            format!("s-{random}"),
            Lifetime::Command,
        ))
    }

    fn in_session(client: Client, session: String, lifetime: Lifetime) -> Self {
        Self {
            client,
            session,
            lifetime,
            account: None,
            name: OPERATOR.to_owned(),
        }
    }

    /// A connection, whose calls share a session.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn lasting(client: Client) -> Result<Self, Failure> {
        Ok(Self {
            lifetime: Lifetime::Connection,
            ..Self::new(client)?
        })
    }

    /// One command in a session that has a name.
    ///
    /// # Errors
    ///
    /// `invalid-request` for a name that is not 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
    pub fn joining(client: Client, session: &str) -> Result<Self, Failure> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if session.is_empty() || session.len() > MAX_SESSION || !session.chars().all(is_plain) {
            return Err(Failure::new(
                Code::InvalidRequest,
                "a session is 1 to 64 characters of A-Z a-z 0-9 . _ -",
            ));
        }
        let session = match session.strip_prefix("s-") {
            Some(_) => session.to_owned(),
            None => format!("s-{session}"),
        };
        Ok(Self::in_session(client, session, Lifetime::Named))
    }

    /// Sets the name of a person or a token, for `by` of what this caller decides.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Charges calls to the budget of the session of this name where the caller's own session has no lasting budget: it is a
    /// command's or a connection's, or too many named sessions are new today. For callers that can open any number of sessions.
    ///
    /// # Errors
    ///
    /// As [`joining`](Self::joining).
    pub fn charged_to(self, session: &str) -> Result<Self, Failure> {
        let account = Self::joining(self.client, session)?.session;
        Ok(Self {
            account: Some(account),
            ..self
        })
    }

    /// Returns the frontend that it comes through.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client
    }

    /// `s-…`
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// A run is one session. `r-…`
    #[must_use]
    pub fn run(&self) -> String {
        let name = self.session.strip_prefix("s-").unwrap_or(&self.session);
        format!("r-{name}")
    }

    pub(super) fn who(&self) -> Who {
        Who {
            client: Some(self.client),
            session: Some(self.session.clone()),
            lasting: self.lifetime != Lifetime::Command,
            run: Some(self.run()),
        }
    }
}
