// What a request grants, from where, and what differs from the last grant.

import { el } from "../dom.js";
import { chips, code, digest, facts, reached, status, tier, time } from "../parts.js";
import { count, label, written } from "../text.js";
import { difference } from "../diff.js";

const PARTS = { constant: "constant", default: "default", input: "input", secret: "secret", file: "input", previous: "input" };

/** The whole of a request. */
export function grant(one) {
  const manifest = one.manifest ?? {};
  return el("article", { class: "grant" },
    el("header", {},
      el("p", { class: "line" }, status(one.status), tier(one.tier), el("span", { class: "quiet" }, one.kind)),
      el("h2", { tabindex: "-1" }, one.capability ?? one.id),
      manifest.description ? el("p", { class: "lead" }, manifest.description) : null,
      one.warning ? el("p", { class: "warning" }, el("strong", {}, "Warning: "), one.warning) : null),
    one.asked ? section("What the agent says", el("blockquote", {}, one.asked),
      el("p", { class: "quiet" }, "Written by the agent that asks. It proves nothing.")) : null,
    changes(one),
    section("What it grants", facts(
      ["Operation", one.operation ? el("code", {}, one.operation) : undefined],
      ["From", source(one)],
      ["Reaches", one.kind === "capability" || reached(one).length ? chips(reached(one), "no host by itself") : undefined],
      ["Sends secrets", one.kind === "capability" || one.secrets?.length ? chips(one.secrets) : undefined],
      ["Effects", manifest.effects ? chips(manifest.effects) : undefined],
      ["Needs approval for", one.reasons?.length ? chips(one.reasons) : undefined],
      ["Asks for", one.details === undefined ? undefined : code(written(one.details), "Details")])),
    stages(one, manifest),
    script(one),
    policy(one),
    one.notes?.length ? section("Notes", el("ul", {}, one.notes.map((note) => el("li", {}, note)))) : null,
    section("Decision", facts(
      ["Asked", time(one["requested-at"])],
      [one.status === "pending" ? "To be decided" : "Was to be decided", time(one["expires-at"])],
      ["Decided", one["decided-at"] ? time(one["decided-at"]) : undefined],
      ["By", one.by],
      ["Reason", one.reason],
      ["Covers", one.scope],
      ["Valid until", one["valid-until"] ? time(one["valid-until"]) : undefined],
      ["Session", one.session ? el("code", {}, one.session) : undefined],
      ["Response", one.response === undefined ? undefined : code(written(one.response), "Response")])),
    section("Digests", facts(
      ["Operation", digest(one["op-digest"])], ["Policy", digest(one["policy-digest"])],
      ["Document", digest(one["skill-digest"])], ["Request", digest(one.id)])),
    el("details", { class: "raw" }, el("summary", {}, "Everything, as JSON"),
      code(JSON.stringify(one, null, 2), "Request as JSON")));
}

function section(title, ...content) {
  return el("section", {}, el("h3", {}, title), content);
}

function source(one) {
  if (!one.source) return undefined;
  return el("span", { class: "source" }, el("code", {}, one.source), one.line ? `, line ${one.line}` : null);
}

function stages(one, manifest) {
  if (one.sends?.length) {
    return section(one.sends.length > 1 ? `What it sends, in ${count(one.sends.length, "stage")}` : "What it sends",
      el("ol", { class: "stages" }, one.sends.map((stage) => el("li", {},
        el("p", {}, el("code", {}, stage.capability)),
        rows(stage.rows),
        stage["without-input"]?.length ? [
          el("p", { class: "quiet" }, "A call that gives no more than it must sends:"),
          rows(stage["without-input"])] : null))));
  }
  // Of a request that an older version opened.
  const made = manifest.implementation;
  if (!made) {
    return one.delegates?.length ? section("What runs", chips(one.delegates)) : null;
  }
  const all = made.type === "pipeline" ? made.stages ?? [] : [made];
  return section(all.length > 1 ? `What runs, in ${count(all.length, "stage")}` : "What runs",
    el("ol", { class: "stages" }, all.map((stage, place) => {
      const { type, capability, runtime, transform, ...others } = stage;
      return el("li", {},
        el("p", {}, el("code", {}, capability ?? one.delegates?.[place] ?? type ?? "?"),
          runtime ? [" in ", el("code", {}, runtime)] : null),
        members({ ...others, ...transform }));
    })));
}

