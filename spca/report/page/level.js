// The view of one level: its head, where it failed, the player, its rounds.

const REMEMBER_MS = 300;

/**
 * @param {{report: object, run: object, k: number, row: object, level: object|null, texts: object|null,
 *   route: {attempt: string|null, step: number|null}, go: (hash: string, replace?: boolean) => void}} props
 */
function LevelView({report, run, k, row, level, texts, route, go}) {
  return h("article", {class: "level-view"},
    h(LevelHead, {run, k, row, level}),
    level
      ? h(LevelBody, {key: `${k}/${row.number}`, report, run, k, row, level, texts, route, go})
      : h("p", {class: "muted", role: "status"}, "Reading the level …"));
}

function LevelHead({run, k, row, level}) {
  const outcome = level?.outcome ?? row.outcome;
  const reason = outcome === "success" ? "" : level?.reason || row.reason;
  return h("header", {class: "level-head"},
    h("p", {class: "muted small"}, `Level ${row.number} · ${row.category}`),
    h("h1", {tabIndex: -1}, row.env_id),
    level?.mission && h("p", {class: "mission"}, "“", level.mission, "”"),
    h("p", {class: "ending"}, h(Outcome, {outcome}), reason && h("span", {class: "reason"}, reason)),
    h(LevelFacts, {run, k, row}),
    h(CheckLine, {row, level}));
}

function LevelFacts({run, k, row}) {
  const discarded = row.steps_total != null && row.steps_total !== row.steps;
  return h("dl", {class: "facts"},
    h(Fact, {name: "Rounds"}, count(row.rounds)),
    h(Fact, {name: "Attempts"}, count(row.attempts)),
    h(Fact, {name: "Calls", title: "of the planner and of the coder"},
      `${count(row.planner_calls)} planner, ${count(row.coder_calls)} coder`),
    row.writer && h(Fact, {name: "Planned by", title: "a stored problem writer, without a call"},
      h(WriterLink, {run, k, label: row.writer})),
    h(Fact, {name: "Steps"}, count(row.steps),
      discarded && h("span", {class: "muted"}, ` of ${count(row.steps_total)}`)),
    h(Fact, {name: "Tokens", title: "in → out"},
      `${count(row.usage.input_tokens)} → ${count(row.usage.output_tokens)}${reasoningText(row.usage)}`),
    h(Fact, {name: "Cost"}, usd(row.usage.cost_usd, row.usage.cost_unknown)),
    h(Fact, {name: "Time"}, seconds(row.seconds)),
    h(Fact, {name: "Seed"}, h("span", {class: "mono"}, row.seed)),
    row.begun > 1 && h(Fact, {name: "Begun"}, plural(row.begun, "time")),
    row.corrections.length > 0 && h(Fact, {name: "Corrections"}, row.corrections.join(", ")));
}

function CheckLine({row, level}) {
  const attempts = attemptsOf(level).map(({attempt}) => attempt);
  const different = attempts.filter((attempt) => attempt.check.result === "different");
  if (!different.length && row.check !== "different") {
    return row.check ? h("p", {class: "small muted"}, row.check === "equal" ? "✓ " : "", checkWords(row.check), ".")
      : null;
  }
  return h("div", {class: "notice warn", role: "note"},
    h("strong", null, "The re-simulation differs from the recording. "),
    "What the player shows may not be what happened.",
    h("ul", null, different.map((attempt) => h("li", {key: `${attempt.round}.${attempt.number}`},
      `Attempt ${attempt.round}.${attempt.number}: `, attempt.check.message))));
}

/** @param {object|null} level @returns {{id: string, round: object, attempt: object}[]} in the order of execution */
function attemptsOf(level) {
  return (level?.rounds ?? []).flatMap((round) => round.tries
    .filter((item) => item.attempt)
    .map(({attempt}) => ({id: `${attempt.round}.${attempt.number}`, round, attempt})));
}

