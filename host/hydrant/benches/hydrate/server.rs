//! A loopback HTTP server that answers every GET with a skill after a delay.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

pub(crate) struct SlowServer {
    address: SocketAddr,
}

impl SlowServer {
    /// Serves until the process ends.
    pub(crate) fn start(delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                thread::spawn(move || serve(connection, delay));
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

fn serve(mut connection: TcpStream, delay: Duration) {
    let mut requests = BufReader::new(connection.try_clone().unwrap());
    loop {
        let mut first = String::new();
        if requests.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut line = String::new();
        while requests.read_line(&mut line).unwrap_or(0) > 2 {
            line.clear();
        }
        let number: String = first.chars().filter(char::is_ascii_digit).collect();
        let number = number.strip_suffix("11").unwrap_or(&number); // of HTTP/1.1
        let body = format!("---\nname: Skill {number}\ndescription: Answers late.\n---\n");
        thread::sleep(delay);
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if connection.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
