//! Messages as they come: bytes that are read as one, or the answer to what is none (JSON-RPC 2.0, section 5.1).

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use serde_json::Value;

/// The byte order mark that some programs begin their output with (RFC 8259, section 8.1).
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The message.
///
/// # Errors
///
/// What is answered to bytes that are no message; nothing where a notification is not understood.
pub(super) fn read(
    bytes: &[u8],
) -> Result<ClientJsonRpcMessage, Option<Box<ServerJsonRpcMessage>>> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|_| refusal(bytes).map(Box::new))
}

fn refusal(bytes: &[u8]) -> Option<ServerJsonRpcMessage> {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Some(unreadable(&format!("the message is not JSON: {error}"))),
    };
    let id = value.get("id").cloned();
    if id.is_none() && value.get("method").is_some_and(Value::is_string) {
        return None;
    }
    let id: Option<RequestId> = id.and_then(|id| serde_json::from_value(id).ok());
    let is_request = id.is_some() && value.get("method").is_some_and(Value::is_string);
    let error = if is_request && value.get("jsonrpc").is_some_and(|version| version == "2.0") {
        ErrorData::invalid_params("the params are not those of the method", None)
    } else {
        ErrorData::invalid_request("it is no message of JSON-RPC 2.0", None)
    };
    Some(ServerJsonRpcMessage::error(error, id))
}

/// The answer to what cannot be read, whose id nobody knows.
pub(super) fn unreadable(why: &str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::parse_error(why.to_owned(), None), None)
}
