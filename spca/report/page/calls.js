// Calls of models: one line each, with the prompt, the answer and what was said to it folded beneath.

const MODES = {
  planner: {fresh: "first plan", reuse: "plan with the library", replan: "plan again", syntax: "repair of the plan"},
  coder: {first: "first code", semantic: "repair of behaviour", syntax: "repair of the code"},
};

/** Languages whose lines are numbered and never wrapped. */
const CODE = new Set(["python", "pddl"]);

/** @param {{calls: object[], page: object, idle?: object}} props `page` is what LevelBody hands down; `idle` is the
 *   call whose answer was accepted and changed nothing */
function CallList({calls, page, idle = null}) {
  if (!calls.length) return null;
  return h("ul", {class: "calls"}, calls.map((call) =>
    h("li", {key: call.file}, h(CallView, {call, page, idle: call === idle}))));
}

function CallView({call, page, idle}) {
  const opener = page.target?.call === call.file ? page.target : null;
  return h(Fold, {summary: h(CallLine, {call, idle}), className: classes("call", !call.ok && "failed"), opener},
    () => h(CallBody, {call, find: page.find}));
}

function CallLine({call, idle}) {
  return h("span", {class: "one-line"},
    idle ? h("span", {class: "muted", title: "the answer changed nothing"}, h("span", {"aria-hidden": "true"}, "="),
      h("span", {class: "unseen"}, "changed nothing")) : h(Sign, {ok: call.ok}),
    h("strong", null, call.phase),
    h("span", {title: MODES[call.phase]?.[call.mode]}, call.mode),
    h("span", {class: "mono"}, call.model),
    call.source !== "model" && h("span", {class: "tag"}, call.source),
    h("span", {class: "muted"}, callFigures(call)),
    call.objection && h("span", {class: "cut"}, h("strong", null, "sent the plan back: "), call.objection),
    call.error && h("span", {class: "bad-text cut"}, firstLine(call.error)));
}

/** @param {object} call @returns {string} tokens, cost and time in one line */
function callFigures(call) {
  return [
    `${count(call.input_tokens)} → ${count(call.output_tokens)} tokens${reasoningText(call)}`,
    usd(call.cost),
    seconds(call.seconds) + (call.solve_s ? ` + ${seconds(call.solve_s)} solving` : ""),
    call.requests > 1 && plural(call.requests, "request"),
    call.finish && !["stop", "end_turn"].includes(call.finish) && `ended by ${call.finish}`,
  ].filter(Boolean).join(" · ");
}

/** A tick or a cross, with the word for those who do not see it. */
function Sign({ok}) {
  return h("span", {class: ok ? "good-text" : "bad-text"},
    h("span", {"aria-hidden": "true"}, ok ? "✓" : "✗"), h("span", {class: "unseen"}, ok ? "ok" : "failed"));
}

function CallBody({call, find}) {
  const pddlNames = call.pddl.length === 2 ? ["domain", "problem"] : call.pddl.map((_, i) => `text ${i + 1}`);
  return h(Fragment, null,
    call.error && h(Said, {title: "What was said to the answer", text: call.error}),
    call.messages.map((message, i) =>
      h(TextFold, {key: i, title: `Prompt: ${message.role}`, text: find(message.text)})),
    call.answer ? h(TextFold, {title: "Answer", text: find(call.answer)}) : h("p", {class: "muted"}, "No answer came."),
    call.pddl.map((id, i) =>
      h(TextFold, {key: id + i, title: `Answer as PDDL: ${pddlNames[i]}`, text: find(id)})),
    call.code && h(TextFold, {title: call.phase === "planner" ? "Problem writer in the answer"
      : "Answer as code", text: find(call.code)}),
    h("p", {class: "muted mono small"}, call.file));
}

/** What a solver, a validator, an interpreter or a provider said: untrusted text as it is. */
function Said({title, text}) {
  return h("div", {class: "said"},
    h("p", {class: "said-title"}, title),
    h("pre", {class: "said-text", tabIndex: 0, role: "group", "aria-label": title}, text));
}

/** A text in a fold, with its number of lines and a button that copies it. */
function TextFold({title, text, open = false, extra = null}) {
  const lines = text ? plural(text.lines.length, "line") : "missing";
  return h(Fold, {summary: h("span", null, title, " ", h("span", {class: "muted"}, extra ?? lines)), open},
    () => h(Fragment, null,
    text && h(CopyButton, {text}),
    h(CodeView, {text, label: title, numbers: CODE.has(text?.language)})));
}

function CopyButton({text}) {
  const [said, setSaid] = useState("Copy");
  if (!navigator.clipboard?.writeText) return null;
  const copy = () => navigator.clipboard.writeText(plainText(text))
    .then(() => setSaid("Copied"), () => setSaid("Not allowed"));
  return h("button", {type: "button", class: "copy", onClick: copy, onBlur: () => setSaid("Copy"),
    "aria-live": "polite"}, said);
}
