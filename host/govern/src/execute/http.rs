//! The HTTP stage.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use hydrant_canonical::Json;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use url::Url;
use zeroize::Zeroize;

use super::output_file::Whose;
use super::plan::{Produced, Run};
use super::redirect::{self, Hop};
use crate::chain::Event;
use crate::config::pair_of;
use crate::failure::{Code, Failure};
use crate::ports::{WireFailure, WireLimits, WireRequest, WireResponse};
use crate::request::{Fill, FilledRequest, http_request, origin};
use hydrant_base::address::is_private_literal;
use hydrant_plan::HttpStage;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// With all redirects.
const TOTAL: Duration = Duration::from_secs(30);
/// In bytes.
const RESPONSE: u64 = 10 << 20;
/// How many redirects a stage may follow at most.
const REDIRECTS: u64 = 5;

/// What a stage may use, the document's wishes within the host's limits.
struct Allowed {
    until: Instant,
    connect: Duration,
    response: u64,
    redirects: u64,
    /// Whether the budget ends it, and not the stage's own time.
    budget_ends: bool,
}

impl Run<'_> {
    pub(super) fn http(&mut self, stage: &HttpStage) -> Result<Produced, Failure> {
        let first = self.first_host(stage)?;
        let (request, secrets) = self.fill(stage, &first)?;
        let (response, last, followed) = self.follow(stage, request, &secrets)?;
        self.produced(stage, response, &last, followed)
    }

    /// The host that the stage names, before a secret is asked for: none of `deny_hosts`, and plain only if permitted.
    fn first_host(&self, stage: &HttpStage) -> Result<Url, Failure> {
        let url = match &stage.url_input {
            // Its host is compared when it is filled in; it carries no secret.
            Some(input) => {
                let text = self.call.inputs.present(input).and_then(Json::as_str);
                text.and_then(|text| Url::parse(text).ok()).ok_or_else(|| {
                    Failure::new(Code::InvalidInput, "this is not an absolute URL")
                        .at_path(input.as_str())
                })?
            }
            None => origin(&stage.url)?,
        };
        let pair = pair_of(&url).unwrap_or_default();
        if self.call.config.is_denied(&pair) {
            return Err(Failure::new(
                Code::HostDenied,
                format!("{pair} is in deny_hosts"),
            ));
        }
        if url.scheme() == "http" && !self.call.config.may_be_plain(&pair) {
            return Err(Failure::new(
                Code::PlainHttpDenied,
                format!("{pair} may not be spoken to without TLS"),
            )
            .with_hint(opened(
                // One step opens a private address for both.
                if is_private_literal(&pair) {
                    "allow_private"
                } else {
                    "plain_http_hosts"
                },
                &pair,
            )));
        }
        Ok(url)
    }

    /// The first request, and the secrets in it.
    fn fill(
        &mut self,
        stage: &HttpStage,
        first: &Url,
    ) -> Result<(FilledRequest, Vec<SecretString>), Failure> {
        let pair = pair_of(first).unwrap_or_default();
        let may_carry = first.scheme() == "https" || self.call.config.may_be_private(&pair);
        let used: RefCell<Vec<(String, SecretString)>> = RefCell::default();
        let secrets = |name: &str| {
            if !may_carry {
                let message = format!("the secret {name} is sent over https only");
                let opened = opened("allow_private", &pair);
                let hint = if is_private_literal(&pair) {
                    opened
                } else {
                    format!("https, or if {pair} is in a network of your own: {opened}")
                };
                return Err(Failure::new(Code::PlainHttpDenied, message).with_hint(hint));
            }
            if stage.url_input.is_some() {
                return Err(Failure::new(
                    Code::UrlInputSecret,
                    "a request whose URL the caller gives cannot carry a secret",
                ));
            }
            let value = (self.call.secrets)(name, &pair)?;
            used.borrow_mut().push((name.to_owned(), value.clone()));
            Ok(value)
        };
        let fill = Fill {
            inputs: self.call.inputs,
            files: self.call.files,
            secrets: &secrets,
            previous: &self.previous,
        };
        let filled = http_request(stage, &self.call.operation.hosts, fill);
        let used = used.into_inner();
        for (name, value) in &used {
            self.echo.add(name, value, false);
        }
        let request = filled?;
        let mut names: Vec<&str> = used.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.record(Event::SecretInjected, format!("{name} {pair}"));
        }
        let secrets = used.into_iter().map(|(_, value)| value).collect();
        Ok((request, secrets))
    }

    /// Sends the request and what redirects make of it.
    fn follow(
        &mut self,
        stage: &HttpStage,
        mut request: FilledRequest,
        secrets: &[SecretString],
    ) -> Result<(WireResponse, Url, Vec<Value>), Failure> {
        let allowed = self.allowed(stage);
        let mut followed = Vec::new();
        loop {
            let hops = u64::try_from(followed.len()).unwrap_or(u64::MAX);
            let response = match self.exchange(&request, &allowed) {
                Ok(response) => response,
                // The address is part of what a hop is checked for, and so are the host's own rules.
                Err(failure) => {
                    let why = match failure.code {
                        Code::PrivateAddress if hops > 0 => "its address is not public",
                        Code::HostDenied if hops > 0 => &failure.message,
                        _ => return Err(failure),
                    };
                    let target = pair_of(&request.url).unwrap_or_default();
                    return Err(self.redirect_denied(&target, why));
                }
            };
            if !stage.follow {
                return Ok((response, request.url, followed));
            }
            let hosts = &self.call.operation.hosts;
            match redirect::hop(&request.url, &response, hosts, self.call.config) {
                Hop::None => return Ok((response, request.url, followed)),
                Hop::Refused { target, why } => return Err(self.redirect_denied(&target, why)),
                Hop::To(to) => {
                    let target = pair_of(&to).unwrap_or_default();
                    if hops >= allowed.redirects {
                        return Err(self.redirect_denied(&target, "there were too many before it"));
                    }
                    request = redirect::next(request, to, response.status, secrets)
                        .map_err(|failure| self.redirect_denied(&target, &failure.message))?;
                    // The query may hold what must not be shown; scheme, host and path tell enough.
                    let mut shown = request.url.clone();
                    shown.set_query(None);
                    followed.push(json!({"status": response.status, "url": shown.as_str()}));
                }
            }
        }
    }

    fn redirect_denied(&mut self, target: &str, why: &str) -> Failure {
        let target = self.echo.folded(target);
        let failure = Failure::new(
            Code::RedirectDenied,
            format!("a redirect to {target} is refused: {why}"),
        );
        self.record_denied(Event::RedirectDenied, target, Code::RedirectDenied);
        failure
    }

    fn allowed(&self, stage: &HttpStage) -> Allowed {
        // 0 is no wish: curl takes it for `no limit`.
        let wish = |wish: Option<u64>| wish.filter(|wish| *wish > 0);
        let at_most = |most: Duration, wished: Option<u64>| {
            wish(wished).map_or(most, |wished| most.min(Duration::from_millis(wished)))
        };
        let total = at_most(TOTAL, stage.limits.total_ms);
        let left = self.time_left().unwrap_or(Duration::MAX);
        Allowed {
            until: Instant::now()
                .checked_add(total.min(left))
                .unwrap_or_else(Instant::now),
            connect: at_most(CONNECT, stage.limits.connect_ms),
            response: wish(stage.limits.response_bytes).map_or(RESPONSE, |wish| wish.min(RESPONSE)),
            redirects: stage
                .limits
                .redirects
                .map_or(REDIRECTS, |wish| wish.min(REDIRECTS)),
            budget_ends: left < total,
        }
    }

    /// One exchange within what is left of time and budget.
    fn exchange(
        &mut self,
        request: &FilledRequest,
        allowed: &Allowed,
    ) -> Result<WireResponse, Failure> {
        let remaining = allowed.until.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(self.out_of_time(allowed));
        }
        let network = self.caps_left().network_bytes;
        let sent = request.body.as_ref().map_or(0, |body| body.len());
        let sent = u64::try_from(sent).unwrap_or(u64::MAX);
        // What is known to be sent.
        if network.is_some_and(|left| left == 0 || sent > left) {
            return Err(self.exhausted("network-bytes"));
        }
        let left = network.map_or(u64::MAX, |left| left.saturating_sub(sent));
        let pair = pair_of(&request.url).unwrap_or_default();
        let limits = WireLimits {
            connect: allowed.connect.min(remaining),
            total: remaining,
            response_bytes: allowed.response.min(left),
            private: self.call.config.may_be_private(&pair),
        };
        let mut sent = WireRequest {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request
                .headers
                .iter()
                .map(|header| (header.name.clone(), header.value.clone()))
                .collect(),
            body: request.body.as_ref().map(|body| body.to_vec()),
        };
        let answer = self.call.wire.exchange(&sent, &limits);
        sent.body.zeroize();
        match answer {
            Ok(response) => {
                self.charge(response.network_bytes);
                Ok(response)
            }
            Err(WireFailure {
                failure,
                network_bytes,
            }) => {
                self.charge(network_bytes);
                Err(match failure.code {
                    Code::ResponseTooLarge if left < allowed.response => {
                        self.exhausted("network-bytes")
                    }
                    Code::Timeout if allowed.budget_ends => self.out_of_time(allowed),
                    _ => failure,
                })
            }
        }
    }

    fn out_of_time(&mut self, allowed: &Allowed) -> Failure {
        if allowed.budget_ends {
            self.exhausted("wall-clock-ms")
        } else {
            Failure::new(Code::Timeout, "the request took longer than it may")
        }
    }

    fn charge(&mut self, network_bytes: u64) {
        self.used.network_bytes = self.used.network_bytes.saturating_add(network_bytes);
    }

    /// Returns the output of an HTTP stage. Secrets that the response returns are captured, and injected values that come back
    /// are redacted, before anything else sees it.
    fn produced(
        &mut self,
        stage: &HttpStage,
        response: WireResponse,
        last: &Url,
        followed: Vec<Value>,
    ) -> Result<Produced, Failure> {
        let bytes = self.capture(response.body);
        let bytes = self.echo.bytes(bytes);
        let mut media = None;
        let mut headers: Map<String, Value> = Map::new();
        let mut received: Vec<(String, Vec<u8>)> = response
            .headers
            .into_iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        self.echo
            .header_names(received.iter_mut().map(|(name, _)| name));
        for (name, value) in received {
            let value = self.echo.bytes(value);
            let value = String::from_utf8_lossy(&value).into_owned();
            if name == "content-type" {
                media = Some(value.clone());
            }
            match headers.get_mut(&name) {
                None => {
                    headers.insert(name, value.into());
                }
                Some(Value::Array(values)) => values.push(value.into()),
                Some(one) => *one = json!([one.take(), value]),
            }
        }
        let mut members = Map::new();
        members.insert("status".to_owned(), response.status.into());
        members.insert("headers".to_owned(), headers.into());
        members.insert("redirects".to_owned(), followed.into());
        let mut produced = Produced {
            members,
            media,
            http_error: response.status >= 400,
            ..Produced::plain(bytes)
        };
        if let Some(file) = &stage.output_file {
            let path = self.filled(&file.path)?;
            let path = match path.trim_end_matches('/') {
                "" => last
                    .path()
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                _ => path,
            };
            let file = self.write_output(&path, Whose::of(&file.path), &produced.bytes)?;
            produced
                .members
                .insert("files".to_owned(), vec![file].into());
            produced.bytes = Vec::new();
            produced.has_content = false;
        }
        Ok(produced)
    }
}

/// How an operator opens a host, if that is meant.
fn opened(key: &str, pair: &str) -> String {
    format!(
        "{key} = [\"{pair}\"] in the table [govern] of hydrant.toml, and of a service in the table of the tenant too"
    )
}
