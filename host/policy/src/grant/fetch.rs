//! Requests: a declared URL and, in every layer, a prefix of the ceiling and a rule of `host.net` with the method must
//! allow it.
//!
//! The whole question is asked again for every redirect target.

use url::Url;

use super::{Grant, Method, Reach};
use crate::document::{Lined, NetRule};
use crate::url_prefix::{
    Escapes, has_harmless_escapes, has_parameters, names_its_address, proposal, without_credentials,
};
use crate::{Denial, Layers, Policy, Rule};

const KIND: &str = "net.http";

impl Grant {
    /// Whether `method` may be sent to `url`, and which addresses may be connected to.
    ///
    /// # Errors
    /// The denial. A URL with a fragment is always denied: take it off first.
    pub fn fetch(&self, method: Method, url: &Url) -> Result<Reach, Denial> {
        let capability = || format!("{KIND}:{}", without_credentials(url));
        let factors = self.factors(capability)?;
        if let Some((reason, remedy)) = unusable(url) {
            let rule = Rule::of("the form of allowlists", reason);
            return Err(Denial::new(capability(), rule, remedy.to_owned()));
        }
        if !factors.declared.fetches(url) {
            return Err(factors.undeclared(KIND, &without_credentials(url)));
        }
        for layer in factors.layers.all() {
            layer.allows_request(method, url, capability)?;
        }
        // A prefix matches its own host only, so every layer names what the URL names.
        Ok(if names_its_address(url) {
            Reach::Named
        } else {
            Reach::Public
        })
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
        let capability = || format!("{KIND}:{}", without_credentials(&url));
        if let Some((reason, remedy)) = unusable(&url) {
            let rule = Rule::of("the form of allowlists", reason);
            return Err(Denial::new(capability(), rule, remedy.to_owned()));
        }
        let known = Method::ALL.into_iter().find(|one| one.as_str() == method);
        let Some(method) = known else {
            let rule = Rule::of(
                "the form of allowlists",
                "it is a method that no policy names",
            );
            return Err(Denial::new(capability(), rule, "use another one".into()));
        };
        self.all()
            .try_for_each(|layer| layer.allows_request(method, &url, capability))
    }

    /// Whether every layer lets anything at all be sent to a pair (`host:port`), as a tunnel does: a rule of each covers
    /// the whole host with every method that a policy can name.
    ///
    /// # Errors
    /// The denial of the first layer that does not allow it.
    pub fn allow_tunnel(&self, pair: &str, scheme: &str) -> Result<(), Denial> {
        let text = format!("{scheme}://{pair}/");
        let url = Url::parse(&text).map_err(|_| {
            let rule = Rule::of("the form of allowlists", "it is no host with a port");
            Denial::new(format!("{KIND}:{text}"), rule, "name a host".into())
        })?;
        Method::ALL
            .into_iter()
            .try_for_each(|method| self.allow_request(method.as_str(), &url))
    }
}

impl Policy {
    fn allows_request(
        &self,
        method: Method,
        url: &Url,
        capability: impl Fn() -> String,
    ) -> Result<(), Denial> {
        let net = &self.document.ceiling.net;
        if !net
            .items
            .iter()
            .any(|prefix| prefix.value.matches(url, Escapes::Harmless))
        {
            let rule = self.rule(net.line, "capability_ceiling.net does not cover it");
            let addition = format!(
                "add \"{0}\" to capability_ceiling.net and {{url: \"{0}\", methods: [{method}]}} to host.net",
                proposal(url)
            );
            let remedy = self.remedy_for(url, &addition);
            return Err(Denial::new(capability(), rule, remedy));
        }
        match self.net_rule(method, url) {
            Some(_) => Ok(()),
            None => Err(self.outside_net(method, url, capability())),
        }
    }

    /// A path with parameters is covered by no rule that names a path, so that no such rule can be proposed.
    fn remedy_for(&self, url: &Url, addition: &str) -> String {
        if has_parameters(url.path()) {
            "write the path without `;` and %3B, or allow the whole host".to_owned()
        } else {
            self.remedy(addition)
        }
    }

    fn net_rule(&self, method: Method, url: &Url) -> Option<&Lined<NetRule>> {
        self.net_rules(url)
            .find(|rule| rule.value.methods.contains(&method))
    }

    fn net_rules(&self, url: &Url) -> impl Iterator<Item = &Lined<NetRule>> {
        let rules = self.document.host.net.items.iter();
        rules.filter(move |rule| rule.value.url.value.matches(url, Escapes::Harmless))
    }

    /// The ceiling covers the URL, and no rule of `host.net` allows the request.
    fn outside_net(&self, method: Method, url: &Url, capability: String) -> Denial {
        match self.net_rules(url).next() {
            Some(rule) => {
                let methods: Vec<_> = rule
                    .value
                    .methods
                    .iter()
                    .map(|method| method.as_str())
                    .collect();
                let reason = format!("host.net allows {} there, not {method}", methods.join(", "));
                let remedy = self.remedy(&format!("add {method} to its methods"));
                Denial::new(capability, self.rule(rule.line, reason), remedy)
            }
            None => {
                let rule = self.rule(self.document.host.net.line, "no rule of host.net covers it");
                let addition = format!(
                    "add {{url: \"{}\", methods: [{method}]}} to host.net",
                    proposal(url)
                );
                let remedy = self.remedy_for(url, &addition);
                Denial::new(capability, rule, remedy)
            }
        }
    }
}

/// Why no rule could ever match `url`, and what to do about it.
fn unusable(url: &Url) -> Option<(&'static str, &'static str)> {
    if !matches!(url.scheme(), "http" | "https") {
        Some(("only http and https are fetched", "use an https URL"))
    } else if url.fragment().is_some() {
        Some(("a request has no fragment", "leave the fragment out"))
    } else if !has_harmless_escapes(url.path()) {
        let reason = "its path holds an escape that another parser could read as structure";
        Some((
            reason,
            "write the path without %25, %2E, %2F, %5C, %7F and %00 to %1F",
        ))
    } else {
        None
    }
}
