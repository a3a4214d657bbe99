// Rounds of a level: what the planner and the coder were asked and answered, and what came of it, try by try.

const NAMES_IN_LINE = 3;

/** @param {{round: object, isLast: boolean, page: object}} props */
function RoundView({round, isLast, page}) {
  const executed = round.tries.findLastIndex((item) => item.attempt);
  const last = executed < 0 ? round.tries.length - 1 : executed;
  const opens = isLast && page.outcome !== "running";
  const id = round.number ? `round-${round.number}` : `round-0-${writerOf(round)}`;
  return h("section", {class: "round", "aria-labelledby": id},
    h("h3", {id}, round.number ? `Round ${round.number}` : writerOf(round)
      ? h(WriterLink, {...page, label: writerOf(round)}) : "Stored writers",
      h("span", {class: "muted"}, ` ${round.number ? roundInWords(round) : writersInWords(round)}`)),
    h(WriterList, {writers: round.writers, page}),
    h(CallList, {calls: round.calls, page}),
    round.plan.length > 0 && h(PlanLine, {round}),
    !round.plan.length && round.calls.length > 0 && h("p", {class: "muted"}, "No plan came out of this round."),
    h(PddlFolds, {round, page}),
    round.tries.length > 0 && h("ol", {class: "tries"}, round.tries.map((item, i) =>
      h("li", {key: i}, h(TryView, {item, index: i, plan: round.plan, open: opens && i === last, page})))));
}

const tookPart = ({miss}) => miss === "" || miss === "failed";

/** @param {object} round @returns {string} the stored writer that made its plan, "" where a model did */
function writerOf(round) {
  return round.writers.find(tookPart)?.label ?? "";
}

function writersInWords(round) {
  const others = round.writers.filter((writer) => !tookPart(writer)).length;
  const passed = others ? `${plural(others, "writer")} had none` : "";
  return [writerOf(round) ? "planned without a call" : "", passed].filter(Boolean).join(" · ");
}

/** The stored writers that were tried and did not help, and why. */
function WriterList({writers, page}) {
  const missed = writers.filter(({miss}) => miss);
  return missed.length > 0 && h("ul", {class: "small"}, missed.map(({label, miss, reason}, i) =>
    h("li", {key: i}, h(WriterLink, {...page, label}), ` ${miss.replace("_", " ")}: `, h("span", {class: "muted"}, reason))));
}

function roundInWords(round) {
  const attempts = round.tries.filter((item) => item.attempt).length;
  const failed = round.calls.filter((call) => !call.ok).length;
  return [
    plural(round.calls.length, "planner call") + (failed ? ` (${failed} failed)` : ""),
    plural(round.tries.reduce((sum, item) => sum + item.calls.length, 0), "coder call"),
    attempts ? plural(attempts, "attempt") : plural(round.tries.length, "try", "tries"),
  ].join(" · ");
}

function PlanLine({round}) {
  return h("div", {class: "plan-line"},
    h("p", {class: "small muted"}, `Plan of ${plural(round.plan.length, "action")}`,
      round.engine && ` by ${round.engine}`),
    h("ol", {class: "plan-actions mono"}, round.plan.map((action, i) => h("li", {key: i}, actionText(action)))));
}

function PddlFolds({round, page}) {
  const changes = (name, diff) => diff?.rows.length > 0
    && h(DiffFold, {title: `${name}: changes since the plan before`, diff, find: page.find});
  return h("div", {class: "folds"},
    round.domain && h(TextFold, {title: "PDDL domain", text: page.find(round.domain)}),
    changes("Domain", round.domain_diff),
    round.problem && h(TextFold, {title: "PDDL problem", text: page.find(round.problem)}),
    changes("Problem", round.problem_diff));
}

function DiffFold({title, diff, find, open = false}) {
  const summary = h("span", null, title, " ", h("span", {class: "muted"}, diffSize(diff)),
    h(Names, {names: diff.names}));
  return h(Fold, {summary, open}, () => h(DiffView, {diff, find, label: title}));
}

function Names({names}) {
  return names.length > 0 && h("span", {class: "names mono"},
    names.map((name) => h("span", {key: name, class: "tag"}, name)));
}

/** One turn of CODE and ACT, folded to one line. */
function TryView({item, index, plan, open, page}) {
  const {attempt} = item;
  const id = attempt ? `${attempt.round}.${attempt.number}` : null;
  const aimed = page.target && ((id && page.target.attempt === id)
    || item.calls.some((call) => call.file === page.target.call));
  return h(Fold, {
    summary: h(TryLine, {item, name: id ?? `try ${index + 1}`, outcome: page.outcome}), open,
    opener: aimed ? page.target : null,
    className: classes("try", attempt ? attempt.status === "success" ? "good" : "bad" : ""),
  }, () => h(TryBody, {item, id, plan, page}));
}

