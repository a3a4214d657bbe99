// All levels of a run over its time: a block for each, and under it what was done, in a lane for each phase.

const GAP_SHARE = 0.05;
const BREAK_SHARE = 0.03;
const LANES = ["plan", "solve", "code", "act"];
const ENDS = ["", "failed", "open"];
const LANE = 16;
const WIDE = 1e5;
const ZOOMS = [1, 2, 4, 8, 16, 32, 64];
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const TIMELINE_HINT = "A block is a level; striped blocks and split bars failed, lines begin further rounds. " +
  "Point at a level or go through them with the arrow keys; the same figures are in the table of levels.";

/** @returns {[number, number][]} when something was done in a level, as beginnings and ends */
function workOf(row) {
  if (row.spans.length) return row.spans.map(({start, seconds: long}) => [start, start + long]);
  return row.started == null ? [] : [[row.started, row.started + (row.seconds ?? 0)]];
}

/** @returns {[number, number][]} the stretches in which anything was done, in order */
function busyStretches(rows) {
  const busy = [];
  for (const [start, end] of rows.flatMap(workOf).sort((a, b) => a[0] - b[0])) {
    const last = busy.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else busy.push([start, end]);
  }
  return busy;
}

/**
 * Time -> place on the axis (0 to 1). Long stretches in which nothing was done (a killed run that went on later) are
 * cut short.
 * @returns {{at: (t: number) => number, whole: number, stretches: number[][], breaks: {x: number, seconds: number}[]}}
 *   `whole` is the length of the axis in seconds, `stretches` are the beginnings and ends of what is not cut
 */
function timeScale(rows) {
  const busy = busyStretches(rows);
  const work = sum(busy, ([start, end]) => end - start) || 1;
  const knots = [];
  const stretches = [];
  const breaks = [];
  let x = 0;
  busy.forEach(([start, end], i) => {
    const idle = i ? start - busy[i - 1][1] : 0;
    const isCut = idle > GAP_SHARE * work;
    if (isCut) breaks.push({x, wide: BREAK_SHARE * work, seconds: idle});
    if (isCut || !i) stretches.push([start, end]);
    else stretches.at(-1)[1] = end;
    x += isCut ? BREAK_SHARE * work : idle;
    knots.push([start, x], [end, x + end - start]);
    x += end - start;
  });
  const whole = x || 1;
  const at = (t) => {
    const after = knots.findIndex(([time]) => time >= t);
    if (after < 0) return 1;
    if (after === 0) return 0;
    const [[t0, x0], [t1, x1]] = [knots[after - 1], knots[after]];
    return (x0 + (t1 > t0 ? ((t - t0) / (t1 - t0)) * (x1 - x0) : 0)) / whole;
  };
  return {at, whole, stretches, breaks: breaks.map((gap) => ({...gap, x: gap.x / whole, wide: gap.wide / whole}))};
}

/**
 * One path for each phase and way to end: thousands of spans cost a dozen elements; those that would touch become
 * one.
 */
function lanePaths(rows, scale, zoom) {
  const bars = new Map(LANES.flatMap((phase) => ENDS.map((end) => [`${phase} ${end}`, []])));
  for (const [span, row] of rows.flatMap((each) => each.spans.map((span) => [span, each]))) {
    const found = bars.get(`${span.phase} ${endOf(row, span)}`);
    if (!found) continue;
    const x = WIDE * scale.at(span.start);
    const end = Math.max(WIDE * scale.at(span.start + span.seconds), x + 100 / zoom);
    const last = found.at(-1);
    if (last && x >= last[0] && x - last[1] < 40 / zoom) last[1] = Math.max(last[1], end);
    else found.push([x, end]);
  }
  return [...bars].map(([key, found], i) => {
    const top = Math.floor(i / ENDS.length) * LANE + 2;
    const rect = ([x, end], y, high) => `M${x.toFixed(1)} ${y}H${end.toFixed(1)}v${high}H${x.toFixed(1)}z`;
    const isSplit = key.endsWith("failed");
    return [key, found.map((bar) => (isSplit ? rect(bar, top, 5) + rect(bar, top + 7, 5)
      : rect(bar, top, 12))).join("")];
  });
}

/** Lines where the second and later rounds of a level begin. */
function roundLines(rows, scale) {
  return rows.flatMap((row) => {
    const first = new Map();
    for (const {round, start} of row.spans) if (!first.has(round)) first.set(round, start);
    const later = [...first.values()].slice(1);
    return later.map((start) => `M${(WIDE * scale.at(start)).toFixed(1)} 0v${LANES.length * LANE}`);
  }).join("");
}

