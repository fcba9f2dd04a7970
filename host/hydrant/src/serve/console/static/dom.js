// Makes elements. Text becomes text nodes, never markup: there is no innerHTML in the console, and the content security
// policy (Trusted Types) would refuse one. Whoever writes names and scripts is not trusted, so characters that cannot be
// seen, or that turn the direction of writing round, are shown as what they are.

const SVG = "http://www.w3.org/2000/svg";

// Controls but tab and line end, soft hyphen, zero-width and direction characters, tags, the byte order mark.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]/gu;

/** An HTML element: `attributes` may hold `on: {event: listener}`; children are nodes, texts, lists of them, or nothing. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name.startsWith("on") || name === "style" || name === "src" || name === "srcdoc") {
      throw new Error(`the attribute ${name} is not made from data`);
    } else if (name === "href" && !String(value).startsWith("#")) {
      throw new Error("links lead to places of the console only");
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(node, children);
  return node;
}

/** Appends nodes and texts. */
export function append(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    if (child instanceof Node) node.append(child);
    else appendText(node, String(child));
  }
  return node;
}

function appendText(node, text) {
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) node.append(document.createTextNode(text.slice(from, match.index)));
    const shown = named(match[0]);
    if (node.namespaceURI === SVG || node.tagName === "OPTION" || node.tagName === "TITLE") {
      node.append(document.createTextNode(shown));
    } else {
      const mark = document.createElement("mark");
      mark.className = "hidden-character";
      mark.textContent = shown;
      node.append(mark);
    }
    from = match.index + match[0].length;
  }
  if (from < text.length) node.append(document.createTextNode(text.slice(from)));
}

function named(character) {
  return `\u27e8U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

/** The text with its unseen characters named, for places that hold text only, such as labels. */
export function plain(text) {
  return String(text).replace(UNSEEN, named);
}

/** Puts these in place of all children. */
export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** Says something to those who do not see it happen. */
export function announce(text) {
  const place = document.getElementById("announcements");
  // The same text twice is said twice.
  place.textContent = "";
  requestAnimationFrame(() => { place.textContent = plain(text); });
}
