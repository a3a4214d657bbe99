// Plots over the levels of a run. Each has its figures in a table too.

/** @param {string} name of a CSS variable @returns {string} its present value */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Labels of an axis of levels: the first, and round numbers. */
function roundNumbers(value) {
  const labels = this.chart.data.labels;
  const room = Math.max(2, this.chart.width / 48);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((size) => labels.length / size <= room) ?? 5000;
  const n = labels[value];
  return n % step === 0 || value === 0 ? n : undefined;
}

/** Options that all plots share: levels along the x axis, no animation, colours of the page. */
function plotOptions({rows, xTitle, yTitle, stacked = false, right = null, go, k}) {
  const [text, line] = [colour("muted"), colour("line")];
  const axis = (title, more = {}) => ({stacked, beginAtZero: true, grid: {color: line}, border: {color: line},
    ticks: {color: text, maxTicksLimit: 9}, title: {display: true, text: title, color: text}, ...more});
  return {
    font: {family: colour("sans")}, animation: false, responsive: true, maintainAspectRatio: false,
    interaction: {mode: "index", intersect: false},
    onClick: (event, elements) => {
      const row = rows[elements[0]?.index];
      if (row && go) go(address(k, row.number));
    },
    onHover: (event, elements) => {
      event.native.target.style.cursor = go && rows[elements[0]?.index] ? "pointer" : "default";
    },
    scales: {
      x: {...axis(xTitle), grid: {display: false}, ticks: {color: text, autoSkip: false, maxRotation: 0,
        callback: roundNumbers}},
      y: axis(yTitle, {ticks: {color: text, precision: 0, maxTicksLimit: 7}}),
      ...(right && {right: axis(right, {position: "right", stacked: false, grid: {display: false}})}),
    },
    plugins: {
      legend: {labels: {color: colour("text"), boxWidth: 22, boxHeight: 9, usePointStyle: !stacked,
        pointStyle: "line"}},
      tooltip: {callbacks: {title: ([item]) => rows[item?.dataIndex] ?
        `${rows[item.dataIndex].number} ${rows[item.dataIndex].env_id}` : `${item?.label ?? ""}`}},
    },
  };
}

const lineSet = (label, name, data, more = {}) => ({type: "line", label, data, borderColor: colour(name),
  backgroundColor: colour(name), borderWidth: 2, pointRadius: 0, pointHitRadius: 6, pointHoverRadius: 4, ...more});
const barSet = (label, name, data) => ({label, data, backgroundColor: colour(name), barPercentage: 1,
  categoryPercentage: 0.92, stack: "one"});

/**
 * A chart on a canvas, redrawn with every change of its data and of the page's colours.
 * @param {{label: string, make: () => object}} props `make` gives Chart.js's data and options, with the present colours
 */
function Canvas({label, make}) {
  const canvas = useRef(null);
  const chart = useRef(null);
  const made = useRef(make);
  made.current = make;
  useEffect(() => {
    const draw = () => {
      const {data, options} = made.current();
      chart.current?.destroy();
      chart.current = new Chart(canvas.current, {type: "bar", data, options});
    };
    // Charts take a while, and most are further down than a reader ever goes.
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      draw();
    }, {rootMargin: "300px"});
    seen.observe(canvas.current);
    const redraw = () => chart.current && draw();
    addEventListener("themechange", redraw);
    return () => {
      seen.disconnect();
      removeEventListener("themechange", redraw);
      chart.current?.destroy();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    if (!chart.current) return;
    Object.assign(chart.current, made.current());
    chart.current.update("none");
  }, [make]);
  return h("div", {class: "canvas"}, h("canvas", {ref: canvas, role: "img", "aria-label": label}));
}

/** The figures of a plot, made when they are asked for. */
function Figures({caption, names, rows}) {
  const [open, setOpen] = useState(false);
  return h("details", {class: "fold", onToggle: (event) => setOpen(event.target.open)},
    h("summary", null, "Figures"),
    open && h("div", {class: "scroll figures-table", role: "region", "aria-label": caption, tabIndex: 0},
      h("table", {class: "levels"}, h("caption", {class: "unseen"}, caption),
        h("thead", null, h("tr", null, names.map((name, i) =>
          h("th", {key: i, scope: "col", class: i > 1 && "number"}, name)))),
        h("tbody", null, rows.map((row, i) => h("tr", {key: i}, row.map((cell, j) =>
          h("td", {key: j, class: j > 1 && "number"}, cell))))))));
}

