// The two grids of the player: codes over time, cells in MiniGrid's look, and what they show in words.

const COLOURS = {
  red: "#ff3b30", green: "#00e03a", blue: "#3d6bff", purple: "#9a4dff", yellow: "#ffe600", grey: "#8c8c94",
  other: "#d7d7dd",
};
const DARK = {
  red: "#731b16", green: "#006519", blue: "#1b3073", purple: "#452273", yellow: "#736700", grey: "#3f3f43",
  other: "#616163",
};
const FLOOR = "#0e0e11";
const GRID_LINE = "#45454d";
const SEEN_NOW = "rgba(255, 255, 255, 0.17)";
const NEVER_SEEN = "rgba(30, 31, 38, 0.66)";
const VIEW_EDGE = "#ffcf33";
const TRAIL = "rgba(255, 140, 130, 0.85)";
const KEYFRAME = 64;

/** Words of MiniGrid's directions 0-3. */
const DIRECTION_WORDS = ["East", "South", "West", "North"];

/** A grid over time: every 64th frame is kept whole, the others are made from the one before. */
class Film {
  /** @param {{first: number[], steps: number[][]}} changes */
  constructor(changes) {
    this.steps = changes.steps;
    this.kept = [];
    const codes = Uint16Array.from(changes.first);
    for (let i = 0; i <= this.steps.length; i++) {
      if (i) applyChanges(codes, this.steps[i - 1]);
      if (i % KEYFRAME === 0) this.kept.push(codes.slice());
    }
  }

  /** @param {number} frame @returns {Uint16Array} a copy of the codes, row by row */
  at(frame) {
    const kept = Math.min(Math.floor(frame / KEYFRAME), this.kept.length - 1);
    const codes = this.kept[kept].slice();
    for (let i = kept * KEYFRAME; i < Math.min(frame, this.steps.length); i++) applyChanges(codes, this.steps[i]);
    return codes;
  }
}

function applyChanges(codes, flat) {
  for (let i = 0; i + 1 < flat.length; i += 2) codes[flat[i]] = flat[i + 1];
}

/**
 * The part of an episode's frame that ever holds anything, with a margin of one cell: the map is kept larger than that.
 *
 * @param {object} episode @returns {object} an episode
 */
function cropped(episode) {
  const {columns} = episode;
  const [top, bottom, left, right] = extent(episode);
  const width = right - left + 1;
  const between = (at, low, high) => at >= low && at <= high;
  const inside = (cell) => between(Math.floor(cell / columns), top, bottom) && between(cell % columns, left, right);
  const moved = (cell) => (Math.floor(cell / columns) - top) * width + (cell % columns) - left;
  const changes = ({first, steps}) => ({
    first: first.filter((_, cell) => inside(cell)),
    steps: steps.map((flat) =>
      flat.flatMap((cell, i) => (i % 2 === 0 && inside(cell) ? [moved(cell), flat[i + 1]] : []))),
  });
  return {
    ...episode, rows: bottom - top + 1, columns: width, top: episode.top + top, left: episode.left + left,
    truth: changes(episode.truth), known: changes(episode.known),
    agent: episode.agent.map(([row, column, direction]) => [row - top, column - left, direction]),
    view: episode.view.map((cells) => cells.filter(inside).map(moved)),
  };
}

/** First and last row, first and last column of what is in a frame at any time, and a cell around it. */
function extent({rows, columns, truth, known, agent, view}) {
  const cells = [...agent.map(([row, column]) => row * columns + column), ...view.flat()];
  for (const {first, steps} of [truth, known]) {
    first.forEach((code, cell) => code && cells.push(cell));
    for (const flat of steps) for (let i = 0; i < flat.length; i += 2) cells.push(flat[i]);
  }
  const span = (places, last) => places.reduce(([low, high], at) => [Math.min(low, at), Math.max(high, at)], [last, 0]);
  const around = ([low, high], last) => [Math.max(0, low - 1), Math.min(last, high + 1)];
  return [
    ...around(span(cells.map((cell) => Math.floor(cell / columns)), rows - 1), rows - 1),
    ...around(span(cells.map((cell) => cell % columns), columns - 1), columns - 1),
  ];
}

/** @param {string} word of a cell @returns {{kind: string, colour: string, state: string}} */
function cellOf(word) {
  const [kind = "unseen", colour = "", state = ""] = (word ?? "unseen").split(" ");
  return {kind, colour, state};
}

/**
 * Draw a grid. The canvas must be `columns * tile` x `rows * tile` device pixels.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {{rows: number, columns: number, tile: number, codes: Uint16Array, words: string[], view: Set<number>,
 *   known: Uint16Array|null, agent: number[], inventory: string|null, trail: number[][]}} scene
 *   `known` dims cells whose code in it is 0; without it cells with code 0 are hatched as unseen.
 */
