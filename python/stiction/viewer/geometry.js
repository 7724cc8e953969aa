// Shapes to draw: primitives with the axis along z, and meshes with normals that keep sharp edges sharp.
import * as THREE from 'three';

const CREASE_ANGLE = 35 * Math.PI / 180;

/** Unit-free maker of geometries; each mesh of the replay is turned into one geometry and shared. */
export class GeometryFactory {
  constructor(replay) {
    this.replay = replay;
    this.meshes = new Map();
  }

  /** Geometry of a described shape (not of a plane: the stage draws those). */
  make({ shape, size, mesh }) {
    switch (shape) {
      case 'sphere': return new THREE.SphereGeometry(size[0], 40, 24);
      case 'capsule': return new THREE.CapsuleGeometry(size[0], 2 * size[1], 12, 32).rotateX(Math.PI / 2);
      case 'cylinder': return new THREE.CylinderGeometry(size[0], size[0], 2 * size[1], 48).rotateX(Math.PI / 2);
      case 'cone': return new THREE.ConeGeometry(size[0], 2 * size[1], 48).rotateX(Math.PI / 2);
      case 'ellipsoid': return new THREE.SphereGeometry(1, 40, 24).scale(size[0], size[1], size[2]);
      case 'box': return new THREE.BoxGeometry(2 * size[0], 2 * size[1], 2 * size[2]);
      case 'mesh': return this.mesh(mesh);
      default: throw new Error(`unknown shape ${shape}`);
    }
  }

  mesh(index) {
    if (!this.meshes.has(index)) {
      const { [`mesh${index}.vertices`]: vertices, [`mesh${index}.triangles`]: triangles } = this.replay.arrays;
      this.meshes.set(index, creasedGeometry(vertices, triangles));
    }
    return this.meshes.get(index);
  }
}

/** Triangles with, at each corner, the mean normal of the neighbours that meet at less than the crease angle. */
function creasedGeometry(vertices, triangles) {
  const corners = triangles.length;
  const positions = new Float32Array(3 * corners);
  const faceNormals = new Float32Array(corners); // 3 numbers per triangle, their length twice its area
  const group = new Uint32Array(corners);
  const groups = new Map();
  for (let c = 0; c < corners; c++) {
    const v = 3 * triangles[c];
    const [x, y, z] = [vertices[v], vertices[v + 1], vertices[v + 2]];
    positions.set([x, y, z], 3 * c);
    const key = `${x},${y},${z}`;
    if (!groups.has(key)) groups.set(key, groups.size);
    group[c] = groups.get(key);
  }
  for (let f = 0; f < corners; f += 3) {
    const p = positions.subarray(3 * f, 3 * f + 9);
    const [ax, ay, az] = [p[3] - p[0], p[4] - p[1], p[5] - p[2]];
    const [bx, by, bz] = [p[6] - p[0], p[7] - p[1], p[8] - p[2]];
    faceNormals.set([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], f);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(cornerNormals(faceNormals, group, groups.size), 3));
  return geometry;
}

function cornerNormals(faceNormals, group, groupCount) {
  const corners = group.length;
  // The corners of each group, as one list: members[starts[g] .. starts[g + 1]).
  const starts = new Uint32Array(groupCount + 1);
  for (let c = 0; c < corners; c++) starts[group[c] + 1]++;
  for (let g = 0; g < groupCount; g++) starts[g + 1] += starts[g];
  const fill = starts.slice();
  const members = new Uint32Array(corners);
  for (let c = 0; c < corners; c++) members[fill[group[c]]++] = c;

  const limit = Math.cos(CREASE_ANGLE);
  const normals = new Float32Array(3 * corners);
  for (let c = 0; c < corners; c++) {
    const f = 3 * Math.floor(c / 3);
    const [x, y, z] = faceNormals.subarray(f, f + 3);
    const length = Math.hypot(x, y, z) || 1;
    const sum = [0, 0, 0];
    for (let i = starts[group[c]]; i < starts[group[c] + 1]; i++) {
      const o = 3 * Math.floor(members[i] / 3);
      const [ox, oy, oz] = faceNormals.subarray(o, o + 3);
      const other = Math.hypot(ox, oy, oz) || 1;
      if (x * ox + y * oy + z * oz < limit * length * other) continue;
      sum[0] += ox;
      sum[1] += oy;
      sum[2] += oz;
    }
    const norm = Math.hypot(...sum) || 1;
    normals.set([sum[0] / norm, sum[1] / norm, sum[2] / norm], 3 * c);
  }
  return normals;
}
