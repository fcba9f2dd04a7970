//! Headers and credentials.

use super::cookies::{self, Cookie};
use super::credential;
use super::encode;
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position, as_it_is};
use super::secrets;
use crate::context::AssumedAuth;
use crate::draft::{
    AuthDraft, HeaderDraft, HeaderValue, HttpDraft, Part, Spelling, Template, Variable, WrittenAs,
};
use crate::failure::{Code, Failure};
use crate::http_command::is_token;
use crate::model::header::is_refused;
use crate::model::{AuthOut, Basic, Encoding, HeaderOut, Pair, SecretKind, Segment, Segments};

/// What headers and auth come to.
#[derive(Debug, Default)]
pub(super) struct Heading {
    pub(super) headers: Vec<HeaderOut>,
    pub(super) removed: Vec<String>,
    pub(super) cookies: Vec<Pair>,
    pub(super) basic: Option<Basic>,
    /// Query pairs that carry a credential, not yet assembled.
    pub(super) query: Vec<Pair>,
}

impl Heading {
    /// Whether a header is set or removed.
    pub(super) fn speaks_of(&self, name: &str) -> bool {
        self.headers
            .iter()
            .map(|header| &header.name)
            .chain(&self.removed)
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The literal value of a header, without its parameters, in lower case.
    pub(super) fn media_type(&self) -> Option<String> {
        let header = self
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("content-type"))?;
        let value = header.value.as_literal()?;
        let essence = value.split(';').next().unwrap_or_default();
        Some(essence.trim().to_ascii_lowercase())
    }

    /// Sets a header unless the document speaks of it.
    pub(super) fn default_header(&mut self, name: &str, value: &str) {
        if !self.speaks_of(name) {
            self.headers.push(HeaderOut {
                name: name.to_owned(),
                value: Segments::literal(value),
            });
        }
    }
}

