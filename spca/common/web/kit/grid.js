// A gridworld over time: the true grid beside what the agent knows, cell by cell, of squares or hexagons.

const TILE_LIMIT = 44;
const STAGE_HEIGHT = 430;
const STACKED = "(max-width: 35em)";
const KEYFRAME = 64;
const SEEN_NOW = "rgba(255, 255, 255, 0.17)";
const NEVER_SEEN = "rgba(30, 31, 38, 0.66)";
const VIEW_EDGE = "#ffcf33";
const TRAIL = "rgba(255, 90, 80, 0.85)";

/** A grid over time: every 64th frame is kept whole, the others are made from the one before. */
class Changes {
  /** @param {{first: number[], steps: number[][]}} changes codes of cells; per step [cell, code, ...] */
  constructor({first, steps}) {
    this.steps = steps;
    this.kept = [];
    const codes = Uint16Array.from(first);
    for (let i = 0; i <= steps.length; i++) {
      if (i) applyChanges(codes, steps[i - 1]);
      if (i % KEYFRAME === 0) this.kept.push(codes.slice());
    }
  }

  /** @param {number} step @returns {Uint16Array} a copy of the codes, row by row */
  at(step) {
    const kept = Math.min(Math.floor(step / KEYFRAME), this.kept.length - 1);
    const codes = this.kept[kept].slice();
    for (let i = kept * KEYFRAME; i < Math.min(step, this.steps.length); i++) applyChanges(codes, this.steps[i]);
    return codes;
  }
}

function applyChanges(codes, flat) {
  for (let i = 0; i + 1 < flat.length; i += 2) codes[flat[i]] = flat[i + 1];
}

/** @returns {Promise<object>} tiles whose picture has been decoded */
async function decodeTiles(tiles) {
  const picture = new Image();
  picture.src = `data:image/png;base64,${tiles.picture}`;
  await picture.decode();
  return {...tiles, picture};
}

/** The tiles of a page: one picture with a tile for each code. @returns {object|null} once it has been decoded */
function useTiles(tiles) {
  const [ready, setReady] = useState(null);
  useEffect(() => {
    decodeTiles(tiles).then(setReady);
  }, [tiles]);
  return ready;
}

/** Both grids of an episode at a step, in one frame and one scale, and the cell that the pointer is on in words. */
function Grids({episode, tiles, step}) {
  const ready = useTiles(tiles);
  const truth = useMemo(() => new Changes(episode.truth), [episode]);
  const known = useMemo(() => new Changes(episode.known), [episode]);
  const [hovered, setHovered] = useState(-1);
  const [box, width] = useWidth();
  const trueCodes = truth.at(step);
  const knownCodes = known.at(step);
  const unknown = knownCodes.filter((code) => code === 0).length / knownCodes.length;
  const words = describeStep(episode, step, trueCodes, tiles);
  const scene = {episode, step, tiles: ready, fit: gridGeometry(tiles, episode, width)};
  const grid = (title, codes, above, more) => h("figure", {ref: above ? null : box},
    h("figcaption", null, title),
    h(Grid, {scene: {...scene, codes, known: above ? null : knownCodes}, onHover: setHovered,
      label: `${title}, ${episode.rows} by ${episode.columns} cells${more}. ${words}`}));
  return h(Fragment, null,
    h("div", {class: "grids"},
      grid("True grid", trueCodes, false, ""),
      grid("The agent's map", knownCodes, true, `, ${percent(unknown)} unseen`)),
    h("p", {class: "hovered small muted"}, describeCell(episode, hovered, trueCodes, knownCodes, tiles)),
    ready && h(Legend, {episode, tiles: ready}));
}

