// Play: a person in a scene. The page requests each step from its own server, and receives what is seen.

const SAID_LINES = 4;
const WISHES_LIMIT = 3;
const NEAR_LIMIT = 40;
const HINT = "W A S D walk, Q E turn, space jumps; click on what you see to use, dig or attack it.";
const RULES = "What is built cannot be broken; what grows or lies in the ground can, with the right tool. Blocks " +
  "that you place are final. The goal may need other things first: find out which.";
const ENDS = {
  goal: "The goal is reached.",
  done: "You ended it.",
  lava: "That was lava.",
  max_steps: "No further step counts.",
};

function openPlay() {
  const viewOf = (report, route) => (route.path ? null : {title: report.title, view: h(PlayView, {report})});
  openPage("explorer", viewOf, false);
}

function PlayView({report}) {
  const {values, error} = usePieces(["state"]);
  const told = values?.[0];
  const scene = useScenery(report.scene, told?.look);
  const game = useMemo(() => scene && new Game(scene, told), [scene]);
  return h(Fragment, null,
    h("h1", {tabIndex: -1}, report.title),
    error && h(Notice, {tone: "bad", title: "The game could not begin"}, error),
    game && h(Play, {game}));
}

/** How a game stands, what was said in it, and what asks for its steps. */
class Game {
  /** @param {Scenery} scene @param {object} told what is known when the page opens */
  constructor(scene, told) {
    Object.assign(this, {scene, blocks: new Uint16Array(scene.cells), trail: [], said: [], wishes: 0});
    this.answered = Promise.resolve();
    this.take(told);
  }

  /** Ask for a step; a few may wait for the one before. @param {object} wish `do`, `hold`, `craft` or `touch` */
  wish(wish) {
    if (this.told.over || this.wishes === WISHES_LIMIT) return;
    this.wishes += 1;
    this.answered = this.answered.then(() => this.ask(wish));
  }

  async ask(wish) {
    try {
      const told = await readFromServer("ask", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify({...wish, have: this.told.step})});
      if (told.look) await this.scene.learn(told.look); // looks come as they are seen
      this.take(told);
    } catch (error) {
      this.say("", `The game could not be reached: ${error.message}`);
    }
    this.wishes -= 1;
  }

  take(told) {
    const pose = readPose(told.pose);
    for (const runs of told.changes) applyRuns(this.blocks, runs);
    this.told = told;
    this.trail = [...this.trail, pose.cell];
    this.sight = {blocks: this.blocks, things: told.things.filter(({loose}) => loose), pose, trail: this.trail};
    this.said.push(...told.said);
    this.say("", told.note);
  }

  say(deed, reason) {
    if (reason) this.said.push([deed, reason]);
    this.changed?.();
  }
}

