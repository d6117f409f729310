const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

function round125(span) {
  const ten = 10 ** Math.floor(Math.log10(span));
  return ten * [1, 2, 5, 10].find((k) => k * ten >= span);
}

function short(value, step) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e4 || step < 1e-3) {
    return value.toExponential(1).replace(".0e", "e").replace("e+", "e").replaceAll("-", "−");
  }
  const text = value.toFixed(Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))));
  return Number(text) === 0 ? "0" : text.replace("-", "−");
}

// A few curves against time, with a mark at the present moment; a click goes to that moment.
class Panel {
  constructor({ title, unit, curves, least }, seek) {
    this.curves = curves.map(unpackedCurve);
    const box = document.createElement("section"), heading = document.createElement("h2");
    const small = document.createElement("small"), values = document.createElement("span");
    box.className = "panel";
    values.className = "values";
    small.textContent = unit;
    heading.append(title, small, values);
    this.canvas = document.createElement("canvas");
    box.append(heading, this.canvas);
    document.getElementById("panels").append(box);
    this.values = this.curves.map((_, k) => {
      const value = document.createElement("span");
      value.style.color = `var(--curve${k})`;
      values.append(value);
      return value;
    });
    this.canvas.addEventListener("pointerdown", (event) => seek(this.timeAt(event.offsetX)));
    this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && seek(this.timeAt(event.offsetX)));
    this.low = Math.min(-least, ...curves.map(({ low }) => low));
    this.high = Math.max(least, ...curves.map(({ high }) => high));
    const room = 0.06 * (this.high - this.low);
    this.low -= room;
    this.high += room;
  }

  get left() { return 48; }   // pixels for the numbers beside the axis

  timeAt(x) {
    const part = (x - this.left) / (this.canvas.clientWidth - this.left);
    return film.t[0] + Math.min(1, Math.max(0, part)) * (film.t[film.t.length - 1] - film.t[0]);
  }

  // The curves themselves never change: they are drawn once for every size, and copied.
  backdrop(width, height, dense) {
    const picture = document.createElement("canvas");
    Object.assign(picture, { width: width * dense, height: height * dense });
    const draw = picture.getContext("2d"), start = film.t[0], end = film.t[film.t.length - 1];
    draw.scale(dense, dense);
    draw.font = "10px system-ui, sans-serif";
    const x = (t) => this.left + (width - this.left) * (t - start) / (end - start || 1);
    const y = (value) => height - 16 - (height - 24) * (value - this.low) / (this.high - this.low);
    const rise = round125((this.high - this.low) / 4);
    draw.textAlign = "right";
    draw.textBaseline = "middle";
    for (let k = Math.ceil(this.low / rise); k * rise <= this.high; k++) {
      draw.fillStyle = css(k === 0 ? "--axis" : "--rule");
      draw.fillRect(this.left, Math.round(y(k * rise)), width, 1);
      draw.fillStyle = css("--quiet");
      draw.fillText(short(k * rise, rise), this.left - 5, y(k * rise));
    }
    const stretch = round125((end - start || 1) / 4);
    draw.textBaseline = "bottom";
    for (let k = Math.ceil(start / stretch); k * stretch <= end; k++) {
      const text = short(k * stretch, stretch) + (k === 0 ? " s" : "");
      draw.textAlign = k === 0 ? "left" : x(k * stretch) > width - 12 ? "right" : "center";
      draw.fillText(text, x(k * stretch), height + 1);
    }
    draw.lineWidth = 1.3;
    draw.lineJoin = "round";
    const colours = this.curves.map((_, k) => css(`--curve${k}`));
    this.curves.forEach((curve, i) => {
      draw.strokeStyle = colours[i];
      draw.beginPath();
      curve.t.forEach((t, k) => draw.lineTo(x(t), y(curve.y[k])));
      draw.stroke();
    });
    return { picture, x, y, rise, colours, ink: css("--ink") };
  }

  draw(time) {
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight;
    const dense = Math.min(2, window.devicePixelRatio || 1);
    if (!width) return;
    if (canvas.width !== Math.round(width * dense) || !this.back) {
      Object.assign(canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
      this.back = this.backdrop(width, height, dense);
    }
    const { picture, x, y, rise, colours, ink } = this.back, draw = canvas.getContext("2d");
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.clearRect(0, 0, canvas.width, canvas.height);
    draw.drawImage(picture, 0, 0);
    draw.scale(dense, dense);
    draw.fillStyle = ink;
    draw.fillRect(x(time) - 0.5, 4, 1, height - 18);
    this.curves.forEach((curve, k) => {
      const value = valueAt(curve, time);
      draw.fillStyle = colours[k];
      draw.beginPath();
      draw.arc(x(time), y(value), 3, 0, 7);
      draw.fill();
      const seen = curve.label && Math.abs(value) < 1e-3 * rise ? 0 : value;   // of several, round-off is nothing
      this.values[k].textContent = (curve.label ? curve.label + " " : "") + short(seen, 0.2 * rise);
    });
  }
}

// A curve from points in 16 bits of its range and of the run.
function unpackedCurve({ label, low, high, points }) {
  const codes = planes(points), count = codes.length / 2, start = film.t[0], end = film.t[film.t.length - 1];
  return { label, t: Float32Array.from(codes.subarray(0, count), (part) => start + (end - start) * part / 65535),
    y: Float64Array.from(codes.subarray(count), (part) => low + (high - low) * part / 65535) };
}

function valueAt({ t, y }, time) {
  let low = 0, high = t.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle; else high = middle;
  }
  const part = t[high] > t[low] ? Math.min(1, Math.max(0, (time - t[low]) / (t[high] - t[low]))) : 0;
  return (1 - part) * y[low] + part * y[high];
}
