// Play: a person in a scene. The page requests each step from its own server, and receives what is seen.

class Play {
  /** @param {Scenery} scene @param {object} told what is known at the start */
  constructor(scene, told) {
    Object.assign(this, {scene, blocks: unrolled(told.known, scene.cells), trail: [], busy: false, wishes: []});
    this.stage = new Stage(scene,
      "W A S D walk, Q E turn, space jumps; click on what you see to use, dig or attack it.");
    this.said = el("ol", {class: "said", "aria-live": "polite", "aria-label": "What happened"});
    this.inventory = el("ul", {class: "things"});
    this.recipes = el("ul", {class: "things"});
    this.wanted = el("input", {type: "search", placeholder: "Search the book", "aria-label": "Search the recipe book",
      oninput: () => this.book()});
    this.around = el("ul", {class: "things"});
    this.where = el("p", {class: "where small muted"});
    this.ending = el("section", {class: "ending", hidden: true, tabindex: -1, "aria-label": "The end"});
    this.give = el("button", {type: "button", onclick: () => this.giveUp()}, "End here");
    this.take(told);
  }

  view() {
    this.stage.first.addEventListener("click", (event) => this.point(event, false));
    this.stage.first.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.point(event, true);
    });
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("click", (event) => { // otherwise space would press it again instead of jumping
      if (event.detail) event.target.closest?.(".pad button, .things button")?.blur();
    });
    const pane = (title, list, hint) => el("section", {class: "pane"}, el("h2", null, title), list,
      hint && el("p", {class: "small muted"}, hint));
    return [
      el("div", {class: "task-line"}, this.where, this.give),
      this.ending, this.stage.element, this.stage.pointed, this.pad(), this.said,
      el("div", {class: "panes"}, pane("Inventory", this.inventory, "Click to take in hand."),
        pane("Recipe book", [this.wanted, this.recipes],
          "What you have seen or hold could be for these."),
        pane("Seen so far", this.around, "Click what is near to aim and do what fits.")),
      el("p", {class: "rules small muted"}, "What is built cannot be broken; what grows or lies in the ground can, ",
        "with the right tool. Blocks that you place are final. The goal may need other things first: find out which."),
      keyHelp(),
    ];
  }

  /** Buttons for people without a keyboard. */
  pad() {
    const buttons = [["turn_left", "turn left"], ["forward"], ["turn_right", "turn right"], ["left"],
      ["back", "behind"], ["right"], ["jump"], ["look_up"], ["look_down"], ["use"], ["dig"], ["attack"], ["place"],
      ["place_ahead", "", "bridge"], ["place_below", "", "pillar"], ["drop"], ["wait"]];
    return el("div", {class: "pad", role: "group", "aria-label": "What to do"}, buttons.map(([deed, sign, word]) => {
      const drawn = sign || (ICONS[deed] && deed);
      const label = word ?? spaced(deed);
      return el("button", {type: "button", "data-do": deed, title: label, "aria-label": drawn ? label : null,
        class: drawn ? "sign" : null, onclick: () => this.wish({do: deed})}, drawn ? icon(drawn) : label);
    }));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea, summary")) return;
    if (event.target.matches("button, a") && ["Space", "Enter"].includes(event.code)) return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    const item = digit && this.told.inventory[Number(digit[1]) - 1];
    const wish = item ? {hold: item[0]} : KEY_DEEDS[event.code] && {do: KEY_DEEDS[event.code]};
    if (!wish) return;
    event.preventDefault();
    this.wish(wish);
  }

  point(event, place) {
    const found = this.stage.pick(event);
    if (found) this.wish({touch: found.cell, place});
    else this.note("There is nothing.");
  }

  /** Request a step; a few more may queue while one is in progress. */
  async wish(wish) {
    if (this.told.over) return;
    if (this.busy) {
      if (this.wishes.length < 2) this.wishes.push(wish);
      return;
    }
    this.busy = true;
    try {
      const answer = await fetch("ask", {method: "POST", cache: "no-store",
        headers: {"Content-Type": "application/json"}, body: JSON.stringify({...wish, have: this.told.step})});
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      const told = await answer.json();
      if (told.look) await this.learn(told.look);
      this.take(told);
    } catch (error) {
      this.wishes.length = 0;
      this.note(`The game could not be reached: ${error.message}`);
    } finally {
      this.busy = false;
    }
    if (this.wishes.length) await this.wish(this.wishes.shift());
  }

  /** Looks come as they are seen. */
  async learn(look) {
    await this.scene.learn(look);
    this.stage.voxels?.dress();
  }

  take(told) {
    if (told.known) this.blocks = unrolled(told.known, this.scene.cells);
    for (const [number, look] of told.changes ?? []) this.blocks[number] = look;
    this.told = told;
    const [x, y, z, facing, pitch, ...aim] = told.pose;
    const pose = {cell: [x, y, z], facing, pitch, aim: aim.length ? aim : null};
    this.trail = [...this.trail, pose.cell].slice(-400);
    this.stage.show({blocks: this.blocks, things: told.things.filter(({loose}) => loose), pose, trail: this.trail});
    this.stage.hover(null); // what the pointer was on has moved with the step
    const away = pose.cell.map((n, i) => n - this.scene.spawn[i]).join(", ");
    this.where.textContent = `Step ${told.step}${told.max ? ` of at most ${told.max}` : ""}, at ${away}, facing ` +
      FACING_WORDS[facing];
    for (const [deed, reason] of told.said) {
      this.note(reason ? [el("span", {class: "mono"}, deed), el("span", {class: "refused"}, ` — ${reason}`)]
        : el("span", {class: "mono"}, deed));
    }
    if (told.note) this.note(el("span", {class: "refused"}, told.note));
    this.lists(pose);
    Object.assign(document.body.dataset, {step: told.step, over: told.over, cell: pose.cell.join(" "), facing});
    if (told.over) this.end();
  }

  note(what) {
    this.said.prepend(el("li", null, what));
    while (this.said.children.length > 4) this.said.lastChild.remove();
  }

  lists(pose) {
    const {told} = this;
    refill(this.inventory, told.inventory.length ? told.inventory.map(([name, count], i) => el("li", null,
      el("button", {type: "button", "aria-pressed": String(name === told.held), "data-item": name,
        onclick: () => this.wish({hold: name})}, this.picture(name), `${count} × ${spaced(name)}`,
      i < 9 && el("kbd", {"aria-hidden": "true"}, i + 1)))) : el("li", {class: "muted"}, "nothing"));
    this.book();
    const far = (thing) => Math.hypot(...thing.cell.map((n, i) => n - pose.cell[i]));
    const things = [...told.things].sort((a, b) => far(a) - far(b)).slice(0, 40);
    refill(this.around, things.length ? things.map((thing) => el("li", null,
      el("button", {type: "button", "data-thing": thing.name, class: thing.near ? null : "remembered",
        onpointerenter: () => this.stage.hover({cell: thing.cell, what: spaced(thing.name)}),
        onpointerleave: () => this.stage.hover(null), onclick: () => this.wish({touch: thing.cell})},
      el("span", null, spaced(thing.name),
        thing.state && el("small", null, /^\d+$/.test(thing.state) ? `× ${thing.state}` : thing.state)),
      el("small", {class: "far"}, `${far(thing).toFixed(0)} m`)))) : el("li", {class: "muted"}, "nothing yet"));
  }

  /** The recipes that match the search, craftable ones first. */
  book() {
    const words = this.wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
    const needs = (recipe) => recipe.needs.map(([count, name, kinds]) =>
      `${count} ${spaced(name)}${kinds > 1 ? " or the like" : ""}`).join(" + ") + (recipe.table ? ", at a table" : "");
    const found = this.told.recipes.filter((recipe) => words.every((word) => spaced(recipe.name).includes(word)))
      .sort((a, b) => b.craftable - a.craftable);
    refill(this.recipes, found.length ? found.map((recipe) => el("li", null,
      el("button", {type: "button", disabled: !recipe.craftable, "data-recipe": recipe.name,
        onclick: () => this.wish({craft: recipe.name})}, this.picture(recipe.makes),
      el("span", null, `${recipe.count} × ${spaced(recipe.name)}`, el("small", null, needs(recipe)))))) :
      el("li", {class: "muted"}, words.length ? "nothing of that name" : "nothing yet"));
  }

  picture(name) {
    const tile = this.scene.sprites[name];
    if (tile === undefined) return null;
    const canvas = el("canvas", {class: "icon", width: TILE, height: TILE, "aria-hidden": "true"});
    this.scene.stamp(canvas.getContext("2d"), tile, 0, 0, TILE);
    return canvas;
  }

  giveUp() {
    if (this.told.over || !confirm("End the episode here? It is added to the results as it is.")) return;
    this.wishes.length = 0;
    this.wish({do: "done"});
  }

  end() {
    const {told} = this;
    const won = told.latched === told.hops;
    const how = {goal: won ? "You did it." : "The goal is reached.", done: "You ended it.", lava: "That was lava.",
      max_steps: "No further step counts."}[told.over] ?? told.over;
    refill(this.ending, el("h2", null, how),
      el("p", null, `${told.latched} of ${plural(told.hops, "milestone")} reached in ${plural(told.step, "step")}.`),
      el("p", null, el("a", {class: "big", href: "report", target: "_blank", rel: "noopener"}, "See how it went"),
        el("span", {class: "muted"}, " Your episode is in the results.")));
    this.ending.classList.toggle("won", won);
    this.give.hidden = true;
    if (this.ending.hidden) {
      this.ending.hidden = false;
      this.ending.focus({preventScroll: false});
    }
  }
}

async function openPlay() {
  const app = document.getElementById("app");
  try {
    const answer = await fetch("state", {cache: "no-store"});
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const told = await answer.json();
    const scene = await Scenery.load({...await piece("scene"), ...told.look});
    const play = new Play(scene, told);
    const program = await piece("program");
    document.title = scene.text;
    app.replaceChildren(...pageFrame(scene.text, program, ...play.view()));
  } catch (error) {
    app.append(el("div", {class: "notice bad", role: "alert"}, el("strong", null, "The game could not begin: "),
      error.message));
  }
}
