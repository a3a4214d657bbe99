// Keys in play: physical key -> primitive, whatever the keyboard layout.

const KEY_DEEDS = {
  ArrowUp: "forward", KeyW: "forward", ArrowDown: "back", KeyS: "back", KeyA: "left", KeyD: "right",
  ArrowLeft: "turn_left", ArrowRight: "turn_right", KeyQ: "turn_left", KeyE: "turn_right", Space: "jump",
  KeyR: "look_up", KeyF: "look_down", PageUp: "look_up", PageDown: "look_down", KeyU: "use", KeyX: "dig",
  KeyK: "attack", KeyP: "place", KeyB: "place_ahead", KeyV: "place_below", KeyG: "drop", Period: "wait",
};

const KEY_HELP = [
  ["W A S D", "walk"], ["Q E", "turn"], ["↑ ↓ ← →", "walk and turn"], ["Space", "jump"],
  ["R F", "look up, down"], ["Click", "use, dig, attack or aim"], ["Right click", "place what is in hand"],
  ["U", "use"], ["X", "dig"], ["K", "attack"], ["P", "place"], ["B", "bridge: a block before your feet"],
  ["V", "pillar: a block under you"],
  ["G", "drop"], [".", "wait"], ["1 … 9", "take in hand"],
];

/** Buttons for people without a keyboard: primitives, and drawings or words for them. */
const PAD = [
  {deed: "turn_left", icon: "M6 2v3h3a5 5 0 1 1-4.6 7l1.9-.8A3 3 0 1 0 9 7H6v3L2 6z"},
  {deed: "forward", icon: "M8 2l5 6H9.5v6h-3V8H3z"},
  {deed: "turn_right", icon: "M10 2v3H7a5 5 0 1 0 4.6 7l-1.9-.8A3 3 0 1 1 7 7h3v3l4-4z"},
  {deed: "left", icon: "M2 8l6-5v3.5h6v3H8V13z"},
  {deed: "back", icon: "M8 14l5-6H9.5V2h-3v6H3z"},
  {deed: "right", icon: "M14 8L8 3v3.5H2v3h6V13z"},
  {deed: "jump"}, {deed: "look_up"}, {deed: "look_down"}, {deed: "use"}, {deed: "dig"}, {deed: "attack"},
  {deed: "place"}, {deed: "place_ahead", word: "bridge"}, {deed: "place_below", word: "pillar"}, {deed: "drop"},
  {deed: "wait"},
];
