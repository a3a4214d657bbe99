// What is seen of a scene: its cells, the two views of it, and what a point of a view is on.

const VERTICAL_VIEW = (66 * Math.PI) / 180;
const EYE_HEIGHT = 1.62;
const PITCH_STEP = Math.PI / 6;
const MAP_MARGIN = 2;
const MAP_LEAST = 7;
const FACING_WORDS = ["south", "west", "north", "east"];
const ENDINGS = {goal: "reached the goal", done: "gave up", lava: "fell into lava", max_steps: "ran out of steps"};

/** @returns {number|undefined} of a cell in the order y, z, x */
function numberOf([x, y, z], [wide, tall, deep]) {
  const isInside = x >= 0 && y >= 0 && z >= 0 && x < wide && y < tall && z < deep;
  return isInside ? (y * deep + z) * wide + x : undefined;
}

/** Change cells. @param {number[]} runs [look, times, look, times, …], the look -1 for cells that did not change */
function applyRuns(cells, runs) {
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const end = at + runs[i + 1];
    if (runs[i] >= 0) cells.fill(runs[i], at, end);
    at = end;
  }
}

/** @param {number[]} pose [x, y, z, facing, pitch] and the offset of the cell that it aims at, if it does */
function readPose([x, y, z, facing, pitch, ...aim]) {
  const cell = [x, y, z];
  return {cell, facing, pitch, aim: aim.length ? cell.map((part, i) => part + aim[i]) : null};
}

/** @returns {number} */
function distance(one, other) {
  return Math.hypot(...one.map((part, i) => part - other[i]));
}

/** @returns {string} a cell relative to the spawn */
function awayFrom(spawn, cell) {
  return cell.map((part, i) => part - spawn[i]).join(", ");
}

/** The view of a camera; `axes` lead to the right edge of the picture, to its upper edge, and forward. */
function viewAhead({eye, yaw, pitch}, aspect) {
  const [sy, cy] = [Math.sin(yaw), Math.cos(yaw)];
  const [sp, cp] = [Math.sin(pitch), Math.cos(pitch)];
  const tall = Math.tan(VERTICAL_VIEW / 2);
  const wide = tall * aspect;
  const axes = [[-cy * wide, 0, -sy * wide], [-sy * sp * tall, cp * tall, cy * sp * tall], [-sy * cp, -sp, cy * cp]];
  return {eye, axes, isAbove: false};
}

/** The map: all that is known, from above, cut at the height of the agent's head. */
function viewAbove({pose, size, extent: [left, right, top, bottom]}, aspect) {
  const wide = (right - left + 1) / 2 + MAP_MARGIN;
  const deep = Math.max(MAP_LEAST, (bottom - top + 1) / 2 + MAP_MARGIN, wide / aspect);
  const eye = [(left + right + 1) / 2, Math.min(pose.cell[1] + 2, size[1] - 0.01), (top + bottom + 1) / 2];
  return {eye, axes: [[deep * aspect, 0, 0], [0, 0, -deep], [0, -1, 0]], isAbove: true};
}

/** The cells that the ray through a point of a view crosses, nearest first; x and y are from -1 to 1. */
function* crossCells({eye, axes: [right, up, forward], isAbove}, x, y) {
  const offset = right.map((part, i) => part * x + up[i] * y);
  const start = isAbove ? eye.map((part, i) => part + offset[i]) : eye;
  const ray = isAbove ? forward : forward.map((part, i) => part + offset[i]);
  const cell = start.map(Math.floor);
  const way = ray.map(Math.sign);
  const next = ray.map((part, i) => (part ? (cell[i] + Math.max(way[i], 0) - start[i]) / part : Infinity));
  for (let i = 0; i < 2 * SIGHT; i++) {
    const axis = next.indexOf(Math.min(...next));
    next[axis] += Math.abs(1 / ray[axis]);
    cell[axis] += way[axis];
    yield [...cell];
  }
}

/** @returns {{cell: number[], what: string}|null} what a point of a view is on */
function findAt(view, {look, size, blocks, things}, x, y) {
  for (const cell of crossCells(view, x, y)) {
    const thing = things.find(([kind, at]) => fills(look.sprites[kind], at, cell));
    if (thing) return {cell: thing[1], what: spaced(thing[0])};
    const {name, state, shape} = look.looks[blocks[numberOf(cell, size)] ?? 0];
    if (shape === "unseen" && !view.isAbove) return null;
    if (shape !== "unseen" && shape !== "none") return {cell, what: spaced(name) + (state && ` (${state})`)};
  }
  return null;
}

/** Whether an item or mob is in a cell; a tall one is also in the cell above its own. */
function fills({form}, [x, y, z], cell) {
  return x === cell[0] && z === cell[2] && (y === cell[1] || (form === 2 && y + 1 === cell[1]));
}
