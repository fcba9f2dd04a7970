//! Requests of drafts: what the reader of curl says, before `assemble` tells variables apart.

use std::collections::BTreeMap;

use skill_interpreter::draft::{
    AuthDraft, BodyDraft, FileUse, HeaderValue, HttpDraft, Part as TemplatePart, PartContent,
    Piece, QueryDraft, Schemeless, Template,
};
use url::Url;

use super::compare::{Body, Part, Request};
use super::generate::FILES;

/// What templates are filled with.
pub(crate) struct Values<'a> {
    pub(crate) variables: &'a BTreeMap<String, String>,
    pub(crate) stdin: &'a str,
}

impl Values<'_> {
    fn fill(&self, template: &Template) -> String {
        template
            .parts
            .iter()
            .map(|part| match part {
                TemplatePart::Literal(literal) => literal.text.as_str(),
                TemplatePart::Variable(variable) => self.variables[&variable.name].as_str(),
            })
            .collect()
    }

    /// The request of a draft.
    pub(crate) fn request(&self, draft: &HttpDraft) -> Request {
        let mut text = self.fill(draft.url.as_ref().expect("a URL"));
        if !text.contains("://") {
            let scheme = match draft.schemeless {
                Schemeless::Https => "https",
                Schemeless::Http | Schemeless::Relative => "http",
            };
            text = format!("{scheme}://{text}");
        }
        let url = Url::parse(&text).expect("a URL that a WHATWG parser takes");
        let mut query: Vec<String> = url.query().map(str::to_owned).into_iter().collect();
        query.extend(draft.query.iter().map(|piece| match piece {
            QueryDraft::Raw(raw) => self.fill(raw),
            QueryDraft::Pair { name, value } if name.is_empty() => {
                form(self.fill(value).as_bytes())
            }
            QueryDraft::Pair { name, value } => {
                format!(
                    "{}={}",
                    form(name.as_bytes()),
                    form(self.fill(value).as_bytes())
                )
            }
        }));
        let mut request = Request {
            method: draft.method.clone(),
            authority: format!(
                "{}:{}",
                url.host_str().unwrap(),
                url.port_or_known_default().unwrap()
            ),
            path: url.path().to_owned(),
            query: (!query.is_empty()).then(|| query.join("&")),
            headers: Vec::new(),
            removed: Vec::new(),
            body: self.body(draft.body.as_ref()),
        };
        for header in &draft.headers {
            match &header.value {
                HeaderValue::Set(value) => {
                    request
                        .headers
                        .push((header.name.clone(), self.fill(value)));
                }
                HeaderValue::Empty => request.headers.push((header.name.clone(), String::new())),
                HeaderValue::Removed => request.removed.push(header.name.clone()),
            }
        }
        for auth in &draft.auth {
            request.headers.push(self.auth(auth));
        }
        request
    }

    fn auth(&self, auth: &AuthDraft) -> (String, String) {
        match auth {
            AuthDraft::Bearer { prefix, token } => (
                "Authorization".to_owned(),
                format!(
                    "{}{}",
                    prefix.as_deref().unwrap_or("Bearer "),
                    self.fill(token)
                ),
            ),
            AuthDraft::Basic { user, password } => {
                let halves = [user, password].map(|half| self.fill(half.as_ref().unwrap()));
                use base64::Engine as _;
                let encoded = base64::engine::general_purpose::STANDARD.encode(halves.join(":"));
                ("Authorization".to_owned(), format!("Basic {encoded}"))
            }
            AuthDraft::Cookies(cookies) => ("Cookie".to_owned(), self.fill(cookies)),
            other => panic!("curl gives no {other:?}"),
        }
    }

    fn body(&self, body: Option<&BodyDraft>) -> Body {
        match body {
            None => Body::Bytes(Vec::new()),
            Some(BodyDraft::Pieces(pieces)) => {
                Body::Bytes(pieces.iter().flat_map(|piece| self.piece(piece)).collect())
            }
            Some(BodyDraft::Multipart(parts)) => Body::Parts(
                parts
                    .iter()
                    .map(|part| {
                        let (content, filename) = match &part.content {
                            PartContent::Text(text) => (self.fill(text).into_bytes(), None),
                            PartContent::File(name) => {
                                let name = self.fill(name);
                                (file(&name).to_vec(), Some(name))
                            }
                            PartContent::TextOfFile(name) => {
                                (file(&self.fill(name)).to_vec(), None)
                            }
                            PartContent::Previous => (self.stdin.as_bytes().to_vec(), None),
                        };
                        Part {
                            name: part.name.clone(),
                            filename: part.filename.clone().or(filename),
                            content_type: part.content_type.clone(),
                            content,
                        }
                    })
                    .collect(),
            ),
            Some(other) => panic!("curl gives no {other:?}"),
        }
    }

    fn piece(&self, piece: &Piece) -> Vec<u8> {
        let used = |bytes: &[u8], how: FileUse| match how {
            FileUse::Verbatim => bytes.to_vec(),
            FileUse::Stripped => bytes
                .iter()
                .copied()
                .filter(|byte| !matches!(byte, b'\r' | b'\n' | 0))
                .collect(),
            FileUse::Encoded => form(bytes).into_bytes(),
        };
        match piece {
            Piece::Text(text) => self.fill(text).into_bytes(),
            Piece::Encoded(text) => form(self.fill(text).as_bytes()).into_bytes(),
            Piece::File { name, how } => used(file(&self.fill(name)), *how),
            Piece::Previous(how) => used(self.stdin.as_bytes(), *how),
        }
    }
}

pub(crate) fn file(name: &str) -> &'static [u8] {
    FILES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, bytes)| *bytes)
        .expect("a file of the folder")
}

/// A form, where a space is `+`.
pub(crate) fn form(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            b' ' => "+".to_owned(),
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => {
                char::from(*byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