function Play({game}) {
  const {scene, told, sight} = game;
  const {cell, facing} = sight.pose;
  const [, redraw] = useState(0);
  const [pointed, setPointed] = useState(null);
  game.changed = () => redraw((turn) => turn + 1);
  useLayoutEffect(() => {
    const listen = (event) => wishByKey(event, game);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  const touch = (found, place) => (found ? game.wish({touch: found.cell, place}) : game.say("", "There is nothing."));
  const leaveButton = (event) => { // otherwise space would press it again instead of jumping
    if (event.detail) event.target.closest(".pad button, .things button")?.blur();
  };
  return h("div", {class: "play", onClick: leaveButton, "data-step": told.step},
    h("div", {class: "heading"},
      h(Facts, {facts: [
        ["Step", count(told.step) + (told.max ? ` of at most ${count(told.max)}` : "")],
        ["Position", awayFrom(scene.spawn, cell)],
        ["Facing", FACING_WORDS[facing]],
      ]}),
      !told.over && h(Button, {act: () => giveUp(game)}, "End here")),
    told.over && h(Ending, {told}),
    h(StageView, {scene, sight, hint: HINT, pointed, touch}),
    h(Pad, {game}),
    h("ol", {class: "lines small", "aria-live": "polite", "aria-label": "What happened"},
      game.said.map(([deed, reason], i) => h("li", {key: i},
        mono(deed), deed && reason && " — ", h("span", {class: "refused"}, reason)))
        .slice(-SAID_LINES).reverse()),
    h("div", {class: "panes"},
      h(Inventory, {game}),
      h(RecipeBook, {game}),
      h(Around, {game, setPointed})),
    h("p", {class: "muted above"}, RULES),
    h(Fold, {summary: "Keys and mouse"}, () => h(Facts, {facts: KEY_HELP})));
}

function wishByKey(event, game) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea, summary")) return;
  if (event.target.matches("button, a") && ["Space", "Enter"].includes(event.code)) return;
  const digit = /^Digit([1-9])$/.exec(event.code);
  const item = digit && game.told.inventory[digit[1] - 1];
  const wish = item ? {hold: item[0]} : KEY_DEEDS[event.code] && {do: KEY_DEEDS[event.code]};
  if (!wish) return;
  event.preventDefault();
  game.wish(wish);
}

function giveUp(game) {
  if (confirm("End the episode here? It is added to the results as it is.")) game.wish({do: "done"});
}

function Pad({game}) {
  const buttons = PAD.map(({deed, icon, word = spaced(deed)}) =>
    h(Button, {key: deed, label: icon && word, "data-do": deed, act: () => game.wish({do: deed})},
      icon ? h(Icon, {path: icon}) : word));
  return h("div", {class: "pad", role: "group", "aria-label": "What to do"}, buttons);
}

function Things({items, nothing}) {
  return h("ul", {class: "things"}, items.length ? items : h("li", {class: "muted"}, nothing));
}

function Inventory({game}) {
  const {inventory, held} = game.told;
  return h(Section, {id: "inventory", title: "Inventory", note: "Click to take in hand."},
    h(Things, {nothing: "nothing", items: inventory.map(([name, n], i) => h("li", {key: name},
      h(Button, {"aria-pressed": String(name === held), "data-item": name, act: () => game.wish({hold: name})},
        h(Picture, {scene: game.scene, name}),
        h("span", null, `${count(n)} × ${spaced(name)}`),
        i < 9 && h("small", {"aria-hidden": "true"}, i + 1))))}));
}

/** The recipes that match the search, craftable ones first. */
function RecipeBook({game}) {
  const [sought, setSought] = useState("");
  const parts = sought.toLowerCase().split(/\s+/);
  const found = game.told.recipes.filter(({name}) => parts.every((part) => spaced(name).includes(part)));
  found.sort((a, b) => b.craftable - a.craftable);
  return h(Section, {id: "recipes", title: "Recipe book", note: "What you have seen or hold could be for these."},
    h("input", {type: "search", placeholder: "Search the book", "aria-label": "Search the recipe book", value: sought,
      onInput: (event) => setSought(event.target.value)}),
    h(Things, {nothing: sought ? "nothing of that name" : "nothing yet", items: found.map((recipe) =>
      h("li", {key: recipe.name},
        h(Button, {can: recipe.craftable, "data-recipe": recipe.name, act: () => game.wish({craft: recipe.name})},
          h(Picture, {scene: game.scene, name: recipe.makes}),
          h("span", null, `${recipe.count} × ${spaced(recipe.name)}`, h("small", null, needsOf(recipe))))))}));
}

function needsOf({needs, table}) {
  const parts = needs.map(([n, name, kinds]) => `${n} ${spaced(name)}${kinds > 1 ? " or the like" : ""}`);
  return parts.join(" + ") + (table ? ", at a table" : "");
}

function Around({game, setPointed}) {
  const {told, sight} = game;
  const far = ({cell}) => Math.hypot(...cell.map((n, i) => n - sight.pose.cell[i]));
  const nearest = [...told.things].sort((a, b) => far(a) - far(b)).slice(0, NEAR_LIMIT);
  return h(Section, {id: "around", title: "Seen so far", note: "Click what is near to aim and do what fits."},
    h(Things, {nothing: "nothing yet", items: nearest.map((thing) => h("li", {key: thing.name},
      h(Button, {class: thing.near ? "" : "muted", "data-thing": thing.name, act: () => game.wish({touch: thing.cell}),
        onPointerEnter: () => setPointed({cell: thing.cell, what: spaced(thing.name)}),
        onPointerLeave: () => setPointed(null)},
      h("span", null, spaced(thing.name),
        thing.state && h("small", null, /^\d+$/.test(thing.state) ? `× ${thing.state}` : thing.state)),
      h("small", null, `${far(thing).toFixed(0)} m`))))}));
}

/** The sprite of an item. */
function Picture({scene, name}) {
  const canvas = useRef(null);
  useLayoutEffect(() => {
    scene.stamp(canvas.current.getContext("2d"), scene.sprites[name], 0, 0, TILE);
  }, [name, scene.picture]);
  return h("canvas", {class: "icon", ref: canvas, width: TILE, height: TILE, "aria-hidden": "true"});
}

function Ending({told}) {
  const {over, latched, hops, step} = told;
  const section = useRef(null);
  useEffect(() => section.current.focus(), []);
  return h("section", {class: classes("notice ending", latched === hops && "good"), ref: section, tabIndex: -1,
    "aria-label": "The end"},
  h("h2", null, over === "goal" && latched === hops ? "You did it." : ENDS[over]),
  h("p", null, `${latched} of ${plural(hops, "milestone")} reached in ${plural(step, "step")}.`),
  h("p", null, h("a", {href: "report", target: "_blank", rel: "noopener"}, "See how it went"),
    muted(" Your episode is in the results.")));
}
