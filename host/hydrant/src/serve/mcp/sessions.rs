//! Sessions of the streamable HTTP transport, each bound to the token that opened it.
//!
//! A session id is no authority: a request that names the session of another token is answered as if there were none.
//! The token of a request is known to whoever serves it ([`serving`]), as the transport does not pass it on.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};
use tokio::sync::mpsc;

use crate::govern::client::{Client, Frontend};
use crate::govern::governor::Caller;
use crate::serve::service::Identity;
use hydrant_base::Digest;

/// Sessions of one tenant. The one that was not used for the longest time ends when there would be more; its client
/// starts another when it comes back.
const MOST: usize = 256;
/// Sessions that ended and whose end is not recorded yet; who ends another one waits.
const ENDING: usize = 256;

/// Whose request is served.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    tenant: String,
    token: Digest,
    who: Option<Identity>,
}

tokio::task_local! {
    static OWNER: Owner;
}

impl Owner {
    /// The holder of a bearer token of a tenant.
    pub(super) fn of(who: &Identity, token: &[u8]) -> Self {
        Self {
            who: Some(who.clone()),
            ..Self::named(who.tenant.name(), token)
        }
    }

    fn named(tenant: &str, token: &[u8]) -> Self {
        Self {
            tenant: tenant.to_owned(),
            token: Digest::of(token),
            who: None,
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.tenant == other.tenant && self.token == other.token
    }
}

/// Serves a request of `owner`.
pub(super) async fn serving<T>(owner: Owner, serve: impl Future<Output = T>) -> T {
    OWNER.scope(owner, serve).await
}

struct Known {
    owner: Owner,
    /// Greater than that of a session that was used before.
    used: u64,
    /// The session of governed execution that its calls share; none where there were no random numbers for one.
    caller: Option<Caller>,
}

#[derive(Default)]
struct Owners {
    of: HashMap<SessionId, Known>,
    uses: u64,
}

impl Owners {
    /// The session, if it is this owner's; it counts as used.
    fn used(&mut self, id: &str, owner: &Owner) -> Option<&Known> {
        self.uses = self.uses.saturating_add(1);
        let known = self.of.get_mut(id).filter(|known| known.owner.is(owner))?;
        known.used = self.uses;
        Some(known)
    }

    /// The session of this tenant that was not used for the longest time, where it has as many as it may.
    fn one_too_many(&self, tenant: &str) -> Option<SessionId> {
        let own = || {
            self.of
                .iter()
                .filter(|(_, known)| known.owner.tenant == tenant)
        };
        if own().count() < MOST {
            return None;
        }
        let oldest = own().min_by_key(|(_, known)| known.used);
        oldest.map(|(id, _)| id.clone())
    }
}

/// See the module.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    owners: Mutex<Owners>,
    /// Told whose session ended.
    ended: mpsc::Sender<Identity>,
}

