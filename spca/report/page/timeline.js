// All levels of a run over its time: a bar for each, and under it what was done, in a lane for each phase.

const GAP_SHARE = 0.05;
const BREAK_SHARE = 0.03;
const ZOOMS = [1, 4, 16, 64];
const OUTCOME_TONES = {success: "good", fail: "bad", aborted: "warn", running: "accent"};

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
 * Places on the axis, in seconds of a run without long stretches in which nothing was done: those are cut short.
 *
 * @returns {{at: (time: number) => number, timeAt: (place: number) => number, breaks: [number, number, number][]}}
 *   `breaks` are the beginnings and ends of cuts on the axis, and the seconds that were cut
 */
function timeScale(rows) {
  const busy = busyStretches(rows);
  const work = sum(busy, ([start, end]) => end - start) || 1;
  const knots = [];
  const breaks = [];
  let place = 0;
  busy.forEach(([start, end], i) => {
    const idle = i ? start - busy[i - 1][1] : 0;
    const isCut = idle > GAP_SHARE * work;
    const width = isCut ? BREAK_SHARE * work : idle;
    if (isCut) breaks.push([place, place + width, idle]);
    place += width;
    knots.push([start, place], [end, place + end - start]);
    place += end - start;
  });
  const times = knots.map(([time]) => time);
  const places = knots.map((knot) => knot[1]);
  return {at: (time) => interpolate(times, places, time), timeAt: (at) => interpolate(places, times, at), breaks};
}

/** @returns {number} the value at a key, between the known ones */
function interpolate(keys, values, key) {
  const after = keys.findIndex((known) => known >= key);
  if (after < 0) return values.at(-1);
  if (after === 0) return values[0];
  const share = (key - keys[after - 1]) / (keys[after] - keys[after - 1]);
  return values[after - 1] + share * (values[after] - values[after - 1]);
}

/** @param {object} row @returns {string} a level in a line: what it took, phase by phase */
function describeLevel(row) {
  const phases = LANES.filter((phase) => row.durations[phase]);
  const parts = phases.map((phase) => `${phase} ${seconds(row.durations[phase])}`);
  return `Level ${row.number}, ${row.env_id}: ${OUTCOMES[row.outcome][1]}, ${plural(row.rounds, "round")}, ` +
    `${plural(row.attempts, "attempt")}, ${seconds(row.seconds)}${parts.length ? ` (${parts.join(", ")})` : ""}`;
}

/** @returns {{x: [number, number], y: string, tone: string, label: string, row?: object}[]} the bars of all lanes */
function timelineBars(rows, {at, breaks}) {
  const bars = breaks.map(([start, end, idle]) =>
    ({x: [start, end], y: "levels", tone: "line", label: `${seconds(idle)} idle, cut`}));
  for (const row of rows) {
    const work = workOf(row).flat();
    const start = Math.min(row.started ?? Infinity, ...work);
    bars.push({x: [at(start), at(Math.max(...work))], y: "levels", row, tone: OUTCOME_TONES[row.outcome] ?? "muted",
      label: describeLevel(row)});
    for (const span of row.spans.filter(({phase}) => LANES.includes(phase))) {
      const tone = {failed: "bad", open: "muted"}[endOf(row, span)] ?? span.phase;
      const label = `${span.phase} ${seconds(span.seconds)}, round ${span.round}${span.status && `: ${span.status}`}`;
      bars.push({x: [at(span.start), at(span.start + span.seconds)], y: span.phase, row, tone, label});
    }
  }
  return bars;
}

function Timeline({run, k, route}) {
  const [zoom, setZoom] = useState(1);
  const rows = useMemo(() => run.levels.filter((row) => workOf(row).length), [run.levels]);
  const make = useCallback(() => {
    const scale = timeScale(rows);
    const bars = timelineBars(rows, scale);
    const groups = [bars.filter(({tone}) => tone !== "bad"), bars.filter(({tone}) => tone === "bad")];
    const barOf = (item) => groups[item.datasetIndex][item.dataIndex ?? item.index];
    const options = plotOptions({rows: [], xTitle: "time since the beginning", yTitle: ""});
    Object.assign(options.scales.x.ticks, {callback: (value) => seconds(scale.timeAt(value)), autoSkip: true});
    options.scales.y.ticks.maxTicksLimit = LANES.length + 1;
    options.plugins.legend.display = false;
    options.plugins.tooltip.callbacks = {
      title: ([item]) => (item ? barOf(item).label : ""),
      label: (item) => (barOf(item).y === "levels" ? "" : describeLevel(barOf(item).row)),
    };
    const open = (event, [element]) => {
      const row = element && barOf(element).row;
      if (row) route.go(addressOf(k, row.number));
    };
    const datasets = groups.map((data, i) => ({data, grouped: false, barThickness: i ? 8 : 16, minBarLength: 2,
      borderColor: colour("surface"), borderWidth: {right: 1}, borderSkipped: false,
      backgroundColor: data.map(({tone}) => colour(tone))}));
    return {
      data: {labels: ["levels", ...LANES], datasets},
      options: {...options, indexAxis: "y", interaction: {mode: "point", intersect: true}, onClick: open},
    };
  }, [rows]);
  if (!rows.length) return null;
  const tools = h(Choice, {name: "Zoom", options: ZOOMS.map((size) => [size, size > 1 ? `${size} ×` : "whole run"]),
    chosen: zoom, choose: setZoom});
  return h(Section, {id: "timeline", title: "Timeline", tools,
    note: ["A bar is a level, and what was done in it; thin red bars failed.",
      h("span", {class: "hint"}, " A click opens the level.")]},
  h("div", {class: "tl-scroll"}, h("div", {style: {width: `${100 * zoom}%`}},
    h(Canvas, {make, label: `${plural(rows.length, "level")} over time; the table of levels has the same figures`}))));
}
