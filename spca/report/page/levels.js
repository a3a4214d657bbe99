// The table of levels. What happened in a level stands in a strip of marks, round by round.

const CHECKS = {
  equal: ["", "re-simulation equals the recording"],
  different: ["bad-text", "re-simulation differs from the recording"],
  unrecorded: ["", "no recorded states to compare with"],
};
const OPEN = "outcome not recorded yet";
const MARKS = {
  writer: ["W", "plan of a stored problem writer, without a call"],
  plan: ["P", "planner call"],
  code: ["C", "coder call"],
  act: ["A", "attempt"],
};
const MARKS_AT_ONCE = 10;
const WORST_FIRST = ["fail", "aborted", "running", "success", "pending"];

/** @param {string} result of a Check @returns {string} */
function describeCheck(result) {
  return CHECKS[result]?.[1] ?? "not re-simulated";
}

/** Whether attempts of a level are not recorded (yet). */
function isUnfinished(outcome) {
  return outcome === "running" || outcome === "aborted";
}

/** How a span ended: "" well, "failed", or "open": attempts are recorded with the end of their level. */
function endOf(row, {phase, status}) {
  if (phase === "act" && isUnfinished(row.outcome) && (!status || status === row.outcome)) return "open";
  return status && status !== "success" ? "failed" : "";
}

/** @returns {{number: number, marks: {phase: string, status: string, end: string}[]}[]} what happened, by round */
function roundsOf(row) {
  const rounds = new Map();
  for (const span of row.spans) {
    const {phase, round, status} = span;
    const last = rounds.get(round)?.marks.at(-1);
    if (phase === "solve" && status && last?.phase === "plan" && !last.status) { // an answer without a plan
      Object.assign(last, {status, end: "failed"});
    }
    if (!MARKS[phase]) continue;
    if (!rounds.has(round)) rounds.set(round, {number: round, marks: []});
    const {marks} = rounds.get(round);
    // Round 0 belongs to stored writers, whose plans leave no span of their own; each ends in its attempt.
    if (!round && phase !== "plan" && (!last || last.phase === "act")) marks.push({phase: "writer", status: "",
      end: ""});
    marks.push({phase, status, end: endOf(row, span)});
  }
  return [...rounds.values()];
}

/** The rounds of a level as marks, by their letters in MARKS; those that failed are crossed. */
function Strip({row}) {
  const rounds = roundsOf(row);
  if (!rounds.length) return row.rounds ? plural(row.rounds, "round") : UNKNOWN;
  const sayRound = ({number, marks}) => {
    const failed = marks.filter(({end}) => end === "failed").length;
    const letters = marks.map(({phase}) => MARKS[phase][0]).join(" ");
    return `${number ? `round ${number}` : "stored writers"}: ${letters}${failed ? `, ${failed} failed` : ""}`;
  };
  const atOnce = rounds.length < 3 ? MARKS_AT_ONCE : 3;
  const shownOf = (marks) => (marks.length > atOnce + 1 ? marks.slice(0, atOnce) : marks);
  return h("span", {class: "strip", role: "img", "aria-label": rounds.map(sayRound).join("; ")},
    rounds.map(({number, marks}) => h("span", {class: "strip-round", key: number},
      shownOf(marks).map(({phase, status, end}, i) => {
        const why = end === "open" ? OPEN : firstLine(status);
        return h("i", {key: i, class: classes("mark", `p-${phase}`, end),
          title: MARKS[phase][1] + (why && `: ${why}`)}, MARKS[phase][0]);
      }),
      shownOf(marks) !== marks && h("small", {class: "muted", title: "more of them, in the level itself"},
        `+${marks.length - atOnce}`))));
}

/** What the letters of the strips stand for. */
function StripLegend({run}) {
  const kinds = Object.entries(MARKS).filter(([phase]) => phase !== "writer" || run.writers.length);
  return h("p", {class: "muted small key"},
    kinds.map(([phase, [letter, name]]) => h("span", {key: phase}, h("i", {class: `mark p-${phase}`}, letter),
      ` ${name}`)),
    h("span", null, h("i", {class: "mark p-act failed"}, "A"), " failed"),
    run.levels.some((row) => isUnfinished(row.outcome)) && h("span", null, h("i", {class: "mark p-act open"}, "A"),
      ` ${OPEN}`));
}

