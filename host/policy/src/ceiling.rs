//! Which declared capabilities a ceiling allows, before anything runs.

use super::document::{Ceiling, Directory, Listed, Name, is_environment_name};
use super::form::matches_declared;
use super::{Policy, VirtualPath};
use hydrant_trust::{Capability, WasmForm};

impl Policy {
    /// The declared capabilities that the ceiling denies, in the order of the manifest.
    pub fn denied_by_ceiling(
        &self,
        capabilities: &[Capability],
        form: WasmForm,
    ) -> Vec<Capability> {
        capabilities
            .iter()
            .filter(|capability| !self.ceiling_allows(capability, form))
            .cloned()
            .collect()
    }

    pub(super) fn ceiling_allows(&self, capability: &Capability, form: WasmForm) -> bool {
        self.document.ceiling.allows(capability, form)
    }
}

impl Ceiling {
    fn allows(&self, capability: &Capability, form: WasmForm) -> bool {
        let value = capability.value.as_str();
        match capability.kind.as_str() {
            "fs.read" => holds(&self.fs.read, value),
            "fs.write" => holds(&self.fs.write, value),
            // To a component `*` is whatever the policy allows; to a core module it would be the whole network.
            "net.http" if value == "*" => form == WasmForm::Component && !self.net.value.is_empty(),
            "net.http" => {
                let mut prefixes = self.net.value.iter();
                prefixes.any(|prefix| matches_declared(&prefix.value, value))
            }
            "env" => is_environment_name(value) && self.env.iter().any(|name| name.0 == value),
            "exec" => value == "true" && self.exec.value,
            "exec.safe" => !value.is_empty() && self.exec.value,
            "time.now" => !value.is_empty() && self.time,
            "random.bytes" => !value.is_empty() && self.random,
            "kv.read" => names(&self.kv.read, value),
            "kv.write" => names(&self.kv.write, value),
            "queue.publish" => names(&self.queue.publish, value),
            "queue.consume" => names(&self.queue.consume, value),
            _ => false,
        }
    }
}

/// Whether the list has the name, or `*`.
fn names(list: &[Name], value: &str) -> bool {
    let mut names = list.iter();
    !value.is_empty() && names.any(|Name(name)| name == "*" || name == value)
}

