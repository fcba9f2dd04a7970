//! Operations by their names: `hydrant call`.

use bytes::Bytes;
use hydrant_canonical::Json;
use serde::de::Error as _;
use serde_json::{Map, Value, json};

use super::{BodyKind, Call, Input, Operation};

/// The member that stands for the body of an operation whose body is bytes.
const BODY: &str = "request";

/// Returns each operation's name, what it does, its effect, and the schema of its request.
#[must_use]
pub fn listed(operations: &[Operation]) -> Value {
    let one = |operation: &Operation| {
        let mut request = operation.request.clone();
        let members = request.get_mut("properties").and_then(Value::as_object_mut);
        if let Some(members) = members.filter(|_| operation.takes_bytes()) {
            members.insert(BODY.to_owned(), Map::new().into());
        }
        json!({
            "name": operation.declaration.name,
            "description": operation.summary,
            "effect": operation.declaration.effect.as_str(),
            "request": request,
        })
    };
    operations.iter().map(one).collect()
}

/// Returns the operation of this name.
#[must_use]
pub fn find<'t>(operations: &'t [Operation], name: &str) -> Option<&'t Operation> {
    let mut operations = operations.iter();
    operations.find(|operation| operation.declaration.name == name)
}

impl Operation {
    /// Reads a request that is one JSON object; what a client of HTTP sends as the body is its member `request`.
    ///
    /// # Errors
    ///
    /// It is no request of this operation.
    pub fn read_object(&self, mut members: Json) -> serde_json::Result<Call> {
        if !matches!(members, Json::Object(_)) {
            return Err(serde_json::Error::custom("it is no JSON object"));
        }
        let mut body = Bytes::new();
        if let Json::Object(members) = &mut members
            && self.takes_bytes()
            && let Some(at) = members.iter().position(|(name, _)| name == BODY)
        {
            let (_, request) = members.remove(at);
            body = request.to_string().into();
        }
        self.read(Input { members, body })
    }

    fn takes_bytes(&self) -> bool {
        let route = self.declaration.route;
        route.is_some_and(|route| route.body == BodyKind::Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::operations::{table, testing};

    #[test]
    fn an_operation_is_listed_and_called_by_its_declaration() {
        let listed = listed(testing::table());
        assert_eq!(listed[0]["name"], "repeat");
        assert_eq!(listed[0]["description"], "Repeats a word.");
        assert_eq!(listed[0]["effect"], "reads");
        assert_eq!(listed[0]["request"]["required"], json!(["word"]));

        let home = tempfile::tempdir().unwrap();
        let user = testing::user(home.path());
        let repeat = find(testing::table(), "repeat").unwrap();
        let read = |request: Value| repeat.read_object(request.into());
        let call = read(json!({ "word": "a", "times": 2 })).unwrap();
        assert_eq!(&*call.answer(&user).unwrap().body, br#"{"text":"aa"}"#);
        assert!(read(json!({ "word": "a", "often": 2 })).is_err());
        assert!(find(testing::table(), "hydrate").is_none());
    }

    #[test]
    fn a_body_is_the_member_request() {
        let run = find(table(), "run").unwrap();
        assert!(listed(table()).as_array().unwrap().iter().any(|one| {
            one["name"] == "run" && one["request"]["properties"]["request"] == json!({})
        }));
        let request = json!({ "id": "json.validate", "request": { "schema": {} } });
        assert!(run.read_object(request.into()).is_ok());
        assert!(run.read_object(json!({ "request": {} }).into()).is_err());
    }

    #[test]
    fn a_role_that_may_not_ask_and_a_tenant_that_asks_too_often_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let mut user = testing::user(home.path());
        let repeat = find(testing::table(), "repeat").unwrap();
        let code = |user: &crate::serve::service::Identity| {
            let call = repeat.read_object(json!({ "word": "a" }).into()).unwrap();
            call.answer(user).map_err(|problem| problem.code)
        };
        user.role = crate::serve::tenants::Role::Approver;
        assert_eq!(code(&user).unwrap_err(), "operator-only");
        user.role = crate::serve::tenants::Role::Caller;
        let refused = (0..100_000).find_map(|_| code(&user).err());
        assert_eq!(refused.as_deref(), Some("limit"));
    }
}
