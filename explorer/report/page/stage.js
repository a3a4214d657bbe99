// The stage: first person and map side by side, one camera that glides from pose to pose.

const GLIDE_MS = 150;
const EYE_HEIGHT = 1.62;
const PITCH_STEP = Math.PI / 6;
const REACH = 40;

/** @returns {{eye: number[], yaw: number, pitch: number}} the eye and direction of a pose */
function cameraOf({cell: [x, y, z], facing, pitch}) {
  return {eye: [x + 0.5, y + EYE_HEIGHT, z + 0.5], yaw: (facing * Math.PI) / 2, pitch: pitch * PITCH_STEP};
}

/** Draws both views of one scene while they are in sight. */
class Stage {
  /** @param {HTMLElement} element with two canvases @param {Scenery} scene */
  constructor(element, scene) {
    [this.first, this.above] = element.querySelectorAll("canvas");
    Object.assign(this, {scene, camera: null, sight: null, pointed: null, isInView: true});
    this.map = new MapView(this.above, scene);
    this.voxels = voxelsOn(this.first, scene);
    this.closing = new AbortController();
    addEventListener("themechange", () => this.paint(), {signal: this.closing.signal});
    addEventListener("beforeprint", () => this.paint(true), {signal: this.closing.signal});
    this.sizes = new ResizeObserver(() => this.paint());
    this.sizes.observe(element);
    this.views = new IntersectionObserver((entries) => {
      this.isInView = entries.at(-1).isIntersecting;
      this.paint();
    });
    this.views.observe(element);
  }

  /** Release the page and the graphics card, which has room for only a few stages. */
  close() {
    this.sizes.disconnect();
    this.views.disconnect();
    this.closing.abort();
    cancelAnimationFrame(this.gliding);
    this.voxels?.gl.getExtension("WEBGL_lose_context")?.loseContext();
    this.voxels = null;
  }

  /**
   * Show what is seen; the camera glides there unless it is far away or the reader prefers reduced motion.
   *
   * @param {object} sight blocks, things, pose, trail
   */
  show(sight) {
    const goal = cameraOf(sight.pose);
    const isNear = this.camera && Math.hypot(...goal.eye.map((n, i) => n - this.camera.eye[i])) < 4;
    this.sight = sight;
    this.voxels?.fill(sight.blocks, this.scene.standing(sight.things));
    cancelAnimationFrame(this.gliding);
    if (isNear && !CALM.matches && this.voxels?.scale > 0.6) {
      this.glide(this.camera, goal);
      return;
    }
    this.camera = goal;
    this.paint();
  }

  glide(from, goal) {
    const began = performance.now();
    const turn = Math.atan2(Math.sin(goal.yaw - from.yaw), Math.cos(goal.yaw - from.yaw));
    let before = began;
    const drawFrame = (now) => {
      this.voxels?.pace(now - before);
      before = now;
      const share = Math.min(1, Math.max(0, (now - began) / GLIDE_MS));
      const eased = share * share * (3 - 2 * share);
      this.camera = {
        eye: from.eye.map((part, i) => part + eased * (goal.eye[i] - part)),
        yaw: from.yaw + eased * turn,
        pitch: from.pitch + eased * (goal.pitch - from.pitch),
      };
      this.paint();
      if (share < 1) this.gliding = requestAnimationFrame(drawFrame);
    };
    this.gliding = requestAnimationFrame(drawFrame);
  }

  /** Outline a cell, or what the agent aims at. @param {number[]|null} cell */
  point(cell) {
    this.pointed = cell;
    this.paint();
  }

  paint(always = false) {
    if (!this.sight || !(this.isInView || always)) return;
    const chosen = this.pointed ?? this.sight.pose.aim;
    this.voxels?.draw(this.camera, chosen);
    this.map.draw(this.sight, chosen);
  }

