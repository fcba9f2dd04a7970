"""Drives the console in a real browser against a server that says what it is told (mock.py): each test is one function.

    drive.py [--screenshots FOLDER] [NAME…]
"""

import argparse
import sys
import time
import traceback

from browser import Watched, browser, screenshots
from mock import Mock, another_approval

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
UNSEEN = "pay\u202etxt.exe\u200b"


class Case:
    """A server, and pages that are watched, until the end of a test."""

    def __init__(self, launched, folder):
        self.mock = Mock()
        self.state = self.mock.state
        self.launched, self.folder, self.contexts, self.pages = launched, folder, [], []

    def page(self, **options):
        options.setdefault("viewport", {"width": 1280, "height": 860})
        context = self.launched.new_context(reduced_motion="reduce", **options)
        self.contexts.append(context)
        watched = Watched(context, self.mock.url, self.state.token)
        self.pages.append(watched)
        return watched

    def signed_in(self, place="", **options):
        watched = self.page(**options)
        watched.sign_in(place)
        return watched

    def look(self, watched, name):
        screenshots(self.folder, watched, name)

    def close(self):
        for context in self.contexts:
            context.close()
        self.mock.close()

    def pending(self, capability):
        return next(one for one in self.state.approvals if one["capability"] == capability and one["status"] == "pending")


def choose(watched, capability):
    watched.page.click(f'.list a:has-text("{capability}") >> nth=0')
    watched.page.wait_for_selector(f'.grant h2:has-text("{capability}")')


def wait_for(condition, what):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.02)


def a_wrong_token_is_told_and_forgotten(case):
    watched = case.page()
    watched.expected.append("401")
    watched.open()
    watched.page.fill("#token", "not this one")
    watched.page.press("#token", "Enter")
    watched.page.wait_for_selector("#token-problem:has-text('does not know this token')")
    watched.page.fill("#token", "nor-this")
    watched.page.press("#token", "Enter")
    watched.page.wait_for_selector("button[type=submit]:not([disabled])")
    assert watched.page.input_value("#token") == ""
    assert watched.page.evaluate("document.activeElement.id") == "token"
    watched.accessible("sign in")
    case.look(watched, "sign-in")


def the_token_is_in_memory_only(case):
    watched = case.signed_in("#/approvals")
    watched.page.wait_for_selector(".list a")
    watched.verify()
    sent = [request for request in watched.requests if "/v1/" in request.url]
    assert sent and all(request.headers.get("authorization") == f"Bearer {watched.token}" for request in sent)
    watched.page.reload()
    watched.page.wait_for_selector("#token")
    watched.verify()


def signing_out_ends_everything(case):
    watched = case.signed_in()
    wait_for(lambda: len(case.state.listeners) == 1, "the stream is read")
    watched.page.click("text=Sign out")
    watched.page.wait_for_selector("#token")
    case.state.tell("chain")
    wait_for(lambda: (case.state.tell("chain"), not case.state.listeners)[1], "the stream ends")
    before = len(watched.requests)
    watched.page.wait_for_timeout(400)
    assert len(watched.requests) == before


def a_token_that_is_withdrawn_signs_out(case):
    watched = case.signed_in()
    watched.expected.append("401")
    watched.page.wait_for_selector(".list a")
    case.state.refuse = (401, "unauthenticated", "the token is not known")
    case.state.tell("chain")
    watched.page.wait_for_selector("#token-problem:has-text('any more')")


def a_request_shows_what_it_grants(case):
    watched = case.signed_in()
    choose(watched, "library.clean-up")
    text = watched.page.inner_text(".grant")
    for wanted in ("/srv/skills/library.md, line 63", "Tier 3", "Unknown tool requires full sandbox", "ccos.sandbox.shell",
                   "egress 127.0.0.1:8765: line 63", "rm -rf library-cache", "memory mb 512", "script:pipe into `sh`",
                   "yes: the script is run by a shell"):
        assert wanted in text, f"{wanted!r} is missing"
    choose(watched, "library.titles")
    text = watched.page.inner_text(".grant")
    for wanted in ('http://127.0.0.1:8765/v1/books?lang={input lang, default "en"}&author={input author}', "{secret LIBRARY_TOKEN}",
                   "a call that gives no more than it must sends", "/v1/books?lang=en&", "in 2 stages", "ccos.json.parse", "line 36"):
        assert wanted.lower() in text.lower(), f"{wanted!r} is missing"
    kinds = watched.page.eval_on_selector_all(".part", "all => [...new Set(all.map((one) => one.className))].sort()")
    assert kinds == ["part constant", "part default", "part input", "part secret"], kinds


