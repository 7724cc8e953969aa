// Plots over time on plain canvases: axes with units, a cursor at the current time, a read-out under the pointer.
import { formatNumber, themeColor } from './data.js';

const HEIGHT = 112;
const MARGIN = { top: 8, right: 6, bottom: 20 };

/** What is plotted: array, heading, unit, factor from SI to that unit, kind of axis. */
export const PLOTS = [
  { name: 'residual', label: 'Residual', unit: '', note: 'relative, log scale', factor: 1, log: true },
  { name: 'penetration', label: 'Penetration', unit: 'mm', factor: 1e3, fromZero: true },
  { name: 'energy', label: 'Energy', unit: 'J', factor: 1 },
];

export class Plot {
  /** `values` is (F,) in SI or undefined. `onSeek(t)` is called on a click or drag, `onHover(t or null)` on a move. */
  constructor(parent, spec, time, values, { onSeek, onHover }) {
    Object.assign(this, { spec, time });
    this.values = values && Float64Array.from(values, (v) => v * spec.factor);
    this.now = time[0];
    this.hover = null;
    this.root = document.createElement('div');
    this.root.className = 'plot';
    this.root.innerHTML = '<header><b></b><span></span><output></output></header>';
    this.root.querySelector('b').textContent = spec.label;
    this.root.querySelector('span').textContent = spec.note || `[${spec.unit}]`;
    this.output = this.root.querySelector('output');
    parent.append(this.root);
    if (!this.values || !this.values.some(Number.isFinite)) {
      this.root.insertAdjacentHTML('beforeend', '<p class="none">not recorded</p>');
      this.values = null;
      return;
    }
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${spec.label} over time`);
    this.tip = document.createElement('div');
    this.tip.className = 'tip';
    this.tip.hidden = true;
    this.root.append(this.canvas, this.tip);
    this.range = valueRange(this.values, spec);
    this.listen(onSeek, onHover);
  }

  listen(onSeek, onHover) {
    const timeAt = (event) => this.timeAt(event.clientX - this.canvas.getBoundingClientRect().left);
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      onSeek(timeAt(event));
    });
    this.canvas.addEventListener('pointermove', (event) => {
      onHover(timeAt(event), this);
      if (event.buttons & 1) onSeek(timeAt(event));
    });
    this.canvas.addEventListener('pointerleave', () => onHover(null, this));
  }

  /** Width [pixels] that the labels of the value axis need. */
  labelWidth() {
    if (!this.values) return 0;
    this.ticks = valueTicks(this.range, this.spec);
    const context = this.canvas.getContext('2d');
    context.font = this.font();
    return Math.max(...this.ticks.map((tick) => context.measureText(tick.label).width));
  }

  /** Lay out axes and curve again, labels `left` [pixels] wide: after a resize or a change of theme. */
  layout(left) {
    if (!this.values) return;
    const width = this.canvas.clientWidth;
    if (!width) return;
    this.left = left + 8;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(HEIGHT * ratio);
    this.width = width;
    this.ratio = ratio;
    this.colors = {
      line: themeColor(this.spec.name), grid: themeColor('edge'), text: themeColor('muted'), cursor: themeColor('ink'),
      back: themeColor('surface-solid'),
    };
    this.background = this.paintBackground();
    this.paint();
  }

  font() {
    return `11px ${getComputedStyle(document.body).fontFamily}`;
  }

  x(t) {
    const [start, end] = [this.time[0], this.time[this.time.length - 1]];
    const share = end > start ? (t - start) / (end - start) : 0;
    return this.left + share * (this.width - this.left - MARGIN.right);
  }

  y(value) {
    const [low, high] = this.range;
    const v = this.spec.log ? Math.log10(value) : value;
    return MARGIN.top + (1 - (v - low) / (high - low)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  }

  timeAt(x) {
    const [start, end] = [this.time[0], this.time[this.time.length - 1]];
    const share = (x - this.left) / (this.width - this.left - MARGIN.right);
    return start + Math.min(1, Math.max(0, share)) * (end - start);
  }

  /** Axes and curve once, on a canvas of their own; moving the cursor then costs one copy. */
  paintBackground() {
    const canvas = document.createElement('canvas');
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    const context = canvas.getContext('2d');
    context.scale(this.ratio, this.ratio);
    this.paintAxes(context);
    this.paintCurve(context);
    return canvas;
  }

  paintAxes(context) {
    const bottom = HEIGHT - MARGIN.bottom;
    context.font = this.font();
    context.fillStyle = this.colors.text;
    context.strokeStyle = this.colors.grid;
    context.lineWidth = 1;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const tick of this.ticks) {
      const y = Math.round(this.y(this.spec.log ? 10 ** tick.at : tick.at)) + 0.5;
      line(context, this.left, y, this.width - MARGIN.right, y);
      context.fillText(tick.label, this.left - 5, y);
    }
    context.textBaseline = 'alphabetic';
    const [start, end] = [this.time[0], this.time[this.time.length - 1]];
    const ticks = linearTicks(start, end, 5);
    ticks.forEach((tick, i) => {
      const x = Math.round(this.x(tick.at)) + 0.5;
      line(context, x, bottom, x, bottom + 3);
      const label = i === ticks.length - 1 ? `${tick.label} s` : tick.label;
      const half = context.measureText(label).width / 2;
      context.textAlign = 'center';
      context.fillText(label, Math.min(x, this.width - half - 1), HEIGHT - 5);
    });
  }

  /** Lowest and highest value of each pixel column: a spike of one frame stays visible in a long recording. */
  paintCurve(context) {
    context.strokeStyle = this.colors.line;
    context.lineWidth = 1.6;
    context.lineJoin = 'round';
    context.beginPath();
    const floor = this.spec.log ? 10 ** this.range[0] : -Infinity;
    let pen = false;
    const to = (x, value) => {
      const y = this.y(Math.max(value, floor));
      if (pen) context.lineTo(x, y);
      else context.moveTo(x, y);
      pen = true;
    };
    const { length } = this.values;
    for (let i = 0; i < length;) {
      const column = Math.floor(this.x(this.time[i]) * 2);
      let [low, high, last] = [Infinity, -Infinity, NaN];
      const x = this.x(this.time[i]);
      for (; i < length && Math.floor(this.x(this.time[i]) * 2) === column; i++) {
        last = this.values[i];
        if (Number.isFinite(last)) [low, high] = [Math.min(low, last), Math.max(high, last)];
      }
      if (low > high) {
        pen = false;
        continue;
      }
      if (high > low) {
        to(x, low);
        to(x, high);
      }
      to(x, Number.isFinite(last) ? last : high);
    }
    context.stroke();
  }

  setTime(t, frame) {
    this.now = t;
    this.frame = frame;
    if (this.values) this.paint();
    this.output.textContent = this.values ? this.reading(frame) : '';
  }

  setHover(t, frame, pointed) {
    if (!this.values) return;
    this.hover = t;
    this.hoverFrame = frame;
    this.tip.hidden = t === null;
    this.paint();
    if (t === null) return;
    this.tip.textContent = pointed ? `${t.toFixed(3)} s \u00b7 ${this.reading(frame)}` : this.reading(frame);
    const half = this.tip.offsetWidth / 2;
    this.tip.style.left = `${Math.min(this.width - half, Math.max(half, this.x(t)))}px`;
    this.tip.style.top = `${this.canvas.offsetTop + 2}px`;
  }

  reading(frame) {
    const unit = this.spec.unit ? `\u2009${this.spec.unit}` : '';
    const value = this.values[frame];
    if (this.spec.log || !Number.isFinite(value)) return `${formatNumber(value)}${unit}`;
    const span = this.range[1] - this.range[0];
    const decimals = Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(span)))); // steady while it plays
    return `${value.toFixed(decimals).replace('-', '\u2212')}${unit}`;
  }

  paint() {
    if (!this.background) return;
    const context = this.canvas.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.background, 0, 0);
    context.scale(this.ratio, this.ratio);
    if (this.hover !== null) this.paintCursor(context, this.hover, this.hoverFrame, this.colors.text, [3, 3]);
    this.paintCursor(context, this.now, this.frame, this.colors.cursor, []);
  }

  paintCursor(context, t, frame, color, dash) {
    const x = this.x(t);
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.setLineDash(dash);
    line(context, x, MARGIN.top - 4, x, HEIGHT - MARGIN.bottom);
    context.setLineDash([]);
    const value = this.values[frame ?? 0];
    if (!Number.isFinite(value)) return;
    context.beginPath();
    context.arc(x, this.y(this.spec.log ? Math.max(value, 10 ** this.range[0]) : value), 3.5, 0, 2 * Math.PI);
    context.fillStyle = this.colors.line;
    context.fill();
    context.strokeStyle = this.colors.back;
    context.lineWidth = 1.5;
    context.stroke();
  }
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Range of the axis; for a log axis in decades. Values <= 0 of a log axis are drawn on its lower edge. */
function valueRange(values, { log, fromZero }) {
  const usable = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  let [low, high] = [Infinity, -Infinity];
  for (const v of usable) [low, high] = [Math.min(low, v), Math.max(high, v)];
  if (low > high) return log ? [-12, 0] : [0, 1];
  if (log) {
    const range = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
    if (values.some((v) => v <= 0)) range[0] -= 1; // room for the zeros below the smallest value
    return range[1] > range[0] ? range : [range[0] - 1, range[0] + 1];
  }
  if (fromZero) return [0, high > 0 ? high * 1.1 : 1];
  const pad = Math.max((high - low) * 0.1, Math.abs(high) * 1e-6, 1e-12);
  return [low - pad, high + pad];
}

function valueTicks([low, high], { log }) {
  if (!log) return linearTicks(low, high, 5);
  const step = Math.max(1, Math.ceil((high - low) / 5));
  const ticks = [];
  for (let at = Math.ceil(low); at <= high; at += step) ticks.push({ at, label: `1e${at}`.replace('-', '\u2212') });
  return ticks;
}

/** At most about `count` round values in [low, high]. */
function linearTicks(low, high, count) {
  if (!(high > low)) return [{ at: low, label: formatNumber(low) }];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((n) => n * power >= raw * 0.999);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    const label = decimals > 6 ? formatNumber(i * step) : (i * step).toFixed(decimals).replace('-', '\u2212');
    ticks.push({ at: i * step, label });
  }
  return ticks;
}
