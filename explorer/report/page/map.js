// The map: the scene from above, cut at the height of the agent's head.

const MAP_TILE_LIMIT = 26;
const MAP_MARGIN = 2;
const FACING_WORDS = ["south", "west", "north", "east"];
const FACING_ANGLES = [Math.PI / 2, Math.PI, -Math.PI / 2, 0];

/** The range of columns and rows with any cell that was seen, plus a margin. */
function mapFrame(scene, blocks, frame = null) {
  const [wide, , deep] = scene.size;
  let [left, top, right, bottom] = frame ?? [wide, deep, -1, -1];
  for (let number = 0; number < blocks.length; number++) {
    if (!blocks[number]) continue;
    const x = number % wide;
    const z = Math.floor(number / wide) % deep;
    if (x < left) left = x;
    if (x > right) right = x;
    if (z < top) top = z;
    if (z > bottom) bottom = z;
  }
  return [left, top, right, bottom];
}

/** Draws the map on a canvas, and finds the cell at a point of it. */
class MapView {
  constructor(canvas, scene) {
    Object.assign(this, {canvas, scene, frame: null, tile: 8});
  }

  /** @param {object} moment blocks, things, pose @param {number[]|null} chosen */
  draw({blocks, things, pose, trail = []}, chosen) {
    const {canvas, scene} = this;
    this.frame = mapFrame(scene, blocks, this.frame);
    const ratio = window.devicePixelRatio || 1;
    const [left, top, right, bottom] = this.frame;
    const [columns, rows] = [right - left + 1 + 2 * MAP_MARGIN, bottom - top + 1 + 2 * MAP_MARGIN];
    const room = [canvas.clientWidth, canvas.clientHeight].map((n) => Math.max(2, Math.round(n * ratio)));
    if (canvas.width !== room[0] || canvas.height !== room[1]) [canvas.width, canvas.height] = room;
    const fit = Math.min(room[0] / columns, room[1] / rows, MAP_TILE_LIMIT * ratio);
    const tile = (this.tile = Math.max(2, Math.floor(fit)));
    this.origin = [Math.floor((room[0] - columns * tile) / 2) + (MAP_MARGIN - left) * tile,
      Math.floor((room[1] - rows * tile) / 2) + (MAP_MARGIN - top) * tile];
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = tile < TILE;
    context.fillStyle = `rgb(${scene.fog().map((part) => 255 * part)})`;
    context.fillRect(0, 0, ...room);
    for (let z = top; z <= bottom; z++) {
      for (let x = left; x <= right; x++) this.column(context, blocks, x, z, pose.cell[1]);
    }
    this.trail(context, trail);
    for (const thing of things) this.thing(context, thing, pose.cell[1]);
    if (chosen) this.outline(context, chosen);
    this.agent(context, pose);
  }

  corner(x, z) {
    return [this.origin[0] + x * this.tile, this.origin[1] + z * this.tile];
  }

  /** The highest known block at or below the head. */
  column(context, blocks, x, z, feet) {
    const {scene, tile} = this;
    const {looks} = scene;
    let over = null;
    for (let y = Math.min(feet + 1, scene.size[1] - 1); y >= 0; y--) {
      const look = looks[blocks[scene.number([x, y, z])]];
      if (look.shape === SHAPES.unseen || look.shape === SHAPES.none) continue;
      if (look.shape !== SHAPES.cube) {
        over ??= look;
        continue;
      }
      const [left, top] = this.corner(x, z);
      scene.stamp(context, y > feet ? look.side : look.top, left, top, tile);
      const dim = y > feet ? 0.42 : y === feet ? 0.12 : Math.min(0.75, 0.17 * (feet - 1 - y));
      context.fillStyle = `rgba(${y > feet ? "8,10,16" : y === feet ? "255,255,255" : "8,10,30"},${dim})`;
      context.fillRect(left, top, tile, tile);
      if (over) this.stampOver(context, over, left, top);
      return;
    }
    if (over) this.stampOver(context, over, ...this.corner(x, z));
    else this.raised(context, blocks, x, z, feet);
  }

  /** Ground above the head with nothing known below it; ceilings do not count, since their top is unseen. */
  raised(context, blocks, x, z, feet) {
    const {scene, tile} = this;
    const shape = (y) => scene.looks[blocks[scene.number([x, y, z])]].shape;
    for (let y = feet + 2; y + 1 < scene.size[1]; y++) {
      if (shape(y) !== SHAPES.cube || shape(y + 1) !== SHAPES.none) continue;
      const [left, top] = this.corner(x, z);
      scene.stamp(context, scene.looks[blocks[scene.number([x, y, z])]].top, left, top, tile);
      context.fillStyle = "rgba(8, 10, 16, 0.55)";
      context.fillRect(left, top, tile, tile);
      return;
    }
  }

  stampOver(context, look, left, top) {
    context.globalAlpha = look.shape === SHAPES.panel ? 0.4 : 1;
    this.scene.stamp(context, look.side, left, top, this.tile);
    context.globalAlpha = 1;
  }

  thing(context, thing, feet) {
    const {tile, scene} = this;
    const [left, top] = this.corner(thing.cell[0], thing.cell[2]);
    const size = Math.max(tile * (thing.mob ? 1 : 0.8), 7);
    const at = (tile - size) / 2;
    context.globalAlpha = Math.abs(thing.cell[1] - feet) > 3 ? 0.5 : 1;
    scene.stamp(context, scene.sprites[thing.kind] ?? 0, left + at, top + at, size);
    context.globalAlpha = 1;
  }

  outline(context, cell) {
    const [left, top] = this.corner(cell[0], cell[2]);
    context.strokeStyle = "#f3c63f";
    context.lineWidth = Math.max(1.5, this.tile / 9);
    context.strokeRect(left, top, this.tile, this.tile);
  }

  trail(context, cells) {
    if (cells.length < 2) return;
    context.strokeStyle = "rgba(243, 198, 63, 0.75)";
    context.lineWidth = Math.max(1, this.tile / 8);
    context.lineJoin = "round";
    context.beginPath();
    for (const cell of cells) {
      const [left, top] = this.corner(cell[0], cell[2]);
      context.lineTo(left + this.tile / 2, top + this.tile / 2);
    }
    context.stroke();
  }

  agent(context, pose) {
    const [left, top] = this.corner(pose.cell[0], pose.cell[2]);
    const r = Math.max(this.tile * 0.5, 5);
    context.save();
    context.translate(left + this.tile / 2, top + this.tile / 2);
    context.rotate(FACING_ANGLES[pose.facing]);
    context.beginPath();
    context.moveTo(r, 0);
    context.lineTo(-0.72 * r, 0.7 * r);
    context.lineTo(-0.36 * r, 0);
    context.lineTo(-0.72 * r, -0.7 * r);
    context.closePath();
    context.fillStyle = "#e5402e";
    context.strokeStyle = "#fff";
    context.lineWidth = Math.max(1.2, this.tile / 12);
    context.fill();
    context.stroke();
    context.restore();
  }

  /** @returns {number[]|null} column and row of a pointer on the map */
  columnAt(event) {
    if (!this.origin) return null;
    const ratio = window.devicePixelRatio || 1;
    const at = [event.offsetX, event.offsetY].map((n, i) => Math.floor((n * ratio - this.origin[i]) / this.tile));
    return at[0] < 0 || at[1] < 0 || at[0] >= this.scene.size[0] || at[1] >= this.scene.size[2] ? null : at;
  }
}
