// Two runs side by side.

const SIGNS = {better: ["▲", "good"], worse: ["▼", "bad"], more: ["▲", "warn"], less: ["▼", ""]};
const RANK = {success: 3, running: 1, aborted: 1, fail: 1, pending: 0};

/** What is compared: a name, the value of a side, how it is written. */
const MEASURES = [
  ["Rounds", (side) => side.rounds, count],
  ["Calls", (side) => side.calls, count],
  ["Tokens", (side) => side.tokens, count],
  ["Reasoning", (side) => side.reasoning, count],
  ["Steps", (side) => side.steps, count],
  ["Time", (side) => side.seconds, seconds],
];
/** Times are never equal, so they do not count as a difference. */
const COMPARED = MEASURES.filter(([name]) => name !== "Time");

/** What a level took is known only after its end. */
const hasEnded = (side) => side != null && ["success", "fail"].includes(side.outcome);
const outcomeDiffers = ({a, b}) => Boolean(a && b) && a.outcome !== b.outcome;
const measureDiffers = ({a, b}, value) => a && b && value(a) != null && value(b) != null && value(a) !== value(b);
const differs = (level) => outcomeDiffers(level) || COMPARED.some(([, value]) => measureDiffers(level, value));

const COMPARE_SHOWN = {
  differing: ["in both runs, differing", differs],
  outcomes: ["other outcome", outcomeDiffers],
  both: ["in both runs", ({a, b}) => a && b],
  a: ["only in A", ({b}) => !b],
  b: ["only in B", ({a}) => !a],
  all: ["all levels", () => true],
};

/** How the second of two values relates to the first, as a sign that needs no colour, and a word. */
function Change({kind}) {
  const [sign, tone] = SIGNS[kind];
  return h("span", {class: classes("sign", tone)}, h("span", {"aria-hidden": "true"}, sign),
    h("span", {class: "unseen"}, kind));
}

function OutcomeCells({level: {a, b}}) {
  const change = a && b ? Math.sign(RANK[b.outcome] - RANK[a.outcome]) : 0;
  const cell = (side, sign) => h("td", {class: classes("outcomes", sign && "differs")},
    side ? h(Outcome, {outcome: side.outcome}) : h("span", {class: "muted"}, "not in it"), sign);
  return h(Fragment, null, cell(a, null), cell(b, change ? h(Change, {kind: change > 0 ? "better" : "worse"}) : null));
}

function MeasureCells({a, b, value, written, quiet}) {
  const [one, two] = [a && value(a), b && value(b)];
  const change = one != null && two != null && !quiet ? Math.sign(two - one) : 0;
  return h(Fragment, null, h("td", {class: "number first"}, written(one)),
    h("td", {class: classes("number", change && "differs")},
      change !== 0 && h(Change, {kind: change > 0 ? "more" : "less"}), written(two)));
}

function ComparedLine({level, ks}) {
  const link = (side, k, letter) => side?.number != null && k >= 0 &&
    h("a", {href: address(k, side.number), "aria-label": `${level.env_id} in run ${letter}`}, letter);
  return h("tr", {class: differs(level) ? "differing" : ""},
    h("th", {scope: "row"}, level.env_id, " ",
      h("span", {class: "ways"}, link(level.a, ks[0], "A"), link(level.b, ks[1], "B"))),
    h(OutcomeCells, {level}),
    MEASURES.map(([name, value, written]) =>
      h(MeasureCells, {key: name, a: level.a, b: level.b, value, written, quiet: name === "Time"})));
}

/** Sums of a side over levels; a measure that no level tells stays unknown. */
function totalsOf(sides) {
  const told = sides.filter(Boolean);
  const add = (value) => (told.some((side) => value(side) != null) ? sum(told, value) : null);
  return {outcome: "", levels: told.length, solved: told.filter(({outcome}) => outcome === "success").length,
    rounds: add((side) => side.rounds), calls: add((side) => side.calls), tokens: add((side) => side.tokens),
    reasoning: add((side) => side.reasoning), steps: add((side) => side.steps), seconds: add((side) => side.seconds)};
}

