//! The component on git as it is installed, and on a host that answers what a test says.

mod describe;
mod repositories;
mod requests;
#[path = "../../../git-status/src/tests/site.rs"]
mod site;

use kit::host::RunCommands;
use kit::host::process::{Command, Ending, Exit, ProcessError};
use serde_json::Value;

use site::Site;

/// A host with one answer for each command, the last one for all others; it keeps what it was asked.
struct FakeHost {
    answers: Vec<Result<Exit, ProcessError>>,
    asked: Vec<Command>,
}

impl RunCommands for FakeHost {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        let answer = |command: &Command| {
            self.asked.push(command.clone());
            match self.answers.len() {
                1 => self.answers[0].clone(),
                _ => self.answers.remove(0),
            }
        };
        commands.iter().map(answer).collect()
    }
}

fn answering(answers: &[Result<Exit, ProcessError>]) -> FakeHost {
    FakeHost {
        answers: answers.to_vec(),
        asked: Vec::new(),
    }
}

fn exit(stdout: &[u8]) -> Exit {
    Exit {
        ending: Ending::Exited(0),
        stdout: stdout.to_vec(),
        stdout_truncated: false,
        stderr: Vec::new(),
        stderr_truncated: false,
        duration_ms: 1,
    }
}

impl Site {
    fn diff(&mut self, request: &str) -> String {
        self.answer(request)["diff"].as_str().unwrap().to_owned()
    }
}