def a_request_shows_what_differs_from_the_last_grant(case):
    watched = case.signed_in()
    choose(watched, "library.search")
    difference = watched.page.inner_text(".difference")
    assert "http://127.0.0.1:8765/v1/search" in watched.page.inner_text(".difference del >> nth=0")
    assert "http://archive.example.org/v1/search" in watched.page.inner_text(".difference ins >> nth=0")
    assert case.pending("library.search")["previous"] in difference
    choose(watched, "library.count-words")
    removed = [line.strip() for line in watched.page.locator(".difference figure >> nth=0 >> del").all_inner_texts()]
    assert len(removed) == 1 and "split()))" in removed[0], removed
    assert len(watched.page.locator(".difference figure >> nth=0 >> ins").all()) == 2
    case.look(watched, "approval")


def approving_asks_first_and_tells_the_scope(case):
    watched = case.signed_in()
    choose(watched, "library.titles")
    watched.page.click("[data-verdict=approve]")
    watched.accessible("approve")
    case.look(watched, "approve")
    watched.page.keyboard.press("Escape")
    watched.page.wait_for_selector("dialog", state="detached")
    assert case.pending("library.titles")
    assert watched.page.evaluate("document.activeElement.dataset.verdict") == "approve"
    watched.page.click("[data-verdict=approve]")
    watched.page.check("#scope-once")
    watched.page.select_option("#ttl", "8h")
    watched.page.fill("#reason", "reviewed with care")
    with watched.page.expect_request("**/approve") as sent:
        watched.page.click("dialog button[type=submit]")
    assert sent.value.post_data_json == {"scope": "once", "ttl": "8h", "reason": "reviewed with care"}
    watched.page.wait_for_selector(".grant header .badge:has-text('approved')")
    assert "reviewed with care" in watched.page.inner_text(".grant")
    watched.page.wait_for_selector("nav.views .count:has-text('4')")
    watched.page.click("[data-verdict=revoke]")
    watched.page.click("dialog button[type=submit]")
    watched.page.wait_for_selector(".grant header .badge:has-text('revoked')")


def denying_is_recorded(case):
    watched = case.signed_in()
    choose(watched, "library.clean-up")
    watched.page.click("[data-verdict=deny]")
    watched.page.fill("#reason", "removes files")
    watched.page.click("dialog button[type=submit]")
    watched.page.wait_for_selector(".grant header .badge:has-text('denied')")
    assert not watched.page.query_selector("[data-verdict]")
    watched.view("chain")
    watched.page.wait_for_selector("td:has-text('approval-deny')")


def tier_three_is_approved_for_a_scope_that_was_chosen(case):
    watched = case.signed_in()
    choose(watched, "library.clean-up")
    watched.page.click("[data-verdict=approve]")
    watched.page.wait_for_selector("dialog")
    assert not watched.page.query_selector("dialog input:checked")
    watched.page.click("dialog button[type=submit]")
    watched.page.wait_for_timeout(200)
    assert case.pending("library.clean-up"), "nothing was chosen, yet it was approved"
    watched.page.check("#scope-once")
    watched.page.click("dialog button[type=submit]")
    watched.page.wait_for_selector(".grant header .badge:has-text('approved')")


def a_refusal_stays_in_the_dialog(case):
    watched = case.signed_in()
    watched.expected.append("403")
    choose(watched, "library.titles")
    watched.page.click("[data-verdict=approve]")
    case.state.refuse = (403, "operator-only", "the token may not decide")
    watched.page.click("dialog button[type=submit]")
    watched.page.wait_for_selector("dialog .problem:has-text('operator-only: the token may not decide')")
    assert watched.page.is_enabled("dialog button[type=submit]")


