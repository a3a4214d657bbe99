// Keys in play: physical key -> primitive, whatever the keyboard layout.

const KEY_DEEDS = {
  ArrowUp: "forward", KeyW: "forward", ArrowDown: "back", KeyS: "back", KeyA: "left", KeyD: "right",
  ArrowLeft: "turn_left", ArrowRight: "turn_right", KeyQ: "turn_left", KeyE: "turn_right", Space: "jump",
  KeyR: "look_up", KeyF: "look_down", PageUp: "look_up", PageDown: "look_down", KeyU: "use", KeyX: "dig",
  KeyK: "attack", KeyP: "place", KeyB: "place_ahead", KeyV: "place_below", KeyG: "drop", Period: "wait",
};

const KEY_HELP = [
  [["W", "A", "S", "D"], "walk"], [["Q", "E"], "turn"], [["↑", "↓", "←", "→"], "walk and turn"], [["Space"], "jump"],
  [["R", "F"], "look up, down"], [["click"], "use, dig, attack or aim"], [["right click"], "place what is in hand"],
  [["U"], "use"], [["X"], "dig"], [["K"], "attack"], [["P"], "place"],
  [["B"], "bridge: a block before your feet"], [["V"], "pillar: a block under you"],
  [["G"], "drop"], [["."], "wait"], [["1", "…", "9"], "take in hand"],
];

/** The collapsed list of keys. */
function keyHelp() {
  return el("details", {class: "key-help"}, el("summary", null, "Keys and mouse"),
    el("dl", null, KEY_HELP.map(([keys, what]) => el("div", null,
      el("dt", null, keys.map((key) => el("kbd", null, key))), el("dd", null, what)))));
}
