// A run at a glance, and several runs.

const PUBLISHED = "The published run of the original system. Outcome, rounds, attempts, calls and time of its levels " +
  "are known, and what it cost as a whole; no more is.";
const STATE_TONES = {finished: "good", stopped: "warn", running: "accent"};

const countOutcome = (run, outcome) => run.levels.filter((row) => row.outcome === outcome).length;
const callsOf = (row) => row.planner_calls + row.coder_calls;

/** How long a run worked: the time that it lay still, between a kill and what came after it, does not count. */
const workTime = (run) => sum(run.levels, (row) => row.seconds);

function StateBadge({state}) {
  return h("span", {class: classes("badge", STATE_TONES[state])}, state);
}

function SandboxBadge({stamp}) {
  if (stamp === "unsafe") return h("strong", {class: "badge bad"}, "unsafe: no sandbox");
  return h("span", {class: classes("badge", !stamp && "warn")}, stamp ? `sandbox ${stamp}` : "sandbox not known");
}

function RunHead({run}) {
  const span = run.state === "running" ? `since ${moment(run.started)}`
    : `${moment(run.started)} – ${moment(run.ended)}`;
  return h("section", {"aria-label": "The run"},
    h("h1", {tabIndex: -1}, run.published ? "" : "Run ", mono(run.id)),
    h("p", {class: "badges"},
      !run.published && h(StateBadge, {state: run.state}),
      h(SandboxBadge, {stamp: run.sandbox}),
      run.replayed && h("span", {class: "badge accent"}, "replayed from recordings"),
      run.seed != null && h("span", {class: "badge"}, `seed ${run.seed}`),
      Object.entries(run.models).map(([role, name]) => h("span", {class: "badge", key: role},
        `${spaced(role)} ${name}`))),
    h("p", {class: "muted"}, run.published ? PUBLISHED
      : `${span} · commit ${run.git_commit?.slice(0, 12) ?? "unknown"}`),
    run.continuations.length > 0 && h(Notice, {tone: "warn", title: "Another source later"},
      h(List, {items: run.continuations})),
    !run.published && h(Fold, {summary: "Settings and versions"}, () => h(Facts, {facts:
      Object.entries({...run.settings, ...run.versions, "git commit": run.git_commit,
        "files edited since the commit": run.git_dirty, ...run.hashes})
        .map(([name, value]) => [spaced(name), value == null || value === "" ? "not set" : String(value)])})));
}

/** Steps of the attempts that count, and of all where those are more. */
function describeSteps(levels) {
  const counted = sum(levels, (row) => row.steps);
  const all = sum(levels, (row) => row.steps_total ?? row.steps);
  return plural(counted, "step") + (all > counted ? `, ${count(all)} with all attempts` : "");
}

function RunFigures({run, k}) {
  const {usage, levels} = run;
  const solved = countOutcome(run, "success");
  const failed = countOutcome(run, "fail");
  const open = levels.length - solved - failed;
  const library = levels.findLast((row) => row.library)?.library;
  const planner = sum(levels, (row) => row.planner_calls);
  const coder = sum(levels, (row) => row.coder_calls);
  const estimated = usage.estimated ? `; ${plural(usage.estimated, "request")} estimated` : "";
  const unpriced = usage.cost_unknown ? `, ${count(usage.cost_unknown)} of unknown cost` : "";
  return h(Figures, {figures: [
    {name: "Solved", value: `${count(solved)} of ${count(levels.length)}`, note: percent(solved / levels.length),
      links: [
      failed > 0 && h(LevelsLink, {key: 1, k, class: "bad", choices: {show: "failed"}}, `${count(failed)} failed`),
      open > 0 && h(LevelsLink, {key: 2, k, choices: {show: "unfinished"}}, `${count(open)} unfinished`),
    ]},
    {name: "Calls", value: count(planner + coder), note: `${count(planner)} planner, ${count(coder)} coder`},
    !run.published && {name: "Tokens", value: tokenText(usage),
      note: `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out${reasoningText(usage)}${estimated}`},
    {name: "Cost", value: usd(usage.cost_usd, usage.cost_unknown), note: run.published ? "as a whole"
      : `${plural(usage.requests, "request")}${unpriced}`},
    {name: "Time", value: seconds(workTime(run)), note: run.published ? "" : describeSteps(levels)},
    library && {name: "Library", value: plural(library.actions, "action"),
      note: `${plural(library.methods, "method")}, ${(library.bytes / 1000).toFixed(1)} kB`},
  ]});
}

function Warnings({run, k}) {
  const different = run.levels.filter((row) => row.check === "different");
  return h(Fragment, null,
    run.sandbox === "unsafe" && h(Notice, {tone: "bad", title: "Unsafe"},
      "Generated code ran in this run without a sandbox."),
    different.length > 0 && h(Notice, {tone: "bad",
      title: `The re-simulation of ${plural(different.length, "level")} differs from the recording`},
    "What the player shows of them is not what happened: ",
    h(LevelsLink, {k, choices: {sort: "check"}}, "sort the levels by it"), "."),
    run.warnings.length > 0 && h(Notice,
      {tone: "warn", title: `The run's folder: ${plural(run.warnings.length, "warning")}`},
      h(List, {items: run.warnings})));
}

/** A link to the table of levels, with choices for it. */
function LevelsLink({k, choices, children, ...rest}) {
  return h("a", {...rest, href: `${addressOf(k)}?${new URLSearchParams(choices)}`, onClick: () => goTo("levels")},
    children);
}

