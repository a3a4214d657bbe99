// The player: an episode step by step; milestones light up as they latch.

const SPEEDS = [1, 2, 4, 8, 16, 32];
const FIRST_SPEED = 2;

/** Plays one film on its own stage. */
class Player {
  /** @param {Film} film @param {number} step it begins with */
  constructor(film, step = 0) {
    Object.assign(this, {film, step: -1, speed: FIRST_SPEED, truth: false, timer: 0});
    this.stage = new Stage(film.scene);
    this.build();
    this.go(Math.max(0, Math.min(film.last, step)));
  }

  build() {
    const {film} = this;
    this.toggle = el("button", {type: "button", class: "play", title: "Space", onclick: () => this.play()}, "Play");
    this.range = el("input", {type: "range", min: 0, max: film.last, step: 1, value: 0, "aria-label": "Step",
      oninput: () => this.show(Number(this.range.value))});
    this.count = el("output", {class: "mono"});
    this.ticks = el("div", {class: "ticks", "aria-hidden": "true"}, Object.values(film.latched).map((at) =>
      el("i", {style: `left:${(100 * at) / Math.max(1, film.last)}%`})));
    this.pace = el("select", {"aria-label": "Speed", onchange: () => this.setSpeed(Number(this.pace.value))},
      SPEEDS.map((speed, i) => el("option", {value: i, selected: i === FIRST_SPEED}, `${speed} steps/s`)));
    this.both = el("select", {"aria-label": "What is drawn", onchange: () => this.reveal(this.both.value === "truth")},
      el("option", {value: "known"}, "what was known"), el("option", {value: "truth"}, "all there was"));
    const button = (label, name, act) =>
      el("button", {type: "button", "aria-label": label, title: label, onclick: act}, icon(name));
    this.deed = el("p", {class: "deed"});
    this.said = el("p", {class: "unseen", "aria-live": "polite"});
    this.carried = el("p", {class: "carried"});
    this.hops = el("ol", {class: "hops"});
    this.element = el("div", {class: "player", tabindex: 0, role: "group", "aria-label": "Player",
      onkeydown: (event) => this.key(event)},
    this.stage.element,
    el("div", {class: "controls"},
      el("div", {class: "buttons"}, button("First step (Home)", "first", () => this.show(0)),
        button("One step back (left arrow)", "back", () => this.show(this.step - 1)), this.toggle,
        button("One step on (right arrow)", "on", () => this.show(this.step + 1)),
        button("Last step (End)", "last", () => this.show(film.last))),
      el("div", {class: "scrub"}, this.range, this.ticks), this.count,
      el("label", null, el("span", {class: "unseen"}, "Speed"), this.pace),
      el("label", null, el("span", {class: "unseen"}, "What is drawn"), this.both)),
    this.deed, this.carried, this.said, this.stage.pointed,
    el("h3", null, "Milestones"), this.hops,
    el("p", {class: "keys small muted"},
      "Keys: space plays, arrows step, home and end, + and − for the speed, T for all there was."));
  }

  /** Go to a step and stay there. */
  show(step) {
    this.pause();
    this.go(Math.max(0, Math.min(this.film.last, step)));
  }

  go(step) {
    this.step = step;
    const moment = this.film.at(step, this.truth);
    this.stage.show(moment);
    this.range.value = step;
    this.count.textContent = `${step} / ${this.film.last}`;
    const refused = moment.reason ? el("span", {class: "refused"}, ` — ${moment.reason}`) : null;
    refill(this.deed, el("span", {class: "muted"}, step ? `Step ${step}: ` : "Before the first step"),
      step ? el("span", {class: "mono"}, moment.deed) : null, refused);
    const things = moment.inventory.map(([item, count]) =>
      el("span", {class: item === moment.held ? "item held" : "item"}, `${count} × ${spaced(item)}`));
    refill(this.carried, el("span", {class: "muted"}, things.length ? "Carries " : "Carries nothing"), things);
    this.range.setAttribute("aria-valuetext", `step ${step} of ${this.film.last}: ${moment.deed}`);
    this.light(step);
    Object.assign(this.element.dataset, {step, steps: this.film.last, truth: this.truth,
      cell: moment.pose.cell.join(" ")});
  }

  light(step) {
    const {told, latched} = this.film;
    const last = told.milestones.length - 1;
    refill(this.hops, told.milestones.map((milestone, i) => {
      const at = latched[milestone.id];
      const lit = at != null && at <= step;
      const needs = told.edges.filter(([, after]) => after === milestone.id);
      return el("li", {class: `hop${lit ? " lit" : ""}${at === step && step ? " now" : ""}`, "data-hop": milestone.id},
        el("span", {class: "lamp", "aria-hidden": "true"}, lit ? "★" : "☆"),
        el("div", null, el("strong", null, el("span", {class: "number"}, `${i + 1}.`), milestone.description),
          i === last ? el("span", {class: "badge accent"}, "goal") : null,
          el("span", {class: "unseen"}, lit ? " (reached)" : " (open)"),
          needs.map(([before, , reason]) => el("p", {class: "small muted"},
            `after ${1 + told.milestones.findIndex(({id}) => id === before)}: ${reason}`))),
        el("span", {class: "when mono"}, at == null ? "never" : el("button", {type: "button", class: "link",
          onclick: () => this.show(at)}, `step ${at}`)));
    }));
    const now = told.milestones.filter((milestone) => latched[milestone.id] === step && step);
    if (now.length) this.said.textContent = `Milestone reached: ${now.map(({description}) => description).join(", ")}`;
  }

  play() {
    if (this.timer) {
      this.pause();
      return;
    }
    if (this.step >= this.film.last) this.go(0);
    this.toggle.textContent = "Pause";
    const on = () => {
      if (this.step >= this.film.last) this.pause();
      else {
        this.go(this.step + 1);
        this.timer = setTimeout(on, 1000 / SPEEDS[this.speed]);
      }
    };
    this.timer = setTimeout(on, 1000 / SPEEDS[this.speed]);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.toggle.textContent = "Play";
  }

  setSpeed(speed) {
    this.speed = Math.max(0, Math.min(SPEEDS.length - 1, speed));
    this.pace.value = this.speed;
  }

  reveal(truth) {
    this.truth = truth;
    this.both.value = truth ? "truth" : "known";
    this.go(this.step);
  }

  key(event) {
    const {target, key} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("select, summary, a")) return;
    if (key === " " && target.matches("button")) return;
    if (target.matches("input[type=range]") && /^(Arrow|Home|End|Page)/.test(key)) return;
    const act = {
      " ": () => this.play(), ArrowRight: () => this.show(this.step + 1), ArrowLeft: () => this.show(this.step - 1),
      Home: () => this.show(0), End: () => this.show(this.film.last), t: () => this.reveal(!this.truth),
      "+": () => this.setSpeed(this.speed + 1), "=": () => this.setSpeed(this.speed + 1),
      "-": () => this.setSpeed(this.speed - 1),
    }[key.length === 1 ? key.toLowerCase() : key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  close() {
    this.pause();
    this.stage.close();
    this.element.remove();
  }
}
