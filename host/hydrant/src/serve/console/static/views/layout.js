// Where the nodes of a graph stand: a column for each distance from what was asked for; within a column near those that
// need them, so that few edges cross.

export const WIDTH = 210;
export const HEIGHT = 46;
const BETWEEN_COLUMNS = 80;
const BETWEEN_ROWS = 14;
const MARGIN = 16;
const ROUNDS = 4;

/** `{places: Map of id to {left, top}, width, height}`. */
export function place(graph) {
  const columns = [];
  for (const node of graph.nodes) (columns[node.distance] ??= []).push(node.id);
  const filled = columns.filter(Boolean);
  const near = new Map(graph.nodes.map((node) => [node.id, []]));
  for (const { from, to } of graph.edges) {
    near.get(from)?.push(to);
    near.get(to)?.push(from);
  }
  const rank = new Map();
  const number = (column) => column.forEach((id, at) => rank.set(id, at / Math.max(1, column.length - 1)));
  filled.forEach(number);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const column of filled) {
      const wanted = new Map(column.map((id) => {
        const others = near.get(id).map((other) => rank.get(other)).filter((value) => value !== undefined);
        return [id, others.length ? others.reduce((sum, value) => sum + value, 0) / others.length : rank.get(id)];
      }));
      column.sort((one, other) => wanted.get(one) - wanted.get(other));
      number(column);
    }
  }
  const tallest = Math.max(1, ...filled.map((column) => column.length));
  const height = 2 * MARGIN + tallest * HEIGHT + (tallest - 1) * BETWEEN_ROWS;
  const places = new Map();
  filled.forEach((column, at) => {
    const own = column.length * HEIGHT + (column.length - 1) * BETWEEN_ROWS;
    column.forEach((id, row) => places.set(id, {
      left: MARGIN + at * (WIDTH + BETWEEN_COLUMNS),
      top: (height - own) / 2 + row * (HEIGHT + BETWEEN_ROWS),
    }));
  });
  // Room on the right for edges that go back.
  const width = 2 * MARGIN + filled.length * WIDTH + (filled.length - 1) * BETWEEN_COLUMNS + 56;
  return { places, width, height };
}
