//! httpie, `http` and `https`: an argument vector to a request (9.2).

mod item;
mod table;

use std::collections::BTreeMap;

use crate::draft::{
    AuthDraft, BodyDraft, HeaderDraft, HttpDraft, HttpLimits, JsonDraft, MultipartDraft,
    OutputDraft, PartContent, Piece, QueryDraft, Schemeless, Template, WrittenAs,
};
use crate::failure::{Code, Failure};

use self::item::Item;
use self::table::{Role, TABLE};
use super::header::{has, set};
use super::option::{self, Scan};
use super::url::{self, Reader};
use super::{Arguments, Stdin, limit, word};

const FORM_TYPE: &str = "application/x-www-form-urlencoded; charset=utf-8";
const JSON_TYPE: &str = "application/json";
/// K-162
const JSON_ACCEPT: &str = "application/json, */*;q=0.5";

/// Which of the two commands: it is the scheme of an address without one (K-160).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// `http`
    Http,
    /// `https`
    Https,
}

/// Reads a command.
///
/// # Errors
///
/// `httpie-option-refused`, `header-refused`, and those of the URL.
pub(super) fn parse(
    arguments: &Arguments<'_>,
    program: Program,
) -> Result<Vec<HttpDraft>, Failure> {
    let mut given = Given::default();
    let mut operands = Vec::new();
    for item in Scan::new(TABLE, arguments.words) {
        match item
            .map_err(|unfit| Failure::new(Code::HttpieOptionRefused, format!("httpie: {unfit}")))?
        {
            option::Item::Operand(word) => operands.push(word),
            option::Item::Option { name, role, value } => given.take(&name, role, value)?,
        }
    }
    let (method, url, items) = operands_of(&operands);
    for item in items {
        given.item(item::read(item)?);
    }
    let url = url.as_ref().map(shorthand);
    if let Some(url) = &url {
        url::check(
            url,
            Reader {
                scheme_refused: Code::HttpieOptionRefused,
                guesses: false,
            },
        )?;
    }
    given
        .request(method, url, program, arguments.stdin)
        .map(|draft| vec![draft])
}

/// `[METHOD] URL [ITEM…]`: a first word of letters is the method, if another follows.
fn operands_of(operands: &[Template]) -> (Option<String>, Option<Template>, &[Template]) {
    let method = match operands {
        [first, _, ..] => first
            .as_literal()
            .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic())),
        _ => None,
    };
    let rest = match (&method, operands) {
        (Some(_), [_, rest @ ..]) => rest,
        _ => operands,
    };
    match rest.split_first() {
        Some((url, items)) => (method, Some(url.clone()), items),
        None => (method, None, &[]),
    }
}

/// K-160: `:8080/path`, `:/path` and `:` are of `localhost`; `://host` is `host`.
fn shorthand(url: &Template) -> Template {
    let Some(rest) = word::strip_first(url, ':') else {
        return url.clone();
    };
    if let Some(host) = word::strip_first(&rest, '/').and_then(|rest| word::strip_first(&rest, '/'))
    {
        return host;
    }
    match word::first_character(&rest) {
        Some(c) if c.is_ascii_digit() => word::prefixed("localhost:", rest),
        Some('/') => word::prefixed("localhost", rest),
        None if rest.is_empty() => Template::literal("localhost"),
        // A port that is a variable, or an IPv6 address.
        _ => url.clone(),
    }
}

/// K-162: which of `-j`, `-f` and `--multipart` came last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    /// None.
    #[default]
    Unsaid,
    /// `-j`
    Json,
    /// `-f`
    Form,
    /// `--multipart`
    Multipart,
}

/// All that options and items say.
#[derive(Debug, Default)]
struct Given {
    kind: Kind,
    raw: Option<Template>,
    auth: Option<Template>,
    bearer: bool,
    follow: bool,
    total_ms: Option<u64>,
    output: Option<Template>,
    download: bool,
    ignores_stdin: bool,
    headers: Vec<HeaderDraft>,
    query: Vec<QueryDraft>,
    data: Vec<Item>,
}