function drawGrid(pen, scene) {
  const {rows, columns, tile} = scene;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, columns * tile, rows * tile);
  const hatch = scene.known ? null : hatching(pen, tile);
  for (let cell = 0; cell < rows * columns; cell++) {
    pen.setTransform(tile, 0, 0, tile, (cell % columns) * tile, Math.floor(cell / columns) * tile);
    if (scene.codes[cell]) paintCell(pen, cellOf(scene.words[scene.codes[cell]]));
    if (scene.view.has(cell)) fill(pen, SEEN_NOW, 0, 0, 1, 1);
    else if (scene.known && scene.codes[cell] && !scene.known[cell]) fill(pen, NEVER_SEEN, 0, 0, 1, 1);
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  if (hatch) fillUnseen(pen, scene, hatch);
  drawTrail(pen, scene);
  outlineView(pen, scene);
  drawAgent(pen, scene);
}

function hatching(pen, tile) {
  const size = Math.max(6, Math.round(tile / 4));
  const swatch = document.createElement("canvas");
  swatch.width = swatch.height = size;
  const ink = swatch.getContext("2d");
  ink.fillStyle = "#2b2c33";
  ink.fillRect(0, 0, size, size);
  ink.strokeStyle = "#595b68";
  ink.lineWidth = Math.max(1, size / 7);
  ink.beginPath();
  for (const shift of [-size, 0, size]) {
    ink.moveTo(shift - 1, size + 1);
    ink.lineTo(shift + size + 1, -1);
  }
  ink.stroke();
  return pen.createPattern(swatch, "repeat");
}

function fillUnseen(pen, {rows, columns, tile, codes}, hatch) {
  pen.fillStyle = hatch;
  for (let cell = 0; cell < rows * columns; cell++) {
    if (!codes[cell]) pen.fillRect((cell % columns) * tile, Math.floor(cell / columns) * tile, tile, tile);
  }
}

function drawTrail(pen, {trail, tile}) {
  if (trail.length < 2) return;
  pen.strokeStyle = TRAIL;
  pen.lineWidth = Math.max(1, tile / 16);
  pen.setLineDash([tile / 8, tile / 8]);
  pen.beginPath();
  for (const [row, column] of trail) pen.lineTo((column + 0.5) * tile, (row + 0.5) * tile);
  pen.stroke();
  pen.setLineDash([]);
}

function outlineView(pen, {columns, tile, view}) {
  pen.strokeStyle = VIEW_EDGE;
  pen.lineWidth = Math.max(1, Math.round(tile / 16));
  pen.beginPath();
  for (const cell of view) {
    const x = (cell % columns) * tile;
    const y = Math.floor(cell / columns) * tile;
    const edge = (open, x1, y1, x2, y2) => open && (pen.moveTo(x1, y1), pen.lineTo(x2, y2));
    edge(!view.has(cell - columns), x, y, x + tile, y);
    edge(!view.has(cell + columns), x, y + tile, x + tile, y + tile);
    edge(cell % columns === 0 || !view.has(cell - 1), x, y, x, y + tile);
    edge((cell + 1) % columns === 0 || !view.has(cell + 1), x + tile, y, x + tile, y + tile);
  }
  pen.stroke();
}

