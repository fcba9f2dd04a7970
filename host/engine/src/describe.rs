//! Tools that are components: asked for their description in an instance that can reach nothing.
//!
//! Such a tool is untrusted down to its last byte, and compiling it is the larger risk. It is vetted first
//! ([`super::vetting`]), compiled by an engine of its own, and its compiled code is never kept. What it answered is: in
//! this process, and where there is a cache also for others. An instance that can reach nothing, whose clock stands still
//! and whose random numbers are always the same, answers by its bytes alone, so that nothing else needs to be compared,
//! and tenants can share the answer. Few are worked on at a time and the others wait, so that an answer does not depend
//! on how many ask.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::permits::Permits;
use super::{Budgets, CallError, DescriptionCache, Engine, vetting};
use hydrant_base::Digest;
use hydrant_capability::fetch::Fetcher;
use hydrant_capability::{
    Budget, Call, Cancellation, DescribeComponent, DescribeError, Journal, KeepDescriptions,
    KeptDescription,
};
use hydrant_jail::Launcher;
use hydrant_policy::{Grant, Limits};

/// Components that are compiled or asked at a time, in a process.
pub(super) const AT_ONCE: u32 = 2;
/// Descriptions that are kept, each at most 64 KiB long.
const KEPT: usize = 256;
/// The name of the threads that compile and ask tools.
pub const THREAD: &str = "hydrant-describe";
/// Bytes of stack of the thread that compiles; what vetting lets through needs far less.
const STACK: usize = 16 * 1024 * 1024;

/// Describes components. Cheap to clone; make one for a process, or for each host.
#[derive(Clone)]
pub struct ComponentDescriber {
    shared: Arc<Shared>,
}

struct Shared {
    /// Made for the first tool: most hydrations have none.
    engine: OnceLock<Option<Engine>>,
    fetcher: Arc<Fetcher>,
    known: Mutex<BTreeMap<Digest, Arc<Flight>>>,
    /// For other processes.
    kept: Option<DescriptionCache>,
}

/// All describers of the process share these: what they bound is the process's memory.
static PERMITS: Permits = Permits::new(AT_ONCE);

/// The asking of one component, which others who ask the same wait for.
#[derive(Default)]
struct Flight {
    outcome: Mutex<Option<Result<String, DescribeError>>>,
    landed: Condvar,
}

impl Flight {
    fn land(&self, outcome: Result<String, DescribeError>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.landed.notify_all();
    }

    fn has_landed(&self) -> bool {
        let outcome = self.outcome.lock();
        outcome.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// What came of it, if that is known within `patience`.
    fn wait(&self, patience: Duration) -> Option<Result<String, DescribeError>> {
        let (started, cancellation) = (Instant::now(), Cancellation::current());
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        while outcome.is_none() {
            let wait = cancellation.next_wait(started, patience)?;
            let waited = self.landed.wait_timeout(outcome, wait);
            outcome = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        outcome.clone()
    }
}

/// Whether somebody asks this component already.
enum Part {
    Lead(Arc<Flight>),
    Follow(Arc<Flight>),
}

/// A question that is being asked. Dropped without an answer, it is forgotten, and those who wait are told.
struct Leading<'a> {
    describer: &'a ComponentDescriber,
    flight: &'a Arc<Flight>,
    digest: &'a Digest,
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        if !self.flight.has_landed() {
            self.describer.forget(self.flight, self.digest);
            self.flight.land(Err(DescribeError::Timeout));
        }
    }
}

impl ComponentDescriber {
    /// `fetcher` is never used: a tool is granted nothing.
    #[must_use]
    pub fn new(fetcher: Arc<Fetcher>) -> Self {
        Self::keeping(fetcher, None)
    }

