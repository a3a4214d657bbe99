// The page of an evaluation: its figures, its failures one by one with a player, and the agent that was frozen.

/** What a search with full information may find of a failure, and its tone. */
const PROOFS = {solvable: "bad", refuted: "bad", undecided: "warn", unsolvable: ""};

const FAILURES_NOTE = "At the first attempt. The proof is what a search with full information found: " +
  "solvable, so the agent is at fault; unsolvable, so nobody is; undecided where it ran out of states.";

/** Columns of numbers: key, name, what stands above them. */
const NUMBERS = [["steps", "steps"], ["unsolvable", "unsolvable"]];
const PAIRS = [["both", "both", "solved by"], ["ours_only", "ours only", "solved by"],
  ["bots_only", "bot only", "solved by"], ["neither", "neither", "solved by"], ["our_steps", "ours", "steps of pairs"],
  ["bots_steps", "bot's", "steps of pairs"], ["ratio", "ratio", "steps of pairs"]];

function openEvaluation() {
  openPage("Frozen evaluation", viewOf);
}

function viewOf(report, route) {
  const {title, run_page: page} = report;
  const [place, name = "", ...rest] = route.parts;
  const failure = place === "failure" && report.failed.find(({number}) => String(number) === name);
  const home = [...(page ? [[page, `Run ${report.agent}`]] : []), ["#/", title]];
  const show = (text, view) => ({title: text, crumbs: [...home, [`#/${route.path}`, text]], view});
  if (!place) return {title, crumbs: home, view: h(Overview, {report, route})};
  if (place === "agent" && !rest.length) return show("Agent", h(AgentView, {name, route}));
  return failure && !rest.length ? show(failure.replay, h(FailureView, {key: name, report, failure, route})) : null;
}

// Overview -----------------------------------------------------------------------------------------------------------

function Overview({report, route}) {
  const {agent, run_page: page, run_command: command, settings, planners, versions, unplayable} = report;
  const parts = ["curriculum", "outside"].map((name, i) => ({...report[name], note: report.notes[i],
    name: i ? "outside the curriculum" : "in the curriculum",
    bot: report[i ? "bot_outside" : "bot"], words: report.ratios[i]})).filter(({ids}) => ids.length);
  const made = Object.entries(planners).map(([name, n]) => `${count(n)} by ${name || "nobody"}`).join(", ");
  const facts = [...Object.entries(settings).filter(([, value]) => value), ["sandbox", report.sandbox],
    ...Object.entries(versions), ["source", report.source]];
  return h(Fragment, null,
    h("section", null,
      h("h1", {tabIndex: -1}, report.title),
      h(Facts, {facts: [
        ["Agent", page ? link(page, `run ${agent}`) : agent],
        ["Methods", link("#/agent", "as they were frozen")],
        ["Began", moment(report.began)],
        ["Ended", moment(report.ended)],
        ["First plans", made],
        !page && command && ["The page of the run is made by", h(Command, {text: command})],
      ].filter(Boolean)}),
      h(EvaluationFigures, {report, parts}),
      report.continuations.map((line) => h(Notice, {key: line, tone: "warn", title: "Another source later"}, line))),
    h(Section, {id: "categories", title: "By category", note: "pass@1: the first plan, carried out once, nothing " +
      "undone. Episodes that are proven unsolvable are left out. Intervals are at 95 %; those of all draw ids, so " +
      "that episodes of one id count together."},
    h(ShareTable, {kind: "categories", title: "Category", parts, report, route}),
    parts.map(({name, note}) => note && h("p", {key: name, class: "muted"}, `All ${name}: ${note}.`)),
    h(Fold, {summary: "By environment id", prints: true, open: /(^|&)ids\./.test(route.search)}, () =>
      h(ShareTable, {kind: "ids", title: "Environment id", parts, report, route}))),
    h(Section, {id: "failures", title: "Failures", note: report.failed.length ? FAILURES_NOTE : "None."},
      report.failed.length > 0 && h(FailureTable, {report, route})),
    parts.map(({name, bot, words}) => bot && h(Section, {key: name, id: name, title: `The bot of BabyAI, ${name}`},
      h("p", null, words, "."),
      Object.keys(bot.reasons).length > 0 && h("h3", null, "Why the bot failed"),
      h(List, {items: Object.entries(bot.reasons).map(([why, n]) => `${count(n)} × ${why}`)}))),
    Object.keys(unplayable).length > 0 && h(Section, {id: "unplayable", title: "Ids that cannot be played"},
      h(List, {items: Object.entries(unplayable).map(([id, why]) => `${id}: ${why}`)})),
    h(Section, {id: "made", title: "Settings and versions"},
      h(Facts, {facts: facts.map(([name, value]) => [spaced(name), String(value)])})));
}

