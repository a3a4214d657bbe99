// Texts and source code: numbered, highlighted lines in a scroll region of their own, folded, to be copied.

/** Longer lines are left plain. */
const MAX_HIGHLIGHTED = 2000;

const words = (text) => text.split(" ").map((word) => `\\b${word}\\b`).join("|");

/**
 * What is highlighted in a language, as classes of tokens and their patterns: `k` keyword, `s` string, `c` comment, `n`
 * number, `f` name being defined, `v` variable of PDDL or name in a JSON object.
 */
const LANGUAGES = {
  python: tokenPattern({
    c: "#.*",
    s: "[rbfuRBFU]{0,2}(?:\"{3}[^]*?(?:\"{3}|$)|'{3}[^]*?(?:'{3}|$)|\"(?:\\\\.|[^\"\\\\\\n])*\"?" +
      "|'(?:\\\\.|[^'\\\\\\n])*'?)",
    f: "(?<=\\b(?:def|class) )\\w+",
    k: words("False None True and as assert async await break class continue def del elif else except finally for " +
      "from global if import in is lambda nonlocal not or pass raise return try while with yield"),
    n: "\\b\\d[\\w.]*",
  }),
  pddl: tokenPattern({
    c: ";.*",
    v: "\\?[^\\s();]+",
    f: "(?<=:action |\\(domain |\\(problem )[^\\s();]+",
    k: ":[^\\s();]+|" + words("define domain problem and or not forall exists when imply assign increase decrease"),
  }),
  json: tokenPattern({
    v: "\"(?:\\\\.|[^\"\\\\])*\"(?=\\s*:)",
    s: "\"(?:\\\\.|[^\"\\\\])*\"?",
    n: "-?\\b\\d[\\d.eE+-]*",
    k: words("true false null"),
  }),
};

function tokenPattern(patterns) {
  return new RegExp(Object.entries(patterns).map(([name, pattern]) => `(?<${name}>${pattern})`).join("|"), "g");
}

/** @param {object} text a Text @returns {any[][]} its lines as vnodes; strings of several lines go on */
function highlightLines({language, lines}) {
  const pattern = LANGUAGES[language];
  if (!pattern || lines.some((line) => line.length > MAX_HIGHLIGHTED)) return lines.map((line) => [line]);
  const made = [[]];
  const add = (part, kind) => part.split("\n").forEach((piece, i) => {
    if (i) made.push([]);
    if (piece) made.at(-1).push(kind ? h("span", {class: `t-${kind}`}, piece) : piece);
  });
  const source = lines.join("\n");
  let at = 0;
  for (const match of source.matchAll(pattern)) {
    add(source.slice(at, match.index));
    add(match[0], Object.entries(match.groups).find(([, found]) => found !== undefined)[0]);
    at = match.index + match[0].length;
  }
  add(source.slice(at));
  return made;
}

/** Texts -> their highlighted lines. */
const highlighted = new WeakMap();

function linesOf(text) {
  if (!highlighted.has(text)) highlighted.set(text, highlightLines(text));
  return highlighted.get(text);
}

/**
 * Lines `first` to `last` of a Text; the line `current` is marked and kept in view.
 *
 * @param {{text: object|null, label: string, first?: number, last?: number, current?: number, tone?: "bad",
 *   numbers?: boolean}} props `tone`: `bad` where the marked line is to blame
 */
function CodeView({text, label, first = 1, last = Infinity, current = 0, tone, numbers = text?.language !== "text"}) {
  const box = useRef(null);
  useLayoutEffect(() => keepInView(box.current, current), [text, first, current]);
  if (!text) return h("p", {class: "muted"}, "This text is not in the run folder.");
  const end = Math.min(last, text.lines.length);
  const width = String(end).length;
  const lines = linesOf(text).slice(first - 1, end).map((line, i) => {
    const number = first + i;
    const isMarked = number === current;
    return h("span", {key: number, class: classes("line", isMarked && "marked"), "data-line": number,
      "data-n": String(number).padStart(width), "aria-current": isMarked ? "true" : undefined}, line, "\n");
  });
  return h("div", {class: classes("code", numbers && "numbered", tone), ref: box, tabIndex: 0, role: "group",
    "aria-label": label}, h("pre", null, h("code", null, lines)));
}

/** Scroll the marked line of a scroll region towards its middle; the page itself stays where it is. */
function keepInView(box, current) {
  const line = current && box?.querySelector(".marked");
  if (!line) return;
  const at = line.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  const margin = Math.min(frame.height / 4, 3 * at.height);
  if (at.top < frame.top + margin || at.bottom > frame.bottom - margin) {
    box.scrollTop += at.top - frame.top - (frame.height - at.height) / 2;
  }
}

/** A text in a fold, with its number of lines and a button that copies it. */
function TextFold({title, text, open = false, opener}) {
  const size = text ? plural(text.lines.length, "line") : "missing";
  return h(Fold, {open, opener, summary: h("span", null, title, " ", muted(size))}, () => h(Fragment, null,
    text && h(CopyButton, {make: () => text.lines.join("\n")}),
    h(CodeView, {text, label: title})));
}

/** What a solver, an interpreter or a provider said: untrusted text as it is. */
function Said({title, text}) {
  return h("div", {class: "said"},
    h("p", {class: "muted small"}, title),
    h("pre", {class: "said-text", tabIndex: 0, role: "group", "aria-label": title}, text));
}
