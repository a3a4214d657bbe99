// The page of an evaluation: its figures, its failures one by one with a player, and the agent that was frozen.

/** What a search with full information may find of a failure, its tone, and whose fault it is. */
const PROOFS = {solvable: ["bad", "the agent's fault"], refuted: ["bad", "the certificate's fault"],
  undecided: ["warn", "fault unknown"], unsolvable: ["", "nobody's fault"]};

const FAILURES_NOTE = "At the first attempt. The proof is what a search that knows the whole grid found: solvable " +
  "or not; undecided where it ran out of states or knows no rules; refuted where it said unsolvable and an attempt " +
  "solved it.";

const SHARES_NOTE = "pass@1: the first plan, carried out once, nothing undone. Episodes that are proven unsolvable " +
  "are left out. Intervals are at 95 %; those of all draw ids, so that episodes of one id count together, and are " +
  "Wilson's where all ids have the same share.";

const NO_FILM = "There is no room for its film in this page: the command above shows it.";

const PAIRS = [
  ...listNumbers({both: "both", ours_only: "ours only", bots_only: "bot only", neither: "neither"}, "solved by"),
  ...listNumbers({our_steps: "ours", bots_steps: "bot's"}, "steps of pairs"),
  {...listNumbers({ratio: "ratio"}, "steps of pairs")[0], show: (row) => ratio(row.ratio)},
];

function openEvaluation() {
  openPage("Frozen evaluation", viewOf);
}

function viewOf(report, route) {
  const {title, run_page: page} = report;
  const [place, name, ...rest] = route.parts;
  const crumbs = [...(page ? [[page, `Run ${report.agent}`]] : []), ["#/", title]];
  if (!place) return {title, crumbs, view: h(Overview, {report, route})};
  const failure = place === "failure" && report.failed.find(({number}) => String(number) === name);
  if (!failure || rest.length) return null;
  return {title: failure.replay, crumbs: [...crumbs, [`#/${route.path}`, failure.replay]],
    view: h(FailureView, {key: name, report, failure, route})};
}

// Overview -----------------------------------------------------------------------------------------------------------

function Overview({report, route}) {
  const {agent, run_page: page, run_command: command, settings, planners, unplayable, texts} = report;
  const parts = useMemo(() => listParts(report), [report]);
  const made = Object.entries(planners).map(([name, n]) => `${count(n)} by ${name || "nobody"}`).join(", ");
  const facts = Object.entries({...settings, ...report.made_with}).filter(([, value]) => value);
  return h(Fragment, null,
    h("section", null,
      h("h1", {tabIndex: -1}, report.title),
      h(Facts, {facts: [
        ["Agent", page ? link(page, `run ${agent}`) : agent],
        ["To make the page of its run", command && h(Command, {text: command})],
        ["Coder model", report.coder],
        ["Began", report.began && moment(report.began)],
        ["Ended", report.ended && moment(report.ended)],
        ["First plans", made],
      ]}),
      h(EvaluationFigures, {report, parts}),
      report.continuations.map((line) => h(Notice, {key: line, tone: "warn", title: "Another source later"}, line))),
    h(Section, {id: "categories", title: "By category", note: SHARES_NOTE},
      h(ShareTable, {kind: "categories", title: "Category", parts, report, route})),
    h(Section, {id: "failures", title: "Failures", note: report.failed.length ? FAILURES_NOTE : "None."},
      report.failed.length > 0 && h(FailureTable, {report, route})),
    h(Section, {id: "ids", title: "By environment id"},
      h(ShareTable, {kind: "ids", title: "Environment id", parts, report, route})),
    parts.map(({name, bot}) => Object.keys(bot?.reasons ?? {}).length > 0 &&
      h(Section, {key: name, id: name, title: `Why the bot of BabyAI failed, ${name}`},
        h(List, {items: Object.entries(bot.reasons).map(([why, n]) => `${count(n)} × ${why}`)}))),
    Object.keys(unplayable).length > 0 && h(Section, {id: "unplayable", title: "Ids that cannot be played"},
      h(List, {items: Object.entries(unplayable).map(([id, why]) => `${id}: ${why}`)})),
    h(Section, {id: "made", title: "Settings, versions and agents"},
      h(Facts, {facts: facts.map(([name, value]) => [spaced(name), String(value)])}),
      Object.entries(texts).map(([category, text]) =>
        h(TextFold, {key: category, title: category ? `The agent of ${category}` : "The agent", text}))));
}

