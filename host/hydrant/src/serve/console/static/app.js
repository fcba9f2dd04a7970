// The console's frame: signing in and out, the way among views, and what is live. The part of the address after # names
// the view and what it shows; the token is never in it.

import { session } from "./api.js";
import { announce, el, plain, replace } from "./dom.js";
import { listen } from "./live.js";
import { listOf } from "./text.js";
import { signIn } from "./views/signin.js";
import { approvals } from "./views/approvals.js";
import { skills } from "./views/skills.js";
import { graph } from "./views/graph.js";
import { receipts } from "./views/receipts.js";
import { chain } from "./views/chain.js";

const VIEWS = { approvals, skills, graph, receipts, chain };
const STATES = {
  connecting: "Connecting",
  live: "Live",
  waiting: "Not live, connecting again",
  refused: "Not live: the server refuses the stream of changes",
};
const LOOK_EVERY = 30000;
const root = document.getElementById("console");

function start(message) {
  document.title = "Sign in · hydrant console";
  replace(root, signIn({ message, enter }));
  root.querySelector("input").focus();
}

/** Asks the service whether it knows this token; the frame is shown only then. */
async function enter(token) {
  const api = session(token);
  await api.known();
  frame(api);
}

function frame(api) {
  let current;
  let stream;

  const links = Object.fromEntries(Object.entries(VIEWS).map(([name, view]) =>
    [name, el("a", { href: `#/${name}` }, el("span", {}, view.title))]));
  const waiting = el("span", { class: "count", hidden: true });
  links.approvals.append(waiting);
  const light = el("p", { class: "light", "data-state": "connecting" }, STATES.connecting);
  const main = el("main", { id: "main", tabindex: "-1" });

  replace(root,
    el("a", { class: "skip", href: "#main", on: { click: skip } }, "Skip to content"),
    el("header", { class: "top" },
      el("p", { class: "mark" }, el("strong", {}, "hydrant"), " console"),
      el("p", { class: "where" }, location.host),
      light,
      el("button", { type: "button", class: "ghost", on: { click: () => leave() } }, "Sign out")),
    el("nav", { class: "views", "aria-label": "Views" }, el("ul", {}, Object.values(links).map((link) => el("li", {}, link)))),
    main);

  function skip(event) {
    event.preventDefault();
    main.focus();
  }

  const context = {
    api,
    /** What a view does about a problem that is not its own. */
    refused(problem) {
      if (problem.status !== 401) return false;
      leave("The server does not accept the token any more.");
      return true;
    },
    counted(number) {
      waiting.hidden = number === 0;
      replace(waiting, String(number), el("span", { class: "unseen" }, " pending"));
    },
    titled(text) {
      document.title = plain(`${text} · hydrant console`);
    },
  };

  function leave(message) {
    removeEventListener("hashchange", go);
    clearInterval(looking);
    clearTimeout(settle);
    stream.stop();
    current?.view.leave?.();
    history.replaceState(null, "", location.pathname);
    start(message);
    announce(message ?? "Signed out");
  }

  function go() {
    const [, name = "", ...rest] = location.hash.split("/");
    const path = rest.map(part);
    const known = Object.hasOwn(VIEWS, name) ? name : "approvals";
    for (const [each, link] of Object.entries(links)) {
      if (each === known) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (current?.name !== known) {
      current?.view.leave?.();
      context.titled(VIEWS[known].title);
      current = { name: known, view: VIEWS[known].open(context) };
      replace(main, current.view.node);
      main.scrollTop = 0;
    }
    current.view.show(path);
  }

  // What waits, by id, as it was when last asked: what is new is said, whatever event it came with.
  let before;
  async function count() {
    try {
      const pending = listOf(await api.approvals("pending"), "approvals");
      context.counted(pending.length);
      const fresh = before ? pending.filter((one) => !before.has(one.id)) : [];
      before = new Set(pending.map((one) => one.id));
      if (fresh.length) announce(`To be approved: ${fresh.map((one) => one.capability ?? one.kind).join(", ")}`);
    } catch (problem) {
      // Whoever may not decide sees no number.
      context.refused(problem);
    }
  }

  addEventListener("hashchange", go);
  // Another process of the same state, such as the command line, tells nobody.
  const looking = setInterval(() => {
    if (document.visibilityState === "visible") changed({ name: "everything", data: {} });
  }, LOOK_EVERY);
  let settle;
  let known = false;
  stream = listen(api, {
    state(state, problem) {
      light.dataset.state = state;
      light.textContent = STATES[state];
      if (state === "refused" && context.refused(problem)) return;
      // What happened while nothing was heard is not told again.
      if (state === "live" && known) changed({ name: "everything", data: {} });
      known ||= state === "live";
    },
    event: changed,
  });
  function changed(event) {
    clearTimeout(settle);
    // Many changes at once are one look.
    settle = setTimeout(() => {
      count();
      current?.view.changed?.(event);
    }, 120);
  }
  count();
  go();
  announce("Signed in");
}

function part(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

start();
