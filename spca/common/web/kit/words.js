// How numbers, times and words are written, on every page. The scripts of a page share one scope.

const {h, Fragment, render} = preact;
const {useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback} = preactHooks;

/** What stands where something is not known. */
const UNKNOWN = "–";

const OUTCOMES = {
  success: ["✓", "solved"],
  fail: ["✗", "failed"],
  aborted: ["!", "aborted"],
  running: ["▸", "running"],
  pending: ["·", "not begun"],
};

/** @param {...(string|false|null|undefined)} names @returns {string} the value of a class attribute */
function classes(...names) {
  return names.filter(Boolean).join(" ");
}

/** @param {number|null|undefined} n @returns {string} a whole number with groups of three: 1,249 */
function count(n) {
  return n == null ? UNKNOWN : Math.round(n).toLocaleString("en-US");
}

/** @param {number} n @param {string} one @param {string} [many] @returns {string} "1 call", "2 calls" */
function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** @param {number|null|undefined} share from 0 to 1 @returns {string} with one digit: 66.7 % */
function percent(share) {
  return share == null || Number.isNaN(share) ? UNKNOWN : `${(100 * share).toFixed(1)} %`;
}

/** @param {number|null|undefined} n @returns {string} three digits after the point: 0.881 */
function ratio(n) {
  return n == null ? UNKNOWN : n.toFixed(3);
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
 * @returns {string} $0.073, ≥ $0.073, unknown
 */
function usd(n, unknown = 0) {
  if (n == null || (unknown && !n)) return "unknown";
  const digits = n === 0 || n >= 100 ? 2 : n >= 0.01 ? 3 : 5;
  return `${unknown ? "≥ " : ""}$${n.toFixed(digits)}`;
}

/** @param {number|null|undefined} epoch seconds @returns {string} in the reader's time zone: 2026-11-26 15:20:15 UTC */
function moment(epoch) {
  return epoch == null ? UNKNOWN : new Date(epoch * 1000).toLocaleString("sv-SE", {timeZoneName: "short"});
}

/** @param {string} text @returns {string} */
function firstLine(text) {
  return text.trim().split("\n", 1)[0];
}

/** @param {string} text of a name @returns {string} `goal_not_reached` → `goal not reached` */
function spaced(text) {
  return text.replaceAll("_", " ");
}

/** @template T @param {T[]} rows @param {(row: T) => number|null|undefined} value @returns {number} */
function sum(rows, value) {
  return rows.reduce((total, row) => total + (value(row) ?? 0), 0);
}

/** @param {object} usage @returns {number|undefined} */
function tokensOf(usage) {
  return usage && usage.input_tokens + usage.output_tokens;
}

/** @param {object} usage @returns {string} tokens, with a sign where the server did not tell all of them */
function tokenText(usage) {
  return usage ? `${usage.estimated ? "≈ " : ""}${count(tokensOf(usage))}` : UNKNOWN;
}

/** @param {object} usage @returns {string} how many tokens of the output were spent on thinking, in brackets */
function reasoningText(usage) {
  return usage.reasoning_tokens ? ` (${count(usage.reasoning_tokens)} reasoning)` : "";
}
