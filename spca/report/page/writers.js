// The problem writers of a run: what they planned without a call, and their source.

/** The label of a problem writer; it may go on in a new line after each of its words. */
function WriterName({label}) {
  return label.split(/(?<=[/_])/).map((part) => [part, h("wbr")]);
}

/** The label of a problem writer, which leads to its source where the run accepted it. */
function WriterLink({run, k, label}) {
  if (!run.writers.some((row) => row.label === label)) return h("span", {class: "mono writer"}, h(WriterName, {label}));
  const down = () => setTimeout(() => {
    const button = document.getElementById(`writer-${label}`);
    button?.scrollIntoView();
    button?.focus({preventScroll: true});
  });
  const href = `${address(k)}?${new URLSearchParams({writer: label})}`;
  return h("a", {class: "mono writer", href, onClick: down}, h(WriterName, {label}));
}

/** The problem writers that the run accepted; the one `asked` for is unfolded. */
function Writers({run, k, asked}) {
  if (!run.writers.length) return null;
  const planned = sum(run.writers, (row) => row.planned);
  return h("section", {"aria-labelledby": "writers"}, h("h2", {id: "writers"}, "Problem writers"),
    h("p", {class: "muted above"}, `${plural(planned, "level")} planned without a call. ` +
      "A name unfolds the writer's source."),
    h("div", {class: "scroll", role: "region", "aria-label": "Table of problem writers", tabIndex: 0},
      h("table", {class: "categories writers"},
        h("thead", null, h("tr", null, ["Writer", "Came with", "Planned", "Failed"].map((name, i) =>
          h("th", {key: name, scope: "col", class: i > 0 && "number"}, name)))),
        h("tbody", null, run.writers.map((row) => h(WriterRow, {key: row.label, row, k, asked}))))));
}

function WriterRow({row: {label, level, planned, failed, left_out: why}, k, asked}) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (asked === label) setOpen(true);
  }, [asked]);
  return h(Fragment, null,
    h("tr", null,
      h("th", {scope: "row"}, h("button", {type: "button", class: "unfolds mono", id: `writer-${label}`,
        "aria-expanded": String(open), onClick: () => setOpen(!open)}, h(WriterName, {label})),
        why && h("p", {class: "muted left-out"}, `left out: ${why}`)),
      h("td", {class: "number"}, h("a", {href: address(k, level)}, `level ${level}`)),
      h("td", {class: "number"}, planned
        ? h(LevelsLink, {k, filter: {q: label}}, plural(planned, "level")) : plural(planned, "level")),
      h("td", {class: "number"}, count(failed))),
    open && h("tr", null, h("td", {colSpan: 4}, h("div", {class: "level-view"}, h(WriterSource, {k, level})))));
}

/** Source and domain, which lie with the level that the writer came with. */
function WriterSource({k, level}) {
  const [{offer, texts, error}, setState] = useState({});
  useEffect(() => {
    let wanted = true;
    loadLevel(k, level).then(
      ([own, shared]) => wanted && setState({offer: own.offer, texts: {...shared, ...own.texts}}),
      ({message}) => wanted && setState({error: message}),
    );
    return () => {
      wanted = false;
    };
  }, [k, level]);
  if (error) return h(Trouble, {title: "The source could not be loaded"}, error);
  if (!texts) return h("p", {class: "muted", role: "status"}, "Reading the source …");
  return offer?.source || offer?.domain ? h(OfferFolds, {offer, find: (id) => texts[id] ?? null, open: true})
    : h("p", {class: "muted"}, "The run's folder does not have its source.");
}
