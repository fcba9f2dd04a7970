//! Systems without a jail: no sandbox stage runs, and none gets a proxy.

use std::path::Path;

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::{Egress as Port, EgressReport};

use super::Ports;

impl Port for Ports {
    fn during(
        &self,
        _: &[String],
        _: &[String],
        _: u64,
        _: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure> {
        let message = "egress: processes are jailed on Linux only";
        Err(Failure::new(Code::JailUnavailable, message))
    }
}
