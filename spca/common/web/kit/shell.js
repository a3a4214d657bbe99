// The frame of every page: header, addresses, colours, footer; and the way to what an address names.

const THEMES = [["auto", "auto"], ["light", "light"], ["dark", "dark"]];
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

/** Addresses of places -> how far they were scrolled when they were left. */
const scrolledTo = new Map();

/**
 * @param {string} hash "#/run/0/level/7/attempt/1.2?step=3"
 * @returns {{parts: string[], query: URLSearchParams, search: string, step: number|null, place: string}} `place` stays
 *   the same while a view only changes what it shows of itself
 */
function parseAddress(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean);
  const query = new URLSearchParams(search);
  const step = /^\d+$/.test(query.get("step") ?? "") ? Number(query.get("step")) : null;
  return {path, parts, query, search, step, place: parts.slice(0, 4).join("/")};
}

/**
 * The address of the page: what {@link parseAddress} tells, `go(hash, replace)` and `choose({name: value})`, which
 * keeps
 * choices of a view in it ("" takes one away). Going back finds a view where it was left.
 */
function useRoute(first) {
  const [hash, setHash] = useState(() => location.hash || first);
  const now = useRef({isBack: false, hash});
  now.current.hash = hash;
  const route = useMemo(() => parseAddress(hash), [hash]);
  useEffect(() => {
    history.scrollRestoration = "manual";
    const arrive = (event) => {
      now.current.isBack = event.type === "popstate";
      setHash(location.hash || first);
    };
    addEventListener("popstate", arrive);
    return () => removeEventListener("popstate", arrive);
  }, []);
  const go = useCallback((to, replace = false) => {
    scrolledTo.set(parseAddress(now.current.hash).place, scrollY);
    now.current.isBack = false;
    if (replace) history.replaceState(null, "", to);
    else if (to !== location.hash) history.pushState(null, "", to);
    now.current.hash = to;
    setHash(to);
  }, []);
  const choose = useCallback((choices) => {
    const {path, query} = parseAddress(now.current.hash);
    for (const [name, value] of Object.entries(choices)) value ? query.set(name, value) : query.delete(name);
    go(`#/${path}${query.size ? `?${query}` : ""}`, true);
  }, []);
  return {...route, go, choose, now};
}

/** Links to views go through `go`, so that the page knows where it was left; others lead to a part of the view. */
function useLinks(go) {
  useEffect(() => {
    const follow = (event) => {
      const followed = event.target.closest?.('a[href^="#"]');
      if (!followed || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      const href = followed.getAttribute("href");
      href.startsWith("#/") ? go(href) : goTo(href.slice(1));
    };
    document.addEventListener("click", follow);
    return () => document.removeEventListener("click", follow);
  }, [go]);
}

/** A new view takes the focus to its heading; one come back to takes it to the link it was left by. */
function useArrival({place, now}, title) {
  const before = useRef(null);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useLayoutEffect(() => {
    const left = before.current;
    before.current = place;
    if (left === null) return;
    const {isBack} = now.current;
    scrollTo(0, isBack ? scrolledTo.get(place) ?? 0 : 0);
    const leftBy = isBack && document.querySelector(`main :is(th, td) a[href="#/${CSS.escape(left)}"]`);
    (leftBy || document.querySelector("main h1"))?.focus({preventScroll: true});
  }, [place]);
}

function rememberedTheme() {
  try {
    return THEMES.find(([theme]) => theme === localStorage.getItem("theme"))?.[0] ?? "auto";
  } catch {
    return "auto"; // pages from disk may have no storage
  }
}

/** The choice between the system's colours, light and dark, remembered where the browser permits. */
function ThemeChoice() {
  const [theme, setTheme] = useState(rememberedTheme);
  useLayoutEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
      dispatchEvent(new Event("themechange"));
    };
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [theme]);
  const choose = (next) => {
    setTheme(next);
    try {
      localStorage.setItem("theme", next);
    } catch {
      // then it holds until the page is closed
    }
  };
  return h(Select, {name: "Colours", className: "theme", options: THEMES, chosen: theme, choose});
}

/** @param {{crumbs: [string, string][]}} props addresses and texts, the last one is the present page */
function Crumbs({crumbs}) {
  return crumbs.length > 1 && h("nav", {class: "crumbs", "aria-label": "Where you are"},
    h("ol", null, crumbs.map(([href, text], i) => h("li", {key: href},
      h("a", {href, "aria-current": i === crumbs.length - 1 ? "page" : undefined}, text)))));
}

/** Whether a page that connects still hears from its server. */
function Connection({isOpen, isRunning}) {
  const [tone, text] = isOpen ? isRunning ? ["good", "live"] : ["", "the run has ended"]
    : ["bad", "connection lost, trying again"];
  return h("span", {class: classes("badge", tone), role: "status"}, text);
}

function Nowhere() {
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, "Nothing here"),
    h("p", null, "This page has nothing under this address. ", h("a", {href: "#/"}, "To the overview")));
}

/**
 * Open a page.
 *
 * @param {string} brand of the header
 * @param {(report: object, route: object) => {title: string, crumbs?: [string, string][], view: any}|null} viewOf what
 *   an address shows; null where it leads nowhere
 * @param {boolean} [follows] whether the page asks its server again and again for something new
 */
function openPage(brand, viewOf, follows = connects) {
  loadPiece("report");
  render(h(Page, {brand, viewOf, follows}), document.getElementById("app"));
}

function Page({brand, viewOf, follows}) {
  const [version, setVersion] = useState(0);
  const [isOpen, setOpen] = useState(true);
  const {values, error} = usePieces(["report"], version);
  useEffect(() => (follows ? followServer(() => setVersion((now) => now + 1), setOpen) : undefined), []);
  if (values) return h(Loaded, {brand, viewOf, follows, report: values[0], error, isOpen});
  return h("main", {id: "main", class: "frame"}, h("h1", {tabIndex: -1}, document.title),
    error ? h(Notice, {tone: "bad", title: "This page could not be read"}, error)
      : h("p", {role: "status"}, "Loading …"));
}

function Loaded({brand, viewOf, follows, report, error, isOpen}) {
  const route = useRoute(report.view || "#/");
  const {title, crumbs = [], view} = viewOf(report, route) ?? {title: "Nothing here", view: h(Nowhere)};
  useLinks(route.go);
  useArrival(route, `${title} · ${report.program}`);
  return h(Fragment, null,
    h("a", {class: "skip", href: "#main"}, "Skip to the content"),
    h("header", {class: "top"}, h("div", {class: "frame"},
      h("a", {class: "brand", href: "#/"}, brand),
      h(Crumbs, {crumbs}),
      follows && h(Connection, {isOpen, isRunning: report.running}),
      h(ThemeChoice))),
    h("main", {id: "main", class: "frame", tabIndex: -1},
      error && h(Notice, {tone: "bad", title: "The newest state could not be loaded"}, error),
      view),
    h("footer", {class: "frame"}, `${report.program} · page made ${moment(report.made)}`));
}
