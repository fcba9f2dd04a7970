//! What layers come to: limits, switches and the hash.

use super::*;

/// What a layer omits restricts nothing.
#[test]
fn the_least_limit_of_the_layers_holds() {
    let scratch = Scratch::new();
    let limits = |tenant: &str, run: &str| {
        let text = |limits: &str| match limits {
            "" => String::new(),
            limits => layer("  {}", &format!("  limits: {{{limits}}}\n")),
        };
        let layers = scratch.layers(POLICY, &text(tenant), &text(run)).unwrap();
        let (limits, bounds) = (layers.limits(), layers.limits_at_most());
        assert_eq!(bounds.fuel, 200_000_000_000, "nobody states it");
        (limits.wall_ms, limits.hostcalls, limits.fuel)
    };
    let fuel = 20_000_000_000;
    assert_eq!(limits("", ""), (200_000, 10, fuel));
    // The default of a limit that the tenant omits, 130000, does not narrow the 200000 of the policy.
    assert_eq!(limits("http_ms: 1", ""), (200_000, 10, fuel));
    assert_eq!(limits("wall_ms: 1000", ""), (1000, 10, fuel));
    assert_eq!(limits("", "wall_ms: 1000"), (1000, 10, fuel));
    assert_eq!(limits("wall_ms: 1000", "wall_ms: 500"), (500, 10, fuel));
    assert_eq!(limits("wall_ms: 500", "wall_ms: 1000"), (500, 10, fuel));
    // Stated above the policy's: no effect.
    assert_eq!(
        limits("hostcalls: 11", "wall_ms: 600000"),
        (200_000, 10, fuel)
    );
}

#[test]
fn a_core_module_gets_the_limits_that_are_stated_and_no_defaults_of_components() {
    let scratch = Scratch::new();
    let tenant = layer("  {}", "  limits: {wall_ms: 1000, fuel: 7}\n");
    let bounds = scratch
        .layers(POLICY, &tenant, "")
        .unwrap()
        .limits_at_most();
    assert_eq!(
        (bounds.wall_ms, bounds.fuel, bounds.hostcalls),
        (1000, 7, 10)
    );
    assert_eq!(bounds.memory_bytes, 1_073_741_824);
}

#[test]
fn tools_are_described_unless_a_layer_forbids_it() {
    let scratch = Scratch::new();
    let tools = |policy: &str, tenant: &str, run: &str| {
        scratch.layers(policy, tenant, run).unwrap().tools()
    };
    let describe = layer("  {}", "");
    let silent = "version: 1\ntrusted_signers: [a]\ncapability_ceiling: {}\n";
    let skip = layer("  {}", "").replace("describe", "skip");
    assert_eq!(tools(POLICY, &describe, &describe), Tools::Describe);
    assert_eq!(tools(POLICY, silent, silent), Tools::Describe);
    assert_eq!(tools(POLICY, &skip, &describe), Tools::Skip);
    assert_eq!(tools(POLICY, &describe, &skip), Tools::Skip);
    assert_eq!(tools(&skip, &describe, &describe), Tools::Skip);
}

#[test]
fn the_hash_of_layers_names_each_of_them() {
    const EXAMPLE: &str = "version: 1\ntrusted_signers: [example.a]\ncapability_ceiling: {fs: {read: [/workspace]}, exec: true}\n";
    const H1: &str = "sha256:bbb19d00b13e9b607ac57f41c7a62ca0958c10de0820c0ab5db856edb6ca3066";
    let scratch = Scratch::new();
    let hash = |tenant: &str, run: &str| scratch.layers(EXAMPLE, tenant, run).unwrap().hash();
    assert_eq!(hash("", "").as_str(), H1);
    let narrow = "version: 1\ntrusted_signers: [example.a]\ncapability_ceiling: {}\n";
    let h2 = scratch.policy(narrow).unwrap().hash().to_string();
    for (tenant, run, preimage) in [
        (
            narrow,
            "",
            format!("{{\"policy\":\"{H1}\",\"run\":null,\"tenant\":\"{h2}\"}}"),
        ),
        (
            "",
            narrow,
            format!("{{\"policy\":\"{H1}\",\"run\":\"{h2}\",\"tenant\":null}}"),
        ),
        (
            EXAMPLE,
            narrow,
            format!("{{\"policy\":\"{H1}\",\"run\":\"{h2}\",\"tenant\":\"{H1}\"}}"),
        ),
    ] {
        assert_eq!(hash(tenant, run), Digest::of(preimage.as_bytes()));
    }
    // The same, frozen.
    assert_eq!(
        h2,
        "sha256:cb25a8ff5a723a9f7d4448983f95ad20e439e25a1b62b71d1442f7cc2a84f56b"
    );
    assert_eq!(
        hash(narrow, "").as_str(),
        "sha256:b2eb3074db641de6df9d368efab3f0da927719944049131fb9b8a8183fecba03"
    );
    assert_eq!(
        hash("", narrow).as_str(),
        "sha256:98660a760a96ae9aad3b94ac34408d979795b32fc01ced01ce1669b4c14e02f9"
    );
}
