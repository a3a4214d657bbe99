// Preact's names, and how numbers, times and words are written on the page. The page's scripts share one scope.

const {h, Fragment, render} = preact;
const {useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback} = preactHooks;

/** What stands where something is not known. */
const UNKNOWN = "–";

const OUTCOMES = {success: "solved", fail: "failed", aborted: "aborted", running: "running", pending: "not begun"};
const OUTCOME_SIGNS = {success: "✓", fail: "✗", aborted: "!", running: "▸", pending: "·"};
const ROWS_AT_ONCE = 160;

/** @param {...(string|false|null|undefined)} names @returns {string} the value of a class attribute */
function classes(...names) {
  return names.filter(Boolean).join(" ");
}

/** @param {number|null|undefined} n @returns {string} a whole number with groups of three */
function count(n) {
  return n == null ? UNKNOWN : Math.round(n).toLocaleString("en-US");
}

/** @param {number|null|undefined} n @returns {string} at most four characters and a unit: 12.3k */
function compact(n) {
  if (n == null) return UNKNOWN;
  if (n < 10000) return count(n);
  return new Intl.NumberFormat("en-US", {notation: "compact", maximumFractionDigits: 1}).format(n);
}

/** @param {number|null|undefined} n seconds @returns {string} 4 ms, 1.25 s, 12.3 s, 3 min 20 s, 2 h 05 min */
function seconds(n) {
  if (n == null) return UNKNOWN;
  if (n === 0) return "0 s";
  if (n < 0.9995) return `${Math.max(1, Math.round(n * 1000))} ms`;
  if (n < 59.95) return `${n.toFixed(n < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(n);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/**
 * @param {number|null|undefined} n known cost in US dollars
 * @param {number} [unknown] how many requests have a cost that is not known
 * @returns {string}
 */
function usd(n, unknown = 0) {
  if (n == null || (unknown && !n)) return "unknown";
  const digits = n === 0 || n >= 100 ? 2 : n >= 0.01 ? 3 : 5;
  return `${unknown ? "≥ " : ""}$${n.toFixed(digits)}`;
}

/** @param {number} n @param {string} one @param {string} [many] @returns {string} "1 call", "2 calls" */
function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** @param {number|null|undefined} n @returns {string} a size in bytes, kB or MB */
function bytes(n) {
  if (n == null) return UNKNOWN;
  if (n < 1000) return `${n} B`;
  return n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}

/** @param {number|null|undefined} epoch seconds since the epoch @returns {string} in the reader's own time zone */
function moment(epoch) {
  if (epoch == null) return UNKNOWN;
  const date = new Date(epoch * 1000);
  const two = (n) => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** @param {number} part @param {number} whole @returns {string} */
function percent(part, whole) {
  return whole ? `${Math.round((100 * part) / whole)} %` : UNKNOWN;
}

/** @param {string} text @returns {string} */
function firstLine(text) {
  return text.trim().split("\n", 1)[0];
}

/** @template T @param {T[]} rows @param {(row: T) => number|null|undefined} value @returns {number} */
function sum(rows, value) {
  return rows.reduce((total, row) => total + (value(row) ?? 0), 0);
}

/** @param {object} usage @returns {number} */
function tokensOf(usage) {
  return usage.input_tokens + usage.output_tokens;
}

/** @param {object} usage @returns {string} tokens, with a sign where the server did not tell all of them */
function tokenText(usage) {
  return `${usage.estimated ? "≈ " : ""}${count(tokensOf(usage))}`;
}

/** @param {object} usage @returns {string} how many tokens of the output were spent on thinking, in brackets */
function reasoningText(usage) {
  return usage.reasoning_tokens ? ` (${count(usage.reasoning_tokens)} reasoning)` : "";
}

/** @param {number} k index of a run @param {number} [n] number of a level @returns {string} address within the page */
function address(k, n) {
  return n == null ? `#/run/${k}` : `#/run/${k}/level/${n}`;
}

/** The outcome of a level: a sign, a word and a colour. */
function Outcome({outcome}) {
  return h("span", {class: `outcome is-${outcome}`},
    h("span", {class: "sign", "aria-hidden": "true"}, OUTCOME_SIGNS[outcome] ?? "?"), OUTCOMES[outcome] ?? outcome);
}

/** A term and its value, in a `dl`. */
function Fact({name, children, title}) {
  return h("div", {class: "fact", title}, h("dt", null, name), h("dd", null, children));
}

/** What went wrong, said at once to those who listen. */
function Trouble({title, children}) {
  return h("div", {class: "notice bad", role: "alert"}, h("strong", null, title), h("div", null, children));
}

/**
 * What is chosen in a view, kept in its address.
 * @returns {(name: string, value: string) => void} sets a choice; "" takes it away
 */
function useChoices(base, query, go) {
  return (name, value) => {
    const next = new URLSearchParams(query);
    if (value) next.set(name, value);
    else next.delete(name);
    const text = next.toString();
    go(text ? `${base}?${text}` : base, true);
  };
}

/** @template T @param {T[]} rows @param {(row: T) => string|number} value @param {boolean} down @returns {T[]} */
function sorted(rows, value, down) {
  const sign = down ? -1 : 1;
  const order = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return [...rows].sort((a, b) => sign * order(value(a), value(b)));
}

/** Buttons of which one is pressed; each says how many it would show. */
function Choice({name, options, chosen, choose}) {
  return h("div", {class: "choice", role: "group", "aria-label": name}, options.map(([key, text, n]) =>
    h("button", {key, type: "button", "aria-pressed": String(key === chosen), "data-show": key,
      onClick: () => choose(key)},
      text, h("span", {class: "n"}, count(n)))));
}

/** A field for words to look for; they stand in the address as `q`. */
function Search({query, choose, hint}) {
  return h("label", {class: "search"}, h("span", null, "Search"),
    h("input", {type: "search", value: query.get("q") ?? "",
    placeholder: hint, onInput: (event) => choose("q", event.target.value)}));
}

/** A column's heading; its button sorts, up first, then down. */
function SortHeading({column, query, go, base, first = "number"}) {
  const sort = query.get("sort") ?? first;
  const down = query.get("down") === "1";
  const mine = sort === column.key;
  const turn = () => {
    const next = new URLSearchParams(query);
    next.set("sort", column.key);
    if (mine && !down) next.set("down", "1");
    else next.delete("down");
    go(`${base}?${next}`, true);
  };
  return h("th", {scope: "col", role: "columnheader", class: classes(column.number && "number", `c-${column.key}`),
    "aria-sort": mine ? (down ? "descending" : "ascending") : undefined},
  h("button", {type: "button", class: "sort", onClick: turn}, column.name,
    h("span", {class: "arrow", "aria-hidden": "true"}, mine ? (down ? "▾" : "▴") : "")));
}

/** The first of many rows, and more of them when their end comes into view. */
function useGrowing(rows) {
  const [limit, setLimit] = useState(ROWS_AT_ONCE);
  const end = useRef(null);
  useEffect(() => {
    if (!end.current) return undefined;
    const seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) &&
      setLimit((now) => now + ROWS_AT_ONCE), {rootMargin: "600px"});
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [rows.length > limit, limit]);
  const rest = rows.length - limit;
  const more = rest > 0 && h("p", {ref: end, class: "more-rows"},
    h("button", {type: "button", onClick: () => setLimit(rows.length)}, `Show ${count(rest)} more`));
  return [rest > 0 ? rows.slice(0, limit) : rows, more];
}
