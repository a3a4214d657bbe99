// The player: an attempt step by step, the true grid beside the agent's map, the plan and the source line.

const FASTEST = 20;
const TILE_LIMIT = 44;
const STAGE_HEIGHT = 430;
const STACKED = "(max-width: 560px)";

/**
 * The player of one attempt.
 *
 * @param {{attempt: object, plan: object[], jump: {step: number}, page: object}} props a new `jump` goes to its step
 */
function Player({attempt, plan, jump, page}) {
  const {episode} = attempt;
  const last = episode ? episode.agent.length - 1 : attempt.steps.length;
  const playback = usePlayback(last, jump);
  const framed = useMemo(() => episode && cropped(episode), [episode]);
  const now = useMemo(() => momentOf(attempt, plan, playback.step, page.report.primitives),
    [attempt, plan, playback.step, page.report]);
  useKeys(playback);
  useEffect(() => page.remember(`${attempt.round}.${attempt.number}`, playback.step), [playback.step]);
  return h("div", {
    class: "player", id: "player", tabIndex: 0, role: "group",
    "aria-label": `Player of attempt ${attempt.round}.${attempt.number}`,
    onKeyDown: (event) => playByKey(event, playback), ...dataOf(now, last),
  },
    h("div", {class: "player-stage"},
      episode ? h(Stage, {episode: framed, now, words: page.report.vocabulary}) : h(Unplayable, {check: attempt.check}),
      h(Controls, {playback, last, now}),
      h(StateLine, {now, last, playing: playback.playing}),
      episode && h(Legend, {episode, words: page.report.vocabulary})),
    h("div", {class: "player-side"},
      h(PlanList, {attempt, plan, now, show: playback.show}),
      h(SourcePanel, {attempt, now, text: page.find(attempt.agent)})));
}

function usePlayback(last, jump) {
  const within = (n) => Math.max(0, Math.min(last, n));
  const [step, setStep] = useState(within(jump.step));
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(4);
  useEffect(() => {
    setStep(within(jump.step));
    setPlaying(false);
  }, [jump]);
  useEffect(() => {
    if (!playing) return undefined;
    const timer = setInterval(() => setStep((at) => Math.min(at + 1, last)), 1000 / speed);
    return () => clearInterval(timer);
  }, [playing, speed, last]);
  useEffect(() => {
    if (step >= last) setPlaying(false);
  }, [step, last]);
  const show = (n) => {
    setPlaying(false);
    setStep(within(n));
  };
  const toggle = () => {
    if (!playing && step >= last) setStep(0);
    setPlaying(!playing && last > 0);
  };
  const faster = (by) => setSpeed((at) => Math.max(1, Math.min(FASTEST, at + by)));
  return {step, last, playing, speed, show, toggle, faster, setSpeed};
}

/** What the player shows at a frame. Positions are those of the true grid; -1 where they are not known. */
function momentOf(attempt, plan, step, primitives) {
  const {episode, steps} = attempt;
  const [code, planned, line] = step > 0 && steps[step - 1] ? steps[step - 1] : [-1, steps[0]?.[1] ?? 0, 0];
  const [row, column, direction] = episode?.agent[step] ?? [-1, -1, -1];
  return {
    step, line, planned, direction,
    row: episode ? row + episode.top : -1,
    column: episode ? column + episode.left : -1,
    primitive: primitives[code] ?? "",
    action: plan[planned] ? actionText(plan[planned]) : "",
    inventory: episode?.inventory[step] ?? null,
    reward: episode?.reward[step] ?? null,
  };
}

/** @param {{name: string, args: string[]}} action @returns {string} */
function actionText(action) {
  return `${action.name}(${action.args.join(", ")})`;
}

function dataOf(now, last) {
  return {
    "data-step": now.step, "data-steps": last, "data-row": now.row, "data-column": now.column,
    "data-direction": now.direction,
    "data-line": now.line, "data-action": now.action, "data-primitive": now.primitive,
  };
}

