//! Gathering what a plan is made of: transcript, working tree and memory at once, each within its share of the time.
//!
//! What overruns is left behind on its thread, and the plan is made without it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::memory::{MAX_PASSAGES, MAX_QUERY_CHARS, MemoryError, MemorySource, Passage};
use super::message::{Source, Warning};
use super::planner::{Material, Missing, Planner, PlannerError};
use super::transcript;

/// How long each source may take; one that takes longer is dropped, not waited for.
const TRANSCRIPT: Duration = Duration::from_millis(100);
const CODEBASE: Duration = Duration::from_millis(150);
const NOTES: Duration = Duration::from_millis(150);
const HTTP: Duration = Duration::from_secs(2);

/// What is gathered, and where from.
pub struct Sources {
    /// What the user typed.
    pub prompt: String,
    /// What memory is searched for: the main text of the prompt, without secrets.
    pub query: String,
    /// The transcript of the session; only its end is read.
    pub transcript: Option<PathBuf>,
    /// The planner, if it sees a working tree.
    pub codebase: Option<Planner>,
    /// Where remembered text is searched.
    pub memory: Option<Memory>,
}

/// A memory source and its share.
pub struct Memory {
    source: Box<dyn MemorySource>,
    share: Duration,
}

impl Memory {
    /// Files of this machine.
    #[must_use]
    pub fn local(source: impl MemorySource + 'static) -> Self {
        Self {
            source: Box::new(source),
            share: NOTES,
        }
    }

    /// A server.
    #[must_use]
    pub fn remote(source: impl MemorySource + 'static) -> Self {
        Self {
            source: Box::new(source),
            share: HTTP,
        }
    }
}

/// Why a source has nothing.
enum NoYield {
    TooSlow,
    Failed(String),
}

/// A source at work.
struct Working<T> {
    receiver: Option<Receiver<Result<T, NoYield>>>,
    until: Instant,
}

/// Gathers everything into `material`, until `end` at the latest.
pub fn gather(
    sources: Sources,
    end: Instant,
    material: &mut Material,
    warnings: &mut Vec<Warning>,
) {
    let now = Instant::now();
    let share = |share: Duration| now.checked_add(share).map_or(end, |until| until.min(end));
    let transcript = sources.transcript.map(|path| {
        start("transcript", share(TRANSCRIPT), move |_| {
            transcript::tail(&path).map_err(|error| NoYield::Failed(error.to_string()))
        })
    });
    let prompt = sources.prompt;
    let codebase = sources.codebase.map(|planner| {
        start("codebase", share(CODEBASE), move |until| {
            codebase(&planner, &prompt, until)
        })
    });
    let query: String = sources.query.chars().take(MAX_QUERY_CHARS).collect();
    let memory = sources.memory.map(|memory| {
        start("memory", share(memory.share), move |until| {
            search(&*memory.source, &query, until)
        })
    });
    let mut take = Taking { material, warnings };
    if let Some(tail) = transcript.and_then(|one| take.of(one, Missing::Session, Source::Session)) {
        take.material.transcript_tail = Some(tail);
    }
    if let Some(found) = codebase.and_then(|one| take.of(one, Missing::Codebase, Source::Codebase))
    {
        take.material.codebase = Some(found);
    }
    if let Some(found) = memory.and_then(|one| take.of(one, Missing::Memory, Source::Memory)) {
        take.material.memory = found;
    }
}

fn codebase(planner: &Planner, prompt: &str, until: Instant) -> Result<Value, NoYield> {
    let left = until.saturating_duration_since(Instant::now());
    match planner.codebase(prompt, left) {
        Ok(answer) => {
            let unreadable = answer.warnings.into_iter().map(Warning::from);
            // What it could not look at, such as a tree that the policy hides.
            if let Some(warning) = unreadable.into_iter().next() {
                return Err(NoYield::Failed(warning.message));
            }
            let none = || NoYield::Failed("the planner answers none".to_owned());
            answer.codebase.ok_or_else(none)
        }
        Err(PlannerError::TooSlow) => Err(NoYield::TooSlow),
        Err(error) => Err(NoYield::Failed(error.to_string())),
    }
}

