//! A request as a command or a document gives it. `assemble` checks and splits the URL, tells auth from other headers, and
//! finds the inputs; a reader of commands only says what the options say.

use serde_json::Value;

use super::Template;
use crate::model::{FileUse, HttpLimits, Media};

/// How a request was written, which gives its confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenAs {
    /// A structured `endpoint`, an OpenAPI operation.
    Endpoint,
    /// `curl`
    Curl,
    /// `wget`
    Wget,
    /// A bare verb.
    Verb,
    /// A list item, a table cell, a labelled group.
    Listed,
}

/// What a URL without scheme means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemeless {
    /// `http`, with diagnostic `scheme-missing`; one that begins `/` is relative.
    Http,
    /// `https`, without a diagnostic.
    Https,
    /// Relative to the base.
    Relative,
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpDraft {
    /// How it was written.
    pub written_as: WrittenAs,
    /// Upper-case; a default is already applied.
    pub method: String,
    /// With its query, not split, not checked; the fragment too. None: the caller says it.
    pub url: Option<Template>,
    /// What a URL without scheme means.
    pub schemeless: Schemeless,
    /// Further query, after that of the URL.
    pub query: Vec<QueryDraft>,
    /// In order, `Content-Type` and `Accept` that an option implies included. Which may be sent is checked by `assemble`.
    pub headers: Vec<HeaderDraft>,
    /// Besides what headers say. No auth, said so, is one element [`AuthDraft::None`].
    pub auth: Vec<AuthDraft>,
    /// The body.
    pub body: Option<BodyDraft>,
    /// Whether redirects are followed.
    pub follow: bool,
    /// Limits that the request lowers.
    pub limits: HttpLimits,
    /// Write the response's body to a file.
    pub output: Option<OutputDraft>,
    /// Options occurred that change what is shown, and no request.
    pub noted: bool,
    /// Whether brackets and braces in the URL stand for themselves (`-g`).
    pub globoff: bool,
}

impl HttpDraft {
    /// A request with nothing but a method and perhaps a URL.
    #[must_use]
    pub fn new(written_as: WrittenAs, method: impl Into<String>, url: Option<Template>) -> Self {
        Self {
            written_as,
            method: method.into(),
            url,
            schemeless: Schemeless::Relative,
            query: Vec::new(),
            headers: Vec::new(),
            auth: Vec::new(),
            body: None,
            follow: false,
            limits: HttpLimits::default(),
            output: None,
            noted: false,
            globoff: false,
        }
    }
}

/// A piece of query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryDraft {
    /// Text as it stands in a URL, `a=1&b=2`, already percent-encoded where it has to be.
    Raw(Template),
    /// A pair whose value is not yet encoded (`--data-urlencode` with `-G`, a structured `query`).
    Pair {
        /// As written. Empty for content without a name (`--data-urlencode content`).
        name: String,
        /// Not encoded.
        value: Template,
    },
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderDraft {
    /// As written.
    pub name: String,
    /// What it says.
    pub value: HeaderValue,
}

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// A value, without the blanks around it.
    Set(Template),
    /// Sent empty (`X;`).
    Empty,
    /// Not sent, a default included (`X:`).
    Removed,
}

/// Credentials that stand outside headers, or are declared. Variables in them are secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthDraft {
    /// No auth is to be assumed.
    None,
    /// `Authorization: Bearer T`, or another prefix, its blank included.
    Bearer {
        /// `Bearer ` if nothing else is said.
        prefix: Option<String>,
        /// The token.
        token: Template,
    },
    /// Basic auth. A literal half is dropped by `assemble`; a missing one is a secret named after the skill.
    Basic {
        /// The half before the colon.
        user: Option<Template>,
        /// The half after it.
        password: Option<Template>,
    },
    /// A header of this name.
    Header {
        /// `X-API-Key` by default.
        name: String,
        /// Kept before the value, its blank included.
        prefix: Option<String>,
        /// The value.
        value: Template,
    },
    /// A query parameter.
    Query {
        /// Its name.
        name: String,
        /// Its value.
        value: Template,
    },
    /// A cookie.
    Cookie {
        /// Its name.
        name: String,
        /// Its value.
        value: Template,
    },
    /// `-b "a=1; b=$TOKEN"`.
    Cookies(Template),
}

/// A body.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyDraft {
    /// Bytes made of pieces, one after another; separators (`&`) are text pieces. Whether it is JSON or form is found by
    /// `assemble` from the content type and the text.
    Pieces(Vec<Piece>),
    /// `multipart/form-data`.
    Multipart(Vec<MultipartDraft>),
    /// A JSON value with templates in its string leaves.
    Json(JsonDraft),
    /// Form pairs that are not yet encoded.
    Form(Vec<(String, Template)>),
    /// One input is the whole body: any JSON value, an object of form fields or parts, a text, a file.
    Input {
        /// Its name.
        name: String,
        /// How it is sent.
        media: Media,
        /// The media type as declared, for `Content-Type`.
        content_type: Option<String>,
    },
    /// Made from the declared inputs that have no other place.
    FromInputs(Media),
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is sent.
    Text(Template),
    /// Text that is form-encoded before it is sent.
    Encoded(Template),
    /// A file's bytes.
    File {
        /// As written.
        name: Template,
        /// What is done with them.
        how: FileUse,
    },
    /// `@-`: what the stage before put out.
    Previous(FileUse),
}

/// A part of a multipart body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultipartDraft {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub content: PartContent,
    /// `;type=`
    pub content_type: Option<String>,
    /// `;filename=`
    pub filename: Option<String>,
}

/// What a part of a multipart body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartContent {
    /// Text.
    Text(Template),
    /// `@f`: a file, with its name.
    File(Template),
    /// `<f`: the text of a file.
    TextOfFile(Template),
    /// `@-`, `<-`: what the stage before put out.
    Previous,
}

/// A JSON value with templates.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonDraft {
    /// A scalar without any template in it.
    Value(Value),
    /// A string with templates; one that is nothing but a variable is a string too.
    Text(Template),
    /// A value that is nothing but a variable, of any type.
    Any(Template),
    /// An array.
    Array(Vec<JsonDraft>),
    /// An object, in order.
    Object(Vec<(String, JsonDraft)>),
}

/// The file that a response's body is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputDraft {
    /// `-o F`, `-O F`; none: the last path segment of the URL, or `index.html`; for curl `-O` without a segment
    /// the reader refuses.
    pub name: Option<Template>,
    /// `--output-dir D`, `-P D`
    pub directory: Option<Template>,
}
