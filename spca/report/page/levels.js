// The levels of a run: their table with its filters, and their timeline.

const SHOWN = {
  all: ["all", () => true],
  failed: ["failed", (row) => row.outcome === "fail"],
  solved: ["solved", (row) => row.outcome === "success"],
  unfinished: ["unfinished", (row) => row.outcome !== "fail" && row.outcome !== "success"],
};
const CHECKS = {
  equal: ["=", "good", "re-simulation equals the recording"],
  different: ["≠", "bad", "re-simulation differs from the recording"],
  unrecorded: ["?", "", "the recording has no state hashes to compare with"],
};
const OPEN = "outcome not recorded yet";
const MARKS = {writer: ["W", "plan of a stored problem writer, without a call"], plan: ["P", "planner call"],
  code: ["C", "coder call"], act: ["A", "attempt"]};
/** Marks of a round that are shown at once, by how many rounds there are; the rest are counted. */
const MARKS_AT_ONCE = (rounds) => (rounds < 3 ? 10 : 3);

const calls = (row) => row.planner_calls + row.coder_calls;
const ORDER = ["fail", "aborted", "running", "success", "pending"];
const COLUMNS = [
  {key: "number", name: "#", number: true, value: (row) => row.number},
  {key: "env_id", name: "Level", value: (row) => row.env_id},
  {key: "category", name: "Category", value: (row) => row.category},
  {key: "outcome", name: "Outcome", value: (row) => ORDER.indexOf(row.outcome)},
  {key: "rounds", name: "Rounds", value: (row) => row.rounds * 1000 + row.attempts},
  {key: "calls", name: "Calls", number: true, value: calls},
  {key: "tokens", name: "Tokens", number: true, value: (row) => tokensOf(row.usage)},
  {key: "reasoning", name: "Reasoning", number: true, value: (row) => row.usage.reasoning_tokens},
  {key: "cost", name: "Cost", number: true, value: (row) => row.usage.cost_usd},
  {key: "steps", name: "Steps", number: true, value: (row) => row.steps ?? -1},
  {key: "time", name: "Time", number: true, value: (row) => row.seconds ?? -1},
  {key: "check", name: "Replay", value: (row) => row.check},
];

/** The columns for which a run has values: replays are checked when a page is made, not when it is served. */
function columnsOf(run) {
  const without = {check: live || run.published, reasoning: !run.published && !run.usage.reasoning_tokens};
  return COLUMNS.filter(({key}) => !without[key]);
}

const OVERVIEWS = new Map();

/** @param {number} k @returns {string} the address of a run's overview, with the filters it had last */
function overviewAddress(k) {
  return OVERVIEWS.get(k) ?? address(k);
}

/** @returns {object[]} the levels that the choices leave, in the order they ask for */
function chosenLevels(levels, query) {
  const [, fits] = SHOWN[query.get("show")] ?? SHOWN.all;
  const category = query.get("category");
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const column = COLUMNS.find(({key}) => key === query.get("sort"));
  const kept = levels.filter((row) => {
    if (!fits(row) || (category && row.category !== category)) return false;
    const text = words.length ? `${row.env_id} ${row.level} ${row.category} ${row.writer} ${row.reason}`.toLowerCase() : "";
    return words.every((word) => text.includes(word));
  });
  return column ? sorted(kept, column.value, query.get("down") === "1") : kept;
}

function Filters({run, query, choose, matches}) {
  const show = SHOWN[query.get("show")] ? query.get("show") : "all";
  const options = Object.entries(SHOWN).map(([key, [text, fits]]) => [key, text, run.levels.filter(fits).length]);
  return h("div", {class: "filters"},
    h(Choice, {name: "Show levels", options, chosen: show, choose: (key) => choose("show", key === "all" ? "" : key)}),
    h("label", null, h("span", null, "Category"),
      h("select", {value: query.get("category") ?? "", onChange: (event) => choose("category", event.target.value)},
        h("option", {value: ""}, "every category"),
        run.categories.map(({name}) => h("option", {key: name, value: name}, name)))),
    h(Search, {query, choose, hint: "level, writer or reason"}),
    h("label", {class: "sort-by"}, h("span", null, "Sort by"),
      h("select", {value: query.get("sort") ?? "number", onChange: (event) => choose("sort", event.target.value)},
        columnsOf(run).map(({key, name}) => h("option", {key, value: key}, name)))),
    h("p", {class: "matches", role: "status"}, `${count(matches)} of ${plural(run.levels.length, "level")}`));
}

