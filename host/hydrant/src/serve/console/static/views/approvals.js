// What waits for a person and what was decided: the list, and one request with what it grants.

import { el, announce } from "../dom.js";
import { badge, status, tier, time } from "../parts.js";
import { listOf } from "../text.js";
import { decide } from "./decide.js";
import { grant } from "./grant.js";
import { split } from "./split.js";

const STATUSES = ["pending", "approved", "denied", "expired", "revoked", "superseded", "consumed"];

function open(context) {
  const filter = el("select", { id: "approval-status", on: { change: () => view.refresh() } },
    el("option", { value: "" }, "all"), STATUSES.map((word) => el("option", { value: word }, word)));

  const view = split({
    name: "approvals",
    title: "Approvals",
    context,
    tools: el("div", { class: "field" }, el("label", { for: "approval-status" }, "Status"), filter),
    none: () => filter.value === "pending"
      ? ["Nothing waits for you", "New requests appear here by themselves."]
      : ["No approvals", "There is none with this status."],
    async load(signal) {
      const all = listOf(await context.api.approvals(filter.value, signal), "approvals");
      if (filter.value === "" || filter.value === "pending") {
        context.counted(all.filter((one) => one.status === "pending").length);
      }
      return all.toSorted((one, other) => String(other["requested-at"]).localeCompare(String(one["requested-at"])));
    },
    groups: (all) => [
      ["Pending", all.filter((one) => one.status === "pending")],
      ["Decided", all.filter((one) => one.status !== "pending")],
    ],
    id: (one) => one.id,
    row: (one) => [
      el("span", { class: "line" },
        el("span", { class: "name" }, one.capability ?? one.id),
        tier(one.tier),
        one.status === "pending" ? null : status(one.status)),
      el("span", { class: "line quiet" },
        one.kind && one.kind !== "capability" ? badge(one.kind) : null,
        one.previous && one.status === "pending" ? badge("changed", "attention") : null,
        el("span", {}, "asked ", time(one["requested-at"]))),
    ],
    async detail(id, signal) {
      const one = await context.api.approval(id, signal);
      context.titled(one.capability ?? one.id);
      return { known: one, draw: () => [grant(one), actions(one)] };
    },
  });

  function actions(one) {
    const buttons = [];
    const button = (verdict, text, tone) => buttons.push(el("button", {
      type: "button", class: tone, "data-verdict": verdict,
      on: { click: (event) => ask(one, verdict, event.currentTarget) },
    }, text));
    if (one.status === "pending") {
      button("approve", "Approve…", "primary");
      button("deny", "Deny…", "danger");
    } else if (one.status === "approved") {
      button("revoke", "Revoke…", "danger");
    }
    return buttons.length ? el("div", { class: "actions", role: "group", "aria-label": "Decide" }, buttons) : null;
  }

  async function ask(one, verdict, from) {
    const answer = await decide(context.api, one, verdict);
    if (!answer) {
      from.focus();
      return;
    }
    announce(`${one.capability ?? one.id}: ${answer.status ?? verdict}`);
    await Promise.all([view.refresh(true), view.reopen()]);
    view.node.querySelector(".detail h2")?.focus();
  }

  return view;
}

export const approvals = { title: "Approvals", open };
