// One level: its head, where it failed and who wrote that, the player, its rounds.

const FAILURE_TITLES = {running: "Where the last attempt failed", aborted: "How far it came"};

/** A level: loads it, shows it, and leads on to its neighbours. */
function LevelPage({report, run, k, row, route}) {
  const begun = row.outcome !== "pending";
  const {values, error} = begun ? usePieces([`run/${k}/level/${row.number}`, `run/${k}/texts`], row.version) : {};
  return h(Fragment, null,
    h(Neighbours, {run, k, row}),
    h(LevelHead, {run, k, row, level: values?.[0]}),
    !begun && h("p", null, "This level was not begun."),
    error && h(Notice, {tone: "bad", title: "This level could not be loaded"}, error),
    values ? h(LevelBody, {report, run, k, row, level: values[0], find: textFinder(values), route})
      : begun && !error && h("p", {class: "muted", role: "status"}, "Reading the level …"));
}

function Neighbours({run, k, row}) {
  const at = run.levels.indexOf(row);
  const failed = run.levels.find((level, i) => i > at && level.outcome === "fail");
  const toLevel = (level, text, way) => level &&
    h("a", {href: addressOf(k, level.number), title: level.env_id, "data-way": way}, text);
  return h("nav", {class: "ways", "aria-label": "Levels"},
    toLevel(run.levels[at - 1], "← Previous level", "prev"),
    toLevel(run.levels[at + 1], "Next level →", "next"),
    toLevel(failed, "Next failed level ⇥", "failed"));
}

function LevelHead({run, k, row, level}) {
  const outcome = level?.outcome ?? row.outcome;
  const {usage} = row;
  const discarded = row.steps_total != null && row.steps_total !== row.steps;
  return h("header", {class: "level-head"},
    h("p", {class: "muted small"}, `Level ${row.number} · ${row.category}`),
    h("h1", {tabIndex: -1}, row.env_id),
    level?.mission && h("p", {class: "mission"}, "“", level.mission, "”"),
    h("p", {class: "row"}, h(Outcome, {outcome}), h("span", {class: "message"}, row.headline)),
    h(Facts, {facts: [
      ["Rounds", count(row.rounds)],
      ["Attempts", count(row.attempts)],
      ["Calls", `${count(row.planner_calls)} planner, ${count(row.coder_calls)} coder`],
      ["Planned by", row.writer && h(WriterLink, {run, k, label: row.writer}),
        "a stored problem writer, without a call"],
      ["Steps", `${count(row.steps)}${discarded ? ` in the last attempt, ${count(row.steps_total)} in all` : ""}`],
      ["Tokens", `${count(usage.input_tokens)} → ${count(usage.output_tokens)}${reasoningText(usage)}`, "in → out"],
      ["Cost", usd(usage.cost_usd, usage.cost_unknown)],
      ["Time", seconds(row.seconds)],
      ["Seed", row.seed],
      ["Begun", row.begun > 1 && plural(row.begun, "time")],
      ["Corrections", row.corrections.length > 0 && row.corrections.join(", ")],
    ].filter(([, value]) => value)}),
    h(CheckLine, {row, level}));
}

function CheckLine({row, level}) {
  const different = attemptsOf(level).filter(({attempt}) => attempt.check.result === "different");
  if (!different.length && row.check !== "different") {
    return row.check && h("p", {class: "small muted"}, row.check === "equal" ? "✓ " : "", describeCheck(row.check),
      ".");
  }
  return h(Notice, {tone: "warn", title: "The re-simulation differs from the recording"},
    "What the player shows may not be what happened.",
    h(List, {items: different.map(({id, attempt}) => `Attempt ${id}: ${attempt.check.message}`)}));
}

/** @param {object} [level] @returns {{id: string, round: object, attempt: object}[]} in the order of execution */
function attemptsOf(level) {
  return (level?.rounds ?? []).flatMap((round) => round.tries.filter((item) => item.attempt)
    .map(({attempt}) => ({id: `${attempt.round}.${attempt.number}`, round, attempt})));
}