    /// As [`new`](Self::new), with a place where descriptions are kept for other processes.
    #[must_use]
    pub fn keeping(fetcher: Arc<Fetcher>, kept: Option<DescriptionCache>) -> Self {
        let shared = Shared {
            engine: OnceLock::new(),
            fetcher,
            known: Mutex::default(),
            kept,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Digest, Arc<Flight>>> {
        self.shared
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, component: &Digest) -> Part {
        let mut known = self.known();
        if let Some(flight) = known.get(component) {
            return Part::Follow(Arc::clone(flight));
        }
        if known.len() >= KEPT {
            // Whoever is being asked now is not asked again.
            known.retain(|_, flight| !flight.has_landed());
        }
        let flight = Arc::<Flight>::default();
        known.insert(component.clone(), Arc::clone(&flight));
        Part::Lead(flight)
    }

    /// Asks, and tells who waits. Errors are never kept.
    fn lead(
        &self,
        flight: &Arc<Flight>,
        digest: &Digest,
        ask: impl FnOnce() -> Result<String, DescribeError>,
    ) -> Result<String, DescribeError> {
        // Also where asking panics: nobody is to wait for an answer that never comes.
        let _leading = Leading {
            describer: self,
            flight,
            digest,
        };
        let mut outcome = ask();
        if outcome.is_err() && Cancellation::current().is_cancelled() {
            // That nobody waits for us any more is no answer for those who follow.
            outcome = Err(DescribeError::Timeout);
        }
        if outcome.is_err() {
            self.forget(flight, digest);
        }
        flight.land(outcome.clone());
        outcome
    }

    fn forget(&self, flight: &Arc<Flight>, digest: &Digest) {
        let mut known = self.known();
        if known
            .get(digest)
            .is_some_and(|known| Arc::ptr_eq(known, flight))
        {
            known.remove(digest);
        }
    }

    /// What another process was told, or else what the component says now.
    fn recall_or(
        &self,
        digest: &Digest,
        ask: impl FnOnce() -> Result<String, DescribeError>,
    ) -> Result<String, DescribeError> {
        let Some(kept) = &self.shared.kept else {
            return ask();
        };
        let circumstances = circumstances(digest);
        let found = kept.find(&circumstances);
        if let Some(Ok(text)) = found.map(|found| String::from_utf8(found.stdout)) {
            return Ok(text);
        }
        let text = ask()?;
        let description = KeptDescription {
            stdout: text.clone().into_bytes(),
            truncated: false,
        };
        kept.keep(&circumstances, &description);
        Ok(text)
    }

    /// On a thread of its own, because compiling in this process cannot be interrupted: past `patience` nobody waits any more,
    /// and the thread keeps its permit until the compiler is done.
    fn describe_apart(
        &self,
        component: &[u8],
        time: Duration,
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<String, DescribeError> {
        let started = Instant::now();
        let permit = PERMITS.take(patience).ok_or(DescribeError::Timeout)?;
        let (answer, answered) = mpsc::sync_channel(1);
        let (this, component, jail) = (self.clone(), component.to_vec(), jail.cloned());
        let left = patience.saturating_sub(started.elapsed());
        let cancellation = Cancellation::current();
        let of_thread = cancellation.clone();
        let work = move || {
            // The validator has assertions that a hostile component can fail: an answer like any other.
            let describe = || this.describe_now(&component, time, left, jail.as_ref());
            let describe = AssertUnwindSafe(|| of_thread.during(describe));
            let description = catch_unwind(describe).unwrap_or(Err(DescribeError::NotDescribable));
            drop(permit);
            // Nobody listens any more when patience has ended.
            let _ = answer.send(description);
        };
        thread::Builder::new()
            .name(THREAD.into())
            .stack_size(STACK)
            .spawn(work)
            .map_err(|error| not_describable(&error))?;
        let left = patience.saturating_sub(started.elapsed());
        match cancellation.receive(&answered, left) {
            Ok(description) => description,
            Err(RecvTimeoutError::Timeout) => Err(DescribeError::Timeout),
            Err(RecvTimeoutError::Disconnected) => Err(DescribeError::NotDescribable),
        }
    }

    fn describe_now(
        &self,
        bytes: &[u8],
        time: Duration,
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<String, DescribeError> {
        vetting::vet(bytes).map_err(|error| not_describable(&error))?;
        let engine = self.shared.engine.get_or_init(|| Engine::for_tools().ok());
        let engine = engine
            .as_ref()
            .ok_or_else(|| not_describable(&"no engine for tools"))?;
        let component = engine
            .compile_vetted(bytes, jail, patience)
            .map_err(|error| not_describable(&error))?;
        let describe = component
            .get_export_index(None, "describe")
            .ok_or_else(|| not_describable(&"no export describe"))?;
        let instance = engine
            .inner
            .linker
            .instantiate_pre(&component)
            .map_err(|error| not_describable(&error))?;
        let budgets = Budgets::describe_tool(time);
        let call = Arc::new(Call {
            grant: Grant::nothing(),
            meter: budgets.meter_from(Instant::now()),
            journal: Journal::default(),
            limits: Limits::default(),
            fetcher: Arc::clone(&self.shared.fetcher),
            credential: None,
            components: Arc::new(self.clone()),
            journals: None,
            own: Arc::default(),
            jail: None,
            descriptions: None,
        });
        engine
            .describe_instance(&instance, describe, call, &budgets)
            .map_err(|error| match error {
                CallError::Budget(exceeded) if exceeded.budget == Budget::WallClock => {
                    DescribeError::Timeout
                }
                error => not_describable(&error),
            })
    }
}

impl DescribeComponent for ComponentDescriber {
    fn describe(
        &self,
        component: &[u8],
        time: Duration,
        patience: Duration,
        jail: Option<&Launcher>,
    ) -> Result<String, DescribeError> {
        let digest = Digest::of(component);
        let started = Instant::now();
        let left = || patience.saturating_sub(started.elapsed());
        loop {
            match self.part(&digest) {
                Part::Lead(flight) => {
                    let ask = || {
                        self.recall_or(&digest, || {
                            self.describe_apart(component, time, left(), jail)
                        })
                    };
                    return self.lead(&flight, &digest, ask);
                }
                Part::Follow(flight) => match flight.wait(left()) {
                    // The other may have had less time than we have: ask ourselves.
                    Some(Err(DescribeError::Timeout)) if !left().is_zero() => {}
                    Some(outcome) => return outcome,
                    None => return Err(DescribeError::Timeout),
                },
            }
        }
    }
}

/// All that the answer of a component depends on: its bytes, and who asks. A later version may give it more to see.
fn circumstances(component: &Digest) -> Digest {
    let (version, machine) = (env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    Digest::of(format!("component\0{component}\0{version}\0{machine}").as_bytes())
}

fn not_describable(error: &dyn std::fmt::Display) -> DescribeError {
    tracing::debug!(%error, "a component tool cannot be described");
    DescribeError::NotDescribable
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component whose `describe` runs this code, which leaves the address of a pointer and a length.
    fn component(code: &str) -> Vec<u8> {
        let text = format!(
            r#"(component
              (core module $m
                (memory (export "memory") 1)
                (data (i32.const 0) "\08\00\00\00\02\00\00\00{{}}")
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
                (func (export "describe") (result i32) {code}))
              (core instance $i (instantiate $m))
              (func (export "describe") (result string)
                (canon lift (core func $i "describe") (memory (core memory $i "memory"))
                  (realloc (core func $i "realloc")))))"#
        );
        wat::parse_str(text).unwrap()
    }

    fn describer() -> ComponentDescriber {
        ComponentDescriber::new(Arc::new(Fetcher::new(&[]).unwrap()))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_describe_returns_is_kept_by_digest() {
        let (describer, component) = (describer(), component("(i32.const 0)"));
        for _ in 0..2 {
            assert_eq!(
                describer.describe(&component, LONG, LONG, None),
                Ok("{}".into())
            );
        }
        assert_eq!(describer.known().len(), 1);
        // Nobody is asked any more: there would be no time for it.
        let none = Duration::ZERO;
        assert_eq!(
            describer.describe(&component, none, none, None),
            Ok("{}".into())
        );
    }

    /// A describer of another process, which shares the cache in `folder`.
    fn keeping(folder: &std::path::Path) -> ComponentDescriber {
        let cache = DescriptionCache::new(&super::super::CodeCacheFolders {
            code: folder.join("hydrant"),
            key: folder.join("state"),
        });
        ComponentDescriber::keeping(Arc::new(Fetcher::new(&[]).unwrap()), Some(cache))
    }

    #[test]
    fn who_waits_for_a_question_that_panicked_is_told_and_asks_again() {
        let describer = describer();
        let digest = Digest::of(b"a");
        let Part::Lead(flight) = describer.part(&digest) else {
            panic!("nobody has asked");
        };
        let ask = || describer.lead(&flight, &digest, || panic!("while asking"));
        let panicked = catch_unwind(AssertUnwindSafe(ask));
        assert!(panicked.is_err());
        assert_eq!(flight.wait(LONG), Some(Err(DescribeError::Timeout)));
        assert!(matches!(describer.part(&digest), Part::Lead(_)));
    }

    #[test]
    fn a_full_cache_forgets_answers_and_no_question_that_is_under_way() {
        let describer = describer();
        let digest = |number: usize| Digest::of(number.to_string().as_bytes());
        for number in 0..KEPT {
            let Part::Lead(flight) = describer.part(&digest(number)) else {
                panic!("{number} is asked twice");
            };
            if number > 0 {
                flight.land(Ok("{}".into()));
            }
        }
        assert!(matches!(describer.part(&digest(KEPT)), Part::Lead(_)));
        assert!(matches!(describer.part(&digest(0)), Part::Follow(_)));
        assert_eq!(describer.known().len(), 2);
    }

    #[test]
    fn another_process_does_not_ask_again() {
        let folder = tempfile::tempdir().unwrap();
        let ours = component("(i32.const 0)");
        let none = Duration::ZERO;
        let first = keeping(folder.path());
        assert_eq!(first.describe(&ours, LONG, LONG, None), Ok("{}".into()));
        // There would be no time to ask.
        let second = keeping(folder.path());
        assert_eq!(second.describe(&ours, none, none, None), Ok("{}".into()));
        let other = component("(i32.const 0) nop");
        let asked = second.describe(&other, none, none, None);
        assert_eq!(asked, Err(DescribeError::Timeout));
    }

    #[test]
    fn errors_are_kept_for_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let traps = component("(unreachable)");
        let answer = keeping(folder.path()).describe(&traps, LONG, LONG, None);
        assert_eq!(answer, Err(DescribeError::NotDescribable));
        assert!(!folder.path().join("hydrant").exists());
    }

    #[test]
    fn errors_are_never_kept() {
        let (describer, component) = (describer(), component("(unreachable)"));
        let answer = describer.describe(&component, LONG, LONG, None);
        assert_eq!(answer, Err(DescribeError::NotDescribable));
        assert!(describer.known().is_empty());
    }

    #[test]
    fn who_waits_for_another_to_ask_keeps_the_own_deadline() {
        let describer = describer();
        let component = component("(loop $again (br $again)) (unreachable)");
        let slow = Duration::from_secs(5);
        thread::scope(|scope| {
            let leader = scope.spawn(|| describer.describe(&component, slow, LONG, None));
            while describer.known().is_empty() {
                thread::yield_now();
            }
            let short = Duration::from_millis(50);
            let follower = describer.describe(&component, short, short, None);
            assert_eq!(follower, Err(DescribeError::Timeout));
            assert!(!leader.is_finished(), "the other is still asking");
            assert_eq!(leader.join().unwrap(), Err(DescribeError::Timeout));
        });
    }
}
