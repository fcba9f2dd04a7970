// A decision: a dialog that says again what it is about, and asks for scope, time and reason.

import { append, el, replace } from "../dom.js";
import { chips, facts, reached, tier } from "../parts.js";

const SCOPES = [
  ["once", "One call"],
  ["session", "The calls of one session"],
  ["until-changed", "Every call, until the operation changes"],
];
const TIMES = [["", "without end"], ["15m", "15 minutes"], ["1h", "1 hour"], ["8h", "8 hours"], ["7days", "7 days"], ["30days", "30 days"]];
const TITLES = { approve: "Approve", deny: "Deny", revoke: "Revoke" };

/** Asks; sends what was decided. The service's answer, or `undefined` if it was thought better of. */
export function decide(api, one, verdict) {
  const name = one.capability ?? one.id;
  const problem = el("p", { class: "problem", role: "alert" });
  const reason = el("textarea", { id: "reason", rows: "2", maxlength: "500", "aria-describedby": "reason-note" });
  const send = el("button", { type: "submit", class: verdict === "approve" ? "primary" : "danger" }, `${TITLES[verdict]} ${name}`);
  const cancel = el("button", { type: "button", class: "ghost" }, "Cancel");
  const fields = verdict === "approve" ? approving(one) : { nodes: [], body: () => ({}) };
  const form = el("form", { method: "dialog" },
    el("h2", { id: "decide-title" }, `${TITLES[verdict]} ${name}?`),
    el("p", { class: "line" }, tier(one.tier), el("span", { class: "quiet" }, consequence(verdict))),
    verdict === "approve" ? facts(["Reaches", chips(reached(one))], ["Sends secrets", chips(one.secrets)],
      ["Runs", chips(one.delegates, "nothing")]) : null,
    fields.nodes,
    el("div", { class: "field" }, el("label", { for: "reason" }, "Reason"), reason,
      el("p", { id: "reason-note", class: "quiet" }, "For the record; the causal chain keeps who decided and when.")),
    problem,
    el("div", { class: "buttons" }, cancel, send));
  const dialog = el("dialog", { "aria-labelledby": "decide-title" }, form);
  append(document.body, dialog);

  return new Promise((resolve) => {
    let answer;
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      replace(problem);
      send.disabled = true;
      try {
        const body = fields.body();
        if (reason.value.trim()) body.reason = reason.value.trim();
        answer = await api.decide(one.id, verdict, body) ?? {};
        dialog.close();
      } catch (error) {
        send.disabled = false;
        replace(problem, error.code ? el("strong", {}, `${error.code}: `) : null, error.message);
      }
    });
    dialog.showModal();
    // Not on the button that does it.
    (fields.first ?? reason).focus();
  });
}

function consequence(verdict) {
  return {
    approve: "Agents may then call exactly this operation.",
    deny: "Calls of agents then answer approval-denied.",
    revoke: "The grant ends at once.",
  }[verdict];
}

function approving(one) {
  // Of Tier 3 nothing is chosen beforehand: its scope has to be said.
  const chosen = one.tier === 3 ? undefined : one["default-scope"] ?? "until-changed";
  const radios = SCOPES.map(([value, text]) => {
    const input = el("input", { type: "radio", name: "scope", value, id: `scope-${value}`, required: true, checked: value === chosen });
    return [input, el("div", { class: "choice" }, input, el("label", { for: `scope-${value}` }, text))];
  });
  const ttl = el("select", { id: "ttl" }, TIMES.map(([value, text]) => el("option", { value }, text)));
  const human = one.kind === "human-action"
    ? el("textarea", { id: "response", rows: "3", required: true, spellcheck: "false", "aria-describedby": "response-note" })
    : undefined;
  const operation = one.kind === "capability" || one.kind === undefined;
  const nodes = [
    operation ? el("fieldset", {}, el("legend", {}, "Covers"), radios.map(([, node]) => node)) : null,
    el("div", { class: "field" }, el("label", { for: "ttl" }, "Valid"), ttl),
    human ? el("div", { class: "field" }, el("label", { for: "response" }, "Answer"), human,
      el("p", { id: "response-note", class: "quiet" }, "One JSON value; a text stands in quotation marks.")) : null,
  ];
  return {
    nodes,
    first: operation ? (radios.find(([input]) => input.checked) ?? radios[0])[0] : human,
    body() {
      const body = {};
      const scope = operation ? radios.find(([input]) => input.checked)?.[0].value : undefined;
      if (scope) body.scope = scope;
      if (ttl.value) body.ttl = ttl.value;
      if (human) {
        try {
          body.response = JSON.parse(human.value);
        } catch {
          throw new Error("The answer is not JSON.");
        }
      }
      return body;
    },
  };
}
