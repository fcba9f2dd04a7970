//! The service: what a tenant may ask, whatever the front end. It knows neither HTTP nor the Model Context Protocol.
//!
//! | file | subject |
//! |---|---|
//! | `problem` | why there is no answer |
//! | `queue`, `rate` | whose turn it is, and how often |
//! | `directory` | the tenants at this moment, and their tokens |
//! | `workers` | the threads that calls run on |
//! | `ready` | what is done before the service calls itself ready |
//! | `receipts`, `events` | what was done, and that something changed |
//!
//! What can be asked is in [`operations`](super::operations). [`Service::call`] checks the role, then the rate, then waits for
//! a turn, then works. A client that cancels or goes away has its answer at once; a component that runs for it is stopped at
//! the next tick of the engine.

mod directory;
pub mod events;
mod problem;
pub mod queue;
pub mod rate;
mod ready;
pub mod receipts;
mod workers;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use self::directory::Directory;
use self::queue::{Full, Queue, Share};
pub use self::workers::Pace;
use self::workers::Workers;
use super::config::ServeConfig;
use super::operations::Call;
use super::tenants::{LocalUser, Tenant, TenantError, TenantsError, TenantsFile, token_digest};
use crate::capability::Cancellation;
use crate::engine::{Engine, EngineError, EngineOptions};
use crate::govern::client::{Client, Frontend};
use crate::govern::governor::Caller;
use crate::policy::{Policy, PolicyError};

pub use self::events::Event;
pub use self::problem::{Problem, seconds};
pub use self::queue::Load;
pub use self::ready::Preparing;
pub use self::receipts::ReceiptId;
pub use super::tenants::Role;

/// JSON.
pub const JSON: &str = "application/json";

/// The identity that a call is made under. A front end makes it when it has authenticated the client; nothing in a request can
/// change it.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The tenant, whose state the call is about.
    pub tenant: Arc<Tenant>,
    /// The role, which says which operations it may ask for.
    pub role: Role,
    /// The front end that the call came by.
    pub frontend: Frontend,
    /// A session of the tenant's that the call joins; none: that of `connection`.
    pub session: Option<String>,
    /// The session of a connection that lasts, which ends with it; none: the call has one of its own.
    pub connection: Option<Caller>,
    /// The first digits of the digest of the token: what the token's decisions are signed with, and whose budget calls are
    /// charged to that join no session of the tenant's. None: the local user.
    pub token: Option<String>,
}

impl Identity {
    /// The user of this machine, with every right, by some front end.
    #[must_use]
    pub fn of_local_user(tenant: Arc<Tenant>, frontend: Frontend) -> Self {
        Self {
            tenant,
            role: Role::Operator,
            frontend,
            session: None,
            connection: None,
            token: None,
        }
    }

    /// The caller that the governor sees: in the session that it names, else in that of its connection, else in one of its
    /// own. None of them is a way out of the token's budget.
    ///
    /// # Errors
    ///
    /// The name of the session is none, or there are no random numbers for a new one.
    pub fn caller(&self) -> Result<Caller, Problem> {
        let client = Client {
            frontend: self.frontend,
            jailed: false,
        };
        let caller = match (&self.session, &self.connection) {
            (Some(session), _) => Caller::joining(client, session)?,
            (None, Some(connection)) => connection.clone(),
            (None, None) => Caller::new(client)?,
        };
        Ok(match &self.token {
            Some(token) => caller
                .charged_to(&format!("http-{token}"))?
                .named(format!("token sha256:{token}…")),
            None => caller.named(crate::govern::user_name()),
        })
    }

    /// Tells those who watch the tenant, if there are any, what changed.
    pub fn tell(&self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            let _ = self.tenant.events.send(event);
        }
    }
}

/// What an operation answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The answer as it goes out.
    pub body: Bytes,
    /// What it is.
    pub content_type: &'static str,
    /// Of a run.
    pub receipt: Option<ReceiptId>,
}

impl Answer {
    /// JSON that was written before.
    #[must_use]
    pub fn json_bytes(body: impl Into<Bytes>) -> Self {
        Self {
            body: body.into(),
            content_type: JSON,
            receipt: None,
        }
    }

