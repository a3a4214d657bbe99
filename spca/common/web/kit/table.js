// Tables: sorted by their heads, searched, filtered and grouped. What a reader chooses stands in the address.

const ROWS_AT_ONCE = 160;

/**
 * A table.
 *
 * A column is {key, name, value, show, number, span, title}: `value(row)` sorts and is searched, `show(row)` draws it
 * (the value itself without it), `number` sets it right, neighbours with the same `span` share a head above theirs.
 * A filter is {key, name, options: [value, text, fits][]}; the first option is the usual one. With `select` it is a
 * list instead of buttons.
 *
 * @param {{label: string, noun: string, rows: object[], columns: object[], route: object, prefix?: string,
 *   filters?: object[], groupOf?: (row: object) => string, hint?: string, words?: (row: object) => string,
 *   toneOf?: (row: object) => string, totals?: any, id?: string, wide?: boolean}} props
 *   `prefix` of the names in the address, where a page has several tables; `hint` what the search finds, without it
 *   there is none; `groupOf` the kind of a row, "" for none; a `wide` table scrolls by itself, its heads and
 *   first column stay, its rows never become cards.
 */
function Table({label, noun, rows, columns, route, prefix = "", filters = [], groupOf, hint, words, toneOf, totals, id,
  wide}) {
  const asked = (name) => route.query.get(prefix + name) ?? "";
  const choose = (name, value) => route.choose({[prefix + name]: value});
  const chosen = useMemo(() => pickRows(rows, {columns, filters, groupOf, words, asked}),
    [rows, columns, route.search]);
  const [shown, more] = useGrowing(chosen, route.now.current.isBack);
  // The same nodes again: preact then leaves rows alone that only change their place.
  const lines = useMemo(() => new Map(rows.map((row, i) =>
    [row, h(Row, {key: i, row, columns, toneOf})])), [rows, columns]);
  return h(Fragment, null,
    h(Groups, {rows, groupOf, chosen: asked("group"), choose: (group) => choose("group", group)}),
    (hint || filters.length > 0) && h("div", {class: "filters"},
      filters.map((filter) => h(Filter, {key: filter.key, filter, rows, asked, choose})),
      hint && h("label", {class: "search"}, h("span", null, "Search"),
        h("input", {type: "search", value: asked("q"), placeholder: hint,
          onInput: (event) => choose("q", event.target.value)})),
      h(Select, {className: "sort-by", name: "Sort by", chosen: asked("sort"), choose: (key) => choose("sort", key),
        options: [["", "usual order"],
          ...columns.map(({key, name, span}) => [key, span ? `${span}, ${name}` : name])]}),
      h("p", {class: "matches", role: "status"}, `${count(chosen.length)} of ${plural(rows.length, noun)}`)),
    h("div", {class: classes("scroll", wide && "wide"), role: "region", "aria-label": `Table of ${label.toLowerCase()}`,
      tabIndex: 0},
      h("table", {id, role: "table"},
        h(Heads, {columns, asked, choose}),
        totals && h("tbody", {class: "totals", role: "rowgroup"}, totals),
        h("tbody", {role: "rowgroup"}, shown.map((row) => lines.get(row))))),
    more,
    !chosen.length && h("p", {class: "empty"}, `No ${noun} fits these filters.`));
}

/** @returns {object[]} the rows that the address asks for, in its order */
function pickRows(rows, {columns, filters, groupOf, words, asked}) {
  const sought = asked("q").toLowerCase().split(/\s+/).filter(Boolean);
  const group = asked("group");
  const textOf = words ?? ((row) => columns.map(({value}) => value(row)).join(" "));
  const found = rows.filter((row) => {
    if (group && groupOf?.(row) !== group) return false;
    if (!filters.every((filter) => optionOf(filter, asked)[2](row))) return false;
    const text = sought.length ? textOf(row).toLowerCase() : "";
    return sought.every((word) => text.includes(word));
  });
  const column = columns.find(({key}) => key === asked("sort"));
  return column ? sortRows(found, column.value, asked("down") === "1") : found;
}

/** @returns {[string, string, (row: object) => boolean]} the option of a filter that the address asks for */
function optionOf({key, options}, asked) {
  return options.find(([value]) => value === asked(key)) ?? options[0];
}

/** Sort rows by a value; those without one come last. */
function sortRows(rows, value, down) {
  const order = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b);
  const known = rows.filter((row) => value(row) != null);
  known.sort((a, b) => (down ? -1 : 1) * order(value(a), value(b)));
  return [...known, ...rows.filter((row) => value(row) == null)];
}

