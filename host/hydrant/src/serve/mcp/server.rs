//! The handler of the protocol: each request as an operation of the service.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::catalogue::{Catalogue, PerTenant, Selection};
use super::roots::Roots;
use super::{pages, prompts, resources, results};
use crate::serve::operations::{Call, Workflows};
use crate::serve::service::{Answer, Identity, Problem, Service};
use crate::serve::tenants::Tenant;

/// Requests that are answered here.
const METHODS: [&str; 10] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// Between two notifications of progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// What a client is told that has no other description of the server.
const INSTRUCTIONS: &str = "hydrant hosts agent skills. Its tools are signed and sandboxed; what a call may do is the \
operator's policy to say. `hydrate` turns an agent or skill below os:// into context; resources list what there is. A tool \
error has a code: `denied` is the policy's answer and will not change, `overloaded` and `limit` say when to come back.";

/// Does calls: the service, or a front end that also counts and traces them.
pub trait Calls: Send + Sync + 'static {
    /// Does one for somebody; `headers` are those of the request that it came with, if any.
    fn call<'a>(
        &'a self,
        who: &'a Identity,
        headers: &'a HeaderMap,
        call: Call,
        cancel: CancellationToken,
    ) -> Called<'a>;
}

/// The future answer of a call.
pub type Called<'a> = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send + 'a>>;

impl Calls for Service {
    fn call<'a>(
        &'a self,
        who: &'a Identity,
        _: &'a HeaderMap,
        call: Call,
        cancel: CancellationToken,
    ) -> Called<'a> {
        Box::pin(Service::call(self, who, call, cancel))
    }
}

/// See the module; cheap to clone.
#[derive(Clone)]
pub(super) struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    calls: Arc<dyn Calls>,
    selection: Selection,
    catalogues: PerTenant<OnceCell<Arc<Catalogue>>>,
    arguments: Arguments,
    /// None where each request has a token.
    local: Option<Local>,
}

/// The user of this machine.
pub(super) struct Local {
    pub(super) who: Identity,
    /// None where he named a workspace.
    pub(super) roots: Option<Roots>,
    /// Cancelled when standard input has ended: nobody can say any more what the roots are.
    pub(super) ended: CancellationToken,
}

impl Server {
    pub(super) fn new(calls: Arc<dyn Calls>, selection: Selection, local: Option<Local>) -> Self {
        Self {
            shared: Arc::new(Shared {
                calls,
                selection,
                catalogues: PerTenant::default(),
                arguments: Arguments::default(),
                local,
            }),
        }
    }

    /// Who asks. What authenticated the request put it there; nothing in the message can.
    fn identity(&self, context: &RequestContext<RoleServer>) -> Result<Identity, ErrorData> {
        if let Some(local) = &self.shared.local {
            return Ok(local.who.clone());
        }
        let parts = context.extensions.get::<Parts>();
        parts
            .and_then(|parts| parts.extensions.get::<Identity>().cloned())
            .ok_or_else(|| results::of_request(&Problem::unauthenticated()))
    }

    /// The user of this machine, where the roots of his client are his workspace.
    fn roots(&self) -> Option<(Arc<Tenant>, &Roots)> {
        let local = self.shared.local.as_ref()?;
        Some((Arc::clone(&local.who.tenant), local.roots.as_ref()?))
    }

    /// Who asks for what may look at `/workspace`.
    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Identity, ErrorData> {
        if let Some(local) = &self.shared.local
            && let Some(roots) = &local.roots
        {
            tokio::select! {
                () = roots.known() => {}
                () = local.ended.cancelled() => {}
            }
        }
        self.identity(context)
    }

    /// Who asks for what is no operation of the service, which it therefore does not count.
    fn admit(&self, context: &RequestContext<RoleServer>) -> Result<Identity, ErrorData> {
        let who = self.identity(context)?;
        let detail = "the tenant calls more often than it may";
        match who.tenant.rate.take() {
            Ok(()) => Ok(who),
            Err(after) => Err(results::of_request(&Problem::too_many(detail, after))),
        }
    }

    /// The tools of whoever asks.
    pub(super) async fn catalogue(&self, who: &Identity) -> Result<Arc<Catalogue>, ErrorData> {
        let tenant = Arc::clone(&who.tenant);
        let catalogue = self.shared.catalogues.get(tenant.name(), &tenant);
        if let Some(made) = catalogue.get() {
            return Ok(Arc::clone(made));
        }
        // In a task of its own: where the client leaves, what was begun for it is there for the next one. Others that come
        // meanwhile wait in such tasks, and not on a thread.
        let making = tokio::spawn(async move {
            let make = || async {
                let made = tokio::task::spawn_blocking(move || Catalogue::new(&tenant)).await;
                let made = made.map_err(|error| Problem::internal(&error))?;
                made.map(Arc::new)
                    .map_err(|error| Problem::internal(&error))
            };
            catalogue.get_or_try_init(make).await.cloned()
        });
        let made = making.await.map_err(|error| Problem::internal(&error));
        made.flatten()
            .map_err(|problem| results::of_request(&problem))
    }

