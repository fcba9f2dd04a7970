// Receipts of runs: the newest first, older ones on request.

import { el } from "../dom.js";
import { chips, code, digest, facts, status, time } from "../parts.js";
import { split } from "./split.js";

function open(context) {
  // Pages that were asked for, so that a change does not fold the list up again.
  let pages = 1;
  let cursor;

  const view = split({
    name: "receipts",
    title: "Receipts",
    context,
    none: () => ["No receipts", "Each run of a pinned skill leaves one."],
    async load(signal) {
      const all = [];
      cursor = undefined;
      for (let page = 0; page < pages; page += 1) {
        const answer = await context.api.receipts(cursor, signal);
        all.push(...answer.receipts);
        cursor = answer.cursor ?? undefined;
        if (!cursor) break;
      }
      return all;
    },
    more: () => cursor ? el("button", { type: "button", class: "ghost more", on: { click: older } }, "Older") : null,
    id: (one) => one.id,
    row: (one) => [
      el("span", { class: "name" }, one.id),
      el("span", { class: "line quiet" }, time(one.time)),
    ],
    async detail(id, signal) {
      const answer = await context.api.receipt(id, signal);
      context.titled(id);
      return { known: answer, draw: () => shown(id, answer) };
    },
  });

  async function older() {
    pages += 1;
    await view.refresh();
    view.node.querySelector(".more")?.focus();
  }

  return view;
}

function shown(id, one) {
  return el("article", {},
    el("header", {},
      el("p", { class: "line" }, status(one.result?.code ?? one.result?.status ?? "ok")),
      el("h2", { tabindex: "-1" }, id),
      one.result?.message ? el("p", { class: "lead" }, one.result.message) : null),
    el("section", {}, el("h3", {}, "What ran"), facts(
      ["Artifact", digest(one.artifact)],
      ["Manifest", one.manifest_hash ? digest(one.manifest_hash) : undefined],
      ["Bundle", one.bundle_hash ? digest(one.bundle_hash) : undefined],
      ["Policy", one.policy_hash ? digest(one.policy_hash) : undefined],
      ["Runtime", one.runtime ? `${one.runtime.name} ${one.runtime.version}, ${one.runtime.profile}` : undefined],
      ["Began", one.started_at ? time(one.started_at) : undefined],
      ["Ended", time(one.finished_at ?? one.timestamp)])),
    el("section", {}, el("h3", {}, "Capabilities"), facts(
      ["Used", chips(one.caps_used)],
      ["Granted", one.caps_granted ? chips(one.caps_granted) : undefined],
      ["Requested", one.caps_requested ? chips(one.caps_requested) : undefined])),
    el("section", {}, el("h3", {}, "Digests"), facts(
      ["Request", digest(one.inputs_hash)], ["Response", digest(one.outputs_hash)], ["Receipt", digest(one.receipt_hash)])),
    el("p", { class: "quiet" }, "A receipt is not signed: it shows what the service wrote down about this run."),
    el("details", { class: "raw" }, el("summary", {}, "Everything, as JSON"), code(JSON.stringify(one, null, 2), "Receipt as JSON")));
}

export const receipts = { title: "Receipts", open };
