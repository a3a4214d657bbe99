// The map: the scene from above, cut at the height of the agent's head.

const MAP_TILE_LIMIT = 26;
const MAP_MARGIN = 2;
const FACING_WORDS = ["south", "west", "north", "east"];
const CHOSEN = "#f3c63f";

/** Draws the map on a canvas, and finds the column at a point of it. */
class MapView {
  constructor(canvas, scene) {
    const [wide, , deep] = scene.size;
    Object.assign(this, {canvas, scene, pen: canvas.getContext("2d"), left: wide, right: -1, top: deep, bottom: -1});
  }

  /** @param {object} sight blocks, things, pose, trail @param {number[]|null} chosen */
  draw({blocks, things, pose, trail}, chosen) {
    const {canvas, scene, pen} = this;
    const room = fitCanvas(canvas, devicePixelRatio);
    this.grow(blocks);
    this.fit(room);
    pen.imageSmoothingEnabled = this.tile < TILE;
    pen.fillStyle = `rgb(${scene.fog().map((part) => 255 * part)})`;
    pen.fillRect(0, 0, ...room);
    for (let z = this.top; z <= this.bottom; z++) {
      for (let x = this.left; x <= this.right; x++) this.drawColumn(blocks, x, z, pose.cell[1]);
    }
    this.drawTrail(trail);
    for (const thing of things) this.drawThing(thing, pose.cell[1]);
    if (chosen) this.outline(chosen);
    const [left, top] = this.corner(pose.cell);
    const size = Math.max(this.tile, 12);
    drawArrow(pen, left + this.tile / 2, top + this.tile / 2, 1.2 * size, ((pose.facing + 1) * Math.PI) / 2);
  }

  /** Widen the frame to all columns with any cell that was seen. */
  grow(blocks) {
    const [wide, , deep] = this.scene.size;
    for (let number = 0; number < blocks.length; number++) {
      if (!blocks[number]) continue;
      const x = number % wide;
      const z = Math.floor(number / wide) % deep;
      this.left = Math.min(this.left, x);
      this.right = Math.max(this.right, x);
      this.top = Math.min(this.top, z);
      this.bottom = Math.max(this.bottom, z);
    }
  }

  /** Find the size of a tile, and where the column 0, 0 is drawn. */
  fit([width, height]) {
    const {left, right, top, bottom} = this;
    const columns = right - left + 1 + 2 * MAP_MARGIN;
    const rows = bottom - top + 1 + 2 * MAP_MARGIN;
    const tile = Math.min(width / columns, height / rows, MAP_TILE_LIMIT * devicePixelRatio);
    this.tile = Math.max(2, Math.floor(tile));
    this.origin = [
      Math.floor((width - columns * this.tile) / 2) + (MAP_MARGIN - left) * this.tile,
      Math.floor((height - rows * this.tile) / 2) + (MAP_MARGIN - top) * this.tile,
    ];
  }

  corner([x, , z]) {
    return [this.origin[0] + x * this.tile, this.origin[1] + z * this.tile];
  }

  /** Draw the highest known block at or below the head, or ground above it where nothing is known below. */
  drawColumn(blocks, x, z, feet) {
    const {looks, size} = this.scene;
    const lookAt = (y) => looks[blocks[this.scene.number([x, y, z])]];
    const place = this.corner([x, 0, z]);
    let over = null;
    let y = Math.min(feet + 1, size[1] - 1);
    for (; y >= 0 && lookAt(y).shape !== SHAPES.cube; y--) {
      if (isDrawn(lookAt(y))) over ??= lookAt(y);
    }
    if (y > feet) this.drawCube(lookAt(y).side, place, "8, 10, 16", 0.42);
    else if (y === feet) this.drawCube(lookAt(y).top, place, "255, 255, 255", 0.12);
    else if (y >= 0) this.drawCube(lookAt(y).top, place, "8, 10, 30", Math.min(0.75, 0.17 * (feet - 1 - y)));
    else if (!over) this.drawRaised(lookAt, place, feet);
    if (over) this.stamp(over.side, place, this.tile, over.shape === SHAPES.panel ? 0.4 : 1);
  }

  /** Ground above the head with nothing known below it; ceilings do not count, since their top is unseen. */
  drawRaised(lookAt, place, feet) {
    for (let y = feet + 2; y + 1 < this.scene.size[1]; y++) {
      if (lookAt(y).shape !== SHAPES.cube || lookAt(y + 1).shape !== SHAPES.none) continue;
      this.drawCube(lookAt(y).top, place, "8, 10, 16", 0.55);
      return;
    }
  }

  drawCube(tile, place, veil, share) {
    this.stamp(tile, place, this.tile, 1);
    this.pen.fillStyle = `rgba(${veil}, ${share})`;
    this.pen.fillRect(...place, this.tile, this.tile);
  }

  stamp(tile, [left, top], size, alpha) {
    this.pen.globalAlpha = alpha;
    this.scene.stamp(this.pen, tile, left, top, size);
    this.pen.globalAlpha = 1;
  }

  drawThing({kind, cell, mob}, feet) {
    const size = Math.max(this.tile * (mob ? 1 : 0.8), 7);
    const place = this.corner(cell).map((part) => part + (this.tile - size) / 2);
    this.stamp(this.scene.sprites[kind] ?? 0, place, size, Math.abs(cell[1] - feet) > 3 ? 0.5 : 1);
  }

  outline(cell) {
    this.pen.strokeStyle = CHOSEN;
    this.pen.lineWidth = Math.max(1.5, this.tile / 9);
    this.pen.strokeRect(...this.corner(cell), this.tile, this.tile);
  }

  drawTrail(cells) {
    const {pen, tile} = this;
    pen.strokeStyle = "rgba(243, 198, 63, 0.75)";
    pen.lineWidth = Math.max(1, tile / 8);
    pen.lineJoin = "round";
    pen.beginPath();
    for (const cell of cells) {
      const [left, top] = this.corner(cell);
      pen.lineTo(left + tile / 2, top + tile / 2);
    }
    pen.stroke();
  }

  /** @returns {number[]|null} column and row of a pointer on the map */
  columnAt(event) {
    const [x, z] = [event.offsetX, event.offsetY].map((n, i) =>
      Math.floor((n * devicePixelRatio - this.origin[i]) / this.tile));
    return this.scene.number([x, 0, z]) < 0 ? null : [x, z];
  }
}

/** Whether anything is known to be in a cell. */
function isDrawn({shape}) {
  return shape !== SHAPES.none && shape !== SHAPES.unseen;
}
