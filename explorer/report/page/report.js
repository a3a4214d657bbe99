// The report: rates by model and hops, the table of episodes, and a view of each with its player.

const DRAWN = [["", "what was known"], ["all", "all there was"]];

function openReport() {
  openPage("explorer", viewOfReport);
}

function viewOfReport(report, route) {
  const [kind, number, ...rest] = route.parts;
  const results = ["#/", "Results"];
  if (!kind) return {title: report.title, crumbs: [results], view: h(Overview, {report, route})};
  const row = report.episodes.find((each) => String(each.number) === number);
  if (kind !== "episode" || !row || rest.length) return null;
  return {title: `${row.scene}: ${row.text}`, crumbs: [results, [`#/episode/${number}`, row.scene]],
    view: h(EpisodeView, {key: number, row, episodes: report.episodes, route})};
}

/** How an episode ended, if it failed. */
function failureOf({solved, ended, error}) {
  if (solved) return "";
  return error ? `agent failed: ${firstLine(error)}` : ENDINGS[ended] ?? "failed";
}

function Overview({report, route}) {
  const {title, rates, episodes} = report;
  const refuted = episodes.filter((row) => row.refuted).length;
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, title),
    refuted > 0 && h(Notice, {tone: "bad", title: `${plural(refuted, "episode")} refuted a certificate`},
      "The goal latched before what was proven to be needed."),
    h(Section, {id: "rates", title: "Rates by model and hops",
      note: "TSR: the share of episodes that reached all milestones in one life. MSR: the share of milestones that " +
        "were reached. Hops are the milestones that a scene needs. Intervals are Wilson's at 95 %."},
      h(Table, {label: "Rates", noun: "row", rows: rates, columns: rateColumns(rates), route, prefix: "rates-",
        toneOf: (row) => row.hops === null && "is-all"})),
    h(Section, {id: "episodes", title: "Episodes"},
      h(Table, {label: "Episodes", noun: "episode", rows: episodes, columns: EPISODE_COLUMNS, route,
        filters: filtersOf(episodes), groupOf: failureOf, hint: "scene, task or model",
        words: (row) => `${row.scene} ${row.text} ${row.model}`, toneOf: (row) => !row.solved && "is-fail"})));
}

function rateColumns(rates) {
  const hasCost = rates.some((row) => row.cost > 0);
  const rate = (key, name) =>
    ({key, name, value: (row) => row[key].rate, show: (row) => h(Rate, {rate: row[key]})});
  return [
    {key: "model", name: "Agent", head: true, value: (row) => row.model},
    numberColumn("hops", "Hops", (row) => row.hops, (hops) => hops ?? "all"),
    numberColumn("episodes", "Episodes", (row) => row.tsr.total),
    rate("tsr", "Scenes solved (TSR)"),
    rate("msr", "Milestones reached (MSR)"),
    numberColumn("steps", "Mean steps", (row) => row.steps),
    hasCost && numberColumn("cost", "Mean cost", (row) => row.cost, (cost) => usd(cost)),
  ].filter(Boolean);
}

const EPISODE_COLUMNS = [
  {key: "task", name: "Task", head: true, value: (row) => row.text, show: (row) => h(TaskCell, {row})},
  {key: "model", name: "Agent", value: (row) => row.model},
  {key: "hops", name: "Hops", number: true, value: (row) => row.hops},
  {key: "milestones", name: "Milestones", value: reachedIn,
    show: (row) => h(Bar, {share: reachedIn(row) / row.latched.length}, milestonesOf(row))},
  {key: "steps", name: "Steps", number: true, value: (row) => row.steps, show: (row) => count(row.steps)},
  {key: "outcome", name: "Outcome", value: (row) => failureOf(row) || "solved", show: (row) => h(Ending, {row})},
];

function filtersOf(episodes) {
  const models = [...new Set(episodes.map((row) => row.model))];
  const outcome = {key: "outcome", name: "Outcome", options: [["", "all", () => true],
    ["solved", "solved", (row) => row.solved], ["failed", "failed", (row) => !row.solved]]};
  const agent = {key: "agent", name: "Agent", select: true, options: [["", "all", () => true],
    ...models.map((model) => [model, model, (row) => row.model === model])]};
  return models.length > 1 ? [outcome, agent] : [outcome];
}

function TaskCell({row}) {
  return h(Fragment, null,
    link(`#/episode/${row.number}`, row.text),
    [row.scene, row.why].filter(Boolean).map((said) => h("small", {class: "muted scene-name"}, said)));
}

function Ending({row}) {
  return h(Fragment, null,
    h(Outcome, {outcome: outcomeOf(row.solved), word: failureOf(row) || "solved"}),
    row.refuted && h("span", {class: "badge bad"}, "refutes the certificate"));
}

function reachedIn({latched}) {
  return latched.filter((step) => step !== null).length;
}

function milestonesOf(row) {
  return `${reachedIn(row)} of ${row.latched.length}`;
}

