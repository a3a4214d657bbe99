// The levels of a run: their table with its filters, and their timeline.

const SHOWN = {
  all: ["all", () => true],
  failed: ["failed", (row) => row.outcome === "fail"],
  solved: ["solved", (row) => row.outcome === "success"],
  unfinished: ["unfinished", (row) => row.outcome !== "fail" && row.outcome !== "success"],
};
const CHECKS = {
  equal: ["=", "good", "re-simulation equals the recording"],
  different: ["≠", "bad", "re-simulation differs from the recording"],
  unrecorded: ["?", "", "the recording has no state hashes to compare with"],
};
const MARKS = {plan: ["P", "planner call"], code: ["C", "coder call"], act: ["A", "attempt"]};
const MARKS_AT_ONCE = 9;
const ROWS_AT_ONCE = 250;

const calls = (row) => row.planner_calls + row.coder_calls;
const byText = (row, key) => row[key];
const COLUMNS = [
  {key: "number", name: "#", number: true, value: (row) => row.number},
  {key: "env_id", name: "Level", value: (row) => byText(row, "env_id")},
  {key: "category", name: "Category", value: (row) => byText(row, "category")},
  {key: "outcome", name: "Outcome", value: (row) => ["fail", "aborted", "running", "success", "pending"].indexOf(row.outcome)},
  {key: "rounds", name: "Rounds", value: (row) => row.rounds * 1000 + row.attempts},
  {key: "calls", name: "Calls", number: true, value: calls},
  {key: "tokens", name: "Tokens", number: true, value: (row) => tokensOf(row.usage)},
  {key: "cost", name: "Cost", number: true, value: (row) => row.usage.cost_usd},
  {key: "steps", name: "Steps", number: true, value: (row) => row.steps ?? -1},
  {key: "time", name: "Time", number: true, value: (row) => row.seconds ?? -1},
  {key: "check", name: "Replay", value: (row) => row.check},
];

const OVERVIEWS = new Map();

