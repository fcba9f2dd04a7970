//! A URL template to origin, path segments and query.

use std::collections::BTreeMap;

use ::url::Url;

use super::Endpoint;
use super::encode;
use super::pairs::{Carrier, RawPair, split};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position};
use super::secrets::is_secret_name;
use super::url_parts::{
    authority_has_constant, authority_text, check, check_globs, dots, host_variable, invalid,
    is_base_name, origin_of, path_and_query, scheme_of, split_authority,
};
use crate::context::Relative;
use crate::draft::{
    HttpDraft, Literal, Origin, Part, Quoting, Schemeless, Spelling, Template, Variable, WirePlace,
};
use crate::failure::{Code, Failure};
use crate::model::{Encoding, Pair, Segment, Segments};

/// A URL in parts.
#[derive(Debug)]
pub(super) struct Address {
    /// Origin and path; neither query nor fragment.
    pub(super) url: Segments,
    /// The query of the URL.
    pub(super) query: Vec<Pair>,
    /// Whether scheme or host is not written there.
    pub(super) is_derived: bool,
}

/// A template taken apart at its authority.
struct Taken {
    origin: Option<Url>,
    /// From the first `/` behind the authority on; or empty, or a query.
    rest: Template,
    /// The path of the base, to precede a relative one; without a final `/`.
    base_path: String,
    is_relative: bool,
    is_derived: bool,
}

