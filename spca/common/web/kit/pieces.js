// The data of a page. A file carries it, packed; a page that connects asks its server for it.

const POLL_MS = 1000;
const connects = document.body.hasAttribute("data-connects");

/** Characters that control a terminal, change the direction of writing or show nothing: spca.common.text.visible. */
const HIDDEN = new RegExp("(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4" +
  "\\u17b5\\u180b-\\u180f\\u2800\\u3164\\ufe00-\\ufe0d\\uffa0\\u{e0100}-\\u{e01ef}]", "gu");

function visible(text) {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, (character) => {
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Spell out the hidden characters of a text, or of the names in an object. */
function spellOut(_, each) {
  if (typeof each === "string") return visible(each);
  if (each?.constructor !== Object || !Object.keys(each).some((name) => visible(name) !== name)) return each;
  return Object.fromEntries(Object.entries(each).map(([name, value]) => [visible(name), value]));
}

/** @param {string} json of a piece @returns {any} its value: hidden characters spelled out, texts with their lines */
function unpack(json) {
  const {value, lines} = JSON.parse(json, spellOut);
  for (const text of Object.values(value?.texts ?? value ?? {})) {
    if (text?.language && Array.isArray(text.lines)) text.lines = text.lines.map((number) => lines[number]);
  }
  return value;
}

async function readFromServer(name, request = {}) {
  const answer = await fetch(name, {cache: "no-store", ...request});
  if (answer.ok) return unpack(await answer.text());
  const refused = await answer.json().catch(() => ({}));
  throw new Error(refused.error ?? `the server answered ${answer.status}`);
}

/** Largest number of pieces that are kept unpacked; what is opened again after many others is unpacked again. */
const MAX_KEPT = 60;
/** Names of pieces -> promises of their values; the one asked for last comes last. */
const keptPieces = new Map();

/** @param {string} name @returns {Promise<any>} the value of a piece; rejected with an Error that says why */
function loadPiece(name) {
  const inPage = document.querySelector(`script[data-piece="${CSS.escape(name)}"]`);
  const read = () => (connects && !inPage ? readFromServer(`piece/${name}`) : unzip(name).then(unpack));
  const promise = keptPieces.get(name) ?? read();
  keptPieces.delete(name);
  keptPieces.set(name, promise);
  if (keptPieces.size > MAX_KEPT) keptPieces.delete(keptPieces.keys().next().value);
  promise.catch(() => keptPieces.get(name) === promise && keptPieces.delete(name));
  return promise;
}

/**
 * Ask the server again and again whether it has something new.
 *
 * @param {() => void} changed called when it has; all pieces are forgotten by then
 * @param {(isOpen: boolean) => void} connected called after each question
 * @returns {() => void} ends it
 */
function followServer(changed, connected) {
  let version = null;
  let timer = 0;
  const ask = async () => {
    const answer = await fetch("version", {cache: "no-store"}).then((found) => (found.ok ? found.text() : null),
      () => null);
    connected(answer !== null);
    if (answer !== null && version !== null && answer !== version) {
      keptPieces.clear();
      changed();
    }
    version = answer ?? version;
    timer = setTimeout(ask, POLL_MS);
  };
  ask();
  return () => clearTimeout(timer);
}

/** @param {string[]} names of pieces @param {any} again changes when they must be loaded again
 *  @returns {{values: any[]|null, error: string}} the pieces, once they are there */
function usePieces(names, again = "") {
  const [state, setState] = useState({values: null, error: ""});
  useEffect(() => {
    let wanted = true;
    Promise.all(names.map(loadPiece)).then(
      (values) => wanted && setState({values, error: ""}),
      (error) => wanted && setState((now) => ({...now, error: error.message})),
    );
    return () => {
      wanted = false;
    };
  }, [names.join(), again]);
  return state;
}