function TryLine({item, name, outcome}) {
  const {attempt, calls, diff} = item;
  const failedCalls = calls.filter((call) => !call.ok).length;
  return h("span", {class: "one-line"},
    h("strong", {class: "mono"}, name),
    attempt ? h(Status, {attempt}) : !isUnfinished(outcome) && h(Unexecuted, {calls}),
    attempt && h("span", null, plural(attempt.steps.length, "step")),
    (calls.length > 0 || !attempt) && h("span", {class: "muted"}, plural(calls.length, "coder call"),
      failedCalls ? ` (${failedCalls} failed)` : ""),
    diff && h("span", {class: "muted"}, `code ${diffSize(diff)}`,
      diff.names.length > 0 && [" in ", h("span", {class: "mono"}, fewNames(diff.names))]),
    attempt && attempt.status !== "success" && h("span", {class: "muted cut"}, firstLine(attempt.message)));
}

/** @param {string} outcome of a level @returns {boolean} whether its attempts are not recorded (yet) */
function isUnfinished(outcome) {
  return outcome === "running" || outcome === "aborted";
}

/** The calls of a try that nothing was executed after although the last answer was accepted. */
const changedNothing = ({attempt, calls}, outcome) =>
  !attempt && !isUnfinished(outcome) && calls.length > 0 && !calls.at(-1).error && !calls.at(-1).objection;

/** Why nothing was executed; code that was tried before is not tried again. */
function Unexecuted({calls}) {
  const {error, objection} = calls.at(-1) ?? {};
  if (objection) {
    return h(Fragment, null, h("span", {class: "bad-text"}, "not executed: the coder sent the plan back"),
      h("span", {class: "muted cut"}, objection));
  }
  if (!error) return h("span", {class: "muted"}, "not executed: the answer changed nothing");
  return h(Fragment, null, h("span", {class: "bad-text"}, "not executed"),
    h("span", {class: "muted cut"}, firstLine(error)));
}

function fewNames(names) {
  return names.length <= NAMES_IN_LINE ? names.join(", ") : `${plural(names.length, "method")}`;
}

/** How an attempt ended, by a sign, a word and a colour. */
function Status({attempt}) {
  const ok = attempt.status === "success";
  return h("span", {class: ok ? "good-text" : "bad-text"},
    h("span", {"aria-hidden": "true"}, ok ? "✓ " : "✗ "), statusWords(attempt.status));
}

/** @param {string} status @returns {string} */
function statusWords(status) {
  return status.replaceAll("_", " ");
}

function TryBody({item, id, plan, page}) {
  const {attempt, calls, diff} = item;
  return h(Fragment, null,
    h(CallList, {calls, page, idle: changedNothing(item, page.outcome) ? calls.at(-1) : null}),
    diff?.rows.length > 0 && h(DiffFold, {title: "Code: changes", diff, find: page.find, open: true}),
    attempt && h(AttemptView, {attempt, id, plan, page}));
}

function AttemptView({attempt, id, plan, page}) {
  const {blame} = attempt;
  return h("div", {class: "attempt"},
    h("div", {class: "row"},
      h(Status, {attempt}),
      h("span", null, plural(attempt.steps.length, "step"),
        attempt.before ? ` after ${count(attempt.before)} of earlier plans` : ""),
      h("span", null, `reward ${Number(attempt.reward.toFixed(4))}`),
      h("span", {class: attempt.check.result === "different" ? "bad-text" : "muted", title: attempt.check.message},
        checkWords(attempt.check.result)),
      h("button", {type: "button", onClick: () => page.watch(id, 0)}, "Watch",
        h("span", {class: "unseen"}, ` attempt ${id}`))),
    h("p", {class: "message"}, attempt.message),
    blame?.line > 0 && h(BlameExcerpt, {blame, attempt, plan, page, around: 3}),
    attempt.traceback && h(Said, {title: "Traceback", text: attempt.traceback}),
    attempt.printed && h(Said, {title: "Printed by the generated code", text: attempt.printed}),
    attempt.agent && h(TextFold, {title: "Whole source of the agent", text: page.find(attempt.agent)}));
}

/** @param {string} result of a Check @returns {string} */
function checkWords(result) {
  return {
    equal: "re-simulation equals the recording",
    different: "re-simulation differs from the recording",
    unrecorded: "no recorded states to compare with",
  }[result] ?? "not re-simulated";
}

/** "called in plan step 2 of 2, put_near(…)", where the method to blame is not the action itself. */
function CalledIn({blame, plan}) {
  const at = blame.position;
  if (!blame.method || blame.status === "syntax_error" || !plan[at] || plan[at].name === blame.method) return null;
  return [`, called in plan step ${at + 1} of ${plan.length}, `, h("span", {class: "mono"}, actionText(plan[at])), ","];
}

/** The line to blame in its method, or in `around` lines before and after it. */
function BlameExcerpt({blame, attempt = null, plan = [], page, around = Infinity}) {
  const first = Math.max(1, blame.first, blame.line - around);
  const last = Math.min(blame.last, blame.line + around);
  return h("div", {class: "excerpt"},
    h("p", {class: "small"}, "Line ", h("strong", {class: "mono"}, blame.line),
      blame.method && [" of ", h("span", {class: "mono"}, blame.method)],
      attempt?.file && [" in ", h("span", {class: "mono"}, attempt.file)],
      h(CalledIn, {blame, plan}), " ", blame.why),
    h(CodeView, {text: page.find(blame.agent), first, last, current: blame.line, tone: "bad",
      label: `Line ${blame.line} and its method`}));
}
