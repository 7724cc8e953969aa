// The viewer: reads the replay, builds the stage, and keeps time. Draws only when something changed.
import { Bodies } from './bodies.js';
import { Contacts } from './contacts.js';
import { contactsOf, frameAt, readOptions, readReplay, TOGGLES } from './data.js';
import { Panel, showNotice } from './panel.js';
import { Plot, PLOTS } from './plots.js';
import { Stage } from './stage.js';

class Viewer {
  constructor() {
    this.replay = readReplay();
    this.options = firstOptions();
    this.time = this.replay.start;
    this.dirty = true;
    this.panel = new Panel(this.replay, {
      seek: (t) => this.seek(t),
      playPause: () => this.set({ play: !this.options.play }),
      setSpeed: (speed) => this.set({ speed }),
      toggle: (name) => this.set({ [name]: !this.options[name] }),
      step: (frames) => this.step(frames),
      home: () => this.home(),
    });
    this.buildPlots();
    this.buildStage();
    this.watch();
    this.applyTheme();
    this.set({});
    this.applyHash();
  }

  buildStage() {
    this.bodies = new Bodies(this.replay);
    const { framing } = this.bodies;
    if (!document.createElement('canvas').getContext('webgl2')) {
      showNotice('This browser offers no WebGL 2, so the 3D view stays empty. Time, readings and plots work.');
      return;
    }
    this.stage = new Stage(document.getElementById('view'), framing.extent);
    this.stage.scene.add(this.bodies.root);
    for (const { frame, color } of this.bodies.planes) this.stage.addGround(frame, true, color);
    if (!this.bodies.planes.length) this.stage.addGround(this.stage.scene, false);
    this.contacts = new Contacts(this.replay, this.stage.scene, framing.smallest);
    this.followed = this.bodies.view();
    this.stage.controls.addEventListener('change', () => { this.dirty = true; });
  }

  buildPlots() {
    const hooks = {
      onSeek: (t) => this.seek(t),
      onHover: (t, plot) => {
        const frame = t === null ? 0 : frameAt(this.replay.time, t);
        for (const each of this.plots) each.setHover(t, frame, each === plot);
      },
    };
    const parent = document.getElementById('plots');
    this.plots = PLOTS.map((spec) => new Plot(parent, spec, this.replay.time, this.replay.arrays[spec.name], hooks));
  }

  /** Things that change from outside: size, theme, address. */
  watch() {
    this.dark = window.matchMedia('(prefers-color-scheme: dark)');
    this.dark.addEventListener('change', () => this.applyTheme());
    window.addEventListener('hashchange', () => this.applyHash());
    new ResizeObserver(() => this.layout()).observe(document.getElementById('stage'));
  }

  layout() {
    const left = Math.max(...this.plots.map((plot) => plot.labelWidth()));
    for (const plot of this.plots) plot.layout(left);
    this.panel.paintStrip();
    this.dirty = true;
  }

  applyTheme() {
    const dark = this.options.theme ? this.options.theme === 'dark' : this.dark.matches;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    if (this.stage) {
      this.stage.applyTheme(dark);
      this.contacts.applyTheme();
    }
    this.layout();
  }

  /** An address describes the whole view: what it leaves out is as at first. */
  applyHash() {
    const { t, cam, ...options } = readOptions(window.location.hash);
    window.stictionReady = false;
    const theme = this.options.theme;
    this.set({ ...firstOptions(), theme: undefined, ...options });
    if (this.options.theme !== theme) this.applyTheme();
    this.seek(t ?? this.replay.start);
    if (!this.stage) return;
    this.bodies.setTime(0, 0);
    this.followed = this.bodies.view();
    this.stage.aimLights(this.followed.center);
    this.stage.goHome(this.followed);
    this.updateScene(); // follow to this time first, then place the camera about it
    if (cam) this.stage.setCamera(cam, this.stage.key.target.position);
  }

  set(options) {
    Object.assign(this.options, options);
    if (options.play && this.time >= this.replay.end) this.time = this.replay.start;
    this.panel.showOptions(this.options);
    if (this.stage) {
      this.bodies.show(this.options);
      this.contacts.show(this.options);
      this.stage.showGrid(this.options.grid);
    }
    if ('follow' in options && this.stage) this.followed = this.bodies.view();
    this.dirty = true;
  }

  seek(t) {
    this.time = Math.min(this.replay.end, Math.max(this.replay.start, t));
    this.dirty = true;
  }

  step(frames) {
    const { time } = this.replay;
    const frame = Math.min(time.length - 1, Math.max(0, frameAt(time, this.time) + frames));
    this.set({ play: false });
    this.seek(time[frame]);
  }

  home() {
    if (!this.stage) return;
    this.stage.goHome({ center: this.stage.key.target.position, radius: this.bodies.view().radius });
    this.dirty = true;
  }

  advance(seconds) {
    if (!this.options.play || this.replay.end === this.replay.start) return;
    let t = this.time + seconds * this.options.speed;
    if (t > this.replay.end) {
      if (this.options.loop) t = this.replay.start;
      else this.set({ play: false });
    }
    this.seek(t);
  }

  /** Bodies, contacts and camera for the current time; returns {frame, contacts}. */
  updateScene() {
    const { time } = this.replay;
    const frame = frameAt(time, this.time);
    const next = Math.min(frame + 1, time.length - 1);
    const fraction = next > frame ? Math.max(0, (this.time - time[frame]) / (time[next] - time[frame])) : 0;
    this.bodies.setTime(frame, fraction < 1e-3 ? 0 : fraction);
    const view = this.bodies.view();
    const shift = view.center.clone().sub(this.followed.center);
    const factor = view.radius / this.followed.radius;
    this.followed = view;
    if (this.options.follow) {
      this.stage.shift(shift, factor);
      this.stage.controls.update();
    }
    const focus = this.stage.key.target.position.clone().add(shift);
    this.stage.scene.updateMatrixWorld();
    this.stage.aimLights(focus);
    return { frame, contacts: this.contacts.setFrame(frame) };
  }

  draw() {
    const frame = frameAt(this.replay.time, this.time);
    this.panel.showTime(this.time);
    for (const plot of this.plots) plot.setTime(this.time, frame);
    if (!this.stage) {
      this.panel.showContacts(contactsOf(this.replay, frame), 1);
      return;
    }
    this.stage.resize(this.options.ui ? document.getElementById('transport').offsetHeight : 0);
    const { contacts } = this.updateScene();
    this.panel.showContacts(contacts, this.contacts.referenceForce);
    this.stage.render();
    this.panel.showScales({
      force: this.contacts.referenceForce,
      length: this.contacts.referenceLength,
      pixelsPerMeter: this.stage.pixelsPerMeter,
      cell: this.stage.gridCell,
    });
  }

  /** Called before every repaint of the screen. */
  tick(now) {
    const seconds = Math.min(0.1, (now - (this.last ?? now)) / 1000);
    this.last = now;
    this.advance(seconds);
    this.stage?.controls.update(); // damping: marks the view dirty while it still moves
    if (this.dirty) {
      this.dirty = false;
      this.draw();
      window.stictionReady = true;
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

function firstOptions() {
  const options = { play: true, loop: true, speed: 1, bodies: true, ui: true };
  for (const { name, on } of TOGGLES) options[name] = on;
  if (window.innerWidth < 820) options.panel = false;
  return options;
}

// For tests and notebooks: `stiction.seek(1.0)`, `stiction.set({play: false, cones: true})`, `stiction.time`.
window.stictionReady = false;
const viewer = new Viewer();
window.stiction = viewer;
requestAnimationFrame((now) => viewer.tick(now));
