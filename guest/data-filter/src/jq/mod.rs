//! The op `filter`: a jq program over bytes, without environment, clock or files.
//!
//! jaq runs it. Of its natives those that read the environment or the clock are left out, so that `env` and `$ENV` are empty
//! and `now` is unknown; there is no reader of modules. What bounds a program that does not end is the fuel of the call.

mod write;

#[cfg(test)]
mod tests;

use hydrant_plan::failure::{Code, Failure};
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, DataT, Exn, Lut, Vars, data::HasLut};
use jaq_json::{Val, read};
use jaq_std::input::{HasInputs, Inputs, RcIter};
use serde_json::{Value, json};

use self::write::Writer;
use crate::request::FilterRequest;

/// The text of a program, in bytes.
const PROGRAM_BYTES: usize = 64 << 10;
/// Collections of the input within each other.
const INPUT_NESTING: usize = kit::yaml::MAX_DEPTH;
/// Natives that read the environment, the clock or the zone of this machine.
const LEFT_OUT: [&str; 4] = ["env", "now", "localtime", "strflocaltime"];
/// What jq has and jaq has not, or has otherwise.
const INSTEAD: &str = include_str!("instead.jq");
/// Brackets of a program within each other, which its parser follows by recursion.
const PROGRAM_NESTING: usize = 64;
/// What else of a program is followed by recursion, which the stack of a call bears about twice of: an operator counts 4, a
/// word 2, a part of a path 1.
const PROGRAM_WEIGHT: usize = 1024;

/// What natives are given.
struct Kind;

#[derive(Clone)]
struct Data<'a> {
    lut: &'a Lut<Kind>,
    inputs: Inputs<'a, Val>,
}

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = Data<'a>;
}

impl<'a> HasLut<'a, Kind> for Data<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

impl<'a> HasInputs<'a, Val> for Data<'a> {
    fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}

/// What a program makes of its input.
///
/// # Errors
///
/// `json-filter` for a program or an input that is none, and for an error of the program; `limit`.
pub(crate) fn run(request: &FilterRequest, input: &[u8]) -> Result<Vec<u8>, Failure> {
    if request.path.len() > PROGRAM_BYTES {
        return Err(Failure::exceeded("bytes of a jq program", PROGRAM_BYTES));
    }
    check_program(&request.path)?;
    check_nesting(input, INPUT_NESTING, "JSON nesting", |_| ())?;
    let (names, values) = variables(request)?;
    let own = jaq_core::load::parse(INSTEAD, |parser| parser.defs()).unwrap_or_default();
    let definitions = jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(jaq_json::defs())
        .chain(own);
    let natives = jaq_core::funs::<Kind>()
        .chain(jaq_std::funs::<Kind>())
        .chain(
            jaq_std::input::funs::<Kind>()
                .into_vec()
                .into_iter()
                .map(jaq_core::native::run::<Kind>),
        )
        .chain(jaq_json::funs::<Kind>())
        .filter(|(name, ..)| !LEFT_OUT.contains(name));
    let arena = Arena::default();
    let program = File {
        code: request.path.as_str(),
        path: (),
    };
    let modules = Loader::new(definitions)
        .load(&arena, program)
        .map_err(|_| failure("the program is no jq program"))?;
    // Modules of data would be looked for when they are used.
    jaq_core::load::import(&modules, |_| Err("there are no modules".to_owned()))
        .map_err(|_| failure("there are no modules"))?;
    let filter = Compiler::default()
        .with_funs(natives)
        .with_global_vars(names.iter().map(String::as_str))
        .compile(modules)
        .map_err(|errors| failure(&undefined(&errors)))?;

    let documents = read::parse_many(input).map(|value| value.map_err(|error| error.to_string()));
    let shared = RcIter::new(documents);
    // The same documents for the program (`inputs`) and for the loop below.
    let inputs: Inputs<'_, Val> = &shared;
    let mut writer = Writer::new(request);
    // Whether the program goes on with the next document.
    let mut one = |value: Val| -> Result<bool, Failure> {
        let context = Ctx::<Kind>::new(
            Data {
                lut: &filter.lut,
                inputs,
            },
            Vars::new(values.iter().cloned()),
        );
        for result in filter.id.run((context, value)) {
            match result {
                Ok(value) => writer.value(&value)?,
                Err(exception) => return raised(exception).map(|()| false),
            }
        }
        Ok(true)
    };
    if request.null_input {
        one(Val::Null)?;
    } else if request.slurp {
        let all: Result<Val, String> = inputs.collect();
        one(all.map_err(|error| not_json(&error))?)?;
    } else {
        for document in inputs {
            if !one(document.map_err(|error| not_json(&error))?)? {
                break;
            }
        }
    }
    writer.finish()
}