def what_arrives_is_seen_and_said(case):
    watched = case.signed_in()
    watched.page.wait_for_selector(".light[data-state=live]")
    choose(watched, "library.titles")
    watched.page.focus("[data-verdict=approve]")
    another_approval(case.state, capability="weather.forecast")
    case.state.tell("capabilities", skill="weather")
    watched.page.wait_for_selector(".list a:has-text('weather.forecast')")
    watched.page.wait_for_selector("nav.views .count:has-text('6')")
    watched.page.wait_for_selector("#announcements:has-text('To be approved: weather.forecast')", state="attached")
    # Nothing moved under the hands of whoever was about to decide.
    assert watched.page.evaluate("document.activeElement.dataset.verdict") == "approve"


def a_stream_that_ends_is_read_again(case):
    watched = case.signed_in()
    watched.page.wait_for_selector(".light[data-state=live]")
    case.state.hang_up()
    watched.page.wait_for_selector(".light[data-state=waiting]")
    another_approval(case.state, capability="weather.history")
    watched.page.wait_for_selector(".light[data-state=live]")
    watched.page.wait_for_selector(".list a:has-text('weather.history')")


def two_who_decide_see_each_other(case):
    one, other = case.signed_in(), case.signed_in()
    choose(one, "library.titles")
    choose(other, "library.titles")
    one.page.click("[data-verdict=deny]")
    one.page.click("dialog button[type=submit]")
    other.page.wait_for_selector(".grant header .badge:has-text('denied')")