/** @returns {object[]} the ids of the curriculum and those outside it: rows of categories, of ids and of `all` */
function listParts(report) {
  const places = [["curriculum", "bot", "in the curriculum"], ["outside", "bot_outside", "outside the curriculum"]];
  return places.filter(([block]) => report[block].ids.length).map(([block, versus, name]) => {
    const {pooled, interval, interval_solved: later, ...lists} = report[block];
    const bot = report[versus];
    const join = (row, pair) => ({ratio: pair?.our_steps / pair?.bots_steps || null, ...pair, ...row, part: name});
    const joinPairs = (kind) =>
      lists[kind].map((row) => join(row, bot?.[kind].find((pair) => pair.name === row.name)));
    const all = {...join(pooled, bot?.pooled), name: `all ${name}`, pass1: widenRate(pooled.pass1, interval),
      solved: widenRate(pooled.solved, later)};
    return {name, all, bot, categories: joinPairs("categories"), ids: joinPairs("ids"), words: report.ratios[versus]};
  });
}

/** Where all ids have the same share, the bootstrap's interval has no width; Wilson's has. */
function widenRate(rate, interval) {
  return interval?.low < interval?.high ? {...rate, ...interval} : rate;
}

function EvaluationFigures({report, parts}) {
  const {settings: {attempts, planner_model: planner}, usage, failed, began, ended} = report;
  const share = (name, {good, total, rate, low, high}, words) => ({name, value: percent(total ? rate : null),
    note: `${words}: ${count(good)} of ${count(total)}; ${percent(low)} to ${percent(high)}`});
  const toFailures = (proof, text, tone) => h("a", {key: proof, class: tone, onClick: () => goTo("failures"),
    href: proof ? `#/?proof=${proof}` : "#/"}, text);
  const proofs = Object.entries(PROOFS).map(([proof, [, fault]]) =>
    [proof, failed.filter((row) => row.proof === proof).length, fault]);
  return h(Figures, {figures: [
    ...parts.flatMap(({name, all}) => [
      share(`pass@1 ${name}`, all.pass1, "solved by the first plan"),
      attempts > 1 && share(`pass@${attempts} with undo, ${name}`, all.solved,
        `solved by one of at most ${attempts} plans; before a new plan, all steps of the last one are undone`),
    ]),
    {name: "At the first attempt", value: failed.length
      ? toFailures("", `${count(failed.length)} failed`, "bad") : "none failed",
      links: proofs.map(([proof, n, fault]) => n > 0 && toFailures(proof, `${count(n)} ${proof}: ${fault}`))},
    ...parts.map(({name, bot, words}) =>
      bot && {name: `Steps against the bot, ${name}`, value: ratio(bot.ratio), note: words}),
    began && ended && {name: "Time", value: seconds(ended - began), note: `${seconds(report.work)} of playing`},
    {name: "Cost", value: usd(usage?.cost_usd, usage?.cost_unknown),
      note: usage?.requests === 0 ? "no paid call" : `${usage ? count(usage.requests) : "unknown"} calls, ${planner}`},
  ]});
}

/** @returns {object[]} columns of numbers, by their names in a row */
function listNumbers(names, span) {
  return Object.entries(names).map(([key, name]) =>
    ({key, name, span, number: true, value: (row) => row[key], show: (row) => count(row[key])}));
}

/** Shares of categories or of ids, and their pairs with the bot. */
function ShareTable({kind, title, parts, report, route}) {
  const {attempts} = report.settings;
  const columns = useMemo(() => [
    {key: "name", name: title, head: true, value: (row) => row.name},
    ...[["pass1", "pass@1"], ["solved", `pass@${attempts}`]].slice(0, attempts).map(([key, name]) => ({key, name,
      value: (row) => (row[key].total ? row[key].rate : null), show: (row) => h(Rate, {rate: row[key]})})),
    ...listNumbers({steps: "steps", unsolvable: "unsolvable"}),
    ...(parts.some(({bot}) => bot) ? PAIRS : []),
  ], [parts]);
  const rows = useMemo(() => parts.flatMap((part) => part[kind]), [parts]);
  const options = [["", "all", () => true], ...parts.map(({name}) => [name, name, ({part}) => part === name])];
  return h(Table, {label: title, noun: "id", rows, columns, route, prefix: `${kind}.`,
    ...(kind === "ids" && {hint: "part of an id", filters: [{key: "part", name: "Ids", options}]}),
    totals: parts.map(({all}) => h(Row, {key: all.name, row: all, columns}))});
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
  const [tone, fault] = PROOFS[proof];
  return [h("span", {class: classes("badge", tone)}, proof), ` ${fault}`];
}

