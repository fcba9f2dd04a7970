//! A loopback HTTP server, a process of its own, that answers nobody before it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// The other side of [`serve`].
pub(crate) struct HeldServer {
    process: Child,
    told: ChildStdin,
    says: BufReader<ChildStdout>,
    port: u16,
}

impl HeldServer {
    pub(crate) fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        says.read_line(&mut port).unwrap();
        Self {
            told: process.stdin.take().unwrap(),
            port: port.trim().parse().unwrap(),
            process,
            says,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Returns once so many requests have come since the last release.
    pub(crate) fn wait_for(&mut self, requests: u64) {
        let mut line = String::new();
        for _ in 0..requests {
            line.clear();
            assert!(self.says.read_line(&mut line).unwrap() > 0);
        }
    }

    /// Has all of them answered.
    pub(crate) fn release(&mut self) {
        self.told.write_all(b"\n").unwrap();
    }
}

impl Drop for HeldServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Says its port, then a line for each request; answers all that have come when it reads a line, until there are no more.
pub(crate) fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let held: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let kept = Arc::clone(&held);
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut head = Vec::new();
            let mut chunk = [0; 1024];
            while !head.ends_with(b"\r\n\r\n") {
                match connection.read(&mut chunk) {
                    Ok(read) if read > 0 => head.extend_from_slice(&chunk[..read]),
                    _ => break,
                }
            }
            kept.lock().unwrap().push(connection);
            println!("held");
        }
    });
    for _ in std::io::stdin().lines() {
        for mut connection in held.lock().unwrap().drain(..) {
            let answer = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nlate\n";
            let _ = connection.write_all(answer);
        }
    }
}
