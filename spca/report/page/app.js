// The page: its frame, its addresses, and which view is shown.

const SCROLLED = new Map();

/**
 * @param {string} hash "#/run/0/level/7/attempt/1.2?step=3"
 * @returns {{view: string, k: number, n: number, attempt: string|null, step: number|null, query: URLSearchParams,
 *   place: string}} `place` stays the same while a view only changes what it shows of itself
 */
function parseRoute(hash) {
  const [path, search = ""] = hash.replace(/^#/, "").split("?", 2);
  const query = new URLSearchParams(search);
  const step = /^\d+$/.test(query.get("step") ?? "") ? Number(query.get("step")) : null;
  const route = (view, k = 0, n = 0, attempt = null) =>
    ({view, k, n, attempt, step, query, place: `${view}/${k}/${n}`});
  const compared = /^\/compare\/(\d+)$/.exec(path);
  if (compared) return route("compare", Number(compared[1]));
  const level = /^\/run\/(\d+)\/level\/(\d+)(?:\/attempt\/(\d+\.\d+))?$/.exec(path);
  if (level) return route("level", Number(level[1]), Number(level[2]), level[3] ?? null);
  const run = /^\/run\/(\d+)$/.exec(path);
  if (run) return route("run", Number(run[1]));
  return route(path === "" || path === "/" ? "home" : "nowhere");
}

/** The route of the address bar, and `go(hash, replace)`; going back finds the page where it was left. */
function useRoute(first) {
  const [hash, setHash] = useState(() => location.hash || first);
  const come = useRef({back: false, place: ""});
  useEffect(() => {
    history.scrollRestoration = "manual";
    const arrive = (event) => {
      come.current.back = event.type === "popstate";
      setHash(location.hash || first);
    };
    addEventListener("popstate", arrive);
    return () => removeEventListener("popstate", arrive);
  }, []);
  const go = useCallback((to, replace = false) => {
    SCROLLED.set(come.current.place, scrollY);
    come.current.back = false;
    if (replace) history.replaceState(null, "", to);
    else if (to !== location.hash) history.pushState(null, "", to);
    setHash(to);
  }, []);
  return {hash, go, come};
}

/** Links within the page go through `go`, so that the page knows where it was left. */
function useLinks(go) {
  useEffect(() => {
    const follow = (event) => {
      const link = event.target.closest?.('a[href^="#/"]');
      if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(link.getAttribute("href"));
    };
    document.addEventListener("click", follow);
    return () => document.removeEventListener("click", follow);
  }, [go]);
}

/** A new view takes the focus to its heading; one come back to takes it to the link it was left by. */
function useArrival(route, come, title) {
  const before = useRef(null);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useLayoutEffect(() => {
    const {back} = come.current;
    const left = before.current;
    before.current = route;
    come.current.place = route.place;
    if (left === null) return;
    scrollTo(0, back ? SCROLLED.get(route.place) ?? 0 : 0);
    const from = `main th a[href="${address(left.k, left.n)}"]`;
    const link = back && left.view === "level" && document.querySelector(from);
    (link || document.querySelector("main h1"))?.focus({preventScroll: true});
  }, [route.place]);
}

/** The report, and how the connection to its server is; a file has neither changes nor a connection. */
function useReport() {
  const [state, setState] = useState({report: null, error: "", connection: live ? "open" : ""});
  useEffect(() => {
    let asked = 0;
    const load = () => {
      const mine = ++asked; // answers may overtake each other
      const told = (news) => mine === asked && setState((now) => ({...now, ...news}));
      pieces.load("report").then((report) => told({report, error: ""}), (error) => told({error: error.message}));
    };
    load();
    return pieces.listen(load, (connection) => setState((now) => ({...now, connection})));
  }, []);
  return state;
}

const THEMES = ["auto", "light", "dark"];

function rememberedTheme() {
  try {
    const theme = localStorage.getItem("theme");
    return THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto"; // pages from disk may have no storage
  }
}

/** The choice between the system's colours, light and dark. `theme` is what is shown. */
function useTheme() {
  const [choice, setChoice] = useState(rememberedTheme);
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const theme = choice === "auto" ? (dark ? "dark" : "light") : choice;
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const change = () => setDark(system.matches);
    system.addEventListener("change", change);
    return () => system.removeEventListener("change", change);
  }, []);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event("themechange"));
  }, [theme]);
  const choose = (next) => {
    setChoice(next);
    try {
      localStorage.setItem("theme", next);
    } catch {
      // then it holds until the page is closed
    }
  };
  return {choice, choose, theme};
}

