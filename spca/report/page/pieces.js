// The parts of a report. In a file they lie in the page, packed; a live page asks its server for them.

const PIECES_KEPT = 12;
const RETRY_MS = 3000;
const live = document.body.hasAttribute("data-live");

/** @param {string} text base64 of gzip of JSON @returns {Promise<any>} */
async function unpack(text) {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack the report");
  const packed = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** Texts name their lines by number, because most lines are in many texts. */
function unfolded({value, lines}) {
  for (const text of Object.values(value.texts ?? value)) {
    if (Array.isArray(text?.lines)) text.lines = text.lines.map((number) => lines[number]);
  }
  return value;
}

async function fromPage(name) {
  const found = document.querySelector(`script[data-piece="${CSS.escape(name)}"]`);
  if (!found) throw new Error(`the report has no piece ${name}`);
  return unfolded(await unpack(found.textContent));
}

async function fromServer(name) {
  const answer = await fetch(`piece/${name}`, {cache: "no-store"});
  if (answer.ok) return unfolded(await answer.json());
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.error ?? `the server answered ${answer.status}`);
}

/** Names of pieces -> promises of their values, the least recently used first. */
const kept = new Map();

/** Loads pieces and remembers a few of them; a live page forgets all of them with every change. */
const pieces = {
  /** @param {string} name @returns {Promise<any>} rejected with an Error that says why */
  load(name) {
    const promise = kept.get(name) ?? (live ? fromServer(name) : fromPage(name));
    kept.delete(name);
    kept.set(name, promise);
    promise.catch(() => kept.get(name) === promise && kept.delete(name));
    if (kept.size > PIECES_KEPT) kept.delete(kept.keys().next().value);
    return promise;
  },

  /**
   * @param {() => void} changed called when the server has something new
   * @param {(connection: "open"|"lost") => void} connected called when the connection comes and goes
   * @returns {() => void} ends it
   */
  listen(changed, connected) {
    if (!live) return () => {};
    let source = null;
    let timer = 0;
    let lost = false;
    const forget = () => {
      kept.clear();
      changed();
    };
    const open = () => {
      source = new EventSource("events");
      source.addEventListener("change", forget);
      source.addEventListener("open", () => {
        connected("open");
        if (lost) forget();
        lost = false;
      });
      source.addEventListener("error", () => {
        lost = true;
        connected("lost");
        // The browser itself tries again after a broken connection, but not after an answer that is an error.
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS);
      });
    };
    open();
    return () => {
      clearTimeout(timer);
      source.close();
    };
  },
};

/** @returns {Promise<[object, object]>} a level, and the texts that several levels of its run use */
function loadLevel(k, n) {
  return Promise.all([`run/${k}/level/${n}`, `run/${k}/texts`].map((name) => pieces.load(name)));
}