function LevelBody({report, run, k, row, level, texts, route, go}) {
  const attempts = attemptsOf(level);
  const {remember, isOurs} = useAddress(k, row.number, go);
  const [shown, show] = useShown(attempts, route, isOurs);
  const [target, setTarget] = useState(null);
  const watch = (id, step) => show({id, step, focus: true});
  const find = (id) => level.texts[id] ?? texts?.[id] ?? null;
  const page = {report, run, k, find, outcome: level.outcome, target, reveal: setTarget, watch, remember};
  useEffect(() => {
    if (shown.focus) bringPlayer();
  }, [shown]);
  const current = attempts.find(({id}) => id === shown.id) ?? attempts.at(-1);
  const unrecorded = isUnfinished(level.outcome) && level.rounds.some(({tries}) => tries.some((item) => !item.attempt));
  return h(Fragment, null,
    h(WhereItFailed, {level, attempts, page}),
    current && h("section", {class: "panel", "aria-labelledby": "player-title"},
      h("h2", {id: "player-title"}, "Player"),
      h(AttemptChoice, {attempts, current, show}),
      h(Player, {key: current.id, attempt: current.attempt, plan: current.round.plan, jump: shown, page})),
    h("section", {"aria-labelledby": "rounds-title"},
      h("h2", {id: "rounds-title"}, "Rounds"),
      !level.rounds.length && h("p", {class: "muted"}, "Nothing of this level is recorded yet."),
      unrecorded && h("p", {class: "muted"}, level.outcome === "running"
        ? "Attempts are recorded when the level ends; until then there are only the calls of each try."
        : "Attempts are recorded when the level ends. This one was broken off: there are only the calls of each try."),
      level.rounds.map((round, i) => h(RoundView,
        {key: i, round, isLast: i === level.rounds.length - 1, page}))),
    level.offer && h(OfferView, {offer: level.offer, find}));
}

/** The problem writer that came with the plan, and what became of it. */
function OfferView({offer, find}) {
  const {name, label, reason} = offer;
  return h("section", {"aria-labelledby": "writer-title"}, h("h2", {id: "writer-title"}, "Problem writer"),
    h("p", null, "With the plan came ", h("span", {class: "mono"}, label || name),
      label ? ", which was accepted and is tried on the levels to come." : ", which was not accepted: ",
      !label && h("span", {class: "muted"}, reason)),
    h(OfferFolds, {offer, find}));
}

/** The texts of a problem writer; `open`: its source at once. */
function OfferFolds({offer: {source, domain}, find, open = false}) {
  return h("div", {class: "folds"},
    source && h(TextFold, {title: "Source of the writer", text: find(source), open}),
    domain && h(TextFold, {title: "PDDL domain of its problems", text: find(domain)}));
}

function bringPlayer() {
  const player = document.getElementById("player");
  player?.focus({preventScroll: true});
  player?.scrollIntoView({block: "start"});
}

/**
 * The attempt in the player and the step to go to. The address decides whenever it is changed from outside.
 *
 * @param {(route: object) => boolean} isOurs whether the player itself wrote an address
 */
function useShown(attempts, route, isOurs) {
  const asked = {id: route.attempt ?? attempts.at(-1)?.id ?? null, step: route.step ?? 0};
  const linked = route.step != null && !SCROLLED.has(route.place); // not where a reader only comes back to
  const [shown, show] = useState({...asked, focus: linked});
  const arrived = useRef(false);
  useEffect(() => {
    if (arrived.current && route.attempt && !isOurs(route)) show(asked);
    arrived.current = true;
  }, [route.attempt, route.step]);
  return [shown, show];
}

/** `remember(id, step)` puts the player's place into the address, a moment after its last change. */
function useAddress(k, number, go) {
  const timer = useRef(0);
  const last = useRef(null);
  useEffect(() => () => clearTimeout(timer.current), []);
  const remember = (id, step) => {
    clearTimeout(timer.current);
    const place = `${id}?step=${step}`;
    const write = () => go(`${address(k, number)}/attempt/${place}`, true);
    if (last.current !== null) timer.current = setTimeout(write, REMEMBER_MS);
    last.current = place;
  };
  const isOurs = (route) => last.current === `${route.attempt}?step=${route.step ?? 0}`;
  return {remember, isOurs};
}