  /** @returns {{cell: number[], what: string, far: number}|null} what a pointer in first person is on */
  pick(event) {
    const {clientWidth, clientHeight} = this.first;
    const x = (event.offsetX / clientWidth) * 2 - 1;
    const y = 1 - (event.offsetY / clientHeight) * 2;
    const ray = rayThrough(this.camera, x, y, clientWidth / clientHeight);
    for (const {cell, far} of crossCells(this.camera.eye, ray, REACH)) {
      if (this.lookAt(cell).shape === SHAPES.unseen) return null;
      const found = this.find(cell, far > 0);
      if (found) return {...found, far};
    }
    return null;
  }

  /** @returns {{cell: number[], what: string}|null} what a pointer on the map is on */
  pickAbove(event) {
    const column = this.map.columnAt(event);
    for (let y = this.sight.pose.cell[1] + 1; column && y >= 0; y--) {
      const found = this.find([column[0], y, column[1]], true);
      if (found) return found;
    }
    return null;
  }

  /** What is in a cell: a thing, or a block if those count. */
  find(cell, blocksCount) {
    const thing = this.sight.things.find((each) => fills(each, cell));
    if (thing) return {cell: thing.cell, what: spaced(thing.kind)};
    const look = this.lookAt(cell);
    return blocksCount && isDrawn(look) ? {cell, what: this.scene.words(look)} : null;
  }

  /** The look of a cell; cells outside are unseen. */
  lookAt(cell) {
    return this.scene.looks[this.sight.blocks[this.scene.number(cell)] ?? 0];
  }
}

/** Whether a thing is in a cell; a tall one is also in the cell above its own. */
function fills({cell: [x, y, z], tall}, at) {
  return at[0] === x && at[2] === z && (at[1] === y || (tall && at[1] === y + 1));
}

/**
 * Both views, and in words what the pointer is on.
 *
 * @param {{scene: Scenery, sight: object, hint?: string, pointed?: object|null, touch?: (found: object|null, place:
 *   boolean) => void}} props `hint` while the pointer is on nothing, `pointed` what it is on elsewhere, `touch` for
 *   clicks on the picture, of the other button to `place`
 */
function StageView({scene, sight, hint, pointed, touch}) {
  const box = useRef(null);
  const stage = useRef(null);
  const [found, setFound] = useState(null);
  const [isLost, setLost] = useState(false);
  const shown = found ?? pointed;
  useLayoutEffect(() => {
    stage.current = new Stage(box.current, scene);
    setLost(!stage.current.voxels);
    return () => stage.current.close();
  }, [scene]);
  useLayoutEffect(() => {
    stage.current.show(sight);
    setFound(null); // what the pointer was on has moved with the step
  }, [sight]);
  useLayoutEffect(() => stage.current.point(shown?.cell ?? null), [String(shown?.cell)]);

  const click = (event, place) => {
    event.preventDefault();
    touch(stage.current.pick(event), place);
  };
  return h(Fragment, null,
    h("div", {class: "stage", ref: box},
      h("figure", null,
        h("figcaption", null, "First person"),
        h("div", {class: "window"},
          h("canvas", {class: "first", role: "img", "aria-label": "First person",
            onPointerMove: (event) => setFound(stage.current.pick(event)),
            onPointerLeave: () => setFound(null),
            onwebglcontextlost: () => setLost(true),
            onClick: touch && ((event) => click(event, false)),
            onContextMenu: touch && ((event) => click(event, true))}),
          h("div", {class: "crosshair", "aria-hidden": "true"}),
          isLost && h("p", {class: "no-graphics"}, "This browser draws no WebGL 2, so there is the map only."))),
      h("figure", null,
        h("figcaption", null, "From above"),
        h("canvas", {class: "above", role: "img", "aria-label": "Map from above",
          onPointerMove: (event) => setFound(stage.current.pickAbove(event)),
          onPointerLeave: () => setFound(null)}))),
    h("p", {class: "pointed small muted"}, shown ? describeFound(shown, scene) : hint));
}

function describeFound({cell, what, far}, {spawn}) {
  return `${what} at ${awayFrom(spawn, cell)}${far === undefined ? "" : `, ${far.toFixed(1)} m away`}`;
}

/** @returns {string} a cell relative to the spawn */
function awayFrom(spawn, cell) {
  return cell.map((part, i) => part - spawn[i]).join(", ");
}
