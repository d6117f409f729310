"use strict";

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
const floats = (text) => new Float32Array(bytes(text));
const integers = (text) => new Uint32Array(bytes(text));

const film = JSON.parse(document.getElementById("film").textContent);
film.t = floats(film.t);
film.poses = floats(film.poses);
film.focus = floats(film.focus);

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

// Poses of all bodies at a time: x y z, then the quaternion w x y z, seven numbers a body.
function posesAt(time, out) {
  const { low, high, part } = frameAt(time), row = 7 * film.bodies, from = low * row, to = high * row;
  for (let i = 0; i < row; i += 7) {
    const a = film.poses.subarray(from + i, from + i + 7), b = film.poses.subarray(to + i, to + i + 7);
    // Of the two quaternions of a rotation the nearer one: the short way round.
    const sign = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0 ? -1 : 1;
    let square = 0;
    for (let k = 0; k < 7; k++) {
      out[i + k] = (1 - part) * a[k] + part * (k < 3 ? 1 : sign) * b[k];
      if (k > 2) square += out[i + k] * out[i + k];
    }
    const shrink = 1 / Math.sqrt(square);
    for (let k = 3; k < 7; k++) out[i + k] *= shrink;
  }
}

function focusAt(time) {
  const { low, high, part } = frameAt(time);
  return [0, 1, 2].map((k) => (1 - part) * film.focus[3 * low + k] + part * film.focus[3 * high + k]);
}
