// Play: a person in a scene. The page requests each step from its own server, and receives what is seen.

const NEAR_LIMIT = 40;
const HINT = "Click on what you see to use, dig or attack it; click with the other button to place what is in hand.";
const RULES = "What is built cannot be broken; what grows or lies in the ground can, with the right tool. Blocks " +
  "that you place are final. The goal may need other things first: find out which.";

/** What can be done: a primitive, what its button says, and its keys, whatever the keyboard layout. */
const ACTIONS = [
  ["turn_left", "↺", "KeyQ", "ArrowLeft"],
  ["forward", "↑", "KeyW", "ArrowUp"],
  ["turn_right", "↻", "KeyE", "ArrowRight"],
  ["left", "←", "KeyA"],
  ["back", "↓", "KeyS", "ArrowDown"],
  ["right", "→", "KeyD"],
  ["jump", "jump", "Space"],
  ["look_up", "look up", "KeyR", "PageUp"],
  ["look_down", "look down", "KeyF", "PageDown"],
  ["use", "use", "KeyU"],
  ["dig", "dig", "KeyX"],
  ["attack", "attack", "KeyK"],
  ["place", "place", "KeyP"],
  ["place_ahead", "bridge", "KeyB"],
  ["place_below", "pillar", "KeyV"],
  ["drop", "drop", "KeyG"],
  ["wait", "wait", "Period"],
];

function openPlay() {
  openPage("explorer", ({title}, route) => (route.path ? null : {title, view: h(PlayView, {title})}), false);
}

function PlayView({title}) {
  const {game, error, wish} = useGame();
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, title),
    error && h(Notice, {tone: "bad", title: "The game could not be reached"}, error),
    game && h(Play, {game, wish}));
}

/** Wishes that may wait for the answer to another: who plays types faster than the server answers. */
const MAX_WAITING = 3;

/** The game as it stands, and what asks for its steps. */
function useGame() {
  const [game, setGame] = useState(null);
  const [error, setError] = useState("");
  const isBusy = useRef(false);
  const waiting = useRef([]);
  const wish = async (asked) => {
    if (isBusy.current) {
      if (waiting.current.length < MAX_WAITING) waiting.current.push(asked);
      return;
    }
    isBusy.current = true;
    try {
      setGame(await askServer(asked));
      setError("");
    } catch (problem) {
      setError(problem.message);
      waiting.current = [];
    }
    isBusy.current = false;
    if (waiting.current.length) wish(waiting.current.shift());
  };
  useEffect(() => {
    wish(null);
  }, []);
  return {game, error, wish};
}

/** @param {object|null} wish `do`, `hold`, `craft` or `touch` @returns {Promise<object>} what is known then */
async function askServer(wish) {
  const request = {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(wish)};
  const known = await (wish ? readFromServer("ask", request) : readFromServer("piece/state"));
  const blocks = new Uint16Array(known.size[0] * known.size[1] * known.size[2]);
  applyRuns(blocks, known.blocks);
  return {...known, blocks, pose: readPose(known.pose), look: await loadLook(known.look)};
}

/** Names of looks -> promises of them: they come as they are seen. */
const loadedLooks = new Map();

function loadLook(name) {
  if (!loadedLooks.has(name)) loadedLooks.set(name, loadPiece(name).then(decodeTiles));
  return loadedLooks.get(name);
}

