//! `hydrant serve`: many tenants over HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use hydrant::engine::default_cache_folders;
use hydrant::jail::{Launcher, LayerState};
use hydrant::serve::config::ServeConfig;
use hydrant::serve::http::Server;
use hydrant::serve::service::{ServeError, Service};
use hydrant::serve::tenants::{TenantsFile, new_token, token_digest};
use hydrant::{home, schema};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::config::{PinOptions, PolicyOptions};
use super::output::{Exit, fail, print, print_line};

/// Threads that wait for the system: compiling, names, one for the ends of sessions. Calls have threads of their own.
const SPARE_THREADS: usize = 8;
/// So many tasks run before sockets are looked at again: a request is hundred times what a task usually is.
const TASKS: u32 = 4;
/// What the threads that read requests compute at a time, the shortest that there is: who computes longer does not keep
/// them waiting.
const SLICE: Duration = Duration::from_micros(100);
/// How often it is looked whether something has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long calls are waited for once nobody waits for their answers.
const LAST: Duration = Duration::from_secs(2);

/// Serve tenants over HTTP: hydrate, run, plan, load and approve
///
/// Who the tenants are stands in a file (`tenants` of [serve]), which is read again on SIGHUP. SIGTERM and SIGINT let calls
/// that run come to their end.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant serve --new-token
  hydrant serve --tenants tenants.toml --listen 127.0.0.1:7878
  hydrant serve --check
  hydrant serve --tenants-schema > tenants.schema.json
  hydrant serve --compile")]
pub(super) struct Arguments {
    /// Address and port [default: `listen` of [serve], else 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// The tenants file [default: `tenants` of [serve], else tenants.toml beside the configuration file]
    #[arg(long, value_name = "FILE")]
    tenants: Option<PathBuf>,

    /// Check configuration, tenants and policies, and exit
    #[arg(long)]
    check: bool,

    /// Compile the skills that tenants may use into the cache, and exit; without this, serving begins with it
    #[arg(long, conflicts_with = "check")]
    compile: bool,

    /// Print a new token, and its digest for the tenants file, and exit
    #[arg(long, conflicts_with_all = ["check", "compile", "listen", "tenants"])]
    new_token: bool,

    /// Print the JSON Schema of the tenants file, for editors, and exit
    #[arg(long, conflicts_with_all = ["check", "compile", "listen", "tenants", "new_token"])]
    tenants_schema: bool,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    pins: PinOptions,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.new_token {
        let token = new_token().context("no random bytes")?;
        print_line(&format!(
            "token   {token}\ndigest  {}",
            token_digest(&token)
        ))?;
        return Ok(Exit::Done);
    }
    if arguments.tenants_schema {
        let schema = schema::for_toml::<TenantsFile>("Tenants of hydrant serve");
        print(schema::text(&schema).as_bytes())?;
        return Ok(Exit::Done);
    }
    let config = config(arguments)?;
    let (service, left_out) = Service::open(&config)?;
    if arguments.check && !left_out.is_empty() {
        let all: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        anyhow::bail!(all.join("\n"));
    }
    tell_left_out(&left_out);
    if arguments.check {
        tell_missing_jail();
        print_line("the configuration can be served")?;
        return Ok(Exit::Done);
    }
    if arguments.compile {
        let count = service.compile()?;
        print_line(&format!("{count} skills are compiled"))?;
        return Ok(Exit::Done);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(SPARE_THREADS)
        .event_interval(TASKS)
        .thread_name("hydrant-serve")
        .on_thread_start(|| {
            if let Err(error) = hydrant_jail::set_slice(None, Some(SLICE)) {
                tracing::debug!(%error, "a thread of the service has the slices of all");
            }
        })
        .build()?;
    let initial = InitialConfiguration {
        options: &arguments.policy,
        keys: arguments.policy.keys()?,
    };
    let served = runtime.block_on(serve(service.clone(), &initial));
    // What was broken off is stopped by then; what cannot be is not waited for.
    let until = Instant::now() + LAST;
    runtime.shutdown_timeout(LAST);
    while service.load().running > 0 && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    served?;
    Ok(Exit::Done)
}

/// The configuration that the service began with.
struct InitialConfiguration<'a> {
    options: &'a PolicyOptions,
    keys: BTreeMap<String, toml::Value>,
}

impl InitialConfiguration<'_> {
    /// Says what of the configuration is another now, which holds only from the next start on.
    fn tell_changes(&self) {
        let now = match self.options.keys_now() {
            Ok(now) => now,
            Err(error) => {
                fail(&format!(
                    "the configuration is not as it was, and cannot be read: {error:#}"
                ));
                return;
            }
        };
        let all: BTreeSet<_> = self.keys.keys().chain(now.keys()).collect();
        let changed = all
            .into_iter()
            .filter(|key| self.keys.get(*key) != now.get(*key));
        let changed: Vec<_> = changed.map(String::as_str).collect();
        if !changed.is_empty() {
            fail(&format!(
                "changed, and needs a restart: {}",
                changed.join(", ")
            ));
        }
    }
}