function Categories({run, k, route}) {
  const known = (show) => (run.published ? () => UNKNOWN : show);
  const columns = [
    {key: "name", name: "Category", head: true, value: (row) => row.name,
      show: (row) => h(LevelsLink, {k, choices: {category: row.name}}, row.name)},
    {key: "solved", name: "Solved", value: (row) => row.solved / row.planned, show: (row) =>
      h(Bar, {share: row.solved / row.planned}, `${row.solved} of ${row.planned}`,
        row.finished < row.planned && `, ${row.planned - row.finished} to go`)},
    numberColumn("rounds", "Rounds", (row) => row.rounds),
    numberColumn("planner", "Planner calls", (row) => row.planner_calls),
    numberColumn("coder", "Coder calls", (row) => row.coder_calls),
    tokensOf(run.usage) > 0 && numberColumn("tokens", "Tokens", (row) => tokensOf(row.usage),
      known((_, row) => tokenText(row.usage))),
    hasCost(run) && numberColumn("cost", "Cost", (row) => row.usage.cost_usd,
      known((cost, row) => usd(cost, row.usage.cost_unknown))),
    numberColumn("steps", "Steps", (row) => row.steps, known(count)),
    numberColumn("time", "Time", (row) => row.seconds, seconds),
  ].filter(Boolean);
  return h(Section, {id: "categories", title: "Categories"},
    h(Table, {label: "Categories", noun: "category", rows: run.categories, columns, route, prefix: "categories."}));
}

/** One run: what a reader looks for first comes first; what has many rows comes last. */
function RunView({report, run, k, route}) {
  const above = useMemo(() => h(Fragment, null,
    h(ComparisonLinks, {report, run}),
    h(RunHead, {run}),
    h(Warnings, {run, k}),
    h(RunFigures, {run, k}),
    h(Ways, {run, k}),
    h(Timeline, {run, k, route})), [report, run, k]);
  const plots = useMemo(() => h(Plots, {report, run, k, route}), [report, run]);
  return h(Fragment, null, above,
    h(Categories, {run, k, route}),
    plots,
    h(Writers, {run, k, route}),
    h(LevelTable, {run, k, route}),
    h(Methods, {run, k, route}));
}

/** The parts of the page, so that nobody has to scroll past one. */
function Ways({run, k}) {
  const parts = [["levels", "Levels"], ["timeline", "Timeline"], ["categories", "Categories"], ["plots", "Plots"],
    run.writers.length > 0 && ["writers", "Problem writers"], run.methods.length > 0 && ["methods", "Methods"]];
  return h("nav", {class: "ways", "aria-label": "Parts of the page"},
    parts.filter(Boolean).map(([id, name]) => link(`#${id}`, name)),
    !run.published && link(`${addressOf(k)}/search`, "Search prompts, answers and code"));
}

function ComparisonLinks({report, run}) {
  const links = report.comparisons.map((pair, i) => [i, pair]).filter(([, {a, b}]) => a === run.id || b === run.id);
  return links.length > 0 && h("nav", {class: "ways", "aria-label": "Comparisons"}, links.map(([i, {a, b}]) =>
    h("a", {key: i, href: `#/compare/${i}`}, `Compare ${a} with ${b}`)));
}

/** Several runs, a row each. */
function RunsView({report, route}) {
  const known = (show) => (value, run) => (run.published ? UNKNOWN : show(value, run));
  const columns = useMemo(() => [
    {key: "run", name: "Run", head: true, value: (run) => run.id, show: (run) => h(Fragment, null,
      h("a", {href: addressOf(report.runs.indexOf(run)), class: "mono"}, run.id),
      run.sandbox === "unsafe" && h(SandboxBadge, {stamp: run.sandbox}),
      run.warnings.length > 0 && h("span", {class: "badge warn"}, plural(run.warnings.length, "warning")),
      h(ComparisonLinks, {report, run}))},
    {key: "state", name: "State", value: (run) => run.state,
      show: (run) => (run.published ? UNKNOWN : h(StateBadge, run))},
    {key: "started", name: "Begun", value: (run) => run.started, show: (run) => moment(run.started)},
    {key: "models", name: "Models", value: (run) => [...new Set(Object.values(run.models))].join(", ")},
    {key: "seed", name: "Seed", number: true, value: (run) => run.seed},
    {key: "solved", name: "Solved", value: (run) => countOutcome(run, "success") / run.levels.length, show: (run) =>
      h(Bar, {share: countOutcome(run, "success") / run.levels.length},
        `${countOutcome(run, "success")} of ${run.levels.length}`)},
    numberColumn("calls", "Calls", (run) => sum(run.levels, callsOf)),
    numberColumn("tokens", "Tokens", (run) => tokensOf(run.usage), known((_, run) => tokenText(run.usage))),
    numberColumn("cost", "Cost", (run) => run.usage.cost_usd, (cost, run) => usd(cost, run.usage.cost_unknown)),
    numberColumn("time", "Time", workTime, seconds),
  ], [report]);
  const words = (run) => `${run.id} ${run.state} ${Object.values(run.models).join(" ")} ${run.sandbox}`;
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, plural(report.runs.length, "run")),
    h(Table, {label: "Runs", noun: "run", rows: report.runs, columns, route, hint: "run, model or state", words}));
}
