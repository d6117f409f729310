// Unit solids as rows of corner, normal and end: an instance stretches them, and moves its two ends apart along z.
const AROUND = 40, ALONG = 20;   // segments about the axis and from pole to pole

// Turns a profile of [radius, height, normal outwards, normal upwards, end], from the bottom to the top, about z.
function lathe(profile) {
  const rows = [], faces = [];
  profile.forEach(([radius, height, out, up, end], i) => {
    for (let j = 0; j <= AROUND; j++) {
      const x = Math.cos(2 * Math.PI * j / AROUND), y = Math.sin(2 * Math.PI * j / AROUND);
      rows.push(radius * x, radius * y, height, out * x, out * y, up, end);
      const a = (i - 1) * (AROUND + 1) + j, b = a + AROUND + 1;
      if (i > 0 && j < AROUND) faces.push(a, a + 1, b + 1, a, b + 1, b);
    }
  });
  return { rows: new Float32Array(rows), faces: new Uint32Array(faces) };
}

// The sphere, split at the equator so that it stretches to a capsule.
function ball() {
  const half = (end) => Array.from({ length: ALONG / 2 + 1 }, (_, k) => {
    const latitude = Math.PI * (end > 0 ? k : k - ALONG / 2) / ALONG, c = Math.cos(latitude), s = Math.sin(latitude);
    return [c, s, c, s, end];
  });
  return lathe([...half(-1), ...half(1)]);
}

// Its length is all in its ends.
const cylinder = () => lathe([[0, 0, 0, -1, -1], [1, 0, 0, -1, -1], [1, 0, 1, 0, -1], [1, 0, 1, 0, 1], [1, 0, 0, 1, 1],
  [0, 0, 0, 1, 1]]);

// The cube from -1 to 1.
function box() {
  const rows = [], faces = [];
  for (let axis = 0; axis < 3; axis++) for (const sign of [-1, 1]) {
    const first = rows.length / 7;
    for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
      const corner = [0, 0, 0], normal = [0, 0, 0];
      normal[axis] = corner[axis] = sign;
      corner[(axis + 1) % 3] = u;
      corner[(axis + 2) % 3] = sign * v;
      rows.push(...corner, ...normal, 0);
    }
    faces.push(first, first + 1, first + 2, first, first + 2, first + 3);
  }
  return { rows: new Float32Array(rows), faces: new Uint32Array(faces) };
}

function mesh({ low, size, vertices, normals, faces }) {
  const places = planes(vertices), facing = numbers(normals), count = places.length / 3;
  const rows = new Float32Array(7 * count);
  for (let i = 0; i < count; i++) for (let k = 0; k < 3; k++) {
    rows[7 * i + k] = low[k] + size[k] * places[k * count + i] / 65535;
    rows[7 * i + 3 + k] = facing[k * count + i] / 127;
  }
  return { rows, faces: Uint32Array.from(numbers(faces)) };
}

const MADE = { ball, cylinder, box };
const solidOf = (described) => typeof described === "string" ? MADE[described]() : mesh(described);
