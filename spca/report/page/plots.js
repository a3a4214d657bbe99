// Plots over the levels of a run. Each has its figures in a table too.

/** What is done in a level, each in its colour. */
const LANES = ["plan", "solve", "code", "act"];

/** How wide a plot is drawn for paper, in CSS pixels; a narrower paper shrinks it. */
const PAPER_WIDTH = 720;

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
    const draw = (event) => {
      chart?.destroy();
      chart = new Chart(canvas.current, {type: "bar", ...make()});
      if (event?.type === "beforeprint") chart.resize(PAPER_WIDTH, chart.height);
    };
    const redraw = (event) => (chart || event.type === "beforeprint") && draw(event);
    // Charts take a while, and most are further down than a reader ever goes.
    const drawIfSeen = (entries) => !chart && entries.some((entry) => entry.isIntersecting) && draw();
    const seen = new IntersectionObserver(drawIfSeen, {rootMargin: "300px"});
    seen.observe(canvas.current);
    const gone = new AbortController();
    for (const name of ["themechange", "beforeprint", "afterprint"]) addEventListener(name, redraw, gone);
    return () => {
      seen.disconnect();
      gone.abort();
      chart?.destroy();
    };
  }, [make]);
  return h("div", {class: "canvas"}, h("canvas", {ref: canvas, role: "img", "aria-label": label}));
}

/**
 * @param {{title: string, note: string, series: object[], rows: object[], labels?: any[], written?: (n: number) =>
 *   string, empty?: string, options: object}} props `series` as {@link dataSet} takes them
 */
function Plot({title, note, series, rows, labels = rows.map((row) => row.number), written = count, empty, options,
  route}) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  const make = useCallback(() => ({data: {labels, datasets: series.map(dataSet)},
    options: plotOptions({rows, ...options})}), [rows]);
  const columns = [
    {key: "number", name: "#", number: true, value: (i) => labels[i]},
    {key: "level", name: "Level", head: true, value: (i) => rows[i]?.env_id ?? ""},
    ...series.map(({label, data}) => ({key: label, name: label, number: true, value: (i) => data[i],
      show: (i) => written(data[i])})),
  ];
  const isEmpty = !series.some(({data}) => data.some(Boolean));
  const last = series.map(({label, data, bars}) => `${label} ${written(bars ? sum(data, (n) => n) : data.at(-1))}`);
  return h("figure", {class: classes("plot", isEmpty && "is-empty"), "aria-labelledby": `plot-${id}`},
    h("figcaption", null,
      h("h3", {id: `plot-${id}`}, title),
      h("p", {class: "muted small"}, isEmpty ? empty : note)),
    !isEmpty && h(Fragment, null,
      h(Canvas, {label: `${title}; in the end ${last.join(", ")}`, make}),
      h(Fold, {summary: "Figures"}, () => h("div", {class: "plot-figures"},
        h(Table, {label: title, noun: "level", rows: labels.map((_, i) => i), columns, route, prefix: `${id}.`})))));
}

/** @returns {number[]} how many levels were solved after each */
function cumulateSolved(levels) {
  let solved = 0;
  return levels.map(({outcome}) => (solved += outcome === "success" ? 1 : 0));
}

/** The other runs that a run is compared with, and how many levels they had solved after each of theirs. */
function otherCurves(report, run) {
  return report.comparisons.filter(({a, b}) => (a === run.id) !== (b === run.id)).map((pair, i) => {
    const [label, side] = pair.a === run.id ? [pair.b, "b"] : [pair.a, "a"];
    const levels = pair.levels.map((level) => level[side]).filter((one) => one && one.outcome !== "pending");
    const data = cumulateSolved(sortRows(levels, (one) => one.number ?? 0));
    return {label, data, tone: ["code", "solve", "act"][i % 3], borderDash: [6, 3]};
  });
}

function describeSolved(report, run, rows) {
  const curves = [{label: run.id, tone: "accent", data: cumulateSolved(rows)}, ...otherCurves(report, run)];
  const labels = Array.from({length: Math.max(...curves.map(({data}) => data.length))}, (_, i) => i + 1);
  const all = {label: "every level solved", tone: "muted", data: labels, borderWidth: 1, borderDash: [2, 3]};
  return {title: "Levels solved", note: "Cumulative, in the order of the run", labels, series: [...curves, all],
    options: {xTitle: "levels finished", yTitle: "levels solved"}};
}

function describeLibrary(rows) {
  const line = (label, tone, value, more) =>
    ({label, tone, data: rows.map(({library}) => library && value(library)), spanGaps: true, ...more});
  return {title: "Library", note: "What the agent had learned after each level",
    empty: "The library's size was not recorded.", options: {yTitle: "actions and methods", right: "kB"}, series: [
      line("actions", "accent", ({actions}) => actions),
      line("methods", "act", ({methods}) => methods, {borderDash: [6, 3]}),
      line("kB of source", "code", ({bytes: size}) => size / 1000, {borderDash: [2, 2], yAxisID: "right"}),
    ]};
}

const CALL_PARTS = [["planner", "plan", (row) => row.planner_calls], ["coder", "code", (row) => row.coder_calls]];
const TOKEN_PARTS = [
  ["input", "plan", (row) => row.usage.input_tokens],
  ["reasoning", "solve", (row) => row.usage.reasoning_tokens],
  ["answers", "code", (row) => Math.max(0, row.usage.output_tokens - row.usage.reasoning_tokens)],
];
const TIME_PARTS = LANES.map((phase) => [phase, phase, (row) => row.durations[phase] ?? 0]);

/** Every plot of a run; of the published run no more is known than the first two show. */
function Plots({report, run, k, route}) {
  const rows = run.levels.filter(({outcome}) => outcome === "success" || outcome === "fail");
  if (!rows.length) return null;
  const bars = (title, note, yTitle, parts, empty, written) => ({title, note: `${note}, level by level`, empty, written,
    series: parts.map(([label, tone, value]) => ({label, tone, data: rows.map(value), bars: true})),
    options: {yTitle, stacked: true}});
  const plots = [
    describeSolved(report, run, rows),
    bars("Calls", "Of planner and coder", "calls", CALL_PARTS, "No calls were recorded."),
    bars("Tokens", "Read and written by the models", "tokens", TOKEN_PARTS,
      "No tokens were counted: the models of this run have none, or did not tell."),
    describeLibrary(rows),
    bars("Time", "By phase", "seconds", TIME_PARTS, "No times were recorded.", seconds),
  ];
  const open = run.published ? null : (row) => route.go(addressOf(k, row.number));
  return h(Section, {id: "plots", title: "Plots",
    note: open && h("span", {class: "hint"}, "A click on a plot opens the level there.")},
    h("div", {class: "plots"}, plots.slice(0, run.published ? 2 : plots.length).map(({options, ...plot}) =>
      h(Plot, {key: plot.title, rows, route, options: {...options, open}, ...plot}))));
}
