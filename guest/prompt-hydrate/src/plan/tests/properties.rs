//! What holds of every plan, whatever prompt it is of.

use proptest::prelude::*;

use super::*;
use crate::route::decide;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_prompt_has_a_plan_within_its_bounds(
        text in "(\\PC|[\n`{}\u{202e}]){0,80}",
        order in "(fix|add|please rename|why does|it should|commit|close bd task|) ?",
        max in 1_usize..13,
        tracker in "(bd|none|a b)",
    ) {
        let mut case = Case::new("plan-mode", "");
        case.prompt = Prompt::read(&format!("{order}{text}"));
        case.route = decide(&case.question());
        case.settings.max_todos = max;
        case.settings.tracker = tracker;
        let plan = case.plan();
        prop_assert!((1..=12).contains(&plan.todos.len()));
        prop_assert!(plan.intent.chars().count() <= 120);
        prop_assert!((1..=8).contains(&plan.relevant_context.len()));
        for todo in &plan.todos {
            prop_assert!(todo.content.chars().count() <= 200, "{:?}", todo);
        }
    }
}
