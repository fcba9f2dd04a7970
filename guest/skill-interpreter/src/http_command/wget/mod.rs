//! wget: an argument vector to requests.

mod table;

use crate::draft::{
    AuthDraft, BodyDraft, FileUse, HeaderDraft, HeaderValue, HttpDraft, HttpLimits, OutputDraft,
    Piece, Schemeless, Template, WrittenAs,
};
use crate::failure::{Code, Failure};

use self::table::{Role, TABLE};
use super::header::{self, Bare, has, set, set_or};
use super::option::{Item, Scan};
use super::{Arguments, limit};

const CONTENT_TYPE: &str = "Content-Type";
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// Reads a command.
///
/// # Errors
///
/// `wget-option-refused`, `header-refused`, and those of the URL.
pub(super) fn parse(arguments: &Arguments<'_>) -> Result<Vec<HttpDraft>, Failure> {
    let mut given = Given::default();
    for item in Scan::new(TABLE, arguments.words) {
        match item
            .map_err(|unfit| Failure::new(Code::WgetOptionRefused, format!("wget: {unfit}")))?
        {
            Item::Operand(url) => given.urls.push(url),
            Item::Option { name, role, value } => given.take(&name, role, value)?,
        }
    }
    given.requests()
}

/// All that the options say.
#[derive(Debug, Default)]
struct Given {
    urls: Vec<Template>,
    output: Option<Template>,
    directory: Option<Template>,
    headers: Vec<HeaderDraft>,
    agent: Option<Template>,
    referer: Option<Template>,
    method: Option<String>,
    post_data: Option<Template>,
    post_file: Option<Template>,
    body_data: Option<Template>,
    body_file: Option<Template>,
    seconds: Option<Template>,
    redirects: Option<Template>,
    user: Option<Template>,
    http_user: Option<Template>,
    password: Option<Template>,
    http_password: Option<Template>,
}

impl Given {
    fn take(&mut self, option: &str, role: Role, value: Template) -> Result<(), Failure> {
        match role {
            Role::NoEffect => {}
            Role::No => {
                let letters = value.as_literal().unwrap_or_default();
                if letters.is_empty() || letters.chars().any(|c| c != 'v') {
                    return Err(refused("-n", "is known only as -nv"));
                }
            }
            Role::Output => self.output = Some(value),
            Role::Directory => self.directory = Some(value),
            Role::Header => self.header(&value)?,
            Role::UserAgent => self.agent = Some(value),
            Role::Referer => self.referer = Some(value),
            Role::Method => {
                let method = header::method(&value).map_err(|why| refused(option, why))?;
                self.method = Some(method);
            }
            Role::PostData => self.post_data = Some(value),
            Role::PostFile => self.post_file = Some(value),
            Role::BodyData => self.body_data = Some(value),
            Role::BodyFile => self.body_file = Some(value),
            Role::Timeout => self.seconds = Some(value),
            Role::MaxRedirects => self.redirects = Some(value),
            Role::User => self.user = Some(value),
            Role::HttpUser => self.http_user = Some(value),
            Role::Password => self.password = Some(value),
            Role::HttpPassword => self.http_password = Some(value),
            Role::Refused => return Err(refused(option, "is never mapped")),
        }
        Ok(())
    }

    /// A later header of the same name replaces the former; an empty text takes all away.
    fn header(&mut self, text: &Template) -> Result<(), Failure> {
        if text.is_empty() {
            self.headers.clear();
            return Ok(());
        }
        let header = header::parse(text, Bare::IsEmpty)?;
        self.headers
            .retain(|former| !former.name.eq_ignore_ascii_case(&header.name));
        self.headers.push(header);
        Ok(())
    }

