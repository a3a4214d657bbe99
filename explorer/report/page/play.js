// Play: a person in a scene. The page requests each step from its own server, and receives what is seen.

const WISHES_LIMIT = 3;
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

/** The game as it stands, and what asks for its steps: one after another, and a few may wait. */
function useGame() {
  const [state, setState] = useState({game: null, error: ""});
  const queue = useRef({length: 0, end: Promise.resolve()}).current;
  const wish = (asked) => {
    if (queue.length === WISHES_LIMIT) return;
    queue.length += 1;
    queue.end = queue.end.then(() => askServer(asked)).then(
      (game) => setState({game, error: ""}),
      (error) => setState((now) => ({...now, error: error.message})),
    ).then(() => {
      queue.length -= 1;
    });
  };
  useEffect(() => wish(null), []);
  return {...state, wish};
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
  useEffect(() => {
    const listen = (event) => wishByKey(event, game, wish);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
  const leaveButton = (event) => { // otherwise space would press it again instead of jumping
    if (event.detail) event.target.closest(".pad button, .things button")?.blur();
  };
  const giveUp = () => {
    if (confirm("End the episode here? It is added to the results as it is.")) wish({do: "done"});
  };
  return h("div", {class: "play", onClick: leaveButton, "data-step": step,
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
    h(Inventory, {game, wish}),
    h(RecipeBook, {game, wish}),
    h(Around, {game, wish, setPointed})),
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

function Things({items, nothing}) {
  return h("ul", {class: "things"}, items.length ? items : h("li", {class: "muted"}, nothing));
}

function Inventory({game, wish}) {
  const {inventory, held, look} = game;
  return h(Section, {id: "inventory", title: "Inventory", note: "Click to take in hand."},
    h(Things, {nothing: "nothing", items: inventory.map(([name, n], i) => h("li", {key: name},
      h(Button, {"aria-pressed": String(name === held), "data-item": name, act: () => wish({hold: name})},
        h(Picture, {look, name}),
        h("span", null, `${count(n)} × ${spaced(name)}`),
        i < 9 && h("small", {"aria-hidden": "true"}, i + 1))))}));
}

/** The recipes that match the search, craftable ones first. */
function RecipeBook({game, wish}) {
  const [sought, setSought] = useState("");
  const parts = sought.toLowerCase().split(/\s+/);
  const found = game.recipes.filter(({name}) => parts.every((part) => spaced(name).includes(part)));
  found.sort((a, b) => b.craftable - a.craftable);
  return h(Section, {id: "recipes", title: "Recipe book", note: "What you have seen or hold could be for these."},
    h("input", {type: "search", placeholder: "Search the book", "aria-label": "Search the recipe book", value: sought,
      onInput: (event) => setSought(event.target.value)}),
    h(Things, {nothing: sought ? "nothing of that name" : "nothing yet", items: found.map((recipe) =>
      h("li", {key: recipe.name},
        h(Button, {can: recipe.craftable, "data-recipe": recipe.name, act: () => wish({craft: recipe.name})},
          h(Picture, {look: game.look, name: recipe.makes}),
          h("span", null, `${recipe.count} × ${spaced(recipe.name)}`, h("small", null, needsOf(recipe))))))}));
}

function needsOf({needs, table}) {
  const parts = needs.map(([n, name, kinds]) => `${n} ${spaced(name)}${kinds > 1 ? " or the like" : ""}`);
  return parts.join(" + ") + (table ? ", at a table" : "");
}

function Around({game, wish, setPointed}) {
  const far = ({cell}) => distance(cell, game.pose.cell);
  const nearest = game.around.toSorted((a, b) => far(a) - far(b)).slice(0, NEAR_LIMIT);
  return h(Section, {id: "around", title: "Seen so far", note: "Click what is near to aim and do what fits."},
    h(Things, {nothing: "nothing yet", items: nearest.map((thing) => h("li", {key: thing.name},
      h(Button, {class: thing.near ? "" : "muted", "data-thing": thing.name, act: () => wish({touch: thing.cell}),
        onPointerEnter: () => setPointed({cell: thing.cell, what: spaced(thing.name)}),
        onPointerLeave: () => setPointed(null)},
      h("span", null, spaced(thing.name),
        thing.state && h("small", null, /^\d+$/.test(thing.state) ? `× ${thing.state}` : thing.state)),
      h("small", null, `${far(thing).toFixed(0)} m`))))}));
}

/** The tile of an item. */
function Picture({look, name}) {
  return h("i", {class: "icon", style: {"--tile": look.sprites[name].tile}});
}

function Ending({game: {over, latched, hops, step}}) {
  useEffect(() => goTo("ending"), []);
  return h(Section, {id: "ending", title: `You ${ENDINGS[over]}.`},
    h("p", null, `${latched} of ${plural(hops, "milestone")} reached in ${plural(step, "step")}. `,
      h("a", {href: "report", target: "_blank", rel: "noopener"}, "See how it went"),
      muted(" Your episode is in the results.")));
}
