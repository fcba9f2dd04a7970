//! Segments to text.

use hydrant_canonical::Json;
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::encode;
use super::style;
use super::{CallFiles, Inputs};
use crate::failure::{Code, Failure};
use hydrant_plan::{Encoding, Segment, Segments};

/// Where secrets come from: the host's closure, with the host they are sent to already in it.
pub type Secrets<'a> = dyn Fn(&str) -> Result<SecretString, Failure> + 'a;

/// What segments are filled with.
#[derive(Clone, Copy)]
pub struct Fill<'a> {
    /// Validated inputs.
    pub inputs: &'a Inputs,
    /// The files of the call.
    pub files: &'a CallFiles,
    /// Asked once for each segment that names a secret, after everything else of that text is in place.
    pub secrets: &'a Secrets<'a>,
    /// What the stage before put out.
    pub previous: &'a [u8],
}

/// A text that was filled.
#[derive(Debug)]
pub struct Filled {
    /// The text; wiped when dropped, for it may hold a secret.
    pub text: Zeroizing<String>,
    /// Whether a secret is in it.
    pub secret: bool,
    /// Where values of inputs and secrets stand, in bytes.
    pub(super) values: Vec<std::ops::Range<usize>>,
}

impl Fill<'_> {
    /// The text; none if an input in it is absent or `null`.
    ///
    /// # Errors
    ///
    /// `invalid-input` where a value cannot stand there; `header-refused` where a secret's cannot; what the source of
    /// secrets says.
    pub fn text(&self, segments: &Segments) -> Result<Option<Filled>, Failure> {
        for name in segments.inputs() {
            if self.inputs.present(name).is_none() {
                return Ok(None);
            }
        }
        let mut filled = Filled {
            text: Zeroizing::new(String::new()),
            secret: false,
            values: Vec::new(),
        };
        for segment in &segments.0 {
            let start = filled.text.len();
            match segment {
                Segment::Literal { lit } => {
                    filled.text.push_str(lit);
                    continue;
                }
                Segment::Input { input, enc, style } => {
                    let value = self.inputs.present(input).unwrap_or(&Json::Null);
                    let written = match style {
                        Some(style) => style::joined(input, value, *enc, *style)?,
                        None => scalar(input, value, *enc)?,
                    };
                    filled.text.push_str(&written);
                }
                Segment::Secret { secret, enc } => {
                    filled.secret = true;
                    let value = (self.secrets)(secret)?;
                    let encoded = encode::encode(*enc, value.expose_secret())
                        .map(Zeroizing::new)
                        .map_err(|unfit| of_secret(secret, unfit))?;
                    filled.text.push_str(&encoded);
                }
            }
            filled.values.push(start..filled.text.len());
        }
        Ok(Some(filled))
    }

    /// The text, of which no input may be absent; `why` says so.
    ///
    /// # Errors
    ///
    /// As [`Self::text`]; `invalid-input` with the path of the input.
    pub fn required(&self, segments: &Segments, why: &str) -> Result<Filled, Failure> {
        self.text(segments)?.ok_or_else(|| {
            let mut inputs = segments.inputs();
            let absent = inputs.find(|name| self.inputs.present(name).is_none());
            of_input(absent.unwrap_or_default(), why)
        })
    }
}

/// A string, number or boolean as it stands in its place.
pub(super) fn scalar(input: &str, value: &Json, enc: Encoding) -> Result<String, Failure> {
    let encoded = match value {
        Json::String(text) => encode::encode(enc, text),
        Json::Number(number) => encode::encode(enc, number.as_str()),
        Json::Bool(flag) => encode::encode(enc, if *flag { "true" } else { "false" }),
        Json::Null | Json::Array(_) | Json::Object(_) => {
            return Err(of_input(
                input,
                "only a string, a number or a boolean can stand there",
            ));
        }
    };
    encoded.map_err(|unfit| of_input(input, unfit))
}

/// A value that does not do, without the value.
pub(super) fn of_input(input: &str, why: &str) -> Failure {
    Failure::new(Code::InvalidInput, why.to_owned()).at_path(input)
}

fn of_secret(name: &str, unfit: &str) -> Failure {
    Failure::new(
        Code::HeaderRefused,
        format!("the value of the secret {name} does not do: {unfit}"),
    )
}