impl Given {
    fn take(&mut self, option: &str, role: Role, value: Template) -> Result<(), Failure> {
        match role {
            Role::Json => self.kind = Kind::Json,
            Role::Form => self.kind = Kind::Form,
            Role::Multipart => self.kind = Kind::Multipart,
            Role::Raw => self.raw = Some(value),
            Role::Auth => self.auth = Some(value),
            Role::AuthType => {
                self.bearer = match value.as_literal().as_deref() {
                    Some("bearer") => true,
                    Some("basic") => false,
                    _ => return Err(refused(&format!("{option} other than basic and bearer"))),
                };
            }
            Role::Follow => self.follow = true,
            Role::Timeout => {
                self.total_ms = match value.as_literal() {
                    Some(text) if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                        return Err(refused(&format!("{option} with what is no number")));
                    }
                    Some(text) => limit::milliseconds(&text),
                    None => None,
                };
            }
            Role::Output => self.output = Some(value),
            Role::Download => self.download = true,
            Role::IgnoreStdin => self.ignores_stdin = true,
            Role::NoEffect => {}
            Role::Refused => return Err(refused(option)),
        }
        Ok(())
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Header(header) => self.headers.push(header),
            Item::Query(name, value) => self.query.push(QueryDraft::Pair { name, value }),
            data => self.data.push(data),
        }
    }

    fn request(
        mut self,
        method: Option<String>,
        url: Option<Template>,
        program: Program,
        stdin: Stdin<'_>,
    ) -> Result<HttpDraft, Failure> {
        let body = self.body(stdin)?;
        let method = match method {
            Some(method) => method.to_ascii_uppercase(),
            None if body.is_some() => "POST".to_owned(),
            None => "GET".to_owned(),
        };
        if matches!(method.as_str(), "CONNECT" | "TRACE" | "TRACK") {
            return Err(refused("a method that is never mapped"));
        }
        let auth = self.auth()?;
        let mut headers = std::mem::take(&mut self.headers);
        self.implied_headers(&mut headers, body.as_ref());
        let output = self.output()?;
        Ok(HttpDraft {
            schemeless: match program {
                Program::Http => Schemeless::Http,
                Program::Https => Schemeless::Https,
            },
            query: self.query,
            headers,
            auth,
            body,
            follow: self.follow,
            limits: HttpLimits {
                total_ms: self.total_ms,
                ..HttpLimits::default()
            },
            output,
            ..HttpDraft::new(WrittenAs::Httpie, method, url)
        })
    }

    /// K-162: `--raw`, standard input, or the data items.
    fn body(&mut self, stdin: Stdin<'_>) -> Result<Option<BodyDraft>, Failure> {
        let data = std::mem::take(&mut self.data);
        let piped = match stdin {
            _ if self.ignores_stdin => None,
            Stdin::Nothing => None,
            Stdin::Text(text) => Some(Piece::Text(text.clone())),
            Stdin::Previous => Some(Piece::Previous(crate::draft::FileUse::Verbatim)),
        };
        let whole = match (self.raw.take(), piped) {
            (Some(_), Some(_)) => return Err(refused("--raw beside standard input")),
            (Some(raw), None) => Some(Piece::Text(raw)),
            (None, piped) => piped,
        };
        let has_file = data.iter().any(|item| matches!(item, Item::File { .. }));
        let data = match whole {
            Some(_) if !data.is_empty() || self.kind == Kind::Multipart => {
                return Err(refused("a body beside items of data"));
            }
            Some(piece) => return Ok(Some(BodyDraft::Pieces(vec![piece]))),
            None if data.is_empty() => return Ok(None),
            None => data,
        };
        match self.kind {
            Kind::Form if !has_file => collected(data, pair).map(BodyDraft::Form),
            Kind::Form | Kind::Multipart => collected(data, part).map(BodyDraft::Multipart),
            Kind::Unsaid | Kind::Json => object(data).map(BodyDraft::Json),
        }
        .map(Some)
    }

    /// K-163: `-a` replaces an `Authorization` that is a header.
    fn auth(&mut self) -> Result<Vec<AuthDraft>, Failure> {
        let Some(value) = self.auth.take() else {
            return Ok(Vec::new());
        };
        self.headers
            .retain(|header| !header.name.eq_ignore_ascii_case("Authorization"));
        if self.bearer {
            return Ok(vec![AuthDraft::Bearer {
                prefix: None,
                token: value,
            }]);
        }
        let (user, password) =
            word::split_once(&value, ':').ok_or_else(|| refused("-a without a colon"))?;
        Ok(vec![AuthDraft::Basic {
            user: Some(user),
            password: Some(password),
        }])
    }

    /// K-162
    fn implied_headers(&self, headers: &mut Vec<HeaderDraft>, body: Option<&BodyDraft>) {
        let mut imply = |name: &str, value: &str| {
            if !has(headers, name) {
                headers.push(set(name, Template::literal(value)));
            }
        };
        match (self.kind, body) {
            (Kind::Json, _) | (Kind::Unsaid, Some(_)) => {
                imply("Accept", JSON_ACCEPT);
                imply("Content-Type", JSON_TYPE);
            }
            (Kind::Unsaid, None) | (_, Some(BodyDraft::Multipart(_))) | (Kind::Multipart, _) => {}
            (Kind::Form, _) => imply("Content-Type", FORM_TYPE),
        }
    }

    fn output(&mut self) -> Result<Option<OutputDraft>, Failure> {
        match self.output.take() {
            Some(name) if name.is_empty() => Err(refused("-o without a name")),
            Some(name) if name.as_literal().as_deref() == Some("/dev/null") => Ok(None),
            None if !self.download => Ok(None),
            name => Ok(Some(OutputDraft {
                name,
                directory: None,
            })),
        }
    }
}