function EvaluationFigures({report, parts}) {
  const {settings: {attempts, planner_model: planner}, usage, failed, began, ended} = report;
  // Where all ids have the same share, the bootstrap's interval has no width; Wilson's has.
  const share = (name, rate, interval) => ({name, value: percent(rate.total ? rate.rate : null),
    note: `${count(rate.good)} of ${count(rate.total)}; ` +
      describeInterval(interval?.low < interval?.high ? interval : rate, percent)});
  const toFailures = (proof, text, tone) => h("a", {key: proof, class: tone, onClick: () => goTo("failures"),
    href: proof ? `#/?proof=${proof}` : "#/"}, text);
  const proofs = Object.keys(PROOFS).map((proof) => [proof, failed.filter((row) => row.proof === proof).length]);
  return h(Figures, {figures: [
    ...parts.flatMap(({name, pooled, interval, interval_solved: later}) => [
      share(`pass@1 ${name}`, pooled.pass1, interval),
      attempts > 1 && share(`pass@${attempts} with undo, ${name}`, pooled.solved, later),
    ]),
    {name: "At the first attempt", value: failed.length ? toFailures("", `${count(failed.length)} failed`, "bad")
      : "none failed", links: proofs.map(([proof, n]) => n > 0 && toFailures(proof, `${count(n)} ${proof}`))},
    ...parts.map(({name, bot}) => bot?.interval && {name: `Steps against the bot, ${name}`,
      value: ratio(bot.interval.value),
      note: `${describeRatio(bot.interval.value)}; ${describeInterval(bot.interval, ratio)}`}),
    {name: "Time", value: seconds(began && ended ? ended - began : null), note: `${seconds(report.work)} of playing`},
    {name: "Cost", value: usd(usage?.cost_usd, usage?.cost_unknown),
      note: usage?.requests === 0 ? "no paid call" : `${usage ? count(usage.requests) : "unknown"} calls, ${planner}`},
  ]});
}

/** @param {number} n steps over those of the bot @returns {string} what that means */
function describeRatio(n) {
  const difference = n === 1 ? "as many" : `${percent(Math.abs(1 - n))} ${n < 1 ? "fewer" : "more"}`;
  return `${ratio(n)} of the bot's steps: ${difference}; below 1 is better`;
}

function describeInterval({low, high}, write) {
  return `${write(low)} to ${write(high)}`;
}

/** Shares of categories or of ids, and their pairs with the bot. */
function ShareTable({kind, title, parts, report, route}) {
  const {attempts} = report.settings;
  const rows = useMemo(() => parts.flatMap((part) => part[kind].map((row) => joinPair(row, part, part.bot?.[kind]))),
    [report, kind]);
  const totals = parts.map((part) => ({...joinPair(part.pooled, part, [part.bot?.pooled]), name: `all ${part.name}`,
    pass1: {...part.pooled.pass1, ...part.interval}, solved: {...part.pooled.solved, ...part.interval_solved}}));
  const columns = useMemo(() => [
    {key: "name", name: title, head: true, value: (row) => row.name},
    ...[["pass1", "pass@1"], ["solved", `pass@${attempts}`]].slice(0, attempts).map(([key, name]) => ({key, name,
      value: (row) => (row[key].total ? row[key].rate : null), show: (row) => h(Rate, {rate: row[key]})})),
    ...[...NUMBERS, ...(report.bot || report.bot_outside ? PAIRS : [])].map(([key, name, span]) => ({key, name, span,
      number: true, value: (row) => row[key], show: (row) => (key === "ratio" ? ratio : count)(row[key])})),
  ], [report, kind]);
  const options = [["", "all", () => true], ...parts.map(({name}) => [name, name, ({part}) => part === name])];
  return h(Table, {label: title, noun: "id", rows, columns, route, prefix: `${kind}.`,
    ...(kind === "ids" && {hint: "part of an id", filters: [{key: "part", name: "Ids", options}]}),
    totals: totals.map((row) => h(Row, {key: row.name, row, columns}))});
}

