// The recorded data, and the options in the page's address.

const ARRAY_TYPES = {
  float32: Float32Array, float64: Float64Array, uint16: Uint16Array, uint32: Uint32Array,
};
const CONTACT_COLUMNS = 11; // position 3, force on B 3, normal A to B 3, friction, sliding

/** Read the two data blocks of the page. Arrays are flat, in the order Python wrote them. */
export function readReplay() {
  const meta = JSON.parse(document.getElementById('replay-meta').textContent);
  const block = document.getElementById('replay-data');
  const buffer = decodeBase64(block.textContent.trim());
  block.textContent = ''; // the text is no longer needed: let it be collected
  const arrays = {};
  for (const [name, [dtype, offset, shape]] of Object.entries(meta.arrays)) {
    const length = shape.reduce((product, n) => product * n, 1);
    arrays[name] = new ARRAY_TYPES[dtype](buffer, offset, length);
  }
  const { time } = arrays;
  return {
    meta, arrays, time,
    frames: time.length,
    bodies: meta.bodies.length,
    start: time[0],
    end: time[time.length - 1],
  };
}

function decodeBase64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes.buffer;
}

/** Last frame at or before time t. A frame within 1 us after t counts as reached. */
export function frameAt(time, t) {
  let low = 0;
  let high = time.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (time[middle] <= t + 1e-6) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The contacts of one frame as objects of plain numbers. */
export function contactsOf(replay, frame) {
  const { contacts, contact_starts: starts } = replay.arrays;
  const list = [];
  for (let i = starts[frame]; i < starts[frame + 1]; i++) {
    const row = contacts.subarray(i * CONTACT_COLUMNS, (i + 1) * CONTACT_COLUMNS);
    list.push({
      position: row.subarray(0, 3),
      force: row.subarray(3, 6),
      normal: row.subarray(6, 9),
      friction: row[9],
      sliding: row[10] > 0.5,
      normalForce: row[3] * row[6] + row[4] * row[7] + row[5] * row[8],
    });
  }
  return list;
}

/** Switches of the view: name, label, whether on at first, key on the keyboard. */
export const TOGGLES = [
  { name: 'arrows', label: 'Forces', on: true, key: 'f' },
  { name: 'cones', label: 'Cones', on: false, key: 'c' },
  { name: 'points', label: 'Points', on: true, key: 'p' },
  { name: 'visual', label: 'Visual', on: true, key: 'v' },
  { name: 'collision', label: 'Collision', on: false, key: 'x' },
  { name: 'grid', label: 'Grid', on: true, key: 'g' },
  { name: 'follow', label: 'Follow', on: true, key: 'o', apart: true },
  { name: 'panel', label: 'Panel', on: true, key: 'i' },
];

/** Options after '#': `t=1.0&play=0&cones=1&cam=40,20,1.5`. Unknown names are left alone. */
export function readOptions(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const options = {};
  for (const [name, value] of given) options[name] = value;
  const number = (name) => {
    if (name in options) options[name] = Number.parseFloat(options[name]);
    if (Number.isNaN(options[name])) delete options[name];
  };
  number('t');
  number('speed');
  for (const name of ['play', 'loop', 'bodies', 'ui', ...TOGGLES.map((toggle) => toggle.name)]) {
    if (name in options) options[name] = !['0', 'false', 'off', 'no'].includes(options[name].toLowerCase());
  }
  if ('cam' in options) {
    const cam = options.cam.split(',').map(Number);
    if ((cam.length === 3 || cam.length === 6) && cam.every(Number.isFinite)) options.cam = cam;
    else delete options.cam;
  }
  return options;
}

/** A number for people: about `digits` significant digits, 1.2e-9 where plain digits would not do. */
export function formatNumber(value, digits = 3) {
  if (!Number.isFinite(value)) return '\u2013';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) {
    const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split('e');
    return `${mantissa.replace('-', '\u2212')}e${exponent.replace('+', '').replace('-', '\u2212')}`;
  }
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(decimals).replace('-', '\u2212');
}

/** A CSS custom property of the current theme. */
export function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