impl Assembly<'_> {
    /// Headers, then declared auth, then the auth that is assumed where none is given.
    pub(super) fn heading(&mut self, draft: &HttpDraft) -> Result<Heading, Failure> {
        let mut heading = Heading::default();
        self.has_key_header = draft.headers.iter().any(|header| {
            secrets::is_secret_header(&header.name) && secrets::of_field(&header.name) == "API_KEY"
        });
        for header in &draft.headers {
            self.header(header, &mut heading)?;
        }
        for auth in &draft.auth {
            self.declared_auth(auth, &mut heading)?;
        }
        // A command to another origin than that of the base sends what it says, as the real one would.
        let is_command = matches!(draft.written_as, WrittenAs::Curl | WrittenAs::Wget);
        if draft.auth.is_empty()
            && self.auth.is_none()
            && !(is_command && self.is_elsewhere())
            && !heading
                .headers
                .iter()
                .any(|header| secrets::is_secret_header(&header.name))
        {
            self.assumed_auth(&mut heading);
        }
        Ok(heading)
    }

    fn header(&mut self, header: &HeaderDraft, heading: &mut Heading) -> Result<(), Failure> {
        check_name(&header.name)?;
        match &header.value {
            HeaderValue::Removed => heading.removed.push(header.name.clone()),
            HeaderValue::Empty => heading.headers.push(HeaderOut {
                name: header.name.clone(),
                value: Segments::default(),
            }),
            HeaderValue::Set(value) if header.name.eq_ignore_ascii_case("cookie") => {
                self.cookies(value, heading)?;
            }
            HeaderValue::Set(value) => {
                let value = self.header_value(value)?;
                let segments = if secrets::is_secret_header(&header.name) {
                    self.auth_value(&header.name, &value)
                } else {
                    self.segments(&value, Encoding::Header, Position::Header, None, as_it_is)
                };
                heading.headers.push(HeaderOut {
                    name: header.name.clone(),
                    value: segments,
                });
            }
        }
        Ok(())
    }

    fn header_value(&self, value: &Template) -> Result<Template, Failure> {
        let value = self.with_constants(&scan(value, Place::Value));
        let has_control = value.parts.iter().any(|part| {
            matches!(part, Part::Literal(literal)
                if literal.text.chars().any(|c| c.is_control() && c != '\t'))
        });
        if has_control {
            return Err(refused("the value of a header holds a control character"));
        }
        Ok(value)
    }

    /// The value of a header in which credentials stand. Its scheme (`Bearer `, `Token `) is kept.
    fn auth_value(&mut self, name: &str, value: &Template) -> Segments {
        let is_authorization = name.eq_ignore_ascii_case("authorization");
        let (prefix, rest) = split_scheme(value);
        let kind = match prefix.as_deref() {
            Some(scheme) if is_authorization && scheme.eq_ignore_ascii_case("bearer ") => {
                SecretKind::Bearer
            }
            _ => SecretKind::Header,
        };
        self.scheme_and_credential(name, prefix, &rest, kind)
    }

    fn scheme_and_credential(
        &mut self,
        name: &str,
        scheme: Option<String>,
        rest: &Template,
        kind: SecretKind,
    ) -> Segments {
        let mut segments = Segments::literal(scheme.unwrap_or_default());
        let what = self.header_secret(name);
        for segment in self.credential(rest, Encoding::Header, kind, &what).0 {
            segments.push(segment);
        }
        self.note_auth(kind, name, &segments);
        segments
    }

    /// What a credential without a name is called in this header.
    fn header_secret(&self, name: &str) -> String {
        if !name.eq_ignore_ascii_case("authorization") {
            return secrets::of_field(name);
        }
        let what = if self.has_key_header {
            "TOKEN"
        } else {
            "API_KEY"
        };
        what.to_owned()
    }

    /// Text in the place of a credential: variables are secrets, a literal is replaced by one.
    fn credential(
        &mut self,
        value: &Template,
        enc: Encoding,
        kind: SecretKind,
        what: &str,
    ) -> Segments {
        if let Some(literal) = value.as_literal() {
            // `-u "$KEY:"`, `-b "a="`: what is empty is no credential.
            if literal.is_empty() {
                return Segments::default();
            }
            let found = credential::in_auth_position(&literal);
            let secret = self.replace_literal(found, what, kind);
            return Segments::secret(secret, enc);
        }
        let mut value = value.clone();
        // A placeholder takes the name that its place gives it, unless it says more.
        for part in &mut value.parts {
            if let Part::Variable(variable) = part
                && let Some(own) = secrets::nameless(&variable.name)
            {
                let is_half = matches!(what, "USER" | "PASSWORD");
                let what = if is_half || own == "API_KEY" {
                    what
                } else {
                    &own
                };
                variable.name = secrets::skill_secret(what, self.context);
            }
        }
        self.segments(&value, enc, Position::Auth(kind), None, as_it_is)
    }

    /// Notes how the request is authenticated, for people.
    fn note_auth(&mut self, kind: SecretKind, name: &str, value: &Segments) {
        let Some(secret) = value.0.iter().find_map(|segment| match segment {
            Segment::Secret { secret, .. } => Some(secret.clone()),
            _ => None,
        }) else {
            return;
        };
        let r#type = match kind {
            SecretKind::Bearer => "bearer",
            SecretKind::Query => "query",
            SecretKind::Cookie => "cookie",
            _ => "header",
        };
        self.auth.get_or_insert(AuthOut {
            r#type: r#type.to_owned(),
            name: (kind != SecretKind::Bearer).then(|| name.to_owned()),
            env_var: Some(secret),
            env_vars: Vec::new(),
        });
    }

    /// The cookies of `a=1; b=2`.
    fn cookies(&mut self, value: &Template, heading: &mut Heading) -> Result<(), Failure> {
        let value = self.header_value(value)?;
        for cookie in cookies::split(&value) {
            match cookie {
                Cookie::Named(name, value) => self.cookie(name, &value, heading),
                Cookie::Bare(text) => {
                    let name = match text.as_literal() {
                        Some(text) => Segments::literal(text.trim()),
                        None => {
                            self.credential(&text, Encoding::Header, SecretKind::Cookie, "API_KEY")
                        }
                    };
                    self.note_auth(SecretKind::Cookie, "", &name);
                    heading.cookies.push(Pair { name, value: None });
                }
            }
        }
        Ok(())
    }

    fn cookie(&mut self, name: String, value: &Template, heading: &mut Heading) {
        let literal = value.as_literal();
        let segments = match literal {
            // Nothing is no credential, and shows the place of none.
            Some(text) if text.is_empty() => Segments::default(),
            Some(text) if !cookies::is_credential(&name, &text) => Segments::literal(text),
            _ => {
                let what = secrets::of_field(&name);
                self.credential(value, Encoding::Header, SecretKind::Cookie, &what)
            }
        };
        self.note_auth(SecretKind::Cookie, &name, &segments);
        heading.cookies.push(Pair {
            name: Segments::literal(name),
            value: Some(segments),
        });
    }

    fn declared_auth(&mut self, auth: &AuthDraft, heading: &mut Heading) -> Result<(), Failure> {
        match auth {
            AuthDraft::None => {}
            AuthDraft::Bearer { prefix, token } => {
                let mut value = Template::literal(prefix.as_deref().unwrap_or("Bearer "));
                value.append(self.header_value(token)?);
                self.set_auth_header("Authorization", &value, SecretKind::Bearer, heading);
            }
            AuthDraft::Header {
                name,
                prefix,
                value: inner,
            } => {
                check_name(name)?;
                let mut value = Template::literal(prefix.as_deref().unwrap_or_default());
                value.append(self.header_value(inner)?);
                self.set_auth_header(name, &value, SecretKind::Header, heading);
            }
            AuthDraft::Basic { user, password } => {
                let half = |assembly: &mut Self, half: &Option<Template>, what| {
                    let Some(half) = half else {
                        // A half that nobody names.
                        let name = secrets::skill_secret(what, assembly.context);
                        assembly.need_secret(&name, SecretKind::Basic);
                        return Ok(Segments::secret(name, Encoding::None));
                    };
                    let half = assembly.header_value(half)?;
                    let kind = SecretKind::Basic;
                    Ok::<_, Failure>(assembly.credential(&half, Encoding::None, kind, what))
                };
                let basic = Basic {
                    user: half(self, user, "USER")?,
                    password: half(self, password, "PASSWORD")?,
                };
                let names = [&basic.user, &basic.password]
                    .into_iter()
                    .flat_map(|segments| &segments.0)
                    .filter_map(|segment| match segment {
                        Segment::Secret { secret, .. } => Some(secret.clone()),
                        _ => None,
                    })
                    .collect();
                self.auth.get_or_insert(AuthOut {
                    r#type: "basic".to_owned(),
                    name: None,
                    env_var: None,
                    env_vars: names,
                });
                heading.basic = Some(basic);
            }
            AuthDraft::Query { name, value } => {
                let value = self.with_constants(&scan(value, Place::Value));
                let (kind, what) = (SecretKind::Query, secrets::of_field(name));
                let segments = self.credential(&value, Encoding::Query, kind, &what);
                self.note_auth(SecretKind::Query, name, &segments);
                heading.query.push(Pair {
                    name: Segments::literal(encode::query(name)),
                    value: Some(segments),
                });
            }
            AuthDraft::Cookie { name, value } => {
                let value = self.header_value(value)?;
                self.cookie(name.clone(), &value, heading);
            }
            AuthDraft::Cookies(value) => self.cookies(value, heading)?,
        }
        Ok(())
    }

    /// Sets the header; of two, that of the auth counts.
    fn set_auth_header(
        &mut self,
        name: &str,
        value: &Template,
        kind: SecretKind,
        heading: &mut Heading,
    ) {
        let (prefix, rest) = split_scheme(value);
        let segments = self.scheme_and_credential(name, prefix, &rest, kind);
        heading
            .headers
            .retain(|header| !header.name.eq_ignore_ascii_case(name));
        heading.headers.push(HeaderOut {
            name: name.to_owned(),
            value: segments,
        });
    }

    /// Sends the only secret of a skill as a bearer token where no auth is given.
    fn assumed_auth(&mut self, heading: &mut Heading) {
        if self.context.assumed_auth == AssumedAuth::Never {
            return;
        }
        match self.context.secrets.as_slice() {
            [] => {}
            [secret] => {
                let message = format!("no auth is given; {secret} is sent as bearer token");
                self.diagnostics.info(Code::AuthAssumed, self.line, message);
                let mut value = Template::literal("Bearer ");
                value.push(Part::Variable(Variable {
                    name: secret.clone(),
                    spelling: Spelling::Declared,
                    default: None,
                }));
                self.set_auth_header("Authorization", &value, SecretKind::Bearer, heading);
            }
            _ => self.diagnostics.warn(
                Code::AuthAmbiguous,
                self.line,
                "no auth is given, and the skill has several secrets",
            ),
        }
    }

    /// Whether the skill has a base, and the request goes to another origin.
    fn is_elsewhere(&self) -> bool {
        let base = self.context.base_url.as_ref().map(url::Url::origin);
        let own = self.endpoint.as_ref().and_then(|endpoint| {
            let origin = url::Url::parse(endpoint.origin.as_deref()?).ok()?;
            Some(origin.origin())
        });
        matches!((base, own), (Some(base), Some(own)) if base != own)
    }

    /// A declared input in a header or cookie.
    pub(super) fn placed_header(
        &mut self,
        name: &str,
        value: Segments,
        heading: &mut Heading,
    ) -> Result<(), Failure> {
        check_name(name)?;
        heading.headers.push(HeaderOut {
            name: name.to_owned(),
            value,
        });
        Ok(())
    }
}

/// `Bearer X` to `Bearer ` and `X`: a word and the blanks behind it, if something follows.
fn split_scheme(value: &Template) -> (Option<String>, Template) {
    let is_word = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let split = value.split_once(' ').and_then(|(word, rest)| {
        let (word, rest) = (word.as_literal()?, rest.trim_start(char::is_whitespace));
        (is_word(&word) && !rest.is_empty()).then_some((word, rest))
    });
    match split {
        Some((word, rest)) => (Some(format!("{word} ")), rest),
        None => (None, value.clone()),
    }
}

/// Refuses a name that is no token, and headers that are the host's, which refuses them again.
fn check_name(name: &str) -> Result<(), Failure> {
    if !is_token(name) {
        return Err(refused("the name of a header is no token"));
    }
    if is_refused(name) {
        return Err(refused(&format!(
            "the header {} is the host's to set",
            crate::diagnostic::excerpt(name)
        )));
    }
    Ok(())
}

fn refused(why: &str) -> Failure {
    Failure::new(Code::HeaderRefused, why.to_owned())
}
