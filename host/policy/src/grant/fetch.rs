//! Requests: a declared URL and, in every layer, a prefix of the ceiling and a rule of `host.net` with the method must
//! allow it.
//!
//! The whole question is asked again for every redirect target.

use url::Url;

use super::{Grant, Method, Reach};
use crate::document::{Lined, NetRule};
use crate::url_prefix::{
    Escapes, has_harmless_escapes, has_parameters, proposal, without_credentials,
};
use crate::{Denial, Layers, Policy, Rule};

const KIND: &str = "net.http";

impl Grant {
    /// Whether `method` may be sent to `url`, and which addresses may be connected to.
    ///
    /// # Errors
    /// The denial. A URL with a fragment is always denied: take it off first.
    pub fn fetch(&self, method: Method, url: &Url) -> Result<Reach, Denial> {
        let factors = self.factors(|| capability(url))?;
        check_form(url)?;
        if !factors.declared.fetches(url) {
            return Err(factors.undeclared(KIND, &without_credentials(url)));
        }
        for layer in factors.layers.all() {
            layer.allows_request(method, url)?;
        }
        Ok(Reach::of(url))
    }

    /// The rule that allows the request, and what would forbid it. For a request that [`Grant::fetch`] allows.
    pub(crate) fn why_fetch(&self, method: Method, url: &Url) -> Option<(Rule, String)> {
        let factors = self.factors.as_ref()?;
        let policy = factors.layers.policy();
        let prefix = policy.net_rule(method, url)?.value.url.value.as_str();
        let reason = format!("host.net allows {method} at {prefix}");
        let remedy = policy.remedy(&format!(
            "take {method} out of the methods of {prefix} in host.net"
        ));
        let line = |layer: &Policy| Some(layer.net_rule(method, url)?.line);
        Some((factors.agreed(line, reason)?, remedy))
    }
}

impl Layers {
    /// Whether every layer lets `method` be sent to `url`: for requests that no manifest declares, those of governed
    /// execution. Which addresses may be connected to is asked elsewhere.
    ///
    /// # Errors
    /// The denial of the first layer that does not allow it.
    pub fn allow_request(&self, method: &str, url: &Url) -> Result<(), Denial> {
        let mut url = url.clone();
        url.set_fragment(None);
        check_form(&url)?;
        let known = Method::ALL.into_iter().find(|one| one.as_str() == method);
        let method = known.ok_or_else(|| {
            let reason = "it is a method that no policy names";
            malformed(capability(&url), reason, "use another one")
        })?;
        self.all()
            .try_for_each(|layer| layer.allows_request(method, &url))
    }

    /// Whether every layer lets anything at all be sent to a pair (`host:port`), as a tunnel does: a rule of each covers
    /// the whole host with every method that a policy can name.
    ///
    /// # Errors
    /// The denial of the first layer that does not allow it.
    pub fn allow_tunnel(&self, pair: &str, scheme: &str) -> Result<(), Denial> {
        let text = format!("{scheme}://{pair}/");
        let url = Url::parse(&text).map_err(|_| {
            let capability = format!("{KIND}:{text}");
            malformed(capability, "it is no host with a port", "name a host")
        })?;
        Method::ALL
            .into_iter()
            .try_for_each(|method| self.allow_request(method.as_str(), &url))
    }
}

impl Policy {
    fn allows_request(&self, method: Method, url: &Url) -> Result<(), Denial> {
        let net = &self.document.ceiling.net;
        let mut prefixes = net.value.iter();
        if !prefixes.any(|prefix| prefix.value.matches(url, Escapes::Harmless)) {
            let proposed = proposal(url);
            let addition = format!(
                "add \"{proposed}\" to capability_ceiling.net and {{url: \"{proposed}\", methods: [{method}]}} to host.net",
            );
            let reason = "capability_ceiling.net does not cover it";
            return Err(self.uncovered(url, net.line, reason, &addition));
        }
        let mut rules = self.net_rules(url).peekable();
        let Some(rule) = rules.peek() else {
            let (line, proposed) = (self.document.host.net.line, proposal(url));
            let addition = format!("add {{url: \"{proposed}\", methods: [{method}]}} to host.net");
            let reason = "no rule of host.net covers it";
            return Err(self.uncovered(url, line, reason, &addition));
        };
        let (line, first) = (rule.line, &rule.value.methods);
        if rules.any(|rule| rule.value.methods.contains(&method)) {
            return Ok(());
        }
        let methods: Vec<_> = first.iter().map(|method| method.as_str()).collect();
        let reason = format!("host.net allows {} there, not {method}", methods.join(", "));
        let instruction = format!("add {method} to its methods");
        Err(self.denial(capability(url), line, reason, &instruction))
    }

    /// The denial of a URL that no entry covers. A path with parameters is covered by no entry that names a path, so that
    /// none can be proposed.
    fn uncovered(&self, url: &Url, line: u64, reason: &str, addition: &str) -> Denial {
        if has_parameters(url.path()) {
            let remedy = "write the path without `;` and %3B, or allow the whole host";
            return Denial::new(capability(url), self.rule(line, reason), remedy.to_owned());
        }
        self.denial(capability(url), line, reason, addition)
    }

    fn net_rule(&self, method: Method, url: &Url) -> Option<&Lined<NetRule>> {
        self.net_rules(url)
            .find(|rule| rule.value.methods.contains(&method))
    }

    fn net_rules(&self, url: &Url) -> impl Iterator<Item = &Lined<NetRule>> {
        let rules = self.document.host.net.value.iter();
        rules.filter(move |rule| rule.value.url.value.matches(url, Escapes::Harmless))
    }
}

fn capability(url: &Url) -> String {
    format!("{KIND}:{}", without_credentials(url))
}

fn malformed(capability: String, reason: &str, remedy: &str) -> Denial {
    let rule = Rule::of("the form of allowlists", reason);
    Denial::new(capability, rule, remedy.to_owned())
}

/// Checks that a rule could match `url` at all.
fn check_form(url: &Url) -> Result<(), Denial> {
    let (reason, remedy) = if !matches!(url.scheme(), "http" | "https") {
        ("only http and https are fetched", "use an https URL")
    } else if url.fragment().is_some() {
        ("a request has no fragment", "leave the fragment out")
    } else if !has_harmless_escapes(url.path()) {
        (
            "its path holds an escape that another parser could read as structure",
            "write the path without %25, %2E, %2F, %5C, %7F and %00 to %1F",
        )
    } else {
        return Ok(());
    };
    Err(malformed(capability(url), reason, remedy))
}
