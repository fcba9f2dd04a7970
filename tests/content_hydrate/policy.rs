//! The policies under which the tests run where the default one is too narrow.

use serde_json::{Value, json};

/// Reads `/os` = `./os` and starts any tool below it, without the jail.
pub(crate) fn tools_run() -> Value {
    json!({
        "version": 1,
        "trusted_signers": ["hydrant.build"],
        "capability_ceiling": {"fs": {"read": ["/workspace", "/os"]}, "exec": true},
        "host": {
            "mounts": [{"at": "/os", "dir": "./os", "mode": "ro"}],
            "discovery": {"run": ["/os"]},
            "jail": {"process": "unjailed"},
            "tools": "describe",
        },
    })
}

/// Reads `/os` = `./os` and fetches below these prefixes.
pub(crate) fn fetches(prefixes: &[&str]) -> Value {
    let rules: Vec<Value> = prefixes
        .iter()
        .map(|url| json!({"url": url, "methods": ["GET"]}))
        .collect();
    json!({
        "version": 1,
        "trusted_signers": ["hydrant.build"],
        "capability_ceiling": {"fs": {"read": ["/workspace", "/os"]}, "net": prefixes},
        "host": {
            "mounts": [{"at": "/os", "dir": "./os", "mode": "ro"}],
            "net": rules,
            "tools": "describe",
        },
    })
}

/// Fetches below these prefixes, and starts local and remote tools with these runners.
pub(crate) fn remote_tools(prefixes: &[&str], runners: Value) -> Value {
    let mut policy = tools_run();
    let net = fetches(prefixes);
    policy["capability_ceiling"]["net"] = net["capability_ceiling"]["net"].clone();
    policy["host"]["net"] = net["host"]["net"].clone();
    policy["host"]["discovery"] = json!({"run": ["/os"], "remote": true, "runners": runners});
    policy
}

/// `policy` with these limits.
pub(crate) fn limited(mut policy: Value, limits: Value) -> Value {
    policy["host"]["limits"] = limits;
    policy
}