/** Sizes in device pixels: of a tile as it is drawn, the distance of rows, how far odd rows lie to the right. */
function gridGeometry(tiles, {rows, columns}, width) {
  const ratio = window.devicePixelRatio || 1;
  const tall = matchMedia(STACKED).matches ? Math.max(180, 0.31 * innerHeight) : STAGE_HEIGHT;
  const {shift, pitch} = tiles; // in widths of a tile
  const fit = Math.min(width / (columns + shift), tall / (rows * pitch + tiles.high - pitch), TILE_LIMIT);
  const wide = Math.max(2, Math.floor(fit * ratio));
  return {ratio, wide, high: wide * tiles.high, pitch: Math.round(wide * pitch), shift: Math.round(wide * shift),
    width: Math.ceil(wide * (columns + shift)), height: Math.ceil(wide * (rows * pitch + tiles.high - pitch))};
}

function Grid({scene, label, onHover}) {
  const canvas = useRef(null);
  const {width, height, ratio} = scene.fit;
  useLayoutEffect(() => {
    const element = canvas.current;
    if (element.width !== width) element.width = width;
    if (element.height !== height) element.height = height;
    if (scene.tiles) drawGrid(element.getContext("2d"), scene);
  });
  const hover = (event) => onHover(findCell(event.offsetX * ratio, event.offsetY * ratio, scene.episode, scene.fit));
  return h("canvas", {ref: canvas, role: "img", "aria-label": label, onPointerMove: hover,
    onPointerLeave: () => onHover(-1),
    style: {width: `${width / ratio}px`, height: `${height / ratio}px`}});
}

/** @returns {[number, number]} the upper left corner of a cell, in device pixels */
function cornerOf(cell, columns, {wide, pitch, shift}) {
  const row = Math.floor(cell / columns);
  return [(cell % columns) * wide + (row % 2) * shift, row * pitch];
}

/** @returns {[number, number][]} the corners of a cell clockwise from its upper left one, of a hexagon from the top */
function listCorners(cell, columns, fit) {
  const {wide, high, pitch, shift} = fit;
  const [x, y] = cornerOf(cell, columns, fit);
  if (!shift) return [[x, y], [x + wide, y], [x + wide, y + pitch], [x, y + pitch]];
  const middle = y + high / 2;
  const [up, down] = [middle - pitch / 3, middle + pitch / 3]; // rows are one and a half radii apart
  return [[x + wide / 2, middle - (2 * pitch) / 3], [x + wide, up], [x + wide, down],
    [x + wide / 2, middle + (2 * pitch) / 3], [x, down], [x, up]];
}

/** @returns {number[]} the cells beyond the sides of a cell, clockwise as its corners; -1 beyond the frame's edge */
function listNeighbours(cell, columns, {shift}) {
  const row = Math.floor(cell / columns);
  const odd = row % 2;
  const sides = shift ? [[-1, odd], [0, 1], [1, odd], [1, odd - 1], [0, -1], [-1, odd - 1]]
    : [[-1, 0], [0, 1], [1, 0], [0, -1]];
  return sides.map(([down, right]) => {
    const column = (cell % columns) + right;
    return column < 0 || column >= columns ? -1 : (row + down) * columns + column;
  });
}

/** @returns {number} the cell whose middle is nearest to a point in device pixels, -1 outside of the grid */
function findCell(x, y, {rows, columns}, fit) {
  const {wide, high, pitch, shift} = fit;
  const near = Math.round((y - high / 2) / pitch);
  const found = [near - 1, near, near + 1].filter((row) => row >= 0 && row < rows).map((row) => {
    const left = x - (row % 2) * shift;
    const column = Math.max(0, Math.min(columns - 1, Math.floor(left / wide)));
    return [Math.hypot(left - (column + 0.5) * wide, y - row * pitch - high / 2), row * columns + column];
  });
  const [away, cell] = found.sort((a, b) => a[0] - b[0])[0] ?? [Infinity, -1];
  return away < wide ? cell : -1;
}

