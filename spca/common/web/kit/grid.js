// A gridworld over time: the true grid beside what the agent knows, cell by cell, of squares or hexagons.

const TILE_LIMIT = 44;
const STAGE_HEIGHT = 430;
const STACKED = "(max-width: 35em)";
const SEEN_NOW = "rgba(255, 255, 255, 0.17)";
const NEVER_SEEN = "rgba(30, 31, 38, 0.66)";
const GROUND = "#14161b";
const VIEW_EDGE = "#ffcf33";
const TRAIL = "rgba(255, 90, 80, 0.85)";

/** @param {{first: number[], steps: number[][]}} changes codes of cells, row by row; per step [cell, code, ...] */
function codesAt({first, steps}, step) {
  const codes = Uint16Array.from(first);
  for (const flat of steps.slice(0, step)) {
    for (let i = 0; i < flat.length; i += 2) codes[flat[i]] = flat[i + 1];
  }
  return codes;
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
  const [hovered, setHovered] = useState(-1);
  const [box, width] = useWidth();
  const trueCodes = codesAt(episode.truth, step);
  const knownCodes = codesAt(episode.known, step);
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
  const hover = ({target, offsetX, offsetY}) => {
    const pen = target.getContext("2d");
    const isThere = (_, cell) =>
      pen.isPointInPath(outlineOf(cell, scene.episode.columns, scene.fit), offsetX * ratio, offsetY * ratio);
    onHover(scene.codes.findIndex(isThere));
  };
  return h("canvas", {ref: canvas, role: "img", "aria-label": label, onPointerMove: hover,
    onPointerLeave: () => onHover(-1),
    style: {width: `${width / ratio}px`, height: `${height / ratio}px`}});
}

/** @returns {[number, number]} the upper left corner of a cell, in device pixels */
function cornerOf(cell, columns, {wide, pitch, shift}) {
  const row = Math.floor(cell / columns);
  return [(cell % columns) * wide + (row % 2) * shift, row * pitch];
}

/** @returns {Path2D} the outline of a cell: a square, or a hexagon with a corner on top */
function outlineOf(cell, columns, fit) {
  const {wide, high, pitch, shift} = fit;
  const [x, y] = cornerOf(cell, columns, fit);
  const path = new Path2D();
  if (!shift) {
    path.rect(x, y, wide, pitch);
    return path;
  }
  const side = (2 * pitch) / 3; // rows are one and a half sides apart
  const middle = y + high / 2;
  path.moveTo(x + wide / 2, middle - side);
  path.lineTo(x + wide, middle - side / 2);
  path.lineTo(x + wide, middle + side / 2);
  path.lineTo(x + wide / 2, middle + side);
  path.lineTo(x, middle + side / 2);
  path.lineTo(x, middle - side / 2);
  path.closePath();
  return path;
}

/**
 * Draw a grid; `known` of the scene dims the cells of the truth that the agent never saw. Cells in view lie on a stroke
 * around each of them, so that only the edge of the view is seen of it.
 */
function drawGrid(pen, {episode, step, tiles, fit, codes, known}) {
  const {columns} = episode;
  const view = new Set(episode.view[step]);
  const draw = (cell) => {
    pen.fillStyle = GROUND;
    pen.fill(outlineOf(cell, columns, fit));
    if (codes[cell] || !known) drawTile(pen, tiles, codes[cell], ...cornerOf(cell, columns, fit), fit);
    pen.fillStyle = view.has(cell) ? SEEN_NOW : known && codes[cell] && !known[cell] ? NEVER_SEEN : "transparent";
    pen.fill(outlineOf(cell, columns, fit));
  };
  pen.clearRect(0, 0, fit.width, fit.height);
  [...codes.keys()].filter((cell) => !view.has(cell)).forEach(draw);
  pen.strokeStyle = VIEW_EDGE;
  pen.lineWidth = Math.max(2, Math.round(fit.wide / 8));
  for (const cell of view) pen.stroke(outlineOf(cell, columns, fit));
  view.forEach(draw);
  drawTrail(pen, episode.agent.slice(0, step + 1), columns, fit);
  drawAgent(pen, episode, step, tiles, fit);
}

function drawTile(pen, {picture, columns, size}, code, x, y, {wide, high}) {
  const left = (code % columns) * size[0];
  const top = Math.floor(code / columns) * size[1];
  // Half a pixel less on each side: scaled tiles would take in their neighbours on the sheet.
  pen.drawImage(picture, left + 0.5, top + 0.5, size[0] - 1, size[1] - 1, x, y, wide, high);
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
 * The player of an episode: its grids or its rows of text, what is known of each step, and the actions that led to it.
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
  const picture = (step) => {
    if (!film) return h(Notice, {tone: "warn", title: "No grid to show"}, missing);
    return film.lines ? h(TextFrame, {film, step}) : h(Grids, {episode: film, tiles, step});
  };
  return h(Player, {label, last: film ? film.reward.length - 1 : primitives.length, route, sayStep,
    stage: (step) => h(Fragment, null,
      picture(step),
      h(StepFacts, {episode: film, step, primitive: primitiveAt(step), directions: tiles?.directions, noun})),
    side: (step, show) => h(Fragment, null,
      h(ActionList, {title, actions, at: positions[step - 1], begins: firstSteps(positions), show}),
      more?.(step))});
}

/** The pose, hand and reward at a step; a world without a grid has no pose and no hand. */
function StepFacts({episode, step, primitive, directions, noun = "Primitive"}) {
  const grid = episode?.agent ? episode : null;
  const [row, column, direction] = grid?.agent[step] ?? [];
  return h(Facts, {facts: [
    ["Step", count(step)],
    [noun, mono(primitive || "start")],
    ["Position", grid && `row ${row + grid.top}, column ${column + grid.left}`],
    ["Facing", grid && directions[direction]],
    ["Carrying", grid && (grid.inventory[step] ?? "nothing")],
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
