//! `hydrant policy explain`: may this skill do that, which line says so, and which line would change it.
//!
//! Asks the same [`Grant`] that a call would ask, so an explanation cannot differ from what happens.

use url::Url;

use super::denial::{Denial, ProgramDenial, Rule};
use super::grant::{READ, WRITE};
use super::{Grant, Location, Method, VirtualPath};

/// What is asked.
#[derive(Clone, Debug)]
pub enum Question {
    /// Reading a virtual path.
    Path(VirtualPath),
    /// Writing a virtual path.
    Write(VirtualPath),
    /// Sending a request.
    Url {
        /// Its method.
        method: Method,
        /// Its URL; a fragment is never sent and does not count.
        url: Url,
    },
    /// Asking a tool at or below `/os` for its description.
    Tool(VirtualPath),
    /// Starting a program.
    Program {
        /// Its bare name and its arguments.
        argv: Vec<String>,
        /// The working directory.
        directory: VirtualPath,
    },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Whether it is allowed.
    pub allowed: bool,
    /// What was asked, as `kind:value`.
    pub capability: String,
    /// The rule that decided: file, line, its text, and what it says. Where several layers allow it, the policy's rule,
    /// which names the lines of the others.
    pub decided_by: Rule,
    /// What would turn the answer around, as an instruction.
    pub would_change: String,
}

/// Answers `question` for `grant`, as a call under it would be answered.
pub fn explain(grant: &Grant, question: &Question) -> Explanation {
    answer(grant, question).unwrap_or_else(|denial| Explanation {
        allowed: false,
        capability: denial.capability().to_owned(),
        decided_by: denial.decided_by().clone(),
        would_change: denial.would_allow().to_owned(),
    })
}

fn answer(grant: &Grant, question: &Question) -> Result<Explanation, Denial> {
    Ok(match question {
        Question::Path(path) => {
            // Reading behind an https mount is a fetch as well.
            if let Location::Https { url } = grant.read(path)? {
                grant.fetch(Method::Get, &url)?;
            }
            allowed(format!("{READ}:{path}"), grant.why_path(READ, path))
        }
        Question::Write(path) => {
            grant.write(path)?;
            allowed(format!("{WRITE}:{path}"), grant.why_path(WRITE, path))
        }
        Question::Url { method, url } => {
            let mut url = url.clone();
            url.set_fragment(None);
            grant.fetch(*method, &url)?;
            allowed(format!("net.http:{url}"), grant.why_fetch(*method, &url))
        }
        Question::Tool(path) => {
            grant.tool(path)?;
            if is_component(path) {
                allowed(format!("{READ}:{path}"), grant.why_path(READ, path))
            } else {
                allowed(format!("exec.safe:{path}"), grant.why_tool(path))
            }
        }
        Question::Program { argv, directory } => {
            let name = argv.first().map_or("", String::as_str);
            let arguments = argv.get(1..).unwrap_or_default();
            let found = grant.program(name, arguments, directory);
            if let Err(Some(denial)) = found.as_ref().map_err(ProgramDenial::denial) {
                return Err(denial.clone());
            }
            let why = grant.why_program(name, arguments, directory);
            let mut explanation = allowed(format!("exec.safe:{name}"), why);
            if found.is_err() {
                explanation.allowed = false;
                explanation.would_change =
                    format!("install {name} in /usr/local/bin, /usr/bin or /bin");
            }
            explanation
        }
    })
}

/// Such a tool is described in the sandbox and never started.
fn is_component(path: &VirtualPath) -> bool {
    path.file_name().is_some_and(|name| name.ends_with(".wasm"))
}

