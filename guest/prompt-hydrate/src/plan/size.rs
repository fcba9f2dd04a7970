//! Not more items than a plan may have.

use super::items::{Item, Maker, Stage, tell_apart};
use super::text::{MAX_TEXT, length, line, uncapitalised};
use crate::catalogue::StepKind;

/// Items of any plan.
pub(super) const MAX_ITEMS: usize = 12;

/// The items of the first stage that has at most `wanted` of them; failing that, neighbouring steps are joined.
pub(super) fn fitting(maker: &Maker<'_>, wanted: usize) -> Vec<Item> {
    let wanted = wanted.clamp(1, MAX_ITEMS);
    let mut items = Vec::new();
    for stage in [
        Stage::Full,
        Stage::OneSecond,
        Stage::OneRequirement,
        Stage::Collapsed,
    ] {
        items = maker.items(stage);
        if items.len() <= wanted {
            return items;
        }
    }
    while items.len() > wanted && join_steps(&mut items) {}
    // CHECKPOINTs, task and commit items stay whatever was wanted. A file of a dozen CHECKPOINTs has them joined.
    while items.len() > MAX_ITEMS && join_across(&mut items) {}
    // Long texts may have lost what told them apart.
    tell_apart(&mut items);
    items
}

/// Joins the two neighbouring steps that are shortest together.
fn join_steps(items: &mut Vec<Item>) -> bool {
    let together = |pair: &[Item]| match pair {
        [a, b] if a.kind == StepKind::Step && b.kind == StepKind::Step => {
            Some(length(&a.text).saturating_add(length(&b.text)))
        }
        _ => None,
    };
    let shortest = items
        .windows(2)
        .enumerate()
        .filter_map(|(position, pair)| Some((together(pair)?, position)))
        .min();
    let Some((_, position)) = shortest else {
        return false;
    };
    join(items, position, position.saturating_add(1));
    true
}

/// Joins the last two items of one kind, CHECKPOINTs first: their steps become neighbours by that. Never over the
/// commit, whose CHECKPOINT stands before it.
fn join_across(items: &mut Vec<Item>) -> bool {
    for kind in [StepKind::Checkpoint, StepKind::Step] {
        let places: Vec<usize> = items
            .iter()
            .enumerate()
            .filter(|(_, item)| matches!(item.kind, StepKind::Commit) || item.kind == kind)
            .map(|(position, _)| position)
            .collect();
        let is_kind = |place: usize| items.get(place).is_some_and(|item| item.kind == kind);
        let pair = places.windows(2).rev().find_map(|pair| match pair {
            [first, second] if is_kind(*first) && is_kind(*second) => Some((*first, *second)),
            _ => None,
        });
        let Some((first, second)) = pair else {
            continue;
        };
        // The earlier CHECKPOINT goes into the later one, a later step into the earlier one.
        if kind == StepKind::Checkpoint {
            join(items, second, first);
            join_neighbours(items);
        } else {
            join(items, first, second);
        }
        return true;
    }
    false
}

/// Joins steps that became neighbours while there are too many items.
fn join_neighbours(items: &mut Vec<Item>) {
    while items.len() > MAX_ITEMS && join_steps(items) {}
}

/// Writes the item at `from` into the one at `into` and takes it away; the earlier text comes first.
fn join(items: &mut Vec<Item>, into: usize, from: usize) {
    if from >= items.len() {
        return;
    }
    let gone = items.remove(from);
    let into = if from < into {
        into.saturating_sub(1)
    } else {
        into
    };
    let Some(kept) = items.get_mut(into) else {
        return;
    };
    let (first, second) = if from <= into {
        (&gone.text, &kept.text)
    } else {
        (&kept.text, &gone.text)
    };
    kept.harmless &= gone.harmless;
    // Something of both stays, however long the first is.
    let half = MAX_TEXT / 2;
    let room = MAX_TEXT.saturating_sub(2);
    let second = line(second, room.saturating_sub(length(first).min(half)));
    let first = line(first, room.saturating_sub(length(&second)));
    kept.text = format!("{first}; {}", uncapitalised(&second));
}
