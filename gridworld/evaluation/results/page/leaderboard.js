// The leaderboard of gridworld: rankings, what each model did with each task, and its episodes step by step.

const HOW_TO_READ = "A solved task earns its points times its optimality: steps of a shortest way by steps taken. " +
  "Optimality of a result is the mean over its solved tasks. Where no shortest way is known (≥), a bound stands in; " +
  "figures are then “at least”. Ranks go by points, then solved tasks; equal results share one. Bars: 95 % intervals.";

function openLeaderboard() {
  openPage("Gridworld leaderboard", ({groups, overview}, route) => {
    const [kind, result = "", task, ...more] = route.parts;
    const [number, place] = result.split(".");
    const group = groups[number - 1];
    const crumbs = [["#/", "Overview"], [`#/benchmark/${number}`, group?.title]];
    if (!kind) return {title: "Overview", view: h(Overview, {groups, overview, route})};
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

function Overview({groups, overview, route}) {
  const columns = useMemo(() => [
    {key: "model", name: "Model", head: true, value: (row) => row.model},
    ...groups.map(({title, entries: all}, i) => pairColumn(`b${i + 1}`, title, ({best}) => all[best[i]]?.point_rate,
      ({best}) => h(Rate, {...all[best[i]]}), ({best}) => best[i] != null && `${pointText(all[best[i]])} points`, {})),
  ], [groups]);
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, "Gridworld leaderboard"),
    h(Section, {id: "models", title: "Models and benchmarks", note: `The best results of each model. ${HOW_TO_READ}`},
      h(Table, {label: "Models", noun: "model", rows: overview, columns, route, wide: groups.length > 5})),
    groups.map((group, i) => h(Section, {key: i, id: `ranking-${i + 1}`, title: group.title,
      tools: link(`#/benchmark/${i + 1}`, `Tasks and episodes of ${group.title}`)},
    h(Ranking, {group, number: i + 1, route}))));
}

/** @returns {object} a column of figures, unless `more` says otherwise: `first` in a cell, `second` small below it */
function pairColumn(key, name, value, first = value, second = () => null, more = {number: true}) {
  const show = (row) => [first(row) ?? UNKNOWN, second(row) && h("small", {class: "muted"}, second(row))];
  return {key, name, value, show, ...more};
}

/** @returns {string} points of a result or an episode, with a word where they are a lower bound */
function pointText({bounded, points, available}) {
  return `${bounded ? "at least " : ""}${points.toFixed(2)} of ${Number(available.toFixed(2))}`;
}

/** @returns {string} the steps of a shortest way, or their bound */
function bestText({optimal, bound}) {
  return optimal == null && bound != null ? `≥${count(bound)}` : count(optimal);
}

const RANKING = [
  pairColumn("rank", "#", (row) => row.rank),
  pairColumn("model", "Model", (row) => row.label + row.source, (row) => row.model, (row) => row.source, {head: true}),
  pairColumn("solved", "Solved", (row) => row.rate.rate, (row) => h(Rate, row),
    (row) => row.errors > 0 && h("span", {class: "bad-text"}, plural(row.errors, "model error")), {}),
  pairColumn("points", "Points", (row) => row.point_rate, (row) => percent(row.point_rate), pointText),
  pairColumn("optimality", "Optimality", (row) => row.optimality, (row) => ratio(row.optimality),
    (row) => row.bounded > 0 && `at least; ${row.bounded} of ${row.solved} against a bound`),
  pairColumn("steps", "Mean steps", (row) => row.mean_steps, (row) => row.mean_steps.toFixed(1)),
  pairColumn("time", "Model time", (row) => row.seconds, (row) => seconds(row.seconds)),
  pairColumn("tokens", "Tokens", (row) => tokensOf(row.spending), (row) => tokenText(row.spending),
    (row) => row.spending && reasoningText(row.spending)),
  pairColumn("cost", "Cost", (row) => row.spending?.cost_usd,
    ({spending}) => usd(spending?.cost_usd, spending?.cost_unknown),
    ({spending}) => spending && plural(spending.requests, "request")),
  pairColumn("settings", "Settings", (row) => row.settings, (row) => row.settings, (row) => row.finished, {}),
];

function Ranking({group, number, route}) {
  return h(Fragment, null,
    group.mixed && h(Notice, {tone: "warn", title: "Different tasks"}, "Compare results whose settings end alike."),
    h(Table, {label: `Ranking of ${group.title}`, noun: "result", rows: group.entries, columns: RANKING, route,
      prefix: `r${number}-`, hint: group.entries.length > 8 && "model, file or setting"}));
}

const EPISODES = [
  {key: "task", name: "Task", head: true, value: (row) => row.id, show: (row) => link(row.href, row.id)},
  {key: "label", name: "Result", value: (row) => row.label},
  {key: "ending", name: "Outcome", value: (row) => row.ending,
    show: (row) => h(Outcome, {outcome: outcomeOf(row.solved), word: row.ending})},
  pairColumn("steps", "Steps", (row) => row.steps),
  pairColumn("best", "Shortest way", (row) => row.optimal ?? row.bound, bestText),
  pairColumn("ratio", "Optimality", (row) => row.ratio, (row) => ratio(row.ratio)),
  pairColumn("points", "Points", (row) => row.points, pointText),
];

function Benchmark({group, number, route}) {
  const {entries, tasks} = group;
  const rows = useMemo(() => tasks.map((task, at) => ({...task, cells: entries.map(({label, outcomes}, i) =>
    outcomes[at] && {...outcomes[at], label, id: task.id, href: `#/episode/${number}.${i + 1}/${at + 1}`})})), [group]);
  const episodes = useMemo(() => entries.flatMap((_, i) => rows.map(({cells}) => cells[i]).filter(Boolean)), [rows]);
  const columns = useMemo(() => [
    pairColumn("task", "Task", ({id, tier}) => `${id} tier ${tier}`, ({id}) => id,
      ({tier}) => tier != null && `tier ${tier}`, {head: true}),
    ...entries.map(({label}, i) => ({key: `e${i + 1}`, name: label, value: ({cells}) => cells[i]?.ratio ?? -1,
      show: ({cells}) => (cells[i] ? h(Cell, cells[i]) : UNKNOWN)})),
  ], [group]);
  const options = entries.map(({label}) => [label, label, (row) => row.label === label]);
  const filters = [{key: "result", name: "Result", select: true, options: [["", "all", () => true], ...options]}];
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, group.title),
    h(Section, {id: "ranking", title: "Ranking", note: HOW_TO_READ}, h(Ranking, {group, number, route})),
    h(Section, {id: "tasks", title: "Tasks", note: "Steps taken / of a shortest way. ✗ failed, ! model error."},
    h(Table, {label: "Tasks and results", noun: "task", rows, columns, route, prefix: "t-", hint: "task", wide: true})),
    h(Section, {id: "episodes", title: "Episodes"},
      h(Table, {label: "Episodes", noun: "episode", rows: episodes, columns: EPISODES, route, filters,
        hint: "task or outcome", groupOf: ({solved, ending}) => !solved && ending,
        toneOf: ({solved}) => !solved && "is-fail"})));
}

