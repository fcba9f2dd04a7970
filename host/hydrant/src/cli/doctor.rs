//! `hydrant doctor`: what this machine offers, what is missing, and what that means.

use clap::Args;
use hydrant::engine::{self, Allocation, Engine, EngineOptions};
use hydrant::jail::{self, Launcher, LayerState};
use hydrant::pins;
use hydrant::trust::LockEntry;
use serde::Serialize;

use super::output::{Exit, Format, Tone, print_line};

/// Check what this machine offers hydrant, layer by layer
///
/// Exits with 0 if everything that is needed holds, else with 1.
#[derive(Args)]
pub(super) struct Arguments {
    /// [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Serialize)]
struct Finding {
    layer: String,
    state: State,
    detail: String,
}

#[derive(Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Ok,
    /// It works, but slower or with less.
    Degraded,
    /// It does not work.
    Failed,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let findings: Vec<Finding> = [engine(), pinned_skills(), cache(), processes()]
        .into_iter()
        .flatten()
        .collect();
    let failed = findings
        .iter()
        .any(|finding| finding.state == State::Failed);
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&serde_json::to_string(&findings)?)?,
        Format::Text => print_line(&text(&findings))?,
    }
    Ok(if failed { Exit::Error } else { Exit::Done })
}

fn text(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let (tone, state) = match finding.state {
            State::Ok => (Tone::Good, "ok"),
            State::Degraded => (Tone::Doubtful, "degraded"),
            State::Failed => (Tone::Bad, "failed"),
        };
        // Padded before it is painted: a colour has no width.
        let state = tone.paint(&format!("{state:<9}"), &std::io::stdout());
        format!("{:<16} {state} {}", finding.layer, finding.detail)
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn finding(layer: impl Into<String>, state: State, detail: impl Into<String>) -> Finding {
    Finding {
        layer: layer.into(),
        state,
        detail: detail.into(),
    }
}

fn engine() -> Vec<Finding> {
    let engine = match Engine::new(&EngineOptions::default()) {
        Ok(engine) => engine,
        Err(error) => return vec![finding("engine", State::Failed, error.to_string())],
    };
    match engine.allocation() {
        Allocation::Pooling {
            slots,
            pagemap_scan,
            short,
        } => {
            let (state, reset) = if *pagemap_scan {
                (State::Ok, "slots are reset by scanning for touched pages")
            } else {
                (
                    State::Degraded,
                    "no PAGEMAP_SCAN (Linux 6.7): slots are reset by clearing and unmapping",
                )
            };
            let pool = match short {
                None => finding("instance-pool", State::Ok, pool_of(*slots)),
                Some(short) => {
                    let detail = format!("{slots} slots: {short}");
                    finding("instance-pool", State::Degraded, detail)
                }
            };
            vec![pool, finding("pagemap-scan", state, reset)]
        }
        Allocation::OnDemand { reason } => {
            vec![finding(
                "instance-pool",
                State::Degraded,
                format!("memory is mapped for each call: {reason}"),
            )]
        }
    }
}

/// How many slots there are, and how many a service could have here.
fn pool_of(slots: u32) -> String {
    match engine::most_slots() {
        (most, None) => format!("{slots} slots; there is room for {most} more"),
        (most, Some(short)) => format!("{slots} slots; there is room for {most} more: {short}"),
    }
}

fn pinned_skills() -> Vec<Finding> {
    let (root, anchor) = hydrant::embedded_pins();
    let lock = match pins::open_lock(&root, &anchor) {
        Ok(lock) => lock,
        Err(error) => return vec![finding("pins", State::Failed, error.to_string())],
    };
    let check = |entry: &LockEntry| match lock.bundle(&root, entry) {
        Ok(_) => finding(
            "pins",
            State::Ok,
            format!("{} {}", entry.skill(), entry.artifact),
        ),
        Err(error) => {
            let detail = format!("{}: {error}", entry.skill());
            finding("pins", State::Failed, detail)
        }
    };
    lock.lock().skills.iter().map(check).collect()
}

fn cache() -> Vec<Finding> {
    let Some(folders) = engine::default_cache_folders() else {
        let detail = "there is no home folder, or no cache folder (HOME, HYDRANT_HOME, XDG_CACHE_HOME), or HYDRANT_CACHE is off: \
                      components are compiled in every process";
        return vec![finding("code-cache", State::Degraded, detail)];
    };
    vec![match engine::check_cache_folders(&folders) {
        Ok(()) => finding("code-cache", State::Ok, folders.code.display().to_string()),
        Err(error) => finding("code-cache", State::Degraded, format!("not used: {error}")),
    }]
}

/// Each layer, by probes in real jails.
fn processes() -> Vec<Finding> {
    let hidden: Vec<_> = hydrant::home::folder().into_iter().collect();
    let layers = jail::layers(&Launcher::this_binary(), &hidden);
    let found = layers.into_iter().map(|layer| {
        let state = match layer.state {
            LayerState::Ok => State::Ok,
            LayerState::Missing | LayerState::Failed => State::Failed,
        };
        finding(format!("jail-{}", layer.name), state, layer.detail)
    });
    found.collect()
}