fn collected<T>(data: Vec<Item>, read: fn(Item) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
    data.into_iter().map(read).collect()
}

/// As in a dict of Python: the last value of a name, at the place of the first.
fn object(data: Vec<Item>) -> Result<JsonDraft, Failure> {
    let mut members: Vec<(String, JsonDraft)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for item in data {
        let (key, value) = member(item)?;
        let place = *places.entry(key.clone()).or_insert(members.len());
        match members.get_mut(place) {
            Some(known) => known.1 = value,
            None => members.push((key, value)),
        }
    }
    Ok(JsonDraft::Object(members))
}

fn member(item: Item) -> Result<(String, JsonDraft), Failure> {
    match item {
        Item::Text(key, value) => Ok((key, JsonDraft::Text(value))),
        Item::Json(key, value) => Ok((key, value)),
        Item::TextOfFile(key, name) => Ok((key, JsonDraft::TextOfFile(name))),
        Item::JsonOfFile(key, name) => Ok((key, JsonDraft::JsonOfFile(name))),
        Item::Header(_) | Item::Query(..) | Item::File { .. } => {
            Err(refused("an item with a file, without -f or --multipart,"))
        }
    }
}

fn pair(item: Item) -> Result<(String, Template), Failure> {
    match item {
        Item::Text(key, value) => Ok((key, value)),
        Item::Json(key, JsonDraft::Value(serde_json::Value::Number(number))) => {
            Ok((key, Template::literal(number.to_string())))
        }
        _ => Err(refused(
            "an item of a form that is neither text nor a number",
        )),
    }
}

fn part(item: Item) -> Result<MultipartDraft, Failure> {
    match item {
        Item::File {
            key,
            name,
            content_type,
        } => Ok(MultipartDraft {
            name: key,
            content_type,
            filename: None,
            content: PartContent::File(name),
        }),
        Item::TextOfFile(key, name) => Ok(MultipartDraft {
            name: key,
            content_type: None,
            filename: None,
            content: PartContent::TextOfFile(name),
        }),
        item => pair(item).map(|(name, text)| MultipartDraft {
            name,
            content_type: None,
            filename: None,
            content: PartContent::Text(text),
        }),
    }
}

/// K-163, naming the option and nothing of its value (K-38).
fn refused(what: &str) -> Failure {
    Failure::new(
        Code::HttpieOptionRefused,
        format!("httpie: {what} is refused"),
    )
}