function Play({game, wish}) {
  const {spawn, pose, step, max, over, said, look} = game;
  const [pointed, setPointed] = useState(null);
  const recipes = game.recipes.toSorted((a, b) => b.craftable - a.craftable);
  const around = game.around.toSorted((a, b) => distance(a.cell, pose.cell) - distance(b.cell, pose.cell));
  useLayoutEffect(() => { // before anybody can press a key
    const listen = (event) => wishByKey(event, game, wish);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
  const keepFocus = (event) => event.target.closest("button") && event.preventDefault(); // so that space still jumps
  const giveUp = () => {
    if (confirm("End the episode here? It is added to the results as it is.")) wish({do: "done"});
  };
  return h("div", {class: "play", onMouseDown: keepFocus, "data-step": step,
    style: {"--tiles": `url(${look.picture.src})`}},
  h("div", {class: "heading"},
    h(Facts, {facts: [
      ["Step", count(step) + (max ? ` of at most ${count(max)}` : "")],
      ["Position", awayFrom(spawn, pose.cell)],
      ["Facing", FACING_WORDS[pose.facing]],
    ]}),
    !over && h(Button, {act: giveUp}, "End here")),
  over && h(Ending, {game}),
  h(StageView, {sight: game, hint: HINT, pointed, touch: (cell, place) => wish({touch: cell, place})}),
  h("div", {class: "pad", role: "group", "aria-label": "What to do"}, ACTIONS.map(([deed, says, key]) =>
    h(Button, {key: deed, label: spaced(deed), "data-do": deed, act: () => wish({do: deed})},
      says, h("kbd", null, key.replace("Key", ""))))),
  h("ol", {class: "lines small", "aria-live": "polite", "aria-label": "What happened"},
    said.toReversed().map(([deed, reason], i) => h("li", {key: i},
      mono(deed), deed && reason && " — ", h("span", {class: "refused"}, reason)))),
  h("div", {class: "panes"},
    h(Pane, {id: "inventory", title: "Inventory", note: "Click to take in hand.", nothing: "nothing",
      items: game.inventory.map((entry, i) => describeItem(entry, i, game, wish))}),
    h(Pane, {id: "recipes", title: "Recipe book", hint: "search the book",
      note: "What you have seen or hold could be for these.",
      items: recipes.map((recipe) => describeRecipe(recipe, look, wish))}),
    h(Pane, {id: "around", title: "Seen so far", note: "Click what is near to aim and do what fits.",
      items: around.slice(0, NEAR_LIMIT).map((thing) => describeThing(thing, pose, wish, setPointed))})),
  h("p", {class: "muted above"}, RULES));
}

function wishByKey(event, {inventory}, wish) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) return;
  if (event.target.matches("button, a") && ["Space", "Enter"].includes(event.code)) return;
  const item = inventory[event.code.replace("Digit", "") - 1];
  const action = ACTIONS.find(([, , ...keys]) => keys.includes(event.code));
  if (!item && !action) return;
  event.preventDefault();
  wish(item ? {hold: item[0]} : {do: action[0]});
}

/**
 * A list of buttons. @param {{items: object[]}} props a `tile` or none, `text`, `small` below it, `end`, and more;
 *   `hint` what can be searched for
 */
function Pane({items, hint, nothing = "nothing yet", ...rest}) {
  const [sought, setSought] = useState("");
  const found = items.filter(({text}) => text.toLowerCase().includes(sought.toLowerCase()));
  return h(Section, rest,
    hint && h("input", {type: "search", placeholder: hint, onInput: (event) => setSought(event.target.value)}),
    h("ul", {class: "things"}, found.map(({key, tile, text, small, end, ...more}) => h("li", {key},
      h(Button, more,
        tile !== undefined && h("i", {class: "icon", style: {"--tile": tile}}),
        h("span", null, text, small && h("small", null, small)),
        h("small", null, end))))),
    !found.length && h("p", {class: "muted"}, nothing));
}

function describeItem([name, n], i, {held, look}, wish) {
  return {key: name, tile: look.sprites[name].tile, text: `${count(n)} × ${spaced(name)}`, end: i < 9 && i + 1,
    "aria-pressed": String(name === held), "data-item": name, act: () => wish({hold: name})};
}

function describeRecipe({name, makes, count: made, needs, table, craftable}, look, wish) {
  const parts = needs.map(([n, item, kinds]) => `${n} ${spaced(item)}${kinds > 1 ? " or the like" : ""}`);
  return {key: name, tile: look.sprites[makes].tile, text: `${made} × ${spaced(name)}`,
    small: parts.join(" + ") + (table ? ", at a table" : ""),
    can: craftable, "data-recipe": name, act: () => wish({craft: name})};
}

function describeThing({name, cell, state, near}, pose, wish, setPointed) {
  return {key: name, text: spaced(name), small: /^\d+$/.test(state) ? `× ${state}` : state,
    end: `${distance(cell, pose.cell).toFixed(0)} m`,
    class: near ? "" : "muted", "data-thing": name, act: () => wish({touch: cell}),
    onPointerEnter: () => setPointed({cell, what: spaced(name)}), onPointerLeave: () => setPointed(null)};
}

function Ending({game: {over, latched, hops, step}}) {
  useEffect(() => goTo("ending"), []);
  return h(Section, {id: "ending", title: `You ${ENDINGS[over]}.`},
    h("p", null, `${latched} of ${plural(hops, "milestone")} reached in ${plural(step, "step")}. `,
      h("a", {href: "report", target: "_blank", rel: "noopener"}, "See how it went"),
      muted(" Your episode is in the results.")));
}
