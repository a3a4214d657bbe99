// The report: rates by hops, the table of episodes, and the player of the chosen one.

const ENDINGS = {
  goal: "goal reached", done: "gave up", lava: "fell into lava", max_steps: "ran out of steps", "": "failed",
};

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** A share with its interval, in words and as a bar. */
function rateCell({rate, low, high, good, total}) {
  const at = (share) => `${(100 * share).toFixed(1)}%`;
  return el("td", {class: "rate"},
    el("div", {class: "bar", "aria-hidden": "true"}, el("i", {class: "fill", style: `width:${at(rate)}`}),
      el("i", {class: "whisker", style: `left:${at(low)};width:${at(high - low)}`})),
    el("span", null, el("strong", null, percent(rate)),
      el("small", {class: "muted"}, ` ${good} of ${total}; ${percent(low)} to ${percent(high)}`)));
}

function ratesTable({model, rows}) {
  const head = ["Hops", "Episodes", "Scenes solved (TSR)", "Milestones reached (MSR)", "Mean steps"];
  return el("section", null, el("h2", null, model),
    el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": `Rates of ${model}`},
      el("table", {class: "rates"},
        el("thead", null, el("tr", null, head.map((name, i) =>
          el("th", {scope: "col", class: i === 2 || i === 3 ? null : "number"}, name)))),
        el("tbody", null, rows.map((row) => el("tr", {class: row.hops == null ? "all" : null},
          el("th", {scope: "row", class: "number"}, row.hops ?? "all"), el("td", {class: "number"}, row.tsr.total),
          rateCell(row.tsr), rateCell(row.msr), el("td", {class: "number"}, row.steps.toFixed(0)),
        ))))),
    rows.at(-1).refuted ? el("p", {class: "notice bad"},
      el("strong", null, `${plural(rows.at(-1).refuted, "episode")} refuted a certificate: `),
      "the goal latched before what was proven to be needed.") : null);
}

/** Lamps of an episode's milestones in the order of the scene. */
function lamps(row) {
  return el("span", {class: "lamps", role: "img", "aria-label": `${row.latched} of ${plural(row.hops, "milestone")}`},
    Array.from({length: row.hops}, (_, i) => el("i", {class: row.lit[i] ? "lit" : null})));
}

class Overview {
  constructor(report) {
    this.report = report;
    this.shown = report.episodes;
    this.player = null;
    this.holder = el("section", {class: "watched", id: "watched", "aria-live": "off"});
    this.body = el("tbody");
    this.filter = "";
  }

  view() {
    const {report} = this;
    const several = report.episodes.length > 1;
    const search = el("label", {class: "search"}, el("span", null, "Search"),
      el("input", {type: "search", placeholder: "scene, task or model", oninput: (event) => this.search(event)}));
    const heads = ["Task", "Agent", "Hops", "Milestones", "Steps", "Ended"];
    this.fill();
    return [
      report.rates.map(ratesTable),
      el("section", null, el("h2", null, "Episodes"), several && search,
        el("div", {class: "scroll list", tabindex: 0, role: "region", "aria-label": "Episodes"},
          el("table", {class: "episodes"}, el("thead", null, el("tr", null, heads.map((name) =>
            el("th", {scope: "col", class: ["Hops", "Steps"].includes(name) ? "number" : null}, name)))), this.body))),
      this.holder,
    ];
  }

  search(event) {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.report.episodes.filter((row) =>
      words.every((word) => `${row.scene} ${row.text} ${row.model}`.toLowerCase().includes(word)));
    this.fill();
  }

  fill() {
    refill(this.body, this.shown.map((row) => el("tr", {"data-episode": row.number},
      el("th", {scope: "row"}, row.film
        ? el("a", {href: `#/episode/${row.number}`}, row.text || row.scene)
        : [row.text || row.scene, el("p", {class: "small muted"}, row.why)],
      el("small", {class: "muted scene-name"}, row.scene)),
      el("td", null, row.model), el("td", {class: "number"}, row.hops), el("td", null, lamps(row)),
      el("td", {class: "number"}, row.steps),
      el("td", null, el("span", {class: `outcome ${row.solved ? "is-success" : "is-fail"}`},
        el("span", {class: "sign", "aria-hidden": "true"}, row.solved ? "✓" : "✗"),
        row.solved ? "solved" : ENDINGS[row.ended] ?? row.ended),
      row.refuted ? el("span", {class: "badge bad"}, "refutes the certificate") : null))));
  }

  /** Show the player of the episode that the address names, or else of the first one that can be played. */
  async follow(address, arrived) {
    const [, number, step] = /^#\/episode\/(\d+)(?:\?step=(\d+))?$/.exec(address) ?? [];
    const row = this.report.episodes.find((each) => each.number === Number(number) && each.film) ??
      this.report.episodes.find((each) => each.film);
    if (!row) return;
    const [look, told, episode] = await Promise.all(
      [piece("look"), piece(`scene/${row.place}`), piece(`episode/${row.number}`)]);
    const scene = await Scenery.load({...look, ...told});
    this.player?.close();
    this.player = new Player(new Film(scene, told, episode), Number(step ?? 0));
    const heading = el("h2", {tabindex: -1}, told.text || told.name);
    this.holder.replaceChildren(el("div", {class: "watched-head"}, heading,
      el("p", {class: "muted"}, row.model, `, ${plural(row.steps, "step")}, `,
        `${row.latched} of ${plural(row.hops, "milestone")}`)),
    this.player.element);
    for (const each of this.body.children) {
      each.toggleAttribute("aria-current", each.dataset.episode === String(row.number));
    }
    if (arrived) {
      heading.focus({preventScroll: true});
      this.holder.scrollIntoView({behavior: CALM.matches ? "auto" : "smooth", block: "start"});
    }
  }
}

/** The frame of all our pages: heading, colours, content. */
function pageFrame(title, program, ...content) {
  return [
    el("a", {class: "skip", href: "#main", onclick: (event) => {
      event.preventDefault();
      document.querySelector("main h1").focus();
    }}, "Skip to the content"),
    el("header", {class: "top"}, el("div", {class: "frame"}, el("span", {class: "brand"}, "explorer"), themeChoice())),
    el("main", {id: "main", class: "frame"}, el("h1", {tabindex: -1}, title), content),
    el("footer", {class: "frame"}, program),
  ];
}

async function openReport() {
  const app = document.getElementById("app");
  try {
    const report = await piece("report");
    const overview = new Overview(report);
    app.replaceChildren(...pageFrame(report.title, report.program, ...overview.view()));
    addEventListener("hashchange", () => overview.follow(location.hash, true));
    await overview.follow(location.hash, location.hash.startsWith("#/episode"));
  } catch (error) {
    app.append(el("div", {class: "notice bad", role: "alert"}, el("strong", null, "The page could not be shown: "),
      error.message));
  }
}