/** @param {{name: string, args: string[]}} action @returns {string} */
function actionText(action) {
  return `${action.name}(${action.args.join(", ")})`;
}

function LevelBody({report, run, k, row, level, find, route}) {
  const base = addressOf(k, row.number);
  const attempts = attemptsOf(level);
  const current = attempts.find(({id}) => id === route.parts[5]) ?? attempts.at(-1);
  const watch = (id, step) => `${base}/attempt/${id}?step=${step}`;
  const page = {report, run, k, base, find, watch, outcome: level.outcome, query: route.query};
  const hasOpenTry = level.rounds.some(({tries}) => tries.some((item) => !item.attempt));
  return h(Fragment, null,
    h(WhereItFailed, {level, attempts, page}),
    current && h("section", {class: "panel", "aria-labelledby": "player-title"},
      h("h2", {id: "player-title"}, "Player"),
      h(AttemptChoice, {attempts, current, choose: (id) => route.go(watch(id, 0))}),
      h(AttemptPlayer, {key: current.id, ...current, page, route})),
    h(Section, {id: "rounds", title: "Rounds",
    note: "Attempt 2.1 is the first of round 2. A new round begins with the library and may write a method once more."},
      !level.rounds.length && h("p", {class: "muted"}, "Nothing of this level is recorded yet."),
      isUnfinished(level.outcome) && hasOpenTry && h("p", {class: "muted"},
        "Attempts are recorded when the level ends; until then there are only the calls of each try."),
      level.rounds.map((round, i) => h(RoundView, {key: i, round, isLast: i === level.rounds.length - 1, page}))),
    level.offer && h(OfferView, {offer: level.offer, page}));
}

/** The problem writer that came with the plan, and what became of it. */
function OfferView({offer, page}) {
  const {name, label, reason, source, domain} = offer;
  return h(Section, {id: "offer", title: "Problem writer"},
    h("p", null, "With the plan came ", mono(label || name),
      label ? ", which was accepted and is tried on the levels to come." : ", which was not accepted: ",
      !label && muted(reason)),
    label && !source && h("p", {class: "muted"}, "The run's folder does not have its source."),
    source && h(TextFold, {title: "Source of the writer", text: page.find(source), opener: page.query.get("open")}),
    domain && h(TextFold, {title: "PDDL domain of its problems", text: page.find(domain)}));
}

function AttemptChoice({attempts, current, choose}) {
  const {id, attempt} = current;
  const options = attempts.map((item) => [item.id, [item.id, " ", h(Status, item)]]);
  return h("div", {class: "attempt-choice"},
    attempts.length > 1 && h(Choice, {name: "Attempts", options, chosen: id, choose}),
    h("p", null, `Attempt ${id}: `, h(Status, {attempt}),
      attempt.status !== "success" && muted(` ${firstLine(attempt.message)}`)));
}

/** How an attempt ended, by a sign, a word and a colour. */
function Status({attempt: {status}}) {
  return h(Outcome, {outcome: outcomeOf(status === "success"), word: status === "success" ? "solved" : spaced(status)});
}

/** The player of an attempt: the grids, the plan, and the line that yielded each primitive. */
function AttemptPlayer({id, attempt, round, page, route}) {
  const {episode, steps, check} = attempt;
  const {tiles} = page.report;
  const {primitives} = page.run;
  const lineAt = (step) => steps[step - 1]?.[2] ?? 0;
  return h(FilmPlayer, {label: `Player of attempt ${id}`, film: episode, missing: check.message, tiles, route,
    primitives: steps.map(([code]) => primitives[code]), title: "Plan", actions: round.plan.map(actionText),
    positions: steps.map(([, planned]) => planned),
    more: (step) => h(SourcePanel, {line: lineAt(step), first: lineAt(1), text: page.find(attempt.agent), k: page.k})});
}