/** How a span ended: "" well, "failed", or "open": attempts are recorded with the end of their level. */
function endOf(row, {phase, status}) {
  const open = phase === "act" && (row.outcome === "running" || row.outcome === "aborted");
  if (open && (!status || status === row.outcome)) return "open";
  return status && status !== "success" ? "failed" : "";
}

/** @returns {{number: number, marks: {phase: string, status: string, end: string}[]}[]} what happened, by round */
function roundsOf(row) {
  const rounds = new Map();
  for (const span of row.spans) {
    const {phase, round, status} = span;
    const last = rounds.get(round)?.marks.at(-1);
    if (phase === "solve" && status && last?.phase === "plan" && !last.status) { // an answer without a plan
      Object.assign(last, {status, end: "failed"});
    }
    if (!MARKS[phase]) continue;
    if (!rounds.has(round)) rounds.set(round, {number: round, marks: []});
    const {marks} = rounds.get(round);
    // Round 0 belongs to stored writers, whose plans leave no span of their own; each ends in its attempt.
    if (!round && phase !== "plan" && (!last || last.phase === "act")) marks.push({phase: "writer", status: "", end: ""});
    marks.push({phase, status, end: endOf(row, span)});
  }
  return [...rounds.values()];
}

function shortened(marks, atOnce) {
  if (marks.length <= atOnce + 1) return marks;
  const tail = Math.floor(atOnce / 3);
  return [...marks.slice(0, atOnce - tail), {phase: "more", n: marks.length - atOnce},
    ...marks.slice(-tail)];
}

function Mark({phase, status, end, n}) {
  if (phase === "more") return h("i", {class: "more"}, `+${n}`);
  const [letter, name] = MARKS[phase];
  const told = end === "open" ? OPEN : firstLine(status);
  return h("i", {class: classes("mark", `p-${phase}`, end), title: name + (told && `: ${told}`)}, letter);
}

/** The rounds of a level as marks, by their letters in MARKS; those that failed are crossed. */
function Strip({row}) {
  const rounds = roundsOf(row);
  if (!rounds.length) return row.rounds ? plural(row.rounds, "round") : UNKNOWN;
  const failed = (marks) => marks.filter(({end}) => end === "failed").length;
  const told = rounds.map(({number, marks}) => `${number ? `round ${number}` : "stored writers"}: ` +
    marks.map(({phase}) => MARKS[phase][0]).join(" ") + (failed(marks) ? `, ${failed(marks)} failed` : "")).join("; ");
  const atOnce = MARKS_AT_ONCE(rounds.length);
  return h("span", {class: "strip", role: "img", "aria-label": told}, rounds.map(({number, marks}) =>
    h("span", {class: "round", key: number}, shortened(marks, atOnce).map((mark, i) => h(Mark, {key: i, ...mark})))));
}

function CheckMark({check}) {
  const found = CHECKS[check];
  if (!found) return h("span", {class: "muted", title: "not re-simulated"}, UNKNOWN);
  return h("span", {class: classes("check", found[1]), title: found[2]},
    h("span", {"aria-hidden": "true"}, found[0]), h("span", {class: "unseen"}, found[2]));
}

/** The name of a level, which leads to it where there is more to see. */
function LevelName({run, row, k}) {
  return run.published ? row.env_id : h("a", {href: address(k, row.number)}, row.env_id);
}

