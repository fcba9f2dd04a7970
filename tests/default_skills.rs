//! Black-box tests of the ten default skills. One module for each skill, for the rules that all share,
//! for hostile input, and for each comparison with another program.
//!
//! Everything runs the binary in a private folder with an empty environment.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::type_complexity,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[allow(
    dead_code,
    reason = "made for bundles_and_trust, which needs more of it"
)]
#[path = "bundles_and_trust/program.rs"]
mod program;
#[allow(dead_code, reason = "made for content_hydrate, which needs more of it")]
#[path = "content_hydrate/server.rs"]
mod server;

#[path = "default_skills/desk.rs"]
mod desk;
#[path = "default_skills/pdf.rs"]
mod pdf;
#[path = "default_skills/repository.rs"]
mod repository;
#[path = "default_skills/seeded.rs"]
mod seeded;

#[path = "default_skills/default_policy.rs"]
mod default_policy;
#[path = "default_skills/extract_pdf.rs"]
mod extract_pdf;
#[path = "default_skills/extract_text.rs"]
mod extract_text;
#[path = "default_skills/fs_read_text.rs"]
mod fs_read_text;
#[path = "default_skills/fs_read_tree.rs"]
mod fs_read_tree;
#[path = "default_skills/fs_write_patch.rs"]
mod fs_write_patch;
#[path = "default_skills/fs_write_patch_places.rs"]
mod fs_write_patch_places;
#[path = "default_skills/git_diff.rs"]
mod git_diff;
#[path = "default_skills/git_differential.rs"]
mod git_differential;
#[path = "default_skills/git_elsewhere.rs"]
mod git_elsewhere;
#[path = "default_skills/git_guard.rs"]
mod git_guard;
#[path = "default_skills/git_status.rs"]
mod git_status;
#[path = "default_skills/hostile.rs"]
mod hostile;
#[path = "default_skills/http_fetch_text.rs"]
mod http_fetch_text;
#[path = "default_skills/jailed.rs"]
mod jailed;
#[path = "default_skills/json_validate.rs"]
mod json_validate;
#[path = "default_skills/kills.rs"]
mod kills;
#[path = "default_skills/own_files.rs"]
mod own_files;
#[path = "default_skills/patch_differential.rs"]
mod patch_differential;
#[path = "default_skills/search_differential.rs"]
mod search_differential;
#[path = "default_skills/search_ripgrep.rs"]
mod search_ripgrep;
#[path = "default_skills/shared_rules.rs"]
mod shared_rules;
#[path = "default_skills/shell_exec_safe.rs"]
mod shell_exec_safe;
#[path = "default_skills/tree_differential.rs"]
mod tree_differential;