function Filter({filter, rows, asked, choose}) {
  const {key, name, options, select} = filter;
  const set = (value) => choose(key, value === options[0][0] ? "" : value);
  const chosen = optionOf(filter, asked)[0];
  if (select) return h(Select, {name, options, chosen, choose: set});
  const counted = options.map(([value, text, fits]) => [value, text, rows.filter(fits).length]);
  return h(Choice, {name, options: counted, chosen, choose: set});
}

/** What failed, as often as it did, above a table: "48 × stuck: pick_up_object". */
function Groups({rows, groupOf, chosen, choose}) {
  const sizes = new Map();
  for (const row of groupOf ? rows : []) {
    const group = groupOf(row);
    if (group) sizes.set(group, 1 + (sizes.get(group) ?? 0));
  }
  if (!sizes.size) return null;
  const largestFirst = [...sizes].sort((a, b) => b[1] - a[1]);
  const options = largestFirst.map(([group, n]) => [group, [h("strong", null, `${count(n)} ×`), ` ${group}`]]);
  return h(Choice, {className: "groups", name: "Kinds of failures", options, chosen,
    choose: (group) => choose(group === chosen ? "" : group)});
}

function Heads({columns, asked, choose}) {
  const spans = [];
  for (const {span = ""} of columns) {
    if (spans.at(-1)?.span === span) spans.at(-1).size += 1;
    else spans.push({span, size: 1});
  }
  return h("thead", {role: "rowgroup"},
    spans.length > 1 && h("tr", {role: "row"}, spans.map(({span, size}, i) =>
      h(span ? "th" : "td", {key: i, colSpan: size, scope: span ? "colgroup" : undefined, class: "span"}, span))),
    h("tr", {role: "row"}, columns.map((column) => h(Head, {key: column.key, column, asked, choose}))));
}

/** @returns {object} a column of numbers */
function numberColumn(key, name, value, show = count) {
  return {key, name, number: true, value, show: (row) => show(value(row), row)};
}

/** A column's head; its button sorts, up first, then down. */
function Head({column, asked, choose}) {
  const mine = asked("sort") === column.key;
  const down = asked("down") === "1";
  const turn = () => {
    choose("sort", column.key);
    choose("down", mine && !down ? "1" : "");
  };
  return h("th", {scope: "col", role: "columnheader", class: classes(column.number && "number"), title: column.title,
    "aria-sort": mine ? (down ? "descending" : "ascending") : undefined},
  h("button", {type: "button", class: "sort", onClick: turn,
    "aria-label": column.span ? `${column.span} ${column.name}` : undefined},
  column.name,
  h("span", {class: "arrow", "aria-hidden": "true"}, mine ? (down ? "▾" : "▴") : "")));
}

function Row({row, columns, toneOf}) {
  return h("tr", {role: "row", class: toneOf?.(row)}, columns.map((column, i) => {
    const shown = column.show ? column.show(row) : column.value(row) ?? UNKNOWN;
    const props = {key: column.key, class: classes(`c-${column.key}`, column.number && "number"),
      "data-name": column.span ? `${column.span}, ${column.name}` : column.name};
    if (i !== columns.findIndex(({head}) => head)) return h("td", {...props, role: "cell"}, shown);
    return h("th", {...props, scope: "row", role: "rowheader"}, shown);
  }));
}

/**
 * @returns {[object[], any]} the first of many rows, and what makes more of them come when their end comes into view
 */
function useGrowing(rows, isBack) {
  const [limit, setLimit] = useState(isBack ? Infinity : ROWS_AT_ONCE); // who comes back may have left the last row
  const end = useRef(null);
  useEffect(() => {
    if (!end.current) return undefined;
    const grow = (entries) => entries.some((entry) => entry.isIntersecting) && setLimit((now) => now + ROWS_AT_ONCE);
    const seen = new IntersectionObserver(grow, {rootMargin: "600px"});
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [rows.length > limit, limit]);
  useEffect(() => {
    const showAll = () => setLimit(Infinity);
    addEventListener("beforeprint", showAll);
    return () => removeEventListener("beforeprint", showAll);
  }, []);
  const rest = rows.length - limit;
  const more = rest > 0 && h("p", {ref: end, class: "more-rows"},
    h("button", {type: "button", onClick: () => setLimit(rows.length)}, `Show ${count(rest)} more`));
  return [rest > 0 ? rows.slice(0, limit) : rows, more];
}
