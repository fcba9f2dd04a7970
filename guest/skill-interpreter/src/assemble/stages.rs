//! Stages of all kinds, and the confidence of a plan (K-123, K-167 to K-170, K-218 to K-232).

use std::collections::BTreeMap;

use serde_json::Map;

use super::inputs::{Need, Wish};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use crate::draft::{
    DraftStage, Excerpt, FilterDraft, HttpDraft, Range, Template, Trust, WrittenAs,
};
use crate::failure::Failure;
use crate::mapping::registry::{self, Pattern};
use crate::model::{Encoding, ExcerptOut, ReadFileStage, Segments, Stage};

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
                    let excerpt = excerpt.map(excerpt_out);
                    (
                        Stage::ReadFile(ReadFileStage { paths, excerpt }),
                        Pattern::ReadFile,
                    )
                }
                DraftStage::Sandbox(draft) => {
                    let pattern = match &draft.trust {
                        Trust::KnownRuntime => Pattern::Runtime,
                        Trust::Download { .. } => Pattern::Download,
                        _ => Pattern::Shell,
                    };
                    (Stage::Sandbox(Box::new(self.sandbox(draft))), pattern)
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

    fn text(&mut self, text: &Template) -> Segments {
        let text = self.with_constants(&scan(text, Place::Value));
        self.segments(&text, Encoding::None, Position::Argument, None, as_it_is)
    }

    /// K-123: what a first stage reads is the required input `input`.
    fn stdin(&mut self) -> Segments {
        let input = self.inputs.add(Wish {
            name: "input",
            place: "argument",
            variable: Some("input"),
            schema: serde_json::json!({"type": "string"}),
            need: Need::Required,
            example: None,
        });
        Segments::input(input, Encoding::None)
    }

    fn filter(&mut self, draft: &FilterDraft, is_first: bool) -> Stage {
        let options = [
            ("raw", draft.raw),
            ("join", draft.join),
            ("compact", draft.compact),
            ("slurp", draft.slurp),
            ("null-input", draft.null_input),
            ("sort-keys", draft.sort_keys),
            ("exit-status", draft.exit_status),
        ];
        let args: BTreeMap<String, Segments> = draft
            .args
            .iter()
            .map(|(name, value)| (name.clone(), self.text(value)))
            .collect();
        let json_args: Map<_, _> = draft.json_args.iter().cloned().collect();
        Stage::JsonFilter {
            program: draft.program.clone(),
            options: options
                .into_iter()
                .filter(|(_, set)| *set)
                .map(|(name, _)| name.to_owned())
                .collect(),
            args,
            json_args,
            stdin: (is_first && !draft.null_input).then(|| self.stdin()),
        }
    }
}

fn excerpt_out(excerpt: Excerpt) -> ExcerptOut {
    let (unit, count, mode) = match excerpt.range {
        Range::Lines(count) => ("lines", count, "only"),
        Range::Bytes(count) => ("bytes", count, "only"),
        Range::FromLine(count) => ("lines", count, "from"),
        Range::FromByte(count) => ("bytes", count, "from"),
        Range::AllButLines(count) => ("lines", count, "all-but"),
        Range::AllButBytes(count) => ("bytes", count, "all-but"),
    };
    ExcerptOut {
        tool: if excerpt.from_end { "tail" } else { "head" }.to_owned(),
        unit: unit.to_owned(),
        count,
        mode: mode.to_owned(),
    }
}