function LevelLine({run, row, k}) {
  const cell = (key, content, number = false) => {
    const column = COLUMNS.find((one) => one.key === key);
    return h("td", {role: "cell", class: classes(`c-${key}`, number && "number"), "data-name": column.name}, content);
  };
  const begun = row.outcome !== "pending";
  const number = (key, text) => cell(key, begun ? text : UNKNOWN, true);
  const reason = row.outcome !== "success" && row.reason ? firstLine(row.reason) : "";
  return h("tr", {role: "row", class: `is-${row.outcome}`, "data-level": row.number},
    cell("number", row.number, true),
    h("th", {scope: "row", role: "rowheader", class: "c-env_id"},
      h(LevelName, {run, row, k}),
      row.begun > 1 && h("span", {class: "badge warn", title: "begun again after the process was killed"},
        `begun ${row.begun} times`),
      row.corrections.length > 0 && h("span", {class: "badge", title: row.corrections.join(", ")}, "corrected"),
      reason && h("div", {class: "reason"}, reason)),
    cell("category", row.category), cell("outcome", h(Outcome, {outcome: row.outcome})),
    cell("rounds", begun ? [h(Strip, {row}), row.writer && h(WriterLink, {run, k, label: row.writer})] : UNKNOWN),
    number("calls", count(calls(row))),
    number("tokens", run.published ? UNKNOWN : tokenText(row.usage)),
    columnsOf(run).some(({key}) => key === "reasoning") &&
      number("reasoning", run.published ? UNKNOWN : count(row.usage.reasoning_tokens)),
    number("cost", run.published ? UNKNOWN : usd(row.usage.cost_usd, row.usage.cost_unknown)),
    number("steps", count(row.steps)), number("time", seconds(row.seconds)),
    columnsOf(run).some(({key}) => key === "check") && cell("check", h(CheckMark, {check: row.check})));
}

/** The table of levels and its filters, which stand in the address. */
function LevelTable({run, k, query, go}) {
  const base = address(k);
  const choose = useChoices(base, query, go);
  const text = query.toString();
  OVERVIEWS.set(k, text ? `${base}?${text}` : base);
  const rows = useMemo(() => chosenLevels(run.levels, query), [run.levels, text]);
  // The same nodes again: preact then leaves rows alone that only change their place.
  const lines = useMemo(() => new Map(run.levels.map((row) => [row, h(LevelLine, {key: row.number, run, row, k})])),
    [run.levels, run.published, k]);
  const [shownRows, more] = useGrowing(rows);
  return h("section", {"aria-labelledby": "levels"}, h("h2", {id: "levels", tabIndex: -1}, "Levels"),
    h(Filters, {run, query, choose, matches: rows.length}),
    h("div", {class: "scroll c-levels", role: "region", "aria-label": "Table of levels", tabIndex: 0},
      h("table", {class: "levels", role: "table"},
        h("thead", {role: "rowgroup"}, h("tr", {role: "row"},
          columnsOf(run).map((column) => h(SortHeading, {key: column.key, column, query, go, base})))),
        h("tbody", {role: "rowgroup"}, shownRows.map((row) => lines.get(row))))),
    more, !rows.length && h("p", {class: "empty"}, "No level fits these filters."),
    h("p", {class: "key"}, "Rounds: ", Object.entries(MARKS).filter(([phase]) => phase !== "writer" || run.writers.length).map(([phase, [letter, name]]) =>
      h("span", {key: phase}, h("i", {class: `mark p-${phase}`}, letter), ` ${name} `)),
    h("span", null, h("i", {class: "mark p-act failed"}, "A"), " failed"),
    run.levels.some((row) => row.spans.some((span) => endOf(row, span) === "open")) &&
      h("span", null, h("i", {class: "mark p-act open"}, "A"), ` ${OPEN}`)));
}

const GAP_SHARE = 0.05;
const BREAK_SHARE = 0.015;
const LANES = ["plan", "solve", "code", "act"];
const ENDS = ["", "failed", "open"];
const LANE = 16;
const TIMELINE_HINT = "A block is a level; striped blocks and split bars failed, lines begin further rounds. " +
  "Point at a level or go through them with the arrow keys; the same figures are in the table below.";
const ZOOMS = [1, 2, 4, 8, 16, 32, 64];

/** @returns {[number, number][]} when something was done in a level, as beginnings and ends */
function workOf(row) {
  if (row.spans.length) return row.spans.map(({start, seconds: long}) => [start, start + long]);
  return row.started == null ? [] : [[row.started, row.started + (row.seconds ?? 0)]];
}

/**
 * Time -> place on the axis (0 to 1). Long stretches in which nothing was done (a killed run that went on later) are
 * cut short.
 * @returns {{at: (t: number) => number, whole: number, stretches: number[][], breaks: {x: number, seconds: number}[]}}
 *   `whole` is the length of the axis in seconds, `stretches` are the beginnings and ends of what is not cut
 */
