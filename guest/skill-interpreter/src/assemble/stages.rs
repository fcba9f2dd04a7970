//! Stages of all kinds, and the confidence of a plan.

use super::inputs::{InputRequest, Need};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use crate::draft::{DraftStage, FilterDraft, HttpDraft, Template, WrittenAs};
use crate::failure::Failure;
use crate::mapping::registry::{self, Pattern};
use crate::model::{Encoding, FILTER_OPTIONS, Fetches, ReadFileStage, Segments, Stage};

impl Assembly<'_> {
    /// Stages in order, and how sure the mapping is.
    pub(super) fn stages(&mut self, drafts: &[DraftStage]) -> Result<(Vec<Stage>, f64), Failure> {
        let mut stages = Vec::with_capacity(drafts.len());
        let mut patterns = Vec::with_capacity(drafts.len());
        let mut noted = false;
        for (index, draft) in drafts.iter().enumerate() {
            let is_first = index == 0;
            let (stage, pattern) = match draft {
                DraftStage::Http(draft) => {
                    noted |= draft.noted;
                    self.http_stage(draft)?
                }
                DraftStage::JsonFilter(draft) => {
                    (self.filter(draft, is_first), Pattern::JsonFilter)
                }
                DraftStage::TextTransform { tool, args } => {
                    let args = args
                        .iter()
                        .map(|arg| {
                            let arg = self.with_constants(arg);
                            self.segments(&arg, Encoding::Argv, Position::Argument, None, as_it_is)
                        })
                        .collect();
                    let stage = Stage::TextTransform {
                        tool: tool.clone(),
                        args,
                        stdin: is_first.then(|| self.stdin()),
                    };
                    (stage, Pattern::TextTransform)
                }
                DraftStage::Println { text } => {
                    let text = self.text(text);
                    (Stage::Println { text }, Pattern::Println)
                }
                DraftStage::ReadFile { paths, excerpt } => {
                    let paths = paths.iter().map(|path| self.file(path)).collect();
                    let excerpt = excerpt.clone();
                    (
                        Stage::ReadFile(ReadFileStage { paths, excerpt }),
                        Pattern::ReadFile,
                    )
                }
                DraftStage::Sandbox(draft) => {
                    let stage = self.sandbox(&draft.stage);
                    let pattern = match stage.fetches {
                        Fetches::RunsDownloaded => Pattern::Download,
                        _ if stage.is_runtime_alone() => Pattern::Runtime,
                        _ => Pattern::Shell,
                    };
                    (Stage::Sandbox(Box::new(stage)), pattern)
                }
            };
            stages.push(stage);
            patterns.push(pattern);
        }
        Ok((stages, registry::confidence(&patterns, noted)))
    }

    fn http_stage(&mut self, draft: &HttpDraft) -> Result<(Stage, Pattern), Failure> {
        let request = self.http(draft)?;
        let pattern = match draft.written_as {
            WrittenAs::Endpoint => Pattern::Endpoint,
            WrittenAs::Curl if request.stage.url_input.is_some() => Pattern::CurlWithoutUrl,
            WrittenAs::Curl if request.is_derived => Pattern::CurlDerived,
            WrittenAs::Curl => Pattern::Curl,
            WrittenAs::Wget => Pattern::OtherClient,
            WrittenAs::Verb => Pattern::Verb,
            WrittenAs::Listed => Pattern::Listed,
        };
        Ok((Stage::Http(Box::new(request.stage)), pattern))
    }

    /// Text that goes to a program as it is.
    pub(super) fn text(&mut self, text: &Template) -> Segments {
        let text = self.with_constants(&scan(text, Place::Value));
        self.segments(&text, Encoding::None, Position::Argument, None, as_it_is)
    }

    /// What a first stage reads: the required input `input`.
    fn stdin(&mut self) -> Segments {
        let schema = serde_json::json!({"type": "string"});
        let request = InputRequest::new("input", "argument", schema, Need::Required);
        Segments::input(
            self.inputs.add(request.of_variable("input")),
            Encoding::None,
        )
    }

    fn filter(&mut self, draft: &FilterDraft, is_first: bool) -> Stage {
        let is_set = |option: &str| draft.options.contains(&option);
        let options = FILTER_OPTIONS.into_iter().filter(|option| is_set(option));
        Stage::JsonFilter {
            program: draft.program.clone(),
            options: options.map(str::to_owned).collect(),
            args: draft
                .args
                .iter()
                .map(|(name, value)| (name.clone(), self.text(value)))
                .collect(),
            json_args: draft.json_args.clone(),
            stdin: (is_first && !is_set("null-input")).then(|| self.stdin()),
        }
    }
}
