//! The way out, as far as it concerns a stage: which pairs are asked for, and what is made of the answer.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Mutex;

use hydrant_govern::budget::Dimension;
use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::{Egress, EgressRefusal, EgressReport};
use hydrant_govern::sandbox::{Caps, End};
use serde_json::json;

use crate::support::{Case, NoEgress, python, text};

/// Answers every connection with one response, and keeps what was asked of it.
struct Proxy {
    asked: Mutex<Vec<(Vec<String>, u64)>>,
    exhausted: bool,
}

impl Egress for Proxy {
    fn during(
        &self,
        pairs: &[String],
        _: &[String],
        byte_limit: u64,
        run: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure> {
        self.asked
            .lock()
            .unwrap()
            .push((pairs.to_vec(), byte_limit));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proxy");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).unwrap();
                let line = text(&request[..length])
                    .lines()
                    .next()
                    .unwrap_or("")
                    .to_owned();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", line.len());
                let _ = stream.write_all(format!("{head}{line}").as_bytes());
            }
        });
        run(&path);
        Ok(EgressReport {
            bytes: 1234,
            exhausted: self.exhausted,
            refusals: vec![EgressRefusal {
                target: "other.example:443".to_owned(),
                code: Code::HostDenied,
            }],
        })
    }
}

fn fetching() -> Case {
    let mut case = Case::of(python(
        "import os, urllib.request\n\
         print(os.environ['HTTPS_PROXY'], os.environ['http_proxy'])\n\
         print(urllib.request.urlopen('http://api.example.org/v1').read().decode())\n",
    ));
    case.policy.network = json!({"egress": ["api.example.org:80"]});
    case
}

#[test]
fn programs_reach_the_proxy_and_what_it_says_comes_back() {
    let case = fetching();
    let proxy = Proxy {
        asked: Mutex::default(),
        exhausted: false,
    };
    let end = case.run_with(&proxy).unwrap();
    assert_eq!(
        text(&end.stdout),
        "http://127.0.0.1:3128 http://127.0.0.1:3128\nGET http://api.example.org/v1 HTTP/1.1\n",
        "{}",
        text(&end.stderr)
    );
    assert_eq!(end.used.network_bytes, 1234);
    assert_eq!(end.egress.unwrap().refusals.len(), 1);
    assert_eq!(end.exhausted, None);
    let asked = proxy.asked.lock().unwrap();
    assert_eq!(
        *asked,
        [(vec!["api.example.org:80".to_owned()], 10 * 1024 * 1024)]
    );
}

#[test]
fn what_the_budget_has_left_limits_the_proxy() {
    let mut case = fetching();
    case.caps = Caps {
        network_bytes: Some(500),
        ..Caps::default()
    };
    let proxy = Proxy {
        asked: Mutex::default(),
        exhausted: true,
    };
    let end = case.run_with(&proxy).unwrap();
    assert_eq!(
        (end.end, end.exhausted),
        (End::Exit, Some(Dimension::NetworkBytes))
    );
    assert_eq!(proxy.asked.lock().unwrap()[0].1, 500);
}

#[test]
fn without_a_proxy_nothing_runs() {
    let failure = fetching().run_with(&NoEgress).unwrap_err();
    assert_eq!(failure.code, Code::JailUnavailable);
    let mut case = fetching();
    case.policy.network = json!({"egress": "all"});
    assert_eq!(case.refused().code, Code::InvalidPlan);
}
