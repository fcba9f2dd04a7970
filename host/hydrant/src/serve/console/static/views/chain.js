// The causal chain: where it ends, whether it holds, and its records, the newest first.

import { append, el, replace } from "../dom.js";
import { badge, digest, empty, facts, failure, status, table, time } from "../parts.js";

// Records that are asked for at a time.
const PAGE = 50;
// Milliseconds for which what is said of a chain that ends where it did holds: to verify it is to read all of it.
const HOLDS = 60_000;

function open(context) {
  const state = el("section", { class: "card", "aria-label": "State of the chain" });
  const records = el("div", {});
  const heading = el("h1", { tabindex: "-1" }, "Chain");
  const filter = el("input", { id: "chain-filter", type: "search", autocomplete: "off", on: { input: () => draw() } });
  const node = el("div", { class: "page" },
    el("div", { class: "head" }, heading,
      el("div", { class: "field" }, el("label", { for: "chain-filter" }, "Filter records"), filter)),
    state, records);
  let asking;
  let pages = 1;
  let all = [];
  let shown;
  // Records after this number are shown; beyond every number, until it is known where the chain ends.
  let since = Number.MAX_SAFE_INTEGER;
  // What was said of the chain, where it ended then, and when that was.
  let verdict;

  // The service gives records after a number, the oldest first; the newest are those after the end less a page.
  async function refresh(signalled) {
    asking?.abort();
    const { signal } = (asking = new AbortController());
    try {
      let answer = await context.api.chain(since, PAGE, false, signal);
      const last = end(answer).seq;
      const wanted = Math.max(0, last - pages * PAGE);
      let read = answer.entries;
      if (since !== wanted || answer.cursor) {
        read = [];
        let cursor = wanted;
        do {
          answer = await context.api.chain(cursor, PAGE, false, signal);
          read.push(...answer.entries);
          cursor = answer.cursor;
        } while (cursor);
      }
      if (verdict?.head !== answer.head || Date.now() - verdict.at > HOLDS) {
        const { head, verified, report } = await context.api.chain(last, 1, true, signal);
        verdict = { head, verified, report, at: Date.now() };
      }
      if (signal.aborted) return;
      const said = JSON.stringify([verdict.report, read]);
      if (signalled && said === shown) return;
      shown = said;
      since = wanted;
      all = read.toReversed();
      replace(state, summary({ ...answer, verified: verdict.verified, report: verdict.report }));
      draw();
    } catch (problem) {
      if (problem.name === "AbortError" || context.refused(problem)) return;
      if (!signalled || !state.hasChildNodes()) replace(state, failure(problem, () => refresh()));
    }
  }

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const shown = wanted
      ? all.filter((one) => [one.event, one.capability, one.code, one.outcome, one.subject, String(one.seq)]
        .some((text) => String(text ?? "").toLowerCase().includes(wanted)))
      : all;
    replace(records, shown.length === 0
      ? empty("No records", wanted ? "None of those that were read has this." : "Nothing was loaded, approved or called yet.")
      : table("Records of the chain", ["No.", "Event", "Outcome", "About", "When", "Hash"], shown.map((one) => [
        String(one.seq), el("code", {}, one.event), status(one.code ?? one.outcome), about(one), time(one.ts), digest(one.hash)])));
    if (since > 0) append(records, el("button", { type: "button", class: "ghost more", on: { click: older } }, "Older"));
  }

  async function older() {
    pages += 1;
    await refresh();
    records.querySelector(".more")?.focus();
  }

  return {
    node,
    show() {
      heading.focus();
      refresh();
    },
    changed() { refresh(true); },
    leave() { asking?.abort(); },
  };
}

function about(one) {
  const line = one.line ? `, line ${one.line}` : "";
  return [
    el("code", {}, one.capability ?? one.subject ?? "–"),
    el("span", { class: "quiet" }, line),
    one.approval ? [" ", el("a", { href: `#/approvals/${encodeURIComponent(one.approval)}` }, "approval")] : null,
    one.capability && one.subject ? el("span", { class: "quiet" }, ` ${one.subject}`) : null,
  ];
}

// `head` is `SEQ:HASH`, or nothing of an empty chain.
function end(answer) {
  const [seq, hash] = (answer.head ?? "0:").split(":");
  return { seq: Number(seq), hash };
}

function summary(answer) {
  const { verified: ok, report } = answer;
  const { seq, hash } = end(answer);
  return [
    el("p", { class: "verdict" },
      ok === true ? badge("Verified", "good") : ok === false ? badge("Broken", "bad") : badge("Not verified"),
      " ",
      ok === true ? "Every record is signed and linked to the one before it."
        : ok === false ? "The records are not those that were written. Nothing is approved or called until it is put right." : ""),
    facts(
      ["Records", report?.records === undefined ? undefined : String(report.records)],
      ["Ends at", seq === 0 ? "The chain is empty." : `record ${seq}`],
      ["Hash", hash ? digest(hash) : undefined],
      ["Anchor", hash ? digest(`${seq}:${hash}`) : undefined],
      ["First bad record", report?.["first-bad-seq"] ? String(report["first-bad-seq"]) : undefined],
      ["Reason", report?.reason ? el("code", {}, report.reason) : undefined],
      ["The database lacks", report?.["database-lacks"] ? `${report["database-lacks"]} changes, until the next command` : undefined],
      ["Begun anew", report?.["begun-anew"]]),
    hash ? el("p", { class: "quiet" }, "Note the anchor down elsewhere, now and then: with it a chain that was put back is found.") : null,
  ];
}

export const chain = { title: "Chain", open };
