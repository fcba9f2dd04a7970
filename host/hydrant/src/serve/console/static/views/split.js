// A list beside what is chosen in it. Both load on their own; an answer that comes late for another choice is dropped.

import { el, replace } from "../dom.js";
import { arrows, empty, failure } from "../parts.js";

/**
 * `load(signal)` gives the entries, `row(entry)` a link's content, `id(entry)` its name in the address,
 * `detail(id, signal)` what is known and `draw()`, which makes nodes of it; `groups(entries)` may give `[[heading, entries], …]`.
 */
export function split({ name, title, tools, none, context, load, row, id, detail, groups, more }) {
  const heading = el("h1", { tabindex: "-1" }, title);
  const list = arrows(el("div", { class: "list", role: "navigation", "aria-label": title }));
  const side = el("section", { class: "detail", "aria-label": "Details", tabindex: "-1" });
  const node = el("div", { class: "split" },
    el("div", { class: "master" }, el("div", { class: "head" }, heading, tools), list), side);
  let listing;
  let showing;
  let chosen;
  let shown;
  let shownOnce = false;

  async function refresh(signalled) {
    listing?.abort();
    const mine = (listing = new AbortController());
    try {
      const entries = await load(mine.signal);
      if (mine.signal.aborted) return;
      const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : undefined;
      replace(list, entries.length === 0 ? empty(...none()) : grouped(entries), more?.());
      mark();
      if (focused) [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    } catch (problem) {
      if (problem.name === "AbortError" || context.refused(problem)) return;
      // A list that stands is better than none, while the server is away.
      if (!signalled || !list.hasChildNodes()) replace(list, failure(problem, () => refresh()));
    }
  }

  function grouped(entries) {
    const made = groups ? groups(entries) : [[undefined, entries]];
    return made.filter(([, members]) => members.length > 0).map(([text, members]) => [
      text ? el("h2", { class: "group" }, text) : null,
      el("ul", {}, members.map((entry) => el("li", {},
        el("a", { href: `#/${name}/${encodeURIComponent(id(entry))}`, "data-id": id(entry) }, row(entry))))),
    ]);
  }

  function mark() {
    for (const link of list.querySelectorAll("a")) {
      if (link.dataset.id === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  async function open(signalled) {
    showing?.abort();
    const mine = (showing = new AbortController());
    if (!chosen) {
      replace(side, empty("Nothing is chosen", "Choose an entry of the list."));
      return;
    }
    if (!signalled) replace(side, el("p", { class: "quiet" }, "Loading…"));
    try {
      const { known, draw } = await detail(chosen, mine.signal);
      if (mine.signal.aborted) return;
      const said = JSON.stringify(known);
      // What is the same stays as it is, with what was unfolded and where the focus is.
      if (signalled && said === shown && !side.querySelector(":scope > .failure")) return;
      shown = said;
      const top = side.scrollTop;
      const held = side.contains(document.activeElement);
      replace(side, draw());
      side.scrollTop = signalled ? top : 0;
      if (!signalled || held) side.querySelector("h2")?.focus();
    } catch (problem) {
      if (problem.name === "AbortError" || context.refused(problem)) return;
      replace(side, failure(problem, () => open()));
    }
  }

  return {
    node,
    refresh,
    reopen: () => open(true),
    show([wanted]) {
      const first = !shownOnce;
      shownOnce = true;
      if (first) {
        refresh();
        if (!wanted) heading.focus();
      }
      if (first || wanted !== chosen) {
        chosen = wanted;
        node.classList.toggle("chosen", Boolean(wanted));
        mark();
        open();
      }
    },
    changed() {
      refresh(true);
      // An open dialog keeps what it was opened for.
      if (chosen && !document.querySelector("dialog[open]")) open(true);
    },
    leave() {
      listing?.abort();
      showing?.abort();
    },
  };
}
