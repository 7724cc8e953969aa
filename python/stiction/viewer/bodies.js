// The robot and its surroundings: one group per body, its shapes inside, moved by the recorded poses.
import * as THREE from 'three';
import { Framing } from './framing.js';
import { GeometryFactory } from './geometry.js';

const COLLISION_COLOR = 0x3b82f6;
const BESIDE = 1.8; // what moves and a body at rest beside it are one picture if that is so much larger at most

export class Bodies {
  constructor(replay) {
    this.replay = replay;
    this.factory = new GeometryFactory(replay);
    this.root = new THREE.Group();
    this.visual = [];
    this.collision = [];
    this.outlined = []; // collision shapes not built yet: most viewers never ask for them
    this.planes = []; // {frame, color}: the stage lays its ground there
    this.groups = replay.meta.bodies.map((body) => this.addBody(body));
    const shown = this.findShown();
    this.moving = this.findMoving(shown);
    this.resting = shown.filter((b) => !this.moving.includes(b));
    this.center = new THREE.Vector3();
    this.setTime(0, 0);
    this.framing = new Framing(this);
    this.setTime(0, 0);
  }

  addBody(body) {
    const group = new THREE.Group();
    group.name = body.name;
    this.root.add(group);
    // A body that has only collision shapes is drawn with them.
    const onlyCollision = !body.geometries.some((geometry) => geometry.role === 'visual');
    const planes = new Set(); // a plane given as visual and as collision shape is one ground
    for (const geometry of body.geometries) {
      if (geometry.shape === 'plane') {
        const key = geometry.placement.join();
        if (!planes.has(key)) this.addPlane(group, geometry);
        planes.add(key);
      } else if (geometry.role === 'visual' || onlyCollision) {
        this.visual.push(this.addSolid(group, geometry));
      }
      if (geometry.role === 'collision' && geometry.shape !== 'plane') {
        this.outlined.push([group, geometry]);
      }
    }
    return group;
  }

  addPlane(group, { placement, color }) {
    const frame = place(new THREE.Group(), placement);
    group.add(frame);
    this.planes.push({ frame, color: new THREE.Color().setRGB(color[0], color[1], color[2], THREE.SRGBColorSpace) });
  }

  addSolid(group, geometry) {
    const [red, green, blue, opacity] = geometry.color;
    const material = new THREE.MeshStandardMaterial({
      color: new THREE.Color().setRGB(red, green, blue, THREE.SRGBColorSpace),
      roughness: 0.52, metalness: 0.05, transparent: opacity < 1, opacity,
      side: geometry.shape === 'mesh' ? THREE.DoubleSide : THREE.FrontSide, // meshes may be open, or turned inside out
    });
    const mesh = this.addMesh(group, geometry, material);
    mesh.castShadow = opacity > 0.3;
    mesh.receiveShadow = true;
    return mesh;
  }

  addOutline(group, geometry) {
    const glass = new THREE.MeshBasicMaterial({
      color: COLLISION_COLOR, transparent: true, opacity: 0.16, depthWrite: false, toneMapped: false,
      polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1, // wins over the same surface below it
    });
    const mesh = this.addMesh(group, geometry, glass);
    mesh.renderOrder = 2;
    const edges = new THREE.EdgesGeometry(mesh.geometry, 14);
    const lines = new THREE.LineBasicMaterial({ color: COLLISION_COLOR, transparent: true, opacity: 0.75, toneMapped: false });
    mesh.add(new THREE.LineSegments(edges, lines));
    return mesh;
  }

  addMesh(group, geometry, material) {
    const mesh = place(new THREE.Mesh(this.factory.make(geometry), material), geometry.placement);
    if (geometry.shape === 'mesh' && geometry.size.length) {
      const [x, y = x, z = x] = geometry.size;
      mesh.scale.set(x, y, z);
    }
    group.add(mesh);
    return mesh;
  }

  /** Numbers of the bodies that have something to show. */
  findShown() {
    const { bodies, meta } = this.replay;
    return [...Array(bodies).keys()]
      .filter((b) => meta.bodies[b].geometries.some((geometry) => geometry.shape !== 'plane'));
  }

  /** Of those the ones that move during the recording; all if none moves. */
  findMoving(shown) {
    const { frames, bodies } = this.replay;
    const { poses } = this.replay.arrays;
    const moving = shown.filter((b) => {
      for (let f = 1; f < frames; f++) {
        for (let i = 0; i < 7; i++) {
          if (Math.abs(poses[(f * bodies + b) * 7 + i] - poses[b * 7 + i]) > 1e-5) return true;
        }
      }
      return false;
    });
    return moving.length ? moving : shown;
  }

  /** Poses between `frame` and the next one, at `fraction` of the way. */
  setTime(frame, fraction) {
    const { bodies, frames } = this.replay;
    const { poses } = this.replay.arrays;
    const next = new THREE.Quaternion();
    const step = frame + 1 < frames ? bodies * 7 : 0;
    this.at = frame + fraction;
    this.groups.forEach((group, b) => {
      const i = (frame * bodies + b) * 7;
      group.position.fromArray(poses, i);
      group.quaternion.fromArray(poses, i + 3);
      if (fraction > 0 && step) {
        group.position.lerp(new THREE.Vector3().fromArray(poses, i + step), fraction);
        group.quaternion.slerp(next.fromArray(poses, i + step + 3), fraction);
      }
    });
    this.center.set(0, 0, 0);
    for (const b of this.moving) this.center.addScaledVector(this.groups[b].position, 1 / this.moving.length);
  }

  show({ visual, collision, bodies }) {
    this.root.traverse((object) => { if (object.isMesh && object.renderOrder >= 0) object.visible = bodies; });
    if (!bodies) return;
    if (collision) for (const [group, geometry] of this.outlined.splice(0)) this.collision.push(this.addOutline(group, geometry));
    for (const mesh of this.visual) mesh.visible = visual;
    for (const mesh of this.collision) mesh.visible = collision;
  }

  /** {center, radius [m]} of what a camera that follows should show now. */
  view() {
    return this.framing.at(this.at, this.center);
  }

  /** {center, radius [m]} of what moves, over the whole recording as seen by a camera that follows it, and of what rests beside it. */
  extent() {
    const box = new THREE.Box3();
    const start = this.center.clone();
    const samples = Math.min(9, this.replay.frames);
    for (let i = samples - 1; i >= 0; i--) {
      this.setTime(Math.round((i * (this.replay.frames - 1)) / Math.max(1, samples - 1)), 0);
      const one = this.boxOf(this.moving);
      if (!one.isEmpty()) box.union(one.translate(start.clone().sub(this.center).setZ(0)));
    }
    const size = (of) => of.getSize(new THREE.Vector3()).length();
    const largest = BESIDE * size(box);
    for (const b of this.resting) {
      const larger = this.boxOf([b]).union(box);
      if (size(larger) <= largest) box.copy(larger);
    }
    if (box.isEmpty()) box.setFromCenterAndSize(this.center, new THREE.Vector3(1, 1, 1));
    const center = box.getCenter(new THREE.Vector3());
    return { center, radius: Math.max(1e-3, box.getSize(center.clone()).length() / 2) };
  }

  /** Bounding box of some bodies at the current time. */
  boxOf(some) {
    const box = new THREE.Box3();
    this.root.updateMatrixWorld(true);
    for (const b of some) {
      this.groups[b].traverse((object) => { if (object.isMesh) box.expandByObject(object); });
    }
    return box;
  }
}

function place(object, placement) {
  object.position.fromArray(placement, 0);
  object.quaternion.fromArray(placement, 3);
  return object;
}
