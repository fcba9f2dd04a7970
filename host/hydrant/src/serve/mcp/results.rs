//! Answers and problems of the service, as the protocol has them.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, JsonObject, MetaObject};
use serde_json::Value;

use crate::serve::service::{Answer, Problem};

/// Receipt of a call, in `_meta`.
const RECEIPT: &str = "hydrant/receipt";

/// Members of a problem that its text says, or that say nothing more than its code.
const TOLD: [&str; 5] = ["type", "title", "status", "detail", "code"];

/// What a tool answers: its JSON as text, and as it is where it is an object. A problem is a tool error, so that the model
/// reads what is wrong.
pub(super) fn of_tool(result: Result<Answer, Problem>) -> CallToolResult {
    let answer = match result {
        Ok(answer) => answer,
        Err(problem) => return of_problem(&problem),
    };
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let structured = is_json(answer.content_type)
        .then(|| serde_json::from_slice::<Value>(&answer.body).ok())
        .flatten();
    let mut result = match structured {
        // A document, which JSON has in quotation marks.
        Some(Value::String(document)) => {
            CallToolResult::success(vec![ContentBlock::text(document)])
        }
        structured => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = structured.filter(Value::is_object);
            result
        }
    };
    if let Some(receipt) = answer.receipt {
        let receipt = (RECEIPT.to_owned(), Value::from(receipt.to_string()));
        result.meta = Some(MetaObject(JsonObject::from_iter([receipt])));
    }
    result
}

/// All of a problem as text: `code: detail`, and a line of JSON where it has more members. It has no structured part, because
/// that would have to fit the schema of what the tool answers, and there are clients that then show another error.
fn of_problem(problem: &Problem) -> CallToolResult {
    let mut text = problem.to_string();
    let mut members = problem.to_json();
    if let Value::Object(members) = &mut members {
        members.retain(|name, _| !TOLD.contains(&name.as_str()));
        if !members.is_empty() {
            text = format!("{text}\n{}", Value::Object(std::mem::take(members)));
        }
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// A problem of what is no tool: an error of the protocol, with the problem as its data.
pub(super) fn of_request(problem: &Problem) -> ErrorData {
    let code = match problem.status {
        404 => ErrorCode::RESOURCE_NOT_FOUND,
        400..=499 => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, problem.to_string(), Some(problem.to_json()))
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim() == "application/json"
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;

    fn answer(body: &'static str, content_type: &'static str) -> Answer {
        Answer {
            body: Bytes::from_static(body.as_bytes()),
            content_type,
            receipt: None,
        }
    }

    #[test]
    fn an_object_is_text_and_structure() {
        let result = of_tool(Ok(answer(r#"{"a":1}"#, "application/json")));
        assert_eq!(result.is_error, Some(false));
        assert_eq!(result.structured_content.unwrap()["a"], 1);
        assert_eq!(result.content[0].as_text().unwrap().text, r#"{"a":1}"#);
    }

    #[test]
    fn a_document_is_text_alone() {
        for (body, content_type) in [("\"a\\nb\"", "application/json"), ("a\nb", "text/markdown")] {
            let result = of_tool(Ok(answer(body, content_type)));
            assert_eq!(result.content[0].as_text().unwrap().text, "a\nb");
            assert_eq!(result.structured_content, None);
        }
    }

    #[test]
    fn a_problem_is_a_tool_error_whose_text_says_all() {
        let result = of_tool(Err(Problem::overloaded(Duration::from_secs(3))));
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content, None);
        let text = &result.content[0].as_text().unwrap().text;
        let (first, members) = text.split_once('\n').unwrap();
        assert!(first.starts_with("overloaded: "), "{text}");
        assert_eq!(members, r#"{"retry_after":3}"#);
    }
}
