// The scenery: a scene's size, the looks of its blocks, their tiles, and the items and mobs in its cells.

const TILE = 16;
const FOG = {light: [0.74, 0.78, 0.84], dark: [0.085, 0.1, 0.135]};

/** The looks of one scene; cells are numbered in the order y, z, x. */
class Scenery {
  /**
   * @param {object} told size, looks, sprites, atlas, dark
   * @param {ImageData} atlas all tiles, in rows of 16
   */
  constructor(told, atlas) {
    Object.assign(this, told);
    this.dress(told, atlas);
  }

  /** Take over the looks, the sprites and the tiles of both. */
  dress(told, atlas) {
    Object.assign(this, {sprites: told.sprites, atlas});
    this.tiles = {length: (atlas.width * atlas.height) / (TILE * TILE)};
    this.looks = told.looks.map((look) => ({...look, shape: SHAPES[look.shape]}));
    this.canvas = el("canvas", {width: atlas.width, height: atlas.height});
    this.canvas.getContext("2d").putImageData(atlas, 0, 0);
    this.holed = Array.from({length: this.tiles.length}, (_, tile) =>
      this.pixels(tile).some((part, i) => i % 4 === 3 && part < 255));
  }

  /** @param {object} told @returns {Promise<Scenery>} */
  static async load(told) {
    return new Scenery(told, await Scenery.pixelsOf(told.atlas));
  }

  /** Take over looks with more in them, after those that are there. @param {object} told looks, sprites, atlas */
  async learn(told) {
    this.dress(told, await Scenery.pixelsOf(told.atlas));
  }

  /** @param {string} atlas a PNG in base64 @returns {Promise<ImageData>} */
  static async pixelsOf(atlas) {
    const picture = new Image();
    picture.src = `data:image/png;base64,${atlas}`;
    await picture.decode();
    const canvas = el("canvas", {width: picture.width, height: picture.height});
    const context = canvas.getContext("2d", {willReadFrequently: true});
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, picture.width, picture.height);
  }

  /** @returns {number} of the cell, -1 outside */
  number([x, y, z]) {
    const [wide, tall, deep] = this.size;
    return x < 0 || y < 0 || z < 0 || x >= wide || y >= tall || z >= deep ? -1 : (y * deep + z) * wide + x;
  }

  /** @returns {number[]} x, y, z */
  cell(number) {
    const [wide, , deep] = this.size;
    return [number % wide, Math.floor(number / (wide * deep)), Math.floor(number / wide) % deep];
  }

  get cells() {
    return this.size[0] * this.size[1] * this.size[2];
  }

  /** Whether parts of a block are see-through. */
  clear(look) {
    return look.shape === SHAPES.cube && [look.top, look.side].some((tile) => this.holed[tile]);
  }

  fog() {
    return this.dark ? [0.02, 0.02, 0.03] : FOG[document.documentElement.dataset.theme] ?? FOG.light;
  }

  pixels(tile) {
    const made = new Uint8Array(4 * TILE * TILE);
    const columns = this.atlas.width / TILE;
    for (let row = 0; row < TILE; row++) {
      const from = 4 * ((Math.floor(tile / columns) * TILE + row) * this.atlas.width + (tile % columns) * TILE);
      made.set(this.atlas.data.subarray(from, from + 4 * TILE), 4 * TILE * row);
    }
    return made;
  }

  /** All tiles one after another, as an array texture takes them. */
  tilePixels() {
    const made = new Uint8Array(4 * TILE * TILE * this.tiles.length);
    for (let tile = 0; tile < this.tiles.length; tile++) made.set(this.pixels(tile), 4 * TILE * TILE * tile);
    return made;
  }

  /** Draw a tile on a 2-D canvas. */
  stamp(context, tile, x, y, size) {
    const columns = this.atlas.width / TILE;
    context.drawImage(this.canvas, (tile % columns) * TILE, Math.floor(tile / columns) * TILE, TILE, TILE, x, y,
      size, size);
  }

  /** @param {object[]} things with kind, cell and mob @returns {Uint16Array} for {@link Voxels.fill} */
  standing(things) {
    const made = new Uint16Array(this.cells);
    for (const thing of things) {
      const tile = 4 * ((this.sprites[thing.kind] ?? 0) + 1);
      const [x, y, z] = thing.cell;
      const [at, over] = [this.number([x, y, z]), this.number([x, y + 1, z])];
      if (at < 0) continue;
      made[at] = tile + (thing.mob ? (thing.tall ? 2 : 1) : 0);
      if (thing.tall && over >= 0) made[over] = tile + 3;
    }
    return made;
  }

  /** @returns {string} the name of a block, in words */
  words(index) {
    const look = this.looks[index];
    return look.state ? `${spaced(look.name)} (${look.state})` : spaced(look.name);
  }
}
