// The stage: first person and map side by side, one camera that glides from pose to pose.

const GLIDE_MS = 150;
const EYE_HEIGHT = 1.62;
const PITCH_STEP = Math.PI / 6;

/** @returns {{eye: number[], yaw: number, pitch: number}} the eye and direction of a pose */
function cameraOf(pose) {
  const [x, y, z] = pose.cell;
  return {eye: [x + 0.5, y + EYE_HEIGHT, z + 0.5], yaw: (pose.facing * Math.PI) / 2, pitch: pose.pitch * PITCH_STEP};
}

/** The cell that a pose aims at, or null. */
function aimedAt(pose) {
  return pose.aim ? pose.cell.map((part, i) => part + pose.aim[i]) : null;
}

/** Both views of one scene. */
class Stage {
  /** @param {Scenery} scene @param {string} hint text to show while the pointer is on nothing */
  constructor(scene, hint = "") {
    Object.assign(this, {scene, hint});
    this.first = el("canvas", {class: "first", role: "img", "aria-label": "First person", tabindex: -1});
    this.above = el("canvas", {class: "above", role: "img", "aria-label": "Map from above"});
    this.pointed = el("p", {class: "pointed small muted"}, hint);
    this.noGraphics = el("p", {class: "no-graphics", hidden: true},
      "This browser draws no WebGL 2, so there is the map only.");
    this.element = el("div", {class: "stage"},
      el("figure", {class: "first-person"}, el("figcaption", null, "First person"),
        el("div", {class: "window"}, this.first, el("div", {class: "crosshair", "aria-hidden": "true"}),
          this.noGraphics)),
      el("figure", {class: "from-above"}, el("figcaption", null, "From above"), this.above));
    this.map = new MapView(this.above, scene);
    this.voxels = voxelsOn(this.first, scene);
    this.noGraphics.hidden = Boolean(this.voxels);
    this.camera = null;
    this.moment = null;
    this.hovered = null;
    this.listen();
  }

  listen() {
    const again = () => this.moment && this.paint();
    this.watch = new ResizeObserver(again);
    this.watch.observe(this.element);
    this.closing = new AbortController();
    addEventListener("themechange", again, {signal: this.closing.signal});
    this.first.addEventListener("pointermove", (event) => this.hover(this.pick(event)));
    this.first.addEventListener("pointerleave", () => this.hover(null));
    this.first.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.voxels = null;
      this.noGraphics.hidden = false;
    });
    this.above.addEventListener("pointermove", (event) => this.hover(this.columnTop(this.map.columnAt(event))));
    this.above.addEventListener("pointerleave", () => this.hover(null));
  }

  /** Release the page and the graphics card, which has room for only a few stages. */
  close() {
    this.watch.disconnect();
    this.closing.abort();
    this.gliding = null;
    this.voxels?.gl.getExtension("WEBGL_lose_context")?.loseContext();
    this.voxels = null;
  }

  /** Show a moment; the camera glides there unless it is far away or the reader prefers reduced motion. */
  show(moment) {
    const far = !this.moment || Math.hypot(...moment.pose.cell.map((n, i) => n - this.moment.pose.cell[i])) > 4;
    this.moment = moment;
    this.voxels?.fill(moment.blocks, this.scene.standing(moment.things));
    const goal = cameraOf(moment.pose);
    if (far || CALM.matches || !this.voxels || this.voxels.scale < 0.6) {
      this.camera = goal;
      this.paint();
      return;
    }
    this.glide(this.camera, goal);
  }

  glide(from, goal) {
    const began = performance.now();
    const turn = Math.atan2(Math.sin(goal.yaw - from.yaw), Math.cos(goal.yaw - from.yaw));
    const mine = (this.gliding = Symbol("glide"));
    let before = began;
    const frame = (now) => {
      if (this.gliding !== mine) return;
      this.voxels?.pace(now - before);
      before = now;
      const share = Math.min(1, Math.max(0, (now - began) / GLIDE_MS));
      const eased = share * share * (3 - 2 * share);
      this.camera = share === 1 ? goal : {
        eye: from.eye.map((part, i) => part + eased * (goal.eye[i] - part)),
        yaw: from.yaw + eased * turn, pitch: from.pitch + eased * (goal.pitch - from.pitch),
      };
      this.paint();
      if (share < 1) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  paint() {
    const chosen = this.hovered ?? aimedAt(this.moment.pose);
    this.voxels?.draw(this.camera, chosen);
    this.map.draw(this.moment, chosen);
  }

  /** @returns {{cell: number[], far: number, what: string, thing: object|null}|null} what the pointer is on */
  pick(event) {
    if (!this.moment) return null;
    const {clientWidth, clientHeight} = this.first;
    const x = (event.offsetX / clientWidth) * 2 - 1;
    const y = 1 - (event.offsetY / clientHeight) * 2;
    const ray = rayThrough(this.camera, x, y, clientWidth / clientHeight);
    for (const {cell, far} of crossed(this.camera.eye, ray, 40)) {
      const number = this.scene.number(cell);
      if (number < 0) return null;
      const index = this.moment.blocks[number];
      const {shape} = this.scene.looks[index];
      if (shape === SHAPES.unseen) return null;
      const thing = this.moment.things.find((each) => this.fills(each, number));
      if (thing) return {cell: thing.cell, far, what: spaced(thing.kind), thing};
      if (shape !== SHAPES.none && far > 0) return {cell, far, what: this.scene.words(index), thing: null};
    }
    return null;
  }

  /** Whether a thing is in a cell; a tall one is also in the cell above its own. */
  fills(thing, number) {
    const [x, y, z] = thing.cell;
    return this.scene.number(thing.cell) === number || (thing.tall && this.scene.number([x, y + 1, z]) === number);
  }

  columnTop(column) {
    if (!column || !this.moment) return null;
    const [x, z] = column;
    for (let y = Math.min(this.moment.pose.cell[1] + 1, this.scene.size[1] - 1); y >= 0; y--) {
      const cell = [x, y, z];
      const index = this.moment.blocks[this.scene.number(cell)];
      const thing = this.moment.things.find((each) => each.cell.every((n, i) => n === cell[i]));
      if (thing) return {cell, what: spaced(thing.kind), thing};
      if (![SHAPES.none, SHAPES.unseen].includes(this.scene.looks[index].shape)) {
        return {cell, what: this.scene.words(index), thing: null};
      }
    }
    return null;
  }

  hover(found) {
    const before = this.hovered;
    this.hovered = found?.cell ?? null;
    const at = found?.cell.map((n, i) => n - this.scene.spawn[i]).join(", ");
    const far = found?.far === undefined ? "" : `, ${found.far.toFixed(1)} m away`;
    this.pointed.textContent = found ? `${found.what} at ${at}${far}` : this.hint;
    if (String(before) !== String(this.hovered) && this.moment) this.paint();
  }
}

function voxelsOn(canvas, scene) {
  try {
    return Voxels.on(canvas, scene);
  } catch (error) {
    console.info(`no first person: ${error.message}`);
    return null;
  }
}
