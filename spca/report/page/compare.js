// Two runs side by side.

const RANK = {success: 3, running: 1, aborted: 1, fail: 1, pending: 0};

/** What is compared: key, name, the value of a side, how it is written. Times are never equal: they are not marked. */
const MEASURES = [
  ["rounds", "Rounds", (side) => side?.rounds, count],
  ["calls", "Calls", (side) => side?.calls, count],
  ["tokens", "Tokens", (side) => side?.tokens, count],
  ["steps", "Steps", (side) => side?.steps, count],
  ["time", "Time", (side) => side?.seconds, seconds],
];
const MARKED = MEASURES.slice(0, -1);

const hasEnded = (side) => side != null && ["success", "fail"].includes(side.outcome);
const hasOtherOutcome = ({a, b}) => Boolean(a && b) && a.outcome !== b.outcome;
const differIn = ({a, b}, value) => value(a) != null && value(b) != null && value(a) !== value(b);
const differs = (level) => hasOtherOutcome(level) || MARKED.some(([, , value]) => differIn(level, value));

/** How B differs from A: a sign, a colour and a word. Less is better; `kind` is "better", "worse", "more" or "less". */
function Change({kind}) {
  const isBetter = kind === "better" || kind === "less";
  const isUp = kind === "better" || kind === "more";
  return h("span", {class: isBetter ? "good-text" : "bad-text"},
    h("span", {"aria-hidden": "true"}, isUp ? "▲ " : "▼ "), unseen(`${kind} `));
}

function MeasureCell({one, two, written, isMarked}) {
  const change = isMarked && one != null && two != null ? Math.sign(two - one) : 0;
  return h(Fragment, null, change !== 0 && h(Change, {kind: change > 0 ? "more" : "less"}), written(two));
}

/** The outcome of a side, which leads to the level of its run. */
function SideOutcome({level, side, k}) {
  const one = level[side];
  if (!one) return muted("not in it");
  const change = side === "b" && level.a ? Math.sign(RANK[one.outcome] - RANK[level.a.outcome]) : 0;
  const outcome = h(Outcome, {outcome: one.outcome});
  return h(Fragment, null,
    change !== 0 && h(Change, {kind: change > 0 ? "better" : "worse"}),
    one.number != null && k >= 0
      ? h("a", {href: addressOf(k, one.number), "aria-label": `${level.env_id} in run ${side.toUpperCase()}`},
        outcome) : outcome);
}

function comparedColumns(measures, ks) {
  const sides = [["a", "A"], ["b", "B"]];
  return [
    {key: "level", name: "Level", head: true, value: (level) => level.env_id},
    {key: "category", name: "Category", value: (level) => level.category},
    ...sides.map(([side, name],
      i) => ({key: `outcome.${side}`, name, span: "Outcome", value: (level) => level[side]?.outcome,
      show: (level) => h(SideOutcome, {level, side, k: ks[i]})})),
    ...measures.flatMap(([key, span, value,
      written]) => sides.map(([side, name]) => ({key: `${key}.${side}`, name, span,
      number: true, value: (level) => value(level[side]),
      show: (level) => (side === "a" ? written(value(level.a))
        : h(MeasureCell, {one: value(level.a), two: value(level.b), written,
          isMarked: key !== "time" && level.a?.outcome === level.b?.outcome}))}))),
  ];
}

/** Sums of a side over levels; a measure that no level tells stays unknown. */
function sumSide(levels, side) {
  const known = levels.map((level) => level[side]).filter(Boolean);
  const add = (value) => (known.some((one) => value(one) != null) ? sum(known, value) : null);
  return {levels: known.length, solved: known.filter(({outcome}) => outcome === "success").length, add};
}

/** Sums of both sides; not marked where they are not sums over the same levels. */
function TotalLine({name, levels, measures, isMarked}) {
  const sides = ["a", "b"].map((side) => sumSide(levels, side));
  return h("tr", {role: "row"},
    h("th", {scope: "row", colSpan: 2}, name),
    sides.map(({solved, levels: n}, i) => h("td", {key: i}, `${solved} of ${n}`)),
    measures.flatMap(([key, , value, written]) => {
      const [one, two] = sides.map(({add}) => add(value));
      return [h("td", {key: `${key}.a`, class: "number"}, written(one)),
        h("td", {key: `${key}.b`, class: "number"},
          h(MeasureCell, {one, two, written, isMarked: isMarked && key !== "time"}))];
    }));
}

/** A comparison: what differs, the verdict, and every level with what it took in either run. */
function CompareView({report, pair, route}) {
  const ks = [report.runs.findIndex((run) => run.id === pair.a), report.runs.findLastIndex((run) => run.id === pair.b)];
  const measures = MEASURES.filter(([, , value]) => pair.levels.some(({a, b}) => value(a) || value(b)));
  const columns = useMemo(() => comparedColumns(measures, ks), [pair]);
  const both = pair.levels.filter(({a, b}) => hasEnded(a) && hasEnded(b));
  const options = [
    ["differing", "in both runs, differing", differs],
    ["outcomes", "other outcome", hasOtherOutcome],
    ["both", "in both runs", ({a, b}) => a && b],
    ["a", "only in A", ({b}) => !b],
    ["b", "only in B", ({a}) => !a],
    ["all", "all levels", () => true],
  ];
  if (!pair.levels.some(differs)) options.reverse();
  const name = (id, k) => (k < 0 ? mono(id) : h("a", {class: "mono", href: addressOf(k)}, id));
  const totals = [
    h(TotalLine, {key: 1, name: "All levels", levels: pair.levels, measures}),
    both.length > 0 && h(TotalLine,
      {key: 2, name: "Levels that ended in both", levels: both, measures, isMarked: true}),
  ];
  return h(Fragment, null,
    h("section", {"aria-label": "What is compared"},
      h("h1", {tabIndex: -1}, "Two runs compared"),
      h(Facts, {facts: [["A", name(pair.a, ks[0])], ["B", name(pair.b, ks[1])]]}),
      h(Notice, {title: "What differs between A and B"}, h(List, {items: pair.differences})),
      h(Notice, {tone: pair.tone, title: "Verdict"}, pair.verdict),
      pair.notes.length > 0 && h(Notice, {tone: "warn", title: "Before you compare"}, h(List, {items: pair.notes}))),
    h(Section, {id: "levels", title: "Levels",
      note: "▲ ▼ say how B differs from A; green is better. Times of levels always differ and are not marked."},
    h(Table, {label: "Levels of both runs", noun: "level", rows: pair.levels, columns, route, totals,
      hint: "level or category",
      filters: [{key: "show", name: "Show levels", options}]})));
}