/** A row with what the bot did in its episodes. */
function joinPair(row, part, pairs = []) {
  const pair = pairs.find((each) => each?.name === row.name);
  return {...pair, ratio: pair?.bots_steps ? pair.our_steps / pair.bots_steps : null, ...row, part: part.name};
}

function FailureTable({report, route}) {
  const column = (key, name, show, more) => ({key, name, value: (row) => String(row[key]), show, ...more});
  const columns = useMemo(() => [
    column("number", "№", undefined, {number: true}),
    column("replay", "Episode", (row) => link(`#/failure/${row.number}`, row.replay), {head: true}),
    column("category", "Category"),
    column("failure", "Status", (row) => spaced(row.failure)),
    column("reason", "Reason", (row) => firstLine(row.reason)),
    column("plan", "Plan", (row) => mono(row.plan.join(", ") || UNKNOWN)),
    column("planner", "Planned by", (row) => row.planner || "nobody"),
    column("proof", "Proof", (row) => h(ProofBadge, row)),
  ], [report]);
  const options = Object.keys(PROOFS).map((proof) => [proof, proof, (row) => row.proof === proof]);
  return h(Table, {label: "Failures", noun: "failure", rows: report.failed, columns, route,
    hint: "episode, reason, plan", groupOf: (row) => row.group,
    filters: [{key: "proof", name: "Proof", options: [["", "all", () => true], ...options]}]});
}

function ProofBadge({proof}) {
  return h("span", {class: classes("badge", PROOFS[proof])}, proof);
}

// A failure ----------------------------------------------------------------------------------------------------------

function FailureView({report, failure, route}) {
  const {number, group} = failure;
  const {values, error} = usePieces([`failure/${number}`, "tiles", "agents"]);
  return h(Fragment, null,
    h("nav", {class: "ways", "aria-label": "Failures"},
      number > 1 && link(`#/failure/${number - 1}`, "← Previous failure"),
      number < report.failed.length && link(`#/failure/${number + 1}`, "Next failure →"),
      h("a", {href: `#/?${new URLSearchParams({group})}`, onClick: () => goTo("failures")}, "All of this kind")),
    h("p", {class: "muted small"}, `Failure ${count(number)} of ${count(report.failed.length)} · ${failure.category}`),
    h("h1", {tabIndex: -1}, failure.replay),
    values?.[0].footage?.mission && h("p", null, `“${values[0].footage.mission}”`),
    h("p", {class: "row"}, h(Outcome, {outcome: "fail", word: spaced(failure.failure)}),
      h("span", {class: "message"}, failure.reason)),
    h(Facts, {facts: [
      ["Planned by", failure.planner || "nobody"],
      ["Proof", h(ProofBadge, failure)],
      ["Certificate", failure.refuted_by && `wrong: ${failure.refuted_by} solved it`],
      ["Solved later", failure.solved_later && `at attempt ${failure.attempts}`],
      ["To see it on the terminal", h(Command, {text: failure.command})],
    ].filter(([, value]) => value)}),
    error && h(Notice, {tone: "bad", title: "This failure could not be read"}, error),
    values && h(FailureBody, {report, failure, route, ...values[0], tiles: values[1], agents: values[2]}));
}