/// `$name` of the arguments, `$ENV` and `$ARGS`.
fn variables(request: &FilterRequest) -> Result<(Vec<String>, Vec<Val>), Failure> {
    let mut names = vec!["$ENV".to_owned(), "$ARGS".to_owned()];
    let mut values = vec![
        value_of(&json!({}))?,
        value_of(&json!({"positional": [], "named": request.args}))?,
    ];
    for (name, value) in &request.args {
        names.push(format!("${name}"));
        values.push(value_of(value)?);
    }
    Ok((names, values))
}

fn value_of(value: &Value) -> Result<Val, Failure> {
    read::parse_single(value.to_string().as_bytes()).map_err(|error| not_json(&error.to_string()))
}

/// What a message may quote of a program or its input.
fn excerpt(text: &str) -> String {
    kit::redact::excerpt(text, 120, "")
}

fn failure(message: &str) -> Failure {
    Failure::new(Code::JsonFilter, message)
}

fn not_json(error: &str) -> Failure {
    failure(&format!("the input is no JSON: {}", excerpt(error)))
}

/// What ends a program early: `halt`, which is no error, or an error, whose text may quote what the program read.
fn raised(exception: Exn<'_, Val>) -> Result<(), Failure> {
    match exception.get_err() {
        Ok(error) => Err(failure(&excerpt(&error.to_string()))),
        Err(other) => match other.get_halt() {
            Ok(0) => Ok(()),
            _ => Err(failure("the program breaks off")),
        },
    }
}

/// The first name that the program uses and that is not defined.
fn undefined(errors: &jaq_core::compile::Errors<&str, ()>) -> String {
    match errors.iter().flat_map(|(_, errors)| errors).next() {
        Some((name, what)) => format!("undefined {} {}", what.as_str(), excerpt(name)),
        None => "the program is no jq program".to_owned(),
    }
}

/// What is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Bracket,
    /// `\(` of a program, after which its string goes on.
    Interpolation,
}

/// Bounds what a parser of programs follows by recursion, and their execution too.
fn check_program(program: &str) -> Result<(), Failure> {
    let mut weight = 0_usize;
    let mut in_word = false;
    let outside = |byte: u8| {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        let counts = match byte {
            b'.' | b'[' => 1,
            _ if is_word && !in_word => 2,
            b'|' | b',' | b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' => 4,
            _ => 0,
        };
        in_word = is_word;
        weight = weight.saturating_add(counts);
    };
    check_nesting(
        program.as_bytes(),
        PROGRAM_NESTING,
        "jq program nesting",
        outside,
    )?;
    if weight > PROGRAM_WEIGHT {
        return Err(Failure::exceeded(
            "operators and words of a jq program",
            PROGRAM_WEIGHT,
        ));
    }
    Ok(())
}

/// Bounds what is followed by recursion: brackets outside of strings and comments. Shows every byte that stands there.
fn check_nesting(
    text: &[u8],
    most: usize,
    what: &str,
    mut outside: impl FnMut(u8),
) -> Result<(), Failure> {
    let mut open = Vec::new();
    let mut in_string = false;
    let mut in_comment = false;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => in_comment = false,
            _ if in_comment => {}
            b'\\' if in_string => {
                let escaped = bytes.next();
                if escaped == Some(&b'(') {
                    open.push(Open::Interpolation);
                    in_string = false;
                }
            }
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'#' => {
                in_comment = true;
                outside(b' ');
            }
            b'[' | b'{' | b'(' => open.push(Open::Bracket),
            b']' | b'}' | b')' => in_string = open.pop() == Some(Open::Interpolation),
            _ => {}
        }
        if open.len() > most {
            return Err(Failure::exceeded(what, most));
        }
        if !in_string && !in_comment {
            outside(*byte);
        }
    }
    Ok(())
}