function SourcePanel({line, first, text, k}) {
  const at = line || first;
  const method = text?.methods?.find((one) => one.first <= at && at <= one.last);
  const {first: from, last: to, name} = method ?? {first: Math.max(1, at - 10), last: at + 10, name: ""};
  return h("section", {class: "source"},
    h("h3", null, "Source ", mono(name), line > 0 && muted(` line ${line}`)),
    method && h("p", {class: "small"}, h(WrittenBy, {k, method})),
    at ? h(CodeView, {text, first: from, last: to, current: line, label: `Source of ${name || "the agent"}`})
      : h("p", {class: "muted"}, "No primitive was executed."));
}

/** The line of generated code where a level failed and who wrote it, or what kept anything from being executed. */
function WhereItFailed({level, attempts, page}) {
  const {outcome, blame} = level;
  if (outcome === "success" || (outcome === "running" && !blame)) return null;
  return h("section", {class: "panel failure", id: "failure", "aria-labelledby": "failure-title"},
    h("h2", {id: "failure-title"}, FAILURE_TITLES[outcome] ?? "Where it failed"),
    blame && h(Blamed, {blame, attempts, page}),
    h(LastError, {level, attempts, page}));
}

function Blamed({blame, attempts, page}) {
  const id = `${blame.round}.${blame.attempt}`;
  const {attempt, round} = attempts.find((item) => item.id === id) ?? {};
  const step = attempt?.steps.findLastIndex(([, , line]) => line === blame.line) + 1 || attempt?.steps.length;
  return h(Fragment, null,
    h("p", null, `Attempt ${id}: `, h("strong", {class: "bad-text"}, spaced(blame.status)), " — ",
      h("span", {class: "message"}, blame.message)),
    blame.line > 0 ? h(BlameExcerpt, {blame, attempt, plan: round?.plan, page})
      : h("p", null, blame.method && [mono(blame.method), ": "], blame.why),
    h("p", {class: "row"},
      step > 0 && link(page.watch(id, step), "Show the step in the player"),
      attempt && link(`${page.base}?open=${id}`, `Go to attempt ${id}`)));
}

/** What was said to a model after the last attempt that ran, if it brought no further attempt. */
function LastError({level, attempts, page}) {
  const call = callsAfterLastAttempt(level).findLast((item) => item.error);
  if (!call) return !level.blame && h("p", {class: "message"}, level.reason || "No reason is recorded.");
  return h(Fragment, null,
    h("p", null, attempts.length ? "After it nothing was executed. " : "Nothing was executed. ",
      `The last thing said to the ${call.phase}:`),
    h(Said, {title: `${call.phase}, ${call.mode}`, text: call.error}),
    h("p", null, link(`${page.base}?${new URLSearchParams({call: call.file})}`, "Go to the call")));
}

/** @returns {object[]} the calls that no attempt followed */
function callsAfterLastAttempt(level) {
  const turns = level.rounds.flatMap((round) => [{calls: round.calls}, ...round.tries]);
  const last = turns.findLastIndex(({attempt}) => attempt);
  return turns.slice(last + 1).flatMap(({calls}) => calls);
}

/** The line to blame in its method, or in `around` lines before and after it. */
function BlameExcerpt({blame, attempt, plan = [], page, around = Infinity}) {
  const first = Math.max(1, blame.first, blame.line - around);
  const last = Math.min(blame.last, blame.line + around);
  const action = plan[blame.position];
  const isCalled = blame.method && action && blame.status !== "syntax_error" && action.name !== blame.method;
  return h(Fragment, null,
    h("p", {class: "small"}, "Line ", h("strong", {class: "mono"}, blame.line),
      blame.method && [" of ", mono(blame.method)],
      attempt?.file && [" in ", mono(attempt.file)],
      isCalled && [`, called in plan step ${blame.position + 1} of ${plan.length}, `, mono(actionText(action)), ","],
      " ", blame.why),
    h("p", {class: "small"}, h(WrittenBy, {k: page.k, method: blame.written})),
    h(CodeView, {text: page.find(blame.agent), first, last, current: blame.line, tone: "bad",
      label: `Line ${blame.line} and its method`}));
}