function AttemptChoice({attempts, current, show}) {
  const {attempt} = current;
  const rounds = [...new Set(attempts.map(({round}) => round))];
  return h("div", {class: "attempt-choice"},
    attempts.length > 1 && h("div", {class: "chips", role: "group", "aria-label": "Attempts"}, rounds.map((round) =>
      h("span", {key: round.number, class: "chips-round"}, attempts.filter((item) => item.round === round).map((item) =>
        h(Chip, {key: item.id, item, isCurrent: item === current, show}))))),
    h("p", null, `Attempt ${current.id}: `, h(Status, {attempt}),
      attempt.status !== "success" && h("span", {class: "muted"}, ` ${firstLine(attempt.message)}`)));
}

function Chip({item, isCurrent, show}) {
  const {id, attempt: {status}} = item;
  const ok = status === "success";
  return h("button", {
    type: "button", class: classes("chip mono", ok ? "good" : "bad"), "aria-pressed": String(isCurrent),
    title: statusWords(status),
    onClick: () => show({id, step: 0}),
  }, ok ? "✓" : "✗", " ", id, h("span", {class: "unseen"}, ` ${statusWords(status)}`));
}

const FAILURE_TITLES = {running: "Where the last attempt failed", aborted: "How far it came"};

/** The line of generated code where a level failed, or what kept anything from being executed. */
function WhereItFailed({level, attempts, page}) {
  const {outcome, blame} = level;
  if (outcome === "success" || (outcome === "running" && !blame)) return null;
  return h("section", {class: "panel failure", id: "failure", "aria-labelledby": "failure-title"},
    h("h2", {id: "failure-title"}, FAILURE_TITLES[outcome] ?? "Where it failed"),
    blame ? h(Blamed, {blame, attempts, page}) : h(LastError, {level, attempts, page}));
}

function Blamed({blame, attempts, page}) {
  const id = `${blame.round}.${blame.attempt}`;
  const {attempt, round} = attempts.find((item) => item.id === id) ?? {};
  return h(Fragment, null,
    h("p", null, `Attempt ${id}: `, h("strong", {class: "bad-text"}, statusWords(blame.status)), " — ",
      h("span", {class: "message"}, blame.message)),
    blame.line > 0 ? h(BlameExcerpt, {blame, attempt, plan: round?.plan, page})
      : h("p", null, blame.method && [h("span", {class: "mono"}, blame.method), ": "], blame.why),
    h("p", {class: "row"},
      attempt && attempt.steps.length > 0 && h("button",
        {type: "button", onClick: () => page.watch(id, blamedStep(attempt, blame))}, "Show the step in the player"),
      attempt && h("button", {type: "button", onClick: () => page.reveal({attempt: id})}, `Go to attempt ${id}`)));
}

/** The last frame whose primitive came from the line to blame, else the last one. */
function blamedStep(attempt, blame) {
  const at = attempt.steps.findLastIndex(([, , line]) => line === blame.line);
  return at < 0 ? attempt.steps.length : at + 1;
}

function LastError({level, attempts, page}) {
  const calls = level.rounds.flatMap((round) => [...round.calls, ...round.tries.flatMap((item) => item.calls)]);
  const call = calls.findLast((item) => item.error);
  const nothing = level.outcome === "fail" && !attempts.length ? "Nothing was executed. " : "";
  if (!call) return h("p", {class: "message"}, nothing, level.reason || "No reason is recorded.");
  return h(Fragment, null,
    h("p", null, nothing, "The last thing said to the ", call.phase, ":"),
    h(Said, {title: `${call.phase}, ${call.mode}`, text: call.error}),
    h("p", null, h("button", {type: "button", onClick: () => page.reveal({call: call.file})}, "Go to the call")));
}
