// What a run has learned: its methods and its problem writers, and who wrote them.

/** @param {string} file of a call: llm/0012-coder-... @returns {string} its number: 12 */
function callNumber(file) {
  return String(Number(/(\d+)-/.exec(file)?.[1] ?? 0));
}

/** The call that wrote a method, whichever level made it: one click from its prompt and answer. */
function WrittenBy({k, method}) {
  if (!method?.call) return muted("Written before this run.");
  const href = `${addressOf(k, method.level)}?${new URLSearchParams({call: method.call})}`;
  return h("span", null, "Written in ",
    link(href, `level ${method.level}, call ${callNumber(method.call)} of the run: prompt, answer`),
    method.attempt && muted(`; first run in attempt ${method.attempt}`));
}

function Methods({run, k, route}) {
  if (!run.methods.length) return null;
  const columns = [
    {key: "name", name: "Method", head: true, value: (row) => row.name, show: (row) => mono(row.name)},
    {key: "kind", name: "Kind", value: (row) => (row.is_action ? "action" : "helper")},
    {key: "kept", name: "In the library", value: (row) => (row.is_kept ? "yes" : "thrown away")},
    {key: "written", name: "Newest version", value: (row) => row.level, show: (row) => h(WrittenBy, {k, method: row})},
    {key: "versions", name: "Versions", number: true, value: (row) => row.versions},
    {key: "failed", name: "Levels that failed in it", number: true, value: (row) => row.failed, show: (row) =>
      (row.failed ? h(LevelsLink, {k, choices: {q: row.name, show: "failed"}}, count(row.failed)) : "0")},
  ];
  return h(Section, {id: "methods", title: "Methods",
    note: "All that was written, and by which call. What failed levels wrote is thrown away."},
    h(Table, {label: "Methods", noun: "method", rows: run.methods, columns, route, prefix: "methods.", hint: "name"}));
}

/** The label of a problem writer, which leads to its source where the run accepted it. */
function WriterLink({run, k, label}) {
  const props = {class: "mono writer"};
  const accepted = run.writers.find((row) => row.label === label);
  if (!accepted) return h("span", props, label);
  return h("a", {...props, href: `${addressOf(k, accepted.level)}?open=writer`}, label);
}

/** The problem writers that the run accepted. */
function Writers({run, k, route}) {
  if (!run.writers.length) return null;
  const columns = [
    {key: "label", name: "Writer", head: true, value: (row) => row.label, show: (row) => h(Fragment, null,
      h(WriterLink, {run, k, label: row.label}),
      row.left_out && h("p", {class: "muted small"}, `left out: ${row.left_out}`))},
    {key: "level", name: "Came with", number: true, value: (row) => row.level,
      show: (row) => link(addressOf(k, row.level), `level ${row.level}`)},
    {key: "planned", name: "Planned", number: true, value: (row) => row.planned, show: (row) => (row.planned
      ? h(LevelsLink, {k, choices: {q: row.label}}, plural(row.planned, "level")) : "0")},
    {key: "failed", name: "Failed", number: true, value: (row) => row.failed},
  ];
  const note = `${plural(sum(run.writers, (row) => row.planned), "level")} planned without a call.`;
  return h(Section, {id: "writers", title: "Problem writers", note},
    h(Table, {label: "Problem writers", noun: "writer", rows: run.writers, columns, route, prefix: "writers.",
      hint: "name"}));
}

/** @returns {(id: string) => object|null} finds a text of a level */
function textFinder([level, shared]) {
  return (id) => level.texts[id] ?? shared[id] ?? null;
}

/** Methods, actions and words of prompts, answers and code, in all levels of a run. */
function SearchView({run, k, route}) {
  const [texts, setTexts] = useState([]);
  useEffect(() => {
    let wanted = true;
    const read = async () => {
      const found = [];
      for (const {number} of run.levels.filter((row) => row.outcome !== "pending" && callsOf(row) > 0)) {
        const values = await Promise.all([`run/${k}/level/${number}`, `run/${k}/texts`].map(loadPiece));
        if (!wanted) return;
        found.push(...textsOfCalls(values));
      }
      setTexts(found);
    };
    read();
    return () => {
      wanted = false;
    };
  }, [k]);
  const sought = (route.query.get("q") ?? "").toLowerCase().split(/\s+/)[0];
  const lineOf = ({lines}) => lines.find((line) => line.toLowerCase().includes(sought)) ?? "";
  const columns = [
    {key: "where", name: "Where", head: true, value: (row) => row.where,
      show: (row) => link(`${addressOf(k, row.level)}?${new URLSearchParams({call: row.file})}`, row.where)},
    {key: "line", name: "First line", value: lineOf, show: (row) => h("code", null, lineOf(row).trim().slice(0, 200))},
  ];
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, "Search"),
    h("p", {class: "muted", role: "status"}, texts.length ? "In all prompts and answers." : "Reading the levels …"),
    texts.length > 0 && h(Table,
      {label: "Prompts and answers", noun: "text", rows: texts, columns, route, words: (row) => row.words,
      hint: "method, action or words"}));
}

/** @returns {object[]} each prompt and answer of a level */
function textsOfCalls(values) {
  const find = textFinder(values);
  const {number} = values[0];
  return callsOfLevel(values[0]).flatMap(({file, phase, messages, answer}) =>
    [...messages.map(({role, text}) => [`prompt (${role})`, text]), ["answer", answer]].map(([part, id]) => {
      const lines = find(id)?.lines ?? [];
      const where = `level ${number}, call ${callNumber(file)} of the run, ${phase}: ${part}`;
      return {level: number, file, where, lines, words: lines.join("\n").toLowerCase()};
    }));
}

/** @returns {object[]} the calls of a level in their order */
function callsOfLevel(level) {
  return level.rounds.flatMap((round) => [...round.calls, ...round.tries.flatMap((item) => item.calls)]);
}
