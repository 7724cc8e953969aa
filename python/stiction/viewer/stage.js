// The stage: renderer, camera, light, ground with its grid, and the light or dark theme.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { themeColor } from './data.js';

const UP = new THREE.Vector3(0, 0, 1);
const KEY_LIGHT_DIRECTION = new THREE.Vector3(0.45, -0.55, 1.0).normalize();

/** Everything that is there before any body is. `extent` is {center: Vector3, radius [m]} of what moves. */
export class Stage {
  constructor(canvas, extent) {
    this.canvas = canvas;
    this.extent = extent;
    // The drawing is kept so that browsers can save or print the page: it is redrawn only when something changes.
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.debug.checkShaderErrors = false; // some drivers log harmless remarks about shaders
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(36, 1, extent.radius / 200, extent.radius * 400);
    this.camera.up.copy(UP);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.minDistance = extent.radius * 0.1;
    this.controls.maxDistance = extent.radius * 60;
    this.grounds = [];
    this.addLights();
    this.goHome(extent);
  }

  addLights() {
    const pmrem = new THREE.PMREMGenerator(this.renderer);
    this.scene.environment = pmrem.fromScene(softbox(), 0.03).texture;
    pmrem.dispose();
    this.key = new THREE.DirectionalLight(0xfff4e6, 1);
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 3.5;
    this.key.shadow.bias = -0.0004;
    const reach = this.extent.radius * 2.6;
    this.key.shadow.normalBias = reach / 1024;
    Object.assign(this.key.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01, far: reach * 6 });
    this.scene.add(this.key, this.key.target);
    this.aimLights(this.extent.center);
  }

  /** Keep the shadowed region around `center` [m]. */
  aimLights(center) {
    this.key.target.position.copy(center);
    this.key.position.copy(center).addScaledVector(KEY_LIGHT_DIRECTION, this.extent.radius * 8);
    for (const ground of this.grounds) {
      ground.uniforms.center.value.copy(ground.mesh.worldToLocal(center.clone())).setZ(0);
    }
  }

  /** [azimuth deg, elevation deg, distance m] about `about`, or about x, y, z [m] if they are appended. */
  setCamera([azimuth, elevation, distance, ...target], about = this.extent.center) {
    const center = target.length === 3 ? new THREE.Vector3(...target) : about;
    const [a, e] = [THREE.MathUtils.degToRad(azimuth), THREE.MathUtils.degToRad(Math.min(89.9, Math.max(-89.9, elevation)))];
    this.controls.target.copy(center);
    this.camera.position.set(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e))
      .multiplyScalar(distance).add(center);
    this.controls.update();
  }

  /** Move camera and target together by `shift` [m], and the camera to `factor` of its distance: the view follows. */
  shift(shift, factor) {
    const { target } = this.controls;
    this.camera.position.sub(target).multiplyScalar(factor).add(target).add(shift);
    target.add(shift);
  }

  /** Ground for a half-space z <= 0 of `parent`; `filled: false` gives grid lines only. */
  addGround(parent, filled, color = null) {
    const uniforms = {
      center: { value: new THREE.Vector3() },
      cell: { value: gridCell(this.extent.radius) },
      reach: { value: this.extent.radius * 14 },
      lines: { value: 1 },
      fill: { value: filled ? 1 : 0 },
      dark: { value: 0.3 },
      base: { value: new THREE.Color() },
      minor: { value: new THREE.Color() },
      major: { value: new THREE.Color() },
    };
    const material = new THREE.ShadowMaterial({
      transparent: true, depthWrite: false, toneMapped: false,
      side: THREE.DoubleSide, forceSinglePass: true, // two passes would turn gl_FrontFacing round
    });
    material.polygonOffset = true; // shapes that lie in the ground's plane win over it
    material.polygonOffsetFactor = 1;
    material.polygonOffsetUnits = 1;
    material.onBeforeCompile = (shader) => patchGround(shader, uniforms);
    const side = this.extent.radius * 60;
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(side, side), material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    parent.add(mesh);
    this.grounds.push({ mesh, uniforms, color });
    return mesh;
  }

  /** Show or hide the grid; a ground without a fill vanishes with it. */
  showGrid(on) {
    for (const { uniforms } of this.grounds) uniforms.lines.value = on ? 1 : 0;
  }

  /** Put the camera where it starts, to see `radius` [m] about `center`. */
  goHome({ center, radius }) {
    this.setCamera([38, 20, radius * 3.7], center);
  }

  /** Pixels on the screen per metre at the camera's target. */
  get pixelsPerMeter() {
    const distance = this.camera.position.distanceTo(this.controls.target);
    return this.height / (2 * Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)) * distance);
  }

  get gridCell() {
    return gridCell(this.extent.radius);
  }

  /** Take the colours of the theme from the style sheet. */
  applyTheme(dark) {
    this.renderer.toneMappingExposure = dark ? 0.85 : 1.05;
    this.key.intensity = dark ? 2.2 : 2.9;
    for (const { uniforms, color } of this.grounds) {
      uniforms.base.value.set(themeColor('ground'));
      if (color) uniforms.base.value.lerp(color, dark ? 0.06 : 0.12); // a hint of the shape's own colour
      uniforms.dark.value = dark ? 0.55 : 0.34;
      uniforms.minor.value.set(themeColor('grid-minor'));
      uniforms.major.value.set(themeColor('grid-major'));
    }
  }

  /** Match the canvas to its place on the page, of which `covered` [pixels] at the bottom are hidden. */
  resize(covered) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (!width || !height || (this.width === width && this.height === height && this.ratio === ratio && this.covered === covered)) return;
    Object.assign(this, { width, height, ratio, covered });
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    // The transport bar covers the lower edge: the target sits in the middle of what is left.
    this.camera.setViewOffset(width, height, 0, covered / 2, width, height);
  }

  render() {
    this.renderer.render(this.scene, this.camera);
  }
}