function ThemeChoice({choice, choose}) {
  return h("label", {class: "theme"}, h("span", null, "Colours"),
    h("select", {value: choice, onChange: (event) => choose(event.target.value)},
      THEMES.map((theme) => h("option", {key: theme, value: theme}, theme))));
}

function Connection({connection, report}) {
  if (!connection || !report) return null;
  const running = report.runs.some((run) => run.state === "running");
  const [kind, text] = connection === "lost" ? ["bad", "connection lost, trying again"]
    : running ? ["good", "live"] : ["", "the run has ended"];
  return h("span", {class: classes("badge", kind), role: "status"}, text);
}

function Crumbs({report, route}) {
  const run = report.runs[route.k];
  const inRun = run && (route.view === "run" || route.view === "level");
  const steps = [];
  if (report.runs.length > 1) steps.push(["#/", "Runs"]);
  if (inRun) steps.push([overviewAddress(route.k), run.id]);
  if (route.view === "level") steps.push([address(route.k, route.n), `Level ${route.n}`]);
  if (route.view === "compare") {
    if (report.runs.length === 1) steps.push([overviewAddress(0), report.runs[0].id]);
    steps.push([`#/compare/${route.k}`, "Comparison"]);
  }
  if (steps.length < 2) return null;
  return h("nav", {class: "crumbs", "aria-label": "Where you are"}, h("ol", null, steps.map(([href, text], i) =>
    h("li", {key: href}, h("a", {href, "aria-current": i === steps.length - 1 ? "page" : undefined}, text)))));
}

/** The comparisons of a run; elsewhere the only one, since a page of many runs has one for each. */
function ComparisonLinks({report, route}) {
  const id = route.view === "run" ? report.runs[route.k]?.id : null;
  const links = report.comparisons.map((pair, i) => ({pair, i}))
    .filter(({i}) => route.view !== "compare" || i !== route.k)
    .filter(({pair}) => (id == null ? report.comparisons.length === 1 : id === pair.a || id === pair.b));
  if (!links.length) return null;
  return h("nav", {class: "tabs", "aria-label": "Comparisons"}, links.map(({pair, i}) =>
    h("a", {key: i, href: `#/compare/${i}`}, `Compare ${pair.a} with ${pair.b}`)));
}

/** What a route shows, and its title. Addresses that lead nowhere say so. */
function shown(report, route, go) {
  const run = report.runs[route.k];
  if (route.view === "home") {
    return [report.title, h(RunsView, {report, query: route.query, go})];
  }
  if (route.view === "compare" && report.comparisons[route.k]) {
    const pair = report.comparisons[route.k];
    return [`${pair.a} and ${pair.b}`, h(CompareView, {key: route.k, report, i: route.k, query: route.query, go})];
  }
  if (route.view === "run" && run) {
    return [`Run ${run.id}`, h(RunView, {key: route.k, report, run, k: route.k, query: route.query, go})];
  }
  const row = run?.levels.find((level) => level.number === route.n);
  if (route.view === "level" && row && run.published) {
    return [row.env_id, h(Unrecorded, {row, k: route.k})];
  }
  if (route.view === "level" && row) {
    return [`${row.env_id} · level ${row.number}`,
      h(LevelPage, {key: route.place, report, run, k: route.k, row, route, go})];
  }
  return ["Nothing here", h(Nowhere)];
}