    fn requests(mut self) -> Result<Vec<HttpDraft>, Failure> {
        let urls = std::mem::take(&mut self.urls);
        if urls.len() > 1 && urls.iter().any(|url| url.as_variable().is_some()) {
            return Err(refused("a variable besides the URL", "could be anything"));
        }
        let output = self.output()?;
        if urls.len() > 1 && output.as_ref().is_some_and(|output| output.name.is_some()) {
            return Err(refused("-O", "would put several downloads into one file"));
        }
        let (method, body) = self.method_and_body()?;
        let limits = self.limits()?;
        let auth = self.auth()?;
        let mut headers = std::mem::take(&mut self.headers);
        if body.is_some() && !has(&headers, CONTENT_TYPE) {
            headers.push(set(CONTENT_TYPE, Template::literal(FORM_TYPE)));
        }
        if let Some(agent) = self.agent.filter(|_| !has(&headers, "User-Agent")) {
            headers.push(set_or("User-Agent", agent, HeaderValue::Removed));
        }
        if let Some(referer) = self.referer.filter(|_| !has(&headers, "Referer")) {
            headers.push(set_or("Referer", referer, HeaderValue::Empty));
        }
        let template = HttpDraft {
            schemeless: Schemeless::Http,
            headers,
            auth,
            body,
            // A wget that may follow none does not follow.
            follow: limits.redirects != Some(0),
            limits,
            output,
            ..HttpDraft::new(WrittenAs::Wget, method, None)
        };
        if urls.is_empty() {
            return Ok(vec![template]);
        }
        Ok(urls
            .into_iter()
            .map(|url| HttpDraft {
                url: Some(url),
                ..template.clone()
            })
            .collect())
    }

    fn output(&mut self) -> Result<Option<OutputDraft>, Failure> {
        match self.output.take() {
            Some(name) if matches!(name.as_literal().as_deref(), Some("-" | "/dev/null")) => {
                Ok(None)
            }
            Some(name) if name.is_empty() => Err(refused("-O", "names no file")),
            // wget does not look at -P where -O names a file.
            Some(name) => Ok(Some(OutputDraft {
                name: Some(name),
                directory: None,
            })),
            None => Ok(Some(OutputDraft {
                name: None,
                directory: self.directory.take(),
            })),
        }
    }

    /// With what wget itself takes for a contradiction refused.
    fn method_and_body(&mut self) -> Result<(String, Option<BodyDraft>), Failure> {
        let body = |option, text: Option<Template>, file: Option<Template>| {
            let piece = match (text, file) {
                (Some(_), Some(_)) => {
                    return Err(refused(option, "stands beside the same data as text"));
                }
                (Some(text), None) => Piece::Text(text),
                (None, Some(name))
                    if name.is_empty() || name.as_literal().as_deref() == Some("-") =>
                {
                    return Err(refused(option, "names no file"));
                }
                (None, Some(name)) => Piece::File {
                    name,
                    how: FileUse::Verbatim,
                },
                (None, None) => return Ok(None),
            };
            Ok(Some(BodyDraft::Pieces(vec![piece])))
        };
        let post = body("--post-file", self.post_data.take(), self.post_file.take())?;
        let body = body("--body-file", self.body_data.take(), self.body_file.take())?;
        match (self.method.take(), post, body) {
            (Some(_), Some(_), _) => Err(refused("--method", "stands beside --post-data")),
            (Some(method), None, body) => Ok((method, body)),
            (None, _, Some(_)) => Err(refused("--body-data", "needs --method")),
            (None, Some(body), None) => Ok(("POST".to_owned(), Some(body))),
            (None, None, None) => Ok(("GET".to_owned(), None)),
        }
    }

    fn limits(&self) -> Result<HttpLimits, Failure> {
        let number = |option, value: &Option<Template>, read| {
            let number = value.as_ref().map(|value| limit::of_option(value, read));
            number
                .unwrap_or(Some(None))
                .ok_or_else(|| refused(option, "is no number"))
        };
        // wget's is for each of look-up, connection and reading; the whole may be limited by it, which only lowers.
        let seconds = number("-T", &self.seconds, limit::milliseconds)?;
        Ok(HttpLimits {
            total_ms: seconds,
            connect_ms: seconds,
            response_bytes: None,
            redirects: number("--max-redirect", &self.redirects, limit::count)?,
        })
    }

    /// wget sends them when it is asked for them; they are sent at once here.
    fn auth(&mut self) -> Result<Vec<AuthDraft>, Failure> {
        let user = self.http_user.take().or(self.user.take());
        let password = self.http_password.take().or(self.password.take());
        match (user, password) {
            _ if has(&self.headers, "Authorization") => Ok(Vec::new()),
            (None, None) => Ok(Vec::new()),
            (Some(user), Some(password)) => Ok(vec![AuthDraft::Basic {
                user: Some(user),
                password: Some(password),
            }]),
            (Some(_), None) => Err(refused("--user", "needs a password")),
            (None, Some(_)) => Err(refused("--password", "needs a user")),
        }
    }
}

/// Naming the option and nothing of its value.
fn refused(option: &str, why: &str) -> Failure {
    Failure::new(
        Code::WgetOptionRefused,
        format!("the option {option} of wget is refused: it {why}"),
    )
}
