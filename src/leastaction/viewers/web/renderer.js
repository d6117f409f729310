const SUN = unit([0.45, -0.35, 0.85]);
const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const LOOKS = {   // behind the scene; of the floor and its lines; of shadows
  light: { sky: [0.925, 0.94, 0.955, 1], sheet: [1, 1, 1], line: [0.30, 0.36, 0.44], shade: [0.05, 0.08, 0.13, 0.26] },
  dark: { sky: [0.078, 0.090, 0.106, 1], sheet: [0.15, 0.17, 0.20], line: [0.46, 0.53, 0.62], shade: [0, 0, 0, 0.5] },
};
const STATIC = 8;   // floats an instance keeps: scale and half-length, then the colour

function program(gl, vertex, pixel) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, pixel]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const uniforms = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(made, i);
    uniforms[name] = gl.getUniformLocation(made, name);
  }
  return { made, uniforms };
}

// Reads floats of a buffer into attributes: [location, count, ...], one row a vertex or, with `each`, an instance.
function layOut(gl, buffer, widths, each) {
  const total = widths.reduce((sum, [, count]) => sum + count, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  let offset = 0;
  for (const [location, count] of widths) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, count, gl.FLOAT, false, 4 * total, 4 * offset);
    gl.vertexAttribDivisor(location, each ? 1 : 0);
    offset += count;
  }
}

// Instances of one solid, drawn by one call; `place` moves them with their bodies, relative to the focus.
class Batch {
  constructor(gl, { solid, glassy, bodies, rows, lit }) {
    const shape = solidOf(film.solids[solid]);
    Object.assign(this, { glassy, bodies, rows: numbers(rows), corners: shape.faces.length });
    this.lit = lit && numbers(lit);   // of marks: when each is seen, a row of frames each
    this.width = this.rows.length / bodies.length;
    this.moving = new Float32Array(7 * bodies.length);
    this.vao = gl.createVertexArray();
    gl.bindVertexArray(this.vao);
    const fill = (target, data, use) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(target, buffer);
      gl.bufferData(target, data, use);
      return buffer;
    };
    layOut(gl, fill(gl.ARRAY_BUFFER, shape.rows, gl.STATIC_DRAW), [[0, 3], [1, 3], [2, 1]], false);
    const looks = new Float32Array(STATIC * bodies.length);
    bodies.forEach((_, i) => looks.set(this.rows.subarray(this.width * i + 7, this.width * (i + 1)), STATIC * i));
    layOut(gl, fill(gl.ARRAY_BUFFER, looks, gl.STATIC_DRAW), [[5, 4], [6, 4]], true);
    this.buffer = fill(gl.ARRAY_BUFFER, this.moving, gl.DYNAMIC_DRAW);
    layOut(gl, this.buffer, [[3, 3], [4, 4]], true);
    fill(gl.ELEMENT_ARRAY_BUFFER, shape.faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
  }

  place(gl, poses, focus, frame) {
    const out = this.moving;
    for (let i = 0; i < this.bodies.length; i++) {
      if (this.lit && !this.lit[i * film.t.length + frame]) { out.fill(-1e6 * film.radius, 7 * i, 7 * i + 3); continue; }
      const [x, y, z, w, a, b, c] = this.rows.subarray(this.width * i, this.width * i + 7), o = 7 * i;
      if (this.bodies[i] < 0) { out.set([x - focus[0], y - focus[1], z - focus[2], w, a, b, c], o); continue; }
      const [px, py, pz, qw, qx, qy, qz] = poses.subarray(7 * this.bodies[i], 7 * this.bodies[i] + 7);
      const tx = 2 * (qy * z - qz * y), ty = 2 * (qz * x - qx * z), tz = 2 * (qx * y - qy * x);
      out[o] = px + x + qw * tx + qy * tz - qz * ty;
      out[o + 1] = py + y + qw * ty + qz * tx - qx * tz;
      out[o + 2] = pz + z + qw * tz + qx * ty - qy * tx;
      out[o + 3] = qw * w - qx * a - qy * b - qz * c;
      out[o + 4] = qw * a + qx * w + qy * c - qz * b;
      out[o + 5] = qw * b - qx * c + qy * w + qz * a;
      out[o + 6] = qw * c + qx * b - qy * a + qz * w;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, out);
  }

