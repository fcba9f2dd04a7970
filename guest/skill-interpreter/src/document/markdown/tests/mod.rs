//! Markdown: outlines and what the readers of its parts find in them. Whole documents are read in `tests/markdown*.rs`.

mod candidates;
mod front;
mod hostile;
mod naming;
mod onboarding;
mod outline;
mod section;

use super::lines::Lines;
use super::outline::Outline;

fn outline(text: &str) -> Outline {
    Outline::read(text, 0, &Lines::new(text))
}
