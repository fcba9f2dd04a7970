"""Drives the console of the built program: what it shows is what the service has, and what is decided in it is decided.

    drive_server.py [--screenshots FOLDER]
"""

import argparse
import http.server
import pathlib
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "serve"))

from browser import Watched, browser, screenshots
from server import ROOT, Server

CHANGED = ("http://127.0.0.1:8765/v1/search", "https://archive.example.org/v1/search")
HOSTILE = "<img src=x onerror=alert(1)>"


# What approvals may lead to: the service of the library and the one that documents are loaded from.
POLICY = """\
version: 1
trusted_signers: [hydrant.build, hydrant.release]
capability_ceiling:
  fs: {{read: [/os, /workspace]}}
  net: ["{library}", "{documents}"]
host:
  mounts:
    - {{at: /os, dir: "@cli", mode: ro}}
    - {{at: /workspace, dir: "@cli", mode: ro}}
  net:
    - {{url: "{library}", methods: [GET, POST, PUT, PATCH, DELETE]}}
    - {{url: "{documents}", methods: [GET]}}
  tools: describe
"""


def library():
    return (ROOT / "examples/skills/library.md").read_text()


class Documents:
    """A place that skills are loaded from: what changes there is the same skill from the same source."""

    def __init__(self):
        documents = self.documents = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                text = documents.get(self.path.strip("/"), "").encode()
                self.send_response(200 if text else 404)
                self.send_header("content-type", "text/markdown")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


documents = Documents()


def load(server, text, id):
    documents.documents[f"{id}.md"] = text
    source = f"http://{documents.place}/{id}.md"
    status, answer = server.call("POST", "/v1/capabilities", {"source": source, "id": id}, role="caller")
    assert status == 200, (status, answer)
    return {row["id"]: row.get("approval-id") for row in answer["capabilities"]}


def choose(page, capability):
    page.click(f'.list a:has-text("{capability}") >> nth=0')
    page.wait_for_selector(f'.grant h2:has-text("{capability}")')


def files_have_their_headers(server):
    with urllib.request.urlopen(f"{server.url}/console/") as answer:
        policy, tag = answer.headers["content-security-policy"], answer.headers["etag"]
        assert "default-src 'none'" in policy and "unsafe" not in policy, policy
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
    request = urllib.request.Request(f"{server.url}/console/", headers={"if-none-match": tag})
    try:
        urllib.request.urlopen(request)
        raise AssertionError("the page was sent again")
    except urllib.error.HTTPError as error:
        assert error.code == 304, error.code
    with urllib.request.urlopen(f"{server.url}/console") as answer:
        assert answer.url == f"{server.url}/console/", answer.url


def decides(server, watched, look):
    page = watched.page
    page.wait_for_selector(".light[data-state=live]")
    choose(page, "library.search")
    text = page.inner_text(".grant")
    for wanted in ("127.0.0.1:8765", "{secret LIBRARY_TOKEN}", "{input query}", "line 21", "POST"):
        assert wanted in text, f"{wanted!r} is missing"
    page.click("[data-verdict=approve]")
    page.fill("#reason", "reviewed")
    page.click("dialog button[type=submit]")
    page.wait_for_selector(".grant header .badge:has-text('approved')")
    _, approvals = server.call("GET", "/v1/approvals?status=approved", role="approver")
    granted = [one for one in approvals if one["capability"] == "library.search"]
    assert granted and granted[0]["reason"] == "reviewed", approvals
    # What changes is asked for again, is seen without reloading, and differs from what was granted.
    load(server, library().replace(*CHANGED), "library")
    page.wait_for_selector('.list a:has-text("library.search"):has-text("changed")')
    page.click('.list a:has-text("library.search"):has-text("changed")')
    page.wait_for_selector(".difference")
    assert CHANGED[0] in page.inner_text(".difference") and CHANGED[1] in page.inner_text(".difference")
    watched.accessible("a changed request")
    look("changed")
    page.click("[data-verdict=deny]")
    page.fill("#reason", "not that host")
    page.click("dialog button[type=submit]")
    page.wait_for_selector(".grant header .badge:has-text('denied')")
    _, denied = server.call("GET", "/v1/approvals?status=denied", role="approver")
    assert [one["reason"] for one in denied] == ["not that host"], denied
    # Tier 3 needs a scope.
    choose(page, "library.clean-up")
    assert "rm -rf library-cache" in page.inner_text(".grant")
    page.click("[data-verdict=approve]")
    page.check("#scope-once")
    page.click("dialog button[type=submit]")
    page.wait_for_selector(".grant header .badge:has-text('approved')")
    page.click("[data-verdict=revoke]")
    page.click("dialog button[type=submit]")
    page.wait_for_selector(".grant header .badge:has-text('revoked')")