/** Draw a grid; `known` of the scene dims the cells of the truth that the agent never saw. */
function drawGrid(pen, {episode, step, tiles, fit, codes, known}) {
  const {columns} = episode;
  const view = new Set(episode.view[step]);
  pen.clearRect(0, 0, fit.width, fit.height);
  for (let cell = 0; cell < codes.length; cell++) {
    const [x, y] = cornerOf(cell, columns, fit);
    if (codes[cell] || !known) drawTile(pen, tiles, codes[cell], x, y, fit);
    const veil = view.has(cell) ? SEEN_NOW : known && codes[cell] && !known[cell] ? NEVER_SEEN : null;
    if (veil) shadeCell(pen, veil, listCorners(cell, columns, fit));
  }
  outlineView(pen, view, columns, fit);
  drawTrail(pen, episode.agent.slice(0, step + 1), columns, fit);
  drawAgent(pen, episode, step, tiles, fit);
}

function drawTile(pen, {picture, columns, size}, code, x, y, {wide, high}) {
  const left = (code % columns) * size[0];
  const top = Math.floor(code / columns) * size[1];
  pen.drawImage(picture, left, top, ...size, x, y, wide, high);
}

function shadeCell(pen, colour, corners) {
  pen.fillStyle = colour;
  pen.beginPath();
  for (const corner of corners) pen.lineTo(...corner);
  pen.fill();
}

function outlineView(pen, view, columns, fit) {
  pen.strokeStyle = VIEW_EDGE;
  pen.lineWidth = Math.max(1, Math.round(fit.wide / 16));
  pen.beginPath();
  for (const cell of view) {
    const corners = listCorners(cell, columns, fit);
    listNeighbours(cell, columns, fit).forEach((other, side) => {
      if (view.has(other)) return;
      pen.moveTo(...corners[side]);
      pen.lineTo(...corners[(side + 1) % corners.length]);
    });
  }
  pen.stroke();
}

function drawTrail(pen, poses, columns, fit) {
  pen.strokeStyle = TRAIL;
  pen.lineWidth = Math.max(1, fit.wide / 16);
  pen.setLineDash([fit.wide / 8, fit.wide / 8]);
  pen.beginPath();
  for (const [row, column] of poses) {
    const [x, y] = cornerOf(row * columns + column, columns, fit);
    pen.lineTo(x + fit.wide / 2, y + fit.high / 2);
  }
  pen.stroke();
  pen.setLineDash([]);
}

function drawAgent(pen, {agent, columns, inventory}, step, tiles, fit) {
  const [row, column, direction] = agent[step];
  const {wide, high} = fit;
  const [x, y] = cornerOf(row * columns + column, columns, fit);
  drawArrow(pen, x + wide / 2, y + high / 2, wide, (2 * Math.PI * direction) / tiles.directions.length);
  const held = tiles.words.indexOf(inventory[step]);
  if (held > 0) drawTile(pen, tiles, held, x + wide / 2, y, {wide: wide / 2, high: high / 2});
}

/** Draw an agent from above. @param {number} size of its cell @param {number} angle clockwise from the right */
function drawArrow(pen, x, y, size, angle) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(angle);
  pen.scale(size, size);
  pen.beginPath();
  pen.moveTo(0.4, 0);
  pen.lineTo(-0.38, 0.34);
  pen.lineTo(-0.38, -0.34);
  pen.closePath();
  pen.fillStyle = "#ff3b30";
  pen.fill();
  pen.lineWidth = 0.05;
  pen.strokeStyle = "#fff";
  pen.stroke();
  pen.restore();
}

function describeCell({columns, top, left}, cell, trueCodes, knownCodes, {words}) {
  if (cell < 0 || cell >= trueCodes.length) return "Point at a cell to read what it holds.";
  const truth = trueCodes[cell] ? words[trueCodes[cell]] : "outside";
  const place = `row ${Math.floor(cell / columns) + top}, column ${(cell % columns) + left}`;
  return `${place}: ${truth}; in the map: ${words[knownCodes[cell]]}`;
}

/** A step in words, for those who do not see the canvas. Rows and columns are those of the true grid; where no cell is
 *  said to be in view, nothing limits the view. */