function drawAgent(pen, {agent, tile, inventory}) {
  const [row, column, direction] = agent;
  pen.setTransform(tile, 0, 0, tile, column * tile, row * tile);
  pen.translate(0.5, 0.5);
  pen.rotate((direction * Math.PI) / 2);
  pen.translate(-0.5, -0.5);
  pen.beginPath();
  pen.moveTo(0.12, 0.16);
  pen.lineTo(0.9, 0.5);
  pen.lineTo(0.12, 0.84);
  pen.closePath();
  pen.fillStyle = COLOURS.red;
  pen.fill();
  pen.lineWidth = 0.05;
  pen.strokeStyle = "#fff";
  pen.stroke();
  if (inventory) {
    pen.setTransform(tile * 0.5, 0, 0, tile * 0.5, (column + 0.5) * tile, row * tile);
    fill(pen, "#0e0e11", 0, 0, 1, 1);
    paintThing(pen, cellOf(inventory));
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
}

/** Paint a cell in the unit square. */
function paintCell(pen, cell) {
  fill(pen, GRID_LINE, 0, 0, 1, 1);
  fill(pen, FLOOR, 0.035, 0.035, 1, 1);
  paintThing(pen, cell);
}

const THINGS = {
  wall: (pen) => fill(pen, "#75757d", 0, 0, 1, 1),
  floor: (pen) => fill(pen, "#33343c", 0.035, 0.035, 1, 1),
  goal: (pen) => fill(pen, "#00b82f", 0.035, 0.035, 1, 1),
  lava: paintLava,
  door: paintDoor,
  key: paintKey,
  ball: (pen, {colour}) => disc(pen, COLOURS[colour], 0.5, 0.5, 0.31),
  box: paintBox,
  thing: paintBox, // of a kind that MiniGrid does not know
};

function paintThing(pen, cell) {
  THINGS[cell.kind]?.(pen, cell);
}

function paintLava(pen) {
  fill(pen, "#ff7a00", 0.035, 0.035, 1, 1);
  pen.strokeStyle = "#1a0d00";
  pen.lineWidth = 0.06;
  for (const y of [0.3, 0.5, 0.7]) {
    pen.beginPath();
    [0.1, 0.3, 0.5, 0.7, 0.9].forEach((x, i) => pen.lineTo(x, y + (i % 2 ? 0.08 : -0.02)));
    pen.stroke();
  }
}

function paintDoor(pen, {colour, state}) {
  const paint = COLOURS[colour];
  if (state === "open") {
    fill(pen, paint, 0.84, 0, 1, 1);
    fill(pen, FLOOR, 0.9, 0.05, 0.95, 0.95);
    return;
  }
  fill(pen, paint, 0, 0, 1, 1);
  if (state === "locked") {
    fill(pen, DARK[colour], 0.08, 0.08, 0.92, 0.92);
    disc(pen, paint, 0.5, 0.42, 0.13);
    fill(pen, paint, 0.45, 0.45, 0.55, 0.74);
    return;
  }
  fill(pen, FLOOR, 0.05, 0.05, 0.95, 0.95);
  fill(pen, paint, 0.1, 0.1, 0.9, 0.9);
  fill(pen, FLOOR, 0.15, 0.15, 0.85, 0.85);
  disc(pen, paint, 0.74, 0.5, 0.08);
}

function paintKey(pen, {colour}) {
  const paint = COLOURS[colour];
  fill(pen, paint, 0.5, 0.31, 0.63, 0.88);
  fill(pen, paint, 0.38, 0.59, 0.5, 0.66);
  fill(pen, paint, 0.38, 0.81, 0.5, 0.88);
  disc(pen, paint, 0.56, 0.28, 0.19);
  disc(pen, FLOOR, 0.56, 0.28, 0.07);
}

function paintBox(pen, {colour}) {
  fill(pen, COLOURS[colour], 0.12, 0.12, 0.88, 0.88);
  fill(pen, FLOOR, 0.2, 0.2, 0.8, 0.8);
  fill(pen, COLOURS[colour], 0.16, 0.46, 0.84, 0.54);
}

function fill(pen, paint, x1, y1, x2, y2) {
  pen.fillStyle = paint ?? COLOURS.grey;
  pen.fillRect(x1, y1, x2 - x1, y2 - y1);
}

function disc(pen, paint, x, y, radius) {
  pen.fillStyle = paint ?? COLOURS.grey;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

/**
 * A frame in words, for those who do not see the canvas. Rows and columns are those of the true grid.
 *
 * @param {object} episode @param {number} frame @param {Uint16Array} codes @param {string[]} words
 * @returns {string}
 */
function frameInWords(episode, frame, codes, words) {
  const [row, column, direction] = episode.agent[frame];
  const place = (r, c) => `row ${r + episode.top} column ${c + episode.left}`;
  const held = episode.inventory[frame] ? `carrying ${episode.inventory[frame]}` : "carrying nothing";
  const things = episode.view[frame]
    .filter((cell) => !["unseen", "empty", "wall", "floor", "agent"].includes(cellOf(words[codes[cell]]).kind))
    .map((cell) => `${words[codes[cell]]} at ${place(Math.floor(cell / episode.columns), cell % episode.columns)}`);
  const sight = things.length ? `In view: ${things.join(", ")}.` : "No object in view.";
  return `Agent at ${place(row, column)} facing ${DIRECTION_WORDS[direction]}, ${held}. ${sight}`;
}

/** Words of the things that an episode shows at any time. */
function wordsOf(episode, words) {
  const codes = new Set(episode.truth.first);
  for (const flat of episode.truth.steps) flat.forEach((code, i) => i % 2 && codes.add(code));
  const isThing = (word) => word && !["unseen", "empty", "agent"].includes(word);
  return [...codes].sort((a, b) => a - b).map((code) => words[code]).filter(isThing);
}

/** Paint a cell of the legend: a word, or `agent`, `unseen`, `view`, `dimmed`. */
function drawSwatch(pen, code, tile) {
  const special = ["agent", "unseen", "view", "dimmed"].includes(code);
  drawGrid(pen, {
    rows: 1, columns: 1, tile, words: ["unseen", special ? "empty" : code],
    codes: Uint16Array.of(code === "unseen" ? 0 : 1), known: code === "dimmed" ? Uint16Array.of(0) : null,
    view: new Set(code === "view" ? [0] : []), trail: [], inventory: null,
    agent: code === "agent" ? [0, 0, 0] : [-1, -1, 0],
  });
}