// Each row with its parts: what the document says, what the caller gives, what the host adds. The server wrote the
// placeholders, and no text of a document looks like one.
function rows(all) {
  return facts(...all.map((row) => [label(row.what),
    el("code", { class: "sent" }, row.parts.map((part) => el("span", { class: `part ${PARTS[part.kind] ?? "input"}` }, part.shown)))]));
}

// Of a stage: each member with its value, objects as lines of `name: value`.
function members(object) {
  return facts(...Object.entries(object)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => [label(name), flat(value)]));
}

function flat(value) {
  if (value && typeof value === "object" && !Array.isArray(value)) {
    return el("ul", { class: "plain" }, Object.entries(value).map(([name, inner]) =>
      el("li", {}, el("code", {}, `${name}: ${typeof inner === "string" ? inner : JSON.stringify(inner)}`))));
  }
  return el("code", {}, typeof value === "string" ? value : JSON.stringify(value));
}

function script(one) {
  if (!one.script) return null;
  return section("Code that runs in the jail", code(one.script, "Code"));
}

function policy(one) {
  if (!one.policy) return null;
  const { network, filesystem, resources, secrets, shell } = one.policy;
  const egress = network?.egress;
  return section("Policy of the jail",
    facts(
      ["Network", egress === "none" ? "none" : Array.isArray(egress) ? chips(egress) : flat(network)],
      ["Reads", chips(filesystem?.read)],
      ["Writes", chips(filesystem?.write)],
      ["Secrets as files", chips(secrets)],
      ["Shell", shell ? el("strong", {}, "yes: the script is run by a shell") : "no"],
      ["Resources", resources ? el("span", {}, Object.entries(resources)
        .map(([name, value]) => `${label(name).toLowerCase()} ${value.toLocaleString("en")}`).join(" · ")) : undefined],
      ["From the document", one.derivation?.length ? el("ul", { class: "plain" },
        one.derivation.map((line) => el("li", {}, el("code", {}, line)))) : undefined]));
}

// The same change is in the request and in its manifest: it is shown once. Digests follow from the others.
function changes(one) {
  if (!one.previous) return null;
  const all = one.difference ?? [];
  const written = new Set(all.map((change) => change.path));
  const told = all.filter(({ path }) => !(path.startsWith("manifest.") && written.has(path.slice(9))));
  const digests = told.filter(({ path }) => path.endsWith("-digest"));
  const shown = told.filter(({ path }) => !path.endsWith("-digest"));
  const body = all.length === 0
    ? el("p", {}, "Nothing differs from what was granted before.")
    : el("div", { class: "changes" }, shown.map(change),
      digests.length ? el("details", {}, el("summary", {}, `${count(digests.length, "digest")} changed with it`),
        digests.map(change)) : null);
  return el("section", { class: "difference" }, el("h3", {}, "Changed since the last grant"),
    el("p", { class: "quiet" }, "Compared with ",
      el("a", { href: `#/approvals/${encodeURIComponent(one.previous)}` }, one.previous)), body);
}

function change({ path, before, after }) {
  const kind = before === undefined ? "new" : after === undefined ? "gone" : "changed";
  return el("figure", {},
    el("figcaption", {}, el("code", {}, path), " ", el("span", { class: "quiet" }, kind)),
    el("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": `Change of ${path}` },
      difference(before, after).map(({ sign, text }) => {
        const tag = { "-": "del", "+": "ins", " ": "span" }[sign];
        return el(tag, {}, el("span", { class: "sign" }, sign), text, "\n");
      })));
}