/** @param {number} k @returns {string} the address of a run's overview, with the filters it had last */
function overviewAddress(k) {
  return OVERVIEWS.get(k) ?? address(k);
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

/** @returns {object[]} the levels that the choices leave, in the order they ask for */
function chosenLevels(levels, query) {
  const [, fits] = SHOWN[query.get("show")] ?? SHOWN.all;
  const category = query.get("category");
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const column = COLUMNS.find(({key}) => key === query.get("sort"));
  const kept = levels.filter((row) => {
    if (!fits(row) || (category && row.category !== category)) return false;
    const text = words.length ? `${row.env_id} ${row.level} ${row.category} ${row.reason}`.toLowerCase() : "";
    return words.every((word) => text.includes(word));
  });
  return column ? sorted(kept, column.value, query.get("down") === "1") : kept;
}

function sorted(rows, value, down) {
  const sign = down ? -1 : 1;
  const order = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return [...rows].sort((a, b) => sign * order(value(a), value(b)) || a.number - b.number);
}

/** Buttons of which one is pressed; each says how many it would show. */
function Choice({name, options, chosen, choose}) {
  return h("div", {class: "choice", role: "group", "aria-label": name}, options.map(([key, text, n]) =>
    h("button", {key, type: "button", "aria-pressed": String(key === chosen), "data-show": key, onClick: () => choose(key)},
      text, h("span", {class: "n"}, count(n)))));
}

function Filters({run, query, choose, matches}) {
  const show = SHOWN[query.get("show")] ? query.get("show") : "all";
  const options = Object.entries(SHOWN).map(([key, [text, fits]]) => [key, text, run.levels.filter(fits).length]);
  return h("div", {class: "filters"},
    h(Choice, {name: "Show levels", options, chosen: show, choose: (key) => choose("show", key === "all" ? "" : key)}),
    h("label", null, h("span", null, "Category"),
      h("select", {value: query.get("category") ?? "", onChange: (event) => choose("category", event.target.value)},
        h("option", {value: ""}, "every category"),
        run.categories.map(({name}) => h("option", {key: name, value: name}, name)))),
    h("label", {class: "search"}, h("span", null, "Search"),
      h("input", {type: "search", value: query.get("q") ?? "", placeholder: "level or reason",
        onInput: (event) => choose("q", event.target.value)})),
    h("label", {class: "sort-by"}, h("span", null, "Sort by"),
      h("select", {value: query.get("sort") ?? "number", onChange: (event) => choose("sort", event.target.value)},
        COLUMNS.map(({key, name}) => h("option", {key, value: key}, name)))),
    h("p", {class: "matches", role: "status"}, `${count(matches)} of ${plural(run.levels.length, "level")}`));
}

/** A column's heading; its button sorts, up first, then down. */
function SortHeading({column, query, go, base}) {
  const sort = query.get("sort") ?? "number";
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

/** @returns {{number: number, marks: {phase: string, status: string}[]}[]} what happened, round by round */
function roundsOf(row) {
  const rounds = new Map();
  for (const {phase, round, status} of row.spans) {
    if (!MARKS[phase]) continue;
    if (!rounds.has(round)) rounds.set(round, {number: round, marks: []});
    rounds.get(round).marks.push({phase, status});
  }
  return [...rounds.values()];
}

function shortened(marks) {
  if (marks.length <= MARKS_AT_ONCE) return marks;
  return [...marks.slice(0, 5), {phase: "more", status: "", n: marks.length - 8}, ...marks.slice(-3)];
}

function Mark({phase, status, n}) {
  if (phase === "more") return h("i", {class: "more"}, `+${n}`);
  const [letter, name] = MARKS[phase];
  return h("i", {class: classes("mark", `p-${phase}`, status && status !== "success" && "failed"),
    title: `${name}${status ? `: ${firstLine(status)}` : ""}`}, letter);
}

/** The rounds of a level as marks: P planner call, C coder call, A attempt; those that failed are crossed. */
function Strip({row}) {
  const rounds = roundsOf(row);
  if (!rounds.length) return row.rounds ? plural(row.rounds, "round") : UNKNOWN;
  const failed = (marks) => marks.filter(({status}) => status && status !== "success").length;
  const told = rounds.map(({number, marks}) => `round ${number}: ${marks.map(({phase}) => MARKS[phase][0]).join(" ")}` +
    (failed(marks) ? `, ${failed(marks)} failed` : "")).join("; ");
  return h("span", {class: "strip", role: "img", "aria-label": told}, rounds.map(({number, marks}) =>
    h("span", {class: "round", key: number}, shortened(marks).map((mark, i) => h(Mark, {key: i, ...mark})))));
}

function CheckMark({check}) {
  const found = CHECKS[check];
  if (!found) return h("span", {class: "muted", title: "not re-simulated"}, UNKNOWN);
  return h("span", {class: classes("check", found[1]), title: found[2]},
    h("span", {"aria-hidden": "true"}, found[0]), h("span", {class: "unseen"}, found[2]));
}

function LevelLine({row, k}) {
  const cell = (key, content, number = false) => {
    const column = COLUMNS.find((one) => one.key === key);
    return h("td", {role: "cell", class: classes(`c-${key}`, number && "number"), "data-name": column.name}, content);
  };
  const begun = row.outcome !== "pending";
  const number = (key, text) => cell(key, begun ? text : UNKNOWN, true);
  const reason = row.outcome !== "success" && row.reason ? firstLine(row.reason) : "";
  return h("tr", {role: "row", class: `is-${row.outcome}`, "data-level": row.number},
    cell("number", row.number, true),
    h("th", {scope: "row", role: "rowheader", class: "c-env_id"},
      h("a", {href: address(k, row.number)}, row.env_id),
      row.begun > 1 && h("span", {class: "badge warn", title: "begun again after the process was killed"}, `begun ${row.begun} times`),
      row.corrections.length > 0 && h("span", {class: "badge", title: row.corrections.join(", ")}, "corrected"),
      reason && h("div", {class: "reason"}, reason)),
    cell("category", row.category), cell("outcome", h(Outcome, {outcome: row.outcome})),
    cell("rounds", begun ? h(Strip, {row}) : UNKNOWN), number("calls", count(calls(row))),
    number("tokens", tokenText(row.usage)), number("cost", usd(row.usage.cost_usd, row.usage.cost_unknown)),
    number("steps", count(row.steps)), number("time", seconds(row.seconds)), cell("check", h(CheckMark, {check: row.check})));
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

/** The table of levels and its filters, which stand in the address. */
function LevelTable({run, k, query, go}) {
  const base = address(k);
  const choose = useChoices(base, query, go);
  const text = query.toString();
  OVERVIEWS.set(k, text ? `${base}?${text}` : base);
  const rows = useMemo(() => chosenLevels(run.levels, query), [run.levels, text]);
  // The same nodes again: preact then leaves rows alone that only change their place.
  const lines = useMemo(() => new Map(run.levels.map((row) => [row, h(LevelLine, {key: row.number, row, k})])), [run.levels, k]);
  const [shownRows, more] = useGrowing(rows);
  return h("section", {"aria-labelledby": "levels"}, h("h2", {id: "levels"}, "Levels"),
    h(Filters, {run, query, choose, matches: rows.length}),
    h("div", {class: "scroll", role: "region", "aria-labelledby": "levels", tabIndex: 0},
      h("table", {class: "levels", role: "table"},
        h("thead", {role: "rowgroup"}, h("tr", {role: "row"},
          COLUMNS.map((column) => h(SortHeading, {key: column.key, column, query, go, base})))),
        h("tbody", {role: "rowgroup"}, shownRows.map((row) => lines.get(row))))),
    more, !rows.length && h("p", {class: "empty"}, "No level fits these filters."),
    h("p", {class: "key"}, "Rounds: ", Object.entries(MARKS).map(([phase, [letter, name]]) =>
      h("span", {key: phase}, h("i", {class: `mark p-${phase}`}, letter), ` ${name} `)),
    h("span", null, h("i", {class: "mark p-act failed"}, "A"), " failed")));
}
