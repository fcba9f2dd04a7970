//! curl: an argument vector to requests.
//!
//! Options are gathered first ([`Given`]), as curl does, and requests are made of all of them at the end ([`request`]).

mod data;
mod form;
mod request;
mod table;

use std::cell::Cell;

use crate::diagnostic::Diagnostics;
use crate::draft::{
    HeaderDraft, HttpDraft, HttpLimits, MultipartDraft, QueryDraft, Template, Word,
};
use crate::failure::{Code, Failure};

use self::data::Datum;
use self::table::{Role, TABLE};
use super::option::{Item, Scan};
use super::{Arguments, Stdin, header, limit};

/// Whether words are nothing but options with their values: no address, and nothing behind `--`. One that is refused ends the
/// look, since it makes the whole command unusable.
#[must_use]
pub fn are_curl_options(words: &[Word]) -> bool {
    for item in Scan::new(TABLE, words) {
        match item {
            Ok(Item::Operand(_)) => return false,
            Err(_)
            | Ok(Item::Option {
                role: Role::Refused,
                ..
            }) => return true,
            Ok(Item::Option { .. }) => {}
        }
    }
    true
}

/// Reads a command.
///
/// # Errors
///
/// The codes of options, headers and addresses.
pub(super) fn parse(
    arguments: &Arguments<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<HttpDraft>, Failure> {
    let reading = Reading {
        stdin: arguments.stdin,
        is_stdin_read: Cell::new(false),
    };
    let is_next = |word: &Template| matches!(word.as_literal().as_deref(), Some("--next" | "-:"));
    let parts: Vec<&[Template]> = arguments.words.split(is_next).collect();
    let mut requests = Vec::new();
    for words in &parts {
        let given = gathered(words, &reading)?;
        if parts.len() > 1 && given.urls.is_empty() {
            return Err(refused("--next", "stands beside a request without a URL"));
        }
        requests.extend(given.requests(arguments.line, diagnostics)?);
    }
    Ok(requests)
}

/// All that the options of one request say.
fn gathered(words: &[Template], reading: &Reading<'_>) -> Result<Given, Failure> {
    let mut given = Given::default();
    for item in Scan::new(TABLE, words) {
        match item
            .map_err(|unfit| Failure::new(Code::CurlOptionUnknown, format!("curl: {unfit}")))?
        {
            Item::Operand(url) if url.as_literal().as_deref() == Some("-") => {
                return Err(unknown("-"));
            }
            Item::Operand(url) => given.urls.push(url),
            Item::Option { name, role, value } => given.take(&name, role, value, reading)?,
        }
    }
    Ok(given)
}

/// What options read besides their values.
struct Reading<'a> {
    stdin: Stdin<'a>,
    is_stdin_read: Cell<bool>,
}

impl Reading<'_> {
    /// Standard input, which can be read once.
    ///
    /// # Errors
    ///
    /// `curl-option-conflict` the second time.
    fn stdin(&self, option: &str) -> Result<Stdin<'_>, Failure> {
        if self.is_stdin_read.replace(true) {
            return Err(Failure::new(
                Code::CurlOptionConflict,
                format!("{option}: standard input is read twice"),
            ));
        }
        Ok(self.stdin)
    }
}

/// All that the options say.
#[derive(Debug, Default)]
struct Given {
    urls: Vec<Template>,
    method: Option<String>,
    get: bool,
    head: bool,
    data: Vec<Datum>,
    /// Whether any of the data is of `--json`.
    json: bool,
    form: Vec<MultipartDraft>,
    headers: Vec<HeaderDraft>,
    user: Option<(Option<Template>, Option<Template>)>,
    basic: bool,
    bearer: Option<Template>,
    agent: Option<Template>,
    referer: Option<Template>,
    range: Option<Template>,
    compressed: bool,
    cookies: Vec<Template>,
    follow: bool,
    limits: HttpLimits,
    /// The n-th is of the n-th URL; none is the name of the URL.
    outputs: Vec<Option<Template>>,
    output_directory: Option<Template>,
    url_query: Vec<QueryDraft>,
    /// Whether `--proto` leaves `http` and `https`; none where it is not given.
    allowed: Option<(bool, bool)>,
    https_by_default: bool,
    noted: bool,
    insecure: bool,
    globoff: bool,
}