/** Sums of a side; `quiet` where the sides are not sums over the same levels. */
function TotalLine({name, levels, quiet = false}) {
  const [a, b] = ["a", "b"].map((side) => totalsOf(levels.map((level) => level[side])));
  const cell = (total, other) => h("td",
    {class: classes("outcomes", !quiet && other && total.solved !== other.solved && "differs")},
    `${total.solved} / ${total.levels} solved`);
  return h("tr", {class: "total"}, h("th", {scope: "row"}, name), cell(a), cell(b, a),
    MEASURES.map(([measure, value, written]) => h(MeasureCells, {key: measure, a, b, value, written, quiet})));
}

function CompareHead({report, pair, ks}) {
  const name = (id, k) => (k < 0 ? h("span", {class: "mono"}, id) : h("a", {class: "mono", href: address(k)}, id));
  return h("section", {class: "head", "aria-label": "What is compared"},
    h("h1", {tabIndex: -1}, "Two runs compared"),
    h("dl", {class: "sides"}, h("div", null, h("dt", null, "A"), h("dd", null, name(pair.a, ks[0]))),
      h("div", null, h("dt", null, "B"), h("dd", null, name(pair.b, ks[1])))),
    h("div", {class: "notice"}, h("strong", null, "What differs between A and B"),
      h("ul", null, pair.differences.map((line, i) => h("li", {key: i}, line)))),
    pair.notes.length > 0 && h("div", {class: "notice warn"}, h("strong", null, "Before you compare"),
      h("ul", null, pair.notes.map((note, i) => h("li", {key: i}, note)))));
}

function CompareTable({levels, all, ks}) {
  const both = all.filter(({a, b}) => hasEnded(a) && hasEnded(b));
  const [shownRows, more] = useGrowing(levels);
  const pairHeads = (name) => ["A", "B"].map((letter) =>
    h("th", {key: name + letter, scope: "col",
      class: classes(name !== "Outcome" && "number", letter === "A" && "first"),
      "aria-label": `${name} ${letter}`}, letter));
  const names = ["Outcome", ...MEASURES.map(([name]) => name)];
  return h(Fragment, null,
    h("div", {class: "scroll", role: "region", "aria-label": "Levels of both runs", tabIndex: 0},
      h("table", {class: "compared"},
        h("thead", null,
          h("tr", null, h("th", {scope: "col", rowSpan: 2}, "Level"),
            names.map((name) => h("th", {key: name, scope: "colgroup", colSpan: 2, class: "pair"}, name))),
          h("tr", null, names.map(pairHeads))),
        h("tbody", {class: "totals"}, h(TotalLine, {name: "All levels", levels: all, quiet: true}),
          both.length > 0 && h(TotalLine, {name: "Levels ended in both", levels: both})),
        h("tbody", null, shownRows.map((level) => h(ComparedLine, {key: all.indexOf(level), level, ks}))))), more);
}

/** A comparison: totals, and every level with what it took in either run. */
function CompareView({report, i, query, go}) {
  const pair = report.comparisons[i];
  const choose = useChoices(`#/compare/${i}`, query, go);
  const ks = [report.runs.findIndex((run) => run.id === pair.a), report.runs.findLastIndex((run) => run.id === pair.b)];
  const usual = pair.levels.some(differs) ? "differing" : "all";
  const show = Object.hasOwn(COMPARE_SHOWN, query.get("show")) ? query.get("show") : usual;
  const word = (query.get("q") ?? "").toLowerCase().trim();
  const levels = pair.levels.filter((level) => COMPARE_SHOWN[show][1](level) &&
    `${level.env_id} ${level.category}`.toLowerCase().includes(word));
  const options = Object.entries(COMPARE_SHOWN)
    .map(([key, [text, fits]]) => [key, text, pair.levels.filter(fits).length]);
  return h(Fragment, null, h(CompareHead, {report, pair, ks}),
    h("section", {"aria-labelledby": "compared"}, h("h2", {id: "compared"}, "Levels"),
      h("div", {class: "filters"},
        h(Choice, {name: "Show levels", options, chosen: show,
          choose: (key) => choose("show", key === usual ? "" : key)}),
        h(Search, {query, choose, hint: "level or category"}),
        h("p", {class: "matches", role: "status"},
          `${count(levels.length)} of ${plural(pair.levels.length, "level")}`)),
      h(CompareTable, {levels, all: pair.levels, ks}),
      !levels.length && h("p", {class: "empty"}, "No level fits these filters."),
      h("p", {class: "key"}, "▲ ▼ say how B differs from A: better or worse, more or less. ",
        "Times of levels always differ and are not marked.")));
}
