//! The HTTP client of the process: TLS roots, two pools of connections, and what every request has.
//!
//! One pool holds connections to public addresses, the other those to addresses that a policy names, so
//! that no connection ever serves a request whose reach it was not made for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use ureq::Agent;
use ureq::config::{AutoHeaderValue, Config, ConfigBuilder};
use ureq::typestate::AgentScope;

use super::connect::SecureConnector;
use super::resolve::{CheckedResolver, Lookup, SystemLookup};
use hydrant_policy::Reach;

/// Bytes of status line and headers of a response; the parser takes 128 headers at most.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Bytes of each buffer of a connection, which is there for as long as the connection is: the longest head of a response,
/// or the longest line of a request, must fit, and what the protocol puts around it. Twice as much is usual.
const BUFFER_BYTES: usize = MAX_HEADER_BYTES + 4 * 1024;

/// Connections that wait for another request, in each pool.
const MAX_IDLE: usize = 64;

/// As many to one host as requests can be at work at a time.
const MAX_IDLE_PER_HOST: usize = 10;

/// How long a connection waits: shorter than servers commonly do, so that few are closed under us.
const MAX_IDLE_AGE: Duration = Duration::from_secs(4);

/// The time for one connection, TLS included. A request of less time has that.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// The HTTP client of the process: TLS roots, connections, addresses.
#[derive(Debug)]
pub struct Fetcher {
    public: Agent,
    named: Agent,
    lookup: Arc<dyn Lookup>,
    tls: Arc<ClientConfig>,
}

/// Why there is no HTTP client.
#[derive(Debug, thiserror::Error)]
pub enum FetcherError {
    /// A PEM file of `tls_roots` cannot be read.
    #[error("the TLS roots {file} cannot be read: {source}", file = file.display())]
    Unreadable {
        /// The file as the policy names it.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file of `tls_roots` holds no certificate, or one that is none.
    #[error("the TLS roots {file} hold no usable certificate", file = file.display())]
    NoCertificate {
        /// The file as the policy names it.
        file: PathBuf,
    },
    /// The TLS library refuses to be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

impl Fetcher {
    /// A client that trusts the built-in roots and the certificates of the PEM files.
    ///
    /// # Errors
    /// [`FetcherError`] names the file that cannot be used.
    pub fn new(tls_roots: &[PathBuf]) -> Result<Fetcher, FetcherError> {
        Fetcher::with_lookup(tls_roots, Arc::new(SystemLookup::default()))
    }

    /// A client with another way to look names up.
    pub(crate) fn with_lookup(
        tls_roots: &[PathBuf],
        lookup: Arc<dyn Lookup>,
    ) -> Result<Fetcher, FetcherError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        // The safe versions are TLS 1.2 and 1.3.
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots(tls_roots)?)
            .with_no_client_auth();
        let tls = Arc::new(tls);
        let agent = |reach| {
            Agent::with_parts(
                config(),
                SecureConnector::new(Arc::clone(&tls)),
                CheckedResolver {
                    reach,
                    lookup: Arc::clone(&lookup),
                },
            )
        };
        Ok(Fetcher {
            public: agent(Reach::Public),
            named: agent(Reach::Named),
            lookup,
            tls,
        })
    }

    /// The addresses that a connection to `host` may go to, for a connection that somebody else makes: looked up once,
    /// and each of them checked. One at least.
    ///
    /// # Errors
    /// `Denied` for an address that `reach` does not hold; `Dns` and `Timeout` where there is none within the given
    /// time.
    #[cfg(target_os = "linux")]
    pub(crate) fn addresses(
        &self,
        host: &str,
        reach: Reach,
        within: Duration,
    ) -> Result<Vec<std::net::IpAddr>, super::FetchError> {
        let resolver = CheckedResolver {
            reach,
            lookup: Arc::clone(&self.lookup),
        };
        resolver
            .addresses(host, within)
            .map_err(|error| super::send::failure(&error))
    }

    /// The client whose connections have this reach.
    pub(super) fn agent(&self, reach: Reach) -> &Agent {
        match reach {
            Reach::Public => &self.public,
            // What an operator's pair leads to shares no connection with anything: see `agent_for_one`.
            Reach::Named | Reach::Any => &self.named,
        }
    }

    /// A client for one request, whose connection nobody uses again: any method, and this time to connect.
    pub(super) fn agent_for_one(&self, reach: Reach, connect: Duration) -> Agent {
        let config = settings()
            .timeout_connect(Some(connect))
            .allow_non_standard_methods(true)
            .max_idle_connections(0)
            .max_idle_connections_per_host(0)
            .build();
        Agent::with_parts(
            config,
            SecureConnector::new(Arc::clone(&self.tls)),
            CheckedResolver {
                reach,
                lookup: Arc::clone(&self.lookup),
            },
        )
    }
}

/// What holds for every request of a pool.
fn config() -> Config {
    settings()
        .timeout_connect(Some(CONNECT_TIME))
        .max_idle_connections(MAX_IDLE)
        .max_idle_connections_per_host(MAX_IDLE_PER_HOST)
        .max_idle_age(MAX_IDLE_AGE)
        .build()
}

/// What holds for every request. Redirects are followed hop by hop elsewhere, each with its own check.
fn settings() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("hydrant/", env!("CARGO_PKG_VERSION")))
        .accept(AutoHeaderValue::None)
        .accept_encoding(AutoHeaderValue::None)
        .max_response_header_size(MAX_HEADER_BYTES)
        .input_buffer_size(BUFFER_BYTES)
        .output_buffer_size(BUFFER_BYTES)
}

/// The built-in roots, and the certificates of the files.
fn roots(files: &[PathBuf]) -> Result<RootCertStore, FetcherError> {
    let mut store = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for file in files {
        add_file(&mut store, file)?;
    }
    Ok(store)
}

fn add_file(store: &mut RootCertStore, file: &Path) -> Result<(), FetcherError> {
    let unusable = || FetcherError::NoCertificate {
        file: file.to_owned(),
    };
    let pem = fs::read(file).map_err(|source| FetcherError::Unreadable {
        file: file.to_owned(),
        source,
    })?;
    let mut found = false;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|_| unusable())?;
        store.add(certificate).map_err(|_| unusable())?;
        found = true;
    }
    found.then_some(()).ok_or_else(unusable)
}
