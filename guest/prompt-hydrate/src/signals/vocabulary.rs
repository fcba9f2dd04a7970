//! The fixed vocabulary of Q-122: names that catalogue files may weigh and `route --explain` prints.

/// Declares the enum once, with its names.
macro_rules! vocabulary {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// One property of a prompt, in the words of Q-122.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Signal {
            $($(#[$doc])* $variant,)*
        }

        impl Signal {
            /// All of them, in the order of the groups.
            pub const ALL: &'static [Signal] = &[$(Signal::$variant,)*];

            /// As it stands in catalogue files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// `None`: no such signal (C11).
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

vocabulary! {
    /// The main clause is an order.
    Imperative = "imperative",
    /// The main clause asks.
    Interrogative = "interrogative",
    /// It can be answered with yes or no.
    YesNo = "yes_no",
    /// An order in the form of a question or with *please*.
    PoliteRequest = "polite_request",
    /// "I want", "it would be nice if", "we need".
    Wish = "wish",
    /// It tells something.
    Statement = "statement",
    /// No finite verb at all: "dark mode for the settings page".
    Fragment = "fragment",
    /// Something is to be told or explained.
    InfoRequest = "info_request",
    /// "how do I …".
    HowTo = "how_to",
    /// "why …", "how come …".
    WhyQuestion = "why_question",
    /// A verb of changing what exists.
    VEdit = "v_edit",
    /// A verb of making what does not exist.
    VBuild = "v_build",
    /// A verb of taking away.
    VRemove = "v_remove",
    /// A verb of changing place or name.
    VMove = "v_move",
    /// A verb of looking for a cause.
    VInvestigate = "v_investigate",
    /// A verb of showing that something works.
    VVerify = "v_verify",
    /// A verb of judging what exists.
    VReview = "v_review",
    /// A verb of working out on paper.
    VDesign = "v_design",
    /// A verb of putting in order what is to be done.
    VPlan = "v_plan",
    /// A verb or phrase of writing tests.
    VTest = "v_test",
    /// A verb of exchanging one technology for another.
    VMigrate = "v_migrate",
    /// A verb of running with effects.
    VRun = "v_run",
    /// A verb of reading or finding.
    VRead = "v_read",
    /// Something misbehaves.
    Symptom = "symptom",
    /// The main text reports a concrete fault that is to be corrected.
    ErrorReport = "error_report",
    /// A literal error line, anywhere.
    ErrorText = "error_text",
    /// It worked before.
    Regression = "regression",
    /// When it went wrong.
    IncidentTime = "incident_time",
    /// The object is a value, a label, a line.
    SmallObject = "small_object",
    /// A path, an identifier or a named component.
    NamedPlace = "named_place",
    /// "each", "every", "all … files".
    QuantifierPlural = "quantifier_plural",
    /// A number of items.
    ItemCount = "item_count",
    /// The object is an aim: a product, a business, a certificate.
    GoalNoun = "goal_noun",
    /// Weeks and longer.
    LongHorizon = "long_horizon",
    /// The way there is the question.
    UnknownPath = "unknown_path",
    /// The object is the whole system.
    WholeSystem = "whole_system",
    /// "make sure it never …".
    CorrectiveConstraint = "corrective_constraint",
    /// "it should …", "it must …", "also …".
    RequirementClause = "requirement_clause",
    /// A later clause has an own verb and an own object.
    SecondIntent = "second_intent",
    /// Nothing is to be changed.
    NoChange = "no_change",
    /// A plan is wanted before any change.
    PlanFirst = "plan_first",
    /// Fewer than two content words.
    Vague = "vague",
    /// Nothing but pasted text.
    PasteOnly = "paste_only",
    /// Carries on what came before.
    Continuation = "continuation",
    /// Nothing but agreement.
    Confirmation = "confirmation",
    /// Nothing but refusal.
    Refusal = "refusal",
    /// Nothing but a choice between what was offered.
    Choice = "choice",
    /// A pronoun stands for the object.
    Anaphora = "anaphora",
}
