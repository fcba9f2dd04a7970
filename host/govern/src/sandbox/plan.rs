//! The plan of a stage's jail: what is executed, what it finds, and nothing else.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use hydrant_jail::{File, InsidePath, LANDLOCK_MIN_ABI, Link, Plan, Program, base_environment};
use secrecy::ExposeSecret;

use super::resources::Allowed;
use super::{SandboxRun, Settings, required, tools, unavailable, view};
use crate::digest;
use crate::failure::{Code, Failure};
use hydrant_plan::{Runtime, SandboxStage, Segments, steers};

/// The directory of the files that a call gives; read-only.
pub(super) const INPUT: &str = "/input";
/// Also the working directory.
pub(super) const OUTPUT: &str = "/output";
/// The script, before its ending is added.
const SCRIPT: &str = "/run/script/main";
const PARAMS: &str = "params.json";
/// The directory of the secrets that a run is given.
const SECRETS: &str = "/run/secrets";

/// Files of one call.
const FILES: usize = 512;

/// Home and temporary directory of every run.
const TEMPORARY: &str = "/tmp";

/// The plan of a run. `proxy`: the socket of the host's, for a policy with egress.
pub(super) fn of(
    run: &SandboxRun<'_>,
    allowed: &Allowed,
    settings: &Settings,
    proxy: Option<OwnedFd>,
) -> Result<Plan, Failure> {
    required::require(run.stage)?;
    require_plain_arguments(run.stage)?;
    let mut files = inputs(run)?;
    let links = links(&files)?;
    let (program, arguments, script) = program(run)?;
    files.extend(script);
    files.extend(secrets(run)?);
    // `go run` builds its program there.
    let builds = run.stage.runtime == Runtime::Go;
    let mut plan = Plan {
        environment: environment(run.environment)?,
        directory: inside(OUTPUT)?,
        mounts: view::mounts(run.policy, settings)?,
        scratch: vec![allowed.output()?, allowed.temporary(builds)?],
        files,
        links,
        limits: allowed.limits(),
        landlock_min_abi: settings.landlock_min_abi.max(LANDLOCK_MIN_ABI),
        ..Plan::new(Program::Path(program), arguments)
    };
    if let Some(proxy) = proxy {
        plan.connect_to_proxy(proxy);
    }
    Ok(plan)
}

/// A program of the system in a jail that has a `/tmp` and nothing else.
pub(super) fn bare(
    path: &Path,
    arguments: Vec<OsString>,
    allowed: &Allowed,
    settings: &Settings,
) -> Result<Plan, Failure> {
    Ok(Plan {
        environment: environment(&[])?,
        directory: inside(TEMPORARY)?,
        scratch: vec![allowed.temporary(false)?],
        limits: allowed.limits(),
        landlock_min_abi: settings.landlock_min_abi.max(LANDLOCK_MIN_ABI),
        ..Plan::new(Program::Path(inside(path)?), arguments)
    })
}

/// `/input`: the files of the call and the params.
fn inputs(run: &SandboxRun<'_>) -> Result<Vec<File>, Failure> {
    let refused = |name: &str, why: &str| {
        let name: String = name.chars().take(120).collect();
        Failure::new(Code::InvalidInput, format!("the file {name:?} {why}")).at_path("files")
    };
    if run.files.len() > FILES {
        let message = format!("more than {FILES} files");
        return Err(Failure::new(Code::InvalidInput, message).at_path("files"));
    }
    let mut names = BTreeSet::from([PARAMS]);
    let mut files = Vec::new();
    for (name, bytes) in run.files {
        // What `inside` takes further down: no `.` and `..`, no NUL.
        let plain = |part| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(plain) {
            return Err(refused(name, "is not a relative name"));
        }
        if !names.insert(name) {
            return Err(refused(name, "is there already"));
        }
        let at = InsidePath::new(Path::new(INPUT).join(name))
            .map_err(|_| refused(name, "has a name that cannot be"))?;
        files.push(File {
            at,
            bytes: bytes.clone(),
            mode: 0o444,
        });
    }
    // A file where another needs a directory.
    let above = |name: &&str| {
        let ancestors = Path::new(name).ancestors().skip(1);
        let mut texts = ancestors.filter_map(Path::to_str);
        texts.any(|above| names.contains(above))
    };
    if let Some(name) = names.iter().find(|name| above(name)) {
        return Err(refused(name, "lies in what is another file"));
    }
    files.push(File {
        at: inside(Path::new(INPUT).join(PARAMS))?,
        bytes: run.params.to_string().into_bytes(),
        mode: 0o444,
    });
    Ok(files)
}

/// Each file of `/input` appears in `/output`, under the same name.
fn links(files: &[File]) -> Result<Vec<Link>, Failure> {
    let link = |file: &File| {
        let to = file.at.as_path();
        let name = to.strip_prefix(INPUT).unwrap_or(to);
        Ok(Link {
            at: inside(Path::new(OUTPUT).join(name))?,
            to: to.to_owned(),
        })
    };
    files.iter().map(link).collect()
}

