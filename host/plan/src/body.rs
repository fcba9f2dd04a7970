//! The body of a request as it is executed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Pair, Segments};

/// A body; the variant is the one key of its JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// Text.
    Text(Segments),
    /// JSON, written without blanks; members that are an absent input are left out.
    Json(JsonNode),
    /// Pairs, form-encoded; those with an absent input are left out.
    Form(Vec<Pair>),
    /// `multipart/form-data`; parts with an absent input are left out.
    Multipart(Vec<MultipartPart>),
    /// Bytes made of pieces.
    Pieces(Vec<PieceOut>),
    /// One input is the body; absent, there is none.
    Input {
        /// Its name.
        name: String,
        /// How it is sent.
        media: Media,
    },
}

/// A JSON value; the variant is the one key of its JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JsonNode {
    /// A constant.
    Value(Value),
    /// An input's value, of any type.
    Input(String),
    /// A string; segments are encoded `json-string`.
    Text(Segments),
    /// An object, in order.
    Object(Vec<JsonMember>),
    /// An array.
    Array(Vec<JsonNode>),
    /// The text of a file (of the `files` of a call) as a string.
    TextOfFile(String),
    /// The text of a file as JSON.
    JsonOfFile(String),
}

impl JsonNode {
    /// The members of an object that are one input each, by name.
    pub fn input_members(&self) -> impl Iterator<Item = (&JsonMember, &str)> {
        let members = match self {
            Self::Object(members) => members.as_slice(),
            _ => &[],
        };
        members.iter().filter_map(|member| match &member.value {
            Self::Input(input) => Some((member, input.as_str())),
            _ => None,
        })
    }
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonMember {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: JsonNode,
}

/// A part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MultipartPart {
    /// Its name.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub value: PartValue,
    /// Its media type, if one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Its file name, if another is given than the file's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// What a part of a multipart body holds; the variant is the one key of its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartValue {
    /// Text.
    Text(Segments),
    /// A file with its name, of the `files` of a call.
    File(String),
    /// The text of a file.
    TextOfFile(String),
    /// What the stage before put out: always `true`.
    Previous(bool),
}

/// A piece of a body; the variant is the one key of its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieceOut {
    /// Text.
    Text(Segments),
    /// A file of the `files` of a call.
    File {
        /// Its name.
        name: String,
        /// What is done with its bytes.
        r#use: FileUse,
    },
    /// What the stage before put out.
    Previous {
        /// What is done with its bytes.
        r#use: FileUse,
    },
}

/// How an input that is the whole body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Media {
    /// As JSON.
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `multipart/form-data`
    Multipart,
    /// As text.
    Text,
    /// The bytes of a file.
    File,
}

/// What is done with the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileUse {
    /// As they are.
    Verbatim,
    /// Without CR, LF and NUL (`-d @file`).
    Stripped,
    /// Form-encoded (`--data-urlencode @file`).
    Encoded,
}
