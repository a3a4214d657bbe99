// The run page: its addresses and what they show.

/** @param {number} k index of a run @param {number} [n] number of a level @returns {string} address within the page */
function addressOf(k, n) {
  return n == null ? `#/run/${k}` : `#/run/${k}/level/${n}`;
}

/** Runs -> the addresses at which their overviews were left, with what was chosen there. */
const overviews = new Map();

function viewOfRuns(report, route) {
  const parts = route.parts.length || report.runs.length > 1 ? route.parts : ["run", "0"];
  const [kind, index, below, number] = parts;
  if (!kind) return {title: report.title, view: h(RunsView, {report, route})};
  if (kind === "compare") return viewOfComparison(report, Number(index), route);

  const k = Number(index);
  const run = kind === "run" && report.runs.find((_, i) => String(i) === index);
  if (!run) return null;
  const crumbs = [...(report.runs.length > 1 ? [["#/", "Runs"]] : []), [overviews.get(k) ?? addressOf(k), run.id]];
  if (!below) {
    overviews.set(k, `${addressOf(k)}${route.search && `?${route.search}`}`);
    return {title: `Run ${run.id}`, crumbs, view: h(RunView, {key: k, report, run, k, route})};
  }
  if (below === "search") {
    crumbs.push([`${addressOf(k)}/search`, "Search"]);
    return {title: `Search in ${run.id}`, crumbs, view: h(SearchView, {key: k, run, k, route})};
  }
  const row = below === "level" && !run.published && run.levels.find((level) => level.number === Number(number));
  if (!row) return null;
  crumbs.push([addressOf(k, row.number), `Level ${row.number}`]);
  return {title: `${row.env_id} · level ${row.number}`, crumbs,
    view: h(LevelPage, {key: route.place, report, run, k, row, route})};
}

function viewOfComparison(report, i, route) {
  const pair = report.comparisons[i];
  if (!pair) return null;
  const crumbs = [...(report.runs.length === 1 ? [["#/", report.runs[0].id]] : [["#/", "Runs"]]),
    [`#/compare/${i}`, "Comparison"]];
  return {title: `${pair.a} and ${pair.b}`, crumbs, view: h(CompareView, {key: i, report, pair, route})};
}

function openReport() {
  openPage("sense-plan-code-act", viewOfRuns);
}
