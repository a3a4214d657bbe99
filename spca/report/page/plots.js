// Plots over the levels of a run. Each has its figures in a table too.

/** What is done in a level, each in its colour. */
const LANES = ["plan", "solve", "code", "act"];

/** @param {string} name of a CSS variable @returns {string} its present value */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Labels of an axis of levels: the first, and round numbers. */
function roundNumbers(value) {
  const labels = this.chart.data.labels;
  const room = Math.max(2, this.chart.width / 48);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((size) => labels.length / size <= room) ?? 5000;
  return labels[value] % step === 0 || value === 0 ? labels[value] : undefined;
}

/** What all plots share: levels along the x axis, no animation, colours of the page. */
function plotOptions({rows, xTitle = "level", yTitle, stacked = false, right, open}) {
  const text = colour("muted");
  const line = colour("line");
  const axis = (title, more) => ({stacked, beginAtZero: true, grid: {color: line}, border: {color: line},
    ticks: {color: text, precision: 0, maxTicksLimit: 7}, title: {display: true, text: title, color: text}, ...more});
  return {
    font: {family: colour("sans")}, animation: false, responsive: true, maintainAspectRatio: false,
    interaction: {mode: "index", intersect: false},
    onClick: (event, [element]) => rows[element?.index] && open?.(rows[element.index]),
    scales: {
      x: axis(xTitle, {grid: {display: false},
        ticks: {color: text, autoSkip: false, maxRotation: 0, callback: roundNumbers}}),
      y: axis(yTitle),
      ...(right && {right: axis(right, {position: "right", stacked: false, grid: {display: false}})}),
    },
    plugins: {
      legend: {labels: {color: colour("text"), boxWidth: 22, boxHeight: 9, usePointStyle: !stacked,
        pointStyle: "line"}},
      tooltip: {callbacks: {title: ([item]) => {
        const row = rows[item?.dataIndex];
        return row ? `${row.number} ${row.env_id}` : item?.label ?? "";
      }}},
    },
  };
}

/** A line of a plot, or the bars of one part. @param {{label: string, tone: string, data: number[]}} part */
function dataSet({label, tone, data, bars, ...more}) {
  const paint = colour(tone);
  if (bars) return {label, data, backgroundColor: paint, barPercentage: 1, categoryPercentage: 0.92, stack: "one"};
  return {type: "line", label, data, borderColor: paint, backgroundColor: paint, borderWidth: 2, pointRadius: 0,
    pointHitRadius: 6, stepped: true, ...more};
}

/** A chart, redrawn with every change of its data and of the page's colours, and before it is printed. */
function Canvas({label, make}) {
  const canvas = useRef(null);
  useEffect(() => {
    let chart = null;
    const draw = () => {
      chart?.destroy();
      chart = new Chart(canvas.current, {type: "bar", ...make()});
    };
    const redraw = () => chart && draw();
    // Charts take a while, and most are further down than a reader ever goes.
    const drawIfSeen = (entries) => !chart && entries.some((entry) => entry.isIntersecting) && draw();
    const seen = new IntersectionObserver(drawIfSeen, {rootMargin: "300px"});
    seen.observe(canvas.current);
    addEventListener("themechange", redraw);
    addEventListener("beforeprint", draw);
    return () => {
      seen.disconnect();
      removeEventListener("themechange", redraw);
      removeEventListener("beforeprint", draw);
      chart?.destroy();
    };
  }, [make]);
  return h("div", {class: "canvas"}, h("canvas", {ref: canvas, role: "img", "aria-label": label}));
}

/**
 * @param {{title: string, note: string, label: string, series: object[], rows: object[], labels: any[], options:
 * object,
 *   written?: (n: number) => string, empty?: string}} props `series` as {@link dataSet} takes them
 */
function Plot({title, note, label, series, rows, labels, options, written = count, empty, route}) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  const make = useCallback(() => ({data: {labels, datasets: series.map(dataSet)},
    options: plotOptions({rows, ...options})}), [rows]);
  const columns = [
    {key: "number", name: "#", number: true, value: (i) => labels[i]},
    {key: "level", name: "Level", head: true, value: (i) => rows[i]?.env_id ?? ""},
    ...series.map((part) => ({key: part.label, name: part.label, number: true, value: (i) => part.data[i],
      show: (i) => (part.written ?? written)(part.data[i])})),
  ];
  return h("figure", {class: classes("plot", empty && "is-empty"), "aria-labelledby": `plot-${id}`},
    h("figcaption", null, h("h3", {id: `plot-${id}`}, title), h("p", {class: "muted small"}, empty || note)),
    !empty && h(Fragment, null,
      h(Canvas, {label, make}),
      h(Fold, {summary: "Figures"}, () => h("div", {class: "plot-figures"},
        h(Table, {label: title, noun: "level", rows: labels.map((_, i) => i), columns, route, prefix: `${id}.`})))));
}

/** @returns {number[]} how many were solved after each */
function cumulateSolved(outcomes) {
  let solved = 0;
  return outcomes.map((outcome) => (solved += outcome === "success" ? 1 : 0));
}

