// A replayed episode: the true blocks and things, and what was known of them, at every step.

/** Reads an episode's changes; each step's state is built from the start, which takes a millisecond or two. */
class Film {
  /** @param {Scenery} scene @param {object} told of the scene @param {object} episode */
  constructor(scene, told, episode) {
    Object.assign(this, {scene, told, episode});
    this.last = episode.deeds.length;
    this.start = unrolled(told.start, scene.cells);
    this.seen = unrolled(episode.seen, scene.cells);
  }

  /** @param {number} step @param {boolean} truth the true state, or only what the agent knew */
  at(step, truth) {
    const {episode, scene} = this;
    const blocks = this.start.slice();
    for (const [when, number, look] of episode.truth) {
      if (when > step) break;
      blocks[number] = look;
    }
    if (!truth) {
      this.seen.forEach((first, number) => {
        if (first === 0 || first > step + 1) blocks[number] = 0;
      });
      for (const [when, number, look] of episode.known) {
        if (when > step) break;
        blocks[number] = look;
      }
    }
    const things = episode.things.filter(({from, to, seen}) => step < to && step >= (truth ? from : seen));
    return {
      step, blocks, things: things.map((thing) => ({...thing, cell: scene.cell(thing.cell)})),
      pose: this.pose(step), trail: this.trail(step), inventory: amounts(episode.inventory, step),
      held: latest(episode.held, step, ""), ...this.deed(step),
    };
  }

  pose(step) {
    const [x, y, z, facing, pitch, ...aim] = this.episode.poses[step];
    return {cell: [x, y, z], facing, pitch, aim: aim.length ? aim : null};
  }

  trail(step) {
    return this.episode.poses.slice(0, step + 1).map(([x, y, z]) => [x, y, z]);
  }

  /** The deed that led to a step. */
  deed(step) {
    const {deeds, words} = this.episode;
    if (!step) return {deed: "", reason: ""};
    const [deed, reason] = deeds[step - 1];
    return {deed: words[deed], reason: words[reason]};
  }

  /** Steps at which a milestone latched: id → step. */
  get latched() {
    return this.episode.latched;
  }
}

function amounts(changes, step) {
  const made = new Map();
  for (const [when, item, count] of changes) {
    if (when > step) break;
    if (count) made.set(item, count);
    else made.delete(item);
  }
  return [...made];
}

function latest(changes, step, otherwise) {
  let found = otherwise;
  for (const [when, value] of changes) {
    if (when > step) break;
    found = value;
  }
  return found;
}