function describeStep({agent, inventory, view, columns, top, left}, step, codes, {words, directions, plain}) {
  const [row, column, direction] = agent[step];
  const place = (r, c) => `row ${r + top} column ${c + left}`;
  const seen = view[step].length ? view[step] : [...codes.keys()];
  const things = seen.filter((cell) => !plain.includes(words[codes[cell]]))
    .map((cell) => `${words[codes[cell]]} at ${place(Math.floor(cell / columns), cell % columns)}`);
  const held = inventory[step] ? `carrying ${inventory[step]}` : "carrying nothing";
  const sight = things.length ? `In view: ${things.join(", ")}.` : "No object in view.";
  return `Agent at ${place(row, column)} facing ${directions[direction]}, ${held}. ${sight}`;
}

/**
 * The player of an episode: its grids, what is known of each step, and the actions that led to it.
 *
 * @param {{label: string, film: object|null, missing: string, tiles: object, route: object, primitives: string[],
 *   actions?: string[], positions?: number[], title: string, noun?: string, more?: (step: number) => any}} props
 *   `missing` says why there is no `film`; `primitives` of the steps, `positions` of each step in `actions`, whose list
 *   has the `title`; `noun` is what the page calls a primitive; `more` stands below the list
 */
function FilmPlayer({label, film, missing, tiles, route, primitives, actions = primitives,
  positions = [...primitives.keys()], title, noun, more}) {
  const primitiveAt = (step) => primitives[step - 1] ?? "";
  const sayStep = (step) => {
    const action = actions === primitives ? "" : `, for ${actions[positions[step - 1]]}`;
    return `Step ${step}: ${step ? primitiveAt(step) + action : "before the first one"}.`;
  };
  return h(Player, {label, last: film ? film.agent.length - 1 : primitives.length, route, sayStep,
    stage: (step) => h(Fragment, null,
      film ? h(Grids, {episode: film, tiles, step}) : h(Notice, {tone: "warn", title: "No grid to show"}, missing),
      h(StepFacts, {episode: film, step, primitive: primitiveAt(step), directions: tiles?.directions, noun})),
    side: (step, show) => h(Fragment, null,
      h(ActionList, {title, actions, at: positions[Math.max(0, step - 1)], begins: firstSteps(positions), show}),
      more?.(step))});
}

/** The pose, hand and reward at a step. */
function StepFacts({episode, step, primitive, directions, noun = "Primitive"}) {
  const [row, column, direction] = episode?.agent[step] ?? [];
  return h(Facts, {facts: [
    ["Step", count(step)],
    [noun, mono(primitive || "start")],
    ["Position", episode && `row ${row + episode.top}, column ${column + episode.left}`],
    ["Facing", episode && directions[direction]],
    ["Carrying", episode && (episode.inventory[step] ?? "nothing")],
    ["Reward", episode && String(Number(episode.reward[step].toFixed(4)))],
  ]});
}

/** What the tiles of an episode stand for. */
function Legend({episode, tiles}) {
  const present = useMemo(() => {
    const codes = new Set([...episode.truth.first,
      ...episode.truth.steps.flatMap((flat) => flat.filter((_, i) => i % 2))]);
    return [...codes].sort((a, b) => a - b).filter((code) => !tiles.plain.includes(tiles.words[code]));
  }, [episode]);
  return h("ul", {class: "legend", "aria-label": "Legend"},
    h("li", null, h(Swatch, {tiles, code: 0}), "unseen"),
    present.map((code) => h("li", {key: code}, h(Swatch, {tiles, code}), tiles.words[code])),
    h("li", null, "bright: in view; dark: never seen; keys: space, arrows, home, end, + −"));
}

function Swatch({tiles, code}) {
  const canvas = useRef(null);
  const size = {wide: 36 / tiles.high, high: 36};
  useLayoutEffect(() => drawTile(canvas.current.getContext("2d"), tiles, code, 0, 0, size), [code]);
  return h("canvas", {ref: canvas, class: "swatch", width: 36, height: 36, "aria-hidden": "true"});
}
