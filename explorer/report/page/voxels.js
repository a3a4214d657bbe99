// Scenes, drawn on the graphics card: each pixel's ray steps through a grid of blocks.

const SIGHT = 64;
const TILE = 16;
const NOWHERE = [-9, -9, -9];

/** How a block fills its cell; the numbers are those of the program below. */
const SHAPES = ["none", "cube", "upright", "flat", "panel", "unseen"];

const VERTEX = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }`;

const FRAGMENT = `#version 300 es
precision highp float; precision highp int;
precision highp usampler2DArray; precision highp sampler2DArray;
uniform usampler2DArray blocks;   // index into looks; 0 is an unseen cell; axes x, z, y
uniform usampler2DArray things;   // 4 * (1 + tile) of an item; + 1: a mob; + 2, + 3: halves of a tall mob
uniform usampler2DArray looks;    // (top, side, bottom, shape) of each block
uniform sampler2DArray tiles;
uniform vec3 eye; uniform mat3 axes; uniform vec2 frame;   // axes: to the right edge, to the upper edge, forward
uniform bool above;               // rays are parallel, and the picture is a map
uniform ivec3 chosen;
uniform float mist;               // how dense it is; the page shows through it
out vec4 colour;

ivec3 size() { return textureSize(blocks, 0).xzy; }
bool inside(ivec3 c) { return all(greaterThanEqual(c, ivec3(0))) && all(lessThan(c, size())); }
uint at(ivec3 c) { return inside(c) ? texelFetch(blocks, c.xzy, 0).r : 0u; }
uvec4 look(ivec3 c) { return texelFetch(looks, ivec3(at(c), 0, 0), 0); }
float solid(ivec3 c) { return look(c).a == 1u ? 1.0 : 0.0; }
vec4 texel(vec2 uv, uint tile, float far, float slope) {
  float pixels = length(axes[1]) * 2.0 / frame.y * 16.0 * (above ? 1.0 : far);
  vec2 at = clamp(vec2(uv.x, 1.0 - uv.y), 0.001, 0.999);
  return textureLod(tiles, vec3(at, float(tile)), log2(max(1.0, pixels / max(slope, 0.15))) - 0.5);
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
vec4 cube(ivec3 c, ivec3 face, vec3 p, vec3 ray, uvec4 is, float far) {
  vec2 uv = face.x != 0 ? p.zy : face.y != 0 ? p.xz : p.xy;
  ivec3 u = face.x != 0 ? ivec3(0, 0, 1) : ivec3(1, 0, 0), v = face.y != 0 ? ivec3(0, 0, 1) : ivec3(0, 1, 0);
  vec4 hit = texel(uv, face.y > 0 ? is.r : face.y < 0 ? is.b : is.g, far, abs(dot(ray, vec3(face))));
  float light = face.y > 0 ? 1.0 : face.y < 0 ? 0.62 : face.z != 0 ? 0.86 : 0.74;
  if (above) light = far < 1.5 ? 1.12 : max(0.25, 1.34 - 0.17 * far);
  bool cut = above && far < 0.5;   // a wall that goes on above the map
  hit.rgb *= cut ? 0.6 : light * shade(c, face, uv, u, v);
  vec2 rim = min(uv, 1.0 - uv);
  bool edge = c == chosen && min(rim.x, rim.y) < 0.035 + 0.002 * far;
  return edge ? vec4(1, 0.85, 0.25, 1) : hit;
}
// An upright picture in a cell that faces the eye; it lies down on a map.
vec4 upright(ivec3 c, vec3 start, vec3 ray, uint tile, vec2 measure, float down) {
  vec3 right = normalize(axes[0]), up = above ? vec3(0, 0, -1) : vec3(0, 1, 0), n = cross(right, up);
  float slope = dot(ray, n);
  if (abs(slope) < 1e-4) return vec4(0);
  vec3 middle = vec3(c) + 0.5;
  float far = dot(middle - start, n) / slope;
  vec3 p = start + far * ray - middle;
  vec2 uv = vec2(dot(p, right) / measure.x + 0.5, (dot(p, up) + 0.5 + down) / measure.y);
  if (far < 0.05 || any(lessThan(uv, vec2(0))) || any(greaterThan(uv, vec2(1)))) return vec4(0);
  return texel(uv, tile, far, 1.0);
}
// A thin sheet on the floor of a cell, or an open door at the side that it swung to.
vec4 sheet(ivec3 c, vec3 start, vec3 ray, uint tile, bool lies) {
  int axis = lies ? 1 : solid(c - ivec3(1, 0, 0)) > 0.5 || solid(c + ivec3(1, 0, 0)) > 0.5 ? 0 : 2;
  float far = (float(c[axis]) + 0.07 - start[axis]) / ray[axis];
  vec3 p = start + far * ray - vec3(c);
  if (far < 0.0 || any(lessThan(p, vec3(-1e-3))) || any(greaterThan(p, vec3(1.001)))) return vec4(0);
  return texel(axis == 1 ? p.xz : axis == 0 ? p.zy : p.xy, tile, far, abs(ray[axis]));
}
void main() {
  vec3 part = axes * vec3(gl_FragCoord.xy / frame * 2.0 - 1.0, 0);
  vec3 start = above ? eye + part : eye;
  vec3 ray = normalize(above ? axes[2] : axes[2] + part);
  ray += vec3(equal(ray, vec3(0))) * 1e-6;
  ivec3 cell = ivec3(floor(start)), way = ivec3(sign(ray)), face = ivec3(0);
  vec3 delta = abs(1.0 / ray), next = (vec3(cell) + max(vec3(way), 0.0) - start) / ray;
  vec4 sum = vec4(0); float left = 1.0, far = 0.0;
  uint before = at(cell);
  for (int i = 0; i < ${3 * SIGHT} && left > 0.01 && far < ${SIGHT}.0; i++) {
    uvec4 is = look(cell);
    vec4 hit = vec4(0);
    if (!inside(cell) || (is.a == 5u && i > 0 && !above)) { break; }
    bool enters = above || at(cell) != before;
    if (is.a == 1u && i > 0 && enters) hit = cube(cell, face, start + far * ray - vec3(cell), ray, is, far);
    else if (is.a == 2u) hit = upright(cell, start, ray, is.g, vec2(1), 0.0);
    else if (is.a == 3u || is.a == 4u) hit = sheet(cell, start, ray, is.g, is.a == 3u || above);
    uint thing = texelFetch(things, cell.xzy, 0).r;
    if (thing != 0u) {
      uint kind = thing & 3u;
      vec2 measure = above ? vec2(1) : kind == 0u ? vec2(0.5) : kind == 1u ? vec2(0.95) : vec2(1.25, 1.7);
      vec4 over = upright(cell, start, ray, (thing >> 2) - 1u, measure, kind == 3u ? 1.0 : 0.0);
      if (over.a > hit.a) hit = over;
    }
    if (cell == chosen) hit.rgb = hit.rgb * 1.2 + 0.06;
    sum += left * hit.a * exp(-far * mist) * vec4(hit.rgb, 1);
    left *= 1.0 - hit.a;
    before = at(cell);
    int axis = next.x < next.y && next.x < next.z ? 0 : next.y < next.z ? 1 : 2;
    far = next[axis];
    next[axis] += delta[axis];
    cell[axis] += way[axis];
    face = ivec3(0);
    face[axis] = -way[axis];
  }
  colour = sum;
}`;

/** What draws scenes; all stages share one, since a browser has room for only a few. */
let sharedCard = null;

/** @returns {Card|null} null where the browser has no WebGL 2 */
function graphicsCard() {
  if (sharedCard && !sharedCard.gl.isContextLost()) return sharedCard;
  const gl = document.createElement("canvas").getContext("webgl2", {antialias: false});
  sharedCard = gl && new Card(gl);
  return sharedCard;
}

/** Draws one scene at a time. */
class Card {
  constructor(gl) {
    this.gl = gl;
    this.program = linkProgram(gl);
    gl.useProgram(this.program);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    ["tiles", "looks", "blocks", "things"].forEach((name, unit) => {
      gl.uniform1i(this.where(name), unit);
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D_ARRAY, gl.createTexture());
      gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      if (unit) gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    });
  }

  where(name) {
    return this.gl.getUniformLocation(this.program, name);
  }

  /** Take over what is seen. @param {{look: object, size: number[], blocks: Uint16Array, things: any[][]}} sight */
  fill(sight) {
    const {gl} = this;
    const {look, size: [wide, tall, deep]} = sight;
    const upload = (unit, layout, size, data) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, layout[0], ...size, 0, layout[1], layout[2], data);
    };
    const number = [gl.R16UI, gl.RED_INTEGER, gl.UNSIGNED_SHORT];
    upload(2, number, [wide, deep, tall], sight.blocks);
    upload(3, number, [wide, deep, tall], gridOfThings(sight));
    if (this.look === look) return;
    const faces = look.looks.flatMap(({top, side, bottom, shape}) => [top, side, bottom, SHAPES.indexOf(shape)]);
    upload(1, [gl.RGBA16UI, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT], [look.looks.length, 1, 1], new Uint16Array(faces));
    upload(0, [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE], [TILE, TILE, look.picture.height / TILE], look.picture);
    gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
    this.look = look;
  }

  /** Draw a view on a canvas of the page. @param {number[]} chosen a cell @param {number} mist its density */
  draw(canvas, {eye, axes, isAbove}, chosen, mist) {
    const {gl} = this;
    const {width, height} = canvas;
    if (gl.canvas.width < width) gl.canvas.width = width;
    if (gl.canvas.height < height) gl.canvas.height = height;
    gl.viewport(0, 0, width, height);
    gl.uniform2f(this.where("frame"), width, height);
    gl.uniform3fv(this.where("eye"), eye);
    gl.uniformMatrix3fv(this.where("axes"), false, axes.flat());
    gl.uniform1i(this.where("above"), isAbove);
    gl.uniform3iv(this.where("chosen"), chosen ?? NOWHERE);
    gl.uniform1f(this.where("mist"), mist);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.drawImage(gl.canvas, 0, gl.canvas.height - height, width, height, 0, 0, width, height);
  }
}

/** @returns {Uint16Array} the items and mobs in their cells, as the program takes them */
function gridOfThings({look, size, blocks, things}) {
  const made = new Uint16Array(blocks.length);
  for (const [kind, [x, y, z]] of things) {
    const {tile, form} = look.sprites[kind];
    made[numberOf([x, y, z], size)] = 4 * (tile + 1) + form;
    if (form === 2) made[numberOf([x, y + 1, z], size)] = 4 * (tile + 1) + 3;
  }
  return made;
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
  return program;
}