/** Whether anything of a run was, or may have been, paid for. */
function hasCost({usage}) {
  return usage.cost_usd > 0 || usage.cost_unknown > 0;
}

/** The columns for which a run has values: replays are checked when a page is made, not when it is served. */
function levelColumns(run, k) {
  const known = (show) => (row) => (run.published || row.outcome === "pending" ? UNKNOWN : show(row));
  const column = (key, name, value,
    show) => ({key, name, number: true, value, show: known(show ?? ((row) => count(value(row))))});
  return [
    {key: "number", name: "#", number: true, value: (row) => row.number},
    {key: "env_id", name: "Level", head: true, value: (row) => row.env_id, show: (row) => h(LevelName, {run, row, k})},
    {key: "category", name: "Category", value: (row) => row.category},
    {key: "outcome", name: "Outcome", value: (row) => WORST_FIRST.indexOf(row.outcome), show: (row) => h(Outcome, row)},
    {key: "rounds", name: "Rounds", value: (row) => row.rounds * 1000 + row.attempts, show: (row) => h(Fragment, null,
      h(Strip, {row}), row.writer && h(WriterLink, {run, k, label: row.writer}))},
    {key: "calls", name: "Calls", number: true, value: callsOf},
    tokensOf(run.usage) > 0 && column("tokens", "Tokens", (row) => tokensOf(row.usage), (row) => tokenText(row.usage)),
    run.usage.reasoning_tokens > 0 && column("reasoning", "Reasoning", (row) => row.usage.reasoning_tokens),
    hasCost(run) && column("cost", "Cost", (row) => row.usage.cost_usd,
      (row) => usd(row.usage.cost_usd, row.usage.cost_unknown)),
    column("steps", "Steps", (row) => row.steps),
    {key: "time", name: "Time", number: true, value: (row) => row.seconds, show: (row) => seconds(row.seconds)},
    !connects && !run.published && {key: "check", name: "Replay",
      value: (row) => -Object.keys(CHECKS).indexOf(row.check),
      show: ({check}) => h("span", {class: CHECKS[check]?.[0], title: describeCheck(check)}, check || UNKNOWN)},
  ].filter(Boolean);
}

/** The name of a level, which leads to it where there is more to see, and how it failed. */
function LevelName({run, row, k}) {
  return h(Fragment, null,
    run.published ? row.env_id : link(addressOf(k, row.number), row.env_id),
    row.begun > 1 && h("span", {class: "badge warn", title: "begun again after the process was killed"},
      `begun ${row.begun} times`),
    row.corrections.length > 0 && h("span", {class: "badge", title: row.corrections.join(", ")}, "corrected"),
    row.headline && h("div", {class: "reason"}, row.headline));
}

/** The table of levels and its filters. */
function LevelTable({run, k, route}) {
  const columns = useMemo(() => levelColumns(run, k), [run, k]);
  const filters = useMemo(() => [
    {key: "show", name: "Show levels", options: [
      ["all", "all", () => true],
      ["failed", "failed", (row) => row.outcome === "fail"],
      ["solved", "solved", (row) => row.outcome === "success"],
      ["unfinished", "unfinished", (row) => row.outcome !== "fail" && row.outcome !== "success"],
    ]},
    {key: "category", name: "Category", select: true, options: [["", "every category", () => true],
      ...run.categories.map(({name}) => [name, name, (row) => row.category === name])]},
  ], [run]);
  const words = (row) =>
    [row.number, row.env_id, row.level, row.category, row.writer, row.reason, row.headline, row.group].join(" ");
  return h(Section, {id: "levels", title: "Levels"},
    h(StripLegend, {run}),
    h(Table, {id: "level-table", label: "Levels", noun: "level", rows: run.levels, columns, route, filters, words,
      groupOf: (row) => row.group, hint: "number, name, method, reason", toneOf: (row) => `is-${row.outcome}`}));
}