function Plot({title, note, label, make, names, rows, empty}) {
  const id = `plot-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return h("figure", {class: classes("plot", empty && "is-empty"), "aria-labelledby": id},
    h("figcaption", null, h("h3", {id}, title), h("p", {class: "muted"}, note)),
    empty ? h("p", {class: "empty"}, empty)
      : h(Fragment, null, h(Canvas, {label, make}), h(Figures, {caption: title, names, rows})));
}

/** @returns {number[]} how many were solved after each */
function cumulated(outcomes) {
  let solved = 0;
  return outcomes.map((outcome) => (solved += outcome === "success" ? 1 : 0));
}

/** The other runs that a run is compared with, and how many levels they had solved after each of theirs. */
function otherCurves(report, run) {
  return report.comparisons.filter(({a, b}) => (a === run.id) !== (b === run.id)).map((pair) => {
    const [name, side] = pair.a === run.id ? [pair.b, "b"] : [pair.a, "a"];
    const sides = pair.levels.map((level) => level[side]).filter((one) => one && one.outcome !== "pending");
    sides.sort((one, two) => (one.number ?? 0) - (two.number ?? 0));
    return {name, solved: cumulated(sides.map(({outcome}) => outcome))};
  });
}

function SuccessPlot({report, run, rows, k, go}) {
  const own = cumulated(rows.map((row) => row.outcome));
  const others = otherCurves(report, run);
  const long = Math.max(own.length, ...others.map(({solved}) => solved.length));
  const labels = Array.from({length: long}, (_, i) => i + 1);
  const make = useCallback(() => ({
    data: {labels, datasets: [
      lineSet(run.id, "accent", own, {stepped: true}),
      ...others.map(({name, solved}, i) => lineSet(name, ["code", "solve", "act"][i % 3], solved,
        {stepped: true, borderDash: [6, 3]})),
      lineSet("every level solved", "muted", labels, {borderWidth: 1, borderDash: [2, 3], pointHitRadius: 0}),
    ]},
    options: plotOptions({rows, xTitle: "levels finished", yTitle: "levels solved", go, k}),
  }), [report, run]);
  return h(Plot, {title: "Levels solved", note: "Cumulative, in the order of the run",
    label: `Levels solved against levels finished: ${own.at(-1) ?? 0} of ${own.length}` +
      others.map(({name, solved}) => `; ${name}: ${solved.at(-1) ?? 0} of ${solved.length}`).join(""), make,
    names: ["#", "Level", run.id, ...others.map(({name}) => name)],
    rows: labels.map((n, i) => [n, rows[i]?.env_id ?? "", own[i] ?? UNKNOWN,
      ...others.map(({solved}) => solved[i] ?? UNKNOWN)])});
}

/** Stacked bars, one per level. `parts` are [label, colour, value of a row]. */
function BarsPlot({title, note, yTitle, parts, rows, k, go, written = count, empty}) {
  const totals = parts.map(([, , value]) => sum(rows, value));
  const make = useCallback(() => ({
    data: {
      labels: rows.map((row) => row.number),
      datasets: parts.map(([label, name, value]) => barSet(label, name, rows.map(value))),
    },
    options: plotOptions({rows, xTitle: "level", yTitle, stacked: true, go, k}),
  }), [rows]);
  return h(Plot, {title, note, make, empty: totals.some(Boolean) ? "" : empty,
    label: `${title} per level; in all ${parts.map(([label], i) => `${label} ${written(totals[i])}`).join(", ")}`,
    names: ["#", "Level", ...parts.map(([label]) => label)],
    rows: rows.map((row) => [row.number, row.env_id, ...parts.map(([, , value]) => written(value(row)))])});
}

function LibraryPlot({rows, k, go}) {
  const told = rows.filter((row) => row.library);
  const make = useCallback(() => ({
    data: {labels: told.map((row) => row.number), datasets: [
      lineSet("actions", "accent", told.map((row) => row.library.actions), {stepped: true}),
      lineSet("methods", "act", told.map((row) => row.library.methods), {stepped: true, borderDash: [6, 3]}),
      lineSet("kB of source", "code", told.map((row) => row.library.bytes / 1000),
        {stepped: true, borderDash: [2, 2], yAxisID: "right"}),
    ]},
    options: plotOptions({rows: told, xTitle: "level", yTitle: "actions and methods", right: "kB", go, k}),
  }), [rows]);
  const last = told.at(-1)?.library;
  return h(Plot, {title: "Library", note: "What the agent had learned after each level", make,
    empty: last ? "" : "The library's size was not recorded.",
    label: last && `Growth of the library, to ${plural(last.actions, "action")}, ` +
      `${plural(last.methods, "method")} and ${bytes(last.bytes)}`,
    names: ["#", "Level", "actions", "methods", "bytes"],
    rows: told.map((row) => [row.number, row.env_id, row.library.actions, row.library.methods,
      count(row.library.bytes)])});
}

const CALL_PARTS = [["planner", "plan", (row) => row.planner_calls], ["coder", "code", (row) => row.coder_calls]];
const TOKEN_PARTS = [["input", "plan", (row) => row.usage.input_tokens],
  ["reasoning", "solve", (row) => row.usage.reasoning_tokens],
  ["answers", "code", (row) => Math.max(0, row.usage.output_tokens - row.usage.reasoning_tokens)]];
const TIME_PARTS = ["plan", "solve", "code", "act"].map((phase) => [phase, phase, (row) => row.durations[phase] ?? 0]);

/** Every plot of a run. */
function Plots({report, run, k, go: open}) {
  const go = run.published ? null : open;
  const rows = useMemo(() => run.levels.filter(({outcome}) => outcome === "success" || outcome === "fail"),
    [run.levels]);
  if (!rows.length) return null;
  const bars = (title, note, yTitle, parts, more) => h(BarsPlot, {title, note, yTitle, parts, rows, k, go, ...more});
  return h("section", {"aria-labelledby": "plots"}, h("h2", {id: "plots"}, "Plots"),
    go && h("p", {class: "muted"}, "A click on a plot opens the level there."),
    h("div", {class: "plots"},
      h(SuccessPlot, {report, run, rows, k, go}),
      bars("Calls", "Of planner and coder, per level", "calls", CALL_PARTS, {empty: "No calls were recorded."}),
      !run.published && bars("Tokens", "Read and written by the models, per level", "tokens", TOKEN_PARTS,
        {empty: "No tokens were counted: the models of this run have none, or did not tell."}),
      !run.published && h(LibraryPlot, {rows, k, go}),
      !run.published && bars("Time", "By phase, per level", "seconds", TIME_PARTS,
        {written: seconds, empty: "No times were recorded."})));
}
