const PLAY = "M7 4.5v15l13-7.5z", PAUSE = "M6 4.5h4.2v15H6zM13.8 4.5H18v15h-4.2z";

class Player {
  constructor() {
    this.start = film.t[0];
    this.end = film.t[film.t.length - 1];
    this.now = this.start;
    this.playing = false;
    this.last = null;
    this.stale = true;
    element("name").textContent = film.name;
    element("about").textContent = film.about;
    const slider = element("time");
    Object.assign(slider, { min: this.start, max: this.end, value: this.start });
    slider.addEventListener("input", () => { this.pause(); this.seek(Number(slider.value)); });
    element("speed").addEventListener("change", () => { this.stale = true; });   // the trail grows with it
    element("play").addEventListener("click", () => this.toggle());
    element("curves").addEventListener("click", () => this.toggleCurves());
    document.addEventListener("keydown", (event) => this.key(event));
    this.panels = film.panels.map((panel) => new Panel(panel, (time) => { this.pause(); this.seek(time); }));
    new ResizeObserver(() => this.redraw()).observe(document.body);
    DARK.addEventListener("change", () => this.redraw());
    const canvas = element("scene");
    this.orbit = new Orbit(canvas, film.radius, () => { this.stale = true; });
    this.renderer = new Renderer(canvas);
    this.play();
    requestAnimationFrame((clock) => this.tick(clock));
  }

  get speed() { return Number(element("speed").value); }

  // The part of the window that is left for the picture: beside the curves or, where it is narrow, above them.
  get free() {
    const { clientWidth: width, clientHeight: height } = document.body, curves = element("panels");
    const narrow = window.matchMedia("(max-width: 760px)").matches;
    if (narrow) return { width, height: (curves.hidden ? element("bar") : curves).offsetTop };
    return { width: curves.hidden ? width : width - curves.clientWidth, height };
  }

  // Poses of the bodies in the world at a time: x y z w x y z of each.
  poses(time) {
    const focus = focusAt(time);
    return Array.from(posesAt(time, new Float64Array(7 * film.bodies)), (x, k) => k % 7 < 3 ? x + focus[k % 7] : x);
  }

  redraw() {
    this.stale = true;
    for (const panel of this.panels) panel.back = null;
  }

  seek(time) {
    this.now = Math.min(this.end, Math.max(this.start, time));
    this.stale = true;
  }

  play() {
    if (this.now >= this.end) this.now = this.start;
    this.playing = this.end > this.start;
    this.last = null;
    this.showButton();
  }

  pause() {
    this.playing = false;
    this.showButton();
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  toggleCurves() {
    const curves = element("panels");
    curves.hidden = !curves.hidden;
    element("curves").setAttribute("aria-pressed", String(!curves.hidden));
    this.stale = true;
  }

  showButton() { element("icon").setAttribute("d", this.playing ? PAUSE : PLAY); }

  key(event) {
    if (event.target instanceof HTMLSelectElement) return;
    const step = event.shiftKey ? 1 : 0.05;
    const actions = {
      " ": () => this.toggle(),
      c: () => this.toggleCurves(),
      ArrowLeft: () => { this.pause(); this.seek(this.now - step); },
      ArrowRight: () => { this.pause(); this.seek(this.now + step); },
      Home: () => this.seek(this.start),
      End: () => this.seek(this.end),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  tick(clock) {
    if (this.playing) {
      const passed = this.last === null ? 0 : 1e-3 * (clock - this.last);
      this.last = clock;
      // From the end back to the start, so that it goes on for as long as one likes to look.
      this.seek(this.now >= this.end ? this.start : this.now + this.speed * passed);
    }
    if (this.stale) {
      this.stale = false;
      this.orbit.free = this.free;
      this.renderer.draw(this.now, this.speed, this.orbit);
      for (const panel of this.panels) panel.draw(this.now);
      element("time").value = this.now;
      const digits = this.end - this.start < 1 ? 3 : 2;
      element("clock").textContent = `${this.now.toFixed(digits)} / ${this.end.toFixed(digits)} s`;
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

// For the console, and for tests.
try {
  window.player = new Player();
} catch (error) {
  fail(error);
}