    /// A value as JSON.
    #[must_use]
    pub fn json(value: &serde_json::Value) -> Self {
        Self::json_bytes(value.to_string())
    }

    /// Text of some kind.
    #[must_use]
    pub fn text(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            body: body.into(),
            content_type,
            receipt: None,
        }
    }
}

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A value of `[serve]` is out of its bounds.
    #[error("[serve]: {key}: it must be {bounds}")]
    Config {
        /// The key.
        key: &'static str,
        /// In words.
        bounds: String,
    },
    /// The tenants file is refused.
    #[error(transparent)]
    Tenants(#[from] TenantsError),
    /// The policy of the server is refused, so that no tenant could be served.
    #[error("the server's policy: {0}")]
    Policy(#[from] PolicyError),
    /// A tenant cannot be served.
    #[error(transparent)]
    Tenant(#[from] TenantError),
    /// Two tenants would have one state.
    #[error("tenants {0:?} and {1:?} have the same home")]
    SameHome(String, String),
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// See the module. Cheap to clone; clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    config: Arc<ServeConfig>,
    engine: Engine,
    directory: ArcSwap<Directory>,
    /// One at a time reads the tenants file.
    reloading: Mutex<()>,
    queue: Queue,
    workers: Workers,
    /// Ends when the service does.
    ending: CancellationToken,
    /// How many of its own tasks stand before it is ready.
    preparing: AtomicUsize,
}

impl Service {
    /// Reads the tenants file and opens every tenant's state. Also answers why tenants are left out.
    ///
    /// # Errors
    ///
    /// [`ServeError`]: nothing is served then, also where no tenant of the file can be.
    pub fn open(config: &ServeConfig) -> Result<(Self, Vec<ServeError>), ServeError> {
        if let Some((key, bounds)) = config.table.out_of_bounds() {
            return Err(ServeError::Config { key, bounds });
        }
        let service = Self::empty(config.clone())?;
        let mut left_out = service.reload()?;
        if service.0.directory.load().is_empty() && !left_out.is_empty() {
            return Err(left_out.swap_remove(0));
        }
        Ok((service, left_out))
    }

    /// A service of the user of this machine alone, and his identity, with every right.
    ///
    /// # Errors
    ///
    /// [`ServeError`]
    pub fn of_local_user(user: LocalUser) -> Result<(Self, Identity), ServeError> {
        let service = Self::empty(ServeConfig {
            home: user.home.clone(),
            ..ServeConfig::default()
        })?;
        let tenant = Arc::new(Tenant::local(user)?);
        let identity = Identity::of_local_user(Arc::clone(&tenant), Frontend::Mcp);
        service
            .0
            .directory
            .store(Arc::new(Directory::of_one(tenant)));
        Ok((service, identity))
    }

    fn empty(config: ServeConfig) -> Result<Self, ServeError> {
        let slots = u32::try_from(config.table.workers).unwrap_or(1_000);
        // As many spare places as workers; interpreters and planners run inside of calls: one more for each.
        let engine = Engine::new(&EngineOptions {
            slots: slots.saturating_mul(4).max(16),
            ..EngineOptions::default()
        })?;
        Ok(Self(Arc::new(Inner {
            queue: Queue::new(
                config.table.workers,
                config.table.workers,
                config.table.queue,
            ),
            workers: Workers::default(),
            config: Arc::new(config),
            engine,
            directory: ArcSwap::default(),
            reloading: Mutex::default(),
            ending: CancellationToken::new(),
            preparing: AtomicUsize::new(0),
        })))
    }

    /// Reads the tenants file again. Who is as before goes on as before; calls that run end under what they began with.
    /// Answers why tenants are left out: one that cannot be served does not keep another's removal from holding.
    ///
    /// # Errors
    ///
    /// [`ServeError`]: nothing changes then.
    pub fn reload(&self) -> Result<Vec<ServeError>, ServeError> {
        let _one = self
            .0
            .reloading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let file = TenantsFile::read(&self.0.config.table.tenants)?;
        if let Some(policy) = &self.0.config.policy {
            Policy::load_unmounted(policy)?;
        }
        let known = self.0.directory.load_full();
        let (next, left_out) = known.next(file, &self.0.config, &self.0.engine);
        self.0.directory.store(Arc::new(next));
        Ok(left_out)
    }

    /// Who holds this token.
    ///
    /// # Errors
    ///
    /// [`Problem::unauthenticated`], the same for every token that is none.
    pub fn authenticate(&self, bearer: &str, frontend: Frontend) -> Result<Identity, Problem> {
        let directory = self.0.directory.load();
        let (tenant, role) = directory
            .find(bearer)
            .ok_or_else(Problem::unauthenticated)?;
        Ok(Identity {
            tenant,
            role,
            frontend,
            session: None,
            connection: None,
            token: Some(token_digits(bearer)),
        })
    }

    /// Does one operation for somebody.
    ///
    /// # Errors
    ///
    /// [`Problem`]
    pub async fn call(
        &self,
        who: &Identity,
        call: Call,
        cancel: CancellationToken,
    ) -> Result<Answer, Problem> {
        call.admit(who)?;
        let running = Cancellation::new();
        let _ends = EndsWithIts(running.clone());
        let place = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Problem::cancelled()),
            () = self.0.ending.cancelled() => return Err(Problem::overloaded(AFTER)),
            place = self.place(&who.tenant) => place?,
        };
        if let Some(known) = call.known(who) {
            return known;
        }
        let work = {
            let (who, running) = (who.clone(), running.clone());
            move || {
                let _place = place;
                let done = running.during(|| call.perform(&who));
                done.inspect_err(Problem::log)
            }
        };
        let working = self.0.workers.begin(&who.tenant.pace, work);
        let working = working.map_err(|error| {
            tracing::error!(%error, "there is no thread for a call");
            Problem::overloaded(AFTER)
        })?;
        tokio::select! {
            biased;
            done = working.done() => done.unwrap_or_else(|error| Err(Problem::internal(&error))),
            () = cancel.cancelled() => Err(Problem::cancelled()),
        }
    }

    async fn place(&self, tenant: &Tenant) -> Result<queue::Place, Problem> {
        let definition = tenant.definition();
        let share = Share {
            running: definition.concurrency,
            waiting: definition.queue,
        };
        let place = self.0.queue.place(tenant.name(), share);
        match tokio::time::timeout(self.0.config.table.queue_timeout, place).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(Full::Lane)) => Err(Problem::too_many(
                "as many calls of the tenant run and wait as may",
                AFTER,
            )),
            Ok(Err(Full::Server)) | Err(_) => Err(Problem::overloaded(AFTER)),
        }
    }

    /// The changes of a tenant's state from now on.
    #[must_use]
    pub fn events(&self, who: &Identity) -> broadcast::Receiver<Event> {
        who.tenant.events.subscribe()
    }

    /// How much there is to do.
    #[must_use]
    pub fn load(&self) -> Load {
        self.0.queue.load()
    }

    /// What it was made of.
    #[must_use]
    pub fn config(&self) -> &ServeConfig {
        &self.0.config
    }

    /// Begins no further call; what runs goes on.
    pub fn end(&self) {
        self.0.ending.cancel();
    }

    /// Whether [`end`](Self::end) was called.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.0.ending.is_cancelled()
    }

    /// A token that is cancelled when the service ends, for what lasts: streams, sessions.
    #[must_use]
    pub fn ending(&self) -> CancellationToken {
        self.0.ending.clone()
    }

    /// A connection of a lasting session ended; with it end the grants that were for it.
    pub fn end_session(&self, who: &Identity) {
        if let Ok(caller) = who.caller() {
            who.tenant.end_session(&caller);
        }
    }
}

/// What a token is called; no way leads from it to the token.
fn token_digits(bearer: &str) -> String {
    let digest = token_digest(bearer);
    digest.hex().chars().take(16).collect()
}

/// When who waits for a turn in vain is told to come again.
const AFTER: Duration = Duration::from_secs(1);

/// Cancels a call when whoever waits for it goes away.
struct EndsWithIts(Cancellation);

impl Drop for EndsWithIts {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