function timeScale(rows) {
  const busy = [];
  for (const [start, end] of rows.flatMap(workOf).sort((a, b) => a[0] - b[0])) {
    const last = busy.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else busy.push([start, end]);
  }
  const work = sum(busy, ([start, end]) => end - start) || 1;
  const knots = [];
  const stretches = [];
  const breaks = [];
  let x = 0;
  busy.forEach(([start, end], i) => {
    const idle = i ? start - busy[i - 1][1] : 0;
    const cut = idle > GAP_SHARE * work;
    if (cut) breaks.push({x: x + BREAK_SHARE * work / 2, seconds: idle});
    if (cut || !i) stretches.push([start, end]);
    else stretches.at(-1)[1] = end;
    x += cut ? BREAK_SHARE * work : idle;
    knots.push([start, x], [end, x + end - start]);
    x += end - start;
  });
  const whole = x || 1;
  const at = (t) => {
    let low = 0;
    let high = knots.length - 1;
    if (high < 0 || t <= knots[0][0]) return 0;
    if (t >= knots[high][0]) return 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (knots[middle][0] <= t) low = middle;
      else high = middle;
    }
    const [[t0, x0], [t1, x1]] = [knots[low], knots[high]];
    return (x0 + (t1 > t0 ? ((t - t0) / (t1 - t0)) * (x1 - x0) : 0)) / whole;
  };
  return {at, whole, stretches, breaks: breaks.map((gap) => ({...gap, x: gap.x / whole}))};
}

const WIDE = 1e5;

/**
 * One path per phase and way to end: thousands of spans cost a dozen elements. Spans that would touch
 * each other on the screen become one.
 */
function lanePaths(rows, scale, zoom) {
  const [least, near] = [100 / zoom, 40 / zoom];
  const bars = new Map(LANES.flatMap((phase) => ENDS.map((end) => [`${phase} ${end}`.trim(), []])));
  const spans = rows.flatMap((row) => row.spans.map((span) => [span, endOf(row, span)]));
  for (const [{phase, start, seconds: long}, ending] of spans) {
    const found = bars.get(`${phase} ${ending}`.trim());
    if (!found) continue;
    const x = WIDE * scale.at(start);
    const end = Math.max(WIDE * scale.at(start + long), x + least);
    const last = found.at(-1);
    if (last && x >= last[0] && x - last[1] < near) last[1] = Math.max(last[1], end);
    else found.push([x, end]);
  }
  return [...bars].map(([key, found], i) =>
    [key, found.map(([x, end]) => barPath(x, end, Math.floor(i / ENDS.length), key.endsWith("failed"))).join("")]);
}

function barPath(x, end, lane, failed) {
  const rect = (y, high) => `M${x.toFixed(1)} ${y}H${end.toFixed(1)}v${high}H${x.toFixed(1)}z`;
  const top = lane * LANE + 2;
  return failed ? rect(top, 5) + rect(top + 7, 5) : rect(top, 12);
}

/** Lines where the second and later rounds of a level begin. */
function roundLines(rows, scale) {
  return rows.flatMap((row) => {
    const first = new Map();
    for (const {round, start} of row.spans) if (!first.has(round)) first.set(round, start);
    return [...first].slice(1).map(([, start]) => `M${(WIDE * scale.at(start)).toFixed(1)} 0v${LANES.length * LANE}`);
  }).join("");
}

function ticksOf(scale, zoom) {
  const target = scale.whole / (7 * zoom);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  const step = steps.find((size) => size >= target) ?? 86400 * Math.ceil(target / 86400);
  const ticks = [];
  for (const [start, end] of scale.stretches) {
    for (let t = Math.ceil((start - step / 20) / step) * step; t <= end; t += step) ticks.push(t);
  }
  return ticks;
}

const clock = (t) => (t < 3600 ? `${Math.floor(t / 60)}:${String(t % 60).padStart(2, "0")}`
  : `${Math.floor(t / 3600)}:${String(Math.floor((t % 3600) / 60)).padStart(2, "0")} h`);

