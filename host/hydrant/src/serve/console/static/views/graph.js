// The dependency graph of an agent, drawn here from what the service says of it: nodes, edges, cycles.

import { el, plain, replace, svg } from "../dom.js";
import { badge, chips, digest, empty, facts, failure, table } from "../parts.js";
import { count } from "../text.js";
import { place, HEIGHT, WIDTH } from "./layout.js";

function open(context) {
  const heading = el("h1", { tabindex: "-1" }, "Graph");
  const uri = el("input", { id: "graph-uri", type: "text", required: true, spellcheck: "false", autocomplete: "off", list: "graph-known", placeholder: "os://agents/release-captain.md" });
  const known = el("datalist", { id: "graph-known" });
  const depth = el("input", { id: "graph-depth", type: "number", min: "1", max: "16", value: "3", required: true });
  const result = el("div", { class: "graph" }, empty("No agent is chosen", "Its address is one below os://, such as os://agents/release-captain.md."));
  const form = el("form", {
    class: "ask",
    on: { submit: (event) => {
      event.preventDefault();
      const wanted = `#/graph/${encodeURIComponent(uri.value.trim())}/${depth.value}`;
      if (location.hash === wanted) draw();
      else location.hash = wanted;
    } },
  },
  el("div", { class: "field wide" }, el("label", { for: "graph-uri" }, "Agent or skill"), uri, known),
  el("div", { class: "field" }, el("label", { for: "graph-depth" }, "Depth"), depth),
  el("button", { type: "submit", class: "primary" }, "Draw"));
  const node = el("div", { class: "page" }, el("div", { class: "head" }, heading), form, result);
  let asking;
  let focused = false;

  // Suggestions only: whoever may not list resources types the address.
  async function suggest() {
    try {
      const { resources } = await context.api.resources();
      replace(known, resources.map((one) => el("option", { value: one.uri })));
    } catch (problem) {
      context.refused(problem);
    }
  }
  suggest();

  async function draw() {
    asking?.abort();
    const mine = (asking = new AbortController());
    replace(result, el("p", { class: "quiet", role: "status" }, "Drawing…"));
    try {
      const graph = await context.api.graph(uri.value.trim(), depth.value, mine.signal);
      if (mine.signal.aborted) return;
      context.titled(graph.uri);
      replace(result, shown(graph));
      result.querySelector("h2")?.focus();
    } catch (problem) {
      if (problem.name === "AbortError" || context.refused(problem)) return;
      replace(result, failure(problem, draw));
    }
  }

  return {
    node,
    show([wanted, levels]) {
      if (levels && /^\d{1,2}$/.test(levels)) depth.value = levels;
      if (wanted) {
        uri.value = wanted;
        draw();
      } else if (!focused) {
        uri.focus();
      }
      focused = true;
    },
    leave() { asking?.abort(); },
  };
}

function shown(graph) {
  const by = new Map(graph.nodes.map((node) => [node.id, node]));
  const of = (kind) => graph.nodes.filter((node) => node.kind === kind).length;
  const wrong = graph.nodes.filter((node) => node.errors?.length).length;
  const summary = [count(of("skill"), "skill"), count(of("tool"), "tool"), wrong ? `${wrong} with errors` : "", graph.cycles.length ? count(graph.cycles.length, "cycle") : ""]
    .filter(Boolean).join(", ");
  const side = el("section", { class: "card", "aria-label": "Chosen node", "aria-live": "polite" },
    el("p", { class: "quiet" }, "Choose a node of the picture."));
  return [
    el("h2", { tabindex: "-1" }, graph.uri),
    el("p", { class: "quiet" }, summary),
    graph.truncated ? el("p", { class: "warning" }, "Not all is shown: the graph is larger than the service draws.") : null,
    el("div", { class: "picture", tabindex: "0", role: "region", "aria-label": "Picture of the graph" },
      picture(graph, (node) => replace(side, told(graph, by, node)))),
    side,
    el("h3", {}, "As a table"),
    table("Nodes of the graph", ["Node", "Kind", "Depends on", "Errors"], graph.nodes.map((node) => [
      el("span", {}, node.name ?? node.uri), node.kind,
      chips(graph.edges.filter((edge) => edge.from === node.id).map((edge) => name(by.get(edge.to))), "–"),
      node.errors?.length ? node.errors.map((error) => badge(error, "bad")) : "–"])),
  ];
}