/** The other runs that a run is compared with, and how many levels they had solved after each of theirs. */
function otherCurves(report, run) {
  return report.comparisons.filter(({a, b}) => (a === run.id) !== (b === run.id)).map((pair) => {
    const [name, side] = pair.a === run.id ? [pair.b, "b"] : [pair.a, "a"];
    const sides = pair.levels.map((level) => level[side]).filter((one) => one && one.outcome !== "pending");
    return {name, solved: cumulateSolved(sortRows(sides, (one) => one.number ?? 0).map(({outcome}) => outcome))};
  });
}

function SolvedPlot({report, run, rows, ...shared}) {
  const own = cumulateSolved(rows.map((row) => row.outcome));
  const others = otherCurves(report, run);
  const labels = Array.from({length: Math.max(own.length, ...others.map(({solved}) => solved.length))},
    (_, i) => i + 1);
  const series = [
    {label: run.id, tone: "accent", data: own},
    ...others.map(({name, solved},
      i) => ({label: name, tone: ["code", "solve", "act"][i % 3], data: solved, borderDash: [6, 3]})),
    {label: "every level solved", tone: "muted", data: labels, borderWidth: 1, borderDash: [2, 3], pointHitRadius: 0},
  ];
  const said = series.slice(0, -1).map(({label, data}) => `${label}: ${data.at(-1) ?? 0} of ${data.length}`).join("; ");
  return h(Plot, {...shared, title: "Levels solved", note: "Cumulative, in the order of the run", labels, rows, series,
    label: `Levels solved against levels finished: ${said}`,
    options: {...shared.options, xTitle: "levels finished", yTitle: "levels solved"}});
}

/** Stacked bars, one for each level; `parts` are [label, colour, value of a row]. */
function BarsPlot({title, note, yTitle, parts, rows, written = count, empty, ...shared}) {
  const series = parts.map(([label, tone, value]) => ({label, tone, data: rows.map(value), bars: true}));
  const totals = series.map(({label, data}) => `${label} ${written(sum(data, (n) => n))}`).join(", ");
  const isEmpty = series.every(({data}) => !data.some(Boolean));
  return h(Plot, {...shared, title, note, written, rows, series, labels: rows.map((row) => row.number),
    empty: isEmpty && empty, label: `${title} of each level; in all ${totals}`,
    options: {...shared.options, yTitle, stacked: true}});
}

function LibraryPlot({rows, ...shared}) {
  const known = rows.filter((row) => row.library);
  const series = [
    {label: "actions", tone: "accent", data: known.map((row) => row.library.actions)},
    {label: "methods", tone: "act", data: known.map((row) => row.library.methods), borderDash: [6, 3]},
    {label: "kB of source", tone: "code", data: known.map((row) => row.library.bytes / 1000), borderDash: [2, 2],
      yAxisID: "right", written: (n) => n.toFixed(1)},
  ];
  return h(Plot, {...shared, title: "Library", note: "What the agent had learned after each level", rows: known, series,
    labels: known.map((row) => row.number), empty: !known.length && "The library's size was not recorded.",
    label: `Growth of the library, to ${known.at(-1)?.library.methods} methods`,
    options: {...shared.options, yTitle: "actions and methods", right: "kB"}});
}

const CALL_PARTS = [["planner", "plan", (row) => row.planner_calls], ["coder", "code", (row) => row.coder_calls]];
const TOKEN_PARTS = [
  ["input", "plan", (row) => row.usage.input_tokens],
  ["reasoning", "solve", (row) => row.usage.reasoning_tokens],
  ["answers", "code", (row) => Math.max(0, row.usage.output_tokens - row.usage.reasoning_tokens)],
];
const TIME_PARTS = LANES.map((phase) => [phase, phase, (row) => row.durations[phase] ?? 0]);

/** Every plot of a run. */
function Plots({report, run, k, route}) {
  const rows = run.levels.filter(({outcome}) => outcome === "success" || outcome === "fail");
  if (!rows.length) return null;
  const open = run.published ? null : (row) => route.go(addressOf(k, row.number));
  const shared = {rows, route, options: {open}};
  return h(Section, {id: "plots", title: "Plots", note: open && "A click on a plot opens the level there."},
    h("div", {class: "plots"},
      h(SolvedPlot, {...shared, report, run}),
      h(BarsPlot, {...shared, title: "Calls", note: "Of planner and coder, level by level", yTitle: "calls",
        parts: CALL_PARTS,
        empty: "No calls were recorded."}),
      !run.published && h(BarsPlot, {...shared, title: "Tokens", note: "Read and written by the models, level by level",
        yTitle: "tokens", parts: TOKEN_PARTS,
          empty: "No tokens were counted: the models of this run have none, or did not tell."}),
      !run.published && h(LibraryPlot, shared),
      !run.published && h(BarsPlot, {...shared, title: "Time", note: "By phase, level by level", yTitle: "seconds",
        parts: TIME_PARTS, written: seconds, empty: "No times were recorded."})));
}