/// A secret is never in an argument, which every user of the host can read while the program runs.
pub(super) fn require_plain_arguments(stage: &SandboxStage) -> Result<(), Failure> {
    let argv: &[Segments] = match &stage.program {
        hydrant_plan::Program::Argv(argv) => argv,
        _ => &[],
    };
    if argv.iter().chain(&stage.args).any(Segments::has_secret) {
        let message = "a secret cannot be an argument of a program in the sandbox";
        return Err(Failure::new(Code::SecretUnbound, message).with_hint(
            "what is granted is in `/run/secrets/<NAME>`, for programs that read it there",
        ));
    }
    Ok(())
}

/// What is executed, how it is called, and its script.
fn program(run: &SandboxRun<'_>) -> Result<(InsidePath, Vec<OsString>, Option<File>), Failure> {
    let stage = run.stage;
    let mut arguments: Vec<String> = Vec::new();
    let mut script = None;
    let name = match &stage.program {
        hydrant_plan::Program::Argv(argv) => {
            let [name, rest @ ..] = run.argv else {
                return Err(Failure::new(Code::EmptyCommand, "there is no program"));
            };
            // It is the approved one: no input stands in its place.
            if argv.first().and_then(|first| first.as_literal()) != Some(name) {
                let message = "the program is not the one of the operation";
                return Err(Failure::new(Code::InvalidPlan, message));
            }
            arguments.push(name.clone());
            arguments.extend_from_slice(rest);
            name.as_str()
        }
        hydrant_plan::Program::Code(text) | hydrant_plan::Program::Script(text) => {
            script = Some(text.clone().into_bytes());
            tools::runtime(stage.runtime)
        }
        hydrant_plan::Program::File { name, digest } => {
            let (Some(bytes), Some(approved)) = (run.code_file, digest) else {
                return Err(required::unavailable(vec![format!("file:{name}")]));
            };
            if digest::of_bytes(bytes) != *approved {
                let message = "the code file is not the one that was approved";
                return Err(Failure::new(Code::DigestMismatch, message));
            }
            script = Some(bytes.to_vec());
            tools::runtime(stage.runtime)
        }
        hydrant_plan::Program::Module(module) => {
            let name = tools::runtime(stage.runtime);
            arguments.extend([name, "-m", module].map(str::to_owned));
            name
        }
    };
    let script = script
        .map(|bytes| {
            let (words, extension): (&[&str], _) = match stage.runtime {
                Runtime::Python => (&["python3"], "py"),
                Runtime::Node => (&["node"], "js"),
                Runtime::Go => (&["go", "run"], "go"),
                Runtime::Shell => (&["/bin/sh"], "sh"),
            };
            let path = format!("{SCRIPT}.{extension}");
            arguments.extend(words.iter().map(|word| (*word).to_owned()));
            arguments.push(path.clone());
            Ok::<_, Failure>(File {
                at: inside(path)?,
                bytes,
                mode: 0o444,
            })
        })
        .transpose()?;
    arguments.extend_from_slice(run.args);
    if arguments.iter().any(|argument| argument.contains('\0')) {
        let message = "an argument has a NUL character";
        return Err(Failure::new(Code::InvalidInput, message));
    }
    let path =
        tools::find(name).ok_or_else(|| required::unavailable(vec![format!("tool:{name}")]))?;
    let arguments = arguments.into_iter().map(OsString::from).collect();
    Ok((inside(path)?, arguments, script))
}

/// Returns the secrets of a run as files: never in arguments, the environment or `/input`.
fn secrets(run: &SandboxRun<'_>) -> Result<Vec<File>, Failure> {
    let one = |(name, value): &(String, secrecy::SecretString)| {
        if !run.policy.secrets.contains(name) || !is_variable(name) {
            let message = format!("the policy does not give the secret {name} to the sandbox");
            return Err(Failure::new(Code::SecretUnbound, message));
        }
        Ok(File {
            at: inside(Path::new(SECRETS).join(name))?,
            bytes: value.expose_secret().as_bytes().to_vec(),
            mode: 0o400,
        })
    };
    run.secrets.iter().map(one).collect()
}

/// Returns the environment of a run: the fixed variables and the inputs, but for names that steer the shell or the loader.
fn environment(inputs: &[(String, String)]) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut environment = base_environment(tools::PATH, TEMPORARY);
    for (name, value) in inputs {
        if !is_variable(name) || value.contains('\0') {
            let message = format!("{name:?} cannot be an environment variable");
            return Err(Failure::new(Code::InvalidInput, message));
        }
        if !steers(name) {
            environment.push((name.into(), value.into()));
        }
    }
    Ok(environment)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn inside(path: impl AsRef<Path>) -> Result<InsidePath, Failure> {
    InsidePath::new(path.as_ref()).map_err(unavailable)
}
