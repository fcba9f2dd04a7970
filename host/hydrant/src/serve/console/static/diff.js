// What changed between two values, as lines.

// Longer texts are shown whole, before and after: the table below would be too large.
const MOST_CELLS = 1_000_000;

/** A value as lines: a text by its lines, a list by its members, anything else as JSON. */
export function lines(value) {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return value.replace(/\n$/, "").split("\n");
  const flat = (member) => member === null || typeof member !== "object";
  if (Array.isArray(value) && value.every(flat)) return value.map(String);
  return JSON.stringify(value, null, 2).split("\n");
}

/** `[{sign: " " | "-" | "+", text}]`, by a longest common subsequence. */
export function difference(before, after) {
  const old = lines(before);
  const now = lines(after);
  const made = [];
  const push = (sign, text) => made.push({ sign, text });
  if (old.length * now.length > MOST_CELLS) {
    old.forEach((text) => push("-", text));
    now.forEach((text) => push("+", text));
    return made;
  }
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      longest[row * width + column] = old[row] === now[column]
        ? longest[(row + 1) * width + column + 1] + 1
        : Math.max(longest[(row + 1) * width + column], longest[row * width + column + 1]);
    }
  }
  let row = 0;
  let column = 0;
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      push(" ", old[row]);
      row += 1;
      column += 1;
    } else if (row < old.length
      && (column === now.length || longest[(row + 1) * width + column] >= longest[row * width + column + 1])) {
      push("-", old[row]);
      row += 1;
    } else {
      push("+", now[column]);
      column += 1;
    }
  }
  return made;
}
