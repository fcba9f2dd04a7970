//! The capabilities a component may declare, and which of them cover which.
//!
//! Both questions are about the text of a manifest alone: no policy has a say here.

use url::Url;

use super::mount::is_mount_point;
use super::program::is_name;
use super::url_prefix::{Escapes, UrlPrefix};
use super::{Reach, VirtualPath};
use hydrant_trust::Capability;

/// Why a component may not declare a capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// No interface stands for the kind.
    #[error(
        "a component declares fs.read, fs.write, net.http and exec.safe only, not `{}`", .0.escape_default()
    )]
    Kind(String),
    /// Not a virtual directory.
    #[error(
        "{kind} takes /workspace, another mount point, or a normalised path below one, not `{}`", value.escape_default()
    )]
    Directory {
        /// `fs.read` or `fs.write`.
        kind: String,
        /// The value as declared.
        value: String,
    },
    /// A directory that no skill writes.
    #[error("fs.write does not take /os, nor anything below it: `{}`", .0.escape_default())]
    WritesOs(String),
    /// Not a URL prefix.
    #[error("net.http takes `*` or an http(s) prefix, which {rule}: `{}`", value.escape_default())]
    Url {
        /// The value as declared.
        value: String,
        /// The rule of URL prefixes that it breaks.
        rule: &'static str,
    },
    /// Not a program.
    #[error("exec.safe takes `*` or the bare name of a program, not `{}`", .0.escape_default())]
    Program(String),
}

/// Whether a component's manifest may declare `kind:value`.
///
/// # Errors
/// The rule that the capability breaks.
pub fn component_form(kind: &str, value: &str) -> Result<(), FormError> {
    match kind {
        "fs.read" | "fs.write" => directory_form(kind, value),
        "net.http" if value == "*" => Ok(()),
        "net.http" => {
            let rule = match UrlPrefix::parse(value) {
                Ok(prefix) if matches!(prefix.scheme(), "http" | "https") => return Ok(()),
                Ok(_) => "must be http or https",
                Err(rule) => rule,
            };
            Err(FormError::Url {
                value: value.to_owned(),
                rule,
            })
        }
        "exec.safe" if value == "*" || is_name(value) => Ok(()),
        "exec.safe" => Err(FormError::Program(value.to_owned())),
        _ => Err(FormError::Kind(kind.to_owned())),
    }
}

/// Checks a directory: it must be a mount point or lie below one; what is written, not `/os`.
fn directory_form(kind: &str, value: &str) -> Result<(), FormError> {
    let fault = || FormError::Directory {
        kind: kind.to_owned(),
        value: value.to_owned(),
    };
    let path = VirtualPath::parse(value).map_err(|_| fault())?;
    if !path.first_segment().is_some_and(|at| is_mount_point(&at)) {
        return Err(fault());
    }
    if kind == "fs.write" && path.starts_with(&VirtualPath::os()) {
        return Err(FormError::WritesOs(value.to_owned()));
    }
    Ok(())
}

/// Whether `old` allows everything that `new` allows: if not, `new` is a widening.
pub fn covers(old: &Capability, new: &Capability) -> bool {
    // So `exec` never covers `exec.safe`.
    old.kind == new.kind
        && match old.kind.as_str() {
            "fs.read" | "fs.write" => {
                let (old, new) = (
                    VirtualPath::normalise(&old.value),
                    VirtualPath::normalise(&new.value),
                );
                matches!((old, new), (Ok(old), Ok(new)) if new.starts_with(&old))
            }
            "net.http" => {
                old.value == "*"
                    || UrlPrefix::parse(&old.value)
                        .is_ok_and(|old| matches_declared(&old, &new.value))
            }
            "exec.safe" => old.value == "*" || old.value == new.value,
            _ => old.value == new.value,
        }
}

/// The addresses that a request of a core module to `url` may reach, if the prefix that its manifest declares covers it.
pub fn reach_of_declared(prefix: &str, url: &Url) -> Option<Reach> {
    let prefix = UrlPrefix::parse(prefix).ok()?;
    prefix.matches(url, Escapes::None).then(|| Reach::of(url))
}

