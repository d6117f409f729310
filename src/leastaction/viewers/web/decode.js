"use strict";

const element = (id) => document.getElementById(id);

function fail(error) {
  Object.assign(element("fault"), { textContent: error.message, hidden: false });
  throw error;
}

// All arrays of the page are slices of these bytes; a slice is named by its type, where it begins and its length.
async function unpacked(text) {
  if (!window.DecompressionStream) throw new Error("This browser is too old for the film: it cannot decompress it.");
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

const film = JSON.parse(element("film").textContent);
const data = await unpacked(element("data").textContent.trim()).catch(fail);
const TYPES = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array, i1: Int8Array };
const numbers = ([kind, start, count]) => new TYPES[kind](data, start, count);

// Sixteen-bit numbers, stored as all their low bytes before all their high ones.
function planes(slice) {
  const stored = numbers(slice), count = stored.length / 2;
  return Uint16Array.from({ length: count }, (_, k) => stored[k] | stored[count + k] << 8);
}

// Rows of numbers from their folded second differences, modulo 2¹⁶.
function unbent(codes, columns) {
  const out = new Int16Array(codes.length);
  for (let row = 0; row < codes.length; row += columns) {
    let value = 0, slope = 0;
    for (let k = row; k < row + columns; k++) {
      slope += codes[k] >>> 1 ^ -(codes[k] & 1);
      out[k] = value += slope;
    }
  }
  return out;
}

film.t = numbers(film.t);
film.focus = numbers(film.focus);
film.scales = numbers(film.scales);
film.poses = unbent(planes(film.poses), film.t.length);

const STILL = 0.06;   // s; between frames further apart bodies would leave their joints, so the nearer frame is shown

// Which frame a time falls in, and how far it is on its way to the next one.
function frameAt(time) {
  let low = 0, high = film.t.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (film.t[middle] <= time) low = middle; else high = middle;
  }
  const span = film.t[high] - film.t[low];
  const part = span > 0 ? Math.min(1, Math.max(0, (time - film.t[low]) / span)) : 0;
  return { low, high, part: span > STILL ? Math.round(part) : part };
}

// Poses of all bodies at a time: x y z relative to the focus, then the quaternion w x y z, seven numbers a body.
function posesAt(time, out) {
  const { low, high, part } = frameAt(time), { poses, scales, t: { length } } = film;
  for (let i = 0; i < film.bodies; i++) {
    let square = 0;
    // The two quaternions are near each other: Python chose their signs so.
    for (let k = 7 * i; k < 7 * i + 7; k++) {
      out[k] = ((1 - part) * poses[k * length + low] + part * poses[k * length + high]) / 32767;
      if (k < 7 * i + 3) out[k] *= scales[i]; else square += out[k] * out[k];
    }
    const shrink = 1 / Math.sqrt(square);
    for (let k = 7 * i + 3; k < 7 * i + 7; k++) out[k] *= shrink;
  }
  return out;
}

// Where the camera looks, in the world.
function focusAt(time) {
  const { low, high, part } = frameAt(time), { length } = film.t;
  return [0, length, 2 * length].map((k) => (1 - part) * film.focus[k + low] + part * film.focus[k + high]);
}
