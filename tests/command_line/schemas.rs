//! The schemas that the program prints, the copies of them that the manual has, and the examples.

use std::fs;

use serde_json::{Value, json};

use crate::{Home, here};

const SCHEMAS: [(&str, &[&str]); 3] = [
    ("policy", &["policy", "schema"]),
    ("config", &["config", "schema"]),
    ("tenants", &["serve", "--tenants-schema"]),
];

#[test]
fn the_schemas_in_the_manual_are_those_that_the_program_prints() {
    for (name, command) in SCHEMAS {
        let printed = Home::new().text(command);
        let file = here(&format!("docs/src/schemas/{name}.json"));
        if std::env::var_os("HYDRANT_WRITE_SCHEMAS").is_some() {
            fs::write(&file, &printed).unwrap();
        }
        let kept = fs::read_to_string(&file).unwrap();
        assert_eq!(
            kept,
            printed,
            "{}: `hydrant {}` prints another one; HYDRANT_WRITE_SCHEMAS=1 writes it",
            file.display(),
            command.join(" ")
        );
    }
}

#[test]
fn the_examples_of_configurations_and_tenants_are_valid_by_the_skill_json_validate() {
    let home = Home::new();
    for (file, name) in [
        ("examples/serve/hydrant.toml", "config"),
        ("deploy/kubernetes/hydrant.toml", "config"),
        ("examples/serve/tenants.toml", "tenants"),
        ("deploy/kubernetes/tenants.toml", "tenants"),
    ] {
        let text = fs::read_to_string(here(file)).unwrap();
        let named = text
            .lines()
            .next()
            .unwrap()
            .strip_prefix("#:schema ")
            .unwrap();
        let schema = here(file).with_file_name(named).canonicalize().unwrap();
        assert_eq!(
            schema,
            here(&format!("docs/src/schemas/{name}.json"))
                .canonicalize()
                .unwrap()
        );
        let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
        let document: Value = toml::from_str(&text).unwrap();
        assert_eq!(errors(&home, &document, &schema), json!([]), "{file}");

        // What the file must not say is found.
        let mut wrong = document;
        wrong["unheard_of"] = json!(1);
        assert_ne!(errors(&home, &wrong, &schema), json!([]), "{file}");
    }
}

fn errors(home: &Home, document: &Value, schema: &Value) -> Value {
    let request = json!({"json": document.to_string(), "schema": schema});
    home_file(home, &request);
    let answer = home.text(&["run", "json.validate", "@request.json"]);
    serde_json::from_str::<Value>(&answer).unwrap()["errors"].take()
}

fn home_file(home: &Home, request: &Value) {
    fs::write(home.path().join("request.json"), request.to_string()).unwrap();
}

/// The names of a configuration are taken by the program as the schema has them: a table of each key, one at a time.
#[test]
fn each_key_of_the_schema_of_the_configuration_is_known_to_the_program() {
    let home = Home::new();
    let schema: Value = serde_json::from_str(&home.text(&["config", "schema"])).unwrap();
    let mut count = 0;
    for table in ["govern", "serve"] {
        for key in schema["properties"][table]["properties"]
            .as_object()
            .unwrap()
            .keys()
        {
            // A value that no key takes: it is refused for its type, a key that is not known for its name.
            let file = home.path().join("hydrant.toml");
            fs::write(&file, format!("[{table}]\n{key} = [[1]]\n")).unwrap();
            let output = home.command(&["approvals", "list"]).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(
                !output.status.success() && said.contains("line 2"),
                "{key}: {said}"
            );
            assert!(!said.contains("unknown field"), "{key}: {said}");
            count += 1;
        }
    }
    assert!(count >= 28, "{count}");
}
