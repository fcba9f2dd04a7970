// The skills that can be called: those that are pinned and signed, and those that were loaded, with what each may do.

import { el } from "../dom.js";
import { badge, chips, code, digest, empty, facts, status, table, tier, time } from "../parts.js";
import { count, listOf, written } from "../text.js";
import { split } from "./split.js";

const PINNED = "pinned:";
const LOADED = "loaded:";

function open(context) {
  const { api } = context;
  return split({
    name: "skills",
    title: "Skills",
    context,
    none: () => ["No skills", "None is pinned for this tenant, and none was loaded."],
    async load(signal) {
      const [pinned, loaded] = await Promise.all([
        api.skills(signal),
        // Who may not see what was loaded still sees what is pinned.
        api.capabilities(signal).catch((problem) => {
          if (problem.status === 403) return [];
          throw problem;
        }),
      ]);
      return [
        ...listOf(pinned, "skills").map((skill) => ({ ...skill, key: PINNED + skill.id })),
        ...listOf(loaded, "skills").map((skill) => ({ ...skill, key: LOADED + skill["skill-id"] })),
      ];
    },
    groups: (all) => [
      ["Loaded", all.filter((one) => one.key.startsWith(LOADED))],
      ["Pinned", all.filter((one) => one.key.startsWith(PINNED))],
    ],
    id: (one) => one.key,
    row: (one) => one.key.startsWith(PINNED)
      ? [
        el("span", { class: "line" }, el("span", { class: "name" }, one.id), el("span", { class: "quiet" }, one.version)),
        el("span", { class: "line quiet cut" }, one.description),
      ]
      : [
        el("span", { class: "line" }, el("span", { class: "name" }, one["skill-id"]), el("span", { class: "quiet" }, one.version),
          waiting(one)),
        el("span", { class: "line quiet cut" }, one.description),
      ],
    async detail(key, signal) {
      if (key.startsWith(PINNED)) {
        const id = key.slice(PINNED.length);
        context.titled(id);
        const [skill, all] = await Promise.all([api.skill(id, signal), api.skills(signal)]);
        const listed = listOf(all, "skills").find((one) => one.id === id) ?? {};
        return { known: [skill, listed], draw: () => pinned(id, skill, listed) };
      }
      const id = key.startsWith(LOADED) ? key.slice(LOADED.length) : key;
      context.titled(id);
      const skill = await api.capability(id, signal);
      return { known: skill, draw: () => loaded(skill) };
    },
  });
}

function waiting(skill) {
  const number = (skill.capabilities ?? []).filter((one) => one.status === "pending").length;
  return number ? badge(`${number} pending`, "attention") : null;
}

function pinned(id, skill, listed) {
  const described = skill.description ?? listed.description;
  const capabilities = skill.capabilities ?? listed.capabilities;
  return el("article", {},
    el("header", {},
      el("p", { class: "line" }, badge("pinned", "good"), el("span", { class: "quiet" }, skill.version ?? listed.version)),
      el("h2", { tabindex: "-1" }, id),
      described ? el("p", { class: "lead" }, described) : null),
    el("section", {}, el("h3", {}, "What it may do"),
      facts(["Capabilities", chips(capabilities, "nothing outside its sandbox")],
        ["Artifact", skill.artifact ? digest(skill.artifact) : undefined],
        ["Signed by", skill.signers?.length ? chips(skill.signers) : undefined])),
    schema("Request", skill.input_schema), schema("Response", skill.output_schema));
}

function schema(name, value) {
  if (!value) return null;
  return el("section", {}, el("h3", {}, name), code(JSON.stringify(value, null, 2), `JSON Schema of the ${name.toLowerCase()}`));
}

function loaded(skill) {
  const all = skill.capabilities ?? [];
  return el("article", {},
    el("header", {},
      el("p", { class: "line" }, badge("loaded"), badge(skill.format ?? "document"), el("span", { class: "quiet" }, skill.version)),
      el("h2", { tabindex: "-1" }, skill["skill-id"]),
      el("p", { class: "lead" }, skill.description)),
    el("section", {}, el("h3", {}, "Capabilities"),
      all.length === 0 ? empty("None", "The document has no operation that can be called.") : table(
        `Capabilities of ${skill["skill-id"]}`,
        ["Operation", "State", "Tier", "Runs", "Needs", "Line"],
        all.map((one) => [
          one["approval-id"]
            ? el("a", { href: `#/approvals/${encodeURIComponent(one["approval-id"])}` }, one.id)
            : el("span", {}, one.id),
          status(one.status), tier(one.tier), chips([one["maps-to"]].flat().filter(Boolean)), chips(one.requires, "–"),
          el("span", {}, one.line ?? "–")]))),
    el("section", {}, el("h3", {}, "Where it came from"), facts(
      ["Source", el("code", {}, skill["source-url"])],
      ["Digest", digest(skill["skill-digest"])],
      ["Base", skill["base-url"] ? el("code", {}, skill["base-url"]) : undefined],
      ["Secrets", skill.secrets?.length ? chips(skill.secrets) : undefined],
      ["Data", skill["data-classifications"]?.length ? chips(skill["data-classifications"]) : undefined],
      ["Loaded", skill["loaded-at"] ? time(skill["loaded-at"]) : undefined])),
    skill.diagnostics?.length ? el("section", {}, el("h3", {}, count(skill.diagnostics.length, "diagnostic")),
      table("Diagnostics", ["Severity", "Line", "What"], skill.diagnostics.map((one) =>
        [badge(one.severity, one.severity === "error" ? "bad" : one.severity === "warn" ? "attention" : ""), String(one.line), one.message]))) : null,
    skill.instructions ? el("details", { class: "raw" }, el("summary", {}, "What it says to an agent"),
      code(written(skill.instructions), "Instructions")) : null);
}

export const skills = { title: "Skills", open };
