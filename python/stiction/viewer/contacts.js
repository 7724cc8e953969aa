// What acts at the contacts: force arrows, friction cones, contact points. All instanced, all rebuilt at each new frame.
import * as THREE from 'three';
import { contactsOf, themeColor } from './data.js';

const Z = new THREE.Vector3(0, 0, 1);
const LONGEST_ARROW = 1.6; // in units of the reference length; longer arrows (impacts) are cut there

export class Contacts {
  /** `size` [m] is the robot's radius: arrows and cones are drawn in proportion to it. */
  constructor(replay, scene, size) {
    this.replay = replay;
    this.frame = -1;
    this.capacity = largestCount(replay.arrays.contact_starts);
    size *= Math.min(1, Math.max(0.35, Math.sqrt(12 / this.capacity))); // a crowd of contacts is drawn smaller
    this.size = size;
    const forces = forceMagnitudes(replay.arrays.contacts);
    this.referenceForce = niceForce(forces);
    this.referenceLength = size * 0.6; // arrow length [m] of the reference force [N]
    this.group = new THREE.Group();
    scene.add(this.group);

    const thick = size * 0.016;
    this.shaft = this.instances(new THREE.CylinderGeometry(thick, thick, 1, 16).rotateX(Math.PI / 2).translate(0, 0, 0.5));
    this.head = this.instances(new THREE.ConeGeometry(thick * 2.7, 1, 24).rotateX(Math.PI / 2).translate(0, 0, 0.5));
    this.point = this.instances(new THREE.SphereGeometry(size * 0.026, 20, 14));
    this.cone = this.instances(coneGeometry(), { opacity: 0.2, side: THREE.DoubleSide, ghost: false });
    this.rim = this.instances(new THREE.TorusGeometry(1, 0.018, 8, 64), { ghost: false });
    this.headLength = thick * 7;
  }

  /** Instanced mesh, plus a faint copy of what other bodies hide. */
  instances(geometry, { opacity = 1, side = THREE.FrontSide, ghost = true } = {}) {
    const make = (settings) => {
      const material = new THREE.MeshBasicMaterial({ side, toneMapped: false, ...settings });
      const mesh = new THREE.InstancedMesh(geometry, material, Math.max(1, this.capacity));
      mesh.frustumCulled = false;
      mesh.count = 0;
      mesh.setColorAt(0, new THREE.Color());
      this.group.add(mesh);
      return mesh;
    };
    const solid = make({ transparent: opacity < 1, opacity, depthWrite: opacity === 1 });
    if (opacity < 1) solid.renderOrder = 3;
    if (!ghost) return [solid];
    const hidden = make({ transparent: true, opacity: 0.38, depthWrite: false, depthFunc: THREE.GreaterDepth });
    hidden.renderOrder = 4;
    hidden.instanceMatrix = solid.instanceMatrix;
    hidden.instanceColor = solid.instanceColor;
    return [solid, hidden];
  }

  applyTheme() {
    this.stick = new THREE.Color(themeColor('stick'));
    this.slide = new THREE.Color(themeColor('slide'));
    this.frame = -1;
  }

  show({ arrows, cones, points }) {
    for (const mesh of [...this.shaft, ...this.head]) mesh.visible = arrows;
    for (const mesh of [...this.cone, ...this.rim]) mesh.visible = cones;
    for (const mesh of this.point) mesh.visible = points;
  }

  /** Draw the contacts of `frame`; returns them. */
  setFrame(frame) {
    if (frame === this.frame) return this.list;
    this.frame = frame;
    this.list = contactsOf(this.replay, frame);
    const [arrows, cones] = [[], []];
    const points = this.list.map((contact) => this.pointOf(contact));
    for (const contact of this.list) {
      const arrow = this.arrowOf(contact);
      if (arrow) arrows.push(arrow);
      const cone = this.coneOf(contact);
      if (cone) cones.push(cone);
    }
    fillInstances(this.shaft, arrows.map((arrow) => arrow.shaft));
    fillInstances(this.head, arrows.map((arrow) => arrow.head));
    fillInstances(this.cone, cones.map((cone) => cone.side));
    fillInstances(this.rim, cones.map((cone) => cone.rim));
    fillInstances(this.point, points);
    return this.list;
  }