/// Whether a prefix covers a URL that stands in a manifest. It may have a query, and is read by the same parser as a request.
pub(super) fn matches_declared(prefix: &UrlPrefix, declared: &str) -> bool {
    // The parser turns `\` into `/`; what was written decides.
    let path_as_written = declared.split(['?', '#']).next().unwrap_or_default();
    !path_as_written.contains('\\')
        && Url::parse(declared).is_ok_and(|url| prefix.matches(&url, Escapes::None))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn capability(text: &str) -> Capability {
        let (kind, value) = text.split_once(':').unwrap();
        Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        }
    }

    fn is_covered(old: &str, new: &str) -> bool {
        covers(&capability(old), &capability(new))
    }

    #[test]
    fn a_component_declares_what_its_interfaces_stand_for() {
        for good in [
            "fs.read:/workspace",
            "fs.read:/os",
            "fs.read:/os/crew/été.md",
            "fs.read:/catalog/x",
            "fs.write:/workspace",
            "fs.write:/data/out",
            "fs.write:/osx",
            "net.http:*",
            "net.http:https://docs.example",
            "net.http:http://127.0.0.1:8000/x/",
            "exec.safe:*",
            "exec.safe:git",
            "exec.safe:g++",
        ] {
            let Capability { kind, value, .. } = capability(good);
            assert_eq!(component_form(&kind, &value), Ok(()), "{good}");
        }
        for bad in [
            "fs.read:",
            "fs.read:/",
            "fs.read:*",
            "fs.read:workspace",
            "fs.read:/workspace/",
            "fs.read:/workspace//x",
            "fs.read:/workspace/../os",
            "fs.read:/Workspace",
            "fs.read:/9/x",
            "fs.write:/os",
            "fs.write:/os/x",
            "fs.write:/",
            "net.http:",
            "net.http:docs.example",
            "net.http:ftp://docs.example/",
            "net.http:https://docs.example/?q",
            "net.http:https://docs.example/%41",
            "net.http:https://docs.example/a\\b",
            "exec.safe:",
            "exec.safe:/usr/bin/git",
            "exec.safe:git status",
            "exec:true",
            "env:HOME",
            "kv.read:*",
            "time.now:true",
            "fs.raed:/os",
            ":",
        ] {
            let Capability { kind, value, .. } = capability(bad);
            assert!(component_form(&kind, &value).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_manifest_holds_is_escaped_in_the_message() {
        for (kind, value) in [
            ("a\u{1b}[2Jb", "x"),
            ("fs.read", "\u{1b}[2J"),
            ("fs.write", "/os/\u{1b}[2J"),
            ("net.http", "\u{1b}[2J"),
            ("exec.safe", "\u{1b}[2J"),
        ] {
            let message = component_form(kind, value).unwrap_err().to_string();
            assert!(
                message.contains("\\u{1b}[2J") && !message.contains('\u{1b}'),
                "{message}"
            );
        }
    }

    #[test]
    fn a_capability_is_covered_by_the_same_or_a_wider_one_of_its_kind() {
        for (old, new) in [
            ("fs.read:/os", "fs.read:/os"),
            ("fs.read:/os", "fs.read:/os/crew"),
            ("fs.read:/os/", "fs.read:/os//crew"),
            ("fs.read:/", "fs.read:/anything"),
            ("fs.write:/workspace", "fs.write:/workspace/out"),
            ("net.http:*", "net.http:*"),
            ("net.http:*", "net.http:https://docs.example/"),
            (
                "net.http:https://docs.example/a",
                "net.http:https://docs.example/a/b?q=1",
            ),
            ("exec.safe:*", "exec.safe:git"),
            ("exec.safe:git", "exec.safe:git"),
            ("exec:true", "exec:true"),
            ("kv.read:*", "kv.read:*"),
            ("x.y:z", "x.y:z"),
        ] {
            assert!(is_covered(old, new), "{old} {new}");
        }
    }

    #[test]
    fn everything_else_is_a_widening() {
        for (old, new) in [
            ("fs.read:/os/crew", "fs.read:/os"),
            ("fs.read:/os", "fs.read:/osx"),
            ("fs.read:/os", "fs.write:/os"),
            ("fs.read:/os", "fs.read:/os/../etc"),
            ("fs.read:os", "fs.read:os"),
            ("net.http:https://docs.example/", "net.http:*"),
            (
                "net.http:https://docs.example/a",
                "net.http:https://docs.example/ab",
            ),
            (
                "net.http:https://docs.example/",
                "net.http:http://docs.example/",
            ),
            (
                "net.http:https://docs.example/",
                "net.http:https://docs.example/a\\b",
            ),
            (
                "net.http:https://docs.example/",
                "net.http:https://docs.example/%61",
            ),
            ("exec.safe:git", "exec.safe:*"),
            ("exec.safe:git", "exec.safe:cargo"),
            // `exec.safe` is never covered by `exec`.
            ("exec:true", "exec.safe:*"),
            ("exec:true", "exec.safe:true"),
            // Only `*` of the kinds that name it as a pattern covers more than itself.
            ("kv.read:*", "kv.read:a"),
            ("env:*", "env:HOME"),
        ] {
            assert!(!is_covered(old, new), "{old} {new}");
        }
    }

    proptest! {
        /// Coverage is transitive, so many small widenings are as visible as one.
        #[test]
        fn coverage_is_transitive(a in "/(a|b)?(/(a|b)){0,2}", b in "/(a|b)?(/(a|b)){0,2}", c in "/(a|b)?(/(a|b)){0,2}") {
            let of = |value: &str| format!("fs.read:{value}");
            if is_covered(&of(&a), &of(&b)) && is_covered(&of(&b), &of(&c)) {
                prop_assert!(is_covered(&of(&a), &of(&c)));
            }
        }
    }
}