// A failure ----------------------------------------------------------------------------------------------------------

function FailureView({report, failure, route}) {
  const {number, group} = failure;
  const at = number - 1;
  const {values, error} = usePieces([`failures/${Math.floor(at / report.chunk)}`, "tiles"]);
  const played = values?.[0][at % report.chunk];
  return h(Fragment, null,
    h("nav", {class: "ways", "aria-label": "Failures"},
      number > 1 && link(`#/failure/${number - 1}`, "← Previous failure"),
      number < report.failed.length && link(`#/failure/${number + 1}`, "Next failure →"),
      h("a", {href: `#/?${new URLSearchParams({group})}`, onClick: () => goTo("failures")}, "All of this kind")),
    h("p", {class: "muted small"}, `Failure ${count(number)} of ${count(report.failed.length)} · ${failure.category}`),
    h("h1", {tabIndex: -1}, failure.replay),
    played?.footage?.mission && h("p", null, `“${played.footage.mission}”`),
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
    played && h(FailureBody, {report, failure, route, ...played, tiles: values[1]}));
}

function FailureBody({report, failure, route, trials, footage, tiles}) {
  const {witness, certificate, map} = failure;
  const text = report.texts[failure.agent];
  const name = (codes) => codes.map((code) => report.primitives[code]);
  const played = trials.map(({plan, acted}, i) => ({label: `attempt ${i + 1}`, title: "Plan", actions: plan,
    primitives: name(acted.flat()), positions: acted.flatMap((codes, at) => codes.map(() => at))}));
  if (witness.length) played.push({label: "witness", title: "Primitives that solve it", primitives: name(witness)});
  const chosen = played.find(({label}) => label === route.query.get("show")) ?? played[0];
  const [film, check] = footage?.attempts[played.indexOf(chosen)] ?? [null, {message: NO_FILM}];
  const isEqual = check.result === "equal";
  const options = played.map(({label}, i) => [label, trials[i] ? label : "witness: a solution"]);
  const tools = h(Choice, {name: "What is played", options, chosen: chosen.label,
    choose: (show) => route.choose({show, step: ""})});
  return h(Fragment, null,
    h(Section, {id: "player-title", title: "Player", tools},
      film && !isEqual && h(Notice, {tone: "warn", title: "This may not be what happened"}, check.message),
      h(FilmPlayer, {key: chosen.label, ...chosen, film, missing: check.message, tiles, route,
        more: () => h("p", {class: "muted small"}, !chosen.primitives.length && "No primitive was executed. ",
          isEqual && `✓ ${check.message}`)})),
    trials.map((trial, i) => h(Section, {key: i, id: `attempt-${i + 1}`,
      title: `Attempt ${i + 1}: ${spaced(trial.status)}`, note: h("span", {class: "message"}, trial.reason)},
    trial.plan.map((call, at) => h(MethodFold, {key: at, call, text})))),
    certificate && h(Section, {id: "proof", title: `Found by a search with full information: ${failure.proof}`},
      h("p", null, certificate),
      map.length > 0 && h(CodeView, {text: {language: "text", lines: map}, label: "Map of the certificate"}),
      map.length > 0 && h("p", {class: "muted small"}, report.legend)));
}

/** A call of a plan, which unfolds its method in the agent. */
function MethodFold({call, text}) {
  const start = `def ${call.split("(", 1)[0]}(`;
  const line = 1 + text.lines.findIndex((each) => each.trim().startsWith(start));
  return line ? h(Fold, {summary: mono(call)}, () => h(CodeView, {text, current: line, label: `Method of ${call}`}))
    : h("p", null, mono(call), muted(" – the agent has no such method"));
}
