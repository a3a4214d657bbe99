// A run at a glance, and several runs side by side.

function StateBadge({state}) {
  return h("span", {class: classes("badge", {finished: "good", stopped: "warn"}[state] ?? "accent")}, state);
}

function Sandbox({stamp}) {
  if (stamp === "unsafe") return h("strong", {class: "badge bad"}, "unsafe: no sandbox");
  if (stamp) return h("span", {class: "badge"}, `sandbox ${stamp}`);
  return h("span", {class: "badge warn"}, "sandbox not known");
}

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function Pairs({caption, values}) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  return h("table", {class: "pairs"}, h("caption", null, caption), h("tbody", null, entries.map(([name, value]) =>
    h("tr", {key: name}, h("th", {scope: "row"}, name),
      h("td", null, value == null || value === "" ? h("span", {class: "muted"}, "not set") : asText(value))))));
}

/** How long a run worked: the time that it lay still, between a kill and what came after it, does not count. */
const workTime = (run) => sum(run.levels, (row) => row.seconds);

const PUBLISHED = "The published run of the original system. Outcome, rounds, attempts, calls and time of its levels " +
  "are known, and what it cost as a whole; no more is.";

const HASHED = ["product", "prompts", "curriculum"];

/** Which system the run was of: its commit, whether files had been edited, and hashes. */
function Source({run}) {
  const short = (value) => (value ? h("code", null, value.slice(0, 12)) : "unknown");
  const edits = !run.git_commit ? "" : run.git_dirty == null ? " (edits unknown)"
    : run.git_dirty ? h("strong", null, " with edited files") : "";
  return h(Fragment, null, "commit ", short(run.git_commit), edits,
    HASHED.map((name) => h(Fragment, {key: name}, ` · ${name} `, short(run.hashes[name]))));
}

function Head({run}) {
  return h("section", {class: "head", "aria-label": "The run"},
    h("h1", {tabIndex: -1}, run.published ? "" : "Run ", h("span", {class: "id"}, run.id)),
    h("p", {class: "badges"}, !run.published && h(StateBadge, {state: run.state}), h(Sandbox, {stamp: run.sandbox}),
      run.seed != null && h("span", {class: "badge"}, `seed ${run.seed}`),
      Object.entries(run.models).map(([role, name]) =>
        h("span", {class: "badge", key: role}, h("span", {class: "muted"}, `${role.replaceAll("_", " ")} `), name))),
    h("p", {class: "when"}, run.published ? PUBLISHED : run.state === "running" ? `since ${moment(run.started)}`
      : `${moment(run.started)} – ${moment(run.ended)}`, !run.published && h(Fragment, null,
      " · ", h(Source, {run}))),
    run.continuations.length > 0 && h("div", {class: "notice warn"}, h("strong", null, "Another source later"),
      h("ul", null, run.continuations.map((line, i) => h("li", {key: i}, line)))),
    h("details", {class: "fold"}, h("summary", null, "Settings and versions"), h("div", {class: "columns"},
      h(Pairs, {caption: "Settings", values: run.settings}), h(Pairs, {caption: "Models", values: run.models}),
      !run.published && h(Pairs, {caption: "Versions",
        values: {...run.versions, "git commit": run.git_commit, folder: run.folder}}),
      !run.published && h(Pairs, {caption: "Source",
        values: {"edited files": run.git_dirty == null ? "unknown" : run.git_dirty ? "some" : "none",
          ...Object.fromEntries(HASHED.map((name) => [`${name} (SHA-256)`, run.hashes[name] ?? "unknown"]))}}))));
}

const solvedOf = (run) => run.levels.filter((row) => row.outcome === "success").length;
const failedOf = (run) => run.levels.filter((row) => row.outcome === "fail").length;

function Key({name, value, note, children}) {
  return h("div", {class: "figure"}, h("dt", null, name), h("dd", null, h("span", {class: "value"}, value),
    note && h("span", {class: "note"}, note), children));
}

/** Steps of the attempts that count, and of all where those are more. */
function stepsText(levels) {
  const [counted, all] = [sum(levels, (row) => row.steps), sum(levels, (row) => row.steps_total ?? row.steps)];
  return plural(counted, "step") + (all > counted ? ` of ${count(all)} in all attempts` : "");
}

