// Rounds of a level: what the planner and the coder were asked and answered, and what came of it, try by try.

const MODES = {
  planner: {fresh: "first plan", reuse: "plan with the library", replan: "plan again", syntax: "repair of the plan"},
  coder: {first: "first code", semantic: "repair of behaviour", syntax: "repair of the code"},
};

/** @param {{round: object, isLast: boolean, page: object}} props */
function RoundView({round, isLast, page}) {
  const executed = round.tries.findLastIndex((item) => item.attempt);
  const last = executed < 0 ? round.tries.length - 1 : executed;
  const opens = isLast && page.outcome !== "running";
  const writer = round.writers.find(({miss}) => miss === "" || miss === "failed")?.label;
  const missed = round.writers.filter(({miss}) => miss);
  return h("section", {class: "round"},
    h("h3", null, round.number ? `Round ${round.number}` : writer ? h(WriterLink, {...page, label: writer})
      : "Stored writers",
      muted(` ${round.number ? describeRound(round) : writer ? "planned without a call" : ""}`)),
    missed.length > 0 && h(List, {items: missed.map(({label, miss, reason}) =>
      [h(WriterLink, {...page, label}), ` ${spaced(miss)}: `, muted(reason)])}),
    h(CallList, {calls: round.calls, page}),
    round.plan.length > 0 && h("div", null,
      h("p", {class: "small muted"}, `Plan of ${plural(round.plan.length, "action")}`,
        round.engine && ` by ${round.engine}`),
      h("ol", {class: "plan-actions mono"}, round.plan.map((action, i) => h("li", {key: i}, actionText(action))))),
    !round.plan.length && round.calls.length > 0 && h("p", {class: "muted"}, "No plan came out of this round."),
    h("div", null,
      h(PddlFold, {name: "Domain", id: round.domain, diff: round.domain_diff, page}),
      h(PddlFold, {name: "Problem", id: round.problem, diff: round.problem_diff, page})),
    round.tries.map((item, i) => h(TryView,
      {key: i, item, index: i, plan: round.plan, open: opens && i === last, page})));
}

function describeRound(round) {
  const attempts = round.tries.filter((item) => item.attempt).length;
  const failed = round.calls.filter((call) => !call.ok).length;
  return [
    plural(round.calls.length, "planner call") + (failed ? ` (${failed} failed)` : ""),
    plural(sum(round.tries, (item) => item.calls.length), "coder call"),
    attempts ? plural(attempts, "attempt") : plural(round.tries.length, "try", "tries"),
  ].join(" · ");
}

function PddlFold({name, id, diff, page}) {
  const change = useChange(diff, page.find);
  return h(Fragment, null,
    id && h(TextFold, {title: `PDDL ${name.toLowerCase()}`, text: page.find(id)}),
    change && h(DiffFold, {title: `${name}: changes since the plan before`, change}));
}

/** One turn of CODE and ACT, folded to one line. */
function TryView({item, index, plan, open, page}) {
  const {attempt, calls} = item;
  const change = useChange(item.diff, page.find);
  const id = attempt ? `${attempt.round}.${attempt.number}` : null;
  const sought = page.query.get("call") ?? page.query.get("open");
  const isSought = sought && (sought === id || calls.some((call) => call.file === sought));
  return h(Fold, {open, opener: isSought ? sought : null,
    className: classes("boxed", attempt && (attempt.status === "success" ? "good" : "bad")),
    summary: h(TryLine, {item, change, name: id ?? `try ${index + 1}`, outcome: page.outcome})},
  () => h(Fragment, null,
    h(CallList, {calls, page}),
    change && h(DiffFold, {title: "Code: changes", change, open: true}),
    attempt && h(AttemptView, {attempt, id, plan, page})));
}

function TryLine({item, change, name, outcome}) {
  const {attempt, calls} = item;
  const failed = calls.filter((call) => !call.ok).length;
  return h("span", {class: "one-line"},
    h("strong", {class: "mono"}, name),
    attempt ? h(Status, {attempt}) : !isUnfinished(outcome) && h(Unexecuted, {calls}),
    attempt && h("span", null, plural(attempt.steps.length, "step")),
    (calls.length > 0 || !attempt) && muted(plural(calls.length, "coder call"), failed > 0 && ` (${failed} failed)`),
    change && muted(`code ${changeSize(change)}`),
    attempt && attempt.status !== "success" && h("span", {class: "muted cut"}, firstLine(attempt.message)));
}

/** Why nothing was executed; code that was tried before is not tried again. */
function Unexecuted({calls}) {
  const {error, objection} = calls.at(-1) ?? {};
  const why = objection ? "the coder sent the plan back" : error ? firstLine(error) : "the answer changed nothing";
  return h("span", {class: classes("cut", error || objection ? "bad-text" : "muted")}, `not executed: ${why}`);
}

function AttemptView({attempt, id, plan, page}) {
  const {blame, check} = attempt;
  return h(Fragment, null,
    h("div", {class: "row"},
      h(Status, {attempt}),
      h("span", null, plural(attempt.steps.length, "step"),
        attempt.before > 0 && ` after ${count(attempt.before)} of earlier plans`),
      h("span", null, `reward ${Number(attempt.reward.toFixed(4))}`),
      h("span", {class: check.result === "different" ? "bad-text" : "muted", title: check.message},
        describeCheck(check.result)),
      link(page.watch(id, 0), "Watch", unseen(` attempt ${id}`))),
    h("p", {class: "message"}, attempt.message),
    blame?.line > 0 && h(BlameExcerpt, {blame, attempt, plan, page, around: 3}),
    attempt.traceback && h(Said, {title: "Traceback", text: attempt.traceback}),
    attempt.printed && h(Said, {title: "Printed by the generated code", text: attempt.printed}),
    attempt.agent && h(TextFold, {title: "Whole source of the agent", text: page.find(attempt.agent)}));
}