function FailureBody({report, failure, route, trials, footage, tiles, agents}) {
  const {witness, certificate, map, category} = failure;
  const names = witness.map((code) => report.primitives[code]);
  const played = trials.map((trial, i) => ({name: `attempt ${i + 1}`, actions: trial.plan, codes: trial.acted.flat(),
    positions: trial.acted.flatMap((codes, at) => codes.map(() => at))}));
  if (names.length) played.push({name: "witness", actions: names, codes: witness, positions: [...names.keys()]});
  const usual = played.find(({codes}) => codes.length) ?? played[0];
  const chosen = played.find(({name}) => name === route.query.get("show")) ?? usual;
  const shown = footage?.shown[played.indexOf(chosen)];
  const tools = footage && h(Choice, {name: "What is played", options: played.map(({name}) => [name, name]),
    chosen: chosen.name, choose: (show) => route.choose({show, step: ""})});
  return h(Fragment, null,
    h(Section, {id: "player-title", title: "Player", tools},
      shown?.is_equal === false && h(Notice, {tone: "warn", title: "This may not be what happened"}, shown.check),
      shown?.film != null ? h(EpisodePlayer, {key: chosen.name, chosen, shown, film: footage.films[shown.film], tiles,
        report, route}) : h("p", null, "There is no room for its film in this page: the command above shows it.")),
    trials.map((trial, i) => h(Section, {key: i, id: `attempt-${i + 1}`,
      title: `Attempt ${i + 1}: ${spaced(trial.status)}`, note: h("span", {class: "message"}, trial.reason)},
    h("ol", null, trial.plan.map((call, at) => h("li", {key: at}, h(MethodLink, {call, agents, category})))))),
    certificate && h(Section, {id: "proof", title: `Found by a search with full information: ${failure.proof}`},
      h("p", null, certificate),
      map.length > 0 && h(CodeView, {text: {language: "text", lines: map}, label: "Map of the certificate"}),
      map.length > 0 && h("p", {class: "muted small"}, report.legend),
      names.length > 0 && h(TextFold, {title: "Witness", text: {language: "text", lines: names}})));
}

/** An attempt or the witness, step by step. */
function EpisodePlayer({chosen: {name, actions, codes, positions}, shown, film, tiles, report, route}) {
  const begins = useMemo(() => firstSteps(positions), [film]);
  const primitiveAt = (step) => report.primitives[codes[step - 1]] ?? "";
  return h(Player, {label: `Player of the ${name}`, last: film.agent.length - 1, route,
    sayStep: (step) => `Step ${step}: ${primitiveAt(step) || "before the first step"}.`,
    stage: (step) => h(Fragment, null,
      h(Grids, {episode: film, tiles, step}),
      h(StepFacts, {episode: film, step, primitive: primitiveAt(step), directions: tiles.directions})),
    side: (step, show) => h(Fragment, null,
      h(ActionList, {title: name === "witness" ? "Primitives that solve it" : "Plan", actions, at: positions[step - 1],
        begins, show}),
      shown.is_equal && h("p", {class: "muted small"}, `✓ ${shown.check}`))});
}

/** A call of a plan, linked to its method. */
function MethodLink({call, agents, category}) {
  const key = Object.hasOwn(agents, category) ? category : "";
  const start = `def ${call.split("(", 1)[0]}(`;
  const line = 1 + agents[key].lines.findIndex((text) => text.trim().startsWith(start));
  return line ? link(`#/agent/${encodeURIComponent(key)}?line=${line}`, mono(call))
    : h(Fragment, null, mono(call), muted(" – the agent has no such method"));
}

// The agent ----------------------------------------------------------------------------------------------------------

function AgentView({name, route}) {
  const {values, error} = usePieces(["agents"]);
  const category = Object.keys(values?.[0] ?? {}).find((each) => encodeURIComponent(each) === name);
  const text = values?.[0][category];
  if (values && !text) return h(Nowhere);
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, category ? `The agent of ${category}` : "The agent"),
    error && h(Notice, {tone: "bad", title: "The agent could not be read"}, error),
    text && h(CopyButton, {make: () => text.lines.join("\n")}),
    text && h(CodeView, {text, label: "The agent", current: Number(route.query.get("line"))}));
}