  draw(gl) {
    gl.bindVertexArray(this.vao);
    gl.drawElementsInstanced(gl.TRIANGLES, this.corners, gl.UNSIGNED_INT, 0, this.bodies.length);
  }
}

class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true, premultipliedAlpha: false });
    if (!gl) throw new Error("This browser offers no WebGL 2, which the picture needs.");
    this.gl = gl;
    this.canvas = canvas;
    this.solid = program(gl, SOLID_VERTEX, SOLID_PIXEL);
    this.floor = program(gl, FLOOR_VERTEX, FLOOR_PIXEL);
    this.trails = new Trails(gl);
    this.batches = film.batches.map((batch) => new Batch(gl, batch));
    this.poses = new Float32Array(7 * film.bodies);
    this.sheet = gl.createVertexArray();
    gl.bindVertexArray(this.sheet);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    layOut(gl, buffer, [[0, 2]], false);
    gl.bindVertexArray(null);
  }

  draw(time, speed, orbit) {
    const { gl, canvas } = this, dense = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.round(canvas.clientWidth * dense), height = Math.round(canvas.clientHeight * dense);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const focus = focusAt(time), ground = film.floor - (film.floorFollows ? 0 : focus[2]);
    const view = orbit.look(), look = LOOKS[DARK.matches ? "dark" : "light"];
    const { low, high, part } = frameAt(time), frame = part < 0.5 ? low : high;
    posesAt(time, this.poses);
    for (const batch of this.batches) batch.place(gl, this.poses, focus, frame);
    gl.viewport(0, 0, width, height);
    gl.clearColor(...look.sky);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.drawFloor(view, look, focus, ground);
    this.drawSolids(view, look, ground);
    this.trails.draw(time, speed, view.matrix, view.eye);
  }

  drawFloor({ matrix, target, distance }, look, focus, ground) {
    const { gl, floor } = this;
    gl.useProgram(floor.made);
    gl.uniformMatrix4fv(floor.uniforms.camera, false, matrix);
    gl.uniform3f(floor.uniforms.middle, target[0], target[1], ground);
    gl.uniform1f(floor.uniforms.extent, 3.2 * Math.max(distance, 3 * film.radius));
    // Squares of 1, 2 or 5 times a power of ten, about eight across what is seen.
    const fine = film.radius / 4, ten = 10 ** Math.floor(Math.log10(fine));
    const spacing = ten * [1, 2, 5, 10].find((k) => k * ten >= fine), period = 5 * spacing;
    gl.uniform1f(floor.uniforms.spacing, spacing);
    // The lines stand still in the world; of where the focus is only the part within a period matters, and stays small.
    gl.uniform2f(floor.uniforms.origin, focus[0] % period, focus[1] % period);
    gl.uniform3fv(floor.uniforms.sheet, look.sheet);
    gl.uniform3fv(floor.uniforms.line, look.line);
    gl.depthMask(false);
    gl.bindVertexArray(this.sheet);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  drawSolids({ matrix, eye }, look, ground) {
    const { gl, solid } = this, { uniforms } = solid;
    gl.useProgram(solid.made);
    gl.uniformMatrix4fv(uniforms.camera, false, matrix);
    gl.uniform3fv(uniforms.eye, eye);
    gl.uniform3fv(uniforms.sun, SUN);
    gl.uniform1f(uniforms.ground, ground);
    gl.uniform1f(uniforms.reach, film.radius);
    gl.uniform4fv(uniforms.shade, look.shade);
    if (eye[2] > ground) {
      // The stencil lets every pixel be darkened once, however many shapes are above it.
      gl.uniform1i(uniforms.shadow, 1);
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      for (const batch of this.batches) if (!batch.glassy) batch.draw(gl);
      gl.disable(gl.STENCIL_TEST);
    }
    gl.uniform1i(uniforms.shadow, 0);
    for (const batch of this.batches) {
      gl.depthMask(!batch.glassy);
      batch.draw(gl);
    }
    gl.depthMask(true);
  }
}
