//! Table `[serve]` of `hydrant.toml`: where the service listens, who may use it, and how much of everything.
//!
//! Read once, when the service starts. An unknown key is an error: what was meant as a limit must not be lost to a typing
//! error. Who the tenants are stands in a file of its own ([`super::tenants`]), which can be read again while it runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use url::Url;

use crate::govern;
use crate::hook;
use crate::jail::Launcher;
use hydrant_base::Digest;

/// Calls that run at a time.
const WORKERS: (usize, usize) = (1, 1_000);
/// Calls that wait, of all tenants.
const QUEUE: (usize, usize) = (1, 100_000);
/// Bytes of the body of a request.
const REQUEST_BYTES: (usize, usize) = (1024, 16 * 1024 * 1024);
/// Connections at a time.
const CONNECTIONS: (usize, usize) = (1, 100_000);

/// Where the service listens, who may use it, and how much of everything. Each default is what a small machine serves.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// Address and port. Default: `127.0.0.1:7878`, which only this machine reaches: TLS is the business of what stands
    /// before it.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The tenants file; relative to the configuration file. Default: `tenants.toml` beside that.
    pub tenants: PathBuf,
    /// Calls that run at a time, 1 to 1,000. Default: twice the processors.
    // The default is that of the machine, and so is not in the schema.
    #[schemars(range(min = WORKERS.0, max = WORKERS.1), transform = without_default)]
    pub workers: usize,
    /// Calls that wait, of all tenants, 1 to 100,000. Default: 1,024.
    #[schemars(range(min = QUEUE.0, max = QUEUE.1))]
    pub queue: usize,
    /// How long a call waits for its turn, more than 0 and at most `1h`. Default: `10s`.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub queue_timeout: Duration,
    /// Bytes of the body of a request, 1 KiB to 16 MiB. Default: 1 MiB.
    #[schemars(range(min = REQUEST_BYTES.0, max = REQUEST_BYTES.1))]
    pub request_bytes: usize,
    /// Connections at a time, 1 to 100,000. Default: 1,024.
    #[schemars(range(min = CONNECTIONS.0, max = CONNECTIONS.1))]
    pub connections: usize,
    /// How long the header of a request may take, and how long a connection may be idle, at most `1h`. Default: `15s`.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub header_timeout: Duration,
    /// How long the body of a request may take, at most `1h`. Default: `30s`.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub body_timeout: Duration,
    /// How long calls that run may go on when the service is told to end, at most `1h`. Default: `30s`.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub shutdown_timeout: Duration,
    /// Digests (`sha256:…`) of the bearer tokens that may read `/metrics`, which tell of all tenants. Default: none, so
    /// that nobody may.
    pub metrics_token_digests: Vec<Digest>,
    /// Names under which clients reach the service, also through a proxy. A request for another name is refused with status
    /// 421, so that no page is served under a name that was pointed here (DNS rebinding); addresses and `localhost` always pass.
    /// Default: none; then a service that listens on loopback refuses all other names, and any other service refuses no name.
    pub hosts: Vec<String>,
    /// Origins, such as `https://tools.example.org`, whose pages may ask the service; they still need a token. Default: none,
    /// and only the service's own pages may.
    pub origins: Vec<String>,
    /// Where traces go, OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`. Default: nowhere.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub otlp_endpoint: Option<Url>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7878)),
            tenants: PathBuf::from("tenants.toml"),
            workers: std::thread::available_parallelism()
                .map_or(2, std::num::NonZero::get)
                .saturating_mul(2),
            queue: 1024,
            queue_timeout: Duration::from_secs(10),
            request_bytes: 1024 * 1024,
            connections: 1024,
            header_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
            metrics_token_digests: Vec::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            otlp_endpoint: None,
        }
    }
}

