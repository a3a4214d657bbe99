// The leaderboard of gridworld: rankings, what each model did with each task, and its episodes step by step.

const HOW_TO_READ = "A solved task earns its points times its optimality: steps of a shortest way by steps taken. " +
  "Optimality of a result is the mean over its solved tasks. Where no shortest way is known (≥), a bound stands in; " +
  "figures are then “at least”. Ranks go by points, then solved tasks; equal results share one. Bars: 95 % intervals.";

function openLeaderboard() {
  openPage("Gridworld leaderboard", ({groups}, route) => {
    const [kind, result = "", task, ...more] = route.parts;
    const [number, place] = result.split(".");
    const group = groups[number - 1];
    const crumbs = [["#/", "Overview"], [`#/benchmark/${number}`, group?.title]];
    if (!kind) return {title: "Overview", view: h(Overview, {groups, route})};
    if (kind === "benchmark" && group && !place && !task) {
      return {title: group.title, crumbs, view: h(Benchmark, {key: number, group, number, route})};
    }
    const outcome = group?.entries[place - 1]?.outcomes[task - 1];
    if (kind !== "episode" || !outcome || more.length) return null;
    const title = `${group.tasks[task - 1].id}, ${group.entries[place - 1].label}`;
    const view = h(Episode, {key: route.place, group, number, place: +place, task: +task, outcome, route});
    return {title, crumbs: [...crumbs, [`#/${route.place}`, title]], view};
  });
}

function Overview({groups, route}) {
  const rows = useMemo(() => listModels(groups), [groups]);
  const columns = useMemo(() => [
    column("model", "Model", ({model}) => model, String, ({best}) => best.find(Boolean).about, {head: true}),
    ...groups.map(({title}, i) => column(`b${i + 1}`, title, ({best}) => best[i]?.point_rate,
      (share, {best}) => h(Rate, {...best[i]}), ({best}) => best[i] && `${percent(best[i].point_rate)} of points`, {})),
  ], [groups]);
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, "Gridworld leaderboard"),
    h(Section, {id: "models", title: "Models and benchmarks", note: `The best results of each model. ${HOW_TO_READ}`},
      h(Table, {label: "Models", noun: "model", rows, columns, route, wide: groups.length > 5})),
    groups.map((group, i) => h(Section, {key: i, id: `ranking-${i + 1}`, title: group.title,
      tools: link(`#/benchmark/${i + 1}`, `Tasks and episodes of ${group.title}`)},
    h(Ranking, {group, number: i + 1, route}))));
}

/** @returns {{model: string, best: object[]}[]} models with their best result of each group, by their points */
function listModels(groups) {
  const models = new Set(groups.flatMap(({entries}) => entries.map((entry) => entry.model_name)));
  const rows = [...models].map((model) =>
    ({model, best: groups.map(({entries}) => entries.find((entry) => entry.model_name === model))}));
  return sortRows(rows, ({best}) => sum(best, (entry) => entry?.point_rate), true);
}

/** @returns {object} a column of figures, unless `more` says otherwise; `second` stands small below a value */
function column(key, name, value, write = count, second = () => null, more = {number: true}) {
  const show = (row) => [write(value(row), row), second(row) && h("small", {class: "muted"}, second(row))];
  return {key, name, value, show, ...more};
}

/** @returns {string} points, with a word where they are a lower bound */
function pointText(points, available, isBound) {
  return `${isBound ? "at least " : ""}${points.toFixed(2)} of ${Number(available.toFixed(2))}`;
}

/** @returns {string} the steps of a shortest way, or their bound */
function bestText({optimal_steps: optimal, bound}) {
  return optimal == null && bound != null ? `≥${count(bound)}` : count(optimal);
}

const RANKING = [
  column("rank", "#", (row) => row.rank),
  column("model", "Model", (row) => row.label + row.source,
    (label, row) => h("span", {title: row.about}, row.model_name), (row) => row.source, {head: true}),
  column("solved", "Solved", (row) => row.success_rate, (share, row) => h(Rate, row),
    ({errors}) => errors > 0 && h("span", {class: "bad-text"}, plural(errors, "model error")), {}),
  column("points", "Points", (row) => row.point_rate, percent,
    (row) => pointText(row.total_points_earned, row.total_available_points, row.num_against_bound)),
  column("optimality", "Optimality", (row) => row.avg_optimality_ratio || null, ratio,
    (row) => row.num_against_bound > 0 && `at least; ${row.num_against_bound} of ${row.num_success} against a bound`),
  column("steps", "Mean steps", (row) => row.mean_steps, (steps) => steps.toFixed(1)),
  column("time", "Model time", (row) => row.seconds, seconds),
  column("tokens", "Tokens", ({usage}) => tokensOf(usage), (n, {usage}) => tokenText(usage),
    ({usage}) => usage && reasoningText(usage)),
  column("cost", "Cost", ({usage}) => usage?.cost_usd, (cost, {usage}) => usd(cost, usage?.cost_unknown),
    ({usage}) => usage && plural(usage.requests, "request")),
  column("settings", "Settings", (row) => row.settings, String, (row) => row.finished, {}),
];

function Ranking({group, number, route}) {
  return h(Fragment, null,
    group.mixed && h(Notice, {tone: "warn", title: "Different tasks"}, "Compare results whose settings end alike."),
    h(Table, {label: `Ranking of ${group.title}`, noun: "result", rows: group.entries, columns: RANKING, route,
      prefix: `r${number}-`, hint: group.entries.length > 8 && "model, file or setting"}));
}

