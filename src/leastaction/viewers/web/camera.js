const add = (a, b) => a.map((x, k) => x + b[k]);
const scaled = (a, s) => a.map((x) => x * s);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scaled(a, 1 / Math.hypot(...a));

// Product of two 4×4 matrices in columns, as WebGL reads them.
function times(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
    for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  }
  return out;
}

// A camera that goes round a point, z being up.
class Orbit {
  // `free` is how much of the window nothing covers, from its upper left corner.
  constructor(canvas, radius, changed) {
    this.canvas = canvas;
    this.free = { width: 1, height: 1 };
    this.radius = radius;
    this.changed = changed;
    this.pointers = new Map();
    this.reset();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("wheel", (event) => {
      // Inside another page, which is to scroll until the player has been clicked.
      if (window.parent !== window && !document.hasFocus()) return;
      event.preventDefault();
      this.zoom(Math.exp(0.0012 * event.deltaY));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  reset() {
    this.azimuth = -1.05;
    this.elevation = 0.22;
    this.closeness = 1;
    this.shift = [0, 0, 0];
    this.changed();
  }

  zoom(factor) {
    this.closeness = Math.min(20, Math.max(0.05, this.closeness * factor));
    this.changed();
  }

  drag(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const dx = event.clientX - last[0], dy = event.clientY - last[1];
    if (this.pointers.size === 2) {
      const other = [...this.pointers.entries()].find(([id]) => id !== event.pointerId)[1];
      const gap = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.zoom(gap(last) / gap([event.clientX, event.clientY]));
    } else if (event.shiftKey || event.buttons & 6) {
      const { right, up } = this.axes(), metre = this.distance() * 2 * this.slope / this.canvas.clientHeight;
      this.shift = add(this.shift, add(scaled(right, -dx * metre), scaled(up, dy * metre)));
    } else {
      this.azimuth -= 0.0075 * dx;
      this.elevation = Math.min(1.55, Math.max(-1.2, this.elevation + 0.0075 * dy));
    }
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.changed();
  }

  get slope() { return Math.tan(0.5 * 32 * Math.PI / 180); }

  axes() {
    const back = [Math.cos(this.elevation) * Math.cos(this.azimuth), Math.cos(this.elevation) * Math.sin(this.azimuth),
      Math.sin(this.elevation)];
    const right = [-Math.sin(this.azimuth), Math.cos(this.azimuth), 0];
    return { back, right, up: cross(back, right) };
  }

  distance() {
    // The less of the window's height is free, or the narrower it is, the further away one has to be.
    const { width, height } = this.free;
    return 0.95 * this.closeness * this.radius
      / Math.sin(Math.atan(this.slope * Math.min(width, height) / Math.max(1, this.canvas.clientHeight)));
  }

  // Matrix to the screen and where the eye is, both from the focus, which is drawn in the middle of what is free.
  look() {
    const { back, right, up } = this.axes(), distance = this.distance(), target = this.shift;
    const eye = add(target, scaled(back, distance)), near = 0.02 * distance, far = 60 * distance + 20 * this.radius;
    const wide = Math.max(1, this.canvas.clientWidth), high = Math.max(1, this.canvas.clientHeight);
    const aspect = wide / high, f = 1 / this.slope, aside = 1 - this.free.width / wide, lift = 1 - this.free.height / high;
    const view = [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
    const projection = [f / aspect, 0, 0, 0, 0, f, 0, 0, aside, -lift, (far + near) / (near - far), -1, 0, 0,
      2 * far * near / (near - far), 0];
    return { matrix: times(projection, view), eye, target, distance };
  }
}
