// Preact's names, and how numbers, times and words are written on the page. The page's scripts share one scope.

const {h, Fragment, render} = preact;
const {useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback} = preactHooks;

/** What stands where something is not known. */
const UNKNOWN = "–";

const OUTCOMES = {success: "solved", fail: "failed", aborted: "aborted", running: "running", pending: "not begun"};
const OUTCOME_SIGNS = {success: "✓", fail: "✗", aborted: "!", running: "▸", pending: "·"};
const PHASES = {plan: "plan", solve: "solve", code: "code", act: "act"};

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
  return n < 10000 ? count(n) : new Intl.NumberFormat("en-US", {notation: "compact", maximumFractionDigits: 1}).format(n);
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
