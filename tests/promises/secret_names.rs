//! A name of a secret is a secret everywhere in its skill.

use serde_json::Value;

use crate::service::Service;

fn names(found: impl IntoIterator<Item = Value>) -> Vec<String> {
    let names = found
        .into_iter()
        .map(|name| name.as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn a_variable_of_a_credential_is_no_input_elsewhere() {
    let service = Service::new();
    let loaded = service.load(
        "## First\n\n```bash\ncurl URL/first -H \"X-Trace: $TOK\"\n```\n\n\
         ## Second\n\n```bash\ncurl URL/second -H \"Authorization: Bearer $TOK\"\n```\n",
    );
    let shown = service.json(&["skill", "show", "bank"]);
    for capability in shown["capabilities"].as_array().unwrap() {
        let manifest = &capability["manifest"];
        let secrets = names(manifest["requires-secret"].as_array().unwrap().clone());
        assert_eq!(secrets, ["TOK"], "{capability}");
        let inputs = manifest["input-schema"]["properties"].as_object().unwrap();
        assert!(inputs.is_empty(), "{capability}");
        let sends = capability["sends"].to_string();
        assert!(
            sends.contains("{secret TOK}") && !sends.contains("{input"),
            "{sends}"
        );
    }
    let noticed = loaded["diagnostics"].to_string();
    assert!(noticed.contains("secret-name"), "{noticed}");
}