def hostile_text_is_text(case):
    watched = case.page()
    # Of the last request that was compared with there is none, nor of what the address is changed to.
    watched.expected.append("404")
    one = another_approval(
        case.state, capability=HOSTILE, operation=HOSTILE, source=f"javascript:{HOSTILE}", hosts=[HOSTILE, UNSEEN],
        secrets=[HOSTILE], reasons=[HOSTILE], asked=HOSTILE, warning=HOSTILE, notes=[HOSTILE], script=f"{HOSTILE}\n{UNSEEN}",
        derivation=[HOSTILE], previous=HOSTILE, kind=HOSTILE,
        difference=[{"path": HOSTILE, "before": HOSTILE, "after": {HOSTILE: HOSTILE}}],
        policy={"network": {"egress": [HOSTILE]}, "filesystem": {}, "resources": {HOSTILE: 1}, "secrets": [], "shell": True})
    case.state.capabilities["skills"][0].update({"skill-id": HOSTILE, "description": HOSTILE})
    case.state.capability.update({"skill-id": HOSTILE, "description": HOSTILE, "source-url": HOSTILE, "instructions": HOSTILE})
    case.state.skills[0].update({"id": HOSTILE, "description": HOSTILE, "capabilities": [HOSTILE]})
    case.state.chain["records"][-1].update({"event": HOSTILE, "capability": HOSTILE, "subject": HOSTILE, "approval": HOSTILE})
    case.state.graph["nodes"][1].update({"name": HOSTILE, "uri": HOSTILE, "kind": HOSTILE, "description": HOSTILE, "errors": [HOSTILE]})
    watched.sign_in("#/approvals/" + one["id"])
    watched.page.wait_for_selector(".grant")
    assert HOSTILE in watched.page.inner_text(".grant h2")
    assert "pay\u27e8U+202E\u27e9txt.exe\u27e8U+200B\u27e9" in watched.page.inner_text(".grant")
    case.look(watched, "hostile")
    watched.page.click("[data-verdict=approve]")
    watched.page.wait_for_selector("dialog")
    watched.page.keyboard.press("Escape")
    watched.view("skills")
    for link in watched.page.locator('.list a:has-text("onerror")').all():
        link.click()
        watched.page.wait_for_selector(".detail article")
    watched.view("chain")
    watched.page.wait_for_selector("td:has-text('onerror')")
    watched.view("graph")
    watched.page.fill("#graph-uri", HOSTILE)
    watched.page.press("#graph-uri", "Enter")
    watched.page.wait_for_selector(".node >> nth=1")
    watched.page.locator(".node >> nth=1").click()
    watched.page.wait_for_selector(".card h3:has-text('onerror')")
    for where in ("", "graph/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "approvals/" + "%E0%A4%A", "constructor/x", "__proto__"):
        watched.page.evaluate("where => { location.hash = '#/' + where }", where)
        watched.page.wait_for_timeout(100)
    assert not watched.page.query_selector("img, iframe, object, embed, body script"), "served text became an element"


def the_graph_is_drawn_and_told(case):
    watched = case.signed_in()
    watched.view("graph")
    watched.page.fill("#graph-uri", "os://agents/release-captain.md")
    watched.page.press("#graph-uri", "Enter")
    watched.page.wait_for_selector(".picture svg")
    assert len(watched.page.locator(".node").all()) == 7 and len(watched.page.locator("path.edge").all()) == 8
    boxes = [tuple(node.bounding_box()[side] for side in ("x", "y", "width", "height"))
             for node in watched.page.locator(".node rect").all()]
    for at, (x, y, width, height) in enumerate(boxes):
        for other in boxes[at + 1:]:
            apart = x + width <= other[0] or other[0] + other[2] <= x or y + height <= other[1] or other[1] + other[3] <= y
            assert apart, "nodes lie on each other"
    watched.page.focus(".node.wrong")
    watched.page.keyboard.press("Enter")
    assert "NOT_FOUND" in watched.page.inner_text(".card")
    assert "4 skills, 2 tools, 1 with errors, 1 cycle" in watched.page.inner_text(".graph")
    watched.page.go_back()
    watched.page.go_forward()
    watched.page.wait_for_selector(".picture svg")
    case.look(watched, "graph")


def skills_tell_what_they_may_do(case):
    watched = case.signed_in()
    watched.view("skills")
    watched.page.click('.list a:has-text("fs.read_tree")')
    watched.page.wait_for_selector('.detail h2:has-text("fs.read_tree")')
    assert "fs.read:/workspace" in watched.page.inner_text(".detail") and "max_entries" in watched.page.inner_text(".detail")
    watched.page.click('.list a:has-text("library")')
    watched.page.wait_for_selector('.detail h2:has-text("library")')
    assert watched.page.locator(".detail tbody tr").count() == 5
    watched.page.click('.detail a:has-text("library.search")')
    watched.page.wait_for_selector('.grant h2:has-text("library.search")')


def receipts_are_paged(case):
    watched = case.signed_in()
    watched.view("receipts")
    watched.page.wait_for_selector(".list a")
    assert watched.page.locator(".list a").count() == 20
    watched.page.click("text=Older")
    wait_for(lambda: watched.page.locator(".list a").count() == 40, "older receipts")
    watched.page.click("text=Older")
    wait_for(lambda: watched.page.locator(".list a").count() == 45, "the oldest receipts")
    assert not watched.page.query_selector("text=Older")
    watched.page.click(".list a >> nth=0")
    watched.page.wait_for_selector(".detail article")
    assert "fs.read" in watched.page.inner_text(".detail")


def a_broken_chain_is_told(case):
    case.state.verified = {"ok": False, "records": 8, "head-seq": 20, "first-bad-seq": 9, "reason": "hash"}
    watched = case.signed_in()
    watched.view("chain")
    watched.page.wait_for_selector(".card .badge.bad:has-text('Broken')")
    assert "hash" in watched.page.inner_text(".card")
    rows = watched.page.locator("tbody tr")
    assert rows.first.inner_text().startswith("20") and rows.count() == 20
    watched.page.fill("#chain-filter", "granted")
    wait_for(lambda: rows.count() == 2, "the filter")


def the_keyboard_is_enough(case):
    watched = case.page()
    watched.open()
    keys = watched.page.keyboard
    keys.type(watched.token)
    keys.press("Enter")
    watched.page.wait_for_selector(".list a")

    def tab_to(selector, key="Tab"):
        for _ in range(60):
            if watched.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                outline = watched.page.evaluate(
                    "(() => { const style = getComputedStyle(document.activeElement); return style.outlineStyle + style.outlineWidth })()")
                assert "none" not in outline and "0px" not in outline, f"{selector}: the focus is not seen"
                return
            keys.press(key)
        raise AssertionError(f"the keyboard does not reach {selector}")

    tab_to(".list a")
    keys.press("ArrowDown")
    keys.press("ArrowUp")
    tab_to(f".list a[data-id='{case.pending('library.titles')['id']}']")
    keys.press("Enter")
    watched.page.wait_for_selector(".grant h2:has-text('library.titles')")
    assert watched.page.evaluate("document.activeElement.tagName") == "H2"
    tab_to("[data-verdict=approve]")
    keys.press("Enter")
    watched.page.wait_for_selector("dialog")
    # The dialog keeps the focus; the browser's own controls come between its last and its first.
    for _ in range(12):
        keys.press("Tab")
        assert watched.page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    tab_to("#reason")
    keys.type("by keyboard")
    tab_to("dialog button[type=submit]")
    keys.press("Enter")
    watched.page.wait_for_selector(".grant header .badge:has-text('approved')")
    assert watched.page.evaluate("document.activeElement.tagName") == "H2"
    tab_to("nav.views a[href='#/chain']", key="Shift+Tab")
    keys.press("Enter")
    watched.page.wait_for_selector("h1:has-text('Chain')")


def every_view_is_accessible_in_light_and_dark_and_on_a_phone(case):
    another_approval(case.state, capability="weather.forecast", asked="I need it", warning="Look twice", notes=["reads all"])
    sizes = {"wide": {"width": 1280, "height": 860}, "phone": {"width": 360, "height": 740}}
    for scheme, size in (("light", "wide"), ("dark", "wide"), ("light", "phone"), ("dark", "phone")):
        watched = case.signed_in(color_scheme=scheme, viewport=sizes[size])
        where = f"{scheme}-{size}"
        for capability in ("library.clean-up", "library.search", "weather.forecast"):
            choose(watched, capability)
            watched.accessible(f"{where} {capability}")
        for name in ("skills", "receipts"):
            watched.view(name)
            watched.page.click(".list a >> nth=0")
            watched.page.wait_for_selector(".detail article")
            watched.accessible(f"{where} {name}")
            case.look(watched, f"{where}-{name}")
        watched.view("chain")
        watched.page.wait_for_selector("table")
        watched.accessible(f"{where} chain")
        watched.view("graph")
        watched.page.fill("#graph-uri", "os://agents/a.md")
        watched.page.press("#graph-uri", "Enter")
        watched.page.wait_for_selector(".picture")
        watched.accessible(f"{where} graph")
        overflow = watched.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{where}: the page is {overflow} px too wide"
        case.look(watched, f"{where}-graph")


def a_server_that_fails_is_told_and_asked_again(case):
    watched = case.signed_in()
    watched.expected += ["503", "500"]
    watched.page.wait_for_selector(".list a")
    case.state.refuse = (503, "overloaded", "the service has too many calls to do")
    watched.view("skills")
    watched.page.wait_for_selector(".failure:has-text('overloaded')")
    watched.accessible("failure")
    case.state.refuse = None
    watched.page.click(".failure button >> nth=0")
    watched.page.wait_for_selector(".list a")


TESTS = [value for name, value in list(globals().items())
         if callable(value) and getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("case",)]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--screenshots", metavar="FOLDER")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    tests = [test for test in TESTS if not options.names or test.__name__ in options.names]
    assert tests, "there is no such test"
    failed = []
    with browser() as launched:
        for test in tests:
            case = Case(launched, options.screenshots)
            try:
                test(case)
                for watched in case.pages:
                    watched.verify()
                print(f"ok   {test.__name__}")
            except Exception:
                failed.append(test.__name__)
                print(f"FAIL {test.__name__}")
                traceback.print_exc()
                for watched in case.pages:
                    print("\n".join(watched.complaints), file=sys.stderr)
            finally:
                case.close()
    print(f"{len(tests) - len(failed)} of {len(tests)} passed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