impl Assembly<'_> {
    /// Takes a URL apart; none if the caller says where the request goes, within `domains`. `query` is what follows the URL's
    /// own query.
    pub(super) fn address(
        &mut self,
        draft: &HttpDraft,
        query: Vec<RawPair>,
    ) -> Result<Option<Address>, Failure> {
        let Some(written) = &draft.url else {
            return Ok(None);
        };
        let template = self.with_constants(&scan(&written.trimmed(), Place::Url));
        check(&template, draft)?;
        check_globs(&template, draft)?;
        if template.is_empty() {
            return Ok(None);
        }
        if let Some(variable) = template.as_variable()
            && !is_base_name(&variable.name, true)
            && !self.context.addresses.contains_key(&variable.name)
        {
            return Ok(None);
        }
        let taken = self.authority(template, draft)?;
        let (path, own_query) = path_and_query(&taken.rest);
        let mut pairs = own_query.as_ref().map(split).unwrap_or_default();
        pairs.extend(query);

        let mut url = Segments::default();
        if let Some(origin) = &taken.origin {
            url.push_literal(origin.as_str().trim_end_matches('/'));
        }
        url.push_literal(taken.base_path.clone());
        let segments = self.path(&path)?;
        let mut pattern = taken.base_path;
        let mut written_path = String::new();
        let mut last_segment = None;
        for (index, segment) in segments.iter().enumerate() {
            if index > 0 {
                url.push_literal("/");
                pattern.push('/');
                written_path.push('/');
            }
            if let Some(literal) = segment.as_literal().filter(|text| !text.is_empty()) {
                last_segment = Some(encode::decode_form(&literal.replace('+', "%2B")));
            }
            let shape = shape(segment);
            pattern.push_str(&shape);
            written_path.push_str(&shape);
            for part in &segment.0 {
                url.push(part.clone());
            }
        }
        let endpoint = Endpoint {
            method: draft.method.clone(),
            origin: taken.origin.as_ref().map(|url| url.as_str().to_owned()),
            path: if pattern.is_empty() {
                "/".to_owned()
            } else {
                pattern
            },
            relative_path: taken.is_relative.then_some(written_path),
            last_segment,
            final_segment: segments
                .last()
                .and_then(Segments::as_literal)
                .filter(|literal| !literal.is_empty())
                .map(str::to_owned),
        };
        self.endpoint.get_or_insert(endpoint);
        if taken.is_relative && taken.origin.is_none() && self.context.relative == Relative::Refused
        {
            return Err(
                Failure::new(Code::NoBaseUrl, "the URL is relative, and there is no base")
                    .with_hint("load with --base-url URL"),
            );
        }
        let query = self.pairs(&pairs, Carrier::Query);
        Ok(Some(Address {
            url,
            query,
            is_derived: taken.is_derived,
        }))
    }

    /// Splits the authority off.
    fn authority(&mut self, template: Template, draft: &HttpDraft) -> Result<Taken, Failure> {
        let begins_with_constant = matches!(template.parts.first(), Some(Part::Literal(first)) if first.origin == Origin::Constant);
        let (template, is_said) = self.with_base(template, draft.schemeless);
        let lead = template.leading_text();
        if lead.starts_with('/') {
            return Ok(self.relative(template));
        }
        let has_scheme = scheme_of(&lead).is_some();
        let whole = match draft.schemeless {
            _ if has_scheme => template,
            Schemeless::Relative if lead.is_empty() && !template.is_empty() => {
                return Err(host_variable(&template));
            }
            Schemeless::Relative if lead.starts_with('?') => return Ok(self.relative(template)),
            Schemeless::Relative => return Ok(self.relative(template.prefixed("/"))),
            Schemeless::Http => {
                self.diagnostics.info(
                    Code::SchemeMissing,
                    self.line,
                    "the URL has no scheme; http is taken",
                );
                template.prefixed("http://")
            }
            Schemeless::Https => template.prefixed("https://"),
        };
        let (origin, rest) = split_authority(&whole)?;
        Ok(Taken {
            origin: Some(origin),
            rest,
            base_path: String::new(),
            is_relative: false,
            is_derived: !has_scheme
                || is_said
                || begins_with_constant
                || authority_has_constant(&whole),
        })
    }

    /// Puts what is relative behind the base, whose path it may repeat.
    fn relative(&self, rest: Template) -> Taken {
        let base = self.context.base_url.as_ref();
        let path = base.map_or("", |base| base.path().trim_end_matches('/'));
        let base_path = super::base::path_before(path, &rest.leading_text()).to_owned();
        Taken {
            origin: base.and_then(origin_of),
            rest,
            base_path,
            is_relative: true,
            is_derived: true,
        }
    }

    /// Replaces the variable that stands for host or base by what the document says of it; whether one was replaced. What
    /// follows the variable must not be more of the host: `https://{company}.atlassian.net` is not the base.
    fn with_base(&mut self, template: Template, schemeless: Schemeless) -> (Template, bool) {
        let lead = template.leading_text();
        let host_only = scheme_of(&lead).is_some_and(|scheme| lead.len() == scheme.len() + 3);
        let position = match template
            .parts
            .iter()
            .position(|part| matches!(part, Part::Variable(_)))
        {
            Some(position) if host_only || lead.is_empty() => position,
            _ => return (template, false),
        };
        let Some(Part::Variable(variable)) = template.parts.get(position) else {
            return (template, false);
        };
        let name = crate::diagnostic::excerpt(&variable.name);
        let behind = position.saturating_add(1);
        let behind = template.parts.get(behind..).unwrap_or_default();
        let is_callable = self.may_be_called_after_host(variable, behind, schemeless);
        let said = self.said_base(variable, behind.is_empty(), is_callable, host_only);
        let Some(text) = said.filter(|text| may_follow(behind, text)) else {
            return (template, false);
        };
        self.diagnostics.info(
            Code::Constant,
            self.line,
            format!(
                "{name} stands for {}, as the document says",
                crate::diagnostic::excerpt(&text)
            ),
        );
        let mut replaced = Template::default();
        for (index, part) in template.parts.into_iter().enumerate() {
            replaced.push(if index == position {
                Part::Literal(Literal {
                    text: text.clone(),
                    quoting: Quoting::Bare,
                    // Its path may hold variables.
                    origin: Origin::Written,
                })
            } else {
                part
            });
        }
        (replaced, true)
    }

    /// What stands for a variable at the beginning of a URL: the address that the document gives it, its own default, or the
    /// base. Behind a scheme that is host and port alone.
    fn said_base(
        &self,
        variable: &Variable,
        is_alone: bool,
        is_callable: bool,
        host_only: bool,
    ) -> Option<String> {
        let is_address = |text: &&String| {
            ["http://", "https://"]
                .iter()
                .any(|scheme| text.starts_with(scheme))
        };
        let known = self.context.addresses.get(&variable.name);
        let said = known.or(variable.default.as_ref());
        if let Some(address) = said.filter(is_address) {
            return if host_only {
                Url::parse(address).ok().as_ref().map(authority_text)
            } else {
                Some(address.trim_end_matches('/').to_owned())
            };
        }
        // `https://${HOST:-api.example}/x`
        if let Some(host) = said.filter(|host| host_only && host.contains('.')) {
            return Some(host.clone());
        }
        let base = self.context.base_url.as_ref()?;
        // `$SHOP/items` of `https://shop.example`
        let is_of_host = is_callable
            && variable.name.len() >= 4
            && base
                .host_str()?
                .contains(&variable.name.to_ascii_lowercase());
        if !is_base_name(&variable.name, is_alone) && !is_of_host {
            return None;
        }
        let is_host = variable.name.to_ascii_uppercase().ends_with("HOST");
        match (host_only, is_host) {
            (true, _) => Some(authority_text(base)),
            (false, true) => {
                origin_of(base).map(|origin| origin.as_str().trim_end_matches('/').to_owned())
            }
            (false, false) => Some(base.as_str().trim_end_matches('/').to_owned()),
        }
    }

    /// Whether a variable may be the base because the host is called after it. In a relative address `{shop}` is a segment of
    /// the path, and a declared input or a secret is what it was declared as.
    fn may_be_called_after_host(
        &self,
        variable: &Variable,
        behind: &[Part],
        schemeless: Schemeless,
    ) -> bool {
        let is_segment = schemeless == Schemeless::Relative
            && !matches!(variable.spelling, Spelling::Dollar | Spelling::DoubleBrace);
        let name = variable.name.as_str();
        let is_input = self.declaration.input.as_ref().is_some_and(|input| {
            let properties = input.schema.get("properties");
            properties.is_some_and(|properties| properties.get(name).is_some())
                || input.places.iter().any(|place| place.wire_name == name)
        });
        let is_secret = self.declaration.secrets.iter().any(|secret| secret == name)
            || is_secret_name(name, self.context);
        !behind.is_empty() && !is_segment && !is_input && !is_secret
    }

    /// The segments of a path, its first being what precedes the first `/`: empty.
    fn path(&mut self, path: &Template) -> Result<Vec<Segments>, Failure> {
        let written = path.split('/');
        let mut segments: Vec<Segments> = Vec::with_capacity(written.len());
        let count = written.len();
        for (index, template) in written.iter().enumerate() {
            // As curl and every client does, but never past what a variable stands for.
            let dots = template.as_literal().map_or(0, |text| dots(&text));
            if dots == 2 && segments.len() > 1 {
                let above = segments.pop();
                if above.is_some_and(|above| above.as_literal().is_none()) {
                    return Err(invalid("`..` after a variable"));
                }
            }
            if dots > 0 {
                if index.saturating_add(1) == count {
                    segments.push(Segments::default());
                }
                continue;
            }
            let template = self.with_constants(&scan(template, Place::Segment));
            segments.push(self.path_segment(&template));
        }
        Ok(segments)
    }

    fn path_segment(&mut self, template: &Template) -> Segments {
        let declaration = self.declaration;
        let places = declaration.input.as_ref().map(|input| &input.places);
        let place_of = |wire_name: &str| {
            places
                .into_iter()
                .flatten()
                .find(|place| place.place == WirePlace::Path && place.wire_name == wire_name)
        };
        // A declared path input may have another name and a style.
        let mut template = template.clone();
        let mut styles = BTreeMap::new();
        for part in &mut template.parts {
            if let Part::Variable(variable) = part
                && let Some(place) = place_of(&variable.name)
            {
                variable.name.clone_from(&place.input);
                styles.insert(place.input.clone(), place.style);
            }
        }
        let mut segments = self.segments(
            &template,
            Encoding::Path,
            Position::Path,
            None,
            encode::path,
        );
        for segment in &mut segments.0 {
            if let Segment::Input { input, style, .. } = segment
                && let Some(declared) = styles.get(input)
            {
                *style = *declared;
            }
        }
        segments
    }
}

/// Whether what stands behind a variable may follow the text that takes its place: nothing, a path, a query, a fragment, or a
/// port where the text is a host without one.
fn may_follow(behind: &[Part], text: &str) -> bool {
    let literals = behind.iter().map_while(|part| match part {
        Part::Literal(literal) => Some(literal.text.as_str()),
        Part::Variable(_) => None,
    });
    let behind_text: String = literals.collect();
    let Some(port) = behind_text.strip_prefix(':') else {
        return behind.is_empty() || behind_text.starts_with(['/', '?', '#']);
    };
    let after = port.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_port =
        after.len() < port.len() && (after.is_empty() || after.starts_with(['/', '?', '#']));
    let host = text.split_once("://").map_or(text, |(_, host)| host);
    is_port && !host.contains([':', '/'])
}

/// A segment of a path as endpoints are compared: each variable is `{}`.
fn shape(segment: &Segments) -> String {
    segment
        .0
        .iter()
        .map(|part| match part {
            Segment::Literal { lit } => lit.as_str(),
            _ => "{}",
        })
        .collect()
}
