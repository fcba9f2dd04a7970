"""A server that answers the routes the console asks, from recorded answers: the console's driver runs against it where no
hydrant is built, and uses it for what a real server cannot be made to say, such as hostile names and broken chains.

It serves the files of host/hydrant/src/serve/console/static with the headers of the real server.
"""

import copy
import datetime
import hashlib
import json
import pathlib
import queue
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = pathlib.Path(__file__).parent
STATIC = HERE.parent.parent / "host/hydrant/src/serve/console/static"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
       "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'")


def fixture(name):
    return json.loads((HERE / "fixtures" / f"{name}.json").read_text())


class State:
    """What the server says; a test changes it and calls `tell`."""

    def __init__(self, token):
        self.token = token
        self.approvals = fixture("approvals")
        self.capabilities = fixture("capabilities")
        self.capability = fixture("capability")
        self.skills = fixture("skills")
        self.skill = fixture("skill")
        self.chain = fixture("chain")
        self.verified = fixture("chain-verified")
        self.graph = fixture("graph")
        self.receipts = {f"rcpt_01KAQ2Z8{n:02d}0000000000000000": fixture("receipt") for n in range(45)}
        self.listeners = []
        self.refuse = None
        self.lock = threading.Lock()

    def tell(self, name, **data):
        with self.lock:
            for listener in self.listeners:
                listener.put((name, {"event": name, **data}))

    def hang_up(self):
        with self.lock:
            for listener in self.listeners:
                listener.put(None)

    def decide(self, one, verdict, body):
        if verdict == "approve" and one["tier"] == 3 and "scope" not in body:
            return 400, {"code": "invalid-request", "title": "Invalid request",
                         "detail": "Unknown tool requires full sandbox: its approval needs a scope"}
        one["status"] = {"approve": "approved", "deny": "denied", "revoke": "revoked"}[verdict]
        one["by"] = "operator"
        one["decided-at"] = datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")
        if body.get("reason"):
            one["reason"] = body["reason"]
        if verdict == "approve":
            one["scope"] = body.get("scope", "until-changed")
        last = self.chain["records"][-1]
        self.chain["records"].append({**last, "seq": last["seq"] + 1, "event": f"approval-{verdict}",
                                      "capability": one.get("capability"), "approval": one["id"],
                                      "hash": hashlib.sha256(one["id"].encode()).hexdigest(), "ts": one["decided-at"]})
        self.verified["records"] += 1
        self.chain["anchor"] = f"{last['seq'] + 1}:{self.chain['records'][-1]['hash']}"
        return 200, one


def handler(state):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def answer(self, status, body, kind="application/json", headers=()):
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.send_header("x-content-type-options", "nosniff")
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def problem(self, status, code, detail):
            self.answer(status, {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail},
                        "application/problem+json")

        def static(self, path):
            file = (STATIC / (path or "index.html")).resolve()
            if STATIC not in file.parents or not file.is_file():
                return self.answer(404, b"", "text/plain")
            self.answer(200, file.read_bytes(), TYPES[file.suffix], [
                ("content-security-policy", CSP), ("referrer-policy", "no-referrer"), ("cache-control", "no-cache")])

        def do_GET(self):
            url = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(url.query))
            if url.path.startswith("/console/"):
                return self.static(url.path.removeprefix("/console/"))
            if not self.permitted():
                return
            parts = [urllib.parse.unquote(part) for part in url.path.strip("/").split("/")][1:]
            match parts:
                case ["skills"]:
                    self.answer(200, {"skills": state.skills})
                case ["skills", _]:
                    self.answer(200, state.skill)
                case ["capabilities"]:
                    self.answer(200, state.capabilities)
                case ["capabilities", _]:
                    self.answer(200, state.capability)
                case ["approvals"]:
                    wanted = query.get("status")
                    short = [{k: v for k, v in one.items() if k not in ("difference", "derivation")} for one in state.approvals]
                    self.answer(200, [one for one in short if not wanted or one["status"] == wanted])
                case ["approvals", id]:
                    found = [one for one in state.approvals if one["id"] == id]
                    self.answer(200, found[0]) if found else self.problem(404, "invalid-request", "there is no such approval")
                case ["receipts"]:
                    ids = [id for id in sorted(state.receipts, reverse=True) if id < query.get("cursor", "~")]
                    self.answer(200, {"receipts": [{"id": id, "time": "2026-11-23T01:32:58.000Z"} for id in ids[:20]],
                                      "cursor": ids[19] if len(ids) > 20 else None})
                case ["receipts", id]:
                    self.answer(200, state.receipts[id]) if id in state.receipts else self.problem(404, "not_found", "no such receipt")
                case ["graph"]:
                    self.answer(200, {**state.graph, "uri": query["uri"]})
                case ["resources"]:
                    self.answer(200, {"resources": [{"uri": state.graph["uri"]}], "cursor": None})
                case ["chain"]:
                    records = [one for one in state.chain["records"] if one["seq"] > int(query.get("cursor", 0))]
                    most = int(query.get("limit", 100))
                    self.answer(200, {"head": state.chain["anchor"], "verified": state.verified["ok"], "report": state.verified,
                                      "entries": records[:most],
                                      "cursor": str(records[most - 1]["seq"]) if len(records) > most else None})
                case ["events"]:
                    self.events()
                case _:
                    self.problem(404, "not_found", "there is no such resource")

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
            if not self.permitted():
                return
            _, _, _, id, verdict = self.path.split("/")
            one = next(one for one in state.approvals if one["id"] == id)
            status, answer = state.decide(one, verdict, body)
            self.answer(status, answer, "application/json" if status == 200 else "application/problem+json")
            state.tell("approval-decided", id=id, status=answer.get("status", ""))
            state.tell("chain")

        def permitted(self):
            if state.refuse and not self.path.startswith("/console/"):
                self.problem(*state.refuse)
                return False
            if self.headers.get("authorization") != f"Bearer {state.token}":
                self.problem(401, "unauthorized", "the token is not known")
                return False
            return True

        def events(self):
            mine = queue.Queue()
            with state.lock:
                state.listeners.append(mine)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            try:
                self.wfile.write(b": welcome\n\n")
                while True:
                    try:
                        told = mine.get(timeout=10)
                    except queue.Empty:
                        self.wfile.write(b": still here\n\n")
                        continue
                    if told is None:
                        return
                    self.wfile.write(f"event: {told[0]}\ndata: {json.dumps(told[1])}\n\n".encode())
                    self.wfile.flush()
            except OSError:
                pass
            finally:
                self.close_connection = True
                with state.lock:
                    state.listeners.remove(mine)

    return Handler


class Mock:
    """The server on a free port of loopback, until `close`."""

    def __init__(self, token="console-test-token"):
        self.state = State(token)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self.state))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.state.hang_up()
        self.server.shutdown()


def another_approval(state, **members):
    """A pending request like one of those there are, with these members."""
    one = copy.deepcopy(next(one for one in state.approvals if one["status"] == "pending" and one["tier"] == 1))
    one.update(id="ap-" + hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()[:32],
               **{"requested-at": datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")})
    one.update(members)
    state.approvals.append(one)
    return one