impl Given {
    fn take(
        &mut self,
        option: &str,
        role: Role,
        value: Template,
        reading: &Reading<'_>,
    ) -> Result<(), Failure> {
        match role {
            Role::Method => {
                let method = header::method(&value).map_err(|why| refused(option, why))?;
                self.method = Some(method);
            }
            Role::Data(kind) => {
                self.json |= kind == table::Data::Json;
                self.data.push(data::read(option, kind, value, reading)?);
            }
            Role::Form => self.form.push(form::read(option, &value, reading)?),
            Role::FormString => self.form.push(form::read_string(option, &value)?),
            Role::Get => self.get = true,
            Role::Head => self.head = true,
            Role::GlobOff => self.globoff = true,
            Role::Header => self.headers.push(read_header(option, &value)?),
            Role::User => {
                self.user = Some(user(value));
            }
            Role::Basic => self.basic = true,
            Role::Bearer => self.bearer = Some(value),
            Role::UserAgent => self.agent = Some(value),
            Role::Referer => self.referer = Some(referer(option, value)?),
            Role::Range => self.range = Some(range(value)),
            Role::Compressed => self.compressed = true,
            Role::Cookie => self.cookies.push(cookie(option, value)?),
            Role::Location => self.follow = true,
            Role::MaxTime => self.limits.total_ms = number(option, &value, limit::milliseconds)?,
            Role::ConnectTimeout => {
                self.limits.connect_ms = number(option, &value, limit::milliseconds)?;
            }
            Role::MaxFilesize => {
                self.limits.response_bytes = number(option, &value, limit::bytes)?;
            }
            Role::MaxRedirects => self.limits.redirects = number(option, &value, limit::count)?,
            Role::Output => self.outputs.push(Some(value)),
            Role::RemoteName => self.outputs.push(None),
            Role::OutputDirectory => self.output_directory = Some(value),
            Role::Url => self.urls.push(value),
            Role::UrlQuery => self
                .url_query
                .push(data::url_query(option, value, reading)?),
            Role::Protocols => self.allowed = Some(protocols(option, &value)?),
            Role::DefaultProtocol => match value.as_literal().as_deref() {
                Some("http") => self.https_by_default = false,
                Some("https") => self.https_by_default = true,
                _ => return Err(refused(option, "names neither http nor https")),
            },
            Role::NoEffect => {}
            Role::Insecure => self.insecure = true,
            Role::Noted => self.noted = true,
            Role::NotedToStdout if value.as_literal().as_deref() == Some("-") => self.noted = true,
            Role::NotedToStdout => return Err(refused(option, "writes a file")),
            Role::Refused => return Err(refused(option, "is never mapped")),
        }
        Ok(())
    }
}

/// The halves of `-u name:password`. Without a colon curl asks for the password; a variable without one holds both.
fn user(value: Template) -> (Option<Template>, Option<Template>) {
    if let Some((name, password)) = value.split_once(':') {
        return (Some(name), Some(password));
    }
    match value.as_variable() {
        Some(both) => {
            let half =
                |end: &str| Template::variable(format!("{}_{end}", both.name), both.spelling);
            (Some(half("USER")), Some(half("PASSWORD")))
        }
        None => (Some(value), None),
    }
}

/// Whether a list of `--proto` leaves `http` and `https`: names with `+`, `-` or `=` before them, in order.
fn protocols(option: &str, list: &Template) -> Result<(bool, bool), Failure> {
    let list = list
        .as_literal()
        .ok_or_else(|| refused(option, "has a variable in it"))?;
    let (mut http, mut https) = (true, true);
    for token in list.split(',') {
        let name = token.trim_start_matches(['+', '-', '=']);
        let signs = token.strip_suffix(name).unwrap_or_default();
        if signs.ends_with('=') {
            (http, https) = (false, false);
        }
        let allowed = !signs.ends_with('-');
        match name.to_ascii_lowercase().as_str() {
            "all" => (http, https) = (allowed, allowed),
            "http" => http = allowed,
            "https" => https = allowed,
            _ => {}
        }
    }
    Ok((http, https))
}

fn read_header(option: &str, value: &Template) -> Result<HeaderDraft, Failure> {
    if value.first_character() == Some('@') {
        return Err(refused(option, "reads headers from a file"));
    }
    header::parse_of_curl(value)
}

/// `;auto` changes what is sent after a redirect, which the host does not do.
fn referer(option: &str, value: Template) -> Result<Template, Failure> {
    if value.literals().any(|text| text.contains(";auto")) {
        return Err(refused(option, "has ;auto in it"));
    }
    Ok(value)
}

/// Curl puts a dash after a lone number.
fn range(mut value: Template) -> Template {
    let begins_with_digit = value.first_character().is_some_and(|c| c.is_ascii_digit());
    if begins_with_digit && !value.contains('-') {
        value.push_literal("-", crate::draft::Quoting::Bare);
    }
    value
}

fn cookie(option: &str, value: Template) -> Result<Template, Failure> {
    if value.first_character() == Some('@') || !value.contains('=') {
        return Err(refused(option, "reads cookies from a file"));
    }
    Ok(value)
}

/// A limit that is no number is refused by curl; one in a variable lowers nothing.
fn number(
    option: &str,
    value: &Template,
    read: fn(&str) -> Option<u64>,
) -> Result<Option<u64>, Failure> {
    limit::of_option(value, read).ok_or_else(|| refused(option, "is no number"))
}

/// Naming the option and nothing of its value.
fn refused(option: &str, why: &str) -> Failure {
    Failure::new(
        Code::CurlOptionRefused,
        format!("the option {option} of curl is refused: it {why}"),
    )
}

fn unknown(option: &str) -> Failure {
    Failure::new(
        Code::CurlOptionUnknown,
        format!("curl: {option} is not an option that is known"),
    )
}