function Nowhere() {
  return h(Fragment, null, h("h1", {tabIndex: -1}, "Nothing here"),
    h("p", null, "The report has nothing under this address. ", h("a", {href: "#/"}, "To the overview")));
}

/** A level of the published run, whose rounds nobody has recorded. */
function Unrecorded({row, k}) {
  return h(Fragment, null, h("h1", {tabIndex: -1}, row.env_id),
    h("p", null, "This level is one of the published run of the original system, of which no single call, attempt or " +
      "step is recorded: there is nothing more to see of it than its line in the ",
    h("a", {href: address(k)}, "table of levels"), "."));
}

/** A level: loads it, shows it, and leads on to its neighbours. */
function LevelPage({report, run, k, row, route, go}) {
  const [state, setState] = useState({level: null, texts: {}, error: ""});
  const begun = row.outcome !== "pending";
  useEffect(() => {
    if (!begun) return undefined;
    let wanted = true;
    loadLevel(k, row.number).then(
      ([level, texts]) => wanted && setState({level, texts, error: ""}),
      (error) => wanted && setState((now) => ({...now, error: error.message})),
    );
    return () => {
      wanted = false;
    };
  }, [k, row.number, row.version]);
  return h(Fragment, null,
    h(Neighbours, {run, k, row}),
    !begun && h(Fragment, null, h("h1", {tabIndex: -1}, row.env_id), h("p", null, "This level was not begun.")),
    state.error && h(Trouble, {title: "This level could not be loaded"}, state.error),
    begun && !state.error && h(LevelView, {report, run, k, row, level: state.level, texts: state.texts, route, go}));
}

function Neighbours({run, k, row}) {
  const at = run.levels.indexOf(row);
  const failed = run.levels.find((level, i) => i > at && level.outcome === "fail");
  const link = (level, text, rel) => level &&
    h("a", {href: address(k, level.number), rel, title: level.env_id, "data-way": rel ?? "failed"}, text);
  return h("nav", {class: "neighbours", "aria-label": "Levels"},
    link(run.levels[at - 1], "← Previous level", "prev"), link(run.levels[at + 1], "Next level →", "next"),
    link(failed, "Next failed level ⇥"));
}

function App() {
  const {report, error, connection} = useReport();
  const {choice, choose} = useTheme();
  if (!report) {
    return h("main", {id: "main", class: "frame"}, h("h1", {tabIndex: -1}, "Report"),
      error ? h(Trouble, {title: "The report could not be read"}, error) : h("p", {role: "status"}, "Loading …"));
  }
  return h(Loaded, {report, error, connection, choice, choose});
}

function Loaded({report, error, connection, choice, choose}) {
  const {hash, go, come} = useRoute(report.view);
  const alone = report.runs.length === 1;
  const route = useMemo(() => parseRoute(alone ? hash.replace(/^(#\/?)?(?=\?|$)/, "#/run/0") : hash), [hash, alone]);
  const [title, view] = shown(report, route, go);
  useLinks(go);
  useArrival(route, come, `${title} · ${report.program}`);
  return h(Fragment, null,
    h("a", {class: "skip", href: "#main", onClick: skip}, "Skip to the content"),
    h("header", {class: "top"}, h("div", {class: "frame"},
      h("a", {class: "brand", href: "#/"}, "sense-plan-code-act"),
      h(Crumbs, {report, route}), h(Connection, {connection, report}), h(ThemeChoice, {choice, choose}))),
    h("main", {id: "main", class: "frame", tabIndex: -1},
      error && h(Trouble, {title: "The newest state could not be loaded"}, error),
      route.view !== "level" && h(ComparisonLinks, {report, route}), view),
    h("footer", {class: "frame"}, `${report.program} · report made ${moment(report.made)}`));
}

function skip(event) {
  event.preventDefault();
  (document.querySelector("main h1") ?? document.getElementById("main")).focus();
}

render(h(App), document.getElementById("app"));