  colorOf(contact) {
    return contact.sliding ? this.slide : this.stick;
  }

  pointOf(contact) {
    return { matrix: new THREE.Matrix4().makeTranslation(...contact.position), color: this.colorOf(contact) };
  }

  /** Shaft and head of the arrow of one force, or nothing for a force too small to be seen. */
  arrowOf(contact) {
    const direction = new THREE.Vector3(...contact.force);
    const force = direction.length();
    const length = this.referenceLength * Math.min(LONGEST_ARROW, force / this.referenceForce);
    if (!(length > this.size * 1e-3)) return null;
    direction.divideScalar(force);
    const turn = new THREE.Quaternion().setFromUnitVectors(Z, direction);
    const head = Math.min(this.headLength, 0.5 * length);
    const thin = Math.min(1, head / this.headLength + 0.35);
    const start = new THREE.Vector3(...contact.position);
    const neck = start.clone().addScaledVector(direction, length - head);
    const color = this.colorOf(contact);
    return {
      shaft: { matrix: new THREE.Matrix4().compose(start, turn, new THREE.Vector3(thin, thin, length - head)), color },
      head: { matrix: new THREE.Matrix4().compose(neck, turn, new THREE.Vector3(thin, thin, head)), color },
    };
  }

  /** Friction cone about the normal: half angle atan(mu), its side of constant length. */
  coneOf(contact) {
    if (!(contact.friction > 0)) return null;
    const angle = Math.atan(contact.friction);
    const side = this.size * 0.3;
    const [height, radius] = [side * Math.cos(angle), side * Math.sin(angle)];
    const normal = new THREE.Vector3(...contact.normal).normalize();
    const turn = new THREE.Quaternion().setFromUnitVectors(Z, normal);
    const apex = new THREE.Vector3(...contact.position);
    const top = apex.clone().addScaledVector(normal, height);
    const color = this.colorOf(contact);
    return {
      side: { matrix: new THREE.Matrix4().compose(apex, turn, new THREE.Vector3(radius, radius, height)), color },
      rim: { matrix: new THREE.Matrix4().compose(top, turn, new THREE.Vector3(radius, radius, radius)), color },
    };
  }
}

function fillInstances(meshes, items) {
  const [mesh] = meshes;
  items.forEach(({ matrix, color }, i) => {
    mesh.setMatrixAt(i, matrix);
    mesh.setColorAt(i, color);
  });
  mesh.instanceMatrix.needsUpdate = true;
  mesh.instanceColor.needsUpdate = true;
  for (const each of meshes) each.count = items.length;
}

/** Open cone with its apex at the origin and a unit circle at z = 1. */
function coneGeometry() {
  return new THREE.ConeGeometry(1, 1, 48, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
}

function largestCount(starts) {
  let largest = 0;
  for (let f = 0; f + 1 < starts.length; f++) largest = Math.max(largest, starts[f + 1] - starts[f]);
  return largest;
}

function forceMagnitudes(rows) {
  const magnitudes = [];
  for (let i = 0; i < rows.length; i += 11) magnitudes.push(Math.hypot(rows[i + 3], rows[i + 4], rows[i + 5]));
  return magnitudes;
}

/** 1, 2 or 5 times a power of ten [N], near the 90th percentile of the forces. */
function niceForce(forces) {
  const sorted = forces.filter((force) => force > 0).sort((a, b) => a - b);
  if (!sorted.length) return 1;
  const typical = sorted[Math.floor(0.9 * (sorted.length - 1))];
  const power = 10 ** Math.floor(Math.log10(typical));
  return power * [1, 2, 5, 10].reduce((best, n) => (Math.abs(n - typical / power) < Math.abs(best - typical / power) ? n : best), 1);
}