const EPISODES = [
  {key: "task", name: "Task", head: true, value: (row) => row.task_id, show: (row) => link(row.href, row.task_id)},
  {key: "label", name: "Result", value: (row) => row.label},
  column("ending", "Outcome", (row) => row.ending, showEnding, undefined, {}),
  column("steps", "Steps", (row) => row.steps_taken),
  column("best", "Shortest way", (row) => row.optimal_steps ?? row.bound, (steps, row) => bestText(row)),
  column("ratio", "Optimality", (row) => row.optimality_ratio, ratio),
  column("points", "Points", (row) => row.points_earned, (points, row) => pointText(points, row.available_points)),
];

function showEnding(ending, {success}) {
  return h(Outcome, {outcome: outcomeOf(success), word: ending});
}

function Benchmark({group, number, route}) {
  const {entries, tasks} = group;
  const rows = useMemo(() => tasks.map((task, at) => ({...task, cells: entries.map(({label, outcomes}, i) =>
    outcomes[at] && {...outcomes[at], label, href: `#/episode/${number}.${i + 1}/${at + 1}`})})), [group]);
  const episodes = useMemo(() => entries.flatMap((_, i) => rows.map(({cells}) => cells[i]).filter(Boolean)), [rows]);
  const columns = useMemo(() => [
    column("task", "Task", ({id, tier}) => `${id} tier ${tier}`, (words, {id}) => id,
      ({tier}) => tier != null && `tier ${tier}`, {head: true}),
    ...entries.map(({label}, i) => column(`e${i + 1}`, label, ({cells}) => cells[i]?.optimality_ratio ?? -1,
      (share, {cells}) => (cells[i] ? h(Cell, {outcome: cells[i]}) : UNKNOWN), undefined, {})),
  ], [group]);
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, group.title),
    h(Section, {id: "ranking", title: "Ranking", note: HOW_TO_READ}, h(Ranking, {group, number, route})),
    h(Section, {id: "tasks", title: "Tasks", note: "Steps taken / of a shortest way. ✗ failed."},
      h(Table, {label: "Tasks and results", noun: "task", rows, columns, route, prefix: "t-", hint: "task",
        wide: true})),
    h(Section, {id: "episodes", title: "Episodes"},
      h(Table, {label: "Episodes", noun: "episode", rows: episodes, columns: EPISODES, route,
        hint: "task, result, outcome", groupOf: ({success, ending}) => !success && ending,
        toneOf: ({success}) => !success && "is-fail"})));
}

/** The better a task was solved, the greener. */
function Cell({outcome}) {
  const {label, task_id: id, href, success, steps_taken: steps, optimality_ratio: share, ending} = outcome;
  const words = `${label}, ${id}: ${ending}, ${plural(steps, "step")}, shortest way ${bestText(outcome)}`;
  return h("a", {href, class: `cell is-${outcomeOf(success)}`, title: words, "aria-label": words,
    style: {"--tint": `${5 + 40 * share}%`}},
  success ? `${count(steps)}/${bestText(outcome)}` : `✗ ${count(steps)}`);
}

function Episode({group, number, place, task, outcome, route}) {
  const {values, error} = usePieces([`episodes-${number}.${place}`]);
  const {id, tier} = group.tasks[task - 1];
  const linkTo = (at, n, text) => group.entries[at - 1].outcomes[n - 1] && link(`#/episode/${number}.${at}/${n}`, text);
  return h(Fragment, null,
    h("nav", {class: "ways", "aria-label": "Other episodes"},
      linkTo(place, task - 1, "‹ previous task"), linkTo(place, task + 1, "next task ›"),
      group.entries.map(({label}, i) => i + 1 !== place && linkTo(i + 1, task, `by ${label}`))),
    h("h1", {tabIndex: -1}, id),
    h("p", null, muted(`${group.entries[place - 1].label} on ${group.title}`, tier != null && `, tier ${tier}`)),
    error && h(Notice, {tone: "bad", title: "This episode could not be read"}, error),
    values && h(EpisodeBody, {episode: values[0][task - 1], outcome, route}));
}

function EpisodeBody({episode, outcome, route}) {
  const {steps, film, spending: used} = episode;
  const tiles = usePieces(film ? [episode.tiles] : []).values?.[0];
  return h(Fragment, null,
    h("p", null, h("strong", null, "Mission: "), episode.mission),
    h(Facts, {facts: [
      ["Outcome", showEnding(outcome.ending, outcome)],
      ["Steps", `${count(outcome.steps_taken)} of at most ${count(episode.max_steps)}`],
      ["Shortest way", bestText(outcome)],
      ["Optimality", ratio(outcome.optimality_ratio)],
      ["Points", pointText(outcome.points_earned, outcome.available_points)],
      ["Model time", seconds(outcome.seconds)],
      ["Tokens", used && tokenText(used)],
      ["Cost", used && usd(used.cost_usd, used.cost_unknown)],
    ]}),
    outcome.error != null && h(Notice, {tone: "bad", title: "The model failed"},
      h("p", {class: "message"}, outcome.error)),
    (tiles || !film) && h("section", {class: "panel", "aria-label": "Step by step"},
      h(FilmPlayer, {label: "Episode", film, tiles, route, primitives: steps.map(({action}) => action),
        missing: `The actions cannot be played again: ${episode.reason}.`, title: "Actions", noun: "Action",
        more: (step) => h(Words, steps[step - 1])})),
    film && h(Section, {id: "gif", title: "As an animation", note: "In the folder of the results file:"},
      h(Command, {text: episode.command})));
}

/** What the model was told before an action, and what it said. */
function Words({told, raw_output: answer, reasoning, confidence, planned}) {
  const said = [["Told in words before this action", told], ["Reasoning", reasoning],
    ["Answer", planned ? "This action is of an earlier answer." : answer],
    ["Confidence", confidence && percent(Number(confidence))]];
  return said.filter(([, text]) => text).map(([title, text]) => h(Said, {key: title, title, text}));
}