    /// Asks the service, and tells a client that wants to know that the call still runs. The service stops when the
    /// request is cancelled.
    async fn perform(
        &self,
        who: &Identity,
        call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, Problem> {
        let none = HeaderMap::new();
        let headers = context.extensions.get::<Parts>();
        let headers = headers.map_or(&none, |parts| &parts.headers);
        let cancel = context.ct.clone();
        let call = self.shared.calls.call(who, headers, call, cancel);
        let Some(token) = context.meta.get_progress_token() else {
            return call.await;
        };
        tokio::pin!(call);
        let started = Instant::now();
        let mut ticks = tokio::time::interval(PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                answer = &mut call => return answer,
                _ = ticks.tick() => {
                    let elapsed = started.elapsed();
                    // How much is left nobody knows; that it goes on is worth to be known.
                    let progress = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64())
                        .with_message(format!("running for {} s", elapsed.as_secs()));
                    let told = context.peer.notify_progress(progress);
                    // A client that does not read must not keep the call from ending.
                    tokio::select! {
                        biased;
                        answer = &mut call => return answer,
                        _ = tokio::time::timeout(PROGRESS, told) => {}
                    }
                }
            }
        }
    }

    async fn ask(
        &self,
        call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, ErrorData> {
        let who = self.identity(context)?;
        self.perform(&who, call, context)
            .await
            .map_err(|problem| results::of_request(&problem))
    }

    /// Those of calls whose text is read apart.
    pub(super) fn arguments(&self) -> &Arguments {
        &self.shared.arguments
    }

    pub(super) fn selection(&self) -> &Selection {
        &self.shared.selection
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let program = Implementation::new("hydrant", env!("CARGO_PKG_VERSION"))
            .with_title("hydrant: a host for agent skills");
        ServerConfig::new(capabilities)
            .with_server_info(program)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.admit(&context)?;
        if let Some((_, roots)) = self.roots() {
            roots.begin(&request);
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let capabilities = context
            .peer
            .peer_info()
            .map(|client| client.capabilities.clone());
        if let Some((tenant, roots)) = self.roots()
            && capabilities.is_some_and(|capabilities| capabilities.roots.is_some())
        {
            roots.ask(&context.peer, tenant).await;
        }
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.on_initialized(context).await;
    }

    /// What is no request of the protocol, or one whose params are not those of its method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.admit(&context)?;
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            let message = format!("the params are not those of {method}");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let who = self.admit(&context)?;
        let after = pages::after(request.as_ref())?;
        let catalogue = self.catalogue(&who).await?;
        let tools = catalogue.list(self.selection(), who.role);
        let (tools, next) = pages::page(tools, after.as_deref(), |tool| tool.name.as_ref());
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.take().unwrap_or_default());
        let arguments = self.shared.arguments.take(&context, arguments);
        let who = self.caller(&context).await?;
        if let Some((tenant, roots)) = self.roots()
            && let Some(question) = roots.question(&request, &context, tenant).await
        {
            return Ok(question.into());
        }
        let catalogue = self.catalogue(&who).await?;
        // What is not offered is not told apart from what is not there.
        let Some(tool) = catalogue.get(&request.name, self.selection(), who.role) else {
            let message = format!("there is no tool {:?}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let call = arguments.and_then(|arguments| tool.call(arguments));
        let result = match call {
            Ok(call) => self.perform(&who, call, &context).await,
            Err(problem) => {
                self.admit(&context)?;
                Err(problem)
            }
        };
        Ok(results::of_tool(result).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let answer = self.ask(resources::listing(cursor), &context).await?;
        resources::listed(&answer)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.admit(&context)?;
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let reading = resources::reading(&request.uri)?;
        let answer = self.ask(reading, &context).await?;
        Ok(resources::read(&request.uri, &answer).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let after = pages::after(request.as_ref())?;
        let answer = self.ask(Call::new(Workflows {}), &context).await?;
        let all = prompts::listed(&answer)?;
        let (prompts, next) = pages::page(all, after.as_deref(), |prompt| prompt.name.as_str());
        let mut result = ListPromptsResult::with_all_items(prompts);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let asking = prompts::asking(&request)?;
        self.caller(&context).await?;
        let answer = self.ask(asking, &context).await?;
        Ok(prompts::got(&answer).into())
    }
}