function aboutLevel(row) {
  const parts = LANES.filter((phase) => row.durations[phase])
    .map((phase) => `${phase} ${seconds(row.durations[phase])}`).join(", ");
  return `Level ${row.number}, ${row.env_id}: ${OUTCOMES[row.outcome]}, ${plural(row.rounds, "round")}, ` +
    `${plural(row.attempts, "attempt")}, ${seconds(row.seconds)}${parts && ` (${parts})`}`;
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
  return h("div", {class: "tl-levels", role: "group",
    "aria-label": "Levels in time; arrow keys go from one to the next", onKeyDown: step},
    rows.map((row, i) => {
      const work = workOf(row);
      const left = scale.at(Math.min(row.started ?? Infinity, ...work.map(([start]) => start)));
      const right = scale.at(Math.max(...work.map(([, end]) => end)));
      return h("a", {key: row.number, href: address(k, row.number), class: `is-${row.outcome}`,
        "aria-label": aboutLevel(row),
        tabIndex: i === at ? 0 : -1, style: {left: `${100 * left}%`, width: `${100 * (right - left)}%`},
        onMouseEnter: () => tell(row), onFocus: () => (tell(row), setCurrent(row.number))});
    }));
}

function TimelineLanes({rows, scale, zoom}) {
  const paths = lanePaths(rows, scale, zoom);
  const viewBox = `0 0 ${WIDE} ${LANES.length * LANE}`;
  return h("svg", {class: "tl-lanes", viewBox, preserveAspectRatio: "none", "aria-hidden": "true"},
    h("path", {class: "tl-round", d: roundLines(rows, scale)}),
    paths.map(([key, d]) => h("path", {key, class: `tl-${key.replace(" ", " tl-")}`, d})));
}

/** All levels over the run's time: a block per level, and under it what was done in a lane per phase. */
function Timeline({run, k}) {
  const [zoom, setZoom] = useState(1);
  const [told, tell] = useState(null);
  const scroller = useRef(null);
  const rows = useMemo(() => run.levels.filter((row) => workOf(row).length), [run.levels]);
  const scale = useMemo(() => timeScale(rows), [rows]);
  const blocks = useMemo(() => rows.length > 0 && h(TimelineLevels, {rows, scale, k, tell}), [rows, k]);
  const lanes = useMemo(() => h(TimelineLanes, {rows, scale, zoom}), [rows, zoom]);
  const turn = (to) => {
    const box = scroller.current;
    const middle = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
    setZoom(to);
    requestAnimationFrame(() => (box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2));
  };
  if (!rows.length) return null;
  const i = ZOOMS.indexOf(zoom);
  // Not `disabled`: a button that has the focus would lose it to nothing.
  const button = (text, can, onClick, label) => h("button",
    {type: "button", "aria-disabled": String(!can), "aria-label": label, onClick: () => can && onClick()}, text);
  return h("section", {"aria-labelledby": "timeline"},
    h("div", {class: "heading"}, h("h2", {id: "timeline"}, "Timeline"),
      h("div", {class: "choice", role: "group", "aria-label": "Zoom"},
        button("−", i > 0, () => turn(ZOOMS[i - 1]), "Zoom out"),
        button("+", i < ZOOMS.length - 1, () => turn(ZOOMS[i + 1]), "Zoom in"),
        button("whole run", i > 0, () => turn(1)))),
    h("div", {class: "timeline"},
      h("div", {class: "tl-names", "aria-hidden": "true"}, h("span", null, "levels"),
        LANES.map((phase) => h("span", {key: phase}, phase))),
      h("div", {class: "tl-scroll", ref: scroller, onMouseLeave: () => tell(null)},
        h("div", {class: "tl-body", style: {width: `${100 * zoom}%`}},
          blocks, lanes,
          scale.breaks.map((gap) => h("div", {key: gap.x, class: "tl-break",
            title: `${seconds(gap.seconds)} without work`, style: {left: `${100 * gap.x}%`}})),
          h("div", {class: "tl-axis", "aria-hidden": "true"}, ticksOf(scale, zoom).map((t) =>
            h("span", {key: t, style: {left: `${100 * scale.at(t)}%`}}, clock(t))))))),
    h("p", {class: "tl-told"}, told ? aboutLevel(told) : TIMELINE_HINT));
}