function Cell({label, id, href, solved, steps, ratio: share, error, ending, ...way}) {
  const words = `${label}, ${id}: ${ending}, ${plural(steps, "step")}, shortest way ${bestText(way)}`;
  return h("a", {href, class: `cell is-${outcomeOf(solved)}`, title: words, "aria-label": words,
    style: {"--tint": `${Math.round(5 + 40 * (share ?? 0))}%`}},
  solved ? `${count(steps)}/${bestText(way)}` : `${error ? "!" : "✗"} ${count(steps)}`);
}

function Episode({group, number, place, task, outcome, route}) {
  const {values, error} = usePieces([`episode-${number}.${place}-${task}`]);
  const {id, tier} = group.tasks[task - 1];
  const linkTo = (at, n, text) => group.entries[at - 1].outcomes[n - 1] && link(`#/episode/${number}.${at}/${n}`, text);
  return h(Fragment, null,
    h("nav", {class: "ways", "aria-label": "Other episodes"},
      linkTo(place, task - 1, "‹ previous task"), linkTo(place, task + 1, "next task ›"),
      group.entries.map(({label}, i) => i + 1 !== place && linkTo(i + 1, task, `by ${label}`))),
    h("h1", {tabIndex: -1}, id),
    h("p", null, muted(`${group.entries[place - 1].label} on ${group.title}`, tier != null && `, tier ${tier}`)),
    error && h(Notice, {tone: "bad", title: "This episode could not be read"}, error),
    values && h(Steps, {episode: values[0], outcome, route}));
}

function Steps({episode, outcome, route}) {
  const {steps, film, error, spending: used} = episode;
  const tiles = usePieces(episode.tiles ? [episode.tiles] : []).values?.[0] ?? {directions: []};
  const actions = steps.map(({action}) => action);
  const begins = useMemo(() => new Map(actions.map((_, i) => [i, i + 1])), [episode]);
  const side = (step, show) => h(Fragment, null,
    h(StepFacts, {episode: film, step, primitive: actions[step - 1], noun: "Action", directions: tiles.directions}),
    h(ActionList, {title: "Actions", actions, at: step - 1, begins, show}),
    h(Words, steps[step - 1]));
  const stage = (step) => (film ? tiles.picture && h(Grids, {episode: film, tiles, step})
    : h(Notice, {title: "No grid to show"}, `The actions cannot be played again: ${episode.reason}.`));
  const sayStep = (step) => (step ? `Step ${step}: ${actions[step - 1]}` : "Start");
  return h(Fragment, null,
    h("p", null, h("strong", null, "Mission: "), episode.mission),
    h(Facts, {facts: [
      ["Outcome", h(Outcome, {outcome: outcomeOf(outcome.solved), word: outcome.ending})],
      ["Steps", `${count(outcome.steps)} of at most ${count(episode.max_steps)}`], ["Shortest way", bestText(outcome)],
      ["Optimality", ratio(outcome.ratio)], ["Points", pointText(outcome)], ["Model time", seconds(episode.seconds)],
      ["Tokens", used && tokenText(used)], ["Cost", used && usd(used.cost_usd, used.cost_unknown)]]}),
    error && h(Notice, {tone: "bad", title: "The model failed"}, h("p", {class: "message"}, error)),
    h("section", {class: "panel", "aria-label": "Step by step"},
      h(Player, {label: "Episode", last: steps.length, route, sayStep, stage, side})),
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
