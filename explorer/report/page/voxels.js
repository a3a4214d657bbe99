// First person, drawn on the graphics card: each pixel's ray steps through a 3-D texture of blocks.

const SIGHT = 64;
const VERTICAL_VIEW = (66 * Math.PI) / 180;

/** Shapes of looks: a cube, an upright picture, a sheet on the floor, an open door, and an unseen cell. */
const SHAPES = {none: 0, cube: 1, upright: 2, flat: 3, panel: 4, unseen: 7};

const VERTEX = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }`;

const FRAGMENT = `#version 300 es
precision highp float; precision highp int;
precision highp usampler3D; precision highp usampler2D; precision highp sampler2DArray;
uniform usampler3D blocks;   // index into looks; 0 is an unseen cell; axes x, z, y
uniform usampler3D things;   // 4 * (1 + tile) of a lying item; + 1: a standing mob; + 2, + 3: halves of a tall mob
uniform usampler2D looks;    // (top, side, bottom, shape) of each block
uniform sampler2DArray tiles;
uniform ivec3 size, chosen;
uniform vec3 eye; uniform mat3 turn; uniform vec2 frame, lens;
uniform vec3 fog; uniform bool dark;
out vec4 colour;

uint at(ivec3 c) {
  return any(lessThan(c, ivec3(0))) || any(greaterThanEqual(c, size)) ? 0u : texelFetch(blocks, c.xzy, 0).r;
}
uvec4 look(ivec3 c) { return texelFetch(looks, ivec2(at(c), 0), 0); }
float solid(ivec3 c) { return look(c).a == 1u ? 1.0 : 0.0; }
vec4 texel(vec2 uv, uint tile, float far, float slope) {
  float lod = log2(max(1.0, far * lens.y * 2.0 / frame.y * 16.0 / max(slope, 0.15))) - 0.5;
  return textureLod(tiles, vec3(uv.x, 1.0 - uv.y, float(tile)), lod);
}
// Corners of a face are darker beside other cubes.
float shade(ivec3 c, ivec3 n, vec2 uv, ivec3 u, ivec3 v) {
  ivec3 o = c + n;
  float l = solid(o - u), r = solid(o + u), b = solid(o - v), t = solid(o + v);
  float lb = max(min(l, b), solid(o - u - v)), rb = max(min(r, b), solid(o + u - v));
  float lt = max(min(l, t), solid(o - u + v)), rt = max(min(r, t), solid(o + u + v));
  vec4 dim = vec4(l + b + lb, r + b + rb, l + t + lt, r + t + rt);
  return 1.0 - 0.17 * mix(mix(dim.x, dim.y, uv.x), mix(dim.z, dim.w, uv.x), uv.y);
}
// An upright picture in a cell that faces the eye.
vec4 upright(ivec3 c, vec3 ray, uint tile, vec2 measure, float down) {
  vec2 n = vec2(turn[0].z, -turn[0].x);
  float slope = dot(vec2(ray.x, ray.z), n);
  if (abs(slope) < 1e-4) return vec4(0);
  float far = dot(vec2(c.x, c.z) + 0.5 - eye.xz, n) / slope;
  vec3 p = eye + far * ray - vec3(c);
  vec2 uv = vec2(dot(p.xz - 0.5, vec2(-n.y, n.x)) / measure.x + 0.5, (p.y + down) / measure.y);
  if (far < 0.05 || any(lessThan(uv, vec2(0))) || any(greaterThan(uv, vec2(1)))) return vec4(0);
  return texel(uv, tile, far, 1.0);
}
// A thin sheet on the floor of a cell, or an open door at the side that it swung to.
vec4 sheet(ivec3 c, vec3 ray, uint tile, bool floor_) {
  int axis = floor_ ? 1 : solid(c - ivec3(1, 0, 0)) > 0.5 || solid(c + ivec3(1, 0, 0)) > 0.5 ? 0 : 2;
  float far = (float(c[axis]) + 0.07 - eye[axis]) / ray[axis];
  vec3 p = eye + far * ray - vec3(c);
  if (far < 0.0 || any(lessThan(p, vec3(-1e-3))) || any(greaterThan(p, vec3(1.001)))) return vec4(0);
  return texel(axis == 1 ? p.xz : axis == 0 ? p.zy : p.xy, tile, far, abs(ray[axis]));
}
void main() {
  vec2 screen = (gl_FragCoord.xy / frame * 2.0 - 1.0) * lens;
  vec3 ray = normalize(turn * vec3(screen, 1));
  ray += vec3(equal(ray, vec3(0))) * 1e-6;
  ivec3 cell = ivec3(floor(eye)), way = ivec3(sign(ray)), face = ivec3(0);
  vec3 delta = abs(1.0 / ray), next = (vec3(cell) + max(vec3(way), 0.0) - eye) / ray;
  vec3 sum = vec3(0); float left = 1.0, far = 0.0;
  uint before = at(cell);
  for (int i = 0; i < ${3 * SIGHT} && left > 0.01 && far < ${SIGHT}.0; i++) {
    uvec4 is = look(cell);
    vec4 hit = vec4(0);
    bool inside = all(greaterThanEqual(cell, ivec3(0))) && all(lessThan(cell, size));
    if (!inside || (is.a == 7u && i > 0)) { break; }
    uint block = at(cell);
    if (is.a == 1u && i > 0 && block != before) {
      vec3 p = eye + far * ray - vec3(cell);
      vec3 n = vec3(face);
      vec2 uv = face.x != 0 ? p.zy : face.y != 0 ? p.xz : p.xy;
      uint tile = face.y > 0 ? is.r : face.y < 0 ? is.b : is.g;
      hit = texel(uv, tile, far, abs(dot(ray, n)));
      float light = face.y > 0 ? 1.0 : face.y < 0 ? 0.62 : face.z != 0 ? 0.86 : 0.74;
      ivec3 u = face.x != 0 ? ivec3(0, 0, 1) : ivec3(1, 0, 0), v = face.y != 0 ? ivec3(0, 0, 1) : ivec3(0, 1, 0);
      hit.rgb *= light * shade(cell, face, uv, u, v);
      if (cell == chosen) {
        vec2 rim = min(uv, 1.0 - uv);
        bool edge = min(rim.x, rim.y) < 0.035 + 0.002 * far;
        hit = edge ? vec4(1, 0.85, 0.25, 1) : vec4(hit.rgb * 1.12 + 0.03, hit.a);
      }
    } else if (is.a == 2u) hit = upright(cell, ray, is.g, vec2(1), 0.0);
    else if (is.a == 3u || is.a == 4u) hit = sheet(cell, ray, is.g, is.a == 3u);
    if (is.a > 1u && cell == chosen) hit.rgb = hit.rgb * 1.25 + 0.08;
    uint thing = texelFetch(things, clamp(cell, ivec3(0), size - 1).xzy, 0).r;
    if (thing != 0u && left > 0.01) {
      uint kind = thing & 3u;
      vec2 measure = kind == 0u ? vec2(0.5) : kind == 1u ? vec2(0.95) : vec2(1.25, 1.7);
      vec4 over = upright(cell, ray, (thing >> 2) - 1u, measure, kind == 3u ? 1.0 : 0.0);
      if (over.a > hit.a) hit = cell == chosen ? vec4(over.rgb * 1.25 + 0.08, over.a) : over;
    }
    float mist = 1.0 - exp(-far * (dark ? 0.14 : 0.018));
    sum += left * hit.a * mix(hit.rgb, fog, mist);
    left *= 1.0 - hit.a;
    before = block;
    int axis = next.x < next.y && next.x < next.z ? 0 : next.y < next.z ? 1 : 2;
    far = next[axis];
    next[axis] += delta[axis];
    cell[axis] += way[axis];
    face = ivec3(0);
    face[axis] = -way[axis];
  }
  // Unseen cells are mist, paler where the ray is nearly level, so that up and down differ.
  colour = vec4(sum + left * fog * (1.0 + 0.10 * ray.y), 1);
}`;

/** @returns {Voxels|null} `null` if the browser has no WebGL 2 that takes the scene */
function voxelsOn(canvas, scene) {
  const gl = canvas.getContext("webgl2", {antialias: false, alpha: false, preserveDrawingBuffer: true});
  if (!gl || Math.max(...scene.size) > gl.getParameter(gl.MAX_3D_TEXTURE_SIZE)) return null;
  const program = linkProgram(gl);
  return program && new Voxels(canvas, gl, program, scene);
}

/** A first-person view of blocks. */
class Voxels {
  constructor(canvas, gl, program, scene) {
    Object.assign(this, {canvas, gl, program, scene, scale: 1, slow: 0, looks: null});
    gl.useProgram(program);
    gl.bindVertexArray(gl.createVertexArray());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const [x, y, z] = scene.size;
    ["blocks", "things", "looks", "tiles"].forEach((name, unit) => gl.uniform1i(this.where(name), unit));
    for (const unit of [0, 1]) {
      bindTexture(gl, gl.TEXTURE_3D, unit, gl.NEAREST);
      gl.texStorage3D(gl.TEXTURE_3D, 1, gl.R16UI, x, z, y);
    }
    bindTexture(gl, gl.TEXTURE_2D, 2, gl.NEAREST);
    bindTexture(gl, gl.TEXTURE_2D_ARRAY, 3, gl.NEAREST_MIPMAP_LINEAR);
    gl.uniform3iv(this.where("size"), scene.size);
  }

  /** Upload the looks and tiles of the scene. */
  dress() {
    const {gl, scene} = this;
    const looks = scene.looks.flatMap((look) => [look.top, look.side, look.bottom, look.shape]);
    gl.activeTexture(gl.TEXTURE2);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16UI, scene.looks.length, 1, 0, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT,
      new Uint16Array(looks));
    gl.activeTexture(gl.TEXTURE3);
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.RGBA8, TILE, TILE, scene.tiles.length / (4 * TILE * TILE), 0, gl.RGBA,
      gl.UNSIGNED_BYTE, scene.tiles);
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    this.looks = scene.looks;
  }

  where(name) {
    return this.gl.getUniformLocation(this.program, name);
  }

  /** @param {Uint16Array} blocks numbers of looks, ordered y, z, x @param {Uint16Array} things */
  fill(blocks, things) {
    const {gl, scene} = this;
    const [x, y, z] = scene.size;
    if (this.looks !== scene.looks) this.dress();
    [blocks, things].forEach((cells, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.texSubImage3D(gl.TEXTURE_3D, 0, 0, 0, 0, x, z, y, gl.RED_INTEGER, gl.UNSIGNED_SHORT, cells);
    });
  }

  /** Draw fewer pixels if frames take too long. @param {number} took milliseconds */
  pace(took) {
    this.slow = took > 80 ? this.slow + 1 : 0;
    if (this.slow <= 2 || this.scale <= 0.4) return;
    this.scale *= 0.7;
    this.slow = 0;
  }

  /** @param {object} camera eye, yaw, pitch @param {number[]|null} chosen a cell with an outline */
  draw(camera, chosen) {
    const {gl, canvas} = this;
    const [width, height] = fitCanvas(canvas, Math.min(devicePixelRatio, 2) * this.scale);
    gl.viewport(0, 0, width, height);
    const {lens, turn} = optics(camera, width / height);
    gl.uniform2f(this.where("frame"), width, height);
    gl.uniform2fv(this.where("lens"), lens);
    gl.uniformMatrix3fv(this.where("turn"), false, turn.flat());
    gl.uniform3fv(this.where("eye"), camera.eye);
    gl.uniform3iv(this.where("chosen"), chosen ?? [-9, -9, -9]);
    gl.uniform3fv(this.where("fog"), this.scene.fog());
    gl.uniform1i(this.where("dark"), Number(this.scene.dark));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

/** Give a canvas the pixels of its place on the page. @returns {[number, number]} width and height */
function fitCanvas(canvas, ratio) {
  const width = Math.max(2, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(2, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  return [width, height];
}

/** A camera's view: half the picture's width and height at distance 1, and its right, up and forward vectors. */
function optics({yaw, pitch}, aspect) {
  const tall = Math.tan(VERTICAL_VIEW / 2);
  const [sy, cy] = [Math.sin(yaw), Math.cos(yaw)];
  const [sp, cp] = [Math.sin(pitch), Math.cos(pitch)];
  const forward = [-sy * cp, -sp, cy * cp];
  return {lens: [tall * aspect, tall], turn: [[-cy, 0, -sy], [-sy * sp, cp, cy * sp], forward]};
}

/** @returns {number[]} unit vector through a point of the picture, x and y from -1 to 1 */
function rayThrough(camera, x, y, aspect) {
  const {lens, turn: [right, up, forward]} = optics(camera, aspect);
  const ray = [0, 1, 2].map((i) => right[i] * x * lens[0] + up[i] * y * lens[1] + forward[i]);
  const norm = Math.hypot(...ray);
  return ray.map((part) => part / norm);
}

/** The cells that a ray crosses, nearest first, with the distance at which it enters each. */
function* crossCells(eye, ray, reach) {
  const cell = eye.map(Math.floor);
  const way = ray.map(Math.sign);
  const next = ray.map((part, i) => (part ? (cell[i] + Math.max(way[i], 0) - eye[i]) / part : Infinity));
  for (let far = 0; far <= reach;) {
    yield {cell: [...cell], far};
    const axis = next.indexOf(Math.min(...next));
    far = next[axis];
    next[axis] += Math.abs(1 / ray[axis]);
    cell[axis] += way[axis];
  }
}

function bindTexture(gl, kind, unit, smaller) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(kind, gl.createTexture());
  gl.texParameteri(kind, gl.TEXTURE_MIN_FILTER, smaller);
  gl.texParameteri(kind, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  for (const axis of ["S", "T", "R"]) gl.texParameteri(kind, gl[`TEXTURE_WRAP_${axis}`], gl.CLAMP_TO_EDGE);
}

function linkProgram(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (gl.getProgramParameter(program, gl.LINK_STATUS)) return program;
  console.info(`no first person: ${gl.getProgramInfoLog(program)}`);
  return null;
}
