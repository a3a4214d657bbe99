// Small parts of every page: outcomes, facts, figures, notices, bars, folds, buttons that copy.

const makeSpan = (name) => (...children) => h("span", {class: name}, children);
const mono = makeSpan("mono");
const muted = makeSpan("muted");
const unseen = makeSpan("unseen"); // for those who hear the page

/** @param {string} href @returns a link */
function link(href, ...children) {
  return h("a", {href}, children);
}

/** An outcome by a sign, a word and a colour. @param {{outcome: string, word?: string}} props of {@link OUTCOMES} */
function Outcome({outcome, word}) {
  const [sign, usual] = OUTCOMES[outcome] ?? ["?", outcome];
  return h("span", {class: `outcome is-${outcome}`},
    h("span", {class: "sign", "aria-hidden": "true"}, sign),
    word ?? usual);
}

/** @param {boolean} solved @returns {string} of {@link OUTCOMES} */
function outcomeOf(solved) {
  return solved ? "success" : "fail";
}

/**
 * Names and values, side by side. @param {{facts: [string, any, string?][]}} props values that are null are left out
 */
function Facts({facts}) {
  return h("dl", {class: "facts"},
    facts.filter(([, value]) => value != null && value !== false).map(([name, value, title]) =>
    h("div", {key: name, class: "fact", title}, h("dt", null, name), h("dd", null, value))));
}

/** The figures that a reader comes for. @param {{figures: object[]}} props name, value, note, and links below */
function Figures({figures}) {
  return h("dl", {class: "figures"}, figures.filter(Boolean).map(({name, value, note, links}) =>
    h("div", {key: name, class: "figure"},
      h("dt", null, name),
      h("dd", null,
        h("span", {class: "value"}, value),
        note && h("span", {class: "note"}, note),
        links))));
}

/** A box that is not to be missed. @param {{tone?: "good"|"bad"|"warn", title: string}} props */
function Notice({tone, title, children}) {
  const role = tone === "bad" ? "alert" : "note";
  return h("div", {class: classes("notice", tone), role}, h("strong", null, title), h("div", null, children));
}

function List({items}) {
  return h("ul", null, items.map((item, i) => h("li", {key: i}, item)));
}

/** A section with a heading that can be linked. */
function Section({id, title, note, tools, children}) {
  return h("section", {"aria-labelledby": id},
    h("div", {class: "heading"}, h("h2", {id, tabIndex: -1}, title), tools),
    note && h("p", {class: "muted above"}, note),
    children);
}

/** A share as a bar, with its interval. @param {{share: number, low?: number, high?: number}} props from 0 to 1 */
function Bar({share, low, high, children}) {
  const at = (n) => `${(100 * n).toFixed(1)}%`;
  return h("div", {class: "share"},
    h("div", {class: "bar", "aria-hidden": "true"},
      h("i", {class: "fill", style: {width: at(share || 0)}}),
      low != null && h("i", {class: "whisker", style: {left: at(low), width: at(high - low)}})),
    h("span", null, children));
}

/** @param {{good: number, total: number, rate: number, low: number, high: number}} rate with its 95 % interval */
function Rate({rate}) {
  if (!rate?.total) return UNKNOWN;
  return h(Bar, {share: rate.rate, low: rate.low, high: rate.high},
    h("strong", null, percent(rate.rate)), ` ${count(rate.good)} of ${count(rate.total)}`,
    rate.low != null && h("small", {class: "muted"}, ` ${percent(rate.low)} to ${percent(rate.high)}`));
}

/**
 * A fold that makes its content when it is first opened. `opener`: whenever it changes to something true, the fold
 * opens and comes into view.
 */
function Fold({summary, children, open = false, opener = null, className = "", id}) {
  const [isOpen, setOpen] = useState(open);
  const element = useRef(null);
  useEffect(() => {
    if (!opener) return;
    setOpen(true);
    element.current?.querySelector("summary").focus({preventScroll: true});
    element.current?.scrollIntoView({block: "start"});
  }, [opener]);
  return h("details", {class: classes("drawer", className), open: isOpen, ref: element, id,
    onToggle: (event) => setOpen(event.currentTarget.open)},
  h("summary", null, summary),
  isOpen && h("div", {class: "drawer-body"}, children()));
}

function CopyButton({make}) {
  const [label, setLabel] = useState("Copy");
  if (!navigator.clipboard?.writeText) return null;
  const copy = () => navigator.clipboard.writeText(make()).then(() => setLabel("Copied"),
    () => setLabel("Not allowed"));
  return h("button", {type: "button", class: "copy", onClick: copy, onBlur: () => setLabel("Copy"),
    "aria-live": "polite"}, label);
}

/** A command to be typed, with a button that copies it. */
function Command({text}) {
  return h("p", {class: "command"}, h("code", null, text), h(CopyButton, {make: () => text}));
}

/** A button with a state that does not rely on `disabled`: a disabled one would lose the focus to nothing. */
function Button({can = true, act, label, children, ...rest}) {
  return h("button", {type: "button", "aria-disabled": String(!can), "aria-label": label, title: label,
    onClick: () => can && act(), ...rest}, children);
}

/**
 * Buttons of which one is pressed. @param {{options: [string, any, number?][]}} props value, text, how many it shows
 */
function Choice({name, options, chosen, choose, className = "choice"}) {
  return h("div", {class: className, role: "group", "aria-label": name}, options.map(([value, text, n]) =>
    h("button", {key: value, type: "button", "aria-pressed": String(value === chosen), "data-show": value,
      onClick: () => choose(value)},
    text,
    n != null && h("span", {class: "n"}, " ", count(n)))));
}

function Select({name, options, chosen, choose, className}) {
  return h("label", {class: className}, h("span", null, name),
    h("select", {value: chosen, onChange: (event) => choose(event.target.value)},
      options.map(([value, text]) => h("option", {key: value, value}, text))));
}

/** Scroll to the element of an id and give it the focus, once the page has been drawn. */
function goTo(id) {
  setTimeout(() => {
    const element = document.getElementById(id); // null where the reader has gone on by now
    element?.scrollIntoView();
    element?.focus({preventScroll: true});
  });
}

/** @returns {[object, number]} a ref and the width of its element in CSS pixels */
function useWidth() {
  const box = useRef(null);
  const [width, setWidth] = useState(320);
  useLayoutEffect(() => {
    const measure = () => box.current && setWidth(box.current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}
