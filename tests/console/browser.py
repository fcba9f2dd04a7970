"""A real browser, headless, that is watched: whatever it reports (a violation of the content security policy, an error, a
request to another host) fails the test that was going on.
"""

import contextlib
import pathlib
import shutil
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# Rules of WCAG 2.2 A and AA, and what axe calls best practice.
AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    raise SystemExit("error: there is no chromium")


class Watched:
    """A page that is signed in to `url`, and what it did."""

    def __init__(self, context, url, token):
        self.url, self.token = url, token
        self.page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.complaints = []
        self.requests = []
        # Answers that are wrong on purpose are told on the console too.
        self.expected = []
        self.page.on("console", lambda message: self.complain(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complain("error", str(error)))
        self.page.on("request", self.asked)
        self.page.on("dialog", lambda dialog: (self.complain("error", f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.add_init_script(
            "document.addEventListener('securitypolicyviolation', event =>"
            " console.error('CSP violation: ' + event.violatedDirective + ' ' + event.blockedURI))")

    def complain(self, kind, text):
        if kind in ("error", "warning") and not any(part in text for part in self.expected):
            self.complaints.append(f"{kind}: {text}")

    def asked(self, request):
        self.requests.append(request)
        if urllib.parse.urlsplit(request.url).scheme in ("data", "blob"):
            return
        if not request.url.startswith(self.url + "/"):
            self.complain("error", f"a request to {request.url}")
        if self.token in request.url:
            self.complain("error", "the token is in an address")

    def open(self, place=""):
        self.page.goto(f"{self.url}/console/{place}")

    def sign_in(self, place=""):
        self.open(place)
        self.page.fill("#token", self.token)
        self.page.press("#token", "Enter")
        self.page.wait_for_selector("nav.views")

    def view(self, name):
        self.page.click(f'nav.views a[href="#/{name}"]')
        self.page.wait_for_selector("main h1")

    def accessible(self, where):
        # Colours that are on their way from one to the other have no contrast yet.
        self.page.wait_for_timeout(200)
        found = Axe().run(self.page, options=AXE).response["violations"]
        told = [f"{one['id']}: {one['help']}: " + "; ".join(str(node["target"]) for node in one["nodes"][:4]) for one in found]
        assert not told, f"{where}: " + "\n".join(told)

    def verify(self):
        assert not self.complaints, "\n".join(self.complaints)
        kept = self.page.evaluate(
            "async () => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href,"
            " document.documentElement.outerHTML, await indexedDB.databases(), history.state])")
        assert self.token not in kept, "the token is kept somewhere"


@contextlib.contextmanager
def browser():
    with sync_playwright() as playwright:
        # In a container there is no sandbox within the sandbox; what is loaded is ours.
        launched = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield launched
        finally:
            launched.close()


def screenshots(folder, watched, name):
    """For looking at, where `--screenshots FOLDER` was given."""
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        watched.page.screenshot(path=f"{folder}/{name}.png")
