// What a camera that follows should show at each time: all bodies that move, as large as they fit.
import * as THREE from 'three';

const SAMPLES = 120;
const ROOM = 1.12; // the frame is so much larger than what it shows
const SMOOTHED = 3; // samples to either side over which the frame is averaged
const CROWD = 20; // of so many bodies, those outermost (5 % at each end of an axis) may leave the frame
const UNSTEADY = 1.5; // largest over smallest radius from which the camera comes nearer and goes away

/** One frame over the whole recording where the bodies stay together, like a robot; else one for each time, as for a pile. */
export class Framing {
  constructor(bodies) {
    const { replay, moving } = bodies;
    this.extent = bodies.extent();
    bodies.setTime(0, 0);
    this.offset = this.extent.center.clone().sub(bodies.center.clone().setZ(0));
    this.last = Math.max(1, replay.frames - 1);
    const reach = moving.map((b) => bodyReach(bodies.groups[b]));
    const count = Math.min(SAMPLES, replay.frames);
    const raw = Array.from({ length: count }, (_, i) => {
      const frame = Math.round((i * (replay.frames - 1)) / Math.max(1, count - 1));
      return frameOf(replay, frame, moving, reach);
    });
    this.keys = raw.map((_, i) => mean(raw.slice(Math.max(0, i - SMOOTHED), i + SMOOTHED + 1)));
    const radii = this.keys.map((key) => key.radius);
    this.steady = moving.length < 2 || !(Math.max(...radii) > UNSTEADY * Math.min(...radii));
    this.smallest = this.steady ? this.extent.radius : Math.min(...radii); // [m]
  }

  /** {center, radius [m]} at `frame`, a number with a fraction; `middle` is the mean position of the bodies. */
  at(frame, middle) {
    if (this.steady) return { center: middle.clone().setZ(0).add(this.offset), radius: this.extent.radius };
    const at = (frame / this.last) * (this.keys.length - 1);
    const before = Math.min(this.keys.length - 1, Math.floor(at));
    const [a, b] = [this.keys[before], this.keys[Math.min(this.keys.length - 1, before + 1)]];
    return { center: a.center.clone().lerp(b.center, at - before), radius: a.radius + (at - before) * (b.radius - a.radius) };
  }
}

/** Distance of a body's outermost point from its origin, at most [m]. */
function bodyReach(group) {
  let reach = 0;
  group.traverse((object) => {
    if (!object.isMesh) return;
    if (!object.geometry.boundingSphere) object.geometry.computeBoundingSphere();
    const { center, radius } = object.geometry.boundingSphere;
    const scale = Math.max(...object.scale.toArray().map(Math.abs));
    reach = Math.max(reach, object.position.length() + (center.length() + radius) * scale);
  });
  return reach;
}

/** {center, radius [m]} of the moving bodies in one frame. */
function frameOf({ arrays: { poses }, bodies }, frame, moving, reach) {
  const trim = moving.length >= CROWD ? Math.floor(0.05 * moving.length) : 0;
  const [low, high] = [new THREE.Vector3(), new THREE.Vector3()];
  for (let axis = 0; axis < 3; axis++) {
    const ends = (sign) => moving.map((b, i) => poses[(frame * bodies + b) * 7 + axis] + sign * reach[i]).sort((x, y) => x - y);
    low.setComponent(axis, ends(-1)[trim]);
    high.setComponent(axis, ends(1)[moving.length - 1 - trim]);
  }
  return { center: low.clone().add(high).multiplyScalar(0.5), radius: Math.max(1e-3, ROOM * high.distanceTo(low) / 2) };
}

function mean(keys) {
  const center = keys.reduce((sum, key) => sum.addScaledVector(key.center, 1 / keys.length), new THREE.Vector3());
  return { center, radius: keys.reduce((sum, key) => sum + key.radius / keys.length, 0) };
}
