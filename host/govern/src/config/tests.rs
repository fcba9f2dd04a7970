use super::*;
use crate::client::{Client, Frontend};

fn config(text: &str) -> Config {
    Config::from_toml(text).unwrap()
}

fn error(text: &str) -> String {
    Config::from_toml(text).unwrap_err().to_string()
}

#[test]
fn a_file_without_the_table_gives_the_narrow_defaults() {
    let config = config("[other]\nx = 1\n");
    assert_eq!(config, Config::default());
    assert!(!config.is_safe("api.example.org:443"));
    assert!(!config.is_source("api.example.org:443"));
    assert!(!config.may_be_private("127.0.0.1:80"));
    assert_eq!(config.pending_ttl, Duration::from_secs(86_400));
}

#[test]
fn the_three_forms_of_a_host() {
    let config = config(
        "[govern]\nsafe_hosts = ['Bücher.example', 'a.example.org:8443', '*.example.net', '[2001:DB8::1]:443']\n",
    );
    for safe in [
        "xn--bcher-kva.example:443",
        "xn--bcher-kva.example.:80",
        "a.example.org:8443",
        "x.example.net:1",
        "y.x.example.net:443",
        "[2001:db8::1]:443",
    ] {
        assert!(config.is_safe(safe), "{safe}");
    }
    for other in [
        "a.example.org:443",
        "b.a.example.org:8443",
        "example.net:443",
        "notexample.net:443",
        "[2001:db8::1]:80",
        "a.example.org",
        "",
    ] {
        assert!(!config.is_safe(other), "{other}");
    }
}

#[test]
fn what_is_no_host_is_an_error() {
    for entry in [
        "*",
        "*.",
        "*.a.org:443",
        "a.*.org",
        "https://a.org",
        "a.org/",
        "a.org:0",
        "a.org:99999",
        "u@a.org",
        "a.org:",
        "::1",
        "",
        " ",
        "*.10.0.0.1",
    ] {
        let text = format!("[govern]\ndeny_hosts = ['{entry}']\n");
        assert!(Config::from_toml(&text).is_err(), "{entry}");
    }
}

#[test]
fn private_pairs_are_exact_and_exempt_from_the_plain_rule() {
    let config = config(
        "[govern]\nallow_private = ['127.0.0.1:8080']\nplain_http_hosts = ['old.example.org']\n",
    );
    assert!(config.may_be_private("127.0.0.1:8080") && config.may_be_plain("127.0.0.1:8080"));
    assert!(!config.may_be_private("127.0.0.1:8081") && !config.may_be_plain("127.0.0.1:8081"));
    assert!(
        config.may_be_plain("old.example.org:80") && !config.may_be_private("old.example.org:80")
    );
    assert!(error("[govern]\nallow_private = ['127.0.0.1']\n").contains("host:port"));
}

#[test]
fn modes_by_frontend() {
    let unjailed = |frontend| Client {
        frontend,
        jailed: false,
    };
    let default = Config::default().jailed_clients;
    for frontend in [Frontend::Cli, Frontend::Http] {
        assert!(default.permits(unjailed(frontend), true));
    }
    for frontend in [Frontend::Syscall, Frontend::Mcp] {
        assert!(!default.permits(unjailed(frontend), true));
        assert!(default.permits(unjailed(frontend), false));
        assert!(default.permits(
            Client {
                frontend,
                jailed: true
            },
            true
        ));
    }
    let all = config("[govern]\njailed_clients = 'all'\n").jailed_clients;
    assert!(!all.permits(unjailed(Frontend::Cli), false));
    let one = config("[govern.jailed_clients]\nmcp = 'warn'\n").jailed_clients;
    assert!(one.permits(unjailed(Frontend::Mcp), true));
    assert!(!one.permits(unjailed(Frontend::Syscall), true));
    assert!(Config::from_toml("[govern]\njailed_clients = 'none'\n").is_err());
    assert!(Config::from_toml("[govern.jailed_clients]\nconsole = 'warn'\n").is_err());
}

#[test]
fn limits_and_budgets() {
    let config = config(
        "[govern]\npending_ttl = '90m'\nlandlock_min_abi = 4\n[govern.limits]\nmemory_mb = 1024\n\
         [govern.budgets]\nsteps = 0\nnetwork-bytes = 'unlimited'\ncpu_ms = {limit = 5, policy = 'soft-warn'}\n",
    );
    assert_eq!(config.pending_ttl, Duration::from_secs(5_400));
    assert_eq!(config.landlock_min_abi, 4);
    assert_eq!(config.limits.of("memory-mb"), Some(1024));
    assert_eq!(config.limits.of("pids"), Some(64));
    assert_eq!(config.budgets.steps.unwrap().limit, Some(Limit::AtMost(0)));
    assert_eq!(
        config.budgets.network_bytes.unwrap().limit,
        Some(Limit::Unlimited)
    );
    assert_eq!(
        config.budgets.cpu_ms.unwrap().policy,
        BudgetPolicy::SoftWarn
    );
}

#[test]
fn a_typing_error_is_never_a_default() {
    for text in [
        "deny_host = []",
        "deny_hosts = 'a.org'",
        "pending_ttl = '0s'",
        "pending_ttl = 'soon'",
        "landlock_min_abi = 0",
        "agent_core = ['ccos.io.println']",
        "known_tools = ['']",
        "limits = {memory = 5}",
        "limits = {memory_mb = -5}",
        "budgets = {steps = -1}",
        "budgets = {steps = 'many'}",
        "budgets = {step = 5}",
        "budgets = {steps = {limit = 5, policy = 'none'}}",
    ] {
        let message = error(&format!("[govern]\n{text}\n"));
        assert!(message.starts_with("[govern]: "), "{text}: {message}");
    }
}

#[test]
fn a_pattern_covers_what_matches_no_more_than_it() {
    let pattern = |text| HostPattern::parse(text).unwrap();
    for (wide, narrow, covers) in [
        ("a.example.org", "a.example.org", true),
        ("a.example.org", "a.example.org:8443", true),
        ("a.example.org:8443", "a.example.org:8443", true),
        ("a.example.org:8443", "a.example.org", false),
        ("a.example.org", "*.a.example.org", false),
        ("*.example.org", "a.example.org:8443", true),
        ("*.example.org", "*.example.org", true),
        ("*.example.org", "*.a.example.org", true),
        ("*.a.example.org", "*.example.org", false),
        ("*.example.org", "example.org", false),
        ("*.example.org", "anexample.org", false),
    ] {
        assert_eq!(
            pattern(wide).covers(&pattern(narrow)),
            covers,
            "{wide} {narrow}"
        );
    }
}
