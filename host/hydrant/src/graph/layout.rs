//! Where nodes stand: a column for each distance, ordered in it so that few edges cross.
//!
//! An edge leads at most one column to the right, as a node's distance is the shortest way to it; so no edge that leads
//! right passes another node.

use super::{Graph, label};

/// Width of a node.
pub(super) const WIDTH: u32 = 320;
/// Between two columns.
const GAP: u32 = 110;
/// Between two nodes of a column.
const SPACE: u32 = 14;
/// Around the picture.
const MARGIN: u32 = 24;
/// Above the first node, for the headline.
const HEADLINE: u32 = 34;
/// Height of a line of text.
pub(super) const LINE: u32 = 16;
/// Above and below the text of a node.
pub(super) const PADDING: u32 = 8;
/// Times the order is improved.
const SWEEPS: usize = 4;

/// A node's rectangle, in pixels from the top left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) height: u32,
}

impl Place {
    pub(super) fn middle(&self) -> u32 {
        self.top + self.height / 2
    }
}

pub(super) struct Layout {
    /// For each node, by its index.
    pub(super) places: Vec<Place>,
    pub(super) width: u32,
    pub(super) height: u32,
}

pub(super) fn of(graph: &Graph) -> Layout {
    let mut places: Vec<Place> = graph.nodes.iter().map(sized).collect();
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let distance = usize::from(node.distance);
        if columns.len() <= distance {
            columns.resize(distance + 1, Vec::new());
        }
        if let Some(column) = columns.get_mut(distance) {
            column.push(index);
        }
    }
    for column in &columns {
        stack(column, &mut places);
    }
    let neighbours = neighbours(graph);
    for _ in 0..SWEEPS {
        for column in &mut columns {
            // By the mean middle of its neighbours; of those alike the order stays.
            column.sort_by_cached_key(|node| mean(*node, &neighbours, &places));
            stack(column, &mut places);
        }
    }
    let bottom = |column: &Vec<usize>, places: &[Place]| {
        let last = column.last().and_then(|last| places.get(*last));
        last.map_or(0, |place| place.top + place.height)
    };
    let height = columns
        .iter()
        .map(|column| bottom(column, &places))
        .max()
        .unwrap_or(0);
    for column in &columns {
        let shift = (height - bottom(column, &places)) / 2;
        for node in column {
            if let Some(place) = places.get_mut(*node) {
                place.top += shift;
            }
        }
    }
    let mut left = MARGIN;
    for column in &columns {
        for node in column {
            if let Some(place) = places.get_mut(*node) {
                place.left = left;
            }
        }
        left += WIDTH + GAP;
    }
    Layout {
        places,
        // An edge back leaves on the right of the last column, so there the gap stays.
        width: left,
        height: height + MARGIN,
    }
}

fn sized(node: &super::Node) -> Place {
    let lines = u32::try_from(label::lines(node).len()).unwrap_or(u32::MAX);
    Place {
        height: lines.saturating_mul(LINE).saturating_add(2 * PADDING),
        ..Place::default()
    }
}

/// Puts a column's nodes one below the other.
fn stack(column: &[usize], places: &mut [Place]) {
    let mut top = MARGIN + HEADLINE;
    for node in column {
        if let Some(place) = places.get_mut(*node) {
            place.top = top;
            top += place.height + SPACE;
        }
    }
}

fn neighbours(graph: &Graph) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        let (from, to) = (edge.from.index(), edge.to.index());
        for (one, other) in [(from, to), (to, from)] {
            if let Some(of) = neighbours.get_mut(one) {
                of.push(other);
            }
        }
    }
    neighbours
}

fn mean(node: usize, neighbours: &[Vec<usize>], places: &[Place]) -> u64 {
    let of = neighbours.get(node).map_or(&[][..], Vec::as_slice);
    let middles = of
        .iter()
        .filter_map(|other| places.get(*other))
        .map(Place::middle);
    let (count, sum) = middles.fold((0, 0), |(count, sum), middle| {
        (count + 1, sum + u64::from(middle))
    });
    sum.checked_div(count).unwrap_or_else(|| {
        let own = places.get(node);
        own.map_or(0, |place| u64::from(place.middle()))
    })
}
