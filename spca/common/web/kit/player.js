// The player: an episode step by step, worked by buttons, slider, keys and the address.

const SPEEDS = [1, 2, 4, 8, 16, 32];
const FIRST_SPEED = 2;
const REMEMBER_MS = 300;

const ICONS = {
  first: "M2 3h2v10H2zM14 3v10L5 8z",
  back: "M12 3v10L4 8z",
  on: "M4 3v10l8-5z",
  last: "M12 3h2v10h-2zM2 3v10l9-5z",
};

/** @param {string} path of a drawing of 16 by 16 */
function Icon({path}) {
  return h("svg", {viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true"},
    h("path", {d: path, fill: "currentColor"}));
}

/**
 * @param {{label: string, last: number, route: object, marks?: number[], tools?: any, keys?: object, dataOf?: (step:
 * number)
 *   => object, sayStep: (step: number) => string, stage: (step: number) => any, side: (step: number, show: (step:
 * number) => void) => any}} props
 *   `marks` are steps to be seen on the slider, `keys` more keys and what they do, `dataOf` what tests may read
 */
function Player({label, last, route, marks = [], tools, keys = {}, dataOf, sayStep, stage, side}) {
  const box = useRef(null);
  const playback = usePlayback(last, route, box);
  const {step, playing, show} = playback;
  useKeys(playback, keys);
  return h("div", {class: "player", id: "player", ref: box, tabIndex: 0, role: "group", "aria-label": label,
    onKeyDown: (event) => playByKey(event, playback, keys), "data-step": step, "data-steps": last, ...dataOf?.(step)},
  h("div", {class: "player-stage"},
    stage(step),
    h(Controls, {playback, last, marks, tools, said: sayStep(step)}),
    h("p", {class: "unseen", "aria-live": "polite"}, playing ? "" : sayStep(step))),
  h("div", {class: "player-side"}, side(step, show)));
}

/** The step that is shown. The address decides whenever it is changed from outside, and follows otherwise. */
function usePlayback(last, route, box) {
  const within = (n) => Math.max(0, Math.min(last, n));
  const [step, setStep] = useState(within(route.step ?? 0));
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(FIRST_SPEED);
  const known = useRef(null); // the step that the address had last, as far as the player knows
  const show = (n) => {
    setPlaying(false);
    setStep(within(n));
  };

  useEffect(() => {
    const isBackHere = known.current === null && route.now.current.isBack;
    if (route.step === null || route.step === known.current) return;
    known.current = route.step;
    show(route.step);
    if (isBackHere) return;
    box.current.focus({preventScroll: true});
    box.current.scrollIntoView({block: "start"});
  }, [route.step]);

  useEffect(() => {
    if (step === (known.current ?? 0)) return undefined;
    const write = () => {
      known.current = step;
      route.choose({step: String(step)});
    };
    const timer = setTimeout(write, REMEMBER_MS);
    return () => clearTimeout(timer);
  }, [step]);

  useEffect(() => {
    if (!playing) return undefined;
    if (step >= last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => setStep(within(step + 1)), 1000 / SPEEDS[speed]);
    return () => clearTimeout(timer);
  }, [playing, step, speed, last]);

  const toggle = () => {
    if (!playing && step >= last) setStep(0);
    setPlaying(!playing && last > 0);
  };
  const changeSpeed = (to) => setSpeed(Math.max(0, Math.min(SPEEDS.length - 1, to)));
  return {step, last, playing, speed, show, toggle, changeSpeed};
}

/** The keys of the player work all over the page, but not where the focus is on something that has keys of its own. */
function useKeys(playback, keys) {
  const now = useRef(null);
  now.current = [playback, keys];
  useEffect(() => {
    const listen = (event) => {
      if (event.defaultPrevented || (event.shiftKey && event.key !== "+")) return;
      if (event.target.closest("#player, a, button, summary, input, select, textarea, [tabindex='0']")) return;
      playByKey(event, ...now.current);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

/** Keys of the player; those that the focused control itself needs are left to it. */
function playByKey(event, {step, last, speed, show, toggle, changeSpeed}, keys) {
  const {target, key} = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("input:not([type=range]), select, textarea")) return;
  if (key === " " && target.matches("button, summary, a")) return;
  if (target.matches("input[type=range]") && /^(Arrow|Home|End|Page)/.test(key)) return;
  if (target.matches(".code, .plan-list") && /^(Home|End|Page|ArrowUp|ArrowDown)/.test(key)) return;
  const act = {
    " ": toggle,
    k: toggle,
    ArrowRight: () => show(step + 1),
    ArrowLeft: () => show(step - 1),
    Home: () => show(0),
    End: () => show(last),
    "+": () => changeSpeed(speed + 1),
    "=": () => changeSpeed(speed + 1),
    "-": () => changeSpeed(speed - 1),
    ...keys,
  }[key.length === 1 ? key.toLowerCase() : key];
  if (!act) return;
  event.preventDefault();
  act();
}

function Controls({playback, last, marks, tools, said}) {
  const {step, playing, speed, show, toggle, changeSpeed} = playback;
  const button = (label, icon, to) =>
    h(Button, {label, can: to !== step && to >= 0 && to <= last, act: () => show(to)}, h(Icon, {path: ICONS[icon]}));
  return h("div", {class: "controls"},
    h("div", {class: "buttons"},
      button("First step (Home)", "first", 0),
      button("One step back (left arrow)", "back", step - 1),
      h(Button, {class: "play", title: "Space or K", can: last > 0, act: toggle}, playing ? "Pause" : "Play"),
      button("One step on (right arrow)", "on", step + 1),
      button("Last step (End)", "last", last)),
    h("div", {class: "scrub"},
      h("input", {type: "range", min: 0, max: last, step: 1, value: step, disabled: last === 0, "aria-label": "Step",
        "aria-valuetext": said, onInput: (event) => show(Number(event.target.value))}),
      marks.map((at) => h("i", {key: at, class: "mark-at", "aria-hidden": "true",
        style: {left: `${(100 * at) / Math.max(1, last)}%`}}))),
    h("output", {class: "mono"}, `${step} / ${last}`),
    h(Select, {name: "Speed", options: SPEEDS.map((n, i) => [i, `${n} steps/s`]), chosen: speed,
      choose: (value) => changeSpeed(Number(value))}),
    tools);
}

/** The actions of a plan, or what else an episode consists of; the present one is kept in view. */
function ActionList({title, actions, at, begins, show}) {
  const list = useRef(null);
  useLayoutEffect(() => {
    const item = list.current?.querySelector("[aria-current]");
    if (item) list.current.scrollTop = item.offsetTop - list.current.offsetTop - list.current.clientHeight / 3;
  }, [at]);
  return h("section", {class: "plan"},
    h("h3", null, title),
    h("ol", {class: "plan-list", ref: list}, actions.map((action, i) => h("li", {key: i},
      h(Button, {class: "action mono", can: begins.has(i), act: () => show(begins.get(i)),
        "aria-current": i === at ? "step" : undefined}, action)))));
}

/** @returns {Map<number, number>} value -> the first step that has it; the step before all has none */
function firstSteps(values) {
  const first = new Map();
  values.forEach((value, i) => first.has(value) || first.set(value, i + 1));
  return first;
}