fn search(source: &dyn MemorySource, query: &str, until: Instant) -> Result<Vec<Passage>, NoYield> {
    source
        .search(query, MAX_PASSAGES, until)
        .map_err(|error| match error {
            MemoryError::TooSlow => NoYield::TooSlow,
            error => NoYield::Failed(error.to_string()),
        })
}

fn start<T: Send + 'static>(
    name: &str,
    until: Instant,
    work: impl FnOnce(Instant) -> Result<T, NoYield> + Send + 'static,
) -> Working<T> {
    let (sender, receiver) = sync_channel(1);
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Nobody listens to what comes too late.
        let _ = sender.send(work(until));
    });
    Working {
        receiver: spawned.ok().map(|_| receiver),
        until,
    }
}

struct Taking<'a> {
    material: &'a mut Material,
    warnings: &'a mut Vec<Warning>,
}

impl Taking<'_> {
    /// What a source found; where there is nothing, the plan says so.
    fn of<T>(&mut self, working: Working<T>, missing: Missing, source: Source) -> Option<T> {
        let result = match working.receiver {
            None => Err(NoYield::Failed("no thread can be started".to_owned())),
            Some(receiver) => {
                let left = working.until.saturating_duration_since(Instant::now());
                // What is there already is taken, whatever the clock says.
                receiver.recv_timeout(left).unwrap_or_else(|error| {
                    Err(match error {
                        RecvTimeoutError::Timeout => NoYield::TooSlow,
                        RecvTimeoutError::Disconnected => {
                            NoYield::Failed("it ended without an answer".to_owned())
                        }
                    })
                })
            }
        };
        match result {
            Ok(found) => return Some(found),
            Err(NoYield::Failed(reason)) => {
                self.warnings.push(Warning::new(source, reason));
            }
            Err(NoYield::TooSlow) => {
                // Section 17: the word of the source and `time`.
                self.material.missing.insert(Missing::Time);
                let message = format!("{} took too long and is left out", source.as_str());
                self.warnings.push(Warning::new(Source::Time, message));
                self.warnings.push(Warning::new(source, "too slow"));
            }
        }
        self.material.missing.insert(missing);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers after a while.
    struct Slow(Duration);

    impl MemorySource for Slow {
        fn search(&self, query: &str, _: usize, _: Instant) -> Result<Vec<Passage>, MemoryError> {
            thread::sleep(self.0);
            Ok(vec![Passage {
                text: query.to_owned(),
                source: "s".to_owned(),
                score: 1.0,
            }])
        }
    }

    fn gathered(sources: Sources, within: Duration) -> (Material, Vec<String>) {
        let (mut material, mut warnings) = (Material::default(), Vec::new());
        let end = Instant::now() + within;
        gather(sources, end, &mut material, &mut warnings);
        let codes = warnings.into_iter().map(|warning| warning.code).collect();
        (material, codes)
    }

    fn sources(memory: Option<Memory>, transcript: Option<PathBuf>) -> Sources {
        Sources {
            prompt: "p".to_owned(),
            query: "q".repeat(600),
            transcript,
            codebase: None,
            memory,
        }
    }

    #[test]
    fn a_source_that_overruns_is_left_behind() {
        let started = Instant::now();
        let slow = Memory::local(Slow(Duration::from_secs(60)));
        let (material, codes) = gathered(sources(Some(slow), None), Duration::from_secs(30));
        assert!(started.elapsed() < Duration::from_secs(30));
        assert!(material.memory.is_empty());
        assert!(material.missing.contains(&Missing::Memory));
        assert!(material.missing.contains(&Missing::Time));
        assert_eq!(codes, ["time", "memory"]);
    }

    #[test]
    fn one_source_that_fails_takes_no_other_with_it() {
        let memory = Memory::remote(Slow(Duration::ZERO));
        let none = PathBuf::from("/nonexistent/transcript");
        let (material, codes) =
            gathered(sources(Some(memory), Some(none)), Duration::from_secs(30));
        assert_eq!(material.memory.len(), 1);
        assert!(material.memory.iter().all(|one| one.text.len() == 512));
        assert_eq!(codes, ["session"]);
        assert_eq!(material.missing, [Missing::Session].into());
    }

    #[test]
    fn no_transcript_is_no_trouble() {
        let (material, codes) = gathered(sources(None, None), Duration::from_secs(30));
        assert!(codes.is_empty());
        assert!(material.missing.is_empty());
    }
}
