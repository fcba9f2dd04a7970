//! Values of a caller and secrets are encoded for the place where they stand, whatever an answer says: otherwise one could end
//! its place and begin another that the approver does not see.

use crate::{Body, Code, Encoding, Failure, HttpStage, JsonNode, Pair, Segment, Segments};

/// Refuses a request in whose URL, query, form or JSON a value is encoded for another place.
///
/// # Errors
///
/// `invalid-plan`
pub(super) fn check(stage: &HttpStage) -> Result<(), Failure> {
    let is_right = is_for(&stage.url, Encoding::Path)
        && are_for(&stage.query, Encoding::Query)
        && match &stage.body {
            Some(Body::Json(node)) => is_json(node),
            Some(Body::Form(pairs)) => are_for(pairs, Encoding::Form),
            _ => true,
        };
    if is_right {
        return Ok(());
    }
    Err(Failure::new(
        Code::InvalidPlan,
        "a value is not encoded for the place where it stands",
    ))
}

fn is_for(text: &Segments, place: Encoding) -> bool {
    text.0.iter().all(|segment| match segment {
        Segment::Input { enc, .. } | Segment::Secret { enc, .. } => *enc == place,
        Segment::Literal { .. } => true,
    })
}

fn are_for(pairs: &[Pair], place: Encoding) -> bool {
    pairs.iter().all(|pair| {
        is_for(&pair.name, place) && pair.value.iter().all(|value| is_for(value, place))
    })
}

fn is_json(node: &JsonNode) -> bool {
    match node {
        JsonNode::Text(text) => is_for(text, Encoding::JsonString),
        JsonNode::Object(members) => members.iter().all(|member| is_json(&member.value)),
        JsonNode::Array(items) => items.iter().all(is_json),
        _ => true,
    }
}
