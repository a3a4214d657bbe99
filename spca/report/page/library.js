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
    link(href, `level ${method.level}, call ${callNumber(method.call)}: prompt, answer`),
    method.attempt && muted(`; first run in attempt ${method.attempt}`));
}

function Methods({run, k, route}) {
  if (!run.methods.length) return null;
  const columns = [
    {key: "name", name: "Method", head: true, value: (row) => row.name, show: (row) => mono(row.name)},
    {key: "kind", name: "Kind", value: (row) => (row.is_action ? "action" : "helper")},
    {key: "written", name: "Newest version", value: (row) => row.level, show: (row) => h(WrittenBy, {k, method: row})},
    {key: "versions", name: "Versions", number: true, value: (row) => row.versions},
    {key: "failed", name: "Levels that failed in it", number: true, value: (row) => row.failed, show: (row) =>
      (row.failed ? h(LevelsLink, {k, choices: {q: row.name, show: "failed"}}, count(row.failed)) : "0")},
  ];
  return h(Section, {id: "methods", title: "Methods", note: "The library that the run has learned, and who wrote it."},
    h(Table, {label: "Methods", noun: "method", rows: run.methods, columns, route, prefix: "methods.", hint: "name"}));
}

/** The label of a problem writer; it may go on in a new line after each of its words. */
function WriterName({label}) {
  return label.split(/(?<=[/_])/).map((part) => [part, h("wbr")]);
}

/** The label of a problem writer, which leads to its source where the run accepted it. */
function WriterLink({run, k, label}) {
  const isAccepted = run.writers.some((row) => row.label === label);
  if (!isAccepted) return h("span", {class: "mono writer"}, h(WriterName, {label}));
  const href = `${addressOf(k)}?${new URLSearchParams({"writers.q": label})}`;
  return h("a", {class: "mono writer", href, onClick: () => goTo("writers")}, h(WriterName, {label}));
}

/** The problem writers that the run accepted. */
function Writers({run, k, route}) {
  if (!run.writers.length) return null;
  const columns = [
    {key: "label", name: "Writer", head: true, value: (row) => row.label, show: (row) => h(Fragment, null,
      mono(h(WriterName, row)),
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
      hint: "name", detail: (row) => h(WriterSource, {k, level: row.level})}));
}

/** Source and domain, which lie with the level that the writer came with. */
function WriterSource({k, level}) {
  const {values, error} = useLevel(k, level);
  if (error) return h(Notice, {tone: "bad", title: "The source could not be loaded"}, error);
  if (!values) return h("p", {class: "muted", role: "status"}, "Reading the source …");
  return h(OfferFolds, {offer: values[0].offer, find: textFinder(values), open: true});
}

/** The texts of a problem writer; `open`: its source at once. */
function OfferFolds({offer, find, open = false}) {
  if (!offer?.source && !offer?.domain) return h("p", {class: "muted"}, "The run's folder does not have its source.");
  return h(Fragment, null,
    offer.source && h(TextFold, {title: "Source of the writer", text: find(offer.source), open}),
    offer.domain && h(TextFold, {title: "PDDL domain of its problems", text: find(offer.domain)}));
}

/** A level and the texts that several levels of its run use. */
function useLevel(k, n, version) {
  return usePieces([`run/${k}/level/${n}`, `run/${k}/texts`], version);
}

/** @returns {(id: string) => object|null} finds a text of a level */
function textFinder([level, shared]) {
  return (id) => level.texts[id] ?? shared[id] ?? null;
}

const FOUND_AT_ONCE = 300;

/** Methods, actions and words of prompts, answers and code, in all levels of a run. */
function SearchView({run, k, route}) {
  const [typed, setTyped] = useState(route.query.get("q") ?? "");
  const [found, setFound] = useState({rows: [], read: 0});
  const sought = typed.trim().toLowerCase();
  useEffect(() => {
    let wanted = true;
    const timer = setTimeout(async () => {
      route.choose({q: sought});
      const rows = [];
      for (const level of sought.length > 2 ? run.levels.filter(({outcome}) => outcome !== "pending") : []) {
        const names = [`run/${k}/level/${level.number}`, `run/${k}/texts`];
        const values = await Promise.all(names.map(loadPiece)).catch(() => null);
        if (!wanted) return;
        if (values) rows.push(...searchLevel(values, sought));
        setFound({rows: rows.slice(0, FOUND_AT_ONCE), read: level.number});
      }
    }, 300);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [sought]);
  const columns = [
    {key: "where", name: "Where", head: true, value: (row) => row.where,
      show: (row) => link(`${addressOf(k, row.level)}?${new URLSearchParams({call: row.call})}`, row.where)},
    {key: "line", name: "Line", number: true, value: (row) => row.line},
    {key: "text", name: "Text", value: (row) => row.text, show: (row) => h("code", null, row.text)},
  ];
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, "Search"),
    h("label", {class: "search"}, unseen("Search"),
      h("input", {type: "search", value: typed, placeholder: "method, action, or words of prompts and answers",
        onInput: (event) => setTyped(event.target.value)})),
    h("p", {class: "muted", role: "status"}, sought.length > 2 ? `${plural(found.rows.length, "place")} found, ` +
      `${count(found.read)} of ${plural(run.levels.length, "level")} read` : "Type at least three letters."),
    found.rows.length > 0 && h(Table,
      {label: "What was found", noun: "place", rows: found.rows, columns, route, prefix: "found."}));
}

/** The first line of each prompt and answer of a level that holds what is sought. */
function searchLevel(values, sought) {
  const find = textFinder(values);
  const rows = [];
  for (const call of callsOfLevel(values[0])) {
    const parts = [...call.messages.map(({role, text}) => [`prompt (${role})`, text]), ["answer", call.answer]];
    for (const [part, id] of parts) {
      const line = find(id)?.lines.findIndex((text) => text.toLowerCase().includes(sought)) ?? -1;
      if (line < 0) continue;
      const where = `level ${values[0].number}, call ${callNumber(call.file)}, ${call.phase}: ${part}`;
      rows.push({level: values[0].number, call: call.file, where, line: line + 1,
        text: find(id).lines[line].trim().slice(0, 200)});
    }
  }
  return rows;
}

/** @returns {object[]} the calls of a level in their order */
function callsOfLevel(level) {
  return level.rounds.flatMap((round) => [...round.calls, ...round.tries.flatMap((item) => item.calls)]);
}