def sees_what_is_hostile_as_text(server, watched):
    page = watched.page
    text = f"---\nname: \"{HOSTILE}\"\ndescription: \"{HOSTILE}\"\n---\n## {HOSTILE}\n\n{HOSTILE}\n\n```bash\ncurl 'https://h.example.org/v1/things?q={{q}}' -H 'X-Note: {HOSTILE}'\n```\n"
    load(server, text, "hostile")
    page.wait_for_selector('.list a:has-text("hostile.")')
    page.click('.list a:has-text("hostile.") >> nth=0')
    page.wait_for_selector('.grant h2:has-text("hostile.")')
    watched.view("skills")
    page.click('.list a:has-text("hostile")')
    page.wait_for_selector(".detail article")
    assert not page.query_selector("img"), "served text became an element"


def sees_the_rest(server, watched, look):
    page = watched.page
    watched.view("skills")
    page.click('.list a:has-text("fs.read_tree")')
    page.wait_for_selector('.detail h2:has-text("fs.read_tree")')
    assert "fs.read:/workspace" in page.inner_text(".detail") and "max_entries" in page.inner_text(".detail")
    watched.accessible("skills")
    look("skills")
    watched.view("receipts")
    before = page.locator(".list a").count()
    with urllib.request.urlopen(urllib.request.Request(
            f"{server.url}/v1/skills/json.validate/run", data=b'{"schema":{"type":"integer"},"instance":1}', method="POST",
            headers={"authorization": f"Bearer {server.token('acme', 'caller')}", "content-type": "application/json"})) as answer:
        receipt = answer.headers["hydrant-receipt"]
    page.wait_for_selector(f".list a:has-text('{receipt}')")
    assert page.locator(".list a").count() == before + 1
    page.click(f".list a:has-text('{receipt}')")
    page.wait_for_selector(f".detail h2:has-text('{receipt}')")
    watched.accessible("receipts")
    look("receipts")
    watched.view("chain")
    page.wait_for_selector(".card .badge:has-text('Verified')")
    assert "approval-denied" in page.inner_text("table") and page.locator("tbody tr").count() > 5
    watched.accessible("chain")
    look("chain")
    watched.view("graph")
    page.fill("#graph-uri", "os://agents/release-captain.md")
    page.press("#graph-uri", "Enter")
    page.wait_for_selector(".picture svg")
    assert page.locator(".node").count() > 2
    watched.accessible("graph")
    look("graph")


def a_caller_decides_nothing(server, launched):
    watched = Watched(launched.new_context(), server.url, server.token("acme", "caller"))
    watched.expected.append("403")
    watched.sign_in()
    watched.page.wait_for_selector(".failure:has-text('operator-only')")
    watched.verify()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--screenshots", metavar="FOLDER")
    options = options.parse_args()
    private = f'allow_private = ["127.0.0.1:8765", "{documents.place}"]'
    govern = f'{private}\nsource_hosts = ["{documents.place}"]'
    policy = POLICY.format(library="http://127.0.0.1:8765/", documents=f"http://{documents.place}/")
    with Server(tenants=("acme", "other"), govern=govern, tenant=private, policy=policy) as server, browser() as launched:
        # Compiled now, not while somebody waits for a view.
        server.call("GET", "/v1/skills")
        load(server, library(), "library")
        files_have_their_headers(server)
        watched = Watched(launched.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce"),
                          server.url, server.token("acme", "approver"))
        look = lambda name: screenshots(options.screenshots, watched, f"server-{name}")
        watched.sign_in()
        decides(server, watched, look)
        sees_what_is_hostile_as_text(server, watched)
        sees_the_rest(server, watched, look)
        watched.verify()
        a_caller_decides_nothing(server, launched)
        other = Watched(launched.new_context(), server.url, server.token("other", "approver"))
        other.sign_in()
        other.page.wait_for_selector(".empty:has-text('No approvals')")
        other.verify()
    assert server.process.returncode == 0, server.said
    print("the console of the built program does what it shows")


if __name__ == "__main__":
    main()
