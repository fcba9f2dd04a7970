//! TLS against a server on loopback whose certificate a test root signed (valid 2020 to 2120).

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// The certificate of `127.0.0.1`, and the root that signed it.
const CERTIFICATE: &[u8] = include_bytes!("loopback.pem");
const ROOT: &[u8] = include_bytes!("root.pem");

/// The key of that certificate, which is worth nothing: only tests trust its root.
const KEY: &str = "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420\
    e20d2efccf3924bafd85ce68d556907f50538b45edef651039517dd6a2accd34\
    a1440342000403401ca6f64e7f7ccacbaa57ec10d1540d99560364f55f7ee7ea\
    f20aa50608dfccb5fb348cfc2945d878b3eeabc9c0feaacbd7b946486463fc4f214f0f9f64f9";

fn root_file(site: &Site) -> PathBuf {
    let file = site.root.join("root.pem");
    std::fs::write(&file, ROOT).unwrap();
    file
}

/// A server that takes `connections`, answers each that comes to a request, and ends.
fn serve(connections: usize) -> (u16, JoinHandle<()>) {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).unwrap();
    let key: Vec<u8> = KEY
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::try_from(16 * digit(&pair[0]) + digit(&pair[1])).unwrap())
        .collect();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key));
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(session, stream.unwrap());
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") {
                // A client that does not trust us goes away.
                match stream.read(&mut byte) {
                    Ok(1) => request.push(byte[0]),
                    _ => break,
                }
            }
            if request.ends_with(b"\r\n\r\n") {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret");
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    (port, thread)
}

#[test]
fn a_certificate_is_trusted_by_a_root_of_the_policy_only() {
    let site = Site::new();
    let (port, server) = serve(2);
    let url = format!("https://127.0.0.1:{port}/");
    let mut call = call_to(std::slice::from_ref(&url));
    assert_eq!(one(&call, get(&url)), Err(FetchError::Tls));
    call.fetcher = Arc::new(Fetcher::new(&[root_file(&site)]).unwrap());
    assert_eq!(one(&call, get(&url)).unwrap().body, b"secret");
    server.join().unwrap();
}

#[test]
fn the_name_of_a_certificate_is_verified() {
    let site = Site::new();
    let (port, server) = serve(1);
    let url = format!("https://localhost:{port}/");
    let mut call = call_to(std::slice::from_ref(&url));
    let lookup = names(&["127.0.0.1"]);
    call.fetcher = Arc::new(Fetcher::with_lookup(&[root_file(&site)], lookup).unwrap());
    assert_eq!(one(&call, get(&url)), Err(FetchError::Tls));
    server.join().unwrap();
}

#[test]
fn a_connection_is_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 4096];
        for _ in 0..3 {
            assert!(stream.read(&mut buffer).unwrap() > 0);
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx")
                .unwrap();
        }
    });
    let call = call_to(std::slice::from_ref(&url));
    for _ in 0..3 {
        assert_eq!(one(&call, get(&url)).unwrap().body, b"x");
    }
    server.join().unwrap();
}