/** Calls of models: one line each, with the prompt, the answer and what was said to it folded beneath. */
function CallList({calls, page}) {
  return calls.map((call) => h(Fold, {key: call.file, className: classes("boxed", !call.ok && "bad"),
    opener: page.query.get("call") === call.file ? call.file : null, summary: h(CallLine, {call})},
  () => h(CallBody, {call, find: page.find, isSought: page.query.get("call") === call.file})));
}

function CallLine({call}) {
  return h("span", {class: "one-line"},
    h("span", {class: call.ok ? "good-text" : "bad-text"},
      h("span", {"aria-hidden": "true"}, call.ok ? "✓" : "✗"), unseen(call.ok ? "ok" : "failed")),
    h("strong", null, `${call.phase} call ${callNumber(call.file)}`),
    h("span", null, MODES[call.phase]?.[call.mode] ?? call.mode),
    mono(call.model),
    call.source !== "model" && h("span", {class: "tag"}, call.source),
    muted(describeCall(call)),
    call.objection && h("span", {class: "cut"}, h("strong", null, "sent the plan back: "), call.objection),
    call.error && h("span", {class: "bad-text cut"}, firstLine(call.error)));
}

/** @param {object} call @returns {string} tokens, cost and time in one line */
function describeCall(call) {
  return [
    `${count(call.input_tokens)} → ${count(call.output_tokens)} tokens${reasoningText(call)}`,
    usd(call.cost),
    seconds(call.seconds) + (call.solve_s ? ` + ${seconds(call.solve_s)} solving` : ""),
    call.requests > 1 && plural(call.requests, "request"),
    call.finish && !["stop", "end_turn"].includes(call.finish) && `ended by ${call.finish}`,
  ].filter(Boolean).join(" · ");
}

/** Prompt and answer of a call; both are open where a reader came for them. */
function CallBody({call, find, isSought}) {
  const names = call.pddl.length === 2 ? ["domain", "problem"] : call.pddl.map((_, i) => `text ${i + 1}`);
  return h(Fragment, null,
    call.error && h(Said, {title: "What was said to the answer", text: call.error}),
    call.messages.map((message, i) => h(TextFold, {key: i, title: `Prompt: ${message.role}`, text: find(message.text),
      open: isSought && i === call.messages.length - 1})),
    call.answer ? h(TextFold, {title: "Answer", text: find(call.answer), open: isSought})
      : h("p", {class: "muted"}, "No answer came."),
    call.pddl.map((id, i) => h(TextFold, {key: id + i, title: `Answer as PDDL: ${names[i]}`, text: find(id)})),
    call.code && h(TextFold, {title: call.phase === "planner" ? "Problem writer in the answer" : "Answer as code",
      text: find(call.code)}),
    h("p", {class: "muted mono small"}, call.file));
}

/** Lines added and removed at most; of texts that differ in more, all is shown as replaced: it would take too long. */
const MAX_EDITS = 1000;

/** @param {object|null} diff @param {(id: string) => object|null} find
 *  @returns {object|null} the `lines` of a unified diff, and the `names` of the methods that it changes; null where
 *   nothing differs, or where a text is missing */
function useChange(diff, find) {
  return useMemo(() => {
    const older = diff && find(diff.old);
    const newer = diff && find(diff.new);
    if (!older || !newer) return null;
    const lines = listChanges(older.lines, newer.lines);
    const bodyOf = ({lines: all}, {first, last}) => all.slice(first - 1, last).join("\n");
    const before = new Map((older.methods ?? []).map((method) => [method.name, bodyOf(older, method)]));
    const changed = (newer.methods ?? []).filter((method) => before.get(method.name) !== bodyOf(newer, method));
    return lines.length ? {lines, names: before.size ? changed.map(({name}) => name) : []} : null;
  }, [diff]);
}

/** @returns {string[]} the hunks of a unified diff with three lines of context */
function listChanges(before, after) {
  const [older, newer] = [before, after].map((lines) => `${lines.join("\n")}\n`);
  const patch = Diff.structuredPatch("", "", older, newer, "", "", {context: 3, maxEditLength: MAX_EDITS});
  if (!patch) return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  return patch.hunks.flatMap(({oldStart, newStart, lines}) => [`@@ -${oldStart} +${newStart} @@`, ...lines]);
}

function DiffFold({title, change, open = false}) {
  const names = change.names.map((name) => h("span", {key: name, class: "tag mono"}, name));
  const summary = h("span", {class: "one-line"}, title, muted(changeSize(change)), names);
  const lines = change.lines.map((line, i) => h({"-": "del", "+": "ins"}[line[0]] ?? "span",
    {key: i, class: classes("line", line[0] === "@" && "gap")}, line, "\n"));
  return h(Fold, {summary, open}, () => h(Fragment, null,
    h(CopyButton, {make: () => change.lines.join("\n")}),
    h("div", {class: "code numbered diff", tabIndex: 0, role: "group", "aria-label": title},
      h("pre", null, h("code", null, lines)))));
}

/** @param {object} change @returns {string} "+3 −1" */
function changeSize({lines}) {
  const countTag = (tag) => lines.filter((line) => line[0] === tag).length;
  return `+${countTag("+")} −${countTag("-")}`;
}
