// Where the ends of sticks were lately: ribbons that face the camera and fade.
const LATELY = 0.8;   // s of the viewer's time
const FINE = 4;       // points of a ribbon for every frame, so that it bends and does not kink

class Trails {
  constructor(gl) {
    this.gl = gl;
    this.ribbon = program(gl, RIBBON_VERTEX, RIBBON_PIXEL);
    this.vao = gl.createVertexArray();
    this.buffer = gl.createBuffer();
    gl.bindVertexArray(this.vao);
    layOut(gl, this.buffer, [[0, 3], [1, 3], [2, 2]], false);
    gl.bindVertexArray(null);
    this.poses = new Float32Array(7 * film.bodies);
  }

  // Points of all tips at the moments from `start` to `end`, relative to the focus at the end, one row a tip.
  paths(start, end, count) {
    const rows = film.tips.map(() => []), here = focusAt(end);
    for (let k = 0; k < count; k++) {
      const time = start + (end - start) * k / (count - 1), behind = add(focusAt(time), scaled(here, -1));
      posesAt(time, this.poses);
      film.tips.forEach(({ body, at }, i) => {
        const [px, py, pz, w, ...axis] = this.poses.subarray(7 * body, 7 * body + 7);
        const swirl = add(cross(axis, at), scaled(at, w));
        rows[i].push(add(add(behind, [px, py, pz]), add(at, scaled(cross(axis, swirl), 2))));
      });
    }
    return rows;
  }

  draw(time, speed, matrix, eye) {
    const start = Math.max(film.t[0], time - LATELY * speed), step = (film.t[1] - film.t[0]) / FINE;
    const count = Math.min(400, Math.ceil((time - start) / step) + 1);
    if (!film.tips.length || !(count > 2)) return;
    const { gl, ribbon } = this, strips = [];
    for (const row of this.paths(start, time, count)) {
      row.forEach((point, k) => {
        const along = add(row[Math.min(k + 1, count - 1)], scaled(row[Math.max(k - 1, 0)], -1));
        const fresh = 1 - (count - 1 - k) * (time - start) / (count - 1) / (LATELY * speed);
        for (const side of [-1, 1]) strips.push(...point, ...along, side, fresh);
      });
    }
    gl.useProgram(ribbon.made);
    gl.uniformMatrix4fv(ribbon.uniforms.camera, false, matrix);
    gl.uniform3fv(ribbon.uniforms.eye, eye);
    gl.uniform1f(ribbon.uniforms.width, 0.55 * film.thickness);
    gl.bindVertexArray(this.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(strips), gl.STREAM_DRAW);
    gl.depthMask(false);
    for (let i = 0; i < film.tips.length; i++) gl.drawArrays(gl.TRIANGLE_STRIP, 2 * count * i, 2 * count);
    gl.depthMask(true);
  }
}