/** Side of a small grid square [m]: a power of ten somewhat below the robot's size. */
function gridCell(radius) {
  return 10 ** Math.floor(Math.log10(radius * 1.5));
}

/** Lines by screen-space derivatives (always one pixel wide), fading with the distance from the robot. */
function patchGround(shader, uniforms) {
  Object.assign(shader.uniforms, uniforms);
  shader.vertexShader = shader.vertexShader
    .replace('void main() {', 'varying vec2 vGround;\nvoid main() {\n  vGround = position.xy;');
  shader.fragmentShader = shader.fragmentShader
    .replace('void main() {', `
      varying vec2 vGround;
      uniform vec3 center, base, minor, major;
      uniform float cell, reach, lines, fill, dark;
      float gridLine(vec2 at, float spacing, float width) {
        vec2 u = at / spacing;
        vec2 pixel = fwidth(u);
        vec2 d = abs(fract(u - 0.5) - 0.5);
        vec2 line = 1.0 - smoothstep(pixel * width * 0.5, pixel * (width * 0.5 + 1.0), d);
        line *= 1.0 - smoothstep(0.25, 0.6, pixel);
        return max(line.x, line.y);
      }
      void main() {`)
    .replace(/gl_FragColor = vec4\( color[^;]*;/, `
      float away = length(vGround - center.xy) / reach;
      float fade = 1.0 - smoothstep(0.12, 1.0, away);
      float thin = gridLine(vGround, cell, 0.6) * (1.0 - smoothstep(0.0, 0.45, away));
      float thick = gridLine(vGround, cell * 10.0, 1.1);
      float ink = lines * max(thin * 0.75, thick * 0.9);
      float lit = 1.0 - dark * (1.0 - getShadowMask());
      float alpha = fade * max(fill, max(ink * 0.9, 0.6 * (1.0 - lit)));
      if (!gl_FrontFacing) alpha *= 0.18;
      gl_FragColor = vec4(mix(base, mix(minor, major, thick), ink) * lit, alpha);`);
}

/** A small studio for the environment light: bright sky, softbox, darker floor. */
function softbox() {
  const scene = new THREE.Scene();
  const sphere = new THREE.SphereGeometry(10, 32, 16).rotateX(Math.PI / 2);
  const colors = [];
  const points = sphere.getAttribute('position');
  for (let i = 0; i < points.count; i++) {
    const height = points.getZ(i) / 10;
    const light = height > 0 ? 0.42 + 0.45 * height : 0.38 + 0.16 * height;
    colors.push(light * 0.97, light, light * 1.04);
  }
  sphere.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
  scene.add(new THREE.Mesh(sphere, new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.BackSide })));
  const lamp = (x, y, z, size, power) => {
    const material = new THREE.MeshBasicMaterial({ color: new THREE.Color(power, power, power), side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(size, size), material);
    mesh.position.set(x, y, z);
    mesh.lookAt(0, 0, 0);
    scene.add(mesh);
  };
  lamp(5, -4, 6, 4, 6);
  lamp(-6, 4, 3, 4, 2.5);
  return scene;
}
