//! K-325: imports and calls in code that open sockets, start processes or load native code. They permit nothing.

/// What is looked for, and what it is.
const SIGNS: [(&str, &str); 22] = [
    ("import socket", "opens sockets"),
    ("from socket", "opens sockets"),
    ("urllib", "opens sockets"),
    ("import requests", "opens sockets"),
    ("import httpx", "opens sockets"),
    ("aiohttp", "opens sockets"),
    ("require('net')", "opens sockets"),
    ("require(\"net\")", "opens sockets"),
    ("fetch(", "opens sockets"),
    ("net.Dial", "opens sockets"),
    ("net/http", "opens sockets"),
    ("/dev/tcp/", "opens sockets"),
    ("subprocess", "starts processes"),
    ("os.system", "starts processes"),
    ("os.popen", "starts processes"),
    ("os.exec", "starts processes"),
    ("child_process", "starts processes"),
    ("os/exec", "starts processes"),
    ("ctypes", "loads native code"),
    ("cffi", "loads native code"),
    ("process.dlopen", "loads native code"),
    ("import \"C\"", "loads native code"),
];

/// The notes on a text, each once, in the order of the table.
pub(super) fn of(text: &str) -> Vec<String> {
    SIGNS
        .iter()
        .filter(|(sign, _)| text.contains(sign))
        .map(|(sign, meaning)| format!("{meaning}: {sign}"))
        .collect()
}