function ticksOf(scale, zoom) {
  const target = scale.whole / (7 * zoom);
  const step = TICKS.find((size) => size >= target) ?? 86400 * Math.ceil(target / 86400);
  const ticks = [];
  for (const [start, end] of scale.stretches) {
    for (let t = Math.ceil((start - step / 20) / step) * step; t <= end; t += step) ticks.push(t);
  }
  return ticks;
}

function describeLevel(row) {
  const phases = LANES.filter((phase) => row.durations[phase]);
  const parts = phases.map((phase) => `${phase} ${seconds(row.durations[phase])}`);
  return `Level ${row.number}, ${row.env_id}: ${OUTCOMES[row.outcome][1]}, ${plural(row.rounds, "round")}, ` +
    `${plural(row.attempts, "attempt")}, ${seconds(row.seconds)}${parts.length ? ` (${parts.join(", ")})` : ""}`;
}

function TimelineLevels({rows, scale, k, tell}) {
  const [current, setCurrent] = useState(rows[0].number);
  const at = Math.max(0, rows.findIndex((row) => row.number === current));
  const step = (event) => {
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1}[event.key];
    if (to === undefined || !rows[to]) return;
    event.preventDefault();
    setCurrent(rows[to].number);
    event.currentTarget.children[to].focus();
  };
  return h("div", {class: "tl-levels", role: "group", onKeyDown: step,
    "aria-label": "Levels in time; arrow keys go from one to the next"}, rows.map((row, i) => {
    const work = workOf(row);
    const left = scale.at(Math.min(row.started ?? Infinity, ...work.map(([start]) => start)));
    const right = scale.at(Math.max(...work.map(([, end]) => end)));
    return h("a", {key: row.number, href: addressOf(k, row.number), class: `is-${row.outcome}`,
      "aria-label": describeLevel(row), tabIndex: i === at ? 0 : -1,
      style: {left: `${100 * left}%`, width: `${100 * (right - left)}%`},
      onMouseEnter: () => tell(row), onFocus: () => (tell(row), setCurrent(row.number))});
  }));
}

function TimelineLanes({rows, scale, zoom}) {
  const viewBox = `0 0 ${WIDE} ${LANES.length * LANE}`;
  return h("svg", {class: "tl-lanes", viewBox, preserveAspectRatio: "none", "aria-hidden": "true"},
    h("path", {class: "tl-round", d: roundLines(rows, scale)}),
    lanePaths(rows, scale, zoom).map(([key, d]) => h("path", {key, class: `tl-${key.replace(" ", " tl-")}`, d})));
}

function Timeline({run, k}) {
  const [zoom, setZoom] = useState(1);
  const [shown, tell] = useState(null);
  const scroller = useRef(null);
  const rows = useMemo(() => run.levels.filter((row) => workOf(row).length), [run.levels]);
  const scale = useMemo(() => timeScale(rows), [rows]);
  const blocks = useMemo(() => rows.length > 0 && h(TimelineLevels, {rows, scale, k, tell}), [rows, k]);
  const lanes = useMemo(() => h(TimelineLanes, {rows, scale, zoom}), [rows, zoom]);
  if (!rows.length) return null;

  const turn = (to) => {
    const box = scroller.current;
    const middle = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
    setZoom(to);
    requestAnimationFrame(() => (box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2));
  };
  const i = ZOOMS.indexOf(zoom);
  const tools = h("div", {class: "choice", role: "group", "aria-label": "Zoom"},
    h(Button, {label: "Zoom out", can: i > 0, act: () => turn(ZOOMS[i - 1])}, "−"),
    h(Button, {label: "Zoom in", can: i < ZOOMS.length - 1, act: () => turn(ZOOMS[i + 1])}, "+"),
    h(Button, {label: "Whole run", can: i > 0, act: () => turn(1)}, "whole run"));
  return h(Section, {id: "timeline", title: "Timeline", tools},
    h("div", {class: "timeline"},
      h("div", {class: "tl-names", "aria-hidden": "true"},
        ["levels", ...LANES].map((name) => h("span", {key: name}, name))),
      h("div", {class: "tl-scroll", ref: scroller, onMouseLeave: () => tell(null)},
        h("div", {class: "tl-body", style: {width: `${100 * zoom}%`}},
          blocks,
          lanes,
          scale.breaks.map((gap) => h("div",
            {key: gap.x, class: "tl-break", title: `${seconds(gap.seconds)} without work, cut`,
            style: {left: `${100 * gap.x}%`, width: `${100 * gap.wide}%`}},
              h("span", null, `${seconds(gap.seconds)} idle`))),
          h("div", {class: "tl-axis", "aria-hidden": "true"}, ticksOf(scale, zoom).map((t) =>
            h("span", {key: t, style: {left: `${100 * scale.at(t)}%`}}, seconds(t))))))),
    h("p", {class: "muted small"}, shown ? describeLevel(shown) : TIMELINE_HINT));
}
