#!/usr/bin/env python3
"""The library of examples/skills on loopback: what an operation of these skills talks to.

    python3 examples/skills/service.py [PORT] [TOKEN]

Prints each request that it gets, without its Authorization header.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BOOKS = [
    {"id": "b-17", "title": "Moby-Dick", "author": "Herman Melville"},
    {"id": "b-23", "title": "Typee", "author": "Herman Melville"},
    {"id": "b-42", "title": "Emma", "author": "Jane Austen"},
]


class Library(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    token = "open-sesame"

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        print(f"{self.command} {self.path} {body.decode(errors='replace')}", flush=True)
        if self.headers.get("Authorization") != f"Bearer {self.token}":
            return self.answer(401, {"error": "no such key"})
        if (self.command, url.path) == ("POST", "/v1/search"):
            asked = json.loads(body)
            found = [b for b in BOOKS if asked["query"].lower() in (b["title"] + b["author"]).lower()]
            return self.answer(200, {"results": found[: asked.get("limit", 10)]})
        if (self.command, url.path) == ("GET", "/v1/books"):
            author = parse_qs(url.query).get("author", [""])[0].lower()
            return self.answer(200, {"results": [b for b in BOOKS if author in b["author"].lower()]})
        if self.command == "PUT" and url.path.startswith("/v1/reservations/"):
            return self.answer(201, {"book": url.path.rsplit("/", 1)[1], **json.loads(body)})
        return self.answer(404, {"error": "no such path"})

    do_GET = do_POST = do_PUT = handle_request

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    Library.token = sys.argv[2] if len(sys.argv) > 2 else Library.token
    print(f"the library listens on 127.0.0.1:{port}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Library).serve_forever()