function KeyFigures({run, k}) {
  const {usage, levels} = run;
  const solved = solvedOf(run);
  const failed = failedOf(run);
  const open = levels.length - solved - failed;
  const library = levels.findLast((row) => row.library)?.library;
  const [planner, coder] = [sum(levels, (row) => row.planner_calls), sum(levels, (row) => row.coder_calls)];
  const share = levels.length ? percent(solved, levels.length) : "";
  return h("dl", {class: "figures"},
    h(Key, {name: "Solved", value: `${count(solved)} / ${count(levels.length)}`, note: share},
      failed > 0 && h(LevelsLink, {class: "bad", k, filter: {show: "failed"}}, `${count(failed)} failed`),
      open > 0 && h(LevelsLink, {k, filter: {show: "unfinished"}}, `${count(open)} unfinished`)),
    h(Key, {name: "Calls", value: count(planner + coder), note: `${count(planner)} planner, ${count(coder)} coder`}),
    !run.published && h(Key, {name: "Tokens", value: tokenText(usage),
      note: `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out${reasoningText(usage)}` +
        (usage.estimated ? `; ${plural(usage.estimated, "request")} estimated` : "")}),
    h(Key, {name: "Cost", value: usd(usage.cost_usd, usage.cost_unknown),
      note: run.published ? "as a whole" : plural(usage.requests, "request") +
        (usage.cost_unknown ? `, ${count(usage.cost_unknown)} of unknown cost` : "")}),
    h(Key, {name: "Time", value: seconds(workTime(run)),
      note: run.published ? "" : stepsText(levels)}),
    library && h(Key, {name: "Library", value: plural(library.actions, "action"),
      note: `${plural(library.methods, "method")}, ${bytes(library.bytes)}`}));
}

function Warnings({run, k}) {
  const different = run.levels.filter((row) => row.check === "different");
  return h(Fragment, null,
    run.sandbox === "unsafe" && h("div", {class: "notice bad"}, h("strong", null, "Unsafe"),
      h("div", null, "Generated code ran in this run without a sandbox.")),
    different.length > 0 && h("div", {class: "notice bad"},
      h("strong", null, `The re-simulation of ${plural(different.length, "level")} differs from the recording`),
      h("div", null, "What the player shows of them is not what happened: ", different.slice(0, 8).map((row, i) =>
        h(Fragment, {key: row.number}, i > 0 && ", ", h("a", {href: address(k, row.number)}, row.env_id))),
      different.length > 8 && ` and ${different.length - 8} more`)),
    run.warnings.length > 0 && h("details", {class: "notice warn", open: run.warnings.length <= 5},
      h("summary", null, `The run's folder: ${plural(run.warnings.length, "warning")}`),
      h("ul", null, run.warnings.map((line, i) => h("li", {key: i}, line)))));
}

/** A share as a bar behind its text. */
function Share({part, whole, text}) {
  return h("div", {class: "share"}, h("div", {class: "bar", "aria-hidden": "true"},
    h("div", {class: "fill", style: {width: `${whole ? (100 * part) / whole : 0}%`}})), h("span", null, text));
}

const CATEGORY_HEADS = ["Category", "Solved", "Rounds", "Planner", "Coder", "Tokens", "Reasoning", "Cost", "Steps", "Time"];

function solvedText({solved, planned, finished}) {
  return `${solved} / ${planned}${finished < planned ? `, ${planned - finished} to go` : ""}`;
}

function Categories({run, k}) {
  const number = (value) => h("td", {class: "number"}, value);
  return h("section", {"aria-labelledby": "categories"}, h("h2", {id: "categories"}, "Categories"),
    h("div", {class: "scroll", role: "region", "aria-label": "Table of categories", tabIndex: 0},
      h("table", {class: "categories"},
        h("thead", null, h("tr", null, CATEGORY_HEADS.map((name, i) =>
          h("th", {key: name, scope: "col", class: i > 1 && "number"}, name)))),
        h("tbody", null, run.categories.map((row) => h("tr", {key: row.name},
          h("th", {scope: "row"}, h(LevelsLink, {k, filter: {category: row.name}}, row.name)),
          h("td", {class: "c-share"}, h(Share, {part: row.solved, whole: row.planned, text: solvedText(row)})),
          number(count(row.rounds)), number(count(row.planner_calls)), number(count(row.coder_calls)),
          number(run.published ? UNKNOWN : tokenText(row.usage)),
          number(run.published ? UNKNOWN : count(row.usage.reasoning_tokens)),
          number(run.published ? UNKNOWN : usd(row.usage.cost_usd, row.usage.cost_unknown)),
          number(run.published ? UNKNOWN : count(row.steps)), number(seconds(row.seconds))))))));
}

/** A link to the table of levels with a filter set. */
function LevelsLink({k, filter, children, ...rest}) {
  const down = () => setTimeout(() => {
    const heading = document.getElementById("levels"); // null where the reader has gone on to a level by now
    heading?.scrollIntoView();
    heading?.focus({preventScroll: true});
  });
  return h("a", {...rest, href: `${address(k)}?${new URLSearchParams(filter)}`, onClick: down}, children);
}

/** One run. */
function RunView({report, run, k, query, go}) {
  // The same nodes again: what is typed into the filters leaves everything but the table alone.
  const above = useMemo(() => h(Fragment, null, h(Head, {run}), h(Warnings, {run, k}), h(KeyFigures, {run, k}),
    h(Timeline, {run, k})), [run, k]);
  const asked = query.get("writer");
  const below = useMemo(() => h(Fragment, null, h(Categories, {run, k}), h(Writers, {run, k, asked})), [run, k, asked]);
  const plots = useMemo(() => h(Plots, {report, run, k, go}), [report, k]);
  return h(Fragment, null, above, h(LevelTable, {run, k, query, go}), below, plots);
}

