//! The JSON payload of RFC 0020 §5.2: compact, members in the order of the RFC.

use kit::{SkillError, front_matter};
use serde::Serialize;

use crate::{
    hydration::{Failure, Hydration},
    request::Request,
    skill::Skill,
    tool::Tool,
};

#[derive(Serialize)]
struct Payload<'a> {
    content: &'a str,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<&'a str>,
    dependencies: Dependencies<'a>,
    /// Of a depth over 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<&'a [Vec<String>]>,
}

#[derive(Default, Serialize)]
struct Dependencies<'a> {
    skills: &'a [Skill],
    tools: &'a [Tool],
}

/// Writes the payload of a hydration, or of a resource that cannot be had or parsed.
pub(crate) fn write(
    answer: &Result<Hydration, Failure>,
    request: &Request,
) -> Result<Vec<u8>, SkillError> {
    let payload = match answer {
        Ok(hydration) => {
            let text = &hydration.text;
            let content = front_matter::split(text).content;
            Payload {
                content: text.get(content..).unwrap_or_default(),
                metadata: Metadata {
                    uri: hydration.uri.as_str(),
                    checksum: hydration.checksum.as_deref(),
                    dependencies: Dependencies {
                        skills: &hydration.skills,
                        tools: &hydration.tools,
                    },
                    cycles: hydration.cycles.as_deref(),
                },
            }
        }
        Err(failure) => Payload {
            content: &failure.content,
            metadata: Metadata {
                uri: failure.code.as_str(),
                checksum: failure.checksum.as_deref(),
                dependencies: Dependencies::default(),
                cycles: (request.depth > 1).then_some(&[]),
            },
        },
    };
    serde_json::to_vec(&payload).map_err(|error| SkillError::new("internal", &error.to_string()))
}