/// Whether the list has the directory, or one above it.
fn holds(list: &Listed<Directory>, value: &str) -> bool {
    VirtualPath::normalise(value).is_ok_and(|path| list.over(&path).is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::tests::Scratch;

    const WIDE: &str = r#"version: 1
trusted_signers: [a]
capability_ceiling:
  fs: {read: [/tmp, /srv//x/, /bad/../etc], write: [/tmp/out]}
  net: ["https://docs.example/a", "http://127.0.0.1:8000/"]
  kv: {read: ["*"], write: [key]}
  queue: {publish: [topic], consume: []}
  env: [HOME]
  exec: true
  time: true
  random: true
"#;

    fn policy(text: &str) -> Policy {
        Scratch::new().policy(text).unwrap()
    }

    fn allows(policy: &Policy, capability: &str, form: WasmForm) -> bool {
        let (kind, value) = capability.split_once(':').unwrap();
        let capability = Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        };
        policy.denied_by_ceiling(&[capability], form).is_empty()
    }

    #[test]
    fn what_a_ceiling_allows() {
        let policy = policy(WIDE);
        for allowed in [
            "fs.read:/tmp",
            "fs.read:/tmp/a",
            "fs.read://tmp//a/",
            "fs.read:/srv/x/y",
            "fs.write:/tmp/out",
            "net.http:https://docs.example/a",
            "net.http:https://docs.example:443/a/b?q=%41",
            "net.http:http://127.0.0.1:8000/x",
            "env:HOME",
            "exec:true",
            "exec.safe:*",
            "exec.safe:git",
            "time.now:true",
            "time.now:x",
            "random.bytes:*",
            "kv.read:anything",
            "kv.read:*",
            "kv.write:key",
            "queue.publish:topic",
        ] {
            for form in [WasmForm::Component, WasmForm::CoreModule] {
                assert!(allows(&policy, allowed, form), "{allowed}");
            }
        }
    }

    #[test]
    fn what_a_ceiling_denies() {
        let policy = policy(WIDE);
        for denied in [
            "fs.read:/",
            "fs.read:/tmp2",
            "fs.read:/tmp/../etc",
            "fs.read:/tmp/.",
            "fs.read:tmp",
            "fs.read:",
            "fs.read:/etc",
            "fs.read:/bad",
            "fs.write:/tmp",
            "fs.write:/tmp/out2",
            "net.http:",
            "net.http:docs.example/a",
            "net.http:https://docs.example/",
            "net.http:https://docs.example/ab",
            "net.http:https://docs.example/a/%62",
            "net.http:https://docs.example/a\\b",
            "net.http:https://docs.example/a#f",
            "net.http:http://docs.example/a",
            "net.http:https://me@docs.example/a",
            "env:HOM",
            "env:PATH",
            "env:*",
            "env:",
            "exec:yes",
            "exec:",
            "exec.safe:",
            "time.now:",
            "random.bytes:",
            "kv.read:",
            "kv.write:*",
            "kv.write:key2",
            "queue.publish:*",
            "queue.consume:topic",
            "net:https://docs.example/a",
            "fs:/tmp",
            "time:true",
            "kv:key",
            "FS.READ:/tmp",
            ":",
        ] {
            for form in [WasmForm::Component, WasmForm::CoreModule] {
                assert!(!allows(&policy, denied, form), "{denied}");
            }
        }
    }

    #[test]
    fn the_root_covers_everything() {
        let policy = policy(&WIDE.replace("/srv//x/", "/"));
        assert!(allows(&policy, "fs.read:/", WasmForm::Component));
        assert!(allows(&policy, "fs.read:/etc/x", WasmForm::CoreModule));
        assert!(!allows(&policy, "fs.write:/etc", WasmForm::CoreModule));
    }

    #[test]
    fn a_star_is_for_components_and_takes_some_network() {
        let wide = policy(WIDE);
        assert!(allows(&wide, "net.http:*", WasmForm::Component));
        assert!(!allows(&wide, "net.http:*", WasmForm::CoreModule));
        assert!(!allows(&wide, "net.http:*", WasmForm::Other));
        let none = WIDE.replace(
            "[\"https://docs.example/a\", \"http://127.0.0.1:8000/\"]",
            "[]",
        );
        assert!(!allows(&policy(&none), "net.http:*", WasmForm::Component));
    }

    #[test]
    fn an_empty_ceiling_denies_every_capability_in_manifest_order() {
        let policy = policy("version: 1\ntrusted_signers: [a]\ncapability_ceiling: {}\n");
        let declared: Vec<_> = [
            ("time.now", "true"),
            ("fs.read", "/"),
            ("net.http", "*"),
            ("exec", "true"),
            ("exec.safe", "*"),
            ("env", "HOME"),
            ("kv.read", "*"),
            ("random.bytes", "x"),
        ]
        .map(|(kind, value)| Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        })
        .into();
        assert_eq!(
            policy.denied_by_ceiling(&declared, WasmForm::Component),
            declared
        );
        assert_eq!(policy.denied_by_ceiling(&[], WasmForm::Component), []);
    }

    proptest! {
        /// What is allowed lies segment by segment below an entry.
        #[test]
        fn nothing_outside_an_entry_is_allowed(value in "(/|/tmp|/srv/x|/srv|tmp|/bad|/etc|/\\.\\.|/\\.|/a){1,4}") {
            static POLICY: LazyLock<Policy> = LazyLock::new(|| policy(WIDE));
            let segments: Vec<_> = value.split('/').filter(|segment| !segment.is_empty()).collect();
            let expected = value.starts_with('/')
                && !segments.iter().any(|segment| matches!(*segment, "." | ".."))
                && (segments.first() == Some(&"tmp") || segments.starts_with(&["srv", "x"]));
            prop_assert_eq!(allows(&POLICY, &format!("fs.read:{value}"), WasmForm::CoreModule), expected);
        }
    }
}