function EpisodeView({row, episodes, route}) {
  const {number, scene, model, steps, cost, why} = row;
  const {values, error} = usePieces(why ? [] : ["look", `episode/${number}`]);
  const problem = why || error;
  const wayTo = (other, text) => other && h("a", {href: `#/episode/${other.number}`, title: other.text}, text);
  return h(Fragment, null,
    h("nav", {class: "ways", "aria-label": "Other episodes"},
      wayTo(episodes[number - 1], "← Episode before"), wayTo(episodes[number + 1], "Next episode →"),
      episodes.filter((each) => each.scene === scene && each.model !== model)
        .map((each) => wayTo(each, `this scene by ${each.model}`))),
    h("h1", {tabIndex: -1}, row.text),
    h(Facts, {facts: [
      ["Agent", model],
      ["Outcome", h(Ending, {row})],
      ["Steps", count(steps)],
      ["Cost", cost > 0 && usd(cost)],
      ["Milestones", milestonesOf(row)],
    ]}),
    problem && h(Notice, {tone: "warn", title: "This episode cannot be shown"}, problem),
    !why && values && h(EpisodePlayer, {row, look: values[0], film: values[1], route}));
}

function EpisodePlayer({row, look, film, route}) {
  const tiles = useTiles(look);
  const last = film.frames.length - 1;
  const drawn = route.query.get("drawn") ?? "";
  const draw = (value) => route.choose({drawn: value});
  return tiles && h(Player, {
    label: "Player", last, route,
    marks: row.latched.filter((step) => step !== null),
    tools: h(Choice, {name: "What is drawn", options: DRAWN, chosen: drawn, choose: draw}),
    keys: {t: () => draw(drawn ? "" : "all")},
    dataOf: () => ({"data-drawn": drawn}),
    sayStep: (step) => `step ${step} of ${last}: ${deedAt(film, step).join(", ")}`,
    stage: (step) => h(EpisodeStage, {film, look: tiles, step, drawn}),
    side: (step) => h(Fragment, null,
      h(Deed, {film, step}),
      h(Milestones, {row, film, step, drawn}),
      h("p", {class: "small muted"},
        "Keys: space plays, arrows step, home and end, + and − for the speed, T for all there was.")),
  });
}

function EpisodeStage({film, look, step, drawn}) {
  const sight = useMemo(() => sightAt(film, look, step, drawn ? "truth" : "known"), [film, look, step, drawn]);
  return h(StageView, {sight, hint: "Point at something to read what and where it is."});
}

/** What is drawn at a step, made from the start, which takes a millisecond or two. */
function sightAt(film, look, step, drawn) {
  const blocks = new Uint16Array(film.size[0] * film.size[1] * film.size[2]);
  const frames = film.frames.slice(0, step + 1);
  for (const frame of frames) applyRuns(blocks, frame[drawn]);
  const now = stateAt(film, step);
  return {
    ...film, look, blocks,
    things: now[`${drawn}_things`],
    pose: readPose(now.pose),
    trail: frames.map(({pose}) => pose).filter(Boolean),
    extent: now[`${drawn}_extent`],
  };
}

/** All of a frame: each one holds what is new in it. */
function stateAt(film, step) {
  return Object.assign({}, ...film.frames.slice(0, step + 1));
}

/** @returns {string[]} what was done, and why it was refused if it was */
function deedAt(film, step) {
  const {deed, reason} = stateAt(film, step);
  return [deed || "start", reason].filter(Boolean);
}

function Deed({film, step}) {
  const {pose, held, items} = stateAt(film, step);
  const {cell, facing} = readPose(pose);
  const [deed, reason] = deedAt(film, step);
  return h(Facts, {facts: [
    ["Step", count(step)],
    ["Action", h(Fragment, null, mono(deed), reason && h("span", {class: "refused"}, ` — ${reason}`))],
    ["Position", awayFrom(film.spawn, cell), "x, y, z from the place where it began"],
    ["Facing", FACING_WORDS[facing]],
    ["Carries", items.length ? items.map(([item, n]) => h("span", {key: item,
      class: classes("badge", item === held && "accent")}, `${count(n)} × ${spaced(item)}`)) : "nothing"],
  ]});
}

/** The milestones, which light up as they latch. */
function Milestones({row, film, step, drawn}) {
  const reached = film.milestones.filter((_, i) => row.latched[i] !== null && row.latched[i] <= step);
  return h("section", null,
    h("h2", null, "Milestones"),
    h("p", {class: "unseen", "aria-live": "polite"}, reached.map(({text}) => `Reached: ${text}. `)),
    h("ol", {class: "hops"}, film.milestones.map(({text, needs}, i) => {
      const at = row.latched[i];
      const isLit = at !== null && at <= step;
      return h("li", {key: i, class: classes("hop", isLit && "lit", at === step && "now")},
        h("div", {class: "heading"},
          h("span", null,
            h(Outcome, {outcome: isLit ? "success" : "pending", word: text}),
            unseen(isLit ? " (reached)" : " (open)"),
            i + 1 === film.milestones.length && h("span", {class: "badge accent"}, "goal")),
          at === null ? muted("never")
            : link(`#/episode/${row.number}?step=${at}${drawn && `&drawn=${drawn}`}`, `step ${at}`)),
        needs.map(([before, reason]) => h("p", {key: before, class: "small muted"}, `after ${before + 1}: ${reason}`)));
    })));
}