async fn serve(service: Service, initial: &InitialConfiguration<'_>) -> anyhow::Result<()> {
    let mut reload = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let server = Server::listen(service.clone()).await?;
    compile_apart(&service);
    print_line(&format!("listening on http://{}", server.address()?))?;
    let end = CancellationToken::new();
    let serving = tokio::spawn(server.run(end.clone()));
    loop {
        tokio::select! {
            _ = reload.recv() => {
                reread(&service).await;
                initial.tell_changes();
            }
            () = either(&mut terminate, &mut interrupt) => break,
        }
    }
    end.cancel();
    serving.await?;
    Ok(())
}

/// Has the skills compiled by a process of its own, whose memory goes with it. Whoever calls before it is done waits for the
/// compiler himself.
fn compile_apart(service: &Service) {
    if default_cache_folders().is_none() {
        return;
    }
    let (service, preparing) = (service.clone(), service.preparing());
    tokio::task::spawn_blocking(move || {
        let _preparing = preparing;
        // The compiler inherits it, and computes for seconds.
        if let Err(error) = hydrant_jail::set_slice(None, None) {
            tracing::debug!(%error, "compiling has short slices");
        }
        match compiled_apart(&service) {
            Ok(Some(status)) if !status.success() => {
                fail(&format!("the skills are not compiled: {status}"));
            }
            Err(error) => fail(&format!("the skills are not compiled: {error}")),
            Ok(_) => {}
        }
    });
}

/// The end of `hydrant serve --compile`, with the arguments and from the folder of this process; none where the service
/// ended before.
fn compiled_apart(service: &Service) -> std::io::Result<Option<ExitStatus>> {
    let mut compiling = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .arg("--compile")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    loop {
        if let Some(status) = compiling.try_wait()? {
            return Ok(Some(status));
        }
        if service.is_ending() {
            compiling.kill()?;
            compiling.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// What is wrong in the file is told, and everything stays as it was.
async fn reread(service: &Service) {
    let service = service.clone();
    let (told, read) = tokio::sync::oneshot::channel();
    // A thread of its own: it waits behind nothing that clients have the others do.
    let begun = std::thread::Builder::new()
        .name("hydrant-reload".into())
        .spawn(move || told.send(service.reload()));
    if let Err(error) = begun {
        fail(&format!("nothing changes: {error}"));
        return;
    }
    match read.await {
        Ok(Ok(left_out)) => {
            tell_left_out(&left_out);
            fail("the tenants file was read again");
        }
        Ok(Err(error)) => fail(&format!("nothing changes: {error}")),
        Err(error) => fail(&format!("nothing changes: {error}")),
    }
}

/// Who is not served, and why. The others are.
fn tell_left_out(left_out: &[ServeError]) {
    for error in left_out {
        fail(&format!("left out: {error}"));
    }
}

/// What a machine without a jail does not do for anybody, and does in this process.
fn tell_missing_jail() {
    let layers = hydrant::jail::layers(&Launcher::this_binary(), &[]);
    let missing = layers.iter().find(|layer| layer.state != LayerState::Ok);
    if let Some(layer) = missing {
        fail(&format!(
            "there is no jail ({}: {}): no process is started, and code that nobody vouches for is compiled in the \
             service itself; `hydrant doctor` says more",
            layer.name, layer.detail
        ));
    }
}

fn config(arguments: &Arguments) -> anyhow::Result<ServeConfig> {
    let home = home::folder()
        .context("there is no home folder: neither HYDRANT_HOME nor HOME is an absolute path")?;
    let mut table = arguments.policy.serve()?;
    if let Some(listen) = arguments.listen {
        table.listen = listen;
    }
    if let Some(tenants) = &arguments.tenants {
        table.tenants.clone_from(tenants);
    }
    // What the planner cannot use of [hydrate] is told, and does not count.
    let (hydrate, problems) = arguments.policy.hydrate()?;
    for problem in problems {
        fail(&problem.message);
    }
    let mut own_files = arguments.policy.files_read()?;
    own_files.push(table.tenants.clone());
    let (root, keys_digest) = arguments.pins.named()?;
    Ok(ServeConfig {
        table,
        home,
        policy: arguments.policy.policy_file()?,
        root,
        keys_digest,
        govern: arguments.policy.govern()?,
        hydrate,
        jail: Some(Launcher::this_binary().checked().ready()),
        own_files,
    })
}
