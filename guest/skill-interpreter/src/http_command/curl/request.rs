//! What the options of curl say together: one request for each URL.

use super::{Given, data, refused, unknown};
use crate::diagnostic::Diagnostics;
use crate::draft::{
    AuthDraft, BodyDraft, HeaderDraft, HeaderValue, HttpDraft, MultipartDraft, OutputDraft,
    PartContent, Piece, QueryDraft, Schemeless, Template, WrittenAs,
};
use crate::failure::{Code, Failure};
use crate::http_command::header::{has, set, set_or};
use crate::http_command::url::with_placeholders;

const CONTENT_TYPE: &str = "Content-Type";
const FORM_TYPE: &str = "application/x-www-form-urlencoded";
const JSON_TYPE: &str = "application/json";
/// What the host can decode. curl asks for what it was built with.
const ENCODINGS: &str = "gzip";

impl Given {
    /// The requests, in the order of their URLs.
    ///
    /// # Errors
    ///
    /// `curl-option-conflict`, and those of the URLs.
    pub(super) fn requests(
        mut self,
        line: u32,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<HttpDraft>, Failure> {
        self.check_conflicts()?;
        if self.insecure {
            diagnostics.warn(
                Code::InsecureIgnored,
                line,
                "certificates are checked, whatever -k says",
            );
        }
        let mut urls = std::mem::take(&mut self.urls);
        if !self.globoff {
            urls = urls.into_iter().map(with_placeholders).collect();
        }
        self.check_urls(&urls)?;
        let outputs = self.outputs(&urls)?;
        let method = self.method();
        let mut headers = std::mem::take(&mut self.headers);
        let auth = self.auth(&headers);
        let body = self.body(&mut headers, line, diagnostics)?;
        self.implied_headers(&mut headers);
        let template = HttpDraft {
            written_as: WrittenAs::Curl,
            method,
            url: None,
            schemeless: if self.https_by_default {
                Schemeless::Https
            } else {
                Schemeless::Http
            },
            query: self.query()?,
            headers,
            auth,
            body,
            follow: self.follow,
            limits: self.limits,
            output: None,
            noted: self.noted,
            globoff: self.globoff,
        };
        if urls.is_empty() {
            let output = outputs.into_iter().next().flatten();
            return Ok(vec![HttpDraft { output, ..template }]);
        }
        let mut outputs = outputs.into_iter();
        Ok(urls
            .into_iter()
            .map(|url| HttpDraft {
                url: Some(url),
                output: outputs.next().flatten(),
                ..template.clone()
            })
            .collect())
    }

    /// And what curl does with two options that no request shows: `-r` is another header with a body, and
    /// `--url-query` is dropped with `-G`, as a bearer token is with `--basic`.
    fn check_conflicts(&self) -> Result<(), Failure> {
        let data = !self.data.is_empty();
        let form = !self.form.is_empty();
        let body = (data && !self.get) || form;
        let is_previous = |part: &MultipartDraft| part.content == PartContent::Previous;
        let conflict = [
            (
                self.urls.len() > 1 && self.form.iter().any(is_previous),
                "a part from standard input for several URLs",
            ),
            (self.head && body, "-I with a body"),
            (
                self.basic && self.bearer.is_some(),
                "--basic with --oauth2-bearer",
            ),
            (form && data, "-F with data"),
            (form && self.get, "-F with -G"),
            (self.range.is_some() && body, "-r with a body"),
            (
                self.get && !self.url_query.is_empty(),
                "-G with --url-query",
            ),
        ];
        match conflict.iter().find(|(found, _)| *found) {
            Some((_, what)) => Err(Failure::new(
                Code::CurlOptionConflict,
                format!("{what} is no request that curl would send"),
            )),
            None => Ok(()),
        }
    }

    fn check_urls(&self, urls: &[Template]) -> Result<(), Failure> {
        let (http, https) = self.allowed.unwrap_or((true, true));
        for address in urls {
            if urls.len() > 1 && address.as_variable().is_some() {
                // An unquoted `$OPTIONS` beside the URL: what it holds could be anything.
                return Err(unknown("a variable besides the URL"));
            }
            let lead = address.leading_text().to_ascii_lowercase();
            let allowed = match lead.split_once("://") {
                Some(("https", _)) => https,
                Some(("http", _)) => http,
                _ if lead.is_empty() || lead.starts_with('/') => http || https,
                _ if self.https_by_default => https,
                _ => http,
            };
            if !allowed {
                return Err(refused("--proto", "forbids the scheme of the URL"));
            }
        }
        Ok(())
    }

    fn method(&self) -> String {
        match &self.method {
            Some(method) => method.clone(),
            None if self.head => "HEAD".to_owned(),
            None if self.get => "GET".to_owned(),
            None if self.data.is_empty() && self.form.is_empty() => "GET".to_owned(),
            None => "POST".to_owned(),
        }
    }

    /// One for each URL, or for what will be the input `url`.
    fn outputs(&self, urls: &[Template]) -> Result<Vec<Option<OutputDraft>>, Failure> {
        let mut outputs = Vec::new();
        for (index, output) in self.outputs.iter().enumerate() {
            let name = match output {
                Some(name) if matches!(name.as_literal().as_deref(), Some("-" | "/dev/null")) => {
                    outputs.push(None);
                    continue;
                }
                Some(name) if name.is_empty() => {
                    return Err(refused("-o", "names no file"));
                }
                Some(name) => Some(name.clone()),
                None if urls.get(index).is_some_and(|url| !names_a_file(url)) => {
                    return Err(refused("-O", "finds no file name in the URL"));
                }
                None => None,
            };
            outputs.push(Some(OutputDraft {
                name,
                directory: self.output_directory.clone(),
            }));
        }
        Ok(outputs)
    }

    /// A header of the same name given by `-H` goes before all of these.
    fn auth(&mut self, headers: &[HeaderDraft]) -> Vec<AuthDraft> {
        let mut auth = Vec::new();
        if !has(headers, "Authorization") {
            match (self.bearer.take(), self.user.take()) {
                (Some(token), _) => auth.push(AuthDraft::Bearer {
                    prefix: None,
                    token,
                }),
                (None, Some((user, password))) => auth.push(AuthDraft::Basic { user, password }),
                (None, None) => {}
            }
        }
        let mut cookies = self.cookies.drain(..);
        if let Some(mut all) = cookies.next()
            && !has(headers, "Cookie")
        {
            for more in cookies {
                all.append(more.prefixed("; "));
            }
            auth.push(AuthDraft::Cookies(all));
        }
        auth
    }

    /// The body, and the headers that it implies.
    fn body(
        &mut self,
        headers: &mut Vec<HeaderDraft>,
        line: u32,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<BodyDraft>, Failure> {
        if !self.form.is_empty() {
            multipart_type(headers)?;
            return Ok(Some(BodyDraft::Multipart(std::mem::take(&mut self.form))));
        }
        if self.json {
            // With -G too.
            for name in [CONTENT_TYPE, "Accept"] {
                if !has(headers, name) {
                    headers.push(set(name, Template::literal(JSON_TYPE)));
                }
            }
        }
        if self.data.is_empty() || self.get {
            return Ok(None);
        }
        let pieces = data::body(&self.data)?;
        if !has(headers, CONTENT_TYPE) {
            if looks_like_json(&pieces) {
                diagnostics.warn(
                    Code::JsonAsForm,
                    line,
                    "a JSON text is sent as application/x-www-form-urlencoded, as curl does without -H or --json",
                );
            }
            headers.push(set(CONTENT_TYPE, Template::literal(FORM_TYPE)));
        }
        Ok(Some(BodyDraft::Pieces(pieces)))
    }

    fn implied_headers(&mut self, headers: &mut Vec<HeaderDraft>) {
        if let Some(agent) = self.agent.take()
            && !has(headers, "User-Agent")
        {
            headers.push(set_or("User-Agent", agent, HeaderValue::Removed));
        }
        if let Some(referer) = self.referer.take()
            && !referer.is_empty()
            && !has(headers, "Referer")
        {
            headers.push(set("Referer", referer));
        }
        if let Some(range) = self.range.take()
            && !has(headers, "Range")
        {
            headers.push(set("Range", range.prefixed("bytes=")));
        }
        if self.compressed && !has(headers, "Accept-Encoding") {
            headers.push(set("Accept-Encoding", Template::literal(ENCODINGS)));
        }
    }

    fn query(&mut self) -> Result<Vec<QueryDraft>, Failure> {
        if self.get {
            return data::query(&self.data);
        }
        Ok(std::mem::take(&mut self.url_query))
    }
}

/// Curl puts the boundary after whatever type is set; only the multipart type is left out here, to be set with it.
fn multipart_type(headers: &mut Vec<HeaderDraft>) -> Result<(), Failure> {
    let is_type = |header: &HeaderDraft| header.name.eq_ignore_ascii_case(CONTENT_TYPE);
    let is_multipart = |header: &HeaderDraft| match &header.value {
        HeaderValue::Set(value) => value
            .as_literal()
            .is_some_and(|value| value.eq_ignore_ascii_case("multipart/form-data")),
        HeaderValue::Empty | HeaderValue::Removed => false,
    };
    if headers
        .iter()
        .any(|header| is_type(header) && !is_multipart(header))
    {
        return Err(Failure::new(
            Code::CurlOptionConflict,
            "-F with a Content-Type other than multipart/form-data",
        ));
    }
    headers.retain(|header| !is_type(header));
    Ok(())
}

/// Whether a file could be named after the address: it has a last path segment, or it may have one.
fn names_a_file(url: &Template) -> bool {
    let text = url.display();
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    url.as_variable().is_some()
        || path
            .split('/')
            .skip(1)
            .last()
            .is_some_and(|end| !end.is_empty())
}

/// Whether a text begins and ends as a JSON object or array does.
fn looks_like_json(pieces: &[Piece]) -> bool {
    let [Piece::Text(text)] = pieces else {
        return false;
    };
    // A variable is text of some kind.
    let mut shown = text.display_with(|_| "_".to_owned());
    shown.retain(|c| !c.is_ascii_whitespace());
    let is_object = shown.starts_with("{\"") && shown.len() > 2 && shown.ends_with('}');
    is_object || shown == "{}" || shown.starts_with('[') && shown.ends_with(']')
}