const RUN_COLUMNS = [
  {key: "run", name: "Run", value: (run) => run.id},
  {key: "state", name: "State", value: (run) => run.state},
  {key: "started", name: "Begun", value: (run) => run.started ?? 0},
  {key: "planner", name: "Planner", value: (run) => run.models.planner ?? ""},
  {key: "coder", name: "Coder", value: (run) => run.models.coder ?? ""},
  {key: "seed", name: "Seed", number: true, value: (run) => run.seed ?? -1},
  {key: "solved", name: "Solved", value: solvedOf},
  {key: "calls", name: "Calls", number: true, value: (run) => sum(run.levels, calls)},
  {key: "tokens", name: "Tokens", number: true, value: (run) => tokensOf(run.usage)},
  {key: "reasoning", name: "Reasoning", number: true, value: (run) => run.usage.reasoning_tokens},
  {key: "cost", name: "Cost", number: true, value: (run) => run.usage.cost_usd},
  {key: "time", name: "Time", number: true, value: workTime},
];

/** The comparisons of a run, by the names of the others. */
function RunComparisons({report, run}) {
  const links = report.comparisons.map(({a, b}, i) => ({i, a, b})).filter(({a, b}) => a === run.id || b === run.id);
  return links.length > 0 && h("div", {class: "ways"}, links.map(({i, a, b}) => h("a", {key: i, href: `#/compare/${i}`,
    "aria-label": `Compare ${a} with ${b}`}, `compare with ${a === run.id ? b : a}`)));
}

/** The name of a model; long ones go on in a new line after a slash. */
function ModelCell({name}) {
  const parts = (name ?? UNKNOWN).split("/");
  return h("td", {class: "c-model"}, parts.map((part, i) => (i ? ["/", h("wbr"), part] : part)));
}

function RunLine({report, run, k}) {
  const [solved, planned] = [solvedOf(run), run.levels.length];
  const different = run.levels.filter((row) => row.check === "different").length;
  const number = (value) => h("td", {class: "number"}, value);
  return h("tr", null,
    h("th", {scope: "row"}, h("a", {href: address(k), class: "mono"}, run.id), h(RunComparisons, {report, run}),
      run.sandbox === "unsafe" && h(Sandbox, {stamp: run.sandbox}),
      different > 0 && h("span", {class: "badge bad"}, plural(different, "replay differs", "replays differ")),
      run.warnings.length > 0 && h("span", {class: "badge warn"}, plural(run.warnings.length, "warning"))),
    h("td", null, run.published ? UNKNOWN : h(StateBadge, {state: run.state})),
    h("td", {class: "c-moment"}, moment(run.started)),
    h(ModelCell, {name: run.models.planner}), h(ModelCell, {name: run.models.coder}),
    number(run.seed ?? UNKNOWN),
    h("td", {class: "c-share"}, h(Share, {part: solved, whole: planned, text: `${solved} / ${planned}`})),
    number(count(sum(run.levels, calls))), number(run.published ? UNKNOWN : tokenText(run.usage)),
    number(run.published ? UNKNOWN : count(run.usage.reasoning_tokens)),
    number(usd(run.usage.cost_usd, run.usage.cost_unknown)),
    number(seconds(workTime(run))));
}

/** Several runs, a row each. */
function RunsView({report, query, go}) {
  const base = "#/";
  const choose = useChoices(base, query, go);
  const text = query.toString();
  const rows = useMemo(() => {
    const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const all = report.runs.map((run, k) => ({run, k})).filter(({run}) => {
      const named = `${run.id} ${run.state} ${Object.values(run.models).join(" ")} ${run.sandbox}`.toLowerCase();
      return words.every((word) => named.includes(word));
    });
    const column = RUN_COLUMNS.find(({key}) => key === query.get("sort"));
    return column ? sorted(all, ({run}) => column.value(run), query.get("down") === "1") : all;
  }, [report, text]);
  const [shownRows, more] = useGrowing(rows);
  return h(Fragment, null, h("h1", {tabIndex: -1, id: "runs"}, plural(report.runs.length, "run")),
    h("div", {class: "filters"}, h(Search, {query, choose, hint: "run, model or state"}),
      h("p", {class: "matches", role: "status"}, `${count(rows.length)} of ${plural(report.runs.length, "run")}`)),
    h("div", {class: "scroll", role: "region", "aria-labelledby": "runs", tabIndex: 0}, h("table", {class: "runs"},
      h("thead", null, h("tr", null, RUN_COLUMNS.map((column) =>
        h(SortHeading, {key: column.key, column, query, go, base, first: "run"})))),
      h("tbody", null, shownRows.map(({run, k}) => h(RunLine, {key: k, report, run, k}))))), more);
}
