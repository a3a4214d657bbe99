// Two runs side by side.

const SIDES = ["a", "b"];

/** What is compared: the field of a side, its name, how it is written. */
const MEASURES = [
  ["rounds", "Rounds", count],
  ["calls", "Calls", count],
  ["tokens", "Tokens", count],
  ["steps", "Steps", count],
  ["seconds", "Time", seconds],
];

const hasEnded = (side) => side != null && ["success", "fail"].includes(side.outcome);
const hasOtherOutcome = ({a, b}) => Boolean(a && b) && a.outcome !== b.outcome;
const differs = (level) => hasOtherOutcome(level) || MEASURES.some(([field]) => compareField(level, field) !== 0);

/** @returns {number} -1, 0 or 1: how much more B took; 0 where that is not known, and for times, which always differ */
function compareField({a, b}, field) {
  return field === "seconds" || a?.[field] == null || b?.[field] == null ? 0 : Math.sign(b[field] - a[field]);
}

/** How B differs from A, by a sign, a colour and a word. */
function Change({isUp, isBetter, word}) {
  return h("span", {class: isBetter ? "good-text" : "bad-text"},
    h("span", {"aria-hidden": "true"}, isUp ? "▲ " : "▼ "), unseen(`${word} `));
}

/** Less is better; what a level took says something only beside another with the same outcome. */
function measureColumn([field, span, written], side) {
  const value = (level) => level[side]?.[field];
  const show = (level) => {
    const isMarked = side === "b" && (level.isMarked ?? !hasOtherOutcome(level));
    const change = isMarked ? compareField(level, field) : 0;
    return h(Fragment, null,
      change !== 0 && h(Change, {isUp: change > 0, isBetter: change < 0, word: change > 0 ? "more" : "less"}),
      written(value(level)));
  };
  return {key: `${field}.${side}`, name: side.toUpperCase(), span, number: true, value, show};
}

/** The outcome of a side, which leads to the level of its run. */
function outcomeColumn(side, k) {
  const show = (level) => {
    const one = level[side];
    if (!one) return muted("not in it");
    if (one.words) return one.words;
    const change = side === "b" && level.a ? (one.outcome === "success") - (level.a.outcome === "success") : 0;
    const outcome = [h(Outcome, one), one.number != null && muted(` level ${one.number}`)];
    const label = `${level.env_id} in run ${side.toUpperCase()}`;
    return h(Fragment, null,
      change !== 0 && h(Change, {isUp: change > 0, isBetter: change > 0, word: change > 0 ? "better" : "worse"}),
      one.number != null && k >= 0 ? h("a", {href: addressOf(k, one.number), "aria-label": label}, outcome) : outcome);
  };
  const value = (level) => level[side]?.outcome;
  return {key: `outcome.${side}`, name: side.toUpperCase(), span: "Outcome", value, show};
}

/** Sums over levels, as if they were one; not marked unless they are over the same levels of both runs. */
function sumLevels(name, levels, isMarked) {
  const [a, b] = SIDES.map((side) => {
    const known = levels.map((level) => level[side]).filter(Boolean);
    const add = (field) => (known.some((one) => one[field] != null) ? sum(known, (one) => one[field]) : null);
    const solved = known.filter(({outcome}) => outcome === "success").length;
    const sums = MEASURES.map(([field]) => [field, add(field)]);
    return {words: `${solved} of ${known.length}`, ...Object.fromEntries(sums)};
  });
  return {env_id: name, a, b, isMarked};
}

/** A comparison: what differs, the verdict, and every level with what it took in either run. */
function CompareView({report, pair, route}) {
  const ks = [report.runs.findIndex((run) => run.id === pair.a), report.runs.findLastIndex((run) => run.id === pair.b)];
  const columns = useMemo(() => [
    {key: "level", name: "Level", head: true, value: (level) => level.env_id},
    {key: "category", name: "Category", value: (level) => level.category ?? ""},
    ...SIDES.map((side, i) => outcomeColumn(side, ks[i])),
    ...MEASURES.filter(([field]) => pair.levels.some(({a, b}) => a?.[field] || b?.[field]))
      .flatMap((measure) => SIDES.map((side) => measureColumn(measure, side))),
  ], [pair]);
  const options = [
    ["differing", "in both runs, differing", differs],
    ["outcomes", "other outcome", hasOtherOutcome],
    ["both", "in both runs", ({a, b}) => a && b],
    ["a", "only in A", ({b}) => !b],
    ["b", "only in B", ({a}) => !a],
    ["all", "all levels", () => true],
  ];
  if (!pair.levels.some(differs)) options.reverse();
  const both = pair.levels.filter(({a, b}) => hasEnded(a) && hasEnded(b));
  const all = sumLevels("All levels", pair.levels, false);
  const ended = sumLevels("Levels that ended in both", both, true);
  const totals = both.length < pair.levels.length ? [all, ended] : [ended];
  const describe = (side, k) => [k < 0 ? mono(pair[side]) : link(addressOf(k), mono(pair[side])),
    ` solved ${all[side].words}`,
    Object.entries(report.runs[k]?.models ?? {}).map(([role, model]) => muted(` · ${spaced(role)} ${model}`))];
  return h(Fragment, null,
    h("section", {"aria-label": "What is compared"},
      h("h1", {tabIndex: -1}, "Two runs compared"),
      h(Facts, {facts: SIDES.map((side, i) => [side.toUpperCase(), describe(side, ks[i])])}),
      h(Notice, {title: "What differs between A and B"}, h(List, {items: pair.differences})),
      h(Notice, {tone: pair.tone, title: "Verdict"}, pair.verdict),
      pair.notes.length > 0 && h(Notice, {tone: "warn", title: "Before you compare"}, h(List, {items: pair.notes}))),
    h(Section, {id: "levels", title: "Levels",
      note: "▲ ▼ say how B differs from A; green is better. Times of levels always differ and are not marked."},
    h(Table, {label: "Levels of both runs", noun: "level", rows: pair.levels, columns, route, hint: "level or category",
      filters: [{key: "show", name: "Show levels", options}],
      totals: totals.map((row) => h(Row, {key: row.env_id, row, columns}))})));
}
