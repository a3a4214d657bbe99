// Texts, source code and diffs: numbered, highlighted lines in a scroll region of their own.

const LINES_AT_ONCE = 3000;

/** @param {(string|string[])[]} line tokens of a line @returns vnodes */
function tokensOfLine(line) {
  return line.map((token) => (typeof token === "string" ? token : h("span", {class: `t-${token[0]}`}, token[1])));
}

/** @param {object|null} text a Text @returns {string} */
function plainText(text) {
  return text ? text.lines.map(plainLine).join("\n") : "";
}

/** @param {(string|string[])[]} line @returns {string} */
function plainLine(line) {
  return line.map((token) => (typeof token === "string" ? token : token[1])).join("");
}

/**
 * Lines `first` to `last` of a Text; the line `current` is marked and kept in view.
 *
 * @param {{text: object|null, label: string, first?: number, last?: number, current?: number, tone?: string,
 *   numbers?: boolean}} props `tone`: `bad` where the marked line is to blame.
 */
function CodeView({text, label, first = 1, last = Infinity, current = 0, tone = "", numbers = true}) {
  const box = useRef(null);
  const [limit, setLimit] = useState(LINES_AT_ONCE);
  const end = Math.min(last, text?.lines.length ?? 0);
  const shown = Math.min(end, first - 1 + limit);
  const lines = useMemo(() => (text?.lines ?? []).slice(first - 1, shown).map(tokensOfLine), [text, first, shown]);
  useLayoutEffect(() => keepInView(box.current, current), [text, first, current]);
  if (!text) return h("p", {class: "muted"}, "This text is not in the run folder.");
  const width = String(end).length;
  return h(Fragment, null,
    h("div", {class: classes("code", numbers && "numbered", tone), ref: box, tabIndex: 0, role: "group",
      "aria-label": label},
      h("pre", null, h("code", null, lines.map((line, i) => {
        const number = first + i;
        const marked = number === current;
        return h("span", {
          key: number, class: classes("line", marked && "marked"), "data-n": String(number).padStart(width),
          "data-line": number, "aria-current": marked ? "true" : undefined,
        }, line, "\n");
      })))),
    shown < end && h("button", {type: "button", onClick: () => setLimit(Infinity)},
      `Show all ${count(end - first + 1)} lines`));
}

/** Scroll the marked line of a scroll region towards its middle; the page itself stays where it is. */
function keepInView(box, current) {
  if (!box || !current) return;
  const line = box.querySelector(".marked");
  if (!line) return;
  const at = line.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  const margin = Math.min(frame.height / 4, 3 * at.height);
  if (at.top < frame.top + margin || at.bottom > frame.bottom - margin) {
    box.scrollTop += at.top - frame.top - (frame.height - at.height) / 2;
  }
}

/**
 * The method around a line of an agent: decorators included, blank lines at the end left out.
 *
 * @param {object} text a Text @param {number} line from 1
 * @returns {{first: number, last: number, name: string}|null} null outside of a method
 */
function methodAround(text, line) {
  const {lines} = text;
  let start = Math.min(line, lines.length) - 1;
  while (start >= 0 && !/^( {4})?(async )?def /.test(plainLine(lines[start]))) start--;
  if (start < 0) return null;
  let end = start + 1;
  while (end < lines.length && !beginsBlock(lines[end])) end++;
  while (end > start + 1 && !plainLine(lines[end - 1]).trim()) end--;
  const name = /def\s+(\w+)/.exec(plainLine(lines[start]))?.[1] ?? "";
  while (start > 0 && /^( {4})?@/.test(plainLine(lines[start - 1]))) start--;
  return line <= end ? {first: start + 1, last: end, name} : null;
}

/** Whether a line begins a method, a class or a decorator, and is not the inside of a string that looks like it. */
function beginsBlock(line) {
  const inString = Array.isArray(line[0]) && line[0][0] === "s";
  return !inString && /^( {4})?(async def\b|def\b|class\b|@)/.test(plainLine(line));
}

/**
 * A unified diff.
 *
 * @param {{diff: object, find: (id: string) => object|null, label: string}} props
 */
function DiffView({diff, find, label}) {
  const older = find(diff.old);
  const newer = find(diff.new);
  if (!older || !newer) return h("p", {class: "muted"}, "The texts of this diff are not in the run folder.");
  const width = String(Math.max(older.lines.length, newer.lines.length)).length;
  const pad = (n) => (n ? String(n) : "").padStart(width);
  return h("div", {class: "code numbered diff", tabIndex: 0, role: "group", "aria-label": label},
    h("pre", null, h("code", null, diff.rows.map((row, i) => h(DiffLine, {key: i, row, pad, older, newer})))));
}

const DIFF_TAGS = {"-": "del", "+": "ins"};

function DiffLine({row, pad, older, newer}) {
  if (row.tag === "@") return h("span", {class: "line gap", "data-n": `${pad(0)} ${pad(0)} `}, "⋯\n");
  const line = (row.tag === "-" ? older.lines[row.old - 1] : newer.lines[row.new - 1]) ?? [];
  return h(DIFF_TAGS[row.tag] ?? "span", {class: "line", "data-n": `${pad(row.old)} ${pad(row.new)} ${row.tag}`},
    tokensOfLine(line), "\n");
}

/** @param {object} diff @returns {string} "+3 −1" */
function diffSize(diff) {
  const of = (tag) => diff.rows.filter((row) => row.tag === tag).length;
  return `+${of("+")} −${of("-")}`;
}

/**
 * A fold that makes its content when it is first opened. `opener`: whenever it changes to something true the fold opens
 * and comes into view.
 */
function Fold({summary, children, open = false, opener = null, className = "", id}) {
  const [isOpen, setOpen] = useState(open);
  const element = useRef(null);
  useEffect(() => {
    if (!opener) return;
    setOpen(true);
    element.current?.querySelector("summary").focus({preventScroll: true});
    element.current?.scrollIntoView({block: "start"});
  }, [opener]);
  return h("details", {class: classes("drawer", className), open: isOpen, ref: element, id,
    onToggle: (event) => setOpen(event.currentTarget.open)},
    h("summary", null, summary),
    isOpen && h("div", {class: "drawer-body"}, children()));
}