fn allowed(capability: String, why: Option<(Rule, String)>) -> Explanation {
    let (decided_by, would_change) =
        why.unwrap_or_else(|| (Rule::of("the policy", "it is allowed"), String::new()));
    Explanation {
        allowed: true,
        capability,
        decided_by,
        would_change,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Policy;
    use crate::tests::Scratch;
    use hydrant_trust::Capability;

    const POLICY: &str = r#"version: 1
trusted_signers: [a]
capability_ceiling:
  fs: {read: [/os, /os/crew]}
  net: ["https://docs.example/"]
  exec: true
host:
  mounts:
    - {at: /os, dir: os, mode: ro}
    - {at: /os/lib, url: "https://docs.example/v3/"}
  net:
    - {url: "https://docs.example/guide/", methods: [GET]}
  process:
    - {program: ls, args: [["-l"]], cwd: [/os]}
    - {program: no-such-program-here, args: [[]], cwd: [/os]}
  discovery: {run: [/os/tools]}
  jail: {process: unjailed}
"#;

    fn ask(policy: Policy, question: &Question) -> Explanation {
        let capability = |kind: &str, value: &str| Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        };
        let capabilities = [
            capability("fs.read", "/os"),
            capability("net.http", "*"),
            capability("exec.safe", "*"),
        ];
        explain(&Grant::new(Arc::new(policy), &capabilities), question)
    }

    fn answer(question: &Question) -> Explanation {
        ask(Scratch::new().policy(POLICY).unwrap(), question)
    }

    fn reading(path: &str) -> Question {
        Question::Path(VirtualPath::parse(path).unwrap())
    }

    fn starting(argv: &[&str]) -> Question {
        let argv = argv.iter().map(|text| (*text).to_owned()).collect();
        Question::Program {
            argv,
            directory: VirtualPath::os(),
        }
    }

    #[test]
    fn an_allowed_path_names_the_entry_that_says_most_about_it() {
        let explanation = answer(&reading("/os/crew/pilot.md"));
        assert!(explanation.allowed);
        assert_eq!(explanation.capability, "fs.read:/os/crew/pilot.md");
        assert_eq!(
            (
                explanation.decided_by.source.as_str(),
                explanation.decided_by.line
            ),
            ("policy.yaml", Some(4))
        );
        assert_eq!(explanation.decided_by.text, "fs: {read: [/os, /os/crew]}");
        assert_eq!(
            explanation.would_change,
            "take \"/os/crew\" out of capability_ceiling.fs.read"
        );
    }

    #[test]
    fn a_denied_path_names_the_line_that_would_allow_it() {
        let wide = POLICY.replace("{at: /os, ", "{at: /other, ");
        let explanation = ask(Scratch::new().policy(&wide).unwrap(), &reading("/os/x"));
        assert!(!explanation.allowed);
        assert_eq!(
            (
                explanation.decided_by.line,
                explanation.decided_by.text.as_str()
            ),
            (Some(8), "mounts:")
        );
        assert_eq!(explanation.would_change, "give --root DIR");
    }

    #[test]
    fn reading_behind_an_https_mount_is_explained_as_the_fetch_it_is() {
        let explanation = answer(&reading("/os/lib/x.md"));
        assert!(!explanation.allowed);
        assert_eq!(explanation.decided_by.line, Some(11));
    }

    #[test]
    fn urls_are_explained_by_method() {
        let question = |method, url| Question::Url {
            method,
            url: Url::parse(url).unwrap(),
        };
        let explanation = answer(&question(Method::Get, "https://docs.example/guide/x#top"));
        assert!(explanation.allowed);
        assert_eq!(explanation.decided_by.line, Some(12));
        assert_eq!(
            explanation.would_change,
            "take GET out of the methods of https://docs.example/guide/ in host.net"
        );
        assert!(!answer(&question(Method::Put, "https://docs.example/guide/x")).allowed);
    }

    #[test]
    fn programs_are_explained_by_argument_and_presence() {
        let explanation = answer(&starting(&["ls", "-l"]));
        assert!(explanation.allowed);
        assert_eq!(explanation.decided_by.line, Some(14));
        assert!(!answer(&starting(&["ls"])).allowed);
        assert!(!answer(&starting(&[])).allowed);
        let explanation = answer(&starting(&["no-such-program-here"]));
        assert!(!explanation.allowed);
        assert_eq!(explanation.decided_by.line, Some(15));
        assert!(
            explanation
                .would_change
                .starts_with("install no-such-program-here")
        );
    }

    #[test]
    fn a_tool_is_explained_by_the_directory_that_holds_it() {
        let tool = |path| Question::Tool(VirtualPath::parse(path).unwrap());
        let explanation = answer(&tool("/os/tools/a.sh"));
        assert!(explanation.allowed);
        assert_eq!(explanation.decided_by.line, Some(16));
        let explanation = answer(&tool("/os/other/a.sh"));
        assert!(!explanation.allowed);
        assert_eq!(
            explanation.would_change,
            "add \"/os/other\" to host.discovery.run"
        );
    }

    #[test]
    fn the_default_policy_has_text_and_no_line_to_look_up() {
        let scratch = Scratch::new();
        let explanation = ask(
            Policy::built_in(&scratch.root, &[]).unwrap(),
            &reading("/os/x"),
        );
        assert!(explanation.allowed);
        assert_eq!(
            explanation.decided_by.to_string().split(" (").next(),
            Some("the default policy")
        );
        assert_eq!(explanation.decided_by.text, "fs: {read: [/workspace, /os]}");
        assert!(explanation.would_change.starts_with("write a policy file"));
    }
}