impl Table {
    /// The first value that is out of its bounds: its key, and what it may be.
    #[must_use]
    pub fn out_of_bounds(&self) -> Option<(&'static str, String)> {
        let counts = [
            ("workers", self.workers, WORKERS),
            ("queue", self.queue, QUEUE),
            ("request_bytes", self.request_bytes, REQUEST_BYTES),
            ("connections", self.connections, CONNECTIONS),
        ];
        let times = [
            ("queue_timeout", self.queue_timeout),
            ("header_timeout", self.header_timeout),
            ("body_timeout", self.body_timeout),
            ("shutdown_timeout", self.shutdown_timeout),
        ];
        let count = counts
            .into_iter()
            .find(|(_, value, (least, most))| !(least..=most).contains(&value))
            .map(|(key, _, (least, most))| (key, format!("{least} to {most}")));
        let time = times
            .into_iter()
            .find(|(_, time)| time.is_zero() || *time > Duration::from_secs(3600))
            .map(|(key, _)| (key, "more than 0 and at most 1h".to_owned()));
        let endpoint = self
            .otlp_endpoint
            .as_ref()
            .filter(|url| {
                !matches!(url.scheme(), "http" | "https")
                    || !url.username().is_empty()
                    || url.password().is_some()
            })
            .map(|_| {
                (
                    "otlp_endpoint",
                    "an http or https address without user and password".to_owned(),
                )
            });
        let is_origin = |origin: &String| {
            Url::parse(origin).is_ok_and(|url| url.origin().ascii_serialization() == *origin)
        };
        let origins = (!self.origins.iter().all(is_origin)).then(|| {
            let bounds =
                "scheme, host and port as a browser sends them, such as https://tools.example.org";
            ("origins", bounds.to_owned())
        });
        let is_name = |host: &String| {
            let mut bytes = host.bytes();
            let plain = bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
            plain && !host.is_empty() && !host.ends_with('.')
        };
        let hosts = (!self.hosts.iter().all(is_name)).then(|| {
            let bounds =
                "ASCII names without scheme, port and wildcard, such as hydrant.example.org";
            ("hosts", bounds.to_owned())
        });
        count.or(time).or(endpoint).or(origins).or(hosts)
    }
}

/// Everything that a service is made of: `[serve]`, and what other tables and flags say that concerns it.
#[derive(Debug, Clone, Default)]
pub struct ServeConfig {
    /// `[serve]`.
    pub table: Table,
    /// The folder below which the tenants' states lie, in `tenants/<name>`.
    pub home: PathBuf,
    /// The policy that every tenant's own narrows; none: the default policy.
    pub policy: Option<PathBuf>,
    /// The directory with `pins/` and `skills/`; none: the skills compiled into this program.
    pub root: Option<PathBuf>,
    /// The digest of the key ring of the pins; none: that of the ring compiled into this program.
    pub keys_digest: Option<Digest>,
    /// `[govern]`. What names directories or the environment of the server does not count for tenants.
    pub govern: govern::config::Config,
    /// `[hydrate]`.
    pub hydrate: hook::Settings,
    /// What starts processes, for tenants of the profile `trusted`.
    pub jail: Option<Launcher>,
    /// Files that no call may write: the configuration itself.
    pub own_files: Vec<PathBuf>,
}

fn without_default(schema: &mut schemars::Schema) {
    schema.remove("default");
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Url::parse(&text)
        .map(Some)
        .map_err(|error| serde::de::Error::custom(format!("no address: {error}")))
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text)
        .map_err(|error| serde::de::Error::custom(format!("no duration such as \"10s\": {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error_and_a_value_out_of_bounds_is_named() {
        assert!(toml::from_str::<Table>("listn = \"127.0.0.1:1\"").is_err());
        let table: Table = toml::from_str("workers = 0").unwrap();
        assert_eq!(table.out_of_bounds().unwrap().0, "workers");
        let table: Table = toml::from_str("queue_timeout = \"2h\"").unwrap();
        assert_eq!(table.out_of_bounds().unwrap().0, "queue_timeout");
        let table: Table = toml::from_str("otlp_endpoint = \"file:///x\"").unwrap();
        assert_eq!(table.out_of_bounds().unwrap().0, "otlp_endpoint");
        assert_eq!(Table::default().out_of_bounds(), None);
    }
}
