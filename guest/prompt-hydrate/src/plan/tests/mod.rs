//! Plans of the default catalogue and of hostile ones.

mod grammar;
mod items;
mod properties;
mod replies;
mod required;
mod rows;
mod workflows;

use std::sync::LazyLock;

use super::{Plan, Settings, build};
use crate::catalogue::{Catalogue, File};
use crate::cues::{Cue, Cues};
use crate::route::{Question, Route};
use crate::session::Facts;
use crate::text::Prompt;

static EMBEDDED: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::embedded(&[]));

/// A prompt and the decision about it, set by hand.
pub(super) struct Case {
    pub(super) prompt: Prompt,
    pub(super) session: Facts,
    pub(super) catalogue: Catalogue,
    pub(super) route: Route,
    pub(super) settings: Settings,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The catalogue is long and the same in all of them.
        f.debug_struct("Case")
            .field("prompt", &self.prompt)
            .field("session", &self.session)
            .field("route", &self.route)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Case {
    /// `main` routed to `workflow`.
    pub(super) fn new(workflow: &str, main: &str) -> Self {
        Self {
            prompt: Prompt::read(main),
            session: Facts::default(),
            catalogue: EMBEDDED.clone(),
            route: Route {
                workflow: workflow.to_owned(),
                confidence: 0.9,
                abstained: false,
                alternatives: vec![("feature-dev".to_owned(), 0.3)],
                skill: None,
                refusal: false,
                cues: Cues::default(),
                warnings: Vec::new(),
            },
            settings: Settings {
                tracker: "bd".to_owned(),
                max_todos: 12,
                test_command: Some("cargo test".to_owned()),
                context: Vec::new(),
                degraded: Vec::new(),
            },
        }
    }

    pub(super) fn signals(mut self, cues: &[Cue]) -> Self {
        self.route.cues = Cues::given(cues);
        self
    }

    pub(super) fn mutating(self) -> Self {
        self.signals(&[Cue::Change])
    }

    /// A catalogue of `workflows/x.md` alone, with the front matter `text`, routed to it.
    pub(super) fn file(text: &str, main: &str) -> Self {
        Self {
            catalogue: Catalogue::load(
                &[File {
                    path: "workflows/x.md".to_owned(),
                    text: format!("---\nquality_gate: Ok\n{text}---\n"),
                }],
                &[],
            ),
            ..Self::new("x", main)
        }
    }

    pub(super) fn question(&self) -> Question<'_> {
        Question {
            prompt: &self.prompt,
            session: &self.session,
            catalogue: &self.catalogue,
            skills: None,
            workflow: None,
            slash_is_skill: false,
        }
    }

    /// The plan, parsed by the grammar on the way.
    pub(super) fn plan(&self) -> Plan {
        let plan = build(&self.question(), &self.route, &self.settings)
            .unwrap_or_else(|failed| panic!("{:?}: {failed:#?}", self.prompt.main));
        round_trips(&plan);
        plan
    }
}

/// Contents of the items.
pub(super) fn contents(plan: &Plan) -> Vec<&str> {
    plan.todos
        .iter()
        .map(|todo| todo.content.as_str())
        .collect()
}

/// the Markdown parses, and says what the JSON says.
pub(super) fn round_trips(plan: &Plan) {
    let markdown = plan.markdown();
    let parsed = grammar::parse(&markdown).unwrap_or_else(|error| panic!("{error}\n{markdown}"));
    let json = serde_json::to_value(plan).unwrap();
    assert_eq!(json["schema"], "hydrant.plan/1");
    assert_eq!(json["intent"], parsed.intent);
    assert_eq!(json["workflow"], parsed.workflow);
    assert_eq!(json["quality_gate"], parsed.gate);
    assert_eq!(json["guardrails"], serde_json::json!(parsed.guardrails));
    assert_eq!(json["relevant_context"], serde_json::json!(parsed.context));
    assert_eq!(json["todos"], grammar::items_as_json(&markdown));
    let contents: Vec<_> = parsed.items.iter().map(|(content, _)| content).collect();
    assert_eq!(
        contents,
        plan.todos.iter().map(|t| &t.content).collect::<Vec<_>>()
    );
}