const name = (node) => node?.name ?? node?.uri ?? "?";

function told(graph, by, node) {
  const names = (ids) => ids.map((id) => name(by.get(id)));
  return [
    el("h3", {}, name(node)),
    node.description ? el("p", {}, node.description) : null,
    facts(["Address", el("code", {}, node.uri)], ["Kind", node.kind],
      ["Depends on", chips(names(graph.edges.filter((edge) => edge.from === node.id).map((edge) => edge.to)))],
      ["Needed by", chips(names(graph.edges.filter((edge) => edge.to === node.id).map((edge) => edge.from)))],
      ["Errors", node.errors?.length ? node.errors.map((error) => badge(error, "bad")) : undefined],
      ["Digest", node.checksum ? digest(node.checksum) : undefined]),
  ];
}

function picture(graph, choose) {
  const { places, width, height } = place(graph);
  const cyclic = new Set(graph.cycles.flat());
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": plain(`Dependencies of ${graph.uri}`) },
    svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" },
      svg("path", { d: "M0 0 10 5 0 10z", class: "tip" }))));
  for (const { from, to } of graph.edges) {
    const [start, end] = [places.get(from), places.get(to)];
    if (start && end) drawing.append(svg("path", { class: "edge", d: curve(start, end), "marker-end": "url(#arrow)", "aria-hidden": "true" }));
  }
  for (const node of graph.nodes) {
    const { left, top } = places.get(node.id);
    const pick = () => {
      drawing.querySelector(".chosen")?.classList.remove("chosen");
      group.classList.add("chosen");
      choose(node);
    };
    const group = svg("g", {
      class: `node ${/^[a-z]+$/.test(node.kind) ? node.kind : ""}${node.errors?.length ? " wrong" : ""}`,
      tabindex: "0", role: "button",
      "aria-label": plain([node.kind, name(node), node.errors?.join(", "), cyclic.has(node.id) ? "in a cycle" : ""].filter(Boolean).join(", ")),
      on: {
        click: pick,
        keydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          pick();
        },
      },
    },
    svg("title", {}, name(node)),
    svg("rect", { x: left, y: top, width: WIDTH, height: HEIGHT, rx: { agent: 16, tool: 0 }[node.kind] ?? 6 }),
    svg("text", { x: left + 12, y: top + 19, class: "title" }, cut(node.name ?? tail(node.uri), 25)),
    svg("text", { x: left + 12, y: top + 35, class: "sub" }, cut(node.errors?.[0] ?? `${node.kind} · ${node.uri.replace(/^os:\/\//, "")}`, 31)));
    drawing.append(group);
  }
  return drawing;
}

function curve(start, end) {
  const from = [start.left + WIDTH, start.top + HEIGHT / 2];
  if (end.left > start.left) {
    const bend = (from[0] + end.left) / 2;
    const y = end.top + HEIGHT / 2;
    return `M${from[0]} ${from[1]}C${bend} ${from[1]} ${bend} ${y} ${end.left} ${y}`;
  }
  // Back, or within a column: around on the right.
  const x = end.left + WIDTH;
  const y = end.top + HEIGHT / 2 + 8;
  return `M${from[0]} ${from[1]}C${from[0] + 70} ${from[1]} ${x + 70} ${y} ${x} ${y}`;
}

function cut(text, most) {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

function tail(uri) {
  return uri.split("/").filter(Boolean).pop() ?? uri;
}

export const graph = { title: "Graph", open };
