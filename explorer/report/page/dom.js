// Elements and words. The page's scripts share one scope; texts become text nodes and never markup.

/**
 * @param {string} name of the element
 * @param {object|null} [given] attributes; `on…` are listeners, null and false are left out
 * @param {...(Node|string|number|null|false|Array)} children
 * @returns {HTMLElement}
 */
function el(name, given, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value == null || value === false) continue;
    if (key === "style") made.style.cssText = value; // as an attribute the page's policy would refuse it
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(2).filter((child) => child != null && child !== false).map(asNode));
  return made;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

const ICONS = {
  first: "M2 3h2v10H2zM14 3v10L5 8z", back: "M12 3v10L4 8z", on: "M4 3v10l8-5z", last: "M12 3h2v10h-2zM2 3v10l9-5z",
  "turn left": "M6 2v3h3a5 5 0 1 1-4.6 7l1.9-.8A3 3 0 1 0 9 7H6v3L2 6z",
  "turn right": "M10 2v3H7a5 5 0 1 0 4.6 7l-1.9-.8A3 3 0 1 1 7 7h3v3l4-4z",
  forward: "M8 2l5 6H9.5v6h-3V8H3z", behind: "M8 14l5-6H9.5V2h-3v6H3z", left: "M2 8l6-5v3.5h6v3H8V13z",
  right: "M14 8L8 3v3.5H2v3h6V13z",
};

/** @param {string} name of {@link ICONS} @returns {SVGElement} */
function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  for (const [key, value] of Object.entries({viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true"})) {
    drawing.setAttribute(key, value);
  }
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill", "currentColor");
  drawing.append(path);
  return drawing;
}

/**
 * Put other children into an element, if they read otherwise than those that are there. Who had the focus keeps it, if
 * one of the new ones has the same `data-` name.
 */
function refill(element, ...children) {
  const next = children.flat(2).filter((child) => child != null && child !== false).map(asNode);
  const now = element.childNodes;
  if (next.length === now.length && next.every((node, i) => node.isEqualNode(now[i]))) return;
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const [key, value] = Object.entries(focused?.dataset ?? {})[0] ?? [];
  element.replaceChildren(...next);
  if (key) element.querySelector(`[data-${key}="${CSS.escape(value)}"]`)?.focus({preventScroll: true});
}

/** @param {string} text of a name as the rules write it @returns {string} `iron_door` → `iron door` */
function spaced(text) {
  return text.replace(/^minecraft:/, "").replaceAll("_", " ");
}

/** @param {number} n @param {string} one @param {string} [many] @returns {string} "1 step", "2 steps" */
function plural(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
}

/** @param {string} text base64 of gzip of JSON @returns {Promise<any>} */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const loaded = new Map();

/** @param {string} name of a piece that the page carries @returns {Promise<any>} */
function piece(name) {
  if (!loaded.has(name)) {
    const found = document.querySelector(`script[data-piece="${CSS.escape(name)}"]`);
    loaded.set(name, found ? unpacked(found.textContent) : Promise.reject(new Error(`the page has no piece ${name}`)));
  }
  return loaded.get(name);
}

/** @returns {Uint16Array} of [value, times, value, times, …] */
function unrolled(runs, length) {
  const made = new Uint16Array(length);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    made.fill(runs[i], at, at + runs[i + 1]);
    at += runs[i + 1];
  }
  return made;
}

const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const THEMES = ["auto", "light", "dark"];

/** The choice between the system's colours, light and dark; remembered if the browser permits. */
function themeChoice() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "auto";
  try {
    chosen = THEMES.find((theme) => theme === localStorage.getItem("theme")) ?? "auto";
  } catch {
    // pages from disk may have no storage
  }
  const apply = () => {
    document.documentElement.dataset.theme = chosen === "auto" ? (system.matches ? "dark" : "light") : chosen;
    dispatchEvent(new Event("themechange"));
  };
  const choose = (event) => {
    chosen = event.target.value;
    try {
      localStorage.setItem("theme", chosen);
    } catch {
      // then the choice lasts until the page is closed
    }
    apply();
  };
  system.addEventListener("change", apply);
  apply();
  return el("label", {class: "theme"}, el("span", null, "Colours"),
    el("select", {onchange: choose}, THEMES.map((theme) =>
      el("option", {value: theme, selected: theme === chosen}, theme))));
}
