//! `hydrant world`: which contract this program has with its guests.

use super::output::{Exit, print_line};

pub(super) fn run() -> anyhow::Result<Exit> {
    print_line(&format!(
        "world=hydrant:host/skill id={}",
        hydrant::host_world_id()
    ))?;
    Ok(Exit::Done)
}
