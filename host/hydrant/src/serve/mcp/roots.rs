//! `/workspace` of the local user where he named none: the first directory among the roots that his client declares.

#![expect(
    deprecated,
    reason = "the protocol will have no roots one day, and its versions of today do"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, InitializeRequestParams, InputRequest, InputRequiredResult,
    ListRootsRequest, ListRootsResult,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use url::Url;

use crate::home;
use crate::serve::tenants::Tenant;

/// How long a client may take to say what its roots are.
const PATIENCE: Duration = Duration::from_secs(5);

/// The name of the request for roots in an answer.
const REQUEST_NAME: &str = "roots";

/// What the client says its root directories are, and whether it was asked.
pub(super) struct Roots {
    /// Whether a home directory may be one.
    force: bool,
    /// Whether the client is to be asked, or has not answered yet.
    pending: watch::Sender<bool>,
    /// How often the client was asked: only its last answer counts.
    asked: AtomicU64,
    /// Whether a client without a handshake has answered.
    answered: AtomicBool,
}

impl Roots {
    pub(super) fn new(force: bool) -> Self {
        Self {
            force,
            pending: watch::Sender::new(false),
            asked: AtomicU64::new(0),
            answered: AtomicBool::new(false),
        }
    }

    /// A session begins. A client that has roots is asked for them as soon as it may be.
    pub(super) fn begin(&self, request: &InitializeRequestParams) {
        self.pending
            .send_replace(request.capabilities.roots.is_some());
    }

    /// Waits until the roots are known, or cannot be.
    pub(super) async fn known(&self) {
        let mut pending = self.pending.subscribe();
        let known = pending.wait_for(|pending| !pending);
        if tokio::time::timeout(PATIENCE, known).await.is_err() {
            self.pending.send_replace(false);
        }
    }

    /// Asks the client, and shows `tenant` what it says.
    pub(super) async fn ask(&self, peer: &Peer<RoleServer>, tenant: Arc<Tenant>) {
        self.pending.send_replace(true);
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        let listed = tokio::time::timeout(PATIENCE, peer.list_roots()).await;
        if self.asked.load(Ordering::SeqCst) != before.wrapping_add(1) {
            return;
        }
        self.show(listed.ok().and_then(Result::ok), tenant).await;
    }

    /// Where there is no handshake, a client is asked by the answer to a call, and says it when it repeats the call
    /// (MCP 2026-07-28, multi round-trip requests): what is to be answered, until its roots are known.
    pub(super) async fn question(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        tenant: Arc<Tenant>,
    ) -> Option<InputRequiredResult> {
        let version = context.protocol_version()?;
        let roots = context.client_capabilities()?.roots;
        if version.has_initialize() || roots.is_none() || self.answered.load(Ordering::Relaxed) {
            return None;
        }
        let responses = request.input_responses.as_ref();
        let Some(response) = responses.and_then(|responses| responses.get(REQUEST_NAME)) else {
            let question = InputRequest::ListRoots(ListRootsRequest::default());
            let questions = [(REQUEST_NAME.to_owned(), question)].into();
            return Some(InputRequiredResult::from_input_requests(questions));
        };
        self.show(serde_json::from_value(response.clone()).ok(), tenant)
            .await;
        self.answered.store(true, Ordering::Relaxed);
        None
    }

    /// Shows `tenant` the first root that may be shown, or nothing.
    async fn show(&self, listed: Option<ListRootsResult>, tenant: Arc<Tenant>) {
        let roots = listed.map(|listed| listed.roots).unwrap_or_default();
        let mut directories = roots.iter().filter_map(|root| {
            let path = Url::parse(&root.uri).ok()?.to_file_path().ok()?;
            path.canonicalize().ok().filter(|path| path.is_dir())
        });
        let directory = directories.find(|directory| {
            let allowed = self.force || !home::holds_home(directory);
            if !allowed {
                tracing::warn!("a root that is a home directory, or holds one, is not mounted");
            }
            allowed
        });
        let shown =
            tokio::task::spawn_blocking(move || tenant.show_workspace(directory.as_deref()));
        match shown.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the client's root is not mounted"),
            Err(error) => tracing::warn!(%error, "the client's root is not mounted"),
        }
        self.pending.send_replace(false);
    }
}