impl Sessions {
    /// Within a runtime, one of whose threads for what waits it keeps.
    pub(super) fn new(config: SessionConfig, ended: impl Fn(Identity) + Send + 'static) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config = config;
        let (sender, receiver) = mpsc::channel(ENDING);
        one_by_one(receiver, ended);
        Self {
            inner,
            owners: Mutex::default(),
            ended: sender,
        }
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of governed execution behind a session of this owner's.
    pub(super) fn connection(&self, owner: &Owner, id: &str) -> Option<Caller> {
        let mut owners = self.owners();
        owners
            .used(id, owner)
            .and_then(|known| known.caller.clone())
    }

    /// Whether the request that is served may know of a session. Outside of a request the session itself ends.
    fn may(&self, id: &SessionId) -> bool {
        OWNER
            .try_with(|owner| self.owners().used(id, owner).is_some())
            .unwrap_or(true)
    }

    fn check(&self, id: &SessionId) -> Result<(), LocalSessionManagerError> {
        if self.may(id) {
            return Ok(());
        }
        Err(LocalSessionManagerError::SessionNotFound(id.clone()))
    }

    /// Notes whose a session is; answers the one that is too many.
    fn own(&self, id: &SessionId) -> Option<SessionId> {
        let owner = OWNER.try_with(Owner::clone).ok()?;
        let mut owners = self.owners();
        let oldest = owners.one_too_many(&owner.tenant);
        owners.uses = owners.uses.saturating_add(1);
        let used = owners.uses;
        let caller = Caller::lasting(Client {
            frontend: Frontend::Mcp,
            jailed: false,
        })
        .ok();
        let known = Known {
            owner,
            used,
            caller,
        };
        owners.of.insert(id.clone(), known);
        oldest
    }

    /// Ends a session, whoever asks.
    async fn end(&self, id: &SessionId) -> Result<(), LocalSessionManagerError> {
        // First a place to say it in: whoever ends sessions faster than their ends are recorded waits here.
        let told = self.ended.reserve().await;
        let known = self.owners().of.remove(id);
        if let Some(Known {
            owner,
            caller: Some(caller),
            ..
        }) = known
            && let Some(who) = owner.who
        {
            let who = Identity {
                session: None,
                connection: Some(caller),
                ..who
            };
            match told {
                Ok(told) => told.send(who),
                Err(error) => tracing::error!(%error, "the end of a session is not recorded"),
            }
        }
        self.inner.close_session(id).await
    }
}

/// Has `ended` told of each on one thread, which may wait and ends with the sender. One that breaks off does not end the
/// others.
fn one_by_one(mut receiver: mpsc::Receiver<Identity>, ended: impl Fn(Identity) + Send + 'static) {
    let work = move || {
        while let Some(who) = receiver.blocking_recv() {
            if std::panic::catch_unwind(AssertUnwindSafe(|| ended(who))).is_err() {
                tracing::error!("the end of a session broke off");
            }
        }
    };
    // Of the runtime, so that its end waits for the last of them.
    tokio::task::spawn_blocking(work);
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        if let Some(oldest) = self.own(&id) {
            self.end(&oldest).await?;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.check(id)?;
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.may(id) && self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.check(id)?;
        self.end(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<
        impl futures_core::Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        Self::Error,
    > {
        self.check(id)?;
        SessionManager::create_stream(&self.inner, id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.check(id)?;
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<
        impl futures_core::Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        Self::Error,
    > {
        self.check(id)?;
        SessionManager::create_standalone_stream(&self.inner, id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<
        impl futures_core::Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        Self::Error,
    > {
        self.check(id)?;
        SessionManager::resume(&self.inner, id, last_event_id).await
    }

    async fn restore_session(
        &self,
        _: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        Ok(RestoreOutcome::NotSupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> Sessions {
        Sessions::new(SessionConfig::default(), |_| {})
    }

    #[tokio::test]
    async fn a_session_is_there_only_for_the_token_that_opened_it() {
        let sessions = sessions();
        let (one, other) = (Owner::named("a", b"1"), Owner::named("a", b"2"));
        let (id, _transport) = serving(one.clone(), sessions.create_session())
            .await
            .unwrap();
        assert!(
            serving(one.clone(), sessions.has_session(&id))
                .await
                .unwrap()
        );
        assert!(
            !serving(other.clone(), sessions.has_session(&id))
                .await
                .unwrap()
        );
        assert!(
            serving(other.clone(), sessions.close_session(&id))
                .await
                .is_err()
        );
        assert!(
            serving(other, sessions.resume(&id, "0/0".into()))
                .await
                .is_err()
        );
        assert!(serving(one, sessions.has_session(&id)).await.unwrap());
        // The end of the session's own task.
        sessions.close_session(&id).await.unwrap();
        assert!(sessions.owners().of.is_empty());
    }

    #[test]
    fn tokens_of_two_tenants_are_never_the_same_owner() {
        assert!(!Owner::named("a", b"b").is(&Owner::named("ab", b"")));
        assert!(!Owner::named("a", b"b").is(&Owner::named("b", b"b")));
    }

    #[tokio::test]
    async fn the_session_that_rested_longest_makes_room_for_one_of_the_same_tenant() {
        let sessions = sessions();
        let other = Owner::named("b", b"1");
        // A tenant with two tokens has no more sessions for that.
        let tokens = [Owner::named("a", b"1"), Owner::named("a", b"2")];
        let (kept, _transport) = serving(other.clone(), sessions.create_session())
            .await
            .unwrap();
        let (mut ids, mut transports) = (Vec::new(), Vec::new());
        for number in 0..MOST {
            let owner = tokens[number % 2].clone();
            let (id, transport) = serving(owner, sessions.create_session()).await.unwrap();
            ids.push(id);
            transports.push(transport);
        }
        let there = async |number: usize| {
            let owner = tokens[number % 2].clone();
            serving(owner, sessions.has_session(&ids[number]))
                .await
                .unwrap()
        };
        assert!(there(0).await);
        let last = serving(tokens[0].clone(), sessions.create_session());
        let (_last, _transport) = last.await.unwrap();
        // The first was used since.
        assert!(there(0).await);
        assert!(!there(1).await);
        assert!(there(2).await);
        assert!(serving(other, sessions.has_session(&kept)).await.unwrap());
        assert_eq!(sessions.owners().of.len(), MOST + 1);
    }
}