/** The keys of the player work all over the page, but not where the focus is on something that has keys of its own. */
function useKeys(playback) {
  const now = useRef(playback);
  now.current = playback;
  useEffect(() => {
    const listen = (event) => {
      if (event.defaultPrevented || (event.shiftKey && event.key !== "+")) return;
      if (event.target.closest("#player, a, button, summary, input, select, textarea, [tabindex='0']")) return;
      playByKey(event, now.current);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

/** Keys of the player; those that the focused control itself needs are left to it. */
function playByKey(event, playback) {
  const {target, key} = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isRange = target.matches("input[type=range]");
  if (target.matches("input:not([type=range]), select, textarea")) return;
  if (key === " " && target.matches("button, summary, a")) return;
  if (isRange && /^(Arrow|Home|End|Page)/.test(key)) return;
  const inCode = target.matches(".code, .plan-list") && /^(Home|End|Page|ArrowUp|ArrowDown)/.test(key);
  const act = inCode ? null : keysOf(playback)[key.length === 1 ? key.toLowerCase() : key];
  if (!act) return;
  event.preventDefault();
  act();
}

function keysOf({step, last, show, toggle, faster}) {
  return {
    " ": toggle, k: toggle,
    ArrowRight: () => show(step + 1), ArrowLeft: () => show(step - 1),
    Home: () => show(0), End: () => show(last),
    "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1),
  };
}

function Unplayable({check}) {
  return h("div", {class: "notice warn"}, "The grids of this attempt cannot be shown. ", check.message);
}

/** Both grids in one frame and one scale. */
function Stage({episode, now, words}) {
  const truth = useMemo(() => new Film(episode.truth), [episode]);
  const known = useMemo(() => new Film(episode.known), [episode]);
  const [hovered, setHovered] = useState(-1);
  const [box, width] = useWidth();
  const ratio = window.devicePixelRatio || 1;
  const {rows, columns} = episode;
  const fit = Math.min(width / columns, stageHeight() / rows, TILE_LIMIT);
  const tile = Math.max(2, Math.floor(fit * ratio));
  const scene = {
    rows, columns, tile, ratio, words,
    view: new Set(episode.view[now.step]), agent: episode.agent[now.step], inventory: now.inventory,
    trail: episode.agent.slice(0, now.step + 1),
  };
  const trueCodes = truth.at(now.step);
  const knownCodes = known.at(now.step);
  const inWords = frameInWords(episode, now.step, trueCodes, words);
  const size = `${rows} by ${columns} cells`;
  return h(Fragment, null,
    h("div", {class: "grids"},
      h("figure", {ref: box},
        h("figcaption", null, "True grid"),
        h(Grid, {scene: {...scene, codes: trueCodes, known: knownCodes}, label: `True grid, ${size}. ${inWords}`,
          onHover: setHovered})),
      h("figure", null,
        h("figcaption", null, "The agent's map"),
        h(Grid, {scene: {...scene, codes: knownCodes, known: null},
          label: `The agent's map, ${size}, ${unseenShare(knownCodes)}. ${inWords}`, onHover: setHovered}))),
    h("p", {class: "hovered small muted"}, hoveredText(episode, hovered, trueCodes, knownCodes, words)));
}

/** Grids that stand one above the other leave room for the controls beneath them. */
function stageHeight() {
  return matchMedia(STACKED).matches ? Math.max(180, 0.31 * innerHeight) : STAGE_HEIGHT;
}

function unseenShare(codes) {
  return `${percent(codes.filter((code) => code === 0).length, codes.length)} unseen`;
}

function hoveredText(episode, cell, trueCodes, knownCodes, words) {
  if (cell < 0 || cell >= trueCodes.length) return "Point at a cell to read what it holds.";
  const row = Math.floor(cell / episode.columns) + episode.top;
  const column = (cell % episode.columns) + episode.left;
  const truth = trueCodes[cell] ? words[trueCodes[cell]] : "outside";
  return `row ${row}, column ${column}: ${truth}; in the map: ${words[knownCodes[cell]]}`;
}

/** @returns {[object, number]} a ref and the width of its element in CSS pixels */
function useWidth() {
  const box = useRef(null);
  const [width, setWidth] = useState(320);
  useLayoutEffect(() => {
    const measure = () => box.current && setWidth(box.current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

function Grid({scene, label, onHover}) {
  const canvas = useRef(null);
  const {rows, columns, tile, ratio} = scene;
  useLayoutEffect(() => {
    const element = canvas.current;
    if (element.width !== columns * tile) element.width = columns * tile;
    if (element.height !== rows * tile) element.height = rows * tile;
    drawGrid(element.getContext("2d"), scene);
  });
  const cellAt = (event) => {
    const column = Math.floor((event.offsetX * ratio) / tile);
    const row = Math.floor((event.offsetY * ratio) / tile);
    onHover(column < columns && row < rows ? row * columns + column : -1);
  };
  return h("canvas", {
    ref: canvas, role: "img", "aria-label": label, onPointerMove: cellAt, onPointerLeave: () => onHover(-1),
    style: {width: `${(columns * tile) / ratio}px`, height: `${(rows * tile) / ratio}px`},
  });
}

const ICONS = {
  first: "M2 3h2v10H2zM14 3v10L5 8z",
  back: "M12 3v10L4 8z",
  on: "M4 3v10l8-5z",
  last: "M12 3h2v10h-2zM2 3v10l9-5z",
};

function Icon({path}) {
  return h("svg", {viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true"},
    h("path", {d: path, fill: "currentColor"}));
}

function Controls({playback, last, now}) {
  const {step, playing, speed, show, toggle, setSpeed} = playback;
  const button = (name, icon, act, ends) => // not `disabled`: keys would be lost with the focus
    h("button", {type: "button", "aria-label": name, title: name, onClick: act, "aria-disabled": String(ends)},
      h(Icon, {path: ICONS[icon]}));
  return h("div", {class: "controls"},
    h("div", {class: "buttons"},
      button("First frame (Home)", "first", () => show(0), step === 0),
      button("One step back (left arrow)", "back", () => show(step - 1), step === 0),
      h("button", {
        type: "button", class: "play", title: "Space or K", onClick: toggle, "aria-disabled": String(last === 0),
      }, playing ? "Pause" : "Play"),
      button("One step on (right arrow)", "on", () => show(step + 1), step === last),
      button("Last frame (End)", "last", () => show(last), step === last)),
    h("label", {class: "scrub"}, h("span", {class: "unseen"}, "Step"),
      h("input", {
        type: "range", min: 0, max: last, step: 1, value: step, disabled: last === 0,
        onInput: (event) => show(Number(event.target.value)),
        "aria-valuetext": `step ${step} of ${last}${now.primitive ? `: ${now.primitive}` : ""}`,
      })),
    h("output", {class: "mono"}, `${step} / ${last}`),
    h("label", {class: "speed"}, "Speed",
      h("input", {type: "range", min: 1, max: FASTEST, step: 1, value: speed,
        onInput: (event) => setSpeed(Number(event.target.value)), "aria-valuetext": `${speed} steps a second`}),
      h("span", {class: "mono"}, `${speed}/s`)));
}

function StateLine({now, last, playing}) {
  const said = stateInWords(now, last);
  return h(Fragment, null,
    h("dl", {class: "facts state"},
      h(Fact, {name: "Step"}, `${now.step} of ${last}`),
      h(Fact, {name: "Primitive"}, h("span", {class: "mono"}, now.primitive || "start")),
      h(Fact, {name: "Position"}, now.direction < 0 ? UNKNOWN : `row ${now.row}, column ${now.column}`),
      h(Fact, {name: "Facing"}, DIRECTION_WORDS[now.direction] ?? UNKNOWN),
      h(Fact, {name: "Carrying"}, now.inventory ?? "nothing"),
      h(Fact, {name: "Reward"}, now.reward == null ? UNKNOWN : String(Number(now.reward.toFixed(4))))),
    h("p", {class: "unseen", "aria-live": "polite"}, playing ? "" : said));
}

function stateInWords(now, last) {
  const done = now.primitive ? `${now.primitive}, for ${now.action}, line ${now.line}` : "before the first step";
  const place = now.direction >= 0
    ? ` Row ${now.row}, column ${now.column}, facing ${DIRECTION_WORDS[now.direction]}.` : "";
  return `Step ${now.step} of ${last}: ${done}.${place}`;
}

function Legend({episode, words}) {
  const present = useMemo(() => wordsOf(episode, words), [episode, words]);
  return h("ul", {class: "legend", "aria-label": "Legend"},
    h("li", null, h(Swatch, {code: "agent"}), "agent"),
    h("li", null, h(Swatch, {code: "unseen"}), "unseen"),
    h("li", null, h(Swatch, {code: "view"}), "in view"),
    h("li", null, h(Swatch, {code: "dimmed"}), "never seen so far"),
    present.map((word) => h("li", {key: word}, h(Swatch, {code: word}), word)),
    h("li", null, "keys: space, arrows, home, end, + -"));
}

function Swatch({code}) {
  const canvas = useRef(null);
  useLayoutEffect(() => {
    const tile = Math.round(18 * (window.devicePixelRatio || 1));
    canvas.current.width = canvas.current.height = tile;
    drawSwatch(canvas.current.getContext("2d"), code, tile);
  }, [code]);
  return h("canvas", {ref: canvas, class: "swatch", "aria-hidden": "true"});
}

function PlanList({attempt, plan, now, show}) {
  const list = useRef(null);
  const begins = useMemo(() => firstSteps(attempt.steps), [attempt]);
  useLayoutEffect(() => {
    const item = list.current?.querySelector("[aria-current]");
    if (item) list.current.scrollTop = item.offsetTop - list.current.offsetTop - list.current.clientHeight / 3;
  }, [now.planned]);
  return h("section", {class: "plan"},
    h("h3", null, "Plan"),
    h("ol", {class: "plan-list", ref: list}, plan.map((action, i) => h("li", {key: i},
      h("button", {
        type: "button", class: "action mono", disabled: !begins.has(i), onClick: () => show(begins.get(i) + 1),
        "aria-current": i === now.planned ? "step" : undefined,
        title: begins.has(i) ? `Go to step ${begins.get(i) + 1}` : "No step of it was executed",
      }, actionText(action))))));
}

/** @returns {Map<number, number>} plan position -> index of its first step */
function firstSteps(steps) {
  const first = new Map();
  steps.forEach(([, planned], i) => first.has(planned) || first.set(planned, i));
  return first;
}

function SourcePanel({attempt, now, text}) {
  const line = now.line || attempt.steps[0]?.[2] || 0;
  const method = useMemo(() => (text && line ? methodAround(text, line) : null), [text, line]);
  if (!text) return h("section", {class: "source"}, h("h3", null, "Source"),
    h("p", {class: "muted"}, "The source of this attempt is missing."));
  if (!line) return h("section", {class: "source"}, h("h3", null, "Source"),
    h("p", {class: "muted"}, "No primitive was executed."));
  const {first, last, name} = method ?? {first: Math.max(1, line - 10), last: line + 10, name: ""};
  return h("section", {class: "source"},
    h("h3", null, "Source ", h("span", {class: "mono"}, name),
      now.line ? h("span", {class: "muted"}, ` line ${now.line}`) : null),
    h(CodeView, {text, first, last, current: now.line, label: `Source of ${name || "the agent"}`}));
}
