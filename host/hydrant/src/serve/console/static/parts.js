// Parts that several views are made of.

import { el, announce } from "./dom.js";
import { age, date, moment, short } from "./text.js";

/** A time, with how long ago it was. */
export function time(value) {
  const when = date(value);
  if (!when) return el("span", { class: "quiet" }, "–");
  return el("time", { datetime: when.toISOString(), title: moment(value) }, age(value));
}

/** A digest that shows its ends, and is copied whole. */
export function digest(value) {
  if (!value) return el("span", { class: "quiet" }, "–");
  return el("span", { class: "digest" },
    el("code", { title: value }, short(value)),
    el("button", {
      type: "button", class: "copy", "aria-label": `Copy ${short(value)}`,
      on: { click: () => copy(value) },
    }, "Copy"));
}

async function copy(value) {
  try {
    await navigator.clipboard.writeText(value);
    announce("Copied");
  } catch {
    announce("The browser does not permit to copy");
  }
}

/** A word about a state: never by colour alone, the word is there. */
export function badge(text, tone = "") {
  return el("span", { class: `badge ${tone}`.trim() }, text);
}

const TONES = {
  pending: "attention", approved: "good", granted: "good", denied: "bad", revoked: "bad", unusable: "bad",
  ok: "good", success: "good", error: "bad", failure: "bad", skill_error: "bad", trap: "bad",
};

/** The badge of an approval's, operation's or record's status. */
export function status(word) {
  return badge(word ?? "–", TONES[word] ?? "");
}

/** How much a person has to look at it. */
export function tier(number) {
  if (!number) return null;
  const tone = { 1: "", 2: "attention", 3: "bad" }[number] ?? "";
  return badge(`Tier ${number}`, tone);
}

/** Names and values. Pairs without a value are left out. */
export function facts(...pairs) {
  return el("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length))
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** The hosts that the requests of an approval and its jail may reach. */
export function reached(one) {
  const egress = one.policy?.network?.egress;
  return [...new Set([...(one.hosts ?? []), ...(Array.isArray(egress) ? egress : [])])];
}

/** Short texts, one beside the other. */
export function chips(texts, none = "none") {
  if (!texts?.length) return el("span", { class: "quiet" }, none);
  return el("ul", { class: "chips" }, texts.map((text) => el("li", {}, el("code", {}, text))));
}

/** Text as it is, which scrolls by itself and can be reached with the keyboard. */
export function code(text, name) {
  return el("pre", { class: "code", tabindex: "0", role: "region", "aria-label": name }, el("code", {}, text));
}

/** What went wrong, and what to do about it. */
export function failure(problem, again) {
  return el("div", { class: "failure", role: "alert" },
    el("p", {}, el("strong", {}, problem.code || "Error"), " ", problem.message),
    problem.hint ? el("p", {}, problem.hint) : null,
    problem.retryAfter ? el("p", {}, `The server asks to wait ${problem.retryAfter} s.`) : null,
    again ? el("button", { type: "button", on: { click: again } }, "Try again") : null);
}

/** Nothing to show, and why. */
export function empty(title, text) {
  return el("div", { class: "empty" }, el("p", { class: "title" }, title), text ? el("p", {}, text) : null);
}

/** A table with its heads. `rows` are lists of cells; the first of each is its head. */
export function table(caption, heads, rows) {
  return el("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, place) =>
        el(place === 0 ? "th" : "td", place === 0 ? { scope: "row" } : {}, cell)))))));
}

/** Up and down move among the links of a list. */
export function arrows(list) {
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const links = [...list.querySelectorAll("a")];
    const next = links[links.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  return list;
}
