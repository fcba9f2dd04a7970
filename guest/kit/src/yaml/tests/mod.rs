//! Front matter to the letter, and YAML and JSON as people write them.

mod limits;
mod properties;
mod rows;
mod spans;
mod tree;

use super::{read_front_matter as parse, *};

const USED: [&str; 4] = ["name", "description", "skills", "tools"];

fn is_refused(front_matter: &str) -> bool {
    parse(front_matter, &USED).is_err()
}

fn is_too_deep(error: &Error) -> bool {
    matches!(error, Error::Limit { most: 64, .. })
}

fn has_too_many_nodes(error: &Error) -> bool {
    matches!(
        error,
        Error::Limit {
            most: MAX_NODES,
            ..
        }
    )
}
