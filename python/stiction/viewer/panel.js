// The page around the 3D view: toggles, time slider, status readings, table of facts, keyboard.
import { formatNumber, themeColor, TOGGLES } from './data.js';

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const READINGS = [
  { name: 'time', label: 'Time', unit: 's' },
  { name: 'contacts', label: 'Contacts', unit: '' },
  { name: 'normal', label: 'Sum of normal forces', unit: 'N' },
  { name: 'largest', label: 'Largest contact force', unit: 'N' },
];

const byId = (id) => document.getElementById(id);

export class Panel {
  /** `actions`: seek(t), playPause(), setSpeed(x), toggle(name), step(frames), home(). */
  constructor(replay, actions) {
    this.replay = replay;
    this.actions = actions;
    this.slider = byId('slider');
    this.slider.min = replay.start;
    this.slider.max = replay.end;
    this.slider.addEventListener('input', () => actions.seek(Number(this.slider.value)));
    this.slider.disabled = replay.end === replay.start;
    byId('play').addEventListener('click', actions.playPause);
    this.buildSpeeds();
    this.buildToggles();
    this.buildReadings();
    this.buildFacts();
    window.addEventListener('keydown', (event) => this.onKey(event));
  }

  buildSpeeds() {
    this.speed = byId('speed');
    for (const speed of SPEEDS) this.speed.add(new Option(`${speed}\u00d7`, String(speed)));
    this.speed.addEventListener('change', () => this.actions.setSpeed(Number(this.speed.value)));
  }

  buildToggles() {
    this.buttons = new Map();
    for (const { name, label, key, apart } of TOGGLES) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.title = `${label} (key ${key.toUpperCase()})`;
      if (apart) button.className = 'apart';
      button.addEventListener('click', () => this.actions.toggle(name));
      byId('toggles').append(button);
      this.buttons.set(name, button);
    }
  }

  buildReadings() {
    this.readings = new Map();
    for (const { name, label, unit } of READINGS) {
      const reading = document.createElement('div');
      reading.className = 'reading';
      reading.innerHTML = '<span></span><b></b><small></small>';
      reading.querySelector('span').textContent = label;
      reading.querySelector('small').textContent = unit;
      byId('status').append(reading);
      this.readings.set(name, reading);
    }
  }

  buildFacts() {
    const { meta, frames, bodies } = this.replay;
    const rows = [...meta.info, ['Bodies', bodies], ['Frames', frames]];
    const table = document.createElement('table');
    for (const [name, value] of rows) {
      const row = table.insertRow();
      const heading = document.createElement('th');
      heading.scope = 'row';
      heading.textContent = name;
      row.append(heading);
      row.insertCell().textContent = value;
    }
    byId('facts').append(table);
  }

  /** Show which switches are on, and hide what belongs to those that are off. */
  showOptions(options) {
    for (const [name, button] of this.buttons) button.setAttribute('aria-pressed', String(options[name]));
    for (const key of document.querySelectorAll('#legend [data-needs]')) {
      const on = options[key.dataset.needs] || (key.dataset.needs === 'arrows' && (options.cones || options.points));
      key.hidden = !on || (key.querySelector('.ruler') !== null && !options.arrows);
    }
    document.body.dataset.panel = options.panel && options.ui ? '1' : '0';
    for (const id of ['heading', 'legend', 'transport']) byId(id).hidden = !options.ui;
    this.speed.value = String(SPEEDS.reduce((a, b) => (Math.abs(b - options.speed) < Math.abs(a - options.speed) ? b : a)));
    byId('play').classList.toggle('playing', options.play);
  }

  showTime(t) {
    this.slider.value = t;
    byId('clock').innerHTML = `<b>${t.toFixed(3)}</b> / ${this.replay.end.toFixed(3)} s`;
    this.setReading('time', t.toFixed(3));
  }

  /** Forces with decimals that suit the recording's typical force `reference` [N], so that the text keeps still. */
  showContacts(contacts, reference) {
    const decimals = Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(reference))));
    const force = (value) => value.toFixed(decimals).replace(/^-(0\.?0*)$/, '$1').replace('-', '\u2212');
    const sliding = contacts.filter((contact) => contact.sliding).length;
    const normal = contacts.reduce((sum, contact) => sum + contact.normalForce, 0);
    const largest = contacts.reduce((most, contact) => Math.max(most, Math.hypot(...contact.force)), 0);
    this.setReading('contacts', String(contacts.length), sliding ? `${sliding} sliding` : '');
    this.setReading('normal', force(normal));
    this.setReading('largest', force(largest));
  }

  setReading(name, text, unit = null) {
    const reading = this.readings.get(name);
    reading.querySelector('b').textContent = text;
    if (unit !== null) reading.querySelector('small').textContent = unit;
  }

  /** `pixelsPerMeter` at the camera's target; the ruler shows what a force of `force` [N] looks like there. */
  showScales({ force, length, pixelsPerMeter, cell }) {
    const pixels = length * pixelsPerMeter;
    // Keep the ruler between 45 and 120 pixels: show a round multiple of the reference force.
    const factor = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20].find((n) => n * pixels >= 45) ?? 50;
    const width = factor * pixels;
    const ruler = document.querySelector('.ruler');
    ruler.style.width = `${width}px`;
    ruler.firstElementChild.setAttribute('d', `M1 5H${width - 1}M${width - 6} 1L${width - 1} 5L${width - 6} 9`);
    byId('force-scale').textContent = `${formatNumber(force * factor, 1)}\u2009N`;
    byId('grid-scale').textContent = cell >= 1 ? `${cell}\u2009m` : cell >= 0.01 ? `${Math.round(cell * 100)}\u2009cm` : `${cell * 1000}\u2009mm`;
  }

  /** The strip behind the slider: when there was contact (by the number of contacts) and when one slid. */
  paintStrip() {
    const canvas = byId('strip');
    const { contacts, contact_starts: starts } = this.replay.arrays;
    const { time, frames, start, end } = this.replay;
    canvas.width = Math.max(1, canvas.clientWidth);
    canvas.height = 6;
    if (end === start) return;
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, canvas.width, 6);
    for (let f = 0; f + 1 < frames; f++) {
      if (starts[f + 1] === starts[f]) continue;
      let sliding = false;
      for (let i = starts[f]; i < starts[f + 1]; i++) sliding ||= contacts[i * 11 + 10] > 0.5;
      context.fillStyle = themeColor(sliding ? 'slide' : 'stick');
      context.globalAlpha = 0.55;
      const x = Math.round(((time[f] - start) / (end - start)) * canvas.width);
      const next = Math.round(((time[f + 1] - start) / (end - start)) * canvas.width);
      context.fillRect(x, 0, Math.max(1, next - x), 6);
    }
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
    const onButton = event.target.tagName === 'BUTTON' && event.key === ' ';
    const key = event.key.toLowerCase();
    const toggle = TOGGLES.find((each) => each.key === key);
    if (toggle) this.actions.toggle(toggle.name);
    else if (key === ' ' && !onButton) this.actions.playPause();
    else if (key === 'arrowright') this.actions.step(event.shiftKey ? 10 : 1);
    else if (key === 'arrowleft') this.actions.step(event.shiftKey ? -10 : -1);
    else if (key === 'home') this.actions.seek(this.replay.start);
    else if (key === 'r') this.actions.home();
    else return;
    event.preventDefault();
  }
}

/** A line for the reader in place of the 3D view and its legend. */
export function showNotice(text) {
  const notice = byId('notice');
  notice.textContent = text;
  notice.hidden = false;
  byId('legend').style.display = 'none';
}
