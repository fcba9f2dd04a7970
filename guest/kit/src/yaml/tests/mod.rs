//! The rows of §9 that concern parsing; what hydration makes of values is tested there.

mod limits;
mod properties;
mod rows;
mod spans;

use super::*;

const USED: [&str; 4] = ["name", "description", "skills", "tools"];

fn is_refused(front_matter: &str) -> bool {
    parse(front_matter, &USED).is_err()
}
