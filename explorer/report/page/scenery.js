// The scenery: a scene's size, the looks of its blocks, their tiles, and the items and mobs in its cells.

const TILE = 16;
const FOG = {light: [0.74, 0.78, 0.84], dark: [0.085, 0.1, 0.135]};
const UNCHANGED = -1;

/** The looks of one scene; cells are numbered in the order y, z, x. */
class Scenery {
  /** @param {object} scene size, spawn, dark @param {object} look looks, sprites, atlas @returns {Promise<Scenery>} */
  static async load({size, spawn, dark}, look) {
    const scene = Object.assign(new Scenery(), {size, spawn, dark, cells: size[0] * size[1] * size[2]});
    await scene.learn(look);
    return scene;
  }

  /** Take over looks, sprites and their tiles, which lie in rows of 16. */
  async learn({looks, sprites, atlas}) {
    const picture = new Image();
    picture.src = `data:image/png;base64,${atlas}`;
    await picture.decode();
    const {width, height} = picture;
    const pen = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
    pen.drawImage(picture, 0, 0);
    const tiles = new Uint8Array(4 * width * height); // one after another, as an array texture takes them
    for (let tile = 0; tile < (width * height) / TILE ** 2; tile++) {
      tiles.set(pen.getImageData(...cornerOfTile(tile), TILE, TILE).data, 4 * TILE ** 2 * tile);
    }
    Object.assign(this, {picture, tiles, sprites});
    this.looks = looks.map((look) => ({...look, shape: SHAPES[look.shape]}));
  }

  /** @returns {number} of the cell, -1 outside */
  number([x, y, z]) {
    const [wide, tall, deep] = this.size;
    return x < 0 || y < 0 || z < 0 || x >= wide || y >= tall || z >= deep ? -1 : (y * deep + z) * wide + x;
  }

  fog() {
    return this.dark ? [0.02, 0.02, 0.03] : FOG[document.documentElement.dataset.theme] ?? FOG.light;
  }

  /** Draw a tile on a 2-D canvas. */
  stamp(pen, tile, x, y, size) {
    pen.drawImage(this.picture, ...cornerOfTile(tile), TILE, TILE, x, y, size, size);
  }

  /** @param {object[]} things with kind, cell and mob @returns {Uint16Array} for {@link Voxels.fill} */
  standing(things) {
    const made = new Uint16Array(this.cells);
    for (const {kind, cell: [x, y, z], mob, tall} of things) {
      const tile = 4 * ((this.sprites[kind] ?? 0) + 1);
      const above = this.number([x, y + 1, z]);
      made[this.number([x, y, z])] = tile + (mob ? (tall ? 2 : 1) : 0);
      if (tall && above >= 0) made[above] = tile + 3;
    }
    return made;
  }

  /** @returns {string} a block in words */
  words({name, state}) {
    return state ? `${spaced(name)} (${state})` : spaced(name);
  }
}

/** @param {object|undefined} look not there yet @returns {Scenery|null} once its tiles have been decoded */
function useScenery(scene, look) {
  const [ready, setReady] = useState(null);
  useEffect(() => {
    if (look) Scenery.load(scene, look).then(setReady);
  }, [look]);
  return ready;
}

function cornerOfTile(tile) {
  return [(tile % TILE) * TILE, Math.floor(tile / TILE) * TILE];
}

/** Change cells. @param {number[]} runs [look, times, look, times, …], the look -1 for cells that did not change */
function applyRuns(cells, runs) {
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const end = at + runs[i + 1];
    if (runs[i] !== UNCHANGED) cells.fill(runs[i], at, end);
    at = end;
  }
}

/** @param {number[]} pose [x, y, z, facing, pitch] and the offset of the cell that it aims at, if it does */
function readPose([x, y, z, facing, pitch, ...aim]) {
  const cell = [x, y, z];
  return {cell, facing, pitch, aim: aim.length ? cell.map((part, i) => part + aim[i]) : null};
}
